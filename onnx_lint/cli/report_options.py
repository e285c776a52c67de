# SPDX-License-Identifier: Apache-2.0
"""The options that say which files are linted, and how the reports look."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from onnx_lint.cli.completion import complete_outputs
from onnx_lint.cli.outputs import FORMATS
from onnx_lint.cli.sections import section
from onnx_lint.reporters import SARIF_REGIONS, Options

if TYPE_CHECKING:
    from pathlib import Path

files_options = section(
    "Files",
    click.option(
        "--exclude",
        multiple=True,
        metavar="GLOB",
        help="Leave out files and directories; without a slash, by their name anywhere. Repeatable.",
    ),
    click.option(
        "-j",
        "--jobs",
        type=click.IntRange(min=0),
        default=1,
        show_default=True,
        metavar="N",
        help="Lint N files at a time; 0 for as many as there are processors.",
    ),
    click.option("--no-progress", is_flag=True, help="Show no progress bar when a run takes longer than a second."),
)

report_options = section(
    "Reports",
    click.option(
        "-f",
        "--format",
        "format_name",
        type=click.Choice(FORMATS),
        metavar="FORMAT",
        default="text",
        envvar="ONNX_LINT_FORMAT",
        show_default=True,
        show_envvar=True,
        help=f"The form of the report: {', '.join(FORMATS)}.",
    ),
    click.option(
        "-o",
        "--output",
        "outputs",
        multiple=True,
        metavar="[FORMAT=]PATH",
        shell_complete=complete_outputs,
        help="Write the report to a file; with FORMAT=, write a further one. Repeatable.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="Only findings: no line for each file, no totals."),
    click.option("--statistics", is_flag=True, help="Count the findings of each rule."),
    click.option("--timings", is_flag=True, help="Tell on standard error where the time of the run went."),
    click.option(
        "--color",
        type=click.Choice(("auto", "always", "never")),
        default="auto",
        show_default=True,
        help="Colours; auto goes by the terminal, NO_COLOR and FORCE_COLOR.",
    ),
    click.option(
        "--sarif-region",
        type=click.Choice(SARIF_REGIONS),
        metavar="WHAT",
        help="What SARIF results point at: line (the first, for GitHub), bytes or none.  [default: line, above 256 MB"
        " none]",
    ),
    click.option(
        "--sarif-root",
        type=click.Path(exists=True, file_okay=False),
        metavar="DIR",
        help="The directory that paths for SARIF, GitHub and GitLab start from.  [default: the top of the Git"
        " repository]",
    ),
)


def _directory(path: str | None) -> Path | None:
    if path is None:
        return None
    from pathlib import Path  # which a report to the terminal does without

    return Path(path)


def reporter_options(options: Mapping[str, Any], failing: str) -> Options:
    """What the options say to all reporters. `failing`: the least severity that fails the run, or `never`."""
    return Options(
        quiet=options["quiet"],
        root=_directory(options["sarif_root"]),
        statistics=options["statistics"],
        show_suppressed=options["show_suppressed"],
        sarif_region=options["sarif_region"],
        # A run that is not to fail still shows as failed tests what would have failed it.
        failing="error" if failing == "never" else failing,
    )
