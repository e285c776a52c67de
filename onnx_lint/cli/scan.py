# SPDX-License-Identifier: Apache-2.0
"""The command `scan`: its options, and the calls of `onnx_lint.fleet`."""

from __future__ import annotations

from typing import Any, Final

import click

from onnx_lint.cli.completion import complete_files
from onnx_lint.cli.errors import RequestError
from onnx_lint.cli.report_options import MemorySize, cache_option, files_options
from onnx_lint.cli.request import Request
from onnx_lint.cli.rule_options import extent_options, gate_options, rule_options, selection_options
from onnx_lint.cli.sections import COMMON, SectionedCommand, section
from onnx_lint.cli.settings_options import configuration_options, given_of, target_options

_EPILOG: Final = """
\b
Examples:
  onnx-lint scan models/ --to reports
  onnx-lint scan --summary reports -f html -o fleet.html
  onnx-lint scan --summary reports --against reports-of-last-week
  onnx-lint scan --summary march --against january --against february -f html -o trend.html

\b
The exit codes are those of onnx-lint check.
"""

_FORMATS: Final = ("text", "json", "html")

_scan_options = section(
    COMMON,
    click.option(
        "--to",
        "folder",
        metavar="REPORTS",
        shell_complete=complete_files,
        help="The folder for the results. A scan that was interrupted resumes from it.",
    ),
    click.option(
        "--workers",
        type=click.IntRange(min=1),
        metavar="N",
        help="Number of processes on this machine.  [default: one per core]",
    ),
    click.option("--scheduler", metavar="ADDRESS", help="Use a Dask cluster, such as tcp://10.0.0.1:8786."),
    click.option("--part", metavar="I/N", help="Check only the Ith of N parts of the models, for a matrix of CI jobs."),
    click.option(
        "--time-limit",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help="Stop checking a model after this time.  [default: 300]",
    ),
    click.option(
        "--memory-limit",
        type=MemorySize(),
        metavar="SIZE",
        help="Stop checking a model that needs more memory, such as 8GiB.  [default: 4096MB]",
    ),
    click.option("--anew", is_flag=True, help="Discard the results in REPORTS and check every model again."),
)

_totals_options = section(
    "Totals",
    click.option(
        "--summary",
        "summaries",
        multiple=True,
        metavar="REPORTS",
        shell_complete=complete_files,
        help="Check nothing; print the totals of earlier scans by rule, producer and edition.",
    ),
    click.option(
        "--against",
        multiple=True,
        metavar="OLD",
        shell_complete=complete_files,
        help="Report only findings that are new since the scan in the folder OLD. If repeated, oldest first: also show"
        " the trend, and report findings that are new since the last OLD.",
    ),
    click.option(
        "-f",
        "--format",
        "format_name",
        type=click.Choice(_FORMATS),
        default="text",
        show_default=True,
        help="The format of the totals.",
    ),
    click.option(
        "--export",
        metavar="FOLDER",
        shell_complete=complete_files,
        help="Write all models and findings to this folder as JSON Lines and Parquet.",
    ),
    click.option(
        "-o",
        "--output",
        metavar="FILE",
        shell_complete=complete_files,
        help="Write the totals to this file. During a scan, a page (-f html) is updated and reloads itself.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="Print neither progress nor totals."),
    click.option("--no-progress", is_flag=True, help="Do not show progress on standard error."),
)

_OWN: Final = (
    *("folder", "workers", "scheduler", "part", "time_limit", "memory_limit", "anew"),
    *("summaries", "against", "export", "format_name", "output", "quiet", "no_progress"),
)
"""The options that only this command has."""


@click.command(
    "scan",
    cls=SectionedCommand,
    epilog=_EPILOG,
    short_help="Check thousands of models and print totals.",
)
@click.argument("targets", nargs=-1, metavar="TARGET...", type=click.Path(readable=False))
@_scan_options
@cache_option
@_totals_options
@selection_options
@gate_options
@rule_options
@target_options
@files_options
@extent_options
@configuration_options
@click.pass_context
def scan_command(ctx: click.Context, /, targets: tuple[str, ...], **options: Any) -> None:
    """Check a large collection of models with Dask and collect the results in a folder.

    TARGET is what onnx-lint check accepts: a folder, a glob, a file or a URL. Models whose results are in REPORTS
    already are skipped if their size and modification time, or their version in the store, did not change. A model
    that exceeds a limit or crashes its process is tried again, and then listed by name.
    """
    own = {name: options.pop(name) for name in _OWN}
    request = Request(targets, given_of(ctx, options), **options)
    try:
        if own["summaries"]:
            _refuse(own, targets, request)
        elif own["folder"] is None:
            raise RequestError("Missing option '--to REPORTS', the folder for the results.")
        elif not targets and request.files_from is None:
            raise RequestError("Missing argument 'TARGET...'.")
        from onnx_lint.cli.run_scan import run_scan, run_summary

        code = run_summary(request, own) if own["summaries"] else run_scan(request, own)
    except RequestError as error:
        raise click.UsageError(str(error)) from error
    ctx.exit(code)


def _refuse(own: dict[str, Any], targets: tuple[str, ...], request: Request) -> None:
    """Raise RequestError for options that cannot be combined with --summary."""
    if targets or request.files_from is not None:
        raise RequestError("--summary checks nothing: remove TARGET")
    for name in ("folder", "workers", "scheduler", "part", "time_limit", "memory_limit", "anew"):
        if own[name]:
            option = "--to" if name == "folder" else f"--{name.replace('_', '-')}"
            raise RequestError(f"--summary checks nothing: remove {option}")
