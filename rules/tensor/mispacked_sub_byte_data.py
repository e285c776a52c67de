# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from onnx_lint.model import Model, StoredTensor, contents, has_suspect_tensors
from onnx_lint.rule import Finding, on_elements, rule
from onnx_lint.spec.element_types import ElementType
from onnx_lint.wording import and_others


@rule(clause="TEN-13", since="0.1.0", about=has_suspect_tensors, needs="tensor")
def mispacked_sub_byte_data(model: Model) -> Iterator[Finding]:
    """Entries of int32_data do not contain two 4-bit or four 2-bit elements each.

    ### How to fix

    Pack two 4-bit elements, or four 2-bit elements, into the low byte of each entry, the first one in the lowest
    bits. `onnx.helper.make_tensor` and `onnx.numpy_helper.from_array` do it.

    ### Example

    ```
    initializer { name: "w" data_type: 22 dims: 4 int32_data: [1, 2, 3, 4] }
    ```

    Corrected:

    ```
    initializer { name: "w" data_type: 22 dims: 4 int32_data: [33, 67] }
    ```

    ### Why it matters

    Readers take two 4-bit or four 2-bit elements from the low byte of each entry. Elements that are packed in another
    way appear at other positions, or not at all.

    ### Details

    - A 4-bit type must have half as many entries as elements, and a 2-bit type a quarter, rounded up.
    - Only the low byte of an entry is used.
    - Reported here: one element an entry, entries that use all 32 bits, and bits above the low byte.
    - An entry from -128 to -1 (a low byte with its sign extended) is not reported: onnx 1.16 writes int4 like this,
      and readers cut off the upper bits.
    - `tensor-size-mismatch` reports any other number of entries.
    - onnx.checker accepts eight 4-bit or sixteen 2-bit elements in an entry, and therefore all of these. The schema
      requires two and four, and every version of the onnx package writes and reads these.
    """
    for tensor in model.tensors.unproved:
        element = tensor.type
        if not element or element.elements_per_entry == 1 or tensor.field != element.field or not tensor.elements:
            continue
        if tensor.is_packed_otherwise:
            yield _finding(tensor, element, _complaint(tensor, element))
            continue
        assert element.entry_range is not None
        found = contents.outside(tensor, element.field, *element.entry_range)
        if found:
            entries = partial(contents.all_outside, tensor, element.field, *element.entry_range)
            yield on_elements(partial(_of_entry, tensor, element), found.first, found.count, entries)


def _of_entry(tensor: StoredTensor, element: ElementType, entry: contents.Outlier, count: int) -> Finding:
    index, value = entry
    what = f"entry {index} of int32_data of {tensor.describe()}"
    return _finding(tensor, element, f"{what} is {value}, beyond the low byte{and_others(count)}", index)


def _complaint(tensor: StoredTensor, element: ElementType) -> str:
    stored = tensor.describe_count(element.field)
    return (
        f"int32_data of {tensor.describe()} has {stored}, but {tensor.describe_type()} needs "
        f"{tensor.expected_entries:,} with {element.elements_per_entry} elements each"
    )


def _finding(tensor: StoredTensor, element: ElementType, message: str, index: int | None = None) -> Finding:
    return Finding(
        tensor.place.at("int32_data", index),
        message,
        allowed=f"{element.elements_per_entry} elements an entry, in its low byte",
        offset=tensor.offset,
        subject=tensor.proto.name,
        inner="" if index is not None else "whole",
    )
