# SPDX-License-Identifier: Apache-2.0
"""Bounds the processor time that a thread spends on one file; on a system without such a clock, the time that passes.

`check_deadline` compares the time. It is called between rules, nodes, rounds and other parts of the work. That works in
every thread and on every system. A program that owns its process also has an alarm (`alarms`): a signal that compares
the time in the middle of Python code that never calls `check_deadline`. Nothing stops a single call into C.
"""

from __future__ import annotations

import signal
import sys
import time
from _thread import _local, get_ident
from time import perf_counter

TYPE_CHECKING = False  # see onnx_lint: importing typing creates objects that the collector would have to scan
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import Final

_NEVER = float("inf")


class OutOfTimeError(BaseException):
    """The time of a file is up. It is no Exception, so that nothing takes it for a bug of a rule."""

    rule: str | None = None
    """The id of the rule that ran; None if none did."""


def _processor_clock() -> Callable[[], float]:
    """Return the clock of the processor time of a thread, or the best replacement of a system that has none."""
    for name in ("thread_time", "process_time"):
        clock: Callable[[], float] | None = getattr(time, name, None)
        try:
            if clock is not None:
                clock()
                return clock
        except OSError:
            continue
    return perf_counter


_processor_time = _processor_clock()


class _End(_local):
    """The end of the file that a thread is working on."""

    is_set = False
    begin = _NEVER
    """The processor time of the begin; infinite if there is no end."""
    end = _NEVER
    """The processor time of the end."""
    next_look = _NEVER
    """The time of the clock before which the end cannot be reached: that clock needs no system call."""


_here = _End()


def check_deadline() -> None:
    """Raise OutOfTimeError if the time of the file that this thread works on is up."""
    if perf_counter() >= _here.next_look:
        left = _here.end - _processor_time()
        if left <= 0:
            raise OutOfTimeError
        _here.next_look = perf_counter() + left


def is_set() -> bool:
    """Return whether the time of this thread has an end."""
    return _here.is_set


def seconds_used() -> float:
    """Return how much processor time the work inside of `Deadline` has taken so far; 0 without one."""
    return max(_processor_time() - _here.begin, 0.0)


def lift_deadline() -> None:
    """Remove the end, but not `is_set`: the file is being written, and nothing may stop that any more."""
    _here.end = _here.next_look = _NEVER


class Deadline:
    """A context whose work ends after that many seconds of processor time. It must not be inside another one."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def __enter__(self) -> None:
        """Set the end, and the alarm if this program has one."""
        _here.is_set = True
        _here.begin = _processor_time()
        _here.end = _here.begin + self._seconds
        _here.next_look = perf_counter() + self._seconds
        _set_alarm(self._seconds)

    def __exit__(self, *_: object) -> None:
        """Remove the end and the alarm."""
        _here.begin = _here.end = _here.next_look = _NEVER
        _here.is_set = False
        _set_alarm(None)


class SubDeadline:
    """A context whose work ends after that many seconds of processor time, or half of what the file has left.

    It may be inside of `Deadline`. The end of the time leaves the context quietly.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.used = 0.0
        """The processor time that the work took."""
        self.is_over = False
        """True if the time ended the work."""

    def __enter__(self) -> None:
        """Set the nearer end."""
        self._around = _here.end, _here.next_look
        self._begin = _processor_time()
        seconds = min(self._seconds, (_here.end - self._begin) / 2)
        _here.end = self._begin + seconds
        _here.next_look = perf_counter() + seconds

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        """Restore the end of the work around it."""
        _here.end, _here.next_look = self._around
        self.used = _processor_time() - self._begin
        self.is_over = kind is OutOfTimeError
        return self.is_over


# --- the alarm

_SECONDS_LATER: Final = 1.0
"""The time between the end and the alarm, and between two alarms. Work that looks at the time ends before."""

_NOT_STOPPED: Final = frozenset(
    {
        "contextlib",
        "importlib._bootstrap",
        "importlib._bootstrap_external",
        "onnx_lint.common.memory",
        "threading",
        __name__,
    }
)
"""The modules whose functions are never stopped in the middle: they import, lock, and enter and leave contexts."""

_OURS: Final = frozenset({"onnx_lint", "google", "numpy"})
"""The packages that are stopped only outside of such a function. A plugin is stopped inside of one as well."""

_alarm_thread: int | None = None
"""The thread that an alarm interrupts; None if there is no alarm."""


class alarms:  # noqa: N801 - a context, used like a function
    """A context in which the main thread of a program has alarms.

    It does nothing in other threads, without SIGPROF, or if the signal has a handler already.
    """

    def __enter__(self) -> None:
        """Take over the signal."""
        global _alarm_thread
        self._is_owner = hasattr(signal, "setitimer") and _alarm_thread is None
        try:
            if self._is_owner and signal.getsignal(signal.SIGPROF) is signal.SIG_DFL:
                signal.signal(signal.SIGPROF, _ring)
                _alarm_thread = get_ident()
            else:
                self._is_owner = False
        except ValueError:  # not the main thread
            self._is_owner = False

    def __exit__(self, *_: object) -> None:
        """Release the signal."""
        global _alarm_thread
        if self._is_owner:
            _alarm_thread = None
            signal.setitimer(signal.ITIMER_PROF, 0)  # the default of the signal would end the process
            signal.signal(signal.SIGPROF, signal.SIG_DFL)


def _set_alarm(seconds: float | None) -> None:
    """Start the alarm: it rings after this processor time and then at intervals. None stops it."""
    if _alarm_thread == get_ident():
        first, interval = (0.0, 0.0) if seconds is None else (seconds + _SECONDS_LATER, _SECONDS_LATER)
        signal.setitimer(signal.ITIMER_PROF, first, interval)


def _ring(_: int, frame: FrameType | None) -> None:
    """Look at the time, unless the interrupted code must not be stopped. The next alarm then looks again."""
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        if name in _NOT_STOPPED:
            return
        package = name.partition(".")[0]
        if package not in _OURS and package not in sys.stdlib_module_names:
            break  # a plugin, perhaps called by a function of contextlib
        frame = frame.f_back
    check_deadline()
