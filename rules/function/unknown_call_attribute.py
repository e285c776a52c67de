# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, attribute_parameters
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import Suggestions, quote, quote_some


@rule(clause="FUN-19", since="0.1.0", about=Model.functions, needs="function")
def unknown_call_attribute(model: Model) -> Iterator[Finding]:
    """A call passes an attribute to a model-local function that does not declare it.

    ### How to fix

    Pass a parameter that the function has, or declare the one that you pass.

    ### Example

    ```
    node { op_type: "F" domain: "com.example" input: "x" output: "y" attribute { name: "beta" type: FLOAT f: 1 } }
    functions {
      name: "F" domain: "com.example" input: "x" output: "y" attribute: "alpha"
      node { op_type: "Elu" input: "x" output: "y" attribute { name: "alpha" type: FLOAT ref_attr_name: "alpha" } }
    }
    ```

    Corrected:

    ```
    node { op_type: "F" domain: "com.example" input: "x" output: "y" attribute { name: "alpha" type: FLOAT f: 1 } }
    functions {
      name: "F" domain: "com.example" input: "x" output: "y" attribute: "alpha"
      node { op_type: "Elu" input: "x" output: "y" attribute { name: "alpha" type: FLOAT ref_attr_name: "alpha" } }
    }
    ```

    ### Why it matters

    Nothing in the body can refer to the attribute, and its value is silently lost.

    ### Details

    - The declared parameters are the names in the function's `attribute` and `attribute_proto`.
    - Names that begin with two underscores are accepted: implementations use them for their own notes.
    """
    if not model.operators.calls_have_attributes:
        return
    suggestions = Suggestions()
    parameters: dict[int, dict[str, None]] = {}
    for node, function in model.calls.all:
        if function.index not in parameters:
            parameters[function.index] = attribute_parameters(function)
        declared = parameters[function.index]
        for index, attribute in enumerate(node.attribute_protos):
            name = attribute.name
            if not name or name in declared or name.startswith("__"):
                continue
            yield Finding(
                node.place.at("attribute", index).at("name"),
                f"{node.describe()} passes attribute {quote(name)}, which {function.body.describe()} does not declare"
                f"{suggestions(name, declared)}",
                related=(Related(function.place, f"the function that is called: {function.body.describe()}"),),
                allowed=quote_some(declared, 10) if declared else "no attributes",
                subject=name,
                partners=(function.place,),
                cause=f"{function.qualified_name} does not declare {name}",
                is_cause_shared=True,
            )
