# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="OPF-5", since="0.1.0", needs="operator-set")
def invalid_since_version(model: Model) -> Iterator[Finding]:
    """An operator of an operator set states no valid version in which it was added.

    ### How to fix

    Write the version of the set that introduced the operator in its present form. If that is a newer version than the
    document's, raise `opset_version`.

    ### Example

    ```
    # proto: OperatorSetProto
    magic: "ONNXOPSET" ir_version: 10 domain: "com.example" opset_version: 2
    operator { op_type: "Blur" since_version: 3 status: STABLE }
    ```

    Corrected:

    ```
    # proto: OperatorSetProto
    magic: "ONNXOPSET" ir_version: 10 domain: "com.example" opset_version: 3
    operator { op_type: "Blur" since_version: 3 status: STABLE }
    ```

    ### Why it matters

    A node finds its operator by this version if there are several sets of the domain.

    ### Details

    - `since_version` must be at least 1 and at most the version of the set.
    - Whether this version introduced the operator is not checked: it would need the earlier sets.
    """
    newest = model.document.opset_version
    for index, operator in enumerate(model.document.operator):
        version = operator.since_version
        if version >= 1 and (version <= newest or newest < 1):
            continue
        name = f"operator {quote(operator.op_type)}" if operator.op_type else f"operator {index}"
        if not operator.HasField("since_version"):
            found = f"{name} does not state the version that introduced it"
        elif version < 1:
            found = f"{name} is declared since version {version}, which is not a version"
        else:
            found = f"{name} is declared since version {version}, but the operator set has version {newest}"
        allowed = f"1 to {newest}" if newest >= 1 else "a positive number"
        place = ROOT.at("operator", index).at("since_version")
        yield Finding(place, found, allowed=allowed, subject=operator.op_type or None)
