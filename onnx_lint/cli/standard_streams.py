# SPDX-License-Identifier: Apache-2.0
"""Prepares the standard streams of the process, so that a failure to write is reported and fails the run.

A terminal is left as it is. Without this, Python would lose messages that it cannot write to standard error, lose
everything written to a stream that the caller has closed, or end with an exit code of its own.
"""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, Final

from onnx_lint.common.reasons import reason_of
from onnx_lint.common.visible import message_without_commands
from onnx_lint.configuration.errors import RunError

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TextIO

_ERROR: Final = 2
_INTERRUPTED: Final = 130  # exit_codes.INTERRUPTED


class OutputError(RunError):
    """A report cannot be written. The text has the destination and the reason."""


class ClosedPipeError(BrokenPipeError):
    """The reader has closed standard output, which is not a fault. Without an errno, click leaves it alone."""


class _Descriptor(io.FileIO):
    """A file descriptor that is redirected to the null device at the first failure to write.

    If it is a non-blocking pipe that is full, such as one shared with another program, it waits until there is room.
    """

    def __init__(self, number: int, on_failure: Callable[[OSError], None]) -> None:
        super().__init__(number, "wb", closefd=False)
        self._on_failure = on_failure

    def write(self, data: Any, /) -> int:
        """Write some of the data, and return the number of bytes."""
        try:
            while (written := super().write(data)) is None:
                _wait_for_room(self.fileno())
            return written
        except OSError as error:
            # The stream would try to write its buffer again, at the latest when the interpreter exits.
            lead_nowhere(self.fileno())
            self._on_failure(error)
            return memoryview(data).nbytes


class _Closed(io.RawIOBase):
    """Standard output that the caller has closed. The first write raises OutputError; later writes are lost."""

    def __init__(self) -> None:
        self._has_raised = False

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, data: Any, /) -> int:
        """Raise OutputError, once."""
        if not self._has_raised:
            self._has_raised = True
            raise OutputError("standard output: is closed")
        return memoryview(data).nbytes


class _Messages(io.TextIOWrapper):
    """Standard error that is a log. File names in messages are escaped so that no CI server runs them as commands."""

    def write(self, text: str, /) -> int:
        """Write the text, and return its length."""
        super().write(message_without_commands(text))
        return len(text)


_lost_errors = False


def prepare() -> None:
    """Prepare the streams. Call it once, before anything is written or opened."""
    _hold_closed()
    sys.stdout = (
        _watched(sys.stdout, _fail) if sys.stdout is not None else io.TextIOWrapper(io.BufferedWriter(_Closed()))
    )
    sys.stderr = _watched(sys.stderr, _note_lost, _Messages) if sys.stderr is not None else _nowhere()


def final_code(code: int) -> int:
    """Return the exit code of a run that would end with `code`: at least 2 if a message was lost.

    The unwritten output of an interrupted run is discarded, since nobody may read it.
    """
    if code == _INTERRUPTED and isinstance(getattr(sys.stdout.buffer, "raw", None), _Descriptor):
        lead_nowhere(sys.stdout.fileno())
    sys.stderr.flush()
    return max(code, 2) if _lost_errors else code


def _wait_for_room(descriptor: int) -> None:
    """Wait until a descriptor can be written to, or has failed."""
    import select

    poll = select.poll()
    poll.register(descriptor, select.POLLOUT)
    poll.poll()


def lead_nowhere(descriptor: int) -> None:
    """Redirect a descriptor to the null device: writes to it are lost."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)


def _hold_closed() -> None:
    """Occupy the numbers of closed streams, so that no model that is opened gets one and is written to.

    The placeholder cannot be written, and cannot be opened for writing by names such as `/dev/stdout`.
    """
    neither = os.sep if os.name == "posix" else os.devnull
    while (descriptor := os.open(neither, os.O_RDONLY)) <= _ERROR:
        pass
    os.close(descriptor)


def _watched(
    stream: TextIO, on_failure: Callable[[OSError], None], kind: type[io.TextIOWrapper] = io.TextIOWrapper
) -> TextIO:
    """Return the stream as one of type `kind` that calls `on_failure` if a write fails; a terminal is left as it is."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    # A name that the encoding cannot represent is escaped; it must not end the run.
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
        raise ClosedPipeError("the reader has closed standard output") from error
    raise OutputError(f"standard output: {reason_of(error)}") from error


def _note_lost(error: OSError) -> None:
    global _lost_errors
    _lost_errors = _lost_errors or not isinstance(error, BrokenPipeError)
