# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="OPF-4a", since="0.1.0", needs="operator-set")
def unknown_operator_status(model: Model) -> Iterator[Finding]:
    """The status of an operator is not in the enumeration.

    ### How to fix

    Write EXPERIMENTAL or STABLE.

    ### Example

    ```
    # proto: OperatorSetProto
    magic: "ONNXOPSET" ir_version: 10 domain: "com.example" opset_version: 1
    operator { op_type: "Blur" since_version: 1 status: 2 }
    ```

    Corrected:

    ```
    # proto: OperatorSetProto
    magic: "ONNXOPSET" ir_version: 10 domain: "com.example" opset_version: 1
    operator { op_type: "Blur" since_version: 1 status: STABLE }
    ```

    ### Why it matters

    A reader does not know whether the operator may still change.

    ### Details

    - The status must be EXPERIMENTAL (0) or STABLE (1).
    - A missing status means EXPERIMENTAL.
    """
    for index, operator in enumerate(model.document.operator):
        if operator.status not in (0, 1):
            yield Finding(
                ROOT.at("operator", index).at("status"),
                f"operator {quote(operator.op_type)} has status {operator.status}, which does not exist",
                allowed="EXPERIMENTAL (0) or STABLE (1)",
                subject=operator.op_type or None,
            )
