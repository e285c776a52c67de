# SPDX-License-Identifier: Apache-2.0
"""Says how a process ended."""

from __future__ import annotations

import signal


def way_of_end(code: int) -> str:
    """How a process ended, in words: `code` is its exit code, or the number of the signal that ended it, negated."""
    if code >= 0:
        return f"with exit code {code}"
    try:
        return f"by signal {signal.Signals(-code).name}"
    except ValueError:  # of those for real-time use only the first and the last have a name
        return f"by signal {-code}"
