# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Delete, Fix, Model
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause="HYG-3", since="0.2.0")
def unused_function(model: Model) -> Iterator[Finding]:
    """A function of the model is not called by any graph.

    ### How to fix

    Delete the function.

    - `onnx-lint fix --select unused-function` (safe) deletes it.
    - `onnx_ir.passes.common.RemoveUnusedFunctionsPass()(model)` deletes all unused functions.

    ### Example

    ```
    functions {
      name: "Twice" domain: "example.functions" input: "a" output: "b"
      opset_import { domain: "" version: 21 }
      node { op_type: "Add" input: "a" input: "a" output: "b" }
    }
    ```

    Corrected:

    ```
    node { op_type: "Twice" domain: "example.functions" input: "x" output: "y" }
    functions {
      name: "Twice" domain: "example.functions" input: "a" output: "b"
      opset_import { domain: "" version: 21 }
      node { op_type: "Add" input: "a" input: "a" output: "b" }
    }
    ```

    ### Why it matters

    A reader of the model takes the function for a part of it, and runtimes load it in vain.

    ### Details

    - A call by a node of the main graph, a training graph or a graph nested in them is a use, also through other
      functions.
    - Only models are checked, not other documents, for example libraries of functions.
    """
    called = model.calls.called
    for function in model.functions:
        if function.index not in called:
            yield Finding(
                function.place,
                f"function {quote(function.qualified_name)} is not called by any graph",
                allowed="functions that a graph calls",
                subject=function.qualified_name,
                cause="unused",
                fix=Fix(f"delete function {quote(function.qualified_name)}", (Delete(function.place),)),
            )
