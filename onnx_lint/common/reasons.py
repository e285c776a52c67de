# SPDX-License-Identifier: Apache-2.0
"""The reasons of exceptions, for messages. A module of its own, since what reports a crash needs it and little else."""

from __future__ import annotations


def reason_of(error: BaseException) -> str:
    """Return why something failed: what the system says, such as `Permission denied`, or else the text of the error."""
    return str(getattr(error, "strerror", None) or error)
