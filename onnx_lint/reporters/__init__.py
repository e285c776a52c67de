# SPDX-License-Identifier: Apache-2.0
"""The report formats, one module each (`REPORTERS`), what they share, and the pages of `explain` and `shapes`.

None of them knows a rule by name.

A module is imported when its format is used. It has a class `Writer` (see :class:`FileWriter`), which does not keep the
report of a file that has no findings.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol, TextIO

from onnx_lint.common.record import Record
from onnx_lint.report import Context

if TYPE_CHECKING:
    from onnx_lint.report.file_report import FileReport
    from onnx_lint.report.totals import Report


class Options(Record):
    """The options of all reporters. Each reporter reads those that concern it."""

    color: bool = False
    """True to write the colours of a terminal."""
    quiet: bool = False
    """True to write only the findings, and the total of several files."""
    verbose: bool = False
    """True to print a line for each of several files, even without findings."""
    root: str | None = None
    """The directory that paths in SARIF, GitHub and GitLab reports are relative to; None for the top of the Git
    repository, or the working directory if there is none."""
    statistics: bool = False
    """True to print tables of operators, rules and producers, in formats for people; JSON always has the numbers."""
    width: int | None = None
    """The columns of the terminal, for the text format; None if the output is not a terminal."""
    show_suppressed: bool = False
    """True to show suppressed findings instead of counting them, in the formats that can mark them."""
    failing: str = "error"
    """The lowest severity that JUnit shows as a failure, or `never`."""
    has_command: bool = True
    """True to name commands in the text format; pre-commit installs `onnx-lint` where no shell finds it."""
    shows_reasons: bool = False
    """True to say in the text format why a file was not checked; the command line says so on standard error."""
    origin: str = ""
    """The time, command and commit of the run, for the HTML page."""


_CONTEXTS: Final[Mapping[str, Context]] = MappingProxyType(
    {"text": Context.LINES, "sarif": Context.LINES, "html": Context.NODES}
)
"""What formats show of the model around a finding; the others show nothing."""


def shown_context(formats: Iterable[str]) -> Context:
    """Return what reports in these formats show around findings."""
    return max([_CONTEXTS.get(name, Context.NONE) for name in formats], default=Context.NONE)


_WITH_PART: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "counts": frozenset({"text", "json", "jsonl", "junit", "markdown", "html"}),
        "edits": frozenset({"json", "jsonl", "sarif"}),
        "operators": frozenset({"json", "jsonl"}),
    }
)
"""The formats that show a part of `onnx_lint.engine.settings.PARTS`."""


def shown_parts(formats: Iterable[str], *, quiet: bool, statistics: bool) -> tuple[str, ...]:
    """Return the parts of `onnx_lint.engine.settings.PARTS` that reports in these formats show.

    With `quiet` the text format shows no counts. With `statistics` most formats have a table of operators.
    """
    speaking = {name for name in formats if not (name == "text" and quiet)}
    shown = [part for part, showing in _WITH_PART.items() if not showing.isdisjoint(speaking)]
    return (*shown, "operators") if statistics and "operators" not in shown else tuple(shown)


class FileWriter(Protocol):
    """Writes a report. It is constructed with `(head, stream, options, count)`.

    `head`: the report before the first file, with edition and rules. `count`: the number of files. Formats that do not
    depend on one of them name it `_head` or `_count`.
    """

    def file(self, file: FileReport) -> None:
        """Take the report on the next file. A streamed format writes it."""

    def end(self, report: Report) -> None:
        """Write the report, or the rest of it, after all files."""


REPORTERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "text": "onnx_lint.reporters.text",
        "concise": "onnx_lint.reporters.concise",
        "json": "onnx_lint.reporters.json",
        "jsonl": "onnx_lint.reporters.jsonl",
        "sarif": "onnx_lint.reporters.sarif",
        "github": "onnx_lint.reporters.github",
        "gitlab": "onnx_lint.reporters.gitlab",
        "junit": "onnx_lint.reporters.junit",
        "markdown": "onnx_lint.reporters.markdown",
        "html": "onnx_lint.reporters.html",
    }
)
"""The module of each format."""


ANNOTATIONS: Final = "annotations"
"""The format that follows a text report in the log of a GitHub workflow. Nobody can ask for it by name."""

_FOLLOWING: Final[Mapping[str, str]] = MappingProxyType({ANNOTATIONS: "onnx_lint.reporters.annotations"})


STREAMED: Final = frozenset({"text", "concise", "jsonl", "github"})
"""The formats that are written while files are checked, and not at the end."""


def writer_for(name: str) -> Callable[[Report, TextIO, Options, int], FileWriter]:
    """Return the FileWriter of the format `name`. Raises KeyError."""
    module = REPORTERS[name] if name in REPORTERS else _FOLLOWING[name]
    writer: Callable[[Report, TextIO, Options, int], FileWriter] = importlib.import_module(module).Writer
    return writer


def write_report(name: str, report: Report, stream: TextIO, options: Options | None = None) -> None:
    """Write `report` to `stream` in the format `name`. Raises ValueError if there is no such format."""
    if name not in REPORTERS:
        raise ValueError(f"unknown format {name!r}; the formats are {', '.join(REPORTERS)}")
    writer = writer_for(name)(report, stream, options or Options(), len(report.files))
    for file in report.files:
        writer.file(file)
    writer.end(report)
