# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import NEWEST_IR_VERSION, ROOT, Model, has_unusual_header
from onnx_lint.rule import Finding, rule


@rule(clause="MOD-1", since="0.1.0", about=has_unusual_header)
def missing_ir_version(model: Model) -> Iterator[Finding]:
    """The model does not state its IR version.

    ### How to fix

    Set the IR version of the ONNX release whose features the model uses. `onnx.helper.make_model` does it, and takes
    `ir_version=` for an older one.

    ### Example

    ```
    # proto: ModelProto
    opset_import { version: 21 }
    graph { name: "g" }
    ```

    Corrected:

    ```
    # proto: ModelProto
    ir_version: 10
    opset_import { version: 21 }
    graph { name: "g" }
    ```

    ### Why it matters

    The IR version decides how to read the file: whether initializers must be inputs, whether operator sets are
    imported, which fields apply. Consumers refuse a model without one.

    ### Details

    - A version of 0 is also a missing one.
    - onnx-lint checks the rest of such a model as one of the newest version.
    """
    if model.ir_version == 0:
        allowed = f"1 to {NEWEST_IR_VERSION}"
        yield Finding(ROOT.at("ir_version"), "the model states no IR version", allowed=allowed)
