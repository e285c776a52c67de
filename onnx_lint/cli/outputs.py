# SPDX-License-Identifier: Apache-2.0
"""The reports to write: their formats and destinations."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint.cli import exit_codes
from onnx_lint.cli.errors import RequestError
from onnx_lint.cli.standard_streams import OutputError
from onnx_lint.cli.streams import for_standard_output, report_file, standard_output, write_to_standard_output
from onnx_lint.common.record import Record, replace
from onnx_lint.report import InternalError
from onnx_lint.reporters import REPORTERS, SHOWN_WITH_CONTEXT, FileWriter, Options, file_writer, reporter
from onnx_lint.reporters.escape import shown_path, visible
from onnx_lint.wording import suggestion

if TYPE_CHECKING:
    from onnx_lint.report import FileReport, Report

FORMATS: Final = tuple(REPORTERS)
_IMPLIED: Final = {
    ".sarif": "sarif",
    ".json": "json",
    ".jsonl": "jsonl",
    ".html": "html",
    ".md": "markdown",
    ".xml": "junit",
    ".txt": "text",
}
"""The format that each suffix implies."""


class Output(Record):
    """A report to write."""

    format_name: str
    path: str | None
    """None for standard output."""


def parse_outputs(format_name: str, values: Iterable[str], *, is_chosen: bool = True) -> list[Output]:
    """Return the reports that `--format` and `--output` ask for.

    `PATH` redirects the report from standard output, `FORMAT=PATH` adds a report. `is_chosen`: whether the user has set
    `format_name`; otherwise the suffix of PATH implies the format. Raises RequestError for an unknown format, for a
    path that implies none, and for two reports with one destination.
    """
    outputs = [_output(value, format_name if is_chosen else None, format_name) for value in values]
    redirected = any("=" not in value or value.startswith((".", "/")) for value in values)
    if not redirected and all(output.path is not None for output in outputs):
        outputs.insert(0, Output(format_name, None))
    places = [output.path for output in outputs]
    for place in places:
        if places.count(place) > 1:
            raise RequestError(f"two reports go to {'standard output' if place is None else repr(place)}")
    return outputs


def _output(value: str, chosen: str | None, default: str) -> Output:
    name, separator, path = value.partition("=")
    # The beginning distinguishes a path with an equals sign: ./a=b, /tmp/a=b.
    if not separator or name.startswith((".", "/")):
        name, path = chosen or (default if _is_stream(value) else _implied(value)), value
    elif name not in FORMATS:
        raise RequestError(f"unknown format {name!r} in --output {value!r}{suggestion(name, FORMATS)}")
    if not path:
        raise RequestError(f"--output {value!r} names no file")
    return Output(name, None if path == "-" else path)


def _is_stream(path: str) -> bool:
    """Return whether the path is a stream: standard output, a pipe or a device."""
    return path == "-" or (os.path.exists(path) and not os.path.isfile(path))


def _implied(path: str) -> str:
    """Return the format that the suffix of a path implies."""
    suffix = os.path.splitext(path)[1].lower()
    if path and _IMPLIED.get(suffix) not in FORMATS:
        suffixes = ", ".join(suffix for suffix, name in _IMPLIED.items() if name in FORMATS)
        raise RequestError(
            f"--output {path!r} implies no format; the suffixes {suffixes} do. Write FORMAT={visible(path)}, "
            "or use --format"
        )
    return _IMPLIED.get(suffix, "")


_HOW_TO_GO_ON: Final = "To go on: a report in another --format has all findings.\n"


class LiveReport:
    """The report that is written to standard output during the run."""

    def __init__(self, head: Report, output: Output, options: Options, *, color: str, count: int) -> None:
        self.output = output
        self.has_reader = True
        """False after the reader has closed the pipe, which is not an error."""
        self.has_failed = False
        """True after a failure to write, which has been printed on standard error."""
        self.is_on_terminal = sys.stdout is not None and sys.stdout.isatty()
        writer = file_writer(output.format_name)
        assert writer is not None, "outputs of other formats are written at the end"
        options = for_standard_output(options, color=color)
        self._options = options
        self._writer: FileWriter | None = None
        self._has_crashed = False
        self._error = self._write(lambda: self._begin(writer(head, sys.stdout, options, count)))

    def _begin(self, writer: FileWriter) -> None:
        self._writer = writer

    def file(self, file: FileReport) -> FileReport:
        """Write the report on the next file. Return it, with an internal error if writing it crashed."""
        shown = _as_shown(file, self.output)
        error = self._write(lambda: self._writer.file(shown) if self._writer is not None else None)
        if error is None:
            return file
        self._has_crashed = True
        return file.with_crash(error, _work(self.output))

    def end(self, report: Report) -> int:
        """Write the end of the report, about the whole run. Return the exit code because of it, see `write_outputs`."""
        error = self._error or self._write(lambda: self._writer.end(report) if self._writer is not None else None)
        if error is not None:
            return _print_crash(self.output, error, self._options)
        if self._has_crashed:
            sys.stderr.write(_HOW_TO_GO_ON)
        return exit_codes.NOT_CHECKED if self.has_failed else exit_codes.CLEAN

    def _write(self, write: Callable[[], None]) -> Exception | None:
        """Call `write` while there is a reader. Return the exception if it crashes."""
        if not self.has_reader:
            return None
        try:
            with standard_output(self._note_end):
                write()
        except OutputError as error:
            sys.stderr.write(f"Error: {error}\n")
            self.has_failed = True
            self.has_reader = False
        except Exception as error:
            return error
        return None

    def _note_end(self) -> None:
        self.has_reader = False


def live_report(
    head: Report, outputs: Sequence[Output], options: Options, *, color: str, count: int
) -> LiveReport | None:
    """Return the report to standard output if its format is written file by file; otherwise None."""
    for output in outputs:
        if output.path is None and file_writer(output.format_name) is not None:
            return LiveReport(head, output, options, color=color, count=count)
    return None


def write_outputs(report: Report, outputs: Sequence[Output], options: Options, *, color: str, is_live: bool) -> int:
    """Write every report, and return the exit code because of those that were not written, which are printed.

    `is_live`: whether a report has gone to standard output before.
    """
    if report.weakened and any(output.format_name == "gitlab" for output in outputs):
        from onnx_lint.cli.weakened import print_weakenings

        print_weakenings(report.weakened)
    is_free = not is_live and all(output.path is not None for output in outputs)
    code = exit_codes.CLEAN
    for output in outputs:
        try:
            _write_output(report, output, options, color=color, is_free=is_free)
        except OutputError as error:
            sys.stderr.write(f"Error: {error}\n")
            code = max(code, exit_codes.NOT_CHECKED)
        except Exception as error:
            code = max(code, _print_crash(output, error, options))
    return code


def _work(output: Output) -> str:
    return f"writing the report in the format {output.format_name}"


def _print_crash(output: Output, error: Exception, options: Options) -> int:
    """Print that a report is missing or not whole because writing it crashed; return the exit code."""
    from onnx_lint.cli.failures import print_crash

    print_crash(f"onnx-lint crashed while {_work(output)}", InternalError.of(error))
    sys.stderr.write(_HOW_TO_GO_ON)
    return exit_codes.INTERNAL_ERROR if options.internal_errors == "error" else exit_codes.NOT_CHECKED


def _write_output(report: Report, output: Output, options: Options, *, color: str, is_free: bool) -> None:
    """Write one report. Raises OutputError.

    `is_free`: whether it goes to standard output if its file holds data of a model.
    """
    if output.format_name == "sarif":
        _warn_about_sarif(report, options)
    report = replace(report, files=tuple(_as_shown(file, output) for file in report.files))
    if output.path is None:
        write_to_standard_output(report, output.format_name, options, color=color)
        return
    from onnx_lint.cli.kept_files import check_data

    instead = "the report is on standard output" if is_free else "the report was not written"
    try:
        check_data(output.path, ((file.path, file.data_files) for file in report.files), instead)
    except OutputError:
        if is_free:
            write_to_standard_output(report, output.format_name, options, color=color)
        raise
    with report_file(output.path) as stream:
        reporter(output.format_name)(report, stream, options)


def _as_shown(file: FileReport, output: Output) -> FileReport:
    """Return the report of a file with the number of context lines of this format, independent of other outputs."""
    per_rule = SHOWN_WITH_CONTEXT.get(output.format_name)
    if per_rule is None or not any(item.context_of for item in (*file.diagnostics, *file.suppressed)):
        return file
    return file.with_extent((per_rule,), pictures=True)


def _warn_about_sarif(report: Report, options: Options) -> None:
    """Warn about results that code scanning cannot show, with the reason."""
    from onnx_lint.reporters.sarif import region_of
    from onnx_lint.reporters.uri import default_root, is_outside

    root = options.root or default_root()
    outside = [file.path for file in report.files if is_outside(file.path, root)]
    bare = [file.path for file in report.files if file.diagnostics and region_of(file, options.sarif_region) == "none"]
    if outside:
        sys.stderr.write(
            f"Warning: {_some(outside)} outside {visible(str(root))}: SARIF names {_them(outside)} by absolute"
            " URIs, which code scanning cannot show (--sarif-root sets the directory)\n"
        )
    if bare and options.sarif_region is None:
        sys.stderr.write(
            f"Warning: {_some(bare)} larger than 256 MB: results in SARIF have no region, since the upload"
            " would take minutes (--sarif-region overrides)\n"
        )


def _some(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - 1:,} more are" if len(paths) > 1 else " is"
    return f"{shown_path(paths[0])}{more}"


def _them(paths: Sequence[str]) -> str:
    return "them" if len(paths) > 1 else "it"
