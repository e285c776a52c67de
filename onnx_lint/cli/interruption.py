# SPDX-License-Identifier: Apache-2.0
"""Makes SIGTERM end a run as Ctrl-C does: with a report on the files linted so far."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType


@contextlib.contextmanager
def termination_interrupts() -> Iterator[None]:
    """Raise KeyboardInterrupt at the first SIGTERM; a second one ends the process.

    A process that was started with SIGTERM ignored keeps ignoring it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    if before is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _interrupt)
    try:
        yield
    finally:
        if before is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, before)


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    raise KeyboardInterrupt
