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

    Keep the operator as this version of the set defines it. Move the earlier version into the document of the earlier
    set.

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

    A node refers to an operator by its name. With two, it is undefined which one the node means.

    ### Details

    - Each `op_type` must occur only once in an operator set.
    - onnx.proto defines domain, name and first version together as the identity, which would allow two versions in
      one document. IR.md requires that the name alone is unique, and a set lists the operators of one of its
      versions.
    - `duplicate-operator-version` reports the same version twice.
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
