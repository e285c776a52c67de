# SPDX-License-Identifier: Apache-2.0
"""The signatures of ONNX Runtime's operators in the releases that `--target` knows, if releases changed them.

`python -m tools.compile_targets` writes the file, from what each release says of its own operators.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.spec.operators.schema import OperatorSchema
from onnx_lint.spec.operators.store import ONNXRUNTIME, DataFile

CHANGED: Final = DataFile("onnxruntime_releases.jsonl", ONNXRUNTIME.domains)
"""The operators with more than one signature. In place of versions it has the indices of releases."""


def comes_later(release: str, operator: str, what: str) -> bool:
    """Return whether only later releases compare an input of an operator.

    False for a release that is not known.
    """
    from onnx_lint.spec.operators.records import record_of

    record = record_of(operator)
    since = record.since.get(what) if record is not None else None
    releases = CHANGED.header["releases"] if since is not None else ()
    return release in releases and releases.index(release) < releases.index(since)


class NodeUse(Record):
    """What a node has of an operator, as far as a release may refuse it."""

    values: Mapping[str, str]
    """The attributes with known values, and the defaults of the others, as texts."""
    inputs: Mapping[str, str]
    """The inputs that the node surely has, with their number of dimensions as a text, empty if it is unknown."""
    omitted: frozenset[str]
    """The inputs that the node surely leaves out."""


def refused_uses(release: str, operator: str, use: NodeUse) -> list[str]:
    """Return in words what a release refuses of a node, on CPUs: when it makes a session, or at each run."""
    from onnx_lint.spec.operators.records import record_of

    record = record_of(operator)
    releases = CHANGED.header["releases"]
    if record is None or release not in releases:
        return []
    at = releases.index(release)
    texts = [each for each, first in record.since.items() if "=" in each and at < releases.index(first)]
    texts += [each for each, last in record.until.items() if not last or at > releases.index(last)]
    used = replace(use, values={**{name: str(value) for name, value in record.defaults.items()}, **use.values})
    refused = [text.split()[0] for text in texts if all(_is_true(word, used) for word in text.split())]
    return list(dict.fromkeys([_in_words(word, used) for word in refused]))


def _is_true(word: str, use: NodeUse) -> bool:
    """Return whether a condition is surely true of a node.

    It is `name=value` or `!name=value` of an attribute, `name`, `!name` or `name[rank]` of an input, or
    `one!~other` of attributes that differ.
    """
    one, differs, other = word.partition("!~")
    if differs:
        return one in use.values and other in use.values and use.values[one] != use.values[other]
    name, equals, value = word.removeprefix("!").partition("=")
    if equals:
        return name in use.values and (use.values[name] == value) is not word.startswith("!")
    name, _, rank = name.partition("[")
    if word.startswith("!"):
        return name in use.omitted
    return name in use.inputs and (not rank or use.inputs[name] == rank.removesuffix("]"))


def _in_words(word: str, use: NodeUse) -> str:
    """Return what a condition is about, as a node has it."""
    name, bracket, rank = word.removeprefix("!").partition("[")
    if bracket:
        return f"an input '{name}' of {rank.removesuffix(']')} dimensions"
    if "=" not in word and "~" not in word:
        return f"{'no' if word.startswith('!') else 'an'} input '{name}'"
    attribute, beside = name.partition("=")[0].partition("!~")[::2]
    if beside:
        return f"attribute '{attribute}' {use.values[attribute]} beside '{beside}' {use.values[beside]}"
    return f"attribute '{attribute}' with the value {use.values[attribute]}"


def signature_in(release: str, domain: str, op_type: str) -> OperatorSchema | None:
    """Return the signature that an operator has in a release; None if no known release has another one."""
    releases = CHANGED.header["releases"]
    if release not in releases:
        return None
    index = releases.index(release)
    since = max((each for each in CHANGED.versions(domain, op_type) if each <= index), default=None)
    found = None if since is None else CHANGED.schema(domain, op_type, since)
    # Each release calls its own operators version 1.
    return None if found is None else replace(found, since_version=1)
