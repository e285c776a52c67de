# SPDX-License-Identifier: Apache-2.0
"""The limit on the processor time of a file: see onnx_lint.common.deadline."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from onnx_lint.common.deadline import OutOfTimeError, Within, is_set
from onnx_lint.input.limits import Limits
from onnx_lint.loader.limits.not_checked import NotCheckedError

_LIMIT: Final = "processor_seconds"


@contextmanager
def within_time(limits: Limits) -> Iterator[None]:
    """Bound the processor time of the block. Raises NotCheckedError if it needs more than the limit.

    Inside another such block it changes nothing: all work on a file has one limit.
    """
    if is_set() or not limits.processor_seconds:
        yield
        return
    try:
        with Within(limits.processor_seconds):
            yield
    except OutOfTimeError:
        raise NotCheckedError(refusal_of_time(limits)) from None


def refusal_of_time(limits: Limits) -> str:
    """Return the reason why a file is not checked whose check took too much processor time."""
    allowed = limits.processor_seconds
    unit = "second" if allowed == 1 else "seconds"
    return (
        f"the check takes more processor time than the limit {_LIMIT} of {allowed:,} {unit} "
        f"(option --limit {_LIMIT}=N, 0 for no limit)"
    )
