# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.operators.control_flow import attribute_name, subgraph_output_count
from onnx_lint.model import Graph, Model, Node
from onnx_lint.model.subgraphs import control_flow_graphs
from onnx_lint.rule import Finding, Related, replace, rule
from onnx_lint.spec.releases import PREVIEW_DOMAIN
from onnx_lint.wording import counted, quote

BRANCHES = {"If": ("then_branch", "else_branch"), "Loop": ("body",), "Scan": ("body",), "SequenceMap": ("body",)}
"""The attributes that hold the subgraphs of the control-flow operators."""

MODIFIERS = frozenset({"score_mod", "prob_mod"})
"""The attributes that hold the subgraphs of FlexAttention."""


@rule(clause=("SUB-7", "SUB-7a"), since="0.1.0", about=Model.nested_graphs, needs="node")
def mismatched_subgraph_signature(model: Model) -> Iterator[Finding]:
    """A subgraph has another number of inputs or outputs than its control-flow operator requires.

    ### How to fix

    Declare the inputs and outputs that the operator supplies and returns. A branch of If has no inputs: it uses names
    of the graph around it.

    ### Example

    ```
    node { op_type: "If" input: "condition" output: "y"
      attribute { name: "then_branch" type: GRAPH g {
        input { name: "x" } node { op_type: "Relu" input: "x" output: "a" } output { name: "a" } } }
      attribute { name: "else_branch" type: GRAPH g {
        node { op_type: "Abs" input: "z" output: "b" } output { name: "b" } } }
    }
    ```

    Corrected:

    ```
    node { op_type: "If" input: "condition" output: "y"
      attribute { name: "then_branch" type: GRAPH g {
        node { op_type: "Relu" input: "z" output: "a" } output { name: "a" } } }
      attribute { name: "else_branch" type: GRAPH g {
        node { op_type: "Abs" input: "z" output: "b" } output { name: "b" } } }
    }
    ```

    ### Why it matters

    The operator matches its inputs and outputs with those of the subgraph by position. If the numbers differ, consumers
    refuse the model.

    ### Details

    | Operator | Inputs of the subgraph | Outputs of the subgraph |
    |---|---|---|
    | If | none | one for each output of the node |
    | Loop | iteration number, condition, each loop-carried value | condition, one for each output of the node |
    | Scan | one for each input of the node (in operator set 8 but for the first) | one for each output of the node |
    | SequenceMap | one for each input of the node | one for each output of the node |
    | FlexAttention | scores or probabilities | the same, modified |

    - Up to IR version 3, inputs with an initializer may follow those that the operator supplies.
    - A call of a model-local function with the name of such an operator is not checked.
    - A graph that a call passes to its function is checked with the operator in the body that runs it.
    """
    for name, graph, node in control_flow_graphs(model):
        if name in BRANCHES[node.op_type]:
            yield from _inputs(model, name, graph, node)
            yield from _outputs(model, name, graph, node)
    for graph in model.nested_graphs:
        yield from _of_modifier(model, graph)


def _of_modifier(model: Model, graph: Graph) -> Iterator[Finding]:
    """The findings for what FlexAttention makes of scores or probabilities: it has one input and one output."""
    if graph.parent is None or graph.position >= len(graph.parent.forms):
        return
    form = graph.parent.forms[graph.position]
    if (form.domain, form.op_type) != (PREVIEW_DOMAIN, "FlexAttention"):
        return
    node = graph.parent.nodes[graph.position]
    name = attribute_name(node.attribute_protos, graph)
    if model.operators.operator(node).schema is None or name not in MODIFIERS:
        return
    for names, clause, noun in ((graph.input_names, "SUB-7", "input"), (graph.output_names, "SUB-7a", "output")):
        if len(names) != 1:
            yield _finding(
                name, graph, node, clause, f"{counted(len(names), noun)}, but FlexAttention needs 1", f"1 {noun}"
            )


def _inputs(model: Model, name: str, graph: Graph, node: Node) -> Iterator[Finding]:
    supplied = model.control_flow.supplied_inputs(node)
    if supplied is None:
        return
    names = model.control_flow.required_subgraph_inputs(graph, supplied)
    if len(names) != supplied:
        what = f"{counted(len(names), 'input')}, but {node.op_type} supplies {supplied}"
        yield _finding(name, graph, node, "SUB-7", what, counted(supplied, "input"))


def _outputs(model: Model, name: str, graph: Graph, node: Node) -> Iterator[Finding]:
    expected = subgraph_output_count(node)
    found = len(graph.output_names)
    if found != expected:
        which = ", the condition first" if node.op_type == "Loop" else ""
        what = f"{counted(found, 'output')}, but {node.op_type} needs {expected}{which}"
        hint = _condition(model, graph) if which and found + 1 == expected else None
        yield replace(_finding(name, graph, node, "SUB-7a", what, counted(expected, "output")), hint=hint)


def _condition(model: Model, graph: Graph) -> str | None:
    """Return how the body of a Loop returns the condition, if its first output is none."""
    kinds = [model.value_flow.fact_of(name, graph).kind for name in graph.output_names[:1]]
    if kinds in ([None], ["tensor(bool)"]) or len(graph.input_names) < _CONDITION + 1:
        return None
    condition = quote(graph.input_names[_CONDITION])
    return f"return the condition as output 0 of the body: an Identity of its input {_CONDITION} {condition}"


_CONDITION = 1
"""The index of the condition among the inputs of a body."""


def _finding(name: str, graph: Graph, node: Node, clause: str, what: str, allowed: str) -> Finding:
    return Finding(
        graph.place,
        f"{graph.describe()}, the {quote(name)} of {node.describe()}, has {what}",
        clause=clause,
        anchor=None if node.domain else f"Operators.md#{node.op_type}",
        related=(Related(node.place, node.describe()),),
        allowed=allowed,
        subject=node.name or (node.outputs[0] if node.outputs else None),
        cause=f"{node.op_type} {what}",
    )
