# SPDX-License-Identifier: Apache-2.0
"""Limits on the time and memory for linting one model."""

from __future__ import annotations

import os
import time
from typing import Final

from onnx_lint.common.record import Record

LOOK_SECONDS: Final = 0.05
"""The interval at which a process under limits is checked."""


PROGRAM_BYTES: Final = 200_000_000
"""More memory than the program takes before it reads a model, with all rules, operators and plugins."""

_UNITS: Final = (("GiB", 1 << 30), ("MiB", 1 << 20), ("MB", 10**6))


class ModelLimits(Record):
    """The limits for linting one model; None for no limit."""

    seconds: float | None = None
    memory: int | None = None
    """The memory in bytes that the model may take, beside what the program takes without one."""

    @property
    def are_any(self) -> bool:
        """True if there is any limit."""
        return self.seconds is not None or self.memory is not None

    def exceeded(self, taken: int, since: float) -> str | None:
        """Return a description of the limit that is exceeded; None if there is none.

        `taken`: the memory of the process in bytes. `since`: the start, a time of `time.monotonic`.
        """
        if self.memory is not None and taken > self.memory + PROGRAM_BYTES:
            unit, size = next((each for each in _UNITS if self.memory % each[1] == 0), ("bytes", 1))
            return f"the model took more than {self.memory // size:,} {unit} of memory (option --limit memory)"
        if self.seconds is not None and time.monotonic() - since > self.seconds:
            unit = "second" if self.seconds == 1 else "seconds"
            return f"the model took longer than {self.seconds:g} {unit} (option --time-limit)"
        return None


NO_LIMITS: Final = ModelLimits()


def resident(process: int) -> int:
    """Return the memory of a process in bytes; 0 if it has ended, or the system is not Linux."""
    try:
        with open(f"/proc/{process}/statm", "rb") as stream:
            return int(stream.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0
