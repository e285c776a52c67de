# SPDX-License-Identifier: Apache-2.0
"""A progress bar on standard error, for runs of more than a second."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from onnx_lint.cli.streams import use_color
from onnx_lint.reporters.escape import shortened, shown_path, visible

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn

DELAY_SECONDS: Final = 1.0
_SHOWN_OF_PATH: Final = 40
_WIDTH_WITH_TIME: Final = 50
_WIDTH_WITH_PATH: Final = 100
"""The least width of the terminal for the elapsed time, and for the path, next to the bar."""


class ProgressBar:
    """Counts files. As a context manager it shows a bar after a second and removes it at the end."""

    def __init__(self, total: int, *, wanted: bool, color: str = "auto") -> None:
        self._total = total
        self._color = color
        self._start = time.monotonic()
        self._done = 0
        self._last = ""
        self._lock = threading.Lock()
        self._is_over = False
        self._bar: Progress | None = None
        self.crash: Exception | None = None
        """The exception that ended the bar."""
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
        if self._timer is None:
            return
        self._timer.cancel()
        with self._lock:
            self._is_over = True
            with self._guarded():
                if self._bar is not None:
                    self._bar.stop()

    def advance(self, path: str) -> None:
        """Count a file that is done."""
        self._done += 1
        self._last = path
        if self._timer is not None:
            with self._lock:
                self._update()

    @contextlib.contextmanager
    def hidden(self) -> Iterator[None]:
        """Remove the bar while something else is written to the terminal."""
        with self._lock:
            with self._guarded():
                if self._bar is not None:
                    self._bar.stop()
            try:
                yield
            finally:
                with self._guarded():
                    if self._bar is not None:
                        self._bar.start()

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """End the bar, and not the run, if drawing crashes."""
        try:
            yield
        except OSError:  # the terminal is gone
            self._bar = None
        except Exception as error:
            self._bar, self.crash = None, error

    def _show(self) -> None:
        with self._guarded():
            self._start_bar()

    def _start_bar(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        console = Console(stderr=True, no_color=not use_color(self._color, sys.stderr), highlight=False)
        columns: list[ProgressColumn] = [
            TextColumn("linting"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        ]
        if console.width < _WIDTH_WITH_TIME:
            del columns[3]
        elif console.width >= _WIDTH_WITH_PATH:
            columns[1] = BarColumn(bar_width=30)
            columns.append(_path_column())
        bar = Progress(*columns, console=console, transient=True)
        bar.add_task("files", total=self._total, path="")
        # Show the time since the first file, not since the bar appeared.
        bar.tasks[0].start_time = bar.get_time() - (time.monotonic() - self._start)
        with self._lock:
            if self._is_over:
                return
            self._bar = bar
            self._update()
            bar.start()

    def _update(self) -> None:
        with self._guarded():
            if self._bar is not None:
                path = shortened(shown_path(self._last), _SHOWN_OF_PATH) if self._last else ""
                self._bar.update(self._bar.task_ids[0], completed=self._done, path=path)


def _path_column() -> ProgressColumn:
    """Return a column with the last file that was linted, or the external data file that is being read."""
    from rich.progress import ProgressColumn, Task
    from rich.text import Text

    class PathColumn(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(reading_shown() or task.fields["path"])

    return PathColumn()


def reading_shown() -> str:
    """Return the file that a checksum is being computed of, and the percentage read; empty if there is none."""
    checksum = sys.modules.get("onnx_lint.ir.tensors.checksum")
    reading = checksum.under_way if checksum is not None else None
    if reading is None or not reading.size:
        return ""
    return f"{shortened(visible(reading.location), _SHOWN_OF_PATH)} {reading.done * 100 // reading.size}%"


def is_wanted(*, no_progress: bool, quiet: bool) -> bool:
    """Return whether to show a bar: on a terminal that can move its cursor, unless an option turns it off."""
    return not no_progress and not quiet and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
