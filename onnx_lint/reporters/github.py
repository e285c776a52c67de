# SPDX-License-Identifier: Apache-2.0
"""Workflow commands of GitHub Actions: findings become annotations of the files.

GitHub shows ten annotations of each type for a step and fifty for a job. So at most ten of each type are written, and
of those that repeat a rule and clause only what room is left. All others stand in the log, folded away, one line each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, TextIO

from onnx_lint.record import Record
from onnx_lint.report import Diagnostic, FileReport, Report
from onnx_lint.reporters import Options
from onnx_lint.reporters.escape import STANDARD_INPUT, shortened, shown_path, visible
from onnx_lint.reporters.statistics import statistics_lines
from onnx_lint.reporters.uri import default_root, path_below
from onnx_lint.reporters.wording import bytes_of, not_verified_of, total_of, weakened_of
from onnx_lint.spec.clauses import Severity

MAX_OF_A_TYPE: Final = 10
"""How many annotations of one type GitHub shows for a step; three types stay below the fifty of a job."""

MAX_MESSAGE: Final = 1000

_TYPES: Final = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


class _Annotation(Record):
    """What is to be said about a file, and the line that says it in the log."""

    type: str
    path: str
    title: str
    message: str
    line: str
    is_repeated: bool = False
    """Whether another of the same rule and clause about the same file comes first."""


def write(report: Report, stream: TextIO, options: Options) -> None:
    """Write the annotations, then what finds no room among them, then a line for all files."""
    root = options.root or default_root()
    annotations = [item for file in report.files for item in _annotations(file, root)]
    shown = _shown(annotations)
    for index in sorted(shown):
        stream.write(_command(annotations[index]))
    rest = [annotation.line for index, annotation in enumerate(annotations) if index not in shown]
    if rest:
        stream.write(f"::group::{len(rest):,} more, for which GitHub shows no annotation\n")
        stream.writelines(map(_log_line, rest))
        stream.write("::endgroup::\n")
    if options.quiet:
        return
    for file in report.files:
        for what in not_verified_of(file):
            stream.write(_log_line(f"not verified: {shown_path(file.path)}: {what}"))
    if options.statistics:
        stream.writelines(map(_log_line, statistics_lines(report)))
    stream.write(_log_line(f"onnx-lint: {total_of(report)}"))
    stream.writelines(_log_line(f"onnx-lint: {what}") for what in weakened_of(report))


def _annotations(file: FileReport, root: Path) -> Iterator[_Annotation]:
    path = STANDARD_INPUT if file.path == "-" else path_below(file.path, root)
    if file.unreadable is not None:
        yield _about_file(path, "not checked", visible(file.unreadable))
    if file.not_judged is not None and not file.diagnostics:
        yield _about_file(path, "not judged", visible(file.not_judged))
    for error in file.internal_errors:
        yield _about_file(path, f"internal error in {visible(error.rule)}", visible(error.exception))
    seen: set[tuple[str, str]] = set()
    for item in file.diagnostics:
        key = (item.rule, item.clause)
        yield _about_finding(item, path, is_repeated=key in seen)
        seen.add(key)


def _about_file(path: str, title: str, message: str) -> _Annotation:
    return _Annotation("error", path, f"onnx-lint: {title}", message, f"error {path}: {title}: {message}")


def _about_finding(item: Diagnostic, path: str, *, is_repeated: bool) -> _Annotation:
    rule, message, place = visible(item.rule), visible(item.message), visible(item.place)
    where = bytes_of(item.byte_range)
    lines = [message, f"at {place} ({where})" if where else f"at {place}"]
    if item.allowed:
        lines.append(f"allowed: {visible(item.allowed)}")
    lines.append(visible(f"{item.clause} {item.keyword} ({item.anchor}): {item.clause_summary}"))
    return _Annotation(
        type=_TYPES[item.severity],
        path=path,
        title=f"onnx-lint: {rule}",
        message="\n".join(shortened(line, MAX_MESSAGE) for line in lines),
        line=f"{item.severity.label}[{rule}] {path}: {place}: {message}",
        is_repeated=is_repeated,
    )


def _shown(annotations: list[_Annotation]) -> set[int]:
    """The positions of those that become annotations: of each type the first of a kind, then repeated ones."""
    shown: set[int] = set()
    for kind in _TYPES.values():
        mine = [index for index, annotation in enumerate(annotations) if annotation.type == kind]
        mine.sort(key=lambda index: annotations[index].is_repeated)
        shown.update(mine[:MAX_OF_A_TYPE])
    return shown


# --- how the runner reads lines


def _command(annotation: _Annotation) -> str:
    properties = [("title", annotation.title)]
    if annotation.path != STANDARD_INPUT:
        properties.insert(0, ("file", annotation.path))
    return f"::{annotation.type} {_properties(properties)}::{_data(annotation.message)}\n"


def _properties(properties: Iterable[tuple[str, str]]) -> str:
    return ",".join(f"{name}={_data(value).replace(':', '%3A').replace(',', '%2C')}" for name, value in properties)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _log_line(text: str) -> str:
    """A line that is no command. Its first word is ours, so that `::` cannot begin it, but `##[` counts anywhere."""
    return text.replace("##[", r"#\x23[") + "\n"
