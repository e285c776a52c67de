# SPDX-License-Identifier: Apache-2.0
"""Merges the values of a configuration into the options that the command line does not set."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Final

from onnx_lint.cli.option_values import named_in, names_of
from onnx_lint.common.record import replace
from onnx_lint.configuration.policy import policy_in
from onnx_lint.configuration.settings import Request, keys
from onnx_lint.configuration.suppressions import suppressions_in
from onnx_lint.configuration.values import Path, SetValue, SetValues
from onnx_lint.engine.registry import registry
from onnx_lint.engine.settings import SelectionError, check_options, check_selector, selectors
from onnx_lint.input.limits import DEFAULT_LIMITS, LimitError
from onnx_lint.spec.target import target_of
from onnx_lint.wording import suggestion


def merged(request: Request, values: SetValues) -> Request:
    """Return the request, with options that it does not set taken from `values`.

    Raises ConfigurationError for a value that names no rule, option or version.
    """
    for path, value in _below(values, "severity"):
        _check_rule(path, value)
    changes: dict[str, Any] = {}
    for key in keys().values():
        if key.merging in _CONVERSIONS and key.field not in request.given and (key.key,) in values:
            changes[key.field] = _CONVERSIONS[key.merging](values[key.key,])
    if "targets" in changes:
        _check_targets(values["targets",])
    if ("exclude",) in values:
        changes["exclude"] = (*_patterns(values["exclude",]), *request.exclude)
    return replace(request, **changes, **_selection(request, values), **_tables(request, values))


def _selection(request: Request, values: SetValues) -> dict[str, Any]:
    """Return the changes of the request from the keys that select rules."""
    known = selectors()
    named = {name: _selectors(values, (name,), known) for name in ("select", "extend-select", "ignore")}
    # A rule that is off is ignored, and the command line overrides both in the same way.
    given = named_in(request.severities)
    off = (path[1] for path, value in _below(values, "severity") if value.value == "off")
    named["ignore"] += tuple(rule for rule in off if rule not in given)
    changes: dict[str, Any] = {}
    if "select" not in request.given:
        changes["select"] = named["select"]
        if "extend_select" in request.given:
            # The command line selects a rule even if the configuration ignores it.
            changes["set_aside"] = named["ignore"]
        else:
            changes["ignore"] = (*request.ignore, *named["ignore"])
        changes["extend_select"] = (*request.extend_select, *named["extend-select"])
    patterns = [
        (value.origin.directory, path[1], _selectors(values, path, known))
        for path, value in _below(values, "per-file-ignores")
    ]
    changes["file_ignores"] = (*patterns, *request.file_ignores)
    return changes


def _tables(request: Request, values: SetValues) -> dict[str, Any]:
    """Return the changes of the request from the tables of the configuration."""
    changes: dict[str, Any] = {}
    for key in keys().values():
        if key.merging != "table":
            continue
        # The last of several entries for one name counts, so those of the command line come last.
        entries = [f"{path[1]}={value.value}" for path, value in _below(values, key.key) if value.value != "off"]
        changes[key.field] = (*entries, *getattr(request, key.field))
    for path, value in _below(values, "limits"):
        _check_limit(path, value)
    options: dict[str, dict[str, Any]] = {}
    for path, value in _below(values, "rules"):
        _check_rule(path, value)
        if len(path) == 3:
            _check_option(path, value)
            options.setdefault(path[1], {})[path[2]] = value.value
    changes["suppressions"] = suppressions_in(values)
    policy = policy_in(values)
    changes["policy"] = tuple(policy.options)
    changes["policy_lines"] = policy.lines
    for rule, required in policy.options.items():
        options[rule] = {**options.get(rule, {}), **required}
    for rule, given in request.rule_options.items():
        options[rule] = {**options.get(rule, {}), **given}
    changes["rule_options"] = options
    return changes


def _below(values: SetValues, name: str) -> Iterator[tuple[Path, SetValue]]:
    """Yield the entries of one table. An empty table has an entry of its own, which is left out."""
    return ((path, value) for path, value in values.items() if path[0] == name and len(path) > 1)


def _joined(value: SetValue) -> str:
    return os.path.normpath(os.path.join(value.origin.directory, value.value))


def _all_joined(value: SetValue) -> Iterator[str]:
    for path in value.value:
        yield _joined(SetValue(path, value.origin))


_CONVERSIONS: Final[Mapping[str, Callable[[SetValue], Any]]] = {
    "value": lambda given: given.value,
    "tuple": lambda given: tuple(given.value),
    "path": _joined,
    "paths": lambda given: tuple(_all_joined(given)),
}
"""How the value of a key goes into the field of the request, by `Setting.merging`."""


def _patterns(value: SetValue) -> Iterator[str]:
    """Yield the patterns as absolute paths; a pattern without a slash matches file names and stays as it is."""
    for pattern in value.value:
        yield os.path.join(value.origin.directory, pattern) if "/" in pattern else pattern


def _selectors(values: SetValues, path: Path, known: Collection[str]) -> tuple[str, ...]:
    value = values.get(path)
    if value is None:
        return ()
    names = names_of(value.value, known)
    for name in names:
        try:
            check_selector(name)
        except SelectionError as error:
            raise value.error(path, str(error)) from error
    return names


def _check_rule(path: Path, value: SetValue) -> None:
    if path[1] not in registry():
        raise value.error(path[:1], f"unknown rule {path[1]!r}{suggestion(path[1], registry())}")


def _check_option(path: Path, value: SetValue) -> None:
    try:
        check_options(path[1], {path[2]: value.value})
    except SelectionError as error:
        raise value.error(path[:2], str(error)) from error


def _check_limit(path: Path, value: SetValue) -> None:
    try:
        DEFAULT_LIMITS.with_values({path[1]: value.value})
    except LimitError as error:
        raise value.error(path[:1], str(error)) from error


def _check_targets(value: SetValue) -> None:
    try:
        target_of(value.value)
    except ValueError as error:
        raise value.error(("targets",), str(error)) from error
