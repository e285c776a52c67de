# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.inference.types.distinct_types import describe_case
from onnx_lint.model import ELEMENT_TYPES, Model, Proto, has_unusual_types
from onnx_lint.rule import Finding, rule

_CLAUSES = {"tensor_type": "TYP-1", "sparse_tensor_type": "TYP-10"}


@rule(clause=("TYP-1", "TYP-10"), since="0.1.0", about=has_unusual_types, needs="type")
def unknown_element_type(model: Model) -> Iterator[Finding]:
    """A tensor type has an element type that is not defined.

    ### How to fix

    Use a number of `TensorProto.DataType`, for example `onnx.TensorProto.FLOAT`. The numbers of NumPy or of a framework
    differ from it.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 99 shape { } } } }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { } } } }
    ```

    ### Why it matters

    The number decides how many bytes an element has and what they mean. No reader can allocate or convert such a
    tensor.

    ### Details

    - Dense and sparse tensor types need a number of `TensorProto.DataType` other than 0 (`UNDEFINED`), also inside
      other types.
    - Reported by another rule: a type without an element type (`incomplete-type`).
    """
    for found in model.types(_has_unknown_element_type):
        kind = str(found.kind)
        code = getattr(found.proto, kind).elem_type
        yield Finding(
            found.place.at(kind).at("elem_type"),
            f"{describe_case(found)} has the element type {code}, which is {'not defined' if code else 'UNDEFINED'}",
            clause=_CLAUSES[kind],
            allowed=f"an element type from 1 to {len(ELEMENT_TYPES)}",
            cause=str(code),
        )


def _has_unknown_element_type(proto: Proto) -> bool:
    kind = proto.WhichOneof("value")
    if kind not in _CLAUSES:
        return False
    tensor = getattr(proto, kind)
    return tensor.HasField("elem_type") and tensor.elem_type not in ELEMENT_TYPES
