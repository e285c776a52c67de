# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, rule
from onnx_lint.spec.version_range import in_range


@rule(clause="POL-5", since="0.2.0", kinds={"ir_version": "IR versions"})
def disallowed_ir_version(model: Model, *, ir_version: str = "") -> Iterator[Finding]:
    """The model states an IR version that the policy does not allow.

    ### How to fix

    Export the model for an older release, or change the configuration.

    ### Example

    ```
    # option: disallowed-ir-version.ir_version = "..9"
    # proto: ModelProto
    ir_version: 10
    producer_name: "example"
    opset_import { version: 19 }
    graph { name: "graph" }
    ```

    Corrected:

    ```
    # option: disallowed-ir-version.ir_version = "..9"
    # proto: ModelProto
    ir_version: 9
    producer_name: "example"
    opset_import { version: 19 }
    graph { name: "graph" }
    ```

    ### Why it matters

    Your configuration lists the IR versions that the consumers of the models support.

    ### Details

    - The IR version must be in the range of the option `ir_version`: `8..10`, `8..`, `..10` or `9`.
    - The key `policy.ir-version` of the configuration sets it.
    """
    if not in_range(model.ir_version, ir_version):
        yield Finding(
            ROOT.at("ir_version"),
            f"the model states IR version {model.ir_version}, which the policy does not allow",
            allowed=f"an IR version of {ir_version}",
            anchor="ir-version",
        )
