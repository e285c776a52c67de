# SPDX-License-Identifier: Apache-2.0
"""Where the reports go, and in which form."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import click

from onnx_lint.cli.streams import report_file, standard_output, use_color
from onnx_lint.reporters import REPORTERS, Options, reporter
from onnx_lint.wording import suggestion

if TYPE_CHECKING:
    from onnx_lint.report import Report

FORMATS: Final = tuple(REPORTERS)


@dataclass(frozen=True, slots=True)
class Output:
    """A report to write."""

    format_name: str
    path: str | None
    """None for standard output."""


def parse_outputs(format_name: str, values: Iterable[str]) -> list[Output]:
    """The reports that `--format` and `--output` ask for.

    `PATH` takes the report away from standard output, `FORMAT=PATH` writes one more. Raises UsageError for an unknown
    format, and for two reports to one place.
    """
    outputs = [_output(value, format_name) for value in values]
    redirected = any("=" not in value or value.startswith((".", "/")) for value in values)
    if not redirected and all(output.path is not None for output in outputs):
        outputs.insert(0, Output(format_name, None))
    places = [output.path for output in outputs]
    for place in places:
        if places.count(place) > 1:
            raise click.UsageError(f"two reports go to {'standard output' if place is None else repr(place)}")
    return outputs


def _output(value: str, format_name: str) -> Output:
    name, separator, path = value.partition("=")
    # A path with an equals sign in it is told apart by how it begins: ./a=b, /tmp/a=b.
    if not separator or name.startswith((".", "/")):
        name, path = format_name, value
    elif name not in FORMATS:
        raise click.UsageError(f"unknown format {name!r} in --output {value!r}{suggestion(name, FORMATS)}")
    if not path:
        raise click.UsageError(f"--output {value!r} names no file")
    return Output(name, None if path == "-" else path)


def write_outputs(report: Report, outputs: Sequence[Output], *, color: str, quiet: bool) -> bool:
    """Write every report; one that cannot be written is told on standard error. Returns whether all were written."""
    written = True
    for output in outputs:
        try:
            _write(report, output, color=color, quiet=quiet)
        except click.ClickException as error:
            error.show()
            written = False
    return written


def _write(report: Report, output: Output, *, color: str, quiet: bool) -> None:
    write = reporter(output.format_name)
    if output.path is None:
        with standard_output() as stream:
            write(report, stream, Options(color=use_color(color, stream), quiet=quiet))
    else:
        with report_file(output.path) as stream:
            write(report, stream, Options(quiet=quiet))
