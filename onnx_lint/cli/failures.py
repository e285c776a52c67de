# SPDX-License-Identifier: Apache-2.0
"""What went wrong with a run, as opposed to a model: told on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable

import click

from onnx_lint.cli.paths import hint_for_missing
from onnx_lint.report import OWN_ERRORS, FileReport, InternalError, Report
from onnx_lint.reporters.escape import shown_path, visible


def tell_failures(report: Report, commands: Collection[str]) -> None:
    """Tell which files there is no verdict on and which rules crashed. `commands`: what a name may have meant."""
    sys.stdout.flush()
    for file in report.files:
        if file.unreadable is not None:
            tell_unreadable(file, commands)
        for error in file.internal_errors:
            tell_internal_error(file, error)


def tell_unreadable(file: FileReport, commands: Iterable[str]) -> None:
    """Say why there is no verdict on a file, with the name that may have been meant."""
    hint = "" if file.path == "-" or os.path.lexists(file.path) else hint_for_missing(file.path, commands)
    click.echo(f"Error: {visible(file.unreadable or '')}{hint}", err=True)


def tell_internal_error(file: FileReport, error: InternalError) -> None:
    """Say which rule crashed on which file, and where to report it."""
    plugin = _plugin_of(error.rule)
    what = "onnx-lint" if error.rule == OWN_ERRORS else f"the rule {error.rule!r}"
    owner = f"the plugin {plugin}" if plugin else "onnx-lint"
    click.echo(
        f"Error: internal error: {what} crashed on {shown_path(file.path)}: {visible(error.exception)}", err=True
    )
    _tell_trace(error.traceback, owner, plugin)


def report_crash(error: Exception) -> None:
    """Say that onnx-lint itself crashed, or that a plugin cannot be loaded, and where to report it."""
    from onnx_lint.registry import RegistryError

    if isinstance(error, RegistryError):
        click.echo(f"Error: the rules cannot be loaded: {visible(str(error))}", err=True)
        return
    crash = InternalError.of(error)
    click.echo(f"Error: internal error: onnx-lint crashed: {visible(crash.exception)}", err=True)
    _tell_trace(crash.traceback, "onnx-lint", None)


def _tell_trace(trace: str, owner: str, plugin: str | None) -> None:
    if trace:
        click.echo("\n".join(f"  {visible(line)}" for line in trace.splitlines()), err=True)
    click.echo(f"This is a fault in {owner}, not in the model. Please report it {_address(plugin)}.", err=True)


def _plugin_of(rule: str) -> str | None:
    from onnx_lint.registry import registry

    return registry()[rule].plugin if rule in registry() else None


def _address(plugin: str | None) -> str:
    """Where the metadata of the distribution says that faults are reported."""
    from onnx_lint.distribution import ISSUES, NAME, project_url

    name = plugin or NAME
    url = project_url(name, ISSUES)
    return f"at {url}" if url is not None else f"to the maintainers of {name}"
