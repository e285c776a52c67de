# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.documents.value_types import kind_name
from onnx_lint.model import Model
from onnx_lint.rule import Finding, rule

_FIELDS = ("tensor_values", "sparse_tensor_values", "sequence_values", "map_values", "optional_values")
"""The fields of the elements, in the order of their kinds."""


@rule(clause="VAL-2", since="0.1.0", needs="value")
def misplaced_sequence_values(model: Model) -> Iterator[Finding]:
    """A serialized sequence has elements in the field of another kind.

    ### How to fix

    State the kind of the elements, as `onnx.helper.make_sequence` does; here SEQUENCE (3).

    ### Example

    ```
    # proto: SequenceProto
    elem_type: 1
    sequence_values { elem_type: 1 tensor_values { data_type: 1 float_data: 0.5 } }
    ```

    Corrected:

    ```
    # proto: SequenceProto
    elem_type: 3
    sequence_values { elem_type: 1 tensor_values { data_type: 1 float_data: 0.5 } }
    ```

    ### Why it matters

    A reader reads the field of the stated kind and loses the elements of other fields.

    ### Details

    - Elements may only be in the field of `elem_type`, for example `tensor_values` for TENSOR.
    """
    for value, place in model.values.of("SequenceProto"):
        if not 1 <= value.elem_type <= 5:
            continue
        wanted = _FIELDS[value.elem_type - 1]
        for field in _FIELDS:
            if field != wanted and len(getattr(value, field)):
                kind = kind_name(value.elem_type)
                message = f"the sequence has elements in {field}, which is not the field of kind {kind}"
                yield Finding(place.at(field, 0), message, allowed=wanted)
