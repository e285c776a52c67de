# SPDX-License-Identifier: Apache-2.0
"""Finds the settings of configuration files that may hide findings, since a model may come with such a file.

A setting counts if it can make findings fewer or less severe, or let a run pass that would otherwise fail. Settings of
the command line, and those that it overrides, do not count, and neither does a baseline of the user's own.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator, Set
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.common.record import replace
from onnx_lint.configuration.settings import keys
from onnx_lint.configuration.toml_text import toml_key
from onnx_lint.configuration.values import Origin, SetValue
from onnx_lint.engine.registry import registry
from onnx_lint.engine.value_kinds import Path
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.report.totals import Weakening
from onnx_lint.reporters.wording import weakenings_in_words
from onnx_lint.spec.clauses import Severity, severity
from onnx_lint.spec.standard import DEFAULT_STANDARD

if TYPE_CHECKING:
    from onnx_lint.cli.plan import Plan
    from onnx_lint.configuration.settings import Request
    from onnx_lint.engine.settings import Settings
    from onnx_lint.report.file_report import FileReport


def weakenings(plan: Plan, paths: Iterable[str]) -> tuple[Weakening, ...]:
    """Return what each configuration file turns off for any of the paths."""
    found: dict[tuple[str, bool], dict[str, Any]] = {}

    def note(path: Path, value: SetValue) -> None:
        file = (value.origin.shown, value.origin.is_found)
        found.setdefault(file, {}).setdefault(toml_key(path), value.value)

    run_values = plan.values_of_run()
    if run_values.get(("exclude",)) is not None and run_values["exclude",].value:
        note(("exclude",), run_values["exclude",])
    first_files: dict[int, str] = {}
    for file in paths:
        first_files.setdefault(id(plan.values_of(file)), file)
    for file in first_files.values():
        settings = plan.settings_for(file)
        for path, value in plan.values_of(file).items():
            if keys()[path[0]].is_run_wide or (path == ("baseline",) and _is_of_the_user(value.origin)):
                continue
            if _weakens(path, value.value, settings, plan.request):
                note(path, value)
    return tuple(Weakening(file, tuple(given.items()), is_found) for (file, is_found), given in found.items())


def without_unused(
    weakened: Iterable[Weakening], used: Iterable[str], lowered: Set[str] = frozenset()
) -> tuple[Weakening, ...]:
    """Return the weakenings without suppressions that suppressed nothing, and severities that lowered nothing.

    `used`: the descriptions of the suppressions that suppressed something. `lowered`: the rules with a finding whose
    severity a setting lowered. A setting that only lowers severities is listed in any case.
    """
    # A description is FILE: suppress[NUMBER]: REASON. A file or reason with "]: " in it adds names that nothing has.
    known = {
        toml_key(("suppress", text[: end.start() + 1], "rule")) for text in used for end in re.finditer(r"\]: ", text)
    }
    known |= {toml_key(("severity", rule)) for rule in lowered}
    left = (
        replace(each, settings=tuple((key, value) for key, value in each.settings if not _is_idle(key, value, known)))
        for each in weakened
    )
    return tuple(each for each in left if each.settings)


def _is_idle(key: str, value: Any, used: Set[str]) -> bool:
    name, _, rule = key.partition(".")
    is_mixed = name == "suppress" or (name == "severity" and _raises(rule, value))
    return is_mixed and key not in used


def _raises(rule: str, level: str) -> bool:
    """Return whether the level is higher than the severity of a clause of the rule."""
    levels = (severity(clause, DEFAULT_STANDARD.edition) for clause in registry()[rule].clauses)
    return any(own is not None and own < Severity.of(level) for own in levels)


def lowered_in(file: FileReport, settings: Settings) -> Iterator[str]:
    """Yield the rules with a finding whose severity the settings lowered."""
    for item in file.diagnostics if settings.severities else ():
        own = severity(item.clause, settings.standard.edition) if item.rule in settings.severities else None
        if own is not None and own > settings.severities[item.rule]:
            yield item.rule


def print_weakenings(weakened: Iterable[Weakening]) -> None:
    """Print on standard error which discovered configuration files turn something off, if the report cannot say so."""
    sys.stderr.writelines(f"Warning: {what}\n" for what in weakenings_in_words(weakened, quiet=True))


def _is_of_the_user(origin: Origin) -> bool:
    """Return whether the user named the file, or works in its folder or below it; else it came with a model."""
    if not origin.is_found:
        return True
    folder, working = os.path.dirname(origin.files[0]), os.getcwd()
    return working == folder or working.startswith(os.path.join(folder, ""))


def _weakens(path: Path, value: Any, settings: Settings, request: Request) -> bool:
    name = path[0]
    key = keys()[name]
    is_replaced = key.replaced_by in request.given or (not key.is_added_to and key.field in request.given)
    if key.only_adds or is_replaced:
        return False
    if name == "severity":
        return _lowers(path[1], value, settings, request)
    if name == "limits":
        given = getattr(DEFAULT_LIMITS.with_values({path[1]: value}), path[1])
        return bool(given == getattr(settings.limits, path[1]) != getattr(DEFAULT_LIMITS, path[1]))
    if name == "suppress":
        return path[-1] == "rule"  # --show-suppressed has the rest of an entry
    if name in _WEAK_VALUES:
        return bool(value == _WEAK_VALUES[name])
    if name == "rules":
        # Only the rule knows whether an option makes it report less.
        return len(path) > 2 and value != _without_tuple(registry()[path[1]].rule.options.get(path[2]))
    return value not in (key.key_default, _DEFAULTS_IN_WORDS.get(name), [])


def _without_tuple(value: Any) -> Any:
    """Return the default of an option as a configuration file gives it."""
    return list(value) if isinstance(value, tuple) else value


_DEFAULTS_IN_WORDS: Final = {"targets": ["onnx"]}
"""What a key may say that is the same as its default, an empty list."""

_WEAK_VALUES: Final = {"fail-on": "never", "target-gate": "refused"}
"""The only value of a key that weakens the verdict."""


def _lowers(rule: str, level: str, settings: Settings, request: Request) -> bool:
    """Return whether the level is lower than the severity of a clause of the rule."""
    if rule in request.severities:
        return False
    edition = settings.standard.edition
    levels = (severity(clause, edition) for clause in registry()[rule].clauses)
    return any(own is not None and own > Severity.of(level) for own in levels)
