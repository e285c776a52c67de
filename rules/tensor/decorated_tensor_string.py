# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from onnx_lint.ir.tensors.strings import WrongString
from onnx_lint.model import Model, StoredTensor, has_suspect_tensors
from onnx_lint.rule import Finding, on_elements, rule
from onnx_lint.wording import and_others


@rule(clause="TEN-9", since="0.1.0", about=has_suspect_tensors, needs="tensor")
def decorated_tensor_string(model: Model) -> Iterator[Finding]:
    r"""A string in a tensor begins with a byte order mark or ends in NUL.

    ### How to fix

    Write only the bytes of the text: no byte order mark before it, and no NUL, which C needs, after it.

    ### Example

    ```
    initializer { name: "labels" data_type: 8 dims: 1 string_data: "cat\000" }
    ```

    Corrected:

    ```
    initializer { name: "labels" data_type: 8 dims: 1 string_data: "cat" }
    ```

    ### Why it matters

    In a tensor, the mark and the NUL are characters of the string. The string then differs from the intended one: a
    label is not found, a key has no entry.

    ### Details

    - No string may begin with U+FEFF or end in NUL.
    - Both are allowed inside a string.
    - There is one finding for each tensor and kind; it names the first such string and the number of others.
    """
    for tensor in model.tensors.unproved:
        if tensor.allowed_field != "string_data":
            continue
        strings = tensor.strings
        for found, fault in ((strings.marked, "begins with a byte order mark"), (strings.terminated, "ends in NUL")):
            if found.count:
                yield on_elements(partial(_finding, tensor, fault), found.first, found.count, found.listed)


def _finding(tensor: StoredTensor, fault: str, found: WrongString, count: int) -> Finding:
    return Finding(
        tensor.place.at("string_data", found.index),
        f"string {found.index} of {tensor.describe()} {fault}{and_others(count)}",
        allowed="no byte order mark in front and no NUL at the end",
        offset=found.offset,
        length=found.length,
        subject=tensor.proto.name,
    )
