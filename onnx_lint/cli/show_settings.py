# SPDX-License-Identifier: Apache-2.0
"""`--show-settings`: every setting and its source."""

from __future__ import annotations

import json
import os
from collections.abc import Container
from typing import TYPE_CHECKING, Any

from onnx_lint.cli.paths import Exclusion, find_inputs, paths_of
from onnx_lint.cli.streams import standard_output
from onnx_lint.configuration.files import shown
from onnx_lint.configuration.plugin_files import files_of, refusal
from onnx_lint.configuration.policy import rule_of
from onnx_lint.configuration.settings import Setting, keys
from onnx_lint.configuration.values import SetValue, SetValues, dotted
from onnx_lint.engine.selection import report_of
from onnx_lint.engine.value_kinds import Path
from onnx_lint.reporters.escape import shown_path, visible

if TYPE_CHECKING:
    from onnx_lint.cli.plan import Plan


def show_settings(plan: Plan) -> None:
    """Print the settings of each file that a run would lint, grouped by configuration; of all if it lints none.

    Raises RunError for a configuration that cannot be used, as a run would.
    """
    groups: dict[int, tuple[SetValues, list[str], Container[str]]] = {}
    paths = tuple(paths_of(plan.request))
    linted = find_inputs(paths, Exclusion(plan.run_request().exclude), may_be_none=True)
    for item in linted or find_inputs(paths):
        path = plan.request.stdin_filename or item.path if item.path == "-" else item.name or item.path
        settings = plan.settings_for(path)  # which checks the names of rules
        values = plan.values_of(path)
        if id(values) not in groups:
            groups[id(values)] = (values, [], report_of((), settings).rules)
        groups[id(values)][1].append(path)
    with standard_output() as stream:
        for number, (values, files, rules) in enumerate(groups.values()):
            more = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
            stream.write(f"{'' if number == 0 else chr(10)}# {shown_path(files[0])}{more}\n")
            lines = [
                line for key in keys().values() if key.key != "extend" for line in _lines(key, values, plan, rules)
            ]
            width = min(max(len(text) for text, _ in lines), 60)
            stream.writelines(f"{visible(text).ljust(width)}  # {visible(origin)}\n" for text, origin in lines)


def _lines(key: Setting, values: SetValues, plan: Plan, rules: Container[str]) -> list[tuple[str, str]]:
    """Return the entries of a key that hold, each with its source. `rules`: those that run."""
    lines: list[tuple[str, str]] = []
    is_given = key.field in plan.request.given
    if not is_given or key.is_added_to:
        found = plan.values_of_run() if key.is_run_wide else values
        entries = ((path, value) for path, value in found.items() if path[0] == key.key)
        in_force = {path: value for path, value in entries if not _is_replaced(path, key, plan, rules)}
        if is_given and (key.key,) in in_force and key.merging != "table" and key.key != "plugins":
            return [_joined(key, in_force[key.key,], plan)]
        lines += [_configured(path, value) for path, value in in_force.items()]
    if is_given:
        lines += [(f"{dotted(path)} = {_toml(value)}", "command line") for path, value in _given(key, plan)]
    default = f"# {key.key} is not set" if key.key_default is None else f"{key.key} = {_toml(key.key_default)}"
    return lines or [(default, "default")]


def _joined(key: Setting, value: SetValue, plan: Plan) -> tuple[str, str]:
    """Return the one entry of a list to which the command line adds."""
    [(path, added)] = _given(key, plan)
    items = list(dict.fromkeys((*value.value, *added)))
    return f"{dotted(path)} = {_toml(items)}", f"{value.origin.shown}, command line"


def _given(key: Setting, plan: Plan) -> list[tuple[Path, Any]]:
    """Return the values of a key on the command line, each with its path in a configuration."""
    value = getattr(plan.request, key.field)
    if key.merging == "table":
        return [((key.key, name), each) for name, each in value.items()]
    if key.kind.option == "names":
        value = [name.strip() for text in value for name in text.split(",")]
    return [((key.key,), value)]


def _is_replaced(path: Path, key: Setting, plan: Plan, rules: Container[str]) -> bool:
    """Return whether the command line replaces an entry of a configuration. A policy holds for the rules that run."""
    if key.merging == "table":
        return path[1] in getattr(plan.request, key.field)
    if key.replaced_by not in plan.request.given:
        return False
    return key.key != "policy" or rule_of(path) not in rules


def _configured(path: Path, value: SetValue) -> tuple[str, str]:
    """Return the entry of a configuration. That of plugins has the files, or says that they are not loaded."""
    shown_value, mark = value.value, ""
    if path == ("plugins",):
        mark = "# not loaded: " if refusal(value) is not None else ""
        shown_value = value.value if mark else [shown(os.path.realpath(file)) for file in files_of(value)]
    return f"{mark}{dotted(path)} = {_toml(shown_value)}", value.origin.shown


def _toml(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, str) and value.isdecimal():
        return value  # the number of a limit
    if isinstance(value, (bool, str, list, tuple, int, float)):
        return json.dumps(value, ensure_ascii=False)
    return "{}" if value == {} else str(value)
