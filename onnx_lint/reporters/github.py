# SPDX-License-Identifier: Apache-2.0
"""Workflow commands of GitHub Actions, which annotate files with findings.

GitHub shows ten annotations of each type per step and fifty per job, so at most ten of each type are written: of each
file the first of each rule and clause, of a single file the first three. All others are lines of the log, in a folded
group for each file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final, TextIO

from onnx_lint.common.record import Record
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.findings import Diagnostic
from onnx_lint.report.not_verified import not_verified_in_words
from onnx_lint.report.remarks import NOT_VERIFIED, remarks_on_run
from onnx_lint.report.totals import Report
from onnx_lint.report.verdict import interruption_in_words, verdict_in_words
from onnx_lint.reporters import Options
from onnx_lint.reporters.escape import (
    MAX_SHOWN_MESSAGE_CHARACTERS,
    STANDARD_INPUT,
    shortened,
    shown_path,
    visible,
    without_commands,
)
from onnx_lint.reporters.statistics import statistics_lines
from onnx_lint.reporters.uri import default_root, path_below
from onnx_lint.reporters.wording import (
    after_path,
    crash_in_words,
    labelled_guidance,
    labelled_places,
    position_in_words,
    weakenings_in_words,
    worst_first,
)
from onnx_lint.spec.clauses import Severity
from onnx_lint.wording import counted

MAX_OF_A_TYPE: Final = 10
"""The annotations of one type that GitHub shows per step. Three types stay below the fifty of a job."""

MAX_OF_A_KIND: Final = 3
"""The annotations of one rule and clause in a single file, so that one rule does not fill the room; 1 in several."""

_TYPES: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


class Annotation(Record):
    """A finding or a failure as an annotation, and as a line of the log."""

    type: str
    path: str
    """The path relative to the repository."""
    title: str
    message: str
    line: str
    kind: str
    """The rule and clause, or the kind of failure."""
    position: tuple[int, int] | None = None
    """Line and column in a model in text form."""


class Writer:
    """Writes annotations and the log of each file, and at the end a line about all files."""

    def __init__(self, _head: Report, stream: TextIO, options: Options, count: int) -> None:
        self._stream = stream
        self._options = options
        self._root = options.root or default_root()
        self._is_alone = count <= 1
        self._of_a_kind = MAX_OF_A_KIND if self._is_alone else 1
        self._written: Counter[str] = Counter()
        """The number of annotations of each type so far."""

    def file(self, file: FileReport) -> None:
        """Write annotations while there is room, and lines of the log for everything else."""
        rest: list[Annotation] = []
        seen: Counter[str] = Counter()
        for item in annotations_of(file, self._root):
            if self._written[item.type] < MAX_OF_A_TYPE and seen[item.kind] < self._of_a_kind:
                self._written[item.type] += 1
                seen[item.kind] += 1
                self._stream.write(format_command(item))
            else:
                rest.append(item)
        if rest:
            what = f"{counted(len(rest), 'more finding')} in {shown_path(file.path)}"
            self._stream.write(f"::group::{log_line(what)}")
            self._stream.writelines(log_line(item.line) for item in rest)
            self._stream.write("::endgroup::\n")
        # Of several files, the lines at the end say it of all together.
        if not self._options.quiet and (self._is_alone or self._options.verbose):
            for what in not_verified_in_words(file):
                self._stream.write(log_line(f"not verified: {shown_path(file.path)}: {what}"))

    def end(self, report: Report) -> None:
        """Write the statistics and a line about all files."""
        if self._options.statistics:
            self._stream.writelines(map(log_line, statistics_lines(report)))
        if report.not_linted:
            self._stream.write("::error title=onnx-lint: interrupted::" + _data(interruption_in_words(report)) + "\n")
        if not (self._options.quiet and self._is_alone):
            self._stream.write(log_line(f"onnx-lint: {verdict_in_words(report)}"))
            remarks = remarks_on_run(report, quiet=self._options.quiet)
            said = (each for each in remarks if not self._is_alone or each[0] != NOT_VERIFIED)
            self._stream.writelines(log_line(f"onnx-lint: {label}: {what}") for label, what in said)
        weakened = weakenings_in_words(report.weakened, quiet=self._options.quiet)
        self._stream.writelines(log_line(f"onnx-lint: {what}") for what in weakened)


def annotations_of(file: FileReport, root: str) -> Iterator[Annotation]:
    """Yield everything that fails a run and each finding of a file, the worst first."""
    path = STANDARD_INPUT if file.path == "-" else path_below(file.path, root)
    if file.failure is not None:
        title, reason = file.failure.state, file.failure.reason
        yield _about_file(path, title, visible(reason))
    for error in file.internal_errors:
        yield _about_file(path, "internal error", visible(crash_in_words(error)))
    for target in file.targets:
        if target.fails_run:
            yield _about_file(path, target.program, visible(target.text))
    for item in worst_first(file.diagnostics):
        yield _about_finding(item, path)
    for target in file.targets:
        if target.loads is None and not target.fails_run:
            yield _about_file(path, target.program, visible(target.text), "notice")


def _about_file(path: str, title: str, message: str, kind: str = "error") -> Annotation:
    line = f"{kind} {path}: {title}: {message}"
    return Annotation(kind, path, f"onnx-lint: {title}", message, line, f"about {title}")


def _about_finding(item: Diagnostic, path: str) -> Annotation:
    rule, message, place = visible(item.rule), visible(item.message), visible(item.place)
    where = position_in_words(item)
    lines = [message, f"at {place} ({where})" if where else f"at {place}"]
    lines += [f"{label}: {what}" for label, what in (*labelled_places(item), *labelled_guidance(item))]
    lines.append(visible(f"{item.clause} {item.keyword} ({item.anchor}): {item.clause_summary}"))
    return Annotation(
        type=_TYPES[item.severity],
        path=path,
        title=f"onnx-lint: {rule}",
        message="\n".join(shortened(line, MAX_SHOWN_MESSAGE_CHARACTERS) for line in lines),
        line=f"{item.severity.label}[{rule}] {path}{after_path(item.position)}: {place}: {message}",
        kind=f"rule {item.rule} {item.clause}",
        position=item.position,
    )


# --- the syntax of workflow commands


def format_command(annotation: Annotation) -> str:
    """Return the line that makes an annotation."""
    properties = [("title", annotation.title)]
    if annotation.path != STANDARD_INPUT:
        line_and_column = zip(("line", "col"), map(str, annotation.position or ()), strict=False)
        properties[:0] = [("file", annotation.path), *line_and_column]
    return f"::{annotation.type} {_properties(properties)}::{_data(annotation.message)}\n"


def _properties(properties: Iterable[tuple[str, str]]) -> str:
    return ",".join(f"{name}={_data(value).replace(':', '%3A').replace(',', '%2C')}" for name, value in properties)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def log_line(text: str) -> str:
    """Return a line that the runner does not take for a command, with any names in it."""
    return without_commands(text) + "\n"
