# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, contents
from onnx_lint.rule import Finding, rule


@rule(clause="TEN-10", since="0.1.0", about=Model.judged_tensors, needs="tensor")
def non_boolean_byte(model: Model) -> Iterator[Finding]:
    r"""A Boolean in raw_data is neither 0 nor 1.

    ### How to fix

    Write 1 for true. In NumPy `array != 0`, or `array.astype(bool)`, makes it so before
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

    Compilers may assume that a Boolean is 0 or 1. With another byte a comparison or an index computed from it goes
    wrong, in one consumer and not in the next.

    ### Details

    One byte an element: 1 for true, 0 for false. Booleans in int32_data are reported by `out-of-range-element`. One
    finding a tensor names the first such byte and counts the others. Values in a file beside the model are read
    there.
    """
    for tensor in model.judged_tensors:
        if not tensor.type or tensor.type.name != "bool" or tensor.field != "raw_data":
            continue
        found = contents.non_boolean_bytes(tensor)
        if found:
            byte = f"byte {found.index} of {tensor.name_of('raw_data')} of {tensor.describe()}"
            yield Finding(
                tensor.place_of("raw_data"),
                f"{byte} is {found.value}, which is not a bool{found.others}",
                allowed="0 or 1",
                offset=tensor.offset,
                subject=tensor.proto.name,
            )
