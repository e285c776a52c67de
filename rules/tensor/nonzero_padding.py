# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, StoredTensor, contents
from onnx_lint.rule import Finding, rule
from onnx_lint.spec.element_types import ElementType


@rule(clause=("TEN-14", "TEN-15"), since="0.1.0", about=Model.judged_tensors, needs="tensor")
def nonzero_padding(model: Model) -> Iterator[Finding]:
    r"""Bits after the last element of a tensor are set.

    ### How to fix

    Set the bits after the last element to 0.

    ### Example

    ```
    initializer { name: "w" data_type: 22 dims: 1 raw_data: "\041" }
    ```

    Corrected:

    ```
    initializer { name: "w" data_type: 22 dims: 1 raw_data: "\001" }
    ```

    ### Why it matters

    No value is read from these bits, but two files of the same tensor may differ. Set bits often mean that the number
    of elements is wrong.

    ### Details

    - Elements of 2, 4 or 6 bits may leave bits of the last byte unused; these bits must be 0.
    - For 6-bit types the schema requires it. For 4-bit and 2-bit types only its examples show it, and the finding is
      a warning.
    - In `int32_data`, the low byte of the last entry is checked.
    - The values of tensors with external data are read from the file.
    """
    for tensor in model.judged_tensors:
        element, field = tensor.type, tensor.allowed_field
        if not element or element.bits not in {2, 4, 6} or not field or not tensor.elements or tensor.segment:
            continue
        if element.elements_per_entry == 1 and field != "raw_data":
            continue  # one element an entry, so nothing is left over
        used = tensor.elements * element.bits % 8
        if used and tensor.count(field) == tensor.expected_entries:
            yield from _findings(tensor, element, field, used)


def _findings(tensor: StoredTensor, element: ElementType, field: str, used: int) -> Iterator[Finding]:
    last = contents.last_byte(tensor) if field == "raw_data" else contents.last_entry(tensor)
    mask = 0xFF >> used << used
    padding = (last or 0) & mask
    if padding:
        what = f"byte of {tensor.name_of(field)}" if field == "raw_data" else "entry of int32_data"
        yield Finding(
            tensor.place_of(field),
            f"the last {what} of {tensor.describe()} has bits {padding:#04x} set after the last {element.name}",
            clause="TEN-15" if element.bits == 6 else "TEN-14",
            allowed="zeros",
            offset=tensor.offset,
            subject=tensor.proto.name,
        )
