# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model, Place, has_training_information
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote

TrainingBinding = tuple[str, str, Place]
"""Its key, its field, and its place."""


@rule(clause=("TRN-3", "TRN-6"), since="0.1.0", about=has_training_information)
def duplicate_training_binding(model: Model) -> Iterator[Finding]:
    """Two training bindings assign to the same initializer.

    ### How to fix

    Bind each name once, to the value that it must have after a step.

    ### Example

    ```
    initializer { name: "weight" data_type: 1 dims: 1 float_data: 1 }
    node { op_type: "Relu" input: "weight" output: "y" }
    training_info {
      algorithm { name: "step"
        node { op_type: "Neg" input: "weight" output: "weight_new" }
        output { name: "weight_new" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } }
        node { op_type: "Abs" input: "weight" output: "weight_old" }
        output { name: "weight_old" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } } }
      update_binding { key: "weight" value: "weight_new" }
      update_binding { key: "weight" value: "weight_old" }
    }
    ```

    Corrected:

    ```
    initializer { name: "weight" data_type: 1 dims: 1 float_data: 1 }
    node { op_type: "Relu" input: "weight" output: "y" }
    training_info {
      algorithm { name: "step"
        node { op_type: "Neg" input: "weight" output: "weight_new" }
        output { name: "weight_new" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } } }
      update_binding { key: "weight" value: "weight_new" }
    }
    ```

    ### Why it matters

    The initializer can take only one of the two values, and it is undefined which one.

    ### Details

    - Each key must occur only once in an `initialization_binding`.
    - Each key must occur only once in the `update_binding` of all TrainingInfoProtos of the model together.
    - IR.md demands distinct keys of each `update_binding` alone, the schema of all together; onnx-lint follows the
      schema.
    - Two TrainingInfoProtos may each initialize the same name.
    """
    updates: list[TrainingBinding] = []
    for index, info in enumerate(model.proto.training_info):
        place = ROOT.at("training_info", index)
        initial = [
            (entry.key, "initialization_binding", place.at("initialization_binding", position))
            for position, entry in enumerate(info.initialization_binding)
        ]
        yield from _duplicates(initial, "TRN-3")
        updates += [
            (entry.key, "update_binding", place.at("update_binding", position))
            for position, entry in enumerate(info.update_binding)
        ]
    yield from _duplicates(updates, "TRN-6")


def _duplicates(bindings: list[TrainingBinding], clause: str) -> Iterator[Finding]:
    first: dict[str, Place] = {}
    for key, field, place in bindings:
        other = first.setdefault(key, place)
        if key and other is not place:
            yield Finding(
                place.at("key"),
                f"key {quote(key)} of {field} is listed twice",
                clause=clause,
                related=(Related(other, f"first {field} of {quote(key)}"),),
                allowed="each key once",
                subject=key,
            )
