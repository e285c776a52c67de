# SPDX-License-Identifier: Apache-2.0
"""The reports to write: their formats and destinations."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final, TextIO, cast

from onnx_lint.cli import exit_codes
from onnx_lint.cli.standard_streams import OutputError
from onnx_lint.cli.streams import for_standard_output, report_file, standard_output
from onnx_lint.common.reasons import reason_of
from onnx_lint.common.record import Record
from onnx_lint.configuration.errors import RequestError
from onnx_lint.report.file_report import InternalError
from onnx_lint.reporters import (
    REPORTERS,
    STREAMED,
    FileWriter,
    Options,
    writer_for,
)
from onnx_lint.reporters.escape import shown_path, visible
from onnx_lint.wording import suggestion

if TYPE_CHECKING:
    from onnx_lint.report.file_report import FileReport
    from onnx_lint.report.totals import Report

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

_OF_ONE_FORMAT: Final = frozenset({"sarif", "html", "markdown", "junit"})
"""The formats whose suffix no other format has. Reports for GitLab and SARIF may end with .json."""


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
        implied = _IMPLIED.get(os.path.splitext(path)[1].lower(), name)
        if implied != name and implied in _OF_ONE_FORMAT:
            sys.stderr.write(f"Warning: {visible(path)} gets the format {name}, not {implied} as its suffix says\n")
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
    if path and suffix not in _IMPLIED:
        raise RequestError(
            f"--output {path!r} implies no format; the suffixes {', '.join(_IMPLIED)} do. "
            f"Write FORMAT={visible(path)}, or use --format"
        )
    return _IMPLIED.get(suffix, "")


_HOW_TO_GO_ON: Final = "To go on: a report in another --format has all findings.\n"


def warn_about_outside(paths: Iterable[str], root: str | None) -> None:
    """Print which files code scanning cannot show in SARIF, because they are outside of the folder `root`."""
    from onnx_lint.reporters.uri import default_root, is_outside

    known = root or default_root()
    outside = [path for path in paths if is_outside(path, known)]
    if outside:
        more = f" and {len(outside) - 1:,} more are" if len(outside) > 1 else " is"
        sys.stderr.write(
            f"Warning: {shown_path(outside[0])}{more} outside {visible(known)}: code scanning cannot show results"
            " with absolute URIs (--sarif-root sets the directory)\n"
        )


class LiveReport:
    """The report that is written to standard output during the run."""

    has_reader = True
    """False after the reader has closed the pipe, which is not an error."""

    def __init__(self, head: Report, output: Output, options: Options, count: int) -> None:
        self.output = output
        self.has_failed = False
        """True after a failure to write, which has been printed on standard error."""
        self.is_on_terminal = sys.stdout is not None and sys.stdout.isatty()
        writer = writer_for(output.format_name)
        options = for_standard_output(options)
        self._writer: FileWriter | None = None
        self._has_crashed = False
        self._error = self._write(lambda: self._begin(writer(head, sys.stdout, options, count)))

    def _begin(self, writer: FileWriter) -> None:
        self._writer = writer

    def file(self, file: FileReport) -> FileReport:
        """Write the report on the next file. Return it, with an internal error if writing it crashed."""
        error = self._write(lambda: self._writer.file(file) if self._writer is not None else None)
        if error is None:
            return file
        self._has_crashed = True
        return file.with_crash(error, _work(self.output))

    def end(self, report: Report) -> int:
        """Write the end of the report, about the whole run. Return the exit code because of it, see `WholeReport`."""
        error = self._error or self._write(lambda: self._writer.end(report) if self._writer is not None else None)
        if error is not None:
            return _print_crash(self.output, error)
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


class WholeReport:
    """A report that is written whole or not at all: to a file, or at the end of the run to standard output.

    It goes to a new file during the run, which takes its place at the end. What goes to standard output is kept until
    then.
    """

    def __init__(self, head: Report, output: Output, options: Options, count: int) -> None:
        self._output = output
        self._target = output.path if output.path is not None and os.path.isfile(output.path) else None
        """The file that is replaced."""
        self._error: Exception | None = None
        self._opened = contextlib.ExitStack()
        self._packed = None
        """What goes to standard output at the end."""
        if output.path is None:
            from onnx_lint.reporters.packed_text import PackedText

            self._packed = PackedText()
        self._writer: FileWriter | None = None
        with self._noting_errors():
            stream = self._packed if output.path is None else self._opened.enter_context(report_file(output.path))
            options = for_standard_output(options) if output.path is None else options
            self._writer = writer_for(output.format_name)(head, cast("TextIO", stream), options, count)

    def file(self, file: FileReport) -> None:
        """Take the report on the next file."""
        if self._error is not None or self._writer is None:
            return
        with self._noting_errors():
            self._check_data(file)
            self._writer.file(file)

    def end(self, report: Report) -> int:
        """Write the report. Print why if it cannot be written, and return the exit code because of that."""
        if self._error is None and self._writer is not None:
            with self._noting_errors():
                self._writer.end(report)
                if self._packed is not None:
                    with standard_output() as stream:
                        stream.writelines(self._packed.pieces())
                self._opened.close()
        error = self._error
        if error is None:
            return exit_codes.CLEAN
        if isinstance(error, BrokenPipeError):  # the reader of a pipe has enough, which is not an error
            self._opened.close()
            return exit_codes.CLEAN
        self.discard()
        if not isinstance(error, OutputError):
            return _print_crash(self._output, error)
        sys.stderr.write(f"Error: {error}\n")
        return exit_codes.NOT_CHECKED

    def discard(self) -> None:
        """Remove what has been written to the new file."""
        error = self._error or OutputError("the report is not written")
        with contextlib.suppress(Exception):
            self._opened.__exit__(type(error), error, error.__traceback__)

    def _check_data(self, file: FileReport) -> None:
        """Raise OutputError if the report would replace a file that holds external data of the model."""
        if self._target is not None and file.data_files:
            from onnx_lint.cli.protected_files import check_data

            check_data(self._target, file.path, file.data_files)

    @contextlib.contextmanager
    def _noting_errors(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError as error:
            self._error = error
        except OSError as error:
            where = "standard output" if self._output.path is None else visible(self._output.path)
            self._error = OutputError(f"{where}: {reason_of(error)}")
        except Exception as error:
            self._error = error


def reports_of(
    head: Report, outputs: Sequence[Output], options: Options, *, count: int, may_be_live: bool = True
) -> tuple[LiveReport | None, list[WholeReport]]:
    """Return the report that is written to standard output file by file, if there is one, and all others.

    `may_be_live`: False for a run that may fail after the last file, and then writes no report.
    """
    live = None
    for output in outputs:
        if may_be_live and output.path is None and output.format_name in STREAMED:
            live = LiveReport(head, output, options, count)
    left = [output for output in outputs if live is None or output is not live.output]
    return live, [WholeReport(head, output, options, count) for output in left]


def _work(output: Output) -> str:
    return f"writing the report in the format {output.format_name}"


def _print_crash(output: Output, error: Exception) -> int:
    """Print that a report is missing or not whole because writing it crashed; return the exit code."""
    from onnx_lint.cli.failures import print_crash

    print_crash(f"onnx-lint crashed while {_work(output)}", InternalError.from_exception(error))
    sys.stderr.write(_HOW_TO_GO_ON)
    return exit_codes.INTERNAL_ERROR
