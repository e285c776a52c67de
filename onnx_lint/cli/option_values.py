# SPDX-License-Identifier: Apache-2.0
"""Parsers for the values of `--select`, `--ignore`, `--per-file-ignores`, `--severity`, `--limit`, `--opset-import`."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from onnx_lint.cli.errors import RequestError
from onnx_lint.configuration.settings import LEVELS
from onnx_lint.engine.settings import SelectionError, check_selector, selectors
from onnx_lint.input.limits import DEFAULT_LIMITS, LimitError, Limits
from onnx_lint.spec.clauses import Severity
from onnx_lint.spec.releases import normalized_domain


def names_of(values: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """Return the names in comma-separated lists, in the spelling of `known` if only the case differs."""
    names = (name.strip() for value in values for name in value.split(","))
    return tuple(dict.fromkeys(_known_spelling(name, known) for name in names if name))


def _known_spelling(name: str, known: Collection[str]) -> str:
    return next((spelling for spelling in (name, name.upper(), name.lower()) if spelling in known), name)


def _pairs(values: Iterable[str], expected: str) -> dict[str, str]:
    """Return the values by name in `NAME=VALUE` lists; the last of several for one name counts."""
    pairs: dict[str, str] = {}
    for pair in (part.strip() for value in values for part in value.split(",")):
        name, separator, pairs[name] = pair.partition("=")
        if not separator:
            raise RequestError(f"{expected}, not {pair!r}")
    return pairs


def named_in(values: Iterable[str]) -> set[str]:
    """Return the names in `NAME=VALUE` lists."""
    return {pair.partition("=")[0].strip() for value in values for pair in value.split(",")}


def severities_of(values: Iterable[str]) -> tuple[dict[str, Severity], tuple[str, ...]]:
    """Return the severities by rule in `RULE=LEVEL` lists, and the rules that are off.

    The last of several pairs for one rule counts. Raises RequestError for anything that is not such a pair. Whether the
    rule exists is not checked here.
    """
    levels = _pairs(values, "--severity expects RULE=LEVEL")
    for level in levels.values():
        if level not in LEVELS:
            raise RequestError(f"unknown severity {level!r}; the severities are {', '.join(LEVELS)}")
    severities = {rule: Severity.of(level) for rule, level in levels.items() if level != "off"}
    return severities, tuple(rule for rule, level in levels.items() if level == "off")


def file_ignores_of(values: Iterable[str]) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Return folder, pattern and names of each `GLOB:NAMES`. The folder is the working directory.

    Raises RequestError for anything that is not such a pair and for an unknown name, even if no file matches the
    pattern.
    """
    found = []
    for text in values:
        # Names contain no colon, but a Windows path does.
        pattern, separator, names = text.rpartition(":")
        if not separator or not pattern or not names.strip():
            raise RequestError(f"--per-file-ignores expects GLOB:NAMES, not {text!r}")
        found.append((os.getcwd(), pattern, _checked_names(names)))
    return tuple(found)


def _checked_names(text: str) -> tuple[str, ...]:
    names = names_of((text,), selectors())
    for name in names:
        try:
            check_selector(name)
        except SelectionError as error:
            raise RequestError(str(error)) from error
    return names


def opset_versions_of(values: Iterable[str]) -> dict[str, int]:
    """Return the versions by domain in `[DOMAIN=]N`. The default domain is empty.

    The last of several for one domain counts. Raises RequestError if N is not a whole number.
    """
    versions: dict[str, int] = {}
    for text in values:
        domain, _, number = text.rpartition("=")
        try:
            versions[normalized_domain(domain.strip())] = int(number)
        except ValueError:
            raise RequestError(f"--opset-import expects [DOMAIN=]N, not {text!r}") from None
    return versions


def limits_of(values: Iterable[str]) -> Limits:
    """Return the limits in `NAME=VALUE` lists.

    Raises RequestError for anything that is not such a pair, an unknown name, or a value that the limit does not allow.
    """
    try:
        return DEFAULT_LIMITS.with_values(_pairs(values, "--limit expects NAME=VALUE"))
    except LimitError as error:
        raise RequestError(str(error)) from error
