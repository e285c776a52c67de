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
        if element and field and _may_leave_bits(element, field) and tensor.elements and not tensor.segment:
            used = tensor.elements * element.bits % 8
            if used and tensor.count(field) == tensor.expected_entries:
                yield from _findings(tensor, element, field, used)


def _may_leave_bits(element: ElementType, field: str) -> bool:
    """Return whether a byte may have bits of several elements, so that the last byte may have more bits than these."""
    return element.bits in {2, 4, 6} and (field == "raw_data" or element.elements_per_entry > 1)


def _findings(tensor: StoredTensor, element: ElementType, field: str, used: int) -> Iterator[Finding]:
    """Yield the finding on a tensor whose last byte has set bits besides the `used` ones."""
    last = contents.last_byte(tensor) if field == "raw_data" else contents.last_entry(tensor)
    if last is None:
        return  # it cannot be read
    padding = last & 0xFF & ~((1 << used) - 1)
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
