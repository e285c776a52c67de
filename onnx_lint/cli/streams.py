# SPDX-License-Identifier: Apache-2.0
"""Standard output and report files: colour, closed pipes, and files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO

from onnx_lint.cli.standard_streams import OutputError, lead_nowhere
from onnx_lint.common.reasons import reason_of
from onnx_lint.common.record import replace
from onnx_lint.reporters import Options
from onnx_lint.reporters.escape import visible


def use_color(stream: TextIO) -> bool:
    """Return whether to use colours: as NO_COLOR says, then FORCE_COLOR, then if it is a terminal."""
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "0") not in {"", "0"} for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


@contextlib.contextmanager
def standard_output(on_closed: Callable[[], None] | None = None) -> Iterator[TextIO]:
    """Yield standard output, and flush it at the end.

    If the reader has closed the pipe (`| head -1`), that is not an error: the rest is lost, and `on_closed` is called.
    Raises OutputError for any other failure to write, such as a full disk.
    """
    try:
        yield sys.stdout
        sys.stdout.flush()
    except BrokenPipeError:
        lead_nowhere(sys.stdout.fileno())
        if on_closed is not None:
            on_closed()
    except OSError as error:
        lead_nowhere(sys.stdout.fileno())
        raise OutputError(f"standard output: {reason_of(error)}") from error


@contextlib.contextmanager
def report_file(path: str) -> Iterator[TextIO]:
    """Yield a stream whose content becomes the file at `path` when all is written, and is removed otherwise.

    A stream, device or pipe, such as `/dev/stdout`, is written to directly. Raises OutputError if the file cannot be
    written, would replace a model, or is a link that leads out of its folder.
    """
    from onnx_lint.cli.protected_files import why_protected

    try:
        # A link stays a link; the file that it leads to is replaced. It is resolved once, as others may change it.
        target = os.path.realpath(path)
        reason = why_protected(path, target)
        if reason is not None:
            raise OutputError(f"{visible(path)}: {reason}; it was not changed")
        with (
            _new_content(path, target) as descriptor,
            open(descriptor, "w", encoding="utf-8", errors="backslashreplace", closefd=False) as stream,
        ):
            yield stream
    except BrokenPipeError:
        pass
    except OSError as error:
        raise OutputError(f"{visible(path)}: {reason_of(error)}") from error


@contextlib.contextmanager
def _new_content(path: str, target: str) -> Iterator[int]:
    """Yield a descriptor for the new content of a file, and close it. `target`: the path without links."""
    from onnx_lint.cli.protected_files import descriptor_of
    from onnx_lint.common.whole_file import whole_file

    number = descriptor_of(path)
    if number is None and (os.path.isfile(target) or not os.path.exists(target)):
        with whole_file(target) as (descriptor, _):
            yield descriptor
        return
    # Nothing is truncated, and no new link is followed: a device or pipe may have become one meanwhile.
    flags = os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.dup(number) if number is not None else os.open(target, flags)
    try:
        if number is None and stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EBUSY, "another program replaced the file while it was opened")
        yield descriptor
    finally:
        os.close(descriptor)


def for_standard_output(options: Options) -> Options:
    """Return the options for a report to standard output, which may be a terminal."""
    return replace(options, color=use_color(sys.stdout), width=terminal_width())


def terminal_width() -> int | None:
    """Return the columns of the terminal; None if standard output is none."""
    if not sys.stdout.isatty():
        return None
    import shutil

    return shutil.get_terminal_size().columns


def print_lines(lines: Iterable[str]) -> None:
    """Print lines to standard output, wrapped between words if that is a terminal."""
    from onnx_lint.reporters.paint import painter

    with standard_output() as stream:
        write = painter(stream, color=False, width=terminal_width())
        for line in lines:
            write(((line, ""),))
