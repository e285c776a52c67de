# SPDX-License-Identifier: Apache-2.0
"""The command `check`: lints files and writes reports."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from onnx_lint.cli import exit_codes
from onnx_lint.cli.outputs import FORMATS, Output, parse_outputs, write_outputs
from onnx_lint.cli.plan import Plan
from onnx_lint.cli.settings_options import baseline_options, configuration_options, target_options
from onnx_lint.limits import NAMES as LIMIT_NAMES
from onnx_lint.spec.standard import DEFAULT_STANDARD, EDITIONS, VARIANTS

if TYPE_CHECKING:
    from onnx_lint.engine import Settings
    from onnx_lint.report import FileReport, Report

_Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _options(*decorators: _Decorator) -> _Decorator:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


edition_option = click.option(
    "--edition",
    type=click.Choice(EDITIONS),
    default=DEFAULT_STANDARD.edition,
    show_default=True,
    help="The edition of the specification, named after the ONNX release that published it.",
)

_selection_options = _options(
    edition_option,
    click.option(
        "--variant",
        type=click.Choice(VARIANTS),
        default=DEFAULT_STANDARD.variant,
        show_default=True,
        help="The variant of the standard; onnx lacks classical machine learning.",
    ),
    click.option(
        "--select",
        multiple=True,
        metavar="NAMES",
        help="Only these: rule ids, chapters, or keywords (MUST, SHOULD, ALL), separated by commas. Repeatable.",
    ),
    click.option("--extend-select", multiple=True, metavar="NAMES", help="These besides the others."),
    click.option("--ignore", multiple=True, metavar="NAMES", help="None of these."),
    click.option(
        "--per-file-ignores",
        multiple=True,
        metavar="GLOB:NAMES",
        help="None of these for the files that the pattern means. Repeatable.",
    ),
    click.option(
        "--severity",
        "severities",
        multiple=True,
        metavar="RULE=LEVEL",
        help="Give a rule's findings another severity: error, warning, note or off. Repeatable.",
    ),
    click.option("--pedantic", is_flag=True, help="Also what nearly every real model breaks."),
    click.option(
        "--no-external-data",
        "external_data",
        flag_value=False,
        default=True,
        type=bool,
        help="Do not look up the files that hold tensors outside the model.",
    ),
    click.option(
        "--verify-checksums",
        is_flag=True,
        help="Read the files of external data that have a checksum, and compare it.",
    ),
    click.option(
        "--limit",
        "limits",
        multiple=True,
        metavar="NAME=VALUE",
        help="Set how much of a file is taken on or reported: " + ", ".join(LIMIT_NAMES) + ". Repeatable.",
    ),
)

_report_options = _options(
    click.option(
        "-f",
        "--format",
        "format_name",
        type=click.Choice(FORMATS),
        default="text",
        envvar="ONNX_LINT_FORMAT",
        show_default=True,
        show_envvar=True,
        help="The form of the report.",
    ),
    click.option(
        "-o",
        "--output",
        "outputs",
        multiple=True,
        metavar="[FORMAT=]PATH",
        help="Write the report to a file; with FORMAT=, write a further one. Repeatable.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="Only findings: no line for each file, no totals."),
    click.option(
        "--color",
        type=click.Choice(("auto", "always", "never")),
        default="auto",
        show_default=True,
        help="Colours; auto goes by the terminal, NO_COLOR and FORCE_COLOR.",
    ),
)

_gate_options = _options(
    click.option(
        "--fail-on",
        type=click.Choice(("error", "warning", "note", "never")),
        default="error",
        show_default=True,
        help="The least severity that gives exit code 1.",
    ),
    click.option("--exit-zero", is_flag=True, help="The same as --fail-on never."),
)


@dataclass(frozen=True, slots=True)
class _Failure:
    """Whether findings fail the run."""

    least: str

    def code(self, report: Report) -> int:
        from onnx_lint.spec.clauses import Severity

        if any(file.internal_errors for file in report.files):
            return exit_codes.INTERNAL_ERROR
        if any(file.unreadable is not None for file in report.files):
            return exit_codes.NOT_CHECKED
        if any(file.not_judged is not None and not file.diagnostics for file in report.files):
            # The rule that would say so was not selected.
            return exit_codes.NOT_CHECKED
        if self.least == "never":
            return exit_codes.CLEAN
        least = Severity.of(self.least)
        found = any(diagnostic.severity >= least for diagnostic in report.diagnostics)
        return exit_codes.FINDINGS if found else exit_codes.CLEAN


@click.command("check", short_help="Lint models; may be left out.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path())
@_selection_options
@target_options
@_report_options
@_gate_options
@baseline_options
@configuration_options
@click.pass_context
def check_command(ctx: click.Context, /, paths: tuple[str, ...], **options: Any) -> None:
    """Lint models: files, directories (searched for .onnx, .textproto, .txtpb and .pbtxt), or - for standard input."""
    outputs = parse_outputs(options["format_name"], options["outputs"])
    settings = _settings(options)
    report = _lint(paths, outputs, settings)
    failure = _Failure("never" if options["exit_zero"] else options["fail_on"])
    code = failure.code(report)
    if not write_outputs(report, outputs, color=options["color"], quiet=options["quiet"]):
        code = max(code, exit_codes.NOT_CHECKED)
    _tell_failures(report, ctx)
    ctx.exit(code)


def _lint(paths: Sequence[str], outputs: Iterable[Output], settings: Settings) -> Report:
    from onnx_lint.cli.paths import find_inputs
    from onnx_lint.engine import report_of
    from onnx_lint.report import FileReport

    inputs = find_inputs(paths)
    for output in outputs:
        if output.path is not None and any(_is_same(output.path, item.path) for item in inputs):
            raise click.UsageError(f"the report would overwrite the model {output.path!r}")
    files = [
        _lint_file(item.path, settings) if item.problem is None else FileReport(item.path, 0, unreadable=item.problem)
        for item in inputs
    ]
    return report_of(files, settings)


def _is_same(output: str, path: str) -> bool:
    return path != "-" and os.path.realpath(output) == os.path.realpath(path)


def _lint_file(path: str, settings: Settings) -> FileReport:
    from onnx_lint.engine import lint_file
    from onnx_lint.report import FileReport

    try:
        return lint_file(path, settings)
    except Exception as error:
        # A bug outside the rules. The other files still get their verdict.
        from onnx_lint.cli.failures import internal_error

        return FileReport(path, 0, internal_errors=(internal_error(error),))


def _tell_failures(report: Report, ctx: click.Context) -> None:
    failed = [file for file in report.files if file.unreadable is not None or file.internal_errors]
    if not failed:
        return
    from onnx_lint.cli.failures import tell_internal_error, tell_unreadable

    sys.stdout.flush()
    group = ctx.parent.command if ctx.parent is not None else None
    commands = group.commands if isinstance(group, click.Group) else ()
    for file in failed:
        if file.unreadable is not None:
            tell_unreadable(file, commands)
        for error in file.internal_errors:
            tell_internal_error(file, error)
