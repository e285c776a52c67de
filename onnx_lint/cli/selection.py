# SPDX-License-Identifier: Apache-2.0
"""What `--select`, `--ignore` and `--severity` say."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

import click

from onnx_lint.wording import suggestion

if TYPE_CHECKING:
    from onnx_lint.spec.clauses import Severity

_LEVELS = ("error", "warning", "note", "off")


def names_of(values: Iterable[str], known: Collection[str]) -> tuple[str, ...]:
    """The names in comma lists. One that is known but for its case is taken for the known one."""
    names = (name.strip() for value in values for name in value.split(","))
    return tuple(_known_spelling(name, known) for name in names if name)


def _known_spelling(name: str, known: Collection[str]) -> str:
    return next((spelling for spelling in (name, name.upper(), name.lower()) if spelling in known), name)


def severities_of(values: Iterable[str]) -> tuple[dict[str, Severity], tuple[str, ...]]:
    """The severities by rule that `RULE=LEVEL` lists give, and the rules that are off.

    Raises UsageError for what is no such pair; whether there is such a rule is not asked here.
    """
    from onnx_lint.spec.clauses import Severity

    severities: dict[str, Severity] = {}
    off: list[str] = []
    for pair in (part.strip() for value in values for part in value.split(",")):
        rule, separator, level = pair.partition("=")
        if not separator:
            raise click.UsageError(f"--severity wants RULE=LEVEL, not {pair!r}")
        if level not in _LEVELS:
            raise click.UsageError(f"unknown severity {level!r}{suggestion(level, _LEVELS)}")
        if level == "off":
            off.append(rule)
        else:
            severities[rule] = Severity.of(level)
    return severities, tuple(off)
