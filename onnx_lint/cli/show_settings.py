# SPDX-License-Identifier: Apache-2.0
"""`--show-settings`: every setting and its source."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from onnx_lint.cli.paths import find_inputs, paths_of
from onnx_lint.cli.streams import standard_output
from onnx_lint.configuration.files import shown
from onnx_lint.configuration.plugin_files import files_of, refusal
from onnx_lint.configuration.settings import Setting, keys
from onnx_lint.configuration.values import SetValues, dotted
from onnx_lint.reporters.escape import shown_path, visible

if TYPE_CHECKING:
    from onnx_lint.cli.choices import Plan

_SettingLine = tuple[str, str]
"""The text of a setting and its source."""


def show_settings(plan: Plan) -> None:
    """Print the settings of each file, grouped by configuration.

    Raises RunError for a configuration that cannot be used, as a run would.
    """
    groups: dict[int, list[str]] = {}
    values: dict[int, SetValues] = {}
    for item in find_inputs(paths_of(plan.request)):
        path = plan.request.stdin_filename or item.path if item.path == "-" else item.name or item.path
        plan.settings_for(path)  # which checks the names of rules
        found = plan.values_of(path)
        groups.setdefault(id(found), []).append(path)
        values[id(found)] = found
    with standard_output() as stream:
        for number, (key, files) in enumerate(groups.items()):
            more = f" and {len(files) - 1:,} more" if len(files) > 1 else ""
            stream.write(f"{'' if number == 0 else chr(10)}# {shown_path(files[0])}{more}\n")
            shown_keys = [each for each in keys().values() if each.key != "extend"]
            lines = [line for each in shown_keys for line in _lines(each, values[key], plan)]
            width = min(max(len(text) for text, _ in lines), 60)
            stream.writelines(f"{visible(text).ljust(width)}  # {visible(origin)}\n" for text, origin in lines)


def _lines(key: Setting, values: SetValues, plan: Plan) -> list[_SettingLine]:
    given = _given(key, plan)
    configured = [
        (f"{dotted(path)} = {_toml(value.value)}", value.origin.shown)
        for path, value in values.items()
        if path[0] == key.key
    ]
    if key.is_run_wide:
        # This key is read only from the configuration of the working directory.
        found = plan.values_of("-").get((key.key,))
        configured = []
        if found is not None:
            value, mark = found.value, ""
            if key.key == "plugins" and refusal(found) is not None:
                mark = "# not loaded: "
            elif key.key == "plugins":
                value = [shown(os.path.realpath(path)) for path in files_of(found)]
            configured = [(f"{mark}{key.key} = {_toml(value)}", found.origin.shown)]
    if given and not key.is_added_to:
        configured = []
    lines = [*configured, *given]
    if lines:
        return lines
    return [
        (
            f"{key.key} = {_toml(key.key_default)}" if key.key_default is not None else f"# {key.key} is not set",
            "default",
        )
    ]


def _given(key: Setting, plan: Plan) -> list[_SettingLine]:
    """Return the lines for values of the key from the command line or the environment."""
    parameter = key.field
    if parameter not in plan.request.given:
        return []
    return [(text, plan.request.given[parameter]) for text in _texts(key, getattr(plan.request, parameter))]


def _texts(key: Setting, value: Any) -> Iterator[str]:
    if key.merging == "table":
        for name, word in value.items():
            shown = word if word.isdecimal() else _toml(word)
            yield f"{dotted((key.key, name))} = {shown}"
    elif isinstance(value, tuple):
        has_commas = key.kind.option == "names"
        names = [name.strip() for text in value for name in text.split(",")] if has_commas else value
        yield f"{key.key} = {_toml(list(names))}"
    else:
        yield f"{key.key} = {_toml(value)}"


def _toml(value: Any) -> str:
    """Return a value as TOML."""
    if isinstance(value, (bool, str, list, int, float)):
        return json.dumps(value, ensure_ascii=False)
    return "{}" if value == {} else str(value)
