# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model
from onnx_lint.rule import Finding, rule


@rule(clause="FUN-15", since="0.1.0", about=Model.functions, needs="function")
def empty_function(model: Model) -> Iterator[Finding]:
    """A model-local function has no nodes.

    ### How to fix

    - The function returns its input: add an `Identity` node.
    - Otherwise delete the function and its calls.

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

    Such a function computes nothing, and ONNX Runtime refuses the model if the function has an output.

    ### Details

    - A function should have at least one node.
    - The specification does not forbid an empty function. The finding is therefore a warning.
    """
    for function in model.functions:
        if not function.body.forms:
            yield Finding(
                function.place,
                f"{function.body.describe()} has no nodes",
                allowed="at least one node",
                subject=function.qualified_name,
            )
