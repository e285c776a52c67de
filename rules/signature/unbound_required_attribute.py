# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Function, Model, Node
from onnx_lint.model.operators.mismatch import describe_schema
from onnx_lint.model.operators.operators import AlikeNodes
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote

Needs = dict[str, tuple[Node, int]]
"""The attribute parameters that a function needs, each with a node of the body and its attribute that refers to it."""


@rule(clause="FUN-20", since="0.1.0", about=Model.parametric_functions, needs="node")
def unbound_required_attribute(model: Model) -> Iterator[Finding]:
    """A call leaves out an attribute that the function hands on to an operator that requires it.

    ### Why it matters

    A parameter without a default that the call does not give is left out wherever the body refers to it. An
    operator of the body then lacks an attribute that it cannot do without, which shows only at this one call.

    ### What is allowed

    Leaving out parameters that have a default, or that the body hands on only where an attribute may be absent. A
    parameter that is handed on from function to function is followed to the operator.

    No clause forbids such a call; it says what becomes of the attribute, so the finding is a note.

    ### Example

    ```
    node { op_type: "To" domain: "local" input: "x" output: "y" }
    functions { name: "To" domain: "local" attribute: "type" node { op_type: "Cast" ... ref_attr_name: "type" } }
    ```
    """
    if not model.parametric_functions:
        return
    needs = _needs(model)
    for alike in model.operators.alike_nodes:
        function = alike.operator.function
        if function is None or not needs.get(function.index):
            continue
        given = {name for name, _ in alike.attributes}
        for name, (holder, index) in needs[function.index].items():
            if name in given:
                continue
            for node in alike.nodes:
                yield _finding(model, node, function, name, holder, index)


def _finding(model: Model, node: Node, function: Function, name: str, holder: Node, index: int) -> Finding:
    operator = model.operators.operator(holder)
    needed_by = f"{holder.describe()} in the body"
    if operator.schema is not None:
        needed_by += f", as {describe_schema(operator.schema)} requires it"
    return Finding(
        node.place,
        f"{node.describe()} leaves out attribute {quote(name)}, which {quote(function.qualified_name)} hands on to "
        f"{needed_by}",
        related=(Related(holder.place.at("attribute", index), f"refers to {quote(name)}"),),
        allowed=f"a value for {quote(name)}",
        subject=name,
    )


def _needs(model: Model) -> dict[int, Needs]:
    """For each function, by index, what its calls have to give; callees before their callers, however deep."""
    needs: dict[int, Needs] = {function.index: {} for function in model.functions}
    alike_nodes = [alike for alike in model.operators.alike_nodes if alike.attributes]
    callers: dict[int, list[AlikeNodes]] = {}
    for alike in alike_nodes:
        schema, function = alike.operator.schema, alike.operator.function
        if function is not None:
            callers.setdefault(function.index, []).append(alike)
        elif schema is not None:
            _take_over(needs, alike, {name for name, attribute in schema.attributes.items() if attribute.required})
    pending = [index for index, found in needs.items() if found]
    while pending:
        callee = pending.pop()
        for alike in callers.get(callee, ()):
            pending += _take_over(needs, alike, set(needs[callee]))
    return needs


def _take_over(needs: dict[int, Needs], alike: AlikeNodes, required: set[str]) -> list[int]:
    """Note the parameters that nodes of function bodies hand on to the required attributes; return who has new ones."""
    if not any(name in required for name, _ in alike.attributes):
        return []
    changed = []
    for node in alike.nodes:
        function = node.graph.function
        if function is None:
            continue
        for index, attribute in enumerate(node.attribute_protos):
            name = attribute.ref_attr_name
            if name and attribute.name in required and name in function.attribute_names:
                found = needs[function.index]
                if name not in found:
                    found[name] = (node, index)
                    changed.append(function.index)
    return changed
