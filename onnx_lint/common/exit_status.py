# SPDX-License-Identifier: Apache-2.0
"""Describes how a process ended."""

from __future__ import annotations

import signal
from typing import Final

KILLED: Final = "by signal SIGKILL, most likely because the system had too little memory (fewer --jobs need less)"


def way_of_end(code: int) -> str:
    """Return how a process ended, in words.

    `code`: its exit code, or the negated number of the signal that ended it.
    """
    if code >= 0:
        return f"with exit code {code}"
    if -code == getattr(signal, "SIGKILL", None):
        return KILLED
    try:
        return f"by signal {signal.Signals(-code).name}"
    except ValueError:  # of the real-time signals only the first and the last have names
        return f"by signal {-code}"
