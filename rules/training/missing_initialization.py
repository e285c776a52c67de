# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model, has_training_information
from onnx_lint.rule import Finding, rule


@rule(clause="TRN-7", since="0.1.0", about=has_training_information)
def missing_initialization(model: Model) -> Iterator[Finding]:
    """Training information has initialization bindings and no initialization graph.

    ### How to fix

    Add the graph that computes the values, or delete the bindings: training then continues from the initializers.

    ### Example

    ```
    initializer { name: "weight" data_type: 1 dims: 1 float_data: 1 }
    training_info { initialization_binding { key: "weight" value: "first" } }
    ```

    Corrected:

    ```
    initializer { name: "weight" data_type: 1 dims: 1 float_data: 1 }
    training_info {
      initialization { name: "start"
        node { op_type: "RandomNormal" output: "first" attribute { name: "shape" type: INTS ints: 1 } }
        output { name: "first" } }
      initialization_binding { key: "weight" value: "first" }
    }
    ```

    ### Why it matters

    The bindings take their values from the outputs of that graph. Without it, no initializer is initialized.

    ### Details

    - Training information with an `initialization_binding` must have an initialization graph.
    """
    for index, info in enumerate(model.proto.training_info):
        count = len(info.initialization_binding)
        if count and not info.HasField("initialization"):
            yield Finding(
                ROOT.at("training_info", index).at("initialization"),
                f"training information {index} has {count:,} initialization binding{'s' if count > 1 else ''}, but no "
                "initialization graph",
                allowed="an initialization graph beside the bindings",
            )
