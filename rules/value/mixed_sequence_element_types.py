# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model
from onnx_lint.rule import Finding, Related, rule


@rule(clause="VAL-6", since="0.1.0")
def mixed_sequence_element_types(model: Model) -> Iterator[Finding]:
    """The tensors of a serialized sequence are of different element types.

    ### Why it matters

    A sequence has one type; a consumer that gets it cannot say which.

    ### What is allowed

    One `data_type` for all tensors of a sequence, dense or sparse. Shapes may differ.

    ### Example

    A sequence of a FLOAT and an INT64 tensor.
    """
    for value, place in model.values():
        if value.DESCRIPTOR.name != "SequenceProto":
            continue
        dense = [tensor.data_type for tensor in value.tensor_values]
        sparse = [tensor.values.data_type for tensor in value.sparse_tensor_values]
        for field, types in (("tensor_values", dense), ("sparse_tensor_values", sparse)):
            other = next((index for index, data_type in enumerate(types) if data_type != types[0]), None)
            if other is not None:
                yield Finding(
                    place.at(field, other),
                    f"element {other} of the sequence has element type {types[other]}, element 0 has {types[0]}",
                    related=(Related(place.at(field, 0), "element 0"),),
                    allowed="one element type",
                )
