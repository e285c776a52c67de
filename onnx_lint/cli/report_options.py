# SPDX-License-Identifier: Apache-2.0
"""The options that choose the files to check and the reports to write."""

from __future__ import annotations

from typing import Any

import click

from onnx_lint.cli.outputs import FORMATS
from onnx_lint.cli.sections import COMMON, section
from onnx_lint.common.distribution import is_url
from onnx_lint.input.limits import parse_size
from onnx_lint.reporters import SARIF_REGIONS


def _url(_ctx: click.Context, _parameter: click.Parameter, value: str | None) -> str | None:
    if not value:
        return None
    if not is_url(value):
        raise click.BadParameter(f"{value!r} is not an http or https address")
    return value


class _Jobs(click.IntRange):
    """The parameter type of a number of processes; `auto` is 0."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the number."""
        return super().convert(0 if value == "auto" else value, param, ctx)


class MemorySize(click.ParamType[int]):
    """The parameter type of an amount of memory, a number with or without a unit, as bytes."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number of bytes. A number without a unit is in MB."""
        size = parse_size(value, "mb") if isinstance(value, str) else value
        if not size:
            self.fail(f"{value!r} is not a size such as 4GiB or 500MB", param, ctx)
        return int(size)


format_options = section(
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
        help=f"{', '.join(FORMATS)}. ONNX_LINT_FORMAT changes the default.",
    ),
)

output_options = section(
    COMMON,
    click.option(
        "-o",
        "--output",
        "outputs",
        multiple=True,
        metavar="[FORMAT=]PATH",
        type=click.Path(),
        help="Write to this file; its suffix implies the format. FORMAT=PATH adds a report.",
    ),
)

_cache = click.option(
    "--cache/--no-cache",
    default=False,
    help="Reuse the verdicts on files that have not changed; see onnx-lint cache.",
)

cache_option = section(COMMON, _cache)

common_report_options = section(
    COMMON,
    click.option(
        "-q", "--quiet", is_flag=True, help="Print only findings and, for several files, the total; no progress bar."
    ),
    click.option("-v", "--verbose", is_flag=True, help="Print a line for each file, also for files without findings."),
    click.option(
        "-j",
        "--jobs",
        type=_Jobs(min=0),
        default=0,
        metavar="N",
        help="Check N files at a time.  [default: auto: up to one process per core]",
    ),
    _cache,
    click.option(
        "--time-limit",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help="Stop checking a model after this time.",
    ),
    click.option(
        "--memory-limit",
        type=MemorySize(),
        metavar="SIZE",
        help="Stop checking a model that needs more memory, such as 4GiB (Linux only).",
    ),
)

files_options = section(
    "What is read",
    click.option(
        "--files-from",
        metavar="FILE",
        help="Also check the paths listed in FILE (- for standard input), separated by newlines or NUL.",
    ),
    click.option(
        "--exclude",
        multiple=True,
        metavar="GLOB",
        help="Skip files that match GLOB; a GLOB without a slash matches file names in any folder.",
    ),
    click.option("--allow-no-input", is_flag=True, help="Exit with 0 if every file is excluded."),
)

stdin_options = section(
    "What is read",
    click.option(
        "--stdin-filename",
        metavar="FILE",
        help="The path to report for standard input.",
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
        help="Do not print the lines of the model around a finding.",
    ),
    click.option("--statistics", is_flag=True, help="Print the number of findings and files per rule."),
    click.option(
        "--color",
        type=click.Choice(("auto", "always", "never")),
        metavar="WHEN",
        default="auto",
        help="auto (respects NO_COLOR and FORCE_COLOR), always or never.",
    ),
    click.option("--no-progress", is_flag=True, help="Do not show a progress bar."),
    click.option(
        "--sarif-region",
        type=click.Choice(SARIF_REGIONS),
        metavar="WHAT",
        help="Point at the first line (for GitHub), the bytes, or nothing.  [default: line; none above 256 MB]",
    ),
    click.option(
        "--sarif-root",
        type=click.Path(exists=True, file_okay=False),
        metavar="DIR",
        help="Make paths in SARIF, GitHub and GitLab reports relative to DIR.  [default: the Git repository]",
    ),
    click.option(
        "--documentation-url",
        metavar="URL",
        envvar="ONNX_LINT_DOCUMENTATION_URL",
        callback=_url,
        help="Link each rule to its page below URL; docs/build.py builds the pages.",
    ),
    click.option("--timings", is_flag=True, help="Print the time per phase and rule on standard error."),
)
