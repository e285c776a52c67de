# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, rule


@rule(clause="OPF-2", since="0.1.0", needs="operator-set")
def missing_operator_set_ir_version(model: Model) -> Iterator[Finding]:
    """An operator set does not state its IR version.

    ### How to fix

    Write the IR version that the document uses into `ir_version`.

    ### Example

    ```
    # proto: OperatorSetProto
    magic: "ONNXOPSET" domain: "com.example" opset_version: 1
    ```

    Corrected:

    ```
    # proto: OperatorSetProto
    magic: "ONNXOPSET" ir_version: 10 domain: "com.example" opset_version: 1
    ```

    ### Why it matters

    The IR version decides how to read the document, and in particular its functions.

    ### Details

    - `ir_version` must be a positive number.
    - `unknown-ir-version` reports a number that is not published.
    """
    if model.document.ir_version == 0:
        yield Finding(ROOT.at("ir_version"), "the operator set states no IR version", allowed="a published IR version")
