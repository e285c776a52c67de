# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ElementType, Model, StoredTensor, contents, has_suspect_tensors
from onnx_lint.rule import Finding, rule

_PACKED_BITS = 6
"""Types of fewer bits share entries, which mispacked-sub-byte-data judges; of this width each element has its own."""


@rule(clause=("TEN-11", "TEN-12", "TEN-15"), since="0.1.0", about=has_suspect_tensors, needs="tensor")
def out_of_range_element(model: Model) -> Iterator[Finding]:
    """A value is in a wider field and does not fit the tensor's element type.

    ### How to fix

    Write a number that the element type has; 200 fits UINT8 (2) and not INT8 (3). A quantized value has to be clipped
    to the range before it is stored.

    ### Example

    ```
    initializer { name: "zero_point" data_type: 3 int32_data: 200 }
    ```

    Corrected:

    ```
    initializer { name: "zero_point" data_type: 2 int32_data: 200 }
    ```

    ### Why it matters

    int32_data and uint64_data hold narrower types too. A consumer that reads an entry into the element type cuts off
    its upper bits, so the model computes with another number than the one that is written.

    ### Details

    In int32_data: -128 to 127 for int8, 0 to 255 for uint8 and likewise for 16 bits; 0 or 1 for bool; for float16 and
    bfloat16 the bit pattern as an unsigned number, 0 to 65535, for 8-bit floating point 0 to 255, for 6-bit floating
    point 0 to 63. In uint64_data: 0 to 4294967295 for uint32. A float16 whose bits were extended as a signed number is
    negative and not allowed. One finding a tensor names the first such entry and counts the others.
    """
    for tensor in model.tensors.unproved:
        element = tensor.type
        if not element or not element.entry_range or element.bits < _PACKED_BITS or tensor.field != element.field:
            continue
        found = contents.outside(tensor, element.field, *element.entry_range)
        if found:
            yield _finding(tensor, element, found)


def _finding(tensor: StoredTensor, element: ElementType, found: contents.Outliers) -> Finding:
    assert element.entry_range is not None
    least, greatest = element.entry_range
    entry = f"entry {found.index} of {element.field} of {tensor.describe()}"
    return Finding(
        tensor.place.at(element.field, found.index),
        f"{entry} is {found.value}, which does not fit {element.name}{found.others}",
        clause=_clause(element),
        allowed=f"{least} to {greatest}",
        offset=tensor.offset,
        subject=tensor.proto.name,
    )


def _clause(element: ElementType) -> str:
    if element.bits == _PACKED_BITS:
        return "TEN-15"
    return "TEN-12" if "float" in element.name else "TEN-11"
