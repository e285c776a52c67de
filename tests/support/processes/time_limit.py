# SPDX-License-Identifier: Apache-2.0
"""Ends what runs for too long, so that a test of something that would never end fails."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


class HangError(Exception):
    """Something takes too long."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise HangError if the body takes more processor time."""

    def stop(*_: object) -> None:
        raise HangError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
