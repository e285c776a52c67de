# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from onnx_lint.model import Model, StoredTensor, contents, has_suspect_tensors
from onnx_lint.rule import Finding, on_elements, rule
from onnx_lint.spec.element_types import ElementType
from onnx_lint.wording import and_others

_PACKED_BITS = 6
"""Types of fewer bits share entries, which mispacked-sub-byte-data judges; of this width each element has its own."""


@rule(clause=("TEN-11", "TEN-12", "TEN-15"), since="0.1.0", about=has_suspect_tensors, needs="tensor")
def out_of_range_element(model: Model) -> Iterator[Finding]:
    """A value is in a wider field and does not fit the tensor's element type.

    ### How to fix

    - Write a number that the element type has, or change the type: 200 fits UINT8 (2) and not INT8 (3).
    - Clip a quantized value to the range before you store it.

    ### Example

    ```
    initializer { name: "zero_point" data_type: 3 int32_data: 200 }
    ```

    Corrected:

    ```
    initializer { name: "zero_point" data_type: 2 int32_data: 200 }
    ```

    ### Why it matters

    `int32_data` and `uint64_data` also store narrower types. A consumer that reads an entry into the element type
    cuts off its upper bits and computes with another number.

    ### Details

    - `int32_data`, int8 and int16: the range of the type, -128 to 127 or -32768 to 32767.
    - `int32_data`, uint8 and uint16: the range of the type, 0 to 255 or 0 to 65535.
    - `int32_data`, bool: 0 or 1.
    - `int32_data`, floating point: the bit pattern as an unsigned number, 0 to 65535 for float16 and bfloat16, 0 to
      255 for 8-bit and 0 to 63 for 6-bit types.
    - `uint64_data`, uint32: 0 to 4294967295.
    - A float16 whose bits were extended as a signed number is negative, and is reported.
    - There is one finding for each tensor; it names the first such entry and the number of others.
    """
    for tensor in model.tensors.unproved:
        element = tensor.type
        if not element or not element.entry_range or element.bits < _PACKED_BITS or tensor.field != element.field:
            continue
        found = contents.outside(tensor, element.field, *element.entry_range)
        if found:
            entries = partial(contents.all_outside, tensor, element.field, *element.entry_range)
            yield on_elements(
                partial(_finding, tensor, element, element.entry_range), found.first, found.count, entries
            )


def _finding(
    tensor: StoredTensor, element: ElementType, entry_range: tuple[int, int], entry: contents.Outlier, count: int
) -> Finding:
    (least, greatest), (index, value) = entry_range, entry
    what = f"entry {index} of {element.field} of {tensor.describe()}"
    return Finding(
        tensor.place.at(element.field, index),
        f"{what} is {value}, which does not fit {element.name}{and_others(count)}",
        clause=_clause(element),
        allowed=f"{least} to {greatest}",
        offset=tensor.offset,
        subject=tensor.proto.name,
    )


def _clause(element: ElementType) -> str:
    if element.bits == _PACKED_BITS:
        return "TEN-15"
    return "TEN-12" if "float" in element.name else "TEN-11"
