# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Mixture, Model, mixtures
from onnx_lint.rule import Finding, Related, rule


@rule(clause=("VAL-4", "VAL-6", "VAL-6a"), since="0.1.0", needs="value")
def mixed_value_types(model: Model) -> Iterator[Finding]:
    """The elements of a serialized sequence, or the values of a map, are of different types.

    ### How to fix

    Convert the elements to one type before they are written.

    ### Example

    ```
    # proto: SequenceProto
    elem_type: 1
    tensor_values { data_type: 1 float_data: 0.5 }
    tensor_values { data_type: 7 int64_data: 1 }
    ```

    Corrected:

    ```
    # proto: SequenceProto
    elem_type: 1
    tensor_values { data_type: 1 float_data: 0.5 }
    tensor_values { data_type: 1 float_data: 1 }
    ```

    ### Why it matters

    A sequence has one type, and so have the values of a map; a consumer that gets another cannot say which.

    ### Details

    Elements of one type: tensors of one `data_type`, whatever their shapes; sequences and optionals of one type of
    element, at any depth; maps of one type of key and one type of value. What an empty sequence or optional does
    not show goes with everything. Elements outside the field for their kind are reported by
    `misplaced-sequence-values`, a tensor without an element type is reported by `unknown-tensor-element-type`.

    Of each sequence the first element is reported that does not go with those before it.
    """
    for mixture in mixtures(model.document, ROOT):
        yield _finding(mixture)


def _finding(mixture: Mixture) -> Finding:
    element = f"{'value' if mixture.is_of_map else 'element'} {mixture.index:,}"
    whole = "map" if mixture.is_of_map else "sequence"
    nested = "VAL-6" if mixture.is_of_tensors else "VAL-6a"
    return Finding(
        mixture.sequence.at(mixture.field, mixture.index),
        f"{element} of the {whole} is of type {mixture.found}, but the first is of type {mixture.wanted}",
        clause="VAL-4" if mixture.is_of_map else nested,
        related=(Related(mixture.sequence.at(mixture.field, 0), "the first"),),
        allowed=f"type {mixture.wanted}",
    )
