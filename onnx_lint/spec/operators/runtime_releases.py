# SPDX-License-Identifier: Apache-2.0
"""The signatures of ONNX Runtime's operators in the releases that `--target` knows, if releases changed them.

`python -m tools.compile_targets` writes the file, from what each release says of its own operators.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import EMPTY, Record, replace
from onnx_lint.spec.operators.schema import OperatorSchema
from onnx_lint.spec.operators.store import ONNXRUNTIME, DataFile

if TYPE_CHECKING:
    from onnx_lint.spec.operators.records.grammar import AllConditions, Condition

CHANGED: Final = DataFile("onnxruntime_releases.jsonl", ONNXRUNTIME.domains)
"""The operators with more than one signature. In place of versions it has the indices of releases."""


def comes_later(release: str, operator: str, parameter: str) -> bool:
    """Return whether only later releases compare the input of this name; False for a release that is not known."""
    from onnx_lint.spec.operators.records import record_of

    record = record_of(operator)
    since = record.since.get(parameter) if record is not None else None
    releases = CHANGED.header["releases"] if since is not None else ()
    return release in releases and releases.index(release) < releases.index(since)


class RefusedAttribute(Record):
    """An attribute with which a release makes no session for CPUs."""

    name: str
    value: str
    """The value, with the other conditions of the refusal in words."""


def refused_attributes(
    release: str, operator: str, values: Mapping[str, str], types: Mapping[str, Collection[str]] = EMPTY
) -> list[RefusedAttribute]:
    """Return the attributes with which a release makes no session for CPUs.

    `values`: those of the attributes, and as `outputs` how many the node has. An attribute without a value has the one
    that ONNX Runtime takes in its place. `types`: the known types of the inputs.
    """
    from onnx_lint.spec.operators.records import record_of
    from onnx_lint.spec.operators.records.grammar import parse_all

    record = record_of(operator)
    releases = CHANGED.header["releases"]
    if record is None or release not in releases:
        return []
    at = releases.index(release)
    values = {**{name: str(value) for name, value in record.defaults.items()}, **values}
    # The other rows of `since` are about inputs: see `comes_later`.
    words = [each for each, first in record.since.items() if "=" in each and at < releases.index(first)]
    words += [each for each, last in record.until.items() if not last or at > releases.index(last)]
    parsed = map(parse_all, words)
    return list(dict.fromkeys([_refused_attribute(each, values) for each in parsed if _are_true(each, values, types)]))


def _refused_attribute(conditions: AllConditions, values: Mapping[str, str]) -> RefusedAttribute:
    """Return the attribute that the first condition is about, with the other conditions in words."""
    first, *others = conditions
    more = f" and {values['outputs']} outputs" if any(each.name == "outputs" for each in others) else ""
    more += "".join([f" and {_in_words(each, EMPTY)}" for each in others if each.sign == "~"])
    return RefusedAttribute(first.name, f"{values[first.name]}{more}")


def _are_true(
    conditions: AllConditions, values: Mapping[str, str], types: Mapping[str, Collection[str]] = EMPTY
) -> bool:
    """Return whether conditions are true of values, and of the known types of inputs."""
    return all(_is_true(each, values, types) for each in conditions)


def _is_true(condition: Condition, values: Mapping[str, str], types: Mapping[str, Collection[str]]) -> bool:
    name, wanted = condition.name, condition.value
    match condition.sign:
        case "!=":
            return name in values and wanted in values and values[name] != values[wanted]
        case "~":
            return bool(types.get(name)) and types.get(name) == types.get(wanted)
        case ">":
            return values.get(name, "").isdecimal() and int(values[name]) > int(wanted)
        case "=":
            return name in values and (values[name] == wanted) is not condition.is_negated
    return (name in values) is not condition.is_negated


class Extent(Record):
    """A condition that input 0 has no size of 0."""

    first_axis: int
    """The first axis that counts."""
    words: str


EXTENTS: Final[Mapping[str, Extent]] = {
    "elements": Extent(0, "input 0 has elements"),
    "items": Extent(1, "input 0 has elements, or would have them with a batch"),
}
"""The conditions of `failing` about sizes of 0."""


class FailingRun(Record):
    """What makes each run of a node on CPUs fail in a release."""

    words: str
    extent: str | None = None
    """The one of `EXTENTS` that must be true for the run to fail; None if it fails with any sizes."""


def failing_runs(
    release: str,
    operator: str,
    values: Mapping[str, str],
    ranks: Mapping[str, int | None],
    types: Mapping[str, Collection[str]] = EMPTY,
    extents: Collection[str] = tuple(EXTENTS),
) -> Iterator[FailingRun]:
    """Yield what makes each run of a node on CPUs fail in a release.

    `values`: those of attributes. `ranks`: those of the inputs that the node has. `types`: their known types.
    `extents`: those of `EXTENTS` that may be true.
    """
    from onnx_lint.spec.operators.records import record_of
    from onnx_lint.spec.operators.records.grammar import parse_all

    record = record_of(operator)
    releases = CHANGED.header["releases"]
    if record is None or release not in releases:
        return
    at = releases.index(release)
    # Attributes, inputs and extents have different names, so conditions find them in one mapping.
    given = {
        **{name: str(value) for name, value in record.defaults.items()},
        **values,
        **{name: str(rank) for name, rank in ranks.items()},
        **dict.fromkeys(extents, ""),
    }
    for words, last in record.failing.items():
        conditions = parse_all(words)
        if (not last or at <= releases.index(last)) and _are_true(conditions, given, types):
            unsaid = {*EXTENTS, *record.values}
            said = [_in_words(each, ranks) for each in conditions if each.sign or each.name not in unsaid]
            yield FailingRun(" and ".join(said), next((each.name for each in conditions if each.name in EXTENTS), None))


def _in_words(condition: Condition, ranks: Mapping[str, int | None]) -> str:
    """Return a condition of `failing` in words."""
    name, value = condition.name, condition.value
    if condition.sign == "~":
        return f"input '{name}' of the type of input '{value}'"
    if condition.sign == "!=":
        return f"attribute '{name}' with another value than '{value}'"
    if condition.sign and name not in ranks:
        return f"attribute '{name}' with {'another value than' if condition.is_negated else 'the value'} {value}"
    rank = f" with {value} dimensions" if condition.sign else ""
    return f"{'no ' if condition.is_negated else ''}input '{name}'{rank}"


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
