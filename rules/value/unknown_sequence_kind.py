# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.documents.value_types import kind_names
from onnx_lint.model import Model
from onnx_lint.rule import Finding, rule


@rule(clause="VAL-1", since="0.1.0", needs="value")
def unknown_sequence_kind(model: Model) -> Iterator[Finding]:
    """A serialized sequence states no valid kind of element.

    ### How to fix

    State the kind of the elements, also in an empty sequence.

    ### Example

    ```
    # proto: SequenceProto
    elem_type: 0
    tensor_values { data_type: 1 float_data: 0.5 }
    ```

    Corrected:

    ```
    # proto: SequenceProto
    elem_type: 1
    tensor_values { data_type: 1 float_data: 0.5 }
    ```

    ### Why it matters

    The kind says which field has the elements. Without it, a reader finds none.

    ### Details

    - `elem_type` must be TENSOR (1), SPARSE_TENSOR (2), SEQUENCE (3), MAP (4) or OPTIONAL (5).
    """
    for value, place in model.values.of("SequenceProto"):
        if not 1 <= value.elem_type <= 5:
            stated = f"elements of kind {value.elem_type}" if value.HasField("elem_type") else "no kind of element"
            found = f"the sequence states {stated}" + (", which does not exist" if value.elem_type else "")
            yield Finding(place.at("elem_type"), found, allowed=kind_names())
