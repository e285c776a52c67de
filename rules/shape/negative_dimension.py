# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import TENSOR_KINDS, Delete, Fix, Model, Place, Proto, Type, has_unusual_types
from onnx_lint.rule import Finding, folded, replace, rule


@rule(clause="SHP-1", since="0.1.0", about=has_unusual_types, needs="type")
def negative_dimension(model: Model) -> Iterator[Finding]:
    """A dimension of a shape is negative.

    ### How to fix

    Name the dimension, or leave it empty if its size is unknown. In frameworks, -1 and None mean an unknown size; in
    ONNX they do not. `onnx-lint fix --unsafe-fixes` (unsafe: you may have meant another number) replaces each -1 by an
    unknown size.

    - PyTorch: `torch.onnx.export(..., dynamic_shapes={"x": {0: torch.export.Dim("batch")}})`.
    - skl2onnx: `initial_types=[("x", FloatTensorType([None, 4]))]`.
    - The `onnx` package: `onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["N", 4])`, and
      `onnx.tools.update_model_dims.update_inputs_outputs_dims` for an existing model.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: -1 } } } } }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    ```

    ### Why it matters

    Exporters write -1 for an unknown size. Consumers read it as a size: they refuse the model or allocate with it.

    ### Details

    - Every size in the shape of a type must be at least 0.
    - An unknown dimension has neither a value nor a variable.
    - There is one finding for the model, with the number of negative dimensions.
    """
    negative = (
        (found, index)
        for found in model.types(_has_negative_dimension)
        for index, dimension in enumerate(getattr(found.proto, str(found.kind)).shape.dim)
        if dimension.dim_value < 0
    )
    for finding in folded(negative, _finding, None, ("more dimension is negative", "more dimensions are negative")):
        yield replace(finding, fix=_fix(model))


def _fix(model: Model) -> Fix | str:
    """Return the fix that clears each -1, by which frameworks mean an unknown size. Other numbers may mean anything."""

    def edits() -> Iterator[Delete]:
        for found in model.types(_has_negative_dimension):
            for index, dimension in enumerate(getattr(found.proto, str(found.kind)).shape.dim):
                if dimension.dim_value == -1:
                    yield Delete(_place(found, index))

    count = sum(1 for _ in edits())
    if not count:
        return "only -1 is known to mean an unknown size"
    return Fix.of_many("leave each dimension open that is -1", count, edits, is_safe=False)


def _place(found: Type, index: int) -> Place:
    return found.place.at(str(found.kind)).at("shape").at("dim", index).at("dim_value")


def _finding(negative: tuple[Type, int]) -> Finding:
    found, index = negative
    kind = str(found.kind)
    size = getattr(found.proto, kind).shape.dim[index].dim_value
    return Finding(
        _place(found, index),
        f"dimension {index}{_where(found)} is {size}, but must be at least 0",
        allowed="a size from 0 on, a variable, or neither for an unknown size",
    )


def _has_negative_dimension(proto: Proto) -> bool:
    kind = proto.WhichOneof("value")
    return kind in TENSOR_KINDS and any(dimension.dim_value < 0 for dimension in getattr(proto, kind).shape.dim)


def _where(found: Type) -> str:
    return found.of_owner if found.parent is None else f" of {found.describe()}"
