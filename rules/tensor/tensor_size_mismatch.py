# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onnx_lint.ir.tensors.stored_tensor import SizeMismatch
from onnx_lint.model import Model, StoredTensor, has_suspect_tensors
from onnx_lint.rule import Finding, rule


@rule(clause=("TEN-3", "TEN-16"), since="0.1.0", about=has_suspect_tensors, needs="tensor", security=("CWE-125",))
def tensor_size_mismatch(model: Model) -> Iterator[Finding]:
    """A tensor has fewer or more values than its dimensions say.

    ### How to fix

    Write the shape that the values have, or write all values. A scalar has no dimensions and one value.

    ### Example

    ```
    initializer { name: "w" data_type: 1 dims: 3 float_data: 1 float_data: 2 }
    ```

    Corrected:

    ```
    initializer { name: "w" data_type: 1 dims: 2 float_data: 1 float_data: 2 }
    ```

    ### Why it matters

    With too few values, a consumer reads beyond the end of the data. With too many, the dimensions or the values are
    wrong.

    ### Details

    - The number of values must be the product of the dimensions; a tensor without dimensions is a scalar and has one
      value.
    - `raw_data` must have the width of the type for each element, rounded up to whole bytes: four bytes fit 7 or 8
      elements of int4, 13 to 16 of int2, 5 of float6e2m3.
    - A typed field must have one entry for each element, two for a complex number, and one for two 4-bit or four 2-bit
      elements, rounded up.
    - `data-in-empty-tensor` reports values in a tensor without elements.
    - `mispacked-sub-byte-data` reports 4-bit and 2-bit data that is obviously packed in another way.
    - `invalid-segment` reports a tensor with a segment and a wrong number of values.
    - onnx.checker accepts too many values, ONNX Runtime does not.
    """
    for tensor in model.tensors.miscounted:
        wrong = tensor.wrong_size
        if wrong is not None:
            yield _finding(tensor, wrong)


_UNITS: Final = {"raw_data": ("byte", "bytes"), "string_data": ("string", "strings")}


def _finding(tensor: StoredTensor, wrong: SizeMismatch) -> Finding:
    field, expected = wrong.field, wrong.expected_entries
    one, several = _UNITS.get(field, ("entry", "entries"))
    needed = f"{expected:,} {one if expected == 1 else several}"
    return Finding(
        tensor.place.at(field),
        f"{field} of {tensor.describe()} has {tensor.describe_count(field)}, "
        f"but {tensor.describe_type()} needs {expected:,}",
        clause="TEN-16" if wrong.element.is_complex and field != "raw_data" else "TEN-3",
        allowed=f"{needed}, or a type and dimensions that {tensor.describe_count(field)} fit",
        offset=tensor.offset,
        subject=tensor.proto.name,
    )
