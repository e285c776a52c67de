# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, functions_are_bound
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import quote


@rule(clause=("FUN-1", "FUN-2"), since="0.1.0", about=Model.functions, needs="function")
def unidentified_function(model: Model) -> Iterator[Finding]:
    """A model-local function has no name or states no domain.

    ### How to fix

    Write a name and your own domain. Use the same domain in the calls, and import it in the model.

    ### Example

    ```
    functions { name: "Gelu" input: "x" output: "y" node { op_type: "Relu" input: "x" output: "y" } }
    ```

    Corrected:

    ```
    functions { name: "Gelu" domain: "com.example" input: "x" output: "y"
                node { op_type: "Relu" input: "x" output: "y" } }
    ```

    ### Why it matters

    A node calls a function by domain, name and overload. No node can call a function without a name. A function
    without a domain may hide a standard operator.

    ### Details

    - The name must not be empty.
    - The domain must be set. An empty domain that is set is the default domain and is accepted.
    - In an operator set of IR version 7 or earlier, functions have the domain of the set, and only the name is
      required.
    """
    for function in model.functions:
        if function.name and function.domain:
            continue
        if not function.name:
            yield Finding(
                function.place.at("name"),
                f"function {function.index} has no name",
                clause="FUN-1",
                allowed="a name by which nodes can call the function",
            )
        if not function.proto.HasField("domain") and functions_are_bound(model):
            shown = quote(function.name) if function.name else str(function.index)
            yield Finding(
                function.place.at("domain"),
                f"function {shown} states no domain",
                clause="FUN-2",
                allowed="a domain, which may be the empty one of the standard operators",
                subject=function.name or None,
            )
