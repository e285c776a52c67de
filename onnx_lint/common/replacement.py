# SPDX-License-Identifier: Apache-2.0
"""Replaces a file by a new one as a whole, or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from typing import Final

TEMPORARY: Final = ".onnx-lint.tmp"
"""The end of the name of a new file. One that a killed process left behind can be deleted."""


@contextlib.contextmanager
def replacement(target: str) -> Iterator[tuple[int, str]]:
    """The descriptor and the path of a new file beside `target`, which takes its place when the block ends.

    The block closes the descriptor. If it raises, the new file is deleted. Raises OSError if the file cannot be
    replaced.
    """
    import tempfile

    directory, name = os.path.split(target)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{name[:100]}.", suffix=TEMPORARY, dir=directory or ".")
    try:
        yield descriptor, temporary
        os.chmod(temporary, _mode(target))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _mode(target: str) -> int:
    """The permissions of the file that is replaced, or those of a new file."""
    try:
        return stat.S_IMODE(os.stat(target).st_mode)
    except FileNotFoundError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
