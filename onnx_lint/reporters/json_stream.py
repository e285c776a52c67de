# SPDX-License-Identifier: Apache-2.0
"""Writes a JSON document piece by piece, on one line. So a report on many files need not be in memory as a whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TextIO

from onnx_lint.reporters.json_text import compact


class JsonStream:
    """A JSON document that is written to a stream.

    `with json.list("runs"), json.object():` writes `"runs":[{`, then what the body writes, and `}]`.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._needs_comma = False
        """True if the innermost open object or list has an element already."""

    @contextmanager
    def object(self, name: str | None = None) -> Iterator[None]:
        """Return a context that writes an object. `name`: its name, if it is inside of an object."""
        self._begin(name, "{")
        yield
        self._end("}")

    @contextmanager
    def list(self, name: str) -> Iterator[None]:
        """Return a context that writes a list, the member of an object."""
        self._begin(name, "[")
        yield
        self._end("]")

    def members(self, values: Mapping[str, Any]) -> None:
        """Write members of the innermost object."""
        for name, value in values.items():
            self._begin(name, compact(value))
            self._needs_comma = True

    def elements(self, texts: Iterable[str]) -> None:
        """Write elements of the innermost list. Each text is an element as JSON."""
        for text in texts:
            self._begin(None, text)
            self._needs_comma = True

    def _begin(self, name: str | None, text: str) -> None:
        comma = "," if self._needs_comma else ""
        label = "" if name is None else f"{compact(name)}:"
        self._stream.write(f"{comma}{label}{text}")
        self._needs_comma = False

    def _end(self, bracket: str) -> None:
        self._stream.write(bracket)
        self._needs_comma = True
