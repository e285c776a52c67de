# SPDX-License-Identifier: Apache-2.0
"""What `--select`, `--ignore`, `--per-file-ignores`, `--severity`, `--limit` and `--target-opset` say."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from onnx_lint.cli.errors import RequestError
from onnx_lint.input.limits import DEFAULT_LIMITS, LimitError, Limits
from onnx_lint.wording import suggestion

if TYPE_CHECKING:
    from onnx_lint.spec.clauses import Severity

_LEVELS = ("error", "warning", "note", "off")


def names_of(values: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """The names in comma lists. One that is known but for its case is taken for the known one."""
    names = (name.strip() for value in values for name in value.split(","))
    return tuple(dict.fromkeys(_known_spelling(name, known) for name in names if name))


def _known_spelling(name: str, known: Collection[str]) -> str:
    return next((spelling for spelling in (name, name.upper(), name.lower()) if spelling in known), name)


def severities_of(values: Iterable[str]) -> tuple[dict[str, Severity], tuple[str, ...]]:
    """The severities by rule that `RULE=LEVEL` lists give, and the rules that are off.

    Of two for one rule the later one counts. Raises RequestError for what is no such pair; whether there is such a rule
    is not asked here.
    """
    from onnx_lint.spec.clauses import Severity

    levels: dict[str, str] = {}
    for pair in (part.strip() for value in values for part in value.split(",")):
        rule, separator, level = pair.partition("=")
        if not separator:
            raise RequestError(f"--severity wants RULE=LEVEL, not {pair!r}")
        if level not in _LEVELS:
            raise RequestError(f"unknown severity {level!r}{suggestion(level, _LEVELS)}")
        levels[rule] = level
    severities = {rule: Severity.of(level) for rule, level in levels.items() if level != "off"}
    return severities, tuple(rule for rule, level in levels.items() if level == "off")


def file_ignores_of(values: Iterable[str]) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Folder, pattern and names of each `GLOB:NAMES`; the folder is the working directory.

    Raises RequestError for what is no such pair and for an unknown name, whether or not a file has the pattern.
    """
    found = []
    for text in values:
        # The names have no colon; a path of Windows has.
        pattern, separator, names = text.rpartition(":")
        if not separator or not pattern or not names.strip():
            raise RequestError(f"--per-file-ignores wants GLOB:NAMES, not {text!r}")
        found.append((os.getcwd(), pattern, _checked_names(names)))
    return tuple(found)


def _checked_names(text: str) -> tuple[str, ...]:
    from onnx_lint.engine.settings import SelectionError, check_selector, selectors

    names = names_of((text,), selectors())
    for name in names:
        try:
            check_selector(name)
        except SelectionError as error:
            raise RequestError(str(error)) from error
    return names


def opset_versions_of(values: Iterable[str], option: str = "--target-opset") -> dict[str, int]:
    """The versions by domain that `[DOMAIN=]N` give; the default domain is empty.

    Of two for one domain the later one counts. Raises RequestError for what is no whole number.
    """
    from onnx_lint.spec.releases import normalized_domain

    versions: dict[str, int] = {}
    for text in values:
        domain, _, number = text.rpartition("=")
        try:
            versions[normalized_domain(domain.strip())] = int(number)
        except ValueError:
            raise RequestError(f"{option} wants [DOMAIN=]N, not {text!r}") from None
    return versions


def limits_of(values: Iterable[str]) -> Limits:
    """The limits that `NAME=VALUE` lists give.

    Raises RequestError for what is no such pair, an unknown name, or a value that is no whole number of at least 1.
    """
    limits: dict[str, int] = {}
    for pair in (part.strip() for value in values for part in value.split(",")):
        name, separator, value = pair.partition("=")
        if not separator:
            raise RequestError(f"--limit wants NAME=VALUE, not {pair!r}")
        try:
            limits[name] = int(value)
        except ValueError:
            raise RequestError(f"--limit {name} wants a whole number, not {value!r}") from None
    try:
        return DEFAULT_LIMITS.with_values(limits)
    except LimitError as error:
        raise RequestError(str(error)) from error
