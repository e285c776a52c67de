# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause="OPF-6", since="0.1.0", needs="operator-set")
def duplicate_operator_version(model: Model) -> Iterator[Finding]:
    """An operator set has one version of an operator twice, or an operator and a function of one name and version.

    ### How to fix

    Delete the one that you do not mean.

    ### Example

    ```
    # proto: OperatorSetProto
    magic: "ONNXOPSET" ir_version: 10 domain: "com.example" opset_version: 2
    operator { op_type: "Blur" since_version: 1 status: STABLE }
    operator { op_type: "Blur" since_version: 1 status: EXPERIMENTAL }
    ```

    Corrected:

    ```
    # proto: OperatorSetProto
    magic: "ONNXOPSET" ir_version: 10 domain: "com.example" opset_version: 2
    operator { op_type: "Blur" since_version: 1 status: STABLE }
    ```

    ### Why it matters

    It is undefined which of the two a node means.

    ### Details

    - Each pair of name and version must occur only once among the operators and functions of the set.
    - The version of a function is the version of the set, because functions no longer have their own. A function
      therefore conflicts with an operator of its name that this version of the set introduced.
    """
    document = model.document
    first: dict[tuple[str, int], int] = {}
    for index, operator in enumerate(document.operator):
        key = operator.op_type, operator.since_version
        earlier = first.setdefault(key, index)
        if key[0] and earlier != index:
            yield Finding(
                ROOT.at("operator", index),
                f"operator {quote(key[0])} is listed twice, since version {key[1]}",
                related=(Related(ROOT.at("operator", earlier), "first declared here"),),
                allowed="each name and version once",
                subject=key[0],
            )
    for index, function in enumerate(document.functions):
        same = first.get((function.name, document.opset_version))
        if function.name and same is not None:
            yield Finding(
                ROOT.at("functions", index).at("name"),
                f"function {quote(function.name)} has the name and version {document.opset_version} of an operator",
                related=(Related(ROOT.at("operator", same), "the operator"),),
                allowed="each name and version once",
                subject=function.name,
            )
