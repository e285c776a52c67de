# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.documents.value_types import Mixture, mixtures
from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, Related, on_elements, rule
from onnx_lint.wording import and_others


@rule(clause=("VAL-4", "VAL-6", "VAL-6a"), since="0.1.0", needs="value")
def mixed_value_types(model: Model) -> Iterator[Finding]:
    """The elements of a serialized sequence, or the values of a map, are of different types.

    ### How to fix

    Convert the elements to one type before you write them.

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

    A sequence has one type, and the values of a map have one type. A consumer cannot declare a mixture.

    ### Details

    - Tensors must have one `data_type`, with any shapes.
    - Sequences and optionals must have one element type, at any depth. Maps must have one key type and one value type.
    - An empty sequence or optional fits every type.
    - There is one finding for each sequence; it names the first element that differs from those before it, and the
      number of others.
    - Reported by other rules: elements outside the field of their kind (`misplaced-sequence-values`), a tensor without
      an element type (`unknown-tensor-element-type`).
    """
    for mixture in mixtures(model.document, ROOT):
        yield on_elements(_finding, mixture, 1 + len(mixture.others), (mixture, *mixture.others))


def _finding(mixture: Mixture, count: int) -> Finding:
    element = f"{'value' if mixture.is_of_map else 'element'} {mixture.index:,}"
    whole = "map" if mixture.is_of_map else "sequence"
    nested = "VAL-6" if mixture.is_of_tensors else "VAL-6a"
    return Finding(
        mixture.sequence.at(mixture.field, mixture.index),
        f"{element} of the {whole} is of type {mixture.found}, but the first is of type {mixture.wanted}"
        f"{and_others(count)}",
        clause="VAL-4" if mixture.is_of_map else nested,
        related=(Related(mixture.sequence.at(mixture.field, 0), "the first"),),
        allowed=f"type {mixture.wanted}",
    )
