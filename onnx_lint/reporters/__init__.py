# SPDX-License-Identifier: Apache-2.0
"""Reporters: they render a Report, and know no rule by name.

Each stands in a module of its own, with one function `write(report, stream, options)`, and is imported when it is
asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from pathlib import Path

    from onnx_lint.report import Report


@dataclass(frozen=True, slots=True)
class Options:
    """What a reporter may be told. Each reads what concerns it."""

    color: bool = False
    """Whether to write the colours of a terminal."""
    quiet: bool = False
    """Whether to leave out everything but the findings."""
    root: Path | None = None
    """The directory that SARIF's URIs are relative to; None for the repository's top, else the working directory."""


Reporter = Callable[["Report", TextIO, Options], None]

REPORTERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "text": "onnx_lint.reporters.text",
        "concise": "onnx_lint.reporters.concise",
        "json": "onnx_lint.reporters.json",
        "sarif": "onnx_lint.reporters.sarif",
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
