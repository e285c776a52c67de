# SPDX-License-Identifier: Apache-2.0
"""The standard streams of the process, made ready for a run: what cannot be written is said, or fails the run.

A terminal is left as it is. Python itself would lose what it cannot write to standard error and, where the caller has
closed a stream, all of what is written there; or end the program with a code of its own.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, Final

from onnx_lint.cli.errors import RunError
from onnx_lint.common.visible import without_commands

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TextIO

_ERROR: Final = 2
_INTERRUPTED: Final = 130  # exit_codes.INTERRUPTED


class OutputError(RunError):
    """A report that cannot be written; the text says where to, and why."""


class ClosedPipeError(BrokenPipeError):
    """Nobody reads standard output any more, which is no fault. It has no number; by that click would make it one."""


class _Descriptor(io.FileIO):
    """A descriptor that is written to until that fails; from then on, it leads nowhere.

    It may be a pipe that does not block, such as another program's; then it is waited for until somebody reads.
    """

    def __init__(self, number: int, on_failure: Callable[[OSError], None]) -> None:
        super().__init__(number, "wb", closefd=False)
        self._on_failure = on_failure

    def write(self, data: Any, /) -> int:
        """Write some of the data, and return how many bytes."""
        try:
            while (written := super().write(data)) is None:
                _wait_for_room(self.fileno())
            return written
        except OSError as error:
            # The stream will try again to write what it holds, at the latest when the interpreter ends.
            lead_nowhere(self.fileno())
            self._on_failure(error)
            return memoryview(data).nbytes


class _Closed(io.RawIOBase):
    """Standard output that the caller has closed. The first bytes raise OutputError; later ones go nowhere."""

    def __init__(self) -> None:
        self._is_told = False

    def writable(self) -> bool:
        """It takes what a report writes."""
        return True

    def write(self, data: Any, /) -> int:
        """Raise OutputError, once."""
        if not self._is_told:
            self._is_told = True
            raise OutputError("standard output: is closed")
        return memoryview(data).nbytes


class _Messages(io.TextIOWrapper):
    """Standard error where it is a log. File names and arguments in messages are no commands of a CI server."""

    def write(self, text: str, /) -> int:
        """Write the text, and return its length."""
        super().write(without_commands(text))
        return len(text)


_lost_errors = False


def prepare() -> None:
    """Make the streams ready; to be called once, before anything is written or opened."""
    _hold_closed()
    sys.stdout = (
        _watched(sys.stdout, _fail) if sys.stdout is not None else io.TextIOWrapper(io.BufferedWriter(_Closed()))
    )
    sys.stderr = _watched(sys.stderr, _note_lost, _Messages) if sys.stderr is not None else _nowhere()


def judged(code: int) -> int:
    """The exit code of a run that would end with `code`: at least 2 where a message was lost.

    What an interrupted run has not written yet is given up, as nobody may read it.
    """
    if code == _INTERRUPTED and isinstance(getattr(sys.stdout.buffer, "raw", None), _Descriptor):
        lead_nowhere(sys.stdout.fileno())
    sys.stderr.flush()
    return max(code, 2) if _lost_errors else code


def _wait_for_room(descriptor: int) -> None:
    """Wait until a descriptor can be written to, or never will."""
    import select  # which hardly anybody needs

    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    poll.poll()


def lead_nowhere(descriptor: int) -> None:
    """Let a descriptor lead nowhere: what is written to it is lost."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _hold_closed() -> None:
    """Take the numbers of closed streams, so that no model that is opened gets one and is written to.

    What stands in for them can be neither written nor opened for it, as by the name `/dev/stdout`.
    """
    neither = os.sep if os.name == "posix" else os.devnull
    while (descriptor := os.open(neither, os.O_RDONLY)) <= _ERROR:
        pass
    os.close(descriptor)


def _watched(
    stream: TextIO, on_failure: Callable[[OSError], None], kind: type[io.TextIOWrapper] = io.TextIOWrapper
) -> TextIO:
    """The stream, made of this kind, such that a failure to write calls `on_failure`; a terminal is left as it is."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    # A name that the encoding lacks is shown escaped; it must not end the run.
    stream.reconfigure(errors="backslashreplace")
    if stream.isatty():
        return stream
    return kind(
        io.BufferedWriter(_Descriptor(stream.fileno(), on_failure)),
        encoding=stream.encoding,
        errors="backslashreplace",
        line_buffering=stream.line_buffering,
        write_through=stream.write_through,
    )


def _nowhere() -> TextIO:
    return open(os.devnull, "w", encoding="utf-8")


def _fail(error: OSError) -> None:
    if isinstance(error, BrokenPipeError):
        raise ClosedPipeError("nobody reads standard output any more") from error
    raise OutputError(f"standard output: {error.strerror or error}") from error


def _note_lost(error: OSError) -> None:
    global _lost_errors
    _lost_errors = _lost_errors or not isinstance(error, BrokenPipeError)
