# SPDX-License-Identifier: Apache-2.0
"""What configuration files turn off: a model may come with one, and reports say so.

Whatever makes findings fewer or less severe counts, or lets a run pass that would fail, and whatever may do so. What
the command line says does not count, and neither does what it puts aside.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.configuration.keys import KEYS
from onnx_lint.configuration.values import Path, SetValue, SetValues, dotted
from onnx_lint.engine.registry import registry
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.report import Weakening
from onnx_lint.spec.clauses import Severity, severity

if TYPE_CHECKING:
    from onnx_lint.cli.choices import Plan
    from onnx_lint.cli.request import Request
    from onnx_lint.engine.settings import Settings

_OPTIONS: Final = {
    "edition": "edition",
    "variant": "variant",
    "proto": "proto",
    "fail-on": "fail_on",
    "baseline": "baseline",
    "external-data": "external_data",
    "follow-links": "follow_links",
    "external-data-roots": "external_data_roots",
    "opset-schemas": "opset_schemas",
    "select": "select",
    "ignore": "select",
}
"""The option whose presence on the command line puts a key aside."""

_ADDING: Final = frozenset({"extend-select", "pedantic", "target-ir", "target-opset", "consumers"})
"""The keys that only add findings."""


def weakenings(plan: Plan, paths: Iterable[str]) -> tuple[Weakening, ...]:
    """What each configuration file turns off for any of the paths."""
    found: dict[tuple[str, bool], dict[str, Any]] = {}

    def note(path: Path, value: SetValue) -> None:
        if value.origin.in_file:
            file = (value.origin.shown, value.origin.is_found)
            found.setdefault(file, {}).setdefault(dotted(path), value.value)

    of_run: SetValues = plan.values_of("-") or {}
    if of_run.get(("exclude",)) is not None and of_run["exclude",].value:
        note(("exclude",), of_run["exclude",])
    lenient = of_run.get(("internal-errors",))
    if lenient is not None and lenient.value == "warning" and "internal_errors" not in plan.request.given:
        note(("internal-errors",), lenient)
    seen: set[int] = set()
    for file in paths:
        values = plan.values_of(file)
        if values is None or id(values) in seen:
            continue
        seen.add(id(values))
        settings = plan.of(file).settings
        for path, value in values.items():
            if not KEYS[path[0]].of_run and _weakens(path, value.value, settings, plan.request):
                note(path, value)
    return tuple(Weakening(file, tuple(given.items()), is_found) for (file, is_found), given in found.items())


def tell_weakenings(weakened: Iterable[Weakening]) -> None:
    """Tell on standard error which files that nobody has asked for turn something off: what is written has no place."""
    from onnx_lint.reporters.wording import weakened_of

    sys.stderr.writelines(f"Warning: {what}\n" for what in weakened_of(weakened, quiet=True))


def _weakens(path: Path, value: Any, settings: Settings, request: Request) -> bool:
    name = path[0]
    if name in _ADDING or _OPTIONS.get(name) in request.given:
        return False
    if name == "severity":
        return _lowers(path[1], value, settings, request)
    if name == "limits":
        return bool(value == getattr(settings.limits, path[1]) != getattr(DEFAULT_LIMITS, path[1]))
    if name == "fail-on":
        return bool(value == "never")
    if name == "rules":
        return len(path) > 2  # whether an option makes a rule say less, nobody but the rule knows
    return bool(value != KEYS[name].default and value != [])


def _lowers(rule: str, level: str, settings: Settings, request: Request) -> bool:
    """Whether the level is less than that of the clauses of the rule."""
    if any(pair.partition("=")[0].strip() == rule for text in request.severities for pair in text.split(",")):
        return False
    if level == "off":
        return "select" not in request.given
    edition = settings.standard.edition
    levels = (severity(clause, edition) for clause in registry()[rule].clauses)
    return any(own is not None and own > Severity.of(level) for own in levels)
