# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Assign, Definition, Fix, FreshNames, Graph, Insert, Model, message, value_names
from onnx_lint.rule import Finding, Related, replace, rule
from onnx_lint.wording import quote


@rule(clause="SUB-8", since="0.1.0", about=Model.nested_graphs, needs="attribute")
def outer_scope_output(model: Model) -> Iterator[Finding]:
    """A nested graph returns a value of a graph around it as its own output.

    ### How to fix

    Return the value through an Identity node in the nested graph. `onnx-lint fix` (safe) adds it for tensors.

    ### Example

    ```
    node { op_type: "If" input: "condition" output: "y"
      attribute { name: "then_branch" type: GRAPH g {
        node { op_type: "Relu" input: "x" output: "a" } output { name: "a" } } }
      attribute { name: "else_branch" type: GRAPH g { output { name: "x" } } }
    }
    ```

    Corrected:

    ```
    node { op_type: "If" input: "condition" output: "y"
      attribute { name: "then_branch" type: GRAPH g {
        node { op_type: "Relu" input: "x" output: "a" } output { name: "a" } } }
      attribute { name: "else_branch" type: GRAPH g {
        node { op_type: "Identity" input: "x" output: "b" } output { name: "b" } } }
    }
    ```

    ### Why it matters

    onnx.checker (since 1.17) and ONNX Runtime refuse the model.

    ### Details

    - A nested graph should define each of its outputs.
    - No clause requires it, and an example in the specification (ONNXTypes.md) returns an outer value. The finding is
      therefore a warning, in contrast to an output that nothing defines.
    - A file with a node or an attribute does not have the graphs around it. There an output that its graph does not
      define is reported as well, because at best an outer graph defines it.
    - A training algorithm may return values of the inference graph, because both run as one graph.
    """
    fresh: FreshNames | None = None
    for graph in model.nested_graphs:
        for index, name in enumerate(graph.output_names):
            outer = None if not name or name in graph.positions else graph.outer_definition(name)
            if outer is not None:
                fresh = fresh or FreshNames(value_names(model.graphs))
                yield replace(_finding(graph, index, name, outer), fix=_fix(model, graph, index, fresh))
            elif name and name not in graph.positions and graph.may_see_more:
                yield _finding(graph, index, name, None)


def _fix(model: Model, graph: Graph, index: int, fresh: FreshNames) -> Fix | str:
    """Return the fix that hands a tensor through a node of its own; older versions of Identity take no other values."""
    name = graph.output_names[index]
    kind = model.value_flow.fact_of(name, graph).kind or ""
    if not kind.startswith("tensor(") or "" not in model.imports.domains(graph.function):
        return f"{quote(name)} is not known to be a tensor, or Identity is not imported"
    own = fresh.like(name)
    node = message("NodeProto")(op_type="Identity", name=own, input=[name], output=[own])
    edits = Insert(graph.at("node", len(graph.nodes)), node), Assign(graph.at("output", index).at("name"), own)
    return Fix(f"return {quote(name)} from {graph.describe()} through an Identity", edits)


def _finding(graph: Graph, index: int, name: str, outer: Definition | None) -> Finding:
    """Return the finding on an output; `outer` is None if the definition can only be outside of the file."""
    whose = "which this graph does not define" if outer is None else f"a value of {outer.graph.describe()}"
    return Finding(
        graph.at("output", index),
        f"output {index} of {graph.describe()} is {quote(name)}, {whose}",
        related=() if outer is None else (Related(outer.place, f"{outer.describe()} defines {quote(name)}"),),
        allowed="a value that the nested graph itself defines",
        subject=name,
        partners=() if outer is None else (outer.place,),
    )
