# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.documents.value_types import kind_name, kind_names
from onnx_lint.model import Model
from onnx_lint.rule import Finding, rule

_FIELDS = ("tensor_value", "sparse_tensor_value", "sequence_value", "map_value", "optional_value")
"""The fields of the value, in the order of their kinds."""


@rule(clause="VAL-5", since="0.1.0", needs="value")
def mismatched_optional_value(model: Model) -> Iterator[Finding]:
    """A serialized optional does not state the kind of its element, or has its value in the field of another kind.

    ### How to fix

    State the kind of the value, as `onnx.helper.make_optional` does; here MAP (4).

    ### Example

    ```
    # proto: OptionalProto
    elem_type: 1
    map_value { key_type: 7 keys: 1 values { elem_type: 1 tensor_values { data_type: 1 float_data: 0.5 } } }
    ```

    Corrected:

    ```
    # proto: OptionalProto
    elem_type: 4
    map_value { key_type: 7 keys: 1 values { elem_type: 1 tensor_values { data_type: 1 float_data: 0.5 } } }
    ```

    ### Why it matters

    A reader looks for the value in the field of the stated kind. If that field is empty, it treats the optional as
    empty.

    ### Details

    - `elem_type` must be TENSOR (1), SPARSE_TENSOR (2), SEQUENCE (3), MAP (4) or OPTIONAL (5).
    - A value may only be in the field of that kind, for example `tensor_value`.
    - An optional without a value is empty and correct. It may have kind 0, because onnx writes it.
    """
    for value, place in model.values:
        if value.DESCRIPTOR.name != "OptionalProto":
            continue
        given = [field for field in _FIELDS if value.HasField(field)]
        if not 1 <= value.elem_type <= 5:
            if value.elem_type:
                message = f"the optional states an element of kind {value.elem_type}, which does not exist"
                yield Finding(place.at("elem_type"), message, allowed=kind_names())
            elif given:
                message = f"the optional has a value in {given[0]}, but states no kind for it"
                yield Finding(place.at("elem_type"), message, allowed=kind_name(_FIELDS.index(given[0]) + 1))
            continue
        wanted = _FIELDS[value.elem_type - 1]
        for field in given:
            if field != wanted:
                kind = kind_name(value.elem_type)
                message = f"the optional has its value in {field}, which is not the field of kind {kind}"
                yield Finding(place.at(field), message, allowed=wanted)
