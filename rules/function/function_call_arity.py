# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnx_lint.model import Function, Model, Node
from onnx_lint.rule import Finding, Related, rule


@rule(clause="FUN-18", since="0.1.0", about=Model.functions, needs="function")
def function_call_arity(model: Model) -> Iterator[Finding]:
    """A call passes more inputs to a model-local function, or takes more outputs, than the function has.

    ### How to fix

    - Pass only the inputs and name only the outputs that the function declares.
    - Or add the missing parameter to the function.

    ### Example

    ```
    node { op_type: "F" domain: "com.example" input: "x" input: "bias" output: "y" }
    functions { name: "F" domain: "com.example" input: "x" output: "y" node { op_type: "Relu" input: "x" output: "y" } }
    ```

    Corrected:

    ```
    node { op_type: "F" domain: "com.example" input: "x" input: "bias" output: "y" }
    functions { name: "F" domain: "com.example" input: "x" input: "b" output: "y"
                node { op_type: "Add" input: "x" input: "b" output: "y" } }
    ```

    ### Why it matters

    The extra inputs have no parameter, and the extra outputs have no value. The call was probably written for another
    version of the function.

    ### Details

    - A call may have at most the number of inputs and outputs that the function declares.
    - A call may omit inputs and outputs at the end, because a function marks none as required.
    - An empty name at the end is an omitted input or output.
    """
    for node, function in model.calls.all:
        if len(node.inputs) > len(function.body.input_names):
            yield from _surplus(node, function, "input", node.inputs, function.body.input_names)
        if len(node.outputs) > len(function.body.output_names):
            yield from _surplus(node, function, "output", node.outputs, function.body.output_names)


def _surplus(
    node: Node, function: Function, field: str, given: Sequence[str], declared: Sequence[str]
) -> Iterator[Finding]:
    count = max((index + 1 for index, name in enumerate(given) if name), default=0)
    if count <= len(declared):
        return
    has = _count(len(declared), field)
    verb = "passes" if field == "input" else "takes"
    yield Finding(
        node.place.at(field, len(declared)),
        f"{node.describe()} {verb} {_count(count, field)}, but {function.body.describe()} has {has}",
        related=(Related(function.place, f"the function that is called: {function.body.describe()}"),),
        allowed=f"at most {has}" if declared else f"no {field}s",
        subject=function.qualified_name,
        partners=(function.place,),
    )


def _count(count: int, what: str) -> str:
    return f"{count or 'no'} {what}{'' if count == 1 else 's'}"
