# SPDX-License-Identifier: Apache-2.0
"""The error that a file is beyond a limit of onnx-lint and therefore not checked: see onnx_lint.input.limits."""

from __future__ import annotations

from typing import Final

from onnx_lint.input.limits import Limits, refusal, size_in_words
from onnx_lint.input.source import ReadError, Source
from onnx_lint.ir.documents.kinds import describe_kind

MOST_OF_BYTE: Final = 2_505
"""The most memory that a byte of a message is estimated to need: an empty graph has two bytes."""


class NotCheckedError(ReadError):
    """A file beyond a limit; the text names the limit, and the value that would do."""


def is_within(size: int, limits: Limits) -> bool:
    """Return whether a message of so many bytes cannot be beyond the limit on memory, whatever is in it."""
    return size * MOST_OF_BYTE <= limits.memory


def beyond(name: str, limits: Limits, actual: str, needed: int | None) -> NotCheckedError:
    """The error that the limit `name` is reached: `actual` says what there is, `needed` is the value that would do."""
    return NotCheckedError(refusal(name, limits, actual, needed))


def beyond_memory(kind: str, limits: Limits, needed: int) -> NotCheckedError:
    """The error that a document of this kind needs more memory than the limit."""
    actual = f"{describe_kind(kind)} needs about {size_in_words(needed)} of memory"
    return beyond("memory", limits, actual, needed)


def beyond_fields(source: Source, limits: Limits) -> NotCheckedError:
    """The error that too many fields would have to be read one by one."""
    # A field takes up two bytes, or has a group around it.
    return beyond("fields", limits, "the file has too many fields to read one by one", source.size)


def check_size(source: Source, name: str, limits: Limits, *, is_text: bool) -> None:
    """Raise NotCheckedError for a file that is too large to be read at all. `name`: the file's, `-` for a stream."""
    for limit in ("file_bytes", "text_bytes") if is_text else ("file_bytes",):
        if source.size > getattr(limits, limit):
            # A stream is read no further than one byte beyond the limit.
            is_cut = name == "-" and limit == "file_bytes"
            what = "bytes of text" if limit == "text_bytes" else "bytes"
            actual = f"the file has {'at least ' if is_cut else ''}{source.size:,} {what}"
            raise beyond(limit, limits, actual, None if is_cut else source.size)
