# SPDX-License-Identifier: Apache-2.0
"""How long a process may lint one model, and in how much memory."""

from __future__ import annotations

import os
import time
from typing import Final

from onnx_lint.common.record import Record

LOOK_SECONDS: Final = 0.05
"""How often somebody looks at a process that lints a model under limits."""


class ModelLimits(Record):
    """What the lint of one model may take; None for as much as it takes."""

    seconds: float | None = None
    megabytes: int | None = None
    """In units of 1,000,000 bytes."""

    @property
    def are_any(self) -> bool:
        """Whether anything is limited."""
        return self.seconds is not None or self.megabytes is not None

    def exceeded(self, taken: int, since: float) -> str | None:
        """Return in words which limit the lint of a model exceeds; None for none.

        `taken`: the bytes of memory of its process. `since`: when it began, a time of `time.monotonic`.
        """
        if self.megabytes is not None and taken > self.megabytes * 1_000_000:
            return f"the model took more than {self.megabytes:,} MB of memory (option --memory-limit)"
        if self.seconds is not None and time.monotonic() - since > self.seconds:
            return f"the model took longer than {self.seconds:g} seconds (option --time-limit)"
        return None


NO_LIMITS: Final = ModelLimits()


def resident(process: int) -> int:
    """Return how many bytes of memory a process takes up; 0 where it has ended, or the system is not Linux."""
    try:
        with open(f"/proc/{process}/statm", "rb") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0
