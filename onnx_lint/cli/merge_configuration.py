# SPDX-License-Identifier: Apache-2.0
"""Merges the values of a configuration into the options that the command line does not set."""

from __future__ import annotations

import datetime
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from onnx_lint.common.record import replace
from onnx_lint.configuration.errors import ConfigurationError
from onnx_lint.configuration.files import check_file
from onnx_lint.configuration.policy import check_domains, check_option, policy_in
from onnx_lint.configuration.settings import Request, keys
from onnx_lint.configuration.values import Origin, SetValue, SetValues, suppressions_in
from onnx_lint.engine.settings import OptionError, check_options, check_rule, check_selector, names_of
from onnx_lint.engine.suppressions import MAX_INNER, Suppression
from onnx_lint.engine.value_kinds import Path
from onnx_lint.spec.target import target_of


def merged(request: Request, values: SetValues) -> Request:
    """Return the request, with options that it does not set taken from `values`.

    Raises ConfigurationError for a value that names no rule, option, limit or target.
    """
    for path, value in values.items():
        if path[0] in _CHECKS:
            depth, check = _CHECKS[path[0]]
            try:
                check(path, value.value)
            except OptionError as error:
                raise value.error((*path[:depth], *error.path), error.reason) from error
            except ValueError as error:
                raise value.error(path[:depth], str(error)) from error
    if ("registered",) in values:
        check_domains(("registered",), values["registered",])
    _check_paths(request, values)
    changes: dict[str, Any] = {}
    for key in keys().values():
        if key.merging == "table":
            found = {path[1]: value.value for path, value in _below(values, key.key)}
            changes[key.field] = {**found, **getattr(request, key.field)}
        elif key.merging in _CONVERSIONS and key.field not in request.given and (key.key,) in values:
            changes[key.field] = _CONVERSIONS[key.merging](values[key.key,])
    if ("exclude",) in values:
        changes["exclude"] = (*_patterns(values["exclude",]), *request.exclude)
    return replace(request, **changes, **_selection(request, values), **_rules(request, values))


def _check_paths(request: Request, values: SetValues) -> None:
    """Raise ConfigurationError for a file or folder in `values` that does not exist, unless the command line has one.

    A baseline that the run writes may be missing.
    """
    for key in keys().values():
        is_used = key.field not in request.given and not (key.field == "baseline" and request.write_baseline)
        if key.merging not in ("path", "paths") or not is_used or (key.key,) not in values:
            continue
        value = values[key.key,]
        for path in [value.value] if isinstance(value.value, str) else value.value:
            check_file(value, key.key, path, is_folder=key.kind.option == "folder")


def _selection(request: Request, values: SetValues) -> dict[str, Any]:
    """Return the changes of the request from the keys that select rules."""
    select, more, ignore = (
        tuple(values[name,].value) if (name,) in values else () for name in ("select", "extend-select", "ignore")
    )
    if "select" in request.given:
        return {}
    changes = {"select": select, "extend_select": (*request.extend_select, *more)}
    if "extend_select" in request.given:
        # The command line selects a rule even if the configuration ignores it.
        return changes | {"set_aside": ignore}
    return changes | {"ignore": (*request.ignore, *ignore)}


def _rules(request: Request, values: SetValues) -> dict[str, Any]:
    """Return the changes of the request from the suppressions, the policy and the options of rules."""
    policy = policy_in(values)
    options: dict[str, dict[str, Any]] = {}
    for path, value in _below(values, "rules"):
        if len(path) < 3:  # an empty table
            continue
        check_option(path, value)
        options.setdefault(path[1], {})[path[2]] = value.value
    for later in (policy.options, request.rule_options):
        for rule, given in later.items():
            options[rule] = {**options.get(rule, {}), **given}
    return {
        "suppressions": _suppressions(values),
        "policy": tuple(policy.options),
        "policy_files": policy.files,
        "rule_options": options,
    }


def _suppressions(values: SetValues) -> tuple[Suppression, ...]:
    """Return the suppressions in the values of a configuration.

    Raises ConfigurationError for one without a rule or a reason, for a blank reason, for an unknown rule, and for too
    many that have to be compared one by one.
    """
    suppressions = tuple(_suppression(where, entry) for where, entry in suppressions_in(values).items())
    compared: Counter[str] = Counter()
    for each in suppressions:
        compared[each.rule] += each.has_inner_star
        if compared[each.rule] > MAX_INNER:
            raise ConfigurationError(
                f"{each.where}: more than {MAX_INNER:,} suppressions of {each.rule!r} have a place with a * before "
                "its end; write the name, or a * only at the end"
            )
    return suppressions


def _suppression(where: str, entry: Mapping[str, SetValue]) -> Suppression:
    for name in ("rule", "reason"):
        if name not in entry:
            raise ConfigurationError(f"{where}: requires a {name}")
    rule = entry["rule"].value
    try:
        check_rule(rule)
    except ValueError as error:
        raise ConfigurationError(f"{where}.rule: {error}") from error
    text: dict[str, Any] = {name: entry[name].value if name in entry else "" for name in ("reason", "place", "file")}
    until = datetime.date.fromisoformat(entry["until"].value) if "until" in entry else None
    return Suppression(where=where, rule=rule, directory=entry["rule"].origin.directory, until=until, **text)


def _below(values: SetValues, name: str) -> Iterator[tuple[Path, SetValue]]:
    """Yield the entries of one table."""
    return ((path, value) for path, value in values.items() if path[0] == name)


def _joined(path: str, origin: Origin) -> str:
    return os.path.normpath(os.path.join(origin.directory, path))


_CONVERSIONS: Final[Mapping[str, Callable[[SetValue], Any]]] = {
    "value": lambda given: given.value,
    "tuple": lambda given: tuple(given.value),
    "path": lambda given: _joined(given.value, given.origin),
    "paths": lambda given: tuple(_joined(path, given.origin) for path in given.value),
}
"""How the value of a key goes into the field of the request, by `Setting.merging`."""


def _patterns(value: SetValue) -> Iterator[str]:
    """Yield the patterns as absolute paths. Those without a slash, for file names, and addresses stay as they are."""
    import glob

    from onnx_lint.input.locations import is_remote

    for pattern in value.value:
        directory, below = value.origin.directory, pattern.removeprefix("./")
        if "/" not in below or is_remote(below):
            yield below
            continue
        while below.startswith("../"):
            directory, below = os.path.dirname(directory), below.removeprefix("../")
        yield os.path.join(glob.escape(directory), below)


def _check_names(_: Path, names: list[str]) -> None:
    for name in names_of(names):
        check_selector(name)


_CHECKS: Final[Mapping[str, tuple[int, Callable[[Path, Any], object]]]] = {
    **dict.fromkeys(("select", "extend-select", "ignore"), (2, _check_names)),
    "severity": (1, lambda path, _: check_rule(path[1])),
    "rules": (2, lambda path, value: check_options(path[1], {path[2]: value} if path[2:] else {})),
    "targets": (1, lambda _, value: target_of(value)),
}
"""The checks that need more than the kind of the value, by the key, each with the parts of the key that errors name."""
