# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Attribute, Function, Model, attribute_parameters
from onnx_lint.rule import Finding, rule
from onnx_lint.wording import Suggestions, quote, quote_some


@rule(clause="FUN-16", since="0.1.0", about=Model.functions, needs="function")
def undeclared_attribute_reference(model: Model) -> Iterator[Finding]:
    """An attribute in a function refers to an attribute parameter that the function does not declare.

    ### How to fix

    Declare the parameter, or refer to a parameter that the function has.

    ### Example

    ```
    functions {
      name: "F" domain: "com.example" input: "x" output: "y" attribute: "alpha"
      node { op_type: "LeakyRelu" input: "x" output: "y"
             attribute { name: "alpha" type: FLOAT ref_attr_name: "aplha" } }
    }
    ```

    Corrected:

    ```
    functions {
      name: "F" domain: "com.example" input: "x" output: "y" attribute: "alpha"
      node { op_type: "LeakyRelu" input: "x" output: "y"
             attribute { name: "alpha" type: FLOAT ref_attr_name: "alpha" } }
    }
    ```

    ### Why it matters

    The call passes the value under the parameter's name. No call can pass an undeclared parameter, and the attribute
    is silently missing.

    ### Details

    - The declared parameters are the names in the function's `attribute` and `attribute_proto`.
    - Subgraphs in the body can refer to the parameters of the same function.
    - The parameters of a calling function are not visible: the call must pass them.
    - `misplaced-attribute-reference` reports a reference outside of function bodies.
    """
    suggestions = Suggestions()
    declared: dict[int, dict[str, None]] = {}
    for attribute in model.attributes(lambda kind: kind.is_reference):
        function = attribute.function
        if function is None or attribute.node is None:
            continue
        if function.index not in declared:
            declared[function.index] = attribute_parameters(function)
        if attribute.proto.ref_attr_name not in declared[function.index]:
            yield _finding(attribute, function, declared[function.index], suggestions)


def _finding(attribute: Attribute, function: Function, declared: dict[str, None], suggestions: Suggestions) -> Finding:
    name = attribute.proto.ref_attr_name
    return Finding(
        attribute.place.at("ref_attr_name"),
        f"{attribute.describe()} refers to {quote(name)}, which {function.body.describe()} does not declare"
        f"{suggestions(name, declared)}",
        allowed=f"an attribute parameter of the function: {quote_some(declared, 10)}" if declared else "no reference",
        subject=name,
        inner=name,
        cause=f"{function.qualified_name} does not declare {name}",
        is_cause_shared=True,
    )
