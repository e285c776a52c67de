# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from onnx_lint.model import MAX_INT64, Model, StoredTensor, has_suspect_tensors
from onnx_lint.rule import Finding, elements_of, rule


@rule(clause="TEN-2", since="0.1.0", about=has_suspect_tensors, needs="tensor", security=("CWE-190", "CWE-789"))
def invalid_tensor_shape(model: Model) -> Iterator[Finding]:
    r"""A tensor has a negative dimension, or more elements than 64 bits can count.

    ### How to fix

    Write the shape of the stored values. A tensor cannot have an unknown dimension, and -1 is not a size.

    ### Example

    ```
    initializer { name: "w" data_type: 1 dims: -1 raw_data: "\000\000\200\077" }
    ```

    Corrected:

    ```
    initializer { name: "w" data_type: 1 dims: 1 raw_data: "\000\000\200\077" }
    ```

    ### Why it matters

    The dimensions say how much memory the values need. A consumer that multiplies them without a check allocates too
    little memory and writes beyond it.

    ### Details

    - Each dimension must be at least 0, and their product must be at most 2^63 - 1.
    - Tensors with external data are checked as well.
    - With a dimension of 0 the product is 0, whatever the others are. onnx.checker multiplies from the left, and
      refuses the tensor if the product overflows before the 0.
    """
    for tensor in model.tensors.miscounted:
        if tensor.elements is None or min(tensor.proto.dims, default=0) < 0:
            yield _finding(tensor, [index for index, dim in enumerate(tensor.proto.dims) if dim < 0])


def _finding(tensor: StoredTensor, negative: Sequence[int]) -> Finding:
    """Return the finding about the negative dimensions, or about the number of elements if there are none."""
    place = tensor.place.at("dims")
    message = f"the dimensions of {tensor.describe()} make more than {MAX_INT64} elements"
    if negative:
        first = negative[0]
        place = tensor.place.at("dims", first)
        message = f"dimension {first} of {tensor.describe()} is {tensor.proto.dims[first]}, but must be at least 0"
    whole = Finding(
        place,
        message,
        allowed="dimensions of 0 or more whose product fits 64 bits",
        offset=tensor.offset,
        subject=tensor.proto.name,
        inner="" if place.index is not None else "whole",
    )
    if not negative:
        return whole
    return elements_of(whole, negative, partial(_finding, tensor), lambda index: (tensor.place.at("dims", index), ""))
