# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause="OPF-4", since="0.1.0", needs="operator-set")
def duplicate_operator(model: Model) -> Iterator[Finding]:
    """An operator set has two versions of one operator.

    ### How to fix

    Keep the operator as this version of the set has it; what it was before belongs into the document of the earlier
    version.

    ### Example

    ```
    # proto: OperatorSetProto
    magic: "ONNXOPSET" ir_version: 10 domain: "com.example" opset_version: 2
    operator { op_type: "Blur" since_version: 1 status: STABLE }
    operator { op_type: "Blur" since_version: 2 status: STABLE }
    ```

    Corrected:

    ```
    # proto: OperatorSetProto
    magic: "ONNXOPSET" ir_version: 10 domain: "com.example" opset_version: 2
    operator { op_type: "Blur" since_version: 2 status: STABLE }
    ```

    ### Why it matters

    A node that imports the set means the operator of that name; with two it is open which one.

    ### Details

    Each `op_type` once. onnx.proto calls an operator's domain, name and first version together its identity, which
    would allow two versions in one document; IR.md makes the name alone unique, and a set is a snapshot of what one
    of its versions has. The same version twice is reported by `duplicate-operator-version`.
    """
    first: dict[str, tuple[int, int]] = {}
    for index, operator in enumerate(model.document.operator):
        name, version = operator.op_type, operator.since_version
        if not name:
            continue
        earlier, earlier_version = first.setdefault(name, (index, version))
        if earlier != index and earlier_version != version:
            yield Finding(
                ROOT.at("operator", index).at("op_type"),
                f"operator {quote(name)} is listed twice, since version {earlier_version} and since version {version}",
                related=(Related(ROOT.at("operator", earlier).at("op_type"), "first declared here"),),
                allowed="each operator once",
                subject=name,
            )
