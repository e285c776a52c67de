# SPDX-License-Identifier: Apache-2.0
"""A progress bar on standard error, for runs of more than a second."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from onnx_lint.cli.streams import use_color

if TYPE_CHECKING:
    from rich.progress import Progress, Task

DELAY_SECONDS: Final = 1.0


class ProgressBar:
    """Counts files, and the bytes of weights that this process reads.

    As a context manager it shows a bar after a second and removes it at the end. The bar of a single file moves
    without an end.
    """

    def __init__(self, total: int, *, wanted: bool) -> None:
        self._total = total
        self._start = time.monotonic()
        self._done = 0
        self._lock = threading.Lock()
        self._is_over = False
        self._bar: Progress | None = None
        self._timer = threading.Timer(DELAY_SECONDS, self._show) if wanted else None

    def __enter__(self) -> Self:
        """Start the clock."""
        if self._timer is not None:
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove the bar."""
        if self._timer is not None:
            self._timer.cancel()
            with self._lock:
                self._is_over = True
                self._draw(lambda bar: bar.stop())

    def advance(self) -> None:
        """Count a file that is done."""
        self._done += 1
        if self._timer is not None:
            with self._lock:
                self._draw(self._update)

    @contextlib.contextmanager
    def hidden(self) -> Iterator[None]:
        """Remove the bar while something else is written to the terminal."""
        with self._lock:
            self._draw(lambda bar: bar.stop())
            try:
                yield
            finally:
                self._draw(lambda bar: bar.start())

    def _draw(self, change: Callable[[Progress], object]) -> None:
        """Change the bar, if there is one. If that fails, the bar ends and not the run."""
        if self._bar is not None:
            try:
                change(self._bar)
            except Exception:
                self._bar = None

    def _update(self, bar: Progress) -> None:
        bar.update(bar.task_ids[0], completed=self._done)

    def _show(self) -> None:
        from rich.console import Console
        from rich.filesize import decimal
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TimeElapsedColumn
        from rich.text import Text

        from onnx_lint.ir.tensors.wire_values import Reading

        class ReadColumn(ProgressColumn):
            def render(self, task: Task) -> Text:
                return Text(f"{decimal(Reading.bytes_read)} read" if Reading.bytes_read else "")

        console = Console(stderr=True, no_color=not use_color(sys.stderr), highlight=False)
        counts = (MofNCompleteColumn(),) if self._total > 1 else ()
        bar = Progress(
            "linting", BarColumn(), *counts, ReadColumn(), TimeElapsedColumn(), console=console, transient=True
        )
        bar.add_task("files", total=self._total if self._total > 1 else None)
        # Show the time since the first file, not since the bar appeared.
        bar.tasks[0].start_time = bar.get_time() - (time.monotonic() - self._start)
        with self._lock:
            if not self._is_over:
                self._bar = bar
                self._draw(self._update)
                self._draw(lambda bar: bar.start())


def is_wanted(*, quiet: bool) -> bool:
    """Return whether to show a bar: on a terminal that can move its cursor, unless --quiet turns it off."""
    return not quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
