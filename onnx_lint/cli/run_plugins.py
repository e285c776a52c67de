# SPDX-License-Identifier: Apache-2.0
"""Decides which plugin files run: those that the command line names, and those of configurations that may."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Final

from onnx_lint.configuration.errors import RunError
from onnx_lint.configuration.plugin_files import check, check_named, files_of, is_answered, refusal
from onnx_lint.engine.plugins import use_files
from onnx_lint.engine.registry import RegistryError, registry
from onnx_lint.reporters.escape import shown_path, visible

if TYPE_CHECKING:
    from onnx_lint.configuration.settings import Request
    from onnx_lint.configuration.values import SetValue

CI_VARIABLES: Final = ("CI", "GITHUB_ACTIONS", "GITLAB_CI", "TF_BUILD", "TEAMCITY_VERSION", "PRE_COMMIT")
"""The variables that CI servers and pre-commit set. Azure Pipelines and TeamCity do not set `CI`."""

_NOT_SET: Final = ("", "0", "false")
"""The values that mean that a variable is not set; their case is ignored."""

_KEY: Final = ("plugins",)


class RunPlugins:
    """The plugin files of one run."""

    def __init__(self, request: Request, *, is_library: bool) -> None:
        """`is_library`: as for `onnx_lint.cli.plan.Plan`."""
        self._request = request
        self._is_library = is_library
        self._refused: set[str] = set()

    def use(self, value: SetValue | None) -> tuple[str, ...]:
        """Use the plugin files of the run from now on, and return their absolute paths.

        `value`: those of the configuration of the working directory. Raises RunError for one that cannot be used.
        """
        files = self._files(value)
        try:
            return use_plugins(files, is_checked=self._is_library)
        except RunError as error:
            own = set(map(os.path.realpath, files)) - set(map(os.path.realpath, self._request.plugins))
            if value is not None and error.path in own:
                raise value.error(_KEY, f"{error}; requires Python files with rules") from error.__cause__
            raise

    def _files(self, value: SetValue | None) -> tuple[str, ...]:
        files = dict.fromkeys(self._request.plugins, "--plugin")
        if value is not None and self._allows(value):
            if not self._is_library:
                _print_warnings(check(value.origin.files, is_named=True))
            files |= dict.fromkeys(files_of(value), value.origin.shown)
        if self._request.verbose:
            sys.stderr.writelines(f"Plugin: {shown_path(file)} ({visible(origin)})\n" for file, origin in files.items())
        return tuple(files)

    def _allows(self, value: SetValue) -> bool:
        """Return whether the plugins of a configuration may run; if not, print that once for each configuration.

        Raises RunError instead of printing if nobody may read the line, so that no rule is missing unnoticed.
        """
        check_named(value)
        reason = refusal(value)
        if reason is None or is_answered(value, self._request.plugins):
            return reason is None
        if self._is_library:
            raise RunError(reason)
        variable = _gate_variable()
        if variable is not None:
            raise RunError(f"{reason} ({variable} is set)")
        if reason not in self._refused:
            self._refused.add(reason)
            _print_warnings([reason])
        return False

    def check_used(self, value: SetValue, used: Collection[str]) -> None:
        """Raise RunError for the configuration of a file whose plugin files the run does not use."""
        if self._allows(value) and not set(map(os.path.realpath, files_of(value))) <= set(used):
            raise value.error(_KEY, "is read only from the configuration of the working directory; name it by --config")


def use_plugins(paths: Iterable[str], *, is_checked: bool = False) -> tuple[str, ...]:
    """Use these plugin files from now on, each once, and return their absolute paths.

    Raises RunError for one that cannot be used, and unless `is_checked`, for one that belongs to another user.
    """
    named = tuple(paths)
    files = tuple(dict.fromkeys(map(os.path.realpath, named)))
    if files and not is_checked:
        _print_warnings(check(named, is_named=True))
    use_files(files)
    if not files:
        return files
    try:
        registry()
    except RegistryError as error:
        raise RunError(str(error)) from error
    return files


def _gate_variable() -> str | None:
    """Return the variable that says that a CI server or pre-commit started onnx-lint; None if there is none.

    These show no warnings of a run that exits with 0.
    """
    return next((name for name in CI_VARIABLES if os.environ.get(name, "").lower() not in _NOT_SET), None)


def _print_warnings(texts: Iterable[str]) -> None:
    sys.stderr.writelines(f"Warning: {visible(text)}\n" for text in texts)
