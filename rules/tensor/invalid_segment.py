# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onnx_lint.model import Model, StoredTensor, has_suspect_tensors
from onnx_lint.rule import Finding, rule


@rule(clause="TEN-17", since="0.1.0", about=has_suspect_tensors, needs="tensor")
def invalid_segment(model: Model) -> Iterator[Finding]:
    """The segment of a tensor does not fit the tensor, or not the values that are stored.

    ### How to fix

    Write the whole tensor, without `segment`: no consumer reads tensors in parts.

    ### Example

    ```
    initializer { name: "w" data_type: 1 dims: 8 segment { begin: 4 end: 2 } float_data: 1 float_data: 2 }
    ```

    Corrected:

    ```
    initializer { name: "w" data_type: 1 dims: 2 float_data: 1 float_data: 2 }
    ```

    ### Why it matters

    A very large tensor may be stored in parts, and `segment` says which part a message has. If it is wrong, the
    tensor cannot be put together.

    ### Details

    - `begin` must be at least 0, and `end` must be neither before it nor beyond the end of the tensor.
    - The number of stored values must be the length of the segment.
    - The specification does not say whether the numbers are elements or bytes, nor whether the end is included, and
      no consumer settles it. A segment is reported only if it fits none of the four readings.
    - onnx.checker and ONNX Runtime refuse a tensor that has only a part, also if the segment is right.
    """
    for tensor in model.tensors.miscounted:
        if tensor.segment is None or tensor.is_external or not tensor.elements or len(tensor.fields) > 1:
            continue
        wrong, complaint = _complaint(tensor, *tensor.segment)
        if complaint:
            begin, end = tensor.segment
            yield Finding(
                tensor.place.at("segment"),
                f"the segment {begin} to {end} of {tensor.describe()} {complaint}",
                allowed="a part of the tensor that is as long as the values that are stored",
                offset=tensor.offset,
                subject=tensor.proto.name,
                inner=wrong,
            )


def _complaint(tensor: StoredTensor, begin: int, end: int) -> tuple[str, str]:
    """Return what is wrong with a segment, and the words for it; two empty texts if nothing is."""
    if begin < 0:
        return "begin", "begins before the tensor"
    if end < begin:
        return "order", "ends before it begins"
    readings = _readings(tensor, begin, end)
    if readings is None:
        return _RIGHT
    if not readings:
        return "end", f"reaches beyond {tensor.describe_type()}"
    field = tensor.allowed_field
    if field is None:
        # Without any field nothing is stored, which fits an empty part only; the field itself has rules of its own.
        return _RIGHT
    if tensor.count(field) in readings:
        return _RIGHT
    return "length", f"does not fit the {tensor.describe_count(field)} of {field}"


_RIGHT: Final = ("", "")


def _readings(tensor: StoredTensor, begin: int, end: int) -> set[int] | None:
    """Return the numbers of bytes or entries of the segment, for each reading in which it is within the tensor.

    None where the element type is not known and so nothing can be said.
    """
    element, elements, field = tensor.type, tensor.elements, tensor.allowed_field
    if element is None or elements is None:
        return None
    lengths = {length for length in (end - begin, end - begin + 1) if begin + length <= elements}
    stored = element.bytes_of if field == "raw_data" else element.entries_of
    readings = {stored(length) for length in lengths}
    if field == "raw_data":
        size = element.bytes_of(elements)
        readings |= {length for length in (end - begin, end - begin + 1) if begin + length <= size}
    return readings
