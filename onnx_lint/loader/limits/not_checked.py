# SPDX-License-Identifier: Apache-2.0
"""The error that a file is beyond a limit of onnx-lint and therefore not checked: see onnx_lint.input.limits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from onnx_lint.common.deadline import Deadline, OutOfTimeError, is_set
from onnx_lint.input.limits import Limits, refusal, size_in_words
from onnx_lint.input.source import ReadError, Source
from onnx_lint.ir.documents.kinds import describe_kind

MAX_MEMORY_PER_INPUT_BYTE: Final = 4_005
"""The most memory that a byte of a message is estimated to need: an empty graph of a function's node has two bytes."""


class NotCheckedError(ReadError):
    """A file beyond a limit; the text names the limit, and the value that would do."""


def is_within(size: int, limits: Limits) -> bool:
    """Return whether a message of that many bytes cannot exceed the limit on memory with any content."""
    return size * MAX_MEMORY_PER_INPUT_BYTE <= limits.memory


def beyond(name: str, limits: Limits, actual: str, needed: int | None) -> NotCheckedError:
    """Return the error that the limit `name` is exceeded:

    `actual` describes the file, `needed` is a sufficient value.
    """
    return NotCheckedError(refusal(name, limits, actual, needed))


def beyond_memory(kind: str, limits: Limits, needed: int, *, is_least: bool = False) -> NotCheckedError:
    """Return the error that a document of this kind needs more memory than the limit.

    `is_least`: whether it may need more than `needed`.
    """
    actual = f"{describe_kind(kind)} needs {'at least' if is_least else 'about'} {size_in_words(needed)} of memory"
    return beyond("memory", limits, actual, None if is_least else needed)


def beyond_fields(limits: Limits) -> NotCheckedError:
    """Return the error that too many fields would have to be read one by one."""
    return beyond("fields", limits, "the file has too many fields to read one by one", None)


def check_size(source: Source, limits: Limits, *, is_text: bool) -> None:
    """Raise NotCheckedError for a file that is too large to be read at all."""
    for limit in ("file_bytes", "text_bytes") if is_text else ("file_bytes",):
        if source.size > getattr(limits, limit):
            # Of a stream no more is kept than shows that there is more.
            is_cut = limit == "file_bytes" and getattr(source, "is_copy", False)
            what = "bytes of text" if limit == "text_bytes" else "bytes"
            count = f"{'at least ' if is_cut else ''}{source.size:,} {what}"
            raise beyond(limit, limits, f"the file has {count}", None if is_cut else source.size)


@contextmanager
def within_time(limits: Limits) -> Iterator[None]:
    """Bound the processor time of the block. Raises NotCheckedError if it needs more than the limit.

    Inside another such block it changes nothing: all work on a file has one limit.
    """
    if is_set() or not limits.processor_seconds:
        yield
        return
    try:
        with Deadline(limits.processor_seconds):
            yield
    except OutOfTimeError as error:
        raise NotCheckedError(_refusal_of_time(limits.processor_seconds, error.rule)) from None


def _refusal_of_time(seconds: int, rule: str | None) -> str:
    """Return the reason why a file is not checked that took so much processor time. `rule`: the one that ran then."""
    allowed = f"{seconds:,} second{'' if seconds == 1 else 's'}"
    where = f"; it was over in the rule {rule}" if rule is not None else ""
    return (
        f"the check takes more processor time than the limit processor_seconds of {allowed} "
        f"(option --limit processor_seconds=N, 0 for no limit){where}"
    )
