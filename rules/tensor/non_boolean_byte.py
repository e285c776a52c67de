# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from onnx_lint.model import Model, StoredTensor, contents
from onnx_lint.rule import Finding, on_elements, rule
from onnx_lint.wording import and_others


@rule(clause="TEN-10", since="0.1.0", about=Model.judged_tensors, needs="tensor")
def non_boolean_byte(model: Model) -> Iterator[Finding]:
    r"""A Boolean in raw_data is neither 0 nor 1.

    ### How to fix

    Write 1 for true. In NumPy, convert with `array != 0` or `array.astype(bool)` before
    `onnx.numpy_helper.from_array`.

    ### Example

    ```
    initializer { name: "mask" data_type: 9 dims: 2 raw_data: "\001\377" }
    ```

    Corrected:

    ```
    initializer { name: "mask" data_type: 9 dims: 2 raw_data: "\001\001" }
    ```

    ### Why it matters

    Compilers may assume that a Boolean is 0 or 1. With another byte, a comparison or an index that is computed from
    it is wrong in some consumers.

    ### Details

    - Each element must be one byte: 1 for true, 0 for false.
    - The values of tensors with external data are read from the file.
    - There is one finding for each tensor; it names the first such byte and the number of others.
    - `out-of-range-element` reports Booleans in `int32_data`.
    """
    for tensor in model.judged_tensors:
        if not tensor.type or tensor.type.name != "bool" or tensor.field != "raw_data":
            continue
        found = contents.non_boolean_bytes(tensor)
        if found:
            bytes_ = partial(contents.all_non_boolean_bytes, tensor)
            yield on_elements(partial(_finding, tensor), found.first, found.count, bytes_)


def _finding(tensor: StoredTensor, byte: contents.Outlier, count: int) -> Finding:
    index, value = byte
    what = f"byte {index} of {tensor.name_of('raw_data')} of {tensor.describe()}"
    return Finding(
        tensor.place_of("raw_data"),
        f"{what} is {value}, which is not a bool{and_others(count)}",
        allowed="0 or 1",
        offset=tensor.offset,
        subject=tensor.proto.name,
        inner=f"byte {index}",
    )
