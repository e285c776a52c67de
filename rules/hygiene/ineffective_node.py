# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import ELEMENT_TYPES, Graph, Model, Node
from onnx_lint.rule import Finding, rule

_SAFE_DETOURS = {
    "bool": {"int8", "uint8", "int32", "int64", "float16", "float", "double"},
    "float16": {"float", "double"},
    "bfloat16": {"float", "double"},
    "float": {"double"},
    "int8": {"int16", "int32", "int64", "float16", "float", "double"},
    "uint8": {"int16", "uint16", "int32", "int64", "float16", "float", "double"},
    "int16": {"int32", "int64", "float", "double"},
    "uint16": {"int32", "uint32", "int64", "float", "double"},
    "int32": {"int64", "double"},
    "uint32": {"int64", "uint64", "double"},
}
"""For each type those that hold all of its values, so that a cast there and back changes nothing."""


@rule(clause="HYG-5", since="0.2.0", needs="graph")
def ineffective_node(model: Model) -> Iterator[Finding]:
    """A node returns its input: an Identity, a Cast to the same type, or a Cast that undoes the one before it.

    ### How to fix

    Delete the node and use its input instead of its output; `onnx_ir.passes.common.IdentityEliminationPass()(model)`
    does it for all Identity nodes.

    ### Example

    ```
    node { op_type: "Relu" input: "x" output: "positive" }
    node { op_type: "Identity" input: "positive" output: "same" }
    node { op_type: "Neg" input: "same" output: "y" }
    ```

    Corrected:

    ```
    node { op_type: "Relu" input: "x" output: "positive" }
    node { op_type: "Neg" input: "positive" output: "y" }
    ```

    ### Why it matters

    A runtime that does not remove the node copies the value, and cannot fuse the nodes around it.

    ### Details

    - An Identity or Cast whose output is a graph output is not reported if the graph needs it: its input is not
      computed in the graph, or is also an output.
    - A Cast back to the first type is not reported if the Cast before it may change values, for example FLOAT to
      FLOAT16 to FLOAT.
    - In a function, where types depend on the call, only two Casts in a row are compared.
    """
    for graph in model.graphs if not model.operators.names.isdisjoint({"Identity", "Cast"}) else ():
        forms = {
            form
            for form in graph.form_counts
            if form.op_type in {"Identity", "Cast"} and _is_standard(model, graph, form.domain)
        }
        outputs: set[str] = set(graph.output_names)
        for node in graph.nodes_of(forms) if forms and not graph.is_file else ():
            if all(node.inputs[:1]) and all(node.outputs[:1]) and len(node.inputs) == len(node.outputs) == 1:
                what = _effectless(model, node)
                if what and not _is_needed(graph, node, outputs):
                    yield Finding(
                        node.place,
                        f"{node.describe()} {what}",
                        allowed="nodes that change a value",
                        subject=node.name or node.outputs[0],
                        cause=node.op_type,
                    )


def _is_standard(model: Model, graph: Graph, domain: str) -> bool:
    return domain in {"", "ai.onnx"} and "" in model.operators.opset_versions(graph)


def _is_needed(graph: Graph, node: Node, outputs: set[str]) -> bool:
    """Return whether a graph needs a node that renames a value: the new name is an output, the old one cannot be."""
    [old], [new] = node.inputs, node.outputs
    if new not in outputs:
        return False
    is_computed = graph.positions.get(old, -1) >= 0
    if not is_computed or old in outputs:
        return True
    outputs.add(old)  # the next node that renames this value to an output is needed
    return False


def _effectless(model: Model, node: Node) -> str | None:
    """Return in words what the node does; None if it may change its input."""
    if model.operators.operator(node).schema is None:
        return None
    if node.op_type == "Identity":
        return "only renames its input"
    to = _target(node)
    if to is None:
        return None
    position = node.graph.positions.get(node.inputs[0], -1)
    before = node.graph.nodes[position] if position >= 0 else None
    if before is not None and (before.op_type, before.domain) == (node.op_type, node.domain):
        through = _target(before)
        if through == to:
            return f"casts to {to}, as {before.describe()} before it does"
        if through in _SAFE_DETOURS.get(to, ()) and _type_of(model, before) == to:
            return f"casts back to {to} what {before.describe()} cast from it"
    return f"casts to {to}, the type of its input" if _type_of(model, node) == to else None


def _target(node: Node) -> str | None:
    """Return the name of the target type of a Cast; None if a call of a function decides it."""
    numbers = [each.i for each in node.attribute_protos if each.name == "to" and not each.ref_attr_name]
    element = ELEMENT_TYPES.get(numbers[0]) if numbers else None
    return element.name if element is not None else None


def _type_of(model: Model, node: Node) -> str | None:
    """Return the name of the element type of a node's input; None if it is unknown, or a call decides it."""
    if node.graph.function is not None or not node.inputs:
        return None
    kind = model.value_flow.fact_of(node.inputs[0], node.graph).kind
    return kind.removeprefix("tensor(").removesuffix(")") if kind else None
