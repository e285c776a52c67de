# SPDX-License-Identifier: Apache-2.0
"""The forms of report, one module each; no reporter knows a rule by name.

Each stands in a module of its own, and is imported when it is asked for. It has one function
`write(report, stream, options)`, or a class `Writer` (see :class:`FileWriter`), which writes each file when it is done.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol, TextIO

from onnx_lint.common.record import Record

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_lint.report import FileReport, Report


class Options(Record):
    """What a reporter may be told. Each reads what concerns it."""

    color: bool = False
    """Whether to write the colours of a terminal."""
    quiet: bool = False
    """Whether to leave out everything but the findings, and the total of several files."""
    verbose: bool = False
    """Whether each of several files has a line, also where there is nothing to say about it."""
    root: Path | None = None
    """The directory that the paths for code hosts are relative to (SARIF, GitHub, GitLab); None for the repository's
    top, else the working directory."""
    statistics: bool = False
    """Whether to count the findings of each rule, in the formats that people read; JSON always has the counts."""
    links: bool = False
    """Whether to write rule names as links of the terminal, where the place of their documentation is known."""
    width: int | None = None
    """How many columns the terminal has, for the format that people read; None off a terminal."""
    show_suppressed: bool = False
    """Whether to show what a baseline suppresses, in the formats that have a place for it, instead of counting it."""
    sarif_region: str | None = None
    """One of SARIF_REGIONS; None for `line` in files of common size, and `none` in larger ones."""
    documentation: str | None = None
    """The address of the documentation site; None for the one that the metadata of onnx-lint names, if any."""
    failing: str = "error"
    """The least severity that JUnit shows as a failure, or `never`."""
    internal_errors: str = "error"
    """How code hosts show a crash of onnx-lint: `error` or `warning`."""


SARIF_REGIONS: Final = ("line", "bytes", "none")
"""What a SARIF result points at: the first line, for GitHub; the bytes, as the standard wants it; the file alone."""


SHOWN_WITH_CONTEXT: Final[Mapping[str, int]] = MappingProxyType({"text": 3, "html": 3, "sarif": 100})
"""Of how many findings of a rule and clause in a file each format shows the lines around them; the others of none."""


Reporter = Callable[["Report", TextIO, Options], None]


class FileWriter(Protocol):
    """Writes a report while the run goes on. It is made with `(head, stream, options, count)`.

    `head`: the report as far as it is known before the first file: against what files are held. `count`: how many files
    there will be.
    """

    def file(self, file: FileReport) -> None:
        """Write what there is to say about the next file."""

    def end(self, report: Report) -> None:
        """Write what there is to say about the whole run, whose files have all been written."""


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


DRAWN: Final = frozenset({"html", "markdown"})
"""The formats with pictures of the nodes around findings."""


def reporter(name: str) -> Reporter:
    """The reporter of the format `name`, one of REPORTERS; raises KeyError for any other."""
    module = importlib.import_module(REPORTERS[name])
    if hasattr(module, "Writer"):
        return _at_once(module.Writer)
    write: Reporter = module.write
    return write


def file_writer(name: str) -> Callable[[Report, TextIO, Options, int], FileWriter] | None:
    """The FileWriter of the format `name`; None where the format is written as a whole. Raises KeyError as above."""
    writer: Callable[..., FileWriter] | None = getattr(importlib.import_module(REPORTERS[name]), "Writer", None)
    return writer


def _at_once(writer: Callable[..., FileWriter]) -> Reporter:
    def write(report: Report, stream: TextIO, options: Options) -> None:
        written = writer(report, stream, options, len(report.files))
        for file in report.files:
            written.file(file)
        written.end(report)

    return write


def write_report(name: str, report: Report, stream: TextIO, options: Options | None = None) -> None:
    """Write `report` to `stream` in the format `name`; raises KeyError when there is no such format."""
    reporter(name)(report, stream, options or Options())
