# SPDX-License-Identifier: Apache-2.0
"""Describes how a process ended."""

from __future__ import annotations

import signal


def way_of_end(code: int) -> str:
    """Return how a process ended, in words.

    `code`: its exit code, or the negated number of the signal that ended it.
    """
    if code >= 0:
        return f"with exit code {code}"
    try:
        return f"by signal {signal.Signals(-code).name}"
    except ValueError:  # of the real-time signals only the first and the last have names
        return f"by signal {-code}"
