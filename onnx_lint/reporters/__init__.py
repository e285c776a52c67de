# SPDX-License-Identifier: Apache-2.0
"""Reporters: they render a Report, and know no rule by name.

Each stands in a module of its own, with one function `write(report, stream, options)`, and is imported when it is
asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TextIO

from onnx_lint.record import Record

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_lint.report import Report


class Options(Record):
    """What a reporter may be told. Each reads what concerns it."""

    color: bool = False
    """Whether to write the colours of a terminal."""
    quiet: bool = False
    """Whether to leave out everything but the findings."""
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


SARIF_REGIONS: Final = ("line", "bytes", "none")
"""What a SARIF result points at: the first line, for GitHub; the bytes, as the standard wants it; the file alone."""


Reporter = Callable[["Report", TextIO, Options], None]

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
    }
)
"""The module of each format."""


def reporter(name: str) -> Reporter:
    """The reporter of the format `name`, one of REPORTERS; raises KeyError for any other."""
    write: Reporter = importlib.import_module(REPORTERS[name]).write
    return write


def write_report(name: str, report: Report, stream: TextIO, options: Options | None = None) -> None:
    """Write `report` to `stream` in the format `name`; raises KeyError when there is no such format."""
    reporter(name)(report, stream, options or Options())
