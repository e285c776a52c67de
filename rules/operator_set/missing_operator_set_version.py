# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, rule


@rule(clause="OPF-2a", since="0.1.0", needs="operator-set")
def missing_operator_set_version(model: Model) -> Iterator[Finding]:
    """An operator set does not state its version.

    ### How to fix

    Write the version of the set into `opset_version`; the first version is 1.

    ### Example

    ```
    # proto: OperatorSetProto
    magic: "ONNXOPSET" ir_version: 10 domain: "com.example"
    ```

    Corrected:

    ```
    # proto: OperatorSetProto
    magic: "ONNXOPSET" ir_version: 10 domain: "com.example" opset_version: 1
    ```

    ### Why it matters

    Domain and version together identify an operator set. Without a version, no model can import it.

    ### Details

    - `opset_version` must be a positive number.
    - The specification does not write "MUST" for this field; the requirement follows because the field identifies the
      set.
    """
    version = model.document.opset_version
    if version < 1:
        found = f"the operator set has version {version}" if version else "the operator set states no version"
        yield Finding(ROOT.at("opset_version"), found, allowed="a positive number")
