# SPDX-License-Identifier: Apache-2.0
"""The settings of each file, merged from the command line and the configuration files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

from onnx_lint.cli.engine_settings import engine_settings, has_baseline
from onnx_lint.cli.request import STANDARD_INPUT
from onnx_lint.common.record import EMPTY, Record
from onnx_lint.configuration.discovery import Configurations
from onnx_lint.configuration.errors import RequestError, RunError
from onnx_lint.engine.plugins import use_files
from onnx_lint.engine.settings import PARTS, SelectionError, Settings
from onnx_lint.input.locations import is_local
from onnx_lint.reporters.escape import visible

if TYPE_CHECKING:
    from onnx_lint.cli.run_plugins import RunPlugins
    from onnx_lint.configuration.settings import Request
    from onnx_lint.configuration.values import SetValue, SetValues

_PLUGINS: Final = ("plugins",)
"""The key of a configuration for plugin files."""

_REQUIRED_CONTENTS: Final = {
    "baseline": "requires a file that --write-baseline made",
    "opset-schemas": "requires schema files, which describe operators in JSON",
}
"""What each key requires of the files that it names, for error messages."""


_WORKING_DIRECTORY: Final = ""
"""The folder whose configuration applies to the run as a whole."""


def _folder_of(path: str) -> str:
    """Return the folder whose configuration applies to a file.

    A configuration next to a remote model belongs to its owner and is not read.
    """
    return os.path.dirname(path) if is_local(path) else _WORKING_DIRECTORY


class ConfigurationsOfRun(Record):
    """The configurations of a run as a whole and of its files, each once."""

    values: tuple[SetValues, ...]
    requests: tuple[Request, ...]
    """What the user asks, with each of the configurations."""
    plugins: tuple[str, ...]
    """The absolute paths of the plugin files of the run."""

    @property
    def are_any(self) -> bool:
        """True if there is a configuration with a value."""
        return any(self.values)

    @property
    def have_baseline(self) -> bool:
        """True if any file has a baseline, or if the run changes one."""
        return any(has_baseline(request) or request.prune_baseline for request in self.requests)

    @property
    def have_suppressions(self) -> bool:
        """True if any configuration suppresses findings."""
        return any(request.suppressions for request in self.requests)

    def files(self) -> Iterator[str]:
        """Yield the files besides models that the run uses. A path may come twice."""
        for values in self.values:
            yield from {each.origin.shown for each in values.values()}
        yield from self.plugins
        for request in self.requests:
            yield from request.opset_schemas
            yield from filter(None, (request.files_from, request.baseline, request.write_baseline))


class Plan:
    """Finds the settings of each file. Every configuration file is read once."""

    def __init__(self, request: Request, *, is_library: bool = False) -> None:
        """Read what the request names.

        `is_library`: whether a program made the request. Then a configuration whose plugins are not allowed is an
        error, and the plugin files that the program names are not checked for another owner.
        """
        self.request = request
        if not is_library:
            _check_working_directory()
        _check_baseline_options(request)
        self._configurations = Configurations()
        self._config_option_values = _values_of_config_option(request)
        """The values of the file that `--config` names; None if there is none."""
        self._discovers = self._config_option_values is None and not request.no_config
        # The identities stay those of these objects: `Configurations` and `_merged` keep them as long as the plan.
        self._merged: dict[int, Request] = {}
        """The request with each configuration, by the identity of the configuration's values."""
        self._settings: dict[tuple[int, tuple[str, ...]], Settings] = {}
        """The settings by the identity of the request, and the parts that reports show."""
        self._is_library = is_library
        self._run_plugins: RunPlugins | None = None
        self.plugins = self._used_plugins(self.values_of_run().get(_PLUGINS))
        """The absolute paths of the plugin files of the run."""

    def _used_plugins(self, value: SetValue | None) -> tuple[str, ...]:
        """Use the plugins of the run from now on. `value`: those of the configuration of the working directory."""
        if value is None and not self.request.plugins:
            use_files(())
            return ()
        return self._plugin_check().use(value)

    def _plugin_check(self) -> RunPlugins:
        """Return what decides which plugin files run; few runs need it."""
        if self._run_plugins is None:
            from onnx_lint.cli.run_plugins import RunPlugins

            self._run_plugins = RunPlugins(self.request, is_library=self._is_library)
        return self._run_plugins

    def error_in_file(self, path: str, key: str, error: RunError) -> RunError:
        """Return an error about the content of a file that is used for the model at `path`.

        It says which key names the file, and what is allowed, unless the command line names the file.
        """
        from onnx_lint.configuration.settings import keys

        value = self.values_of(path).get((key,))
        if value is None or keys()[key].field in self.request.given:
            return error
        return value.error((key,), f"{error}; {_REQUIRED_CONTENTS[key]}")

    def settings_for(self, path: str, parts: tuple[str, ...] = PARTS) -> Settings:
        """Return the settings for the file at `path`. Raises RunError for a configuration that cannot be used.

        `parts`: what the reports show besides findings.
        """
        request = self.request_for(path)
        key = id(request), parts
        if key not in self._settings:
            try:
                self._settings[key] = engine_settings(request, self.plugins, parts)
            except RunError as error:
                if error.path in request.opset_schemas:
                    raise self.error_in_file(path, "opset-schemas", error) from error.__cause__
                if isinstance(error.__cause__, SelectionError):
                    raise self._error_of_selection(path, error) from error.__cause__
                raise
        return self._settings[key]

    def _error_of_selection(self, path: str, error: RunError) -> RunError:
        """Return the error about a selection without rules, with the file and the key that chose it, if one did."""
        values = self.values_of(path)
        for key in ("ignore", "select"):
            value = values.get((key,))
            if value is not None and value.value and key not in self.request.given:
                return value.error((key,), f"{error}; leave at least one")
        return error

    @property
    def writes_baseline(self) -> bool:
        """True if the run changes a baseline."""
        return self.request.write_baseline is not None or self.request.prune_baseline

    def settings_of_run(self) -> Settings:
        """Return the settings for the run as a whole. Raises RunError as `settings_for` does."""
        return self.settings_for(STANDARD_INPUT)

    def request_of_run(self) -> Request:
        """Return the request for the run as a whole, with the configuration of the working directory."""
        return self._request_with(self.values_of_run())

    def request_for(self, path: str) -> Request:
        """Return the request for the file at `path`, with what the command line leaves to its configuration."""
        return self._request_with(self.values_of(path))

    def values_of_run(self) -> SetValues:
        """Return the values for the run as a whole: those of the configuration of the working directory."""
        return self._values_in(_WORKING_DIRECTORY)

    def values_of(self, path: str) -> SetValues:
        """Return the values of the configuration for `path`, the same object for the same values."""
        return self._values_in(_folder_of(path))

    def configurations_of(self, paths: Iterable[str]) -> ConfigurationsOfRun:
        """Return the configurations of a run over the files at these paths."""
        folders = dict.fromkeys((_WORKING_DIRECTORY, *map(_folder_of, paths)))
        distinct = {id(values): values for values in map(self._values_in, folders)}
        values = tuple(distinct.values())
        return ConfigurationsOfRun(values, tuple(map(self._request_with, values)), self.plugins)

    def _values_in(self, folder: str) -> SetValues:
        """Return the values of the configuration for the files in a folder."""
        found = self._configurations.nearest(os.path.abspath(folder)) if self._discovers else self._config_option_values
        return found or EMPTY

    def _request_with(self, values: SetValues) -> Request:
        """Return the request with the values of a configuration.

        At the first request for these values, check their plugins, warn of keys that are ignored, and merge.
        """
        if not values:
            return self.request
        if id(values) not in self._merged:
            if _PLUGINS in values:
                self._plugin_check().check_used(values[_PLUGINS], self.plugins)
            if not self._is_library and self._discovers:
                self._warn_of_ignored_keys(values)
            from onnx_lint.cli.merge_configuration import merged

            self._merged[id(values)] = merged(self.request, values)
        return self._merged[id(values)]

    def _warn_of_ignored_keys(self, values: SetValues) -> None:
        """Print the keys of a configuration that the run ignores on standard error."""
        for line in _ignored_keys(values, self.values_of_run()):
            sys.stderr.write(f"Warning: {visible(line)}\n")


