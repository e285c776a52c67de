# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, rule


@rule(clause="OPF-4", since="0.1.0", needs="operator-set")
def unnamed_operator(model: Model) -> Iterator[Finding]:
    """An operator of an operator set has no name.

    ### How to fix

    Write the name into `op_type` that nodes will use.

    ### Example

    ```
    # proto: OperatorSetProto
    magic: "ONNXOPSET" ir_version: 10 domain: "com.example" opset_version: 1
    operator { since_version: 1 }
    ```

    Corrected:

    ```
    # proto: OperatorSetProto
    magic: "ONNXOPSET" ir_version: 10 domain: "com.example" opset_version: 1
    operator { op_type: "Blur" since_version: 1 }
    ```

    ### Why it matters

    Nodes refer to an operator by its name. Nobody can use one without a name.

    ### Details

    - Each operator must have an `op_type` that is not empty.
    """
    for index, operator in enumerate(model.document.operator):
        if not operator.op_type:
            place = ROOT.at("operator", index).at("op_type")
            yield Finding(place, f"operator {index} of the operator set has no name", allowed="a name")
