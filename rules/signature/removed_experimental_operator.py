# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, OperatorStatus, has_misused_operators
from onnx_lint.rule import Finding, rule
from onnx_lint.spec.operators import onnxruntime_default_domain
from onnx_lint.spec.operators.history import REMOVED_EXPERIMENTAL

_DROPPED = 10
"""The first version of the default domain without these operators in ONNX Runtime."""


@rule(clause=("OPR-4", "OPR-4a"), since="0.1.0", about=has_misused_operators, needs="node")
def removed_experimental_operator(model: Model) -> Iterator[Finding]:
    """A node uses an experimental operator that was removed from ONNX.

    ### How to fix

    Use other operators: replace Affine by a Mul and an Add, and build ImageScaler and ScaledTanh in the same way.

    ### Example

    ```
    node { op_type: "Affine" input: "x" output: "y" }
    ```

    Corrected:

    ```
    node { op_type: "Mul" input: "x" input: "alpha" output: "scaled" }
    node { op_type: "Add" input: "scaled" input: "beta" output: "y" }
    ```

    ### Why it matters

    No operator set has this operator, and no text defines what it does. Some consumers still run it for old models.

    ### Details

    - Removed from the default domain, for every imported version: ATen, Affine, ConstantFill, Crop, DynamicSlice,
      GRUUnit, GivenTensorFill, ImageScaler, ParametricSoftplus, Scale and ScaledTanh.
    - For most of them the specification names operators that do the same.
    - A function of the model may have such a name.
    - ONNX Runtime has some of them below version 10 of the operator set, for example Affine, and refuses the model
      otherwise.
    """
    for alike in model.operators.alike_nodes:
        operator = alike.operator
        if (
            operator.status is not OperatorStatus.UNKNOWN
            or operator.domain
            or operator.op_type not in REMOVED_EXPERIMENTAL
        ):
            continue
        substitute = REMOVED_EXPERIMENTAL[operator.op_type]
        version = operator.opset_version
        is_kept = operator.op_type in onnxruntime_default_domain() and version is not None and version < _DROPPED
        for node in alike.nodes:
            yield Finding(
                node.place.at("op_type"),
                f"{node.describe()} uses an experimental operator that was removed from ONNX",
                clause="OPR-4" if is_kept or not model.calls.is_run(node.graph) else "OPR-4a",
                allowed=f"{substitute}, which does the same"
                if substitute
                else "operators of the imported operator set",
                subject=operator.op_type,
                cause=operator.versioned_name,
            )
