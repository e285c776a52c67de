# SPDX-License-Identifier: Apache-2.0
"""Finds the end of a run of records of one field in bulk: a tensor may have a hundred million of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnx_lint.input.source import WINDOW_BYTES, Source
from onnx_lint.ir.tensors.strings import whole_records
from onnx_lint.ir.tensors.wire_values import PIECE_BYTES, VARINT_PIECE_BYTES
from onnx_lint.schema import wire

if TYPE_CHECKING:
    from numpy.typing import NDArray

_FIXED_BYTES: Final = {wire.WireType.FIXED32: 4, wire.WireType.FIXED64: 8}


def run_end(source: Source, start: int, end: int, field: wire.Field) -> int:
    """Return the end of the consecutive records of a repeated field without messages from `start` on.

    Only records with the shortest tag are counted, so the run may continue after the end; all counted records are whole
    and well formed. Without any the result is `start`, as it is without numpy: the caller then reads them one by one.
    """
    if not _has_numpy():
        return start
    tag = wire.encode_varint(field.number << 3 | field.wire_type)
    assert len(tag) == 1
    position = start
    most = WINDOW_BYTES  # a small first window, in case there are no records
    while position < end:
        window = source.read_at(position, min(most, end - position))
        taken = _taken(window, tag[0], field)
        if not taken:
            break
        position = wire.advanced(position, position + taken)
        if taken < len(window) // 2:
            break
        most = VARINT_PIECE_BYTES if field.wire_type == wire.WireType.VARINT else PIECE_BYTES
    return position


def _has_numpy() -> bool:
    try:
        import numpy  # noqa: F401 - only whether it can be imported
    except ModuleNotFoundError:
        return False
    return True


def _taken(window: bytes, tag: int, field: wire.Field) -> int:
    """Return the number of bytes of the records at the start of `window`."""
    if field.wire_type == wire.WireType.LEN:
        return whole_records(window, 0, tag)[1]
    import numpy as np

    data = np.frombuffer(window, np.uint8)
    if field.wire_type == wire.WireType.VARINT:
        return _taken_varints(data, tag)
    step = 1 + _FIXED_BYTES[field.wire_type]
    rows = data[: len(data) - len(data) % step].reshape(-1, step)
    return _until_first(rows[:, 0] != tag) * step


def _taken_varints(data: NDArray[Any], tag: int) -> int:
    import numpy as np

    pairs = data[: len(data) // 2 * 2].reshape(-1, 2)
    if (pairs[:, 0] == tag).all() and (pairs[:, 1] < 0x80).all():
        return pairs.size
    ends = np.flatnonzero(data < 0x80)
    ends = ends[: len(ends) // 2 * 2]
    lengths = np.diff(ends, prepend=-1)
    tags, values = ends[::2], ends[1::2]
    wrong = (lengths[::2] != 1) | (data[tags] != tag) | (lengths[1::2] > wire.MAX_VARINT_BYTES)
    records = _until_first(wrong)
    return int(values[records - 1]) + 1 if records else 0


def _until_first(wrong: NDArray[Any]) -> int:
    """Return the number of entries before the first that is set."""
    return int(wrong.argmax()) if wrong.any() else len(wrong)
