# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model
from onnx_lint.rule import Finding, rule


@rule(clause="FUN-15", since="0.1.0", about=Model.functions, needs="function")
def empty_function(model: Model) -> Iterator[Finding]:
    """A model-local function has no nodes.

    ### How to fix

    Hand the input through with an Identity node, or drop the function together with its calls.

    ### Example

    ```
    functions { name: "Pass" domain: "com.example" input: "x" output: "x" }
    ```

    Corrected:

    ```
    functions { name: "Pass" domain: "com.example" input: "x" output: "y"
                node { op_type: "Identity" input: "x" output: "y" } }
    ```

    ### Why it matters

    Such a function computes nothing. The specification does not exclude it, so this is a warning, but ONNX Runtime
    refuses a model that calls it.

    ### Details

    At least one node. To hand an input through, the body takes an `Identity` node.
    """
    for function in model.functions:
        if not function.body.forms:
            yield Finding(
                function.place,
                f"{function.body.describe()} has no nodes",
                allowed="at least one node",
                subject=function.qualified_name,
            )
