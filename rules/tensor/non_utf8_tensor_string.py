# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from onnx_lint.ir.tensors.strings import WrongString
from onnx_lint.model import Model, StoredTensor, has_suspect_tensors
from onnx_lint.rule import Finding, on_elements, rule
from onnx_lint.wording import and_others


@rule(clause="TEN-8", since="0.1.0", about=has_suspect_tensors, needs="tensor")
def non_utf8_tensor_string(model: Model) -> Iterator[Finding]:
    r"""A string in a tensor is not UTF-8.

    ### How to fix

    Encode the text as UTF-8. Store bytes that are not text in a tensor of UINT8.

    ### Example

    ```
    initializer { name: "labels" data_type: 8 dims: 1 string_data: "\377" }
    ```

    Corrected:

    ```
    initializer { name: "labels" data_type: 8 dims: 1 string_data: "\303\277" }
    ```

    ### Why it matters

    Strings are text. A consumer that decodes other bytes fails, or shows wrong characters.

    ### Details

    - Each entry of `string_data` must be strict UTF-8: no overlong forms and no surrogates.
    - There is one finding for each tensor; it names the first such string and the number of others.
    """
    for tensor in model.tensors.unproved:
        if tensor.allowed_field == "string_data" and tensor.strings.invalid.count:
            found = tensor.strings.invalid
            yield on_elements(partial(_finding, tensor), found.first, found.count, found.listed)


def _finding(tensor: StoredTensor, found: WrongString, count: int) -> Finding:
    return Finding(
        tensor.place.at("string_data", found.index),
        f"string {found.index} of {tensor.describe()} is not UTF-8 at byte {found.byte}{and_others(count)}",
        allowed="UTF-8",
        offset=found.offset,
        length=found.length,
        subject=tensor.proto.name,
    )
