# SPDX-License-Identifier: Apache-2.0
"""Shows the progress of a scan: a bar on a terminal, otherwise a line every half minute for the log of a CI job."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from onnx_lint.cli.progress import ProgressBar, is_wanted

if TYPE_CHECKING:
    from onnx_lint.fleet.scan import Standing

_LINE_SECONDS: Final = 30.0

_UNITS: Final = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


class ScanProgress:
    """Shows on standard error how far a scan is. A context manager."""

    def __init__(self, count: int, *, wanted: bool) -> None:
        on_terminal = is_wanted(no_progress=not wanted, quiet=False)
        self._count = count
        self._bar = ProgressBar(count, wanted=on_terminal)
        self._has_lines = wanted and not on_terminal
        self._start = self._shown_at = time.monotonic()

    def __enter__(self) -> Self:
        """Start the clock."""
        self._bar.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the bar."""
        self._bar.__exit__(kind, error, trace)

    def show(self, standing: Standing) -> None:
        """Show the current state."""
        now = time.monotonic()
        rate = standing.linted / max(now - self._start, 1e-3)
        said = f"{rate:,.0f}/s, {standing.findings:,} findings, {size_of(standing.bytes_read)}"
        self._bar.show(standing.done, said)
        if self._has_lines and now - self._shown_at >= _LINE_SECONDS:
            self._shown_at = now
            sys.stderr.write(f"{standing.done:,} of {self._count:,} models: {said} read\n")
            sys.stderr.flush()


def size_of(count: int) -> str:
    """Return a number of bytes with a unit: `3.4 GB`."""
    for unit, name in _UNITS:
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count} B"
