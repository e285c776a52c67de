# SPDX-License-Identifier: Apache-2.0
"""`--show-settings`: every setting and its source, as TOML."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.cli.paths import Exclusion, find_inputs, paths_of
from onnx_lint.cli.streams import standard_output
from onnx_lint.common.record import Record
from onnx_lint.configuration.files import shown
from onnx_lint.configuration.plugin_files import files_of, refusal
from onnx_lint.configuration.policy import rule_of
from onnx_lint.configuration.settings import Setting, keys
from onnx_lint.configuration.toml_text import toml_key, toml_value
from onnx_lint.configuration.values import SetValue, SetValues, suppressions_in
from onnx_lint.engine.selection import report_of
from onnx_lint.engine.value_kinds import Path
from onnx_lint.reporters.escape import shown_path, visible

if TYPE_CHECKING:
    from onnx_lint.cli.plan import Plan

_COMMAND_LINE: Final = "command line"
_PLUGINS: Final = ("plugins",)
_MAX_WIDTH: Final = 60
"""The column up to which the sources of the settings are aligned."""


class _ConfiguredFiles(Record):
    """The files that have one configuration."""

    values: SetValues
    rules: Container[str]
    """The rules that run."""
    files: list[str]


class _TomlLine(Record):
    """A line of TOML, and the source of its value; empty for a line without a value of its own."""

    text: str
    source: str = ""


def show_settings(plan: Plan) -> None:
    """Print the settings of each file that a run would lint, grouped by configuration; of all if it lints none.

    Raises RunError for a configuration that cannot be used, as a run would.
    """
    groups = _groups(plan)
    with standard_output() as stream:
        for number, group in enumerate(groups):
            if number:
                stream.write("\n")
            more = f" and {len(group.files) - 1:,} more" if len(group.files) > 1 else ""
            stream.write(f"# {shown_path(group.files[0])}{more}\n")
            settings = [each for each in keys().values() if each.key != "extend"]
            lines = [line for setting in settings for line in _lines(setting, group, plan)]
            width = min(max(len(line.text) for line in lines), _MAX_WIDTH)
            stream.writelines(f"{_shown(line, width)}\n" for line in lines)


def _groups(plan: Plan) -> Iterable[_ConfiguredFiles]:
    paths = tuple(paths_of(plan.request))
    linted = find_inputs(paths, Exclusion(plan.request_of_run().exclude), may_be_none=True)
    groups: dict[int, _ConfiguredFiles] = {}
    for item in linted or find_inputs(paths):
        path = item.named(plan.request).reported_path
        settings = plan.settings_for(path)  # which checks the names of rules
        values = plan.values_of(path)  # the same object for each file with this configuration
        if id(values) not in groups:
            groups[id(values)] = _ConfiguredFiles(values, report_of((), settings).rules, [])
        groups[id(values)].files.append(path)
    return groups.values()


def _shown(line: _TomlLine, width: int) -> str:
    text = visible(line.text)
    return f"{text.ljust(width)}  # {visible(line.source)}" if line.source else text


def _lines(setting: Setting, group: _ConfiguredFiles, plan: Plan) -> list[_TomlLine]:
    """Return the entries of a setting that apply, each with its source."""
    configured = _configured(setting, group, plan)
    if setting.key == "suppress":
        return list(_suppressions(configured))
    given = _given(setting, plan)
    own = configured.get((setting.key,))
    if own is not None and given and not _is_refused((setting.key,), own):
        return [_joined((setting.key,), own, given[setting.key,])]
    lines = [_line_of(path, value) for path, value in configured.items()]
    lines += [_TomlLine(f"{toml_key(path)} = {toml_value(value)}", _COMMAND_LINE) for path, value in given.items()]
    return lines or [_default(setting)]


def _default(setting: Setting) -> _TomlLine:
    if setting.key_default is None:
        return _TomlLine(f"# {setting.key} is not set", "default")
    return _TomlLine(f"{setting.key} = {toml_value(setting.key_default)}", "default")


def _configured(setting: Setting, group: _ConfiguredFiles, plan: Plan) -> dict[Path, SetValue]:
    """Return those values of a key in the configuration that apply: the command line does not replace them."""
    if setting.field in plan.request.given and not setting.is_added_to:
        return {}
    values = plan.values_of_run() if setting.is_run_wide else group.values
    own = {path: value for path, value in values.items() if path[0] == setting.key}
    # An empty table in one file can have entries in another one that extends it.
    filled = {path[:-1] for path in own}
    return {
        path: value
        for path, value in own.items()
        if path not in filled and not _is_replaced(path, setting, group, plan)
    }


def _is_replaced(path: Path, setting: Setting, group: _ConfiguredFiles, plan: Plan) -> bool:
    """Return whether the command line replaces an entry of a configuration. A policy holds for the rules that run."""
    if setting.merging == "table":
        return path[1] in getattr(plan.request, setting.field)
    if setting.replaced_by not in plan.request.given:
        return False
    return setting.key != "policy" or rule_of(path) not in group.rules


def _given(setting: Setting, plan: Plan) -> Mapping[Path, Any]:
    """Return the values of a key on the command line, by their paths in a configuration."""
    if setting.field not in plan.request.given:
        return {}
    value = getattr(plan.request, setting.field)
    if setting.merging == "table":
        return {(setting.key, name): each for name, each in value.items()}
    if setting.kind.option == "names":
        value = [name.strip() for text in value for name in text.split(",")]
    return {(setting.key,): value}


def _joined(path: Path, value: SetValue, added: Iterable[Any]) -> _TomlLine:
    """Return the one entry of a list to which the command line adds."""
    items = list(dict.fromkeys((*_items(path, value), *added)))
    return _TomlLine(f"{toml_key(path)} = {toml_value(items)}", f"{value.origin.shown}, {_COMMAND_LINE}")


def _line_of(path: Path, value: SetValue) -> _TomlLine:
    """Return the entry of a configuration. That of plugins has the files, or says that they are not loaded."""
    if _is_refused(path, value):
        return _TomlLine(f"# not loaded: {toml_key(path)} = {toml_value(value.value)}", value.origin.shown)
    return _TomlLine(f"{toml_key(path)} = {toml_value(_items(path, value))}", value.origin.shown)


def _is_refused(path: Path, value: SetValue) -> bool:
    """Return whether the value names plugins that are not loaded."""
    return path == _PLUGINS and refusal(value) is not None


def _items(path: Path, value: SetValue) -> Any:
    """Return a value of a configuration; of plugins the files that its patterns match."""
    return [shown(os.path.realpath(file)) for file in files_of(value)] if path == _PLUGINS else value.value


def _suppressions(configured: Mapping[Path, SetValue]) -> Iterator[_TomlLine]:
    """Yield the lines of the array of suppressions, one for each."""
    entries = suppressions_in(configured)
    if not entries:
        yield _TomlLine("suppress = []", "default")
        return
    yield _TomlLine("suppress = [")
    for entry in entries.values():
        values = {name: value.value for name, value in entry.items()}
        yield _TomlLine(f"    {toml_value(values)},", entry["rule"].origin.shown)
    yield _TomlLine("]")