def _ignored_keys(values: SetValues, of_run: SetValues) -> Iterator[str]:
    """Yield a line for each file with keys that concern the whole run, if the run has other values."""
    if values is of_run:
        return
    from onnx_lint.configuration.settings import keys

    files: dict[str, list[str]] = {}
    for path, value in values.items():
        # The check of plugins has a message of its own.
        if keys()[path[0]].is_run_wide and path != _PLUGINS and not _is_same(value, of_run.get(path)):
            files.setdefault(value.origin.shown, []).append(path[0])
    for file, names in files.items():
        only = "is read only from" if len(names) == 1 else "are read only from"
        yield f"{file}: ignored: {', '.join(names)}, which {only} the configuration of the working directory"


def _is_same(value: SetValue, other: SetValue | None) -> bool:
    """Return whether two values are equal, and relative to the same folder."""
    return other is not None and (value.value, value.origin.directory) == (other.value, other.origin.directory)


def _check_working_directory() -> None:
    """Raise RunError if the working directory was removed since the program started."""
    try:
        os.getcwd()
    except OSError as error:
        raise RunError("the working directory does not exist any more") from error


def _check_baseline_options(request: Request) -> None:
    if request.write_baseline is None:
        return
    for option, value in (("--baseline", request.baseline), ("--prune-baseline", request.prune_baseline)):
        if value:
            raise RequestError(f"--write-baseline and {option} cannot be combined")


def _values_of_config_option(request: Request) -> SetValues | None:
    """Return the values of the file that `--config` names; None if there is none."""
    if request.config is None:
        return None
    if request.no_config:
        raise RequestError("--config and --no-config cannot be combined")
    from onnx_lint.configuration.files import read_file

    return read_file(request.config)
