# SPDX-License-Identifier: Apache-2.0
"""The options that say which files are linted, and how the reports look."""

from __future__ import annotations

from typing import Any

import click

from onnx_lint.cli.completion import complete_outputs
from onnx_lint.cli.outputs import FORMATS
from onnx_lint.cli.sections import COMMON, section
from onnx_lint.reporters import SARIF_REGIONS


def _url(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    if not value:
        return None
    from onnx_lint.common.distribution import is_url

    if not is_url(value):
        raise click.BadParameter(f"{value!r} is no http or https address")
    return value


class _Jobs(click.IntRange):
    """A number of processes, or `auto`, which is 0."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        return super().convert(0 if value == "auto" else value, param, ctx)


common_report_options = section(
    COMMON,
    click.option(
        "-f",
        "--format",
        "format_name",
        type=click.Choice(FORMATS),
        metavar="FORMAT",
        default="text",
        envvar="ONNX_LINT_FORMAT",
        show_default=True,
        help=f"{', '.join(FORMATS)}; ONNX_LINT_FORMAT sets another default.",
    ),
    click.option(
        "-o",
        "--output",
        "outputs",
        multiple=True,
        metavar="[FORMAT=]PATH",
        shell_complete=complete_outputs,
        help="Write to a file; x.sarif, .json, .md, .xml imply the form. With FORMAT= a further report.",
    ),
    click.option("-q", "--quiet", is_flag=True, help="Only findings, and the total of several files."),
    click.option("-v", "--verbose", is_flag=True, help="A line for each of several files, clean ones, too."),
    click.option(
        "-j",
        "--jobs",
        type=_Jobs(min=0),
        default=0,
        metavar="N",
        help="Lint N files at a time.  [default: auto, by processors and work]",
    ),
    click.option(
        "--time-limit",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help="Give up on a model after this.",
    ),
    click.option(
        "--memory-limit",
        type=click.IntRange(min=1),
        metavar="MB",
        help="Give up on a model that takes more than this (on Linux).",
    ),
)

files_options = section(
    "What is read",
    click.option(
        "--files-from",
        metavar="FILE",
        help="Also the paths in FILE, or - for standard input: one a line, or with NUL between them.",
    ),
    click.option(
        "--exclude",
        multiple=True,
        metavar="GLOB",
        help="Leave files out; without a slash, by name anywhere.",
    ),
    click.option("--allow-no-input", is_flag=True, help="Exit with 0 when every file is excluded."),
)

stdin_options = section(
    "What is read",
    click.option(
        "--stdin-filename",
        metavar="FILE",
        help="The path to take for that of standard input.",
    ),
)

report_options = section(
    "Reports",
    click.option(
        "--no-context",
        "context",
        flag_value=False,
        default=True,
        type=bool,
        help="Do not show the lines of the model around a finding.",
    ),
    click.option("--statistics", is_flag=True, help="Count the findings of each rule."),
    click.option(
        "--color",
        type=click.Choice(("auto", "always", "never")),
        metavar="WHEN",
        default="auto",
        help="auto (heeds NO_COLOR, FORCE_COLOR), always, never.",
    ),
    click.option("--no-progress", is_flag=True, help="No progress bar in runs of more than a second."),
    click.option(
        "--sarif-region",
        type=click.Choice(SARIF_REGIONS),
        metavar="WHAT",
        help="Point at the first line, for GitHub (line), at bytes or none.  [default: line; above 256 MB none]",
    ),
    click.option(
        "--sarif-root",
        type=click.Path(exists=True, file_okay=False),
        metavar="DIR",
        help="Where paths start for SARIF, GitHub and GitLab.  [default: the Git repository]",
    ),
    click.option(
        "--documentation-url",
        metavar="URL",
        envvar="ONNX_LINT_DOCUMENTATION_URL",
        callback=_url,
        help="Link rules to pages there, as docs/build.py makes them.",
    ),
    click.option("--timings", is_flag=True, help="Tell on standard error where the time went."),
)
