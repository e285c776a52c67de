# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterable, Iterator

from onnx_lint.model import (
    Definition,
    Fix,
    FreshNames,
    Graph,
    GraphKind,
    Model,
    can_be_renamed,
    has_training_information,
    renaming,
    value_names,
)
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause=("SUB-1", "SUB-2", "SUB-3"), since="0.1.0", about=Model.nested_graphs, needs="node")
def shadowed_name(model: Model) -> Iterator[Finding]:
    """A nested graph defines a name that is already visible from an enclosing graph.

    ### How to fix

    - Rename the inner value. `onnx_ir.passes.common.NameFixPass()(model)` makes all names differ, also in nested
      graphs.
    - `onnx-lint fix --unsafe-fixes` (unsafe: a node that uses the name may mean the outer value) adds a number to the
      inner name, in the nested graph and in those in it: `a` and `a_1`.

    ### Example

    ```
    node { op_type: "Relu" input: "x" output: "a" }
    node { op_type: "If" input: "condition" output: "y"
      attribute { name: "then_branch" type: GRAPH g {
        node { op_type: "Abs" input: "x" output: "a" } output { name: "a" } } }
      attribute { name: "else_branch" type: GRAPH g {
        node { op_type: "Neg" input: "x" output: "b" } output { name: "b" } } }
    }
    ```

    Corrected:

    ```
    node { op_type: "Relu" input: "x" output: "a" }
    node { op_type: "If" input: "condition" output: "y"
      attribute { name: "then_branch" type: GRAPH g {
        node { op_type: "Abs" input: "x" output: "then_a" } output { name: "then_a" } } }
      attribute { name: "else_branch" type: GRAPH g {
        node { op_type: "Neg" input: "x" output: "b" } output { name: "b" } } }
    }
    ```

    ### Why it matters

    In the nested graph the name has two meanings, and consumers disagree which one to use. Tools that inline or move
    graphs change what the model computes.

    ### Details

    - A name is visible in a nested graph if an enclosing graph defines it: as an input, as an initializer, or as an
      output of a node before the one with the nested graph.
    - A name that an outer node defines later, or that a sibling graph defines, may be used again.
    - A graph in the default of a function's attribute parameter is not checked against that function: nothing defines
      which names it sees.
    - Editions 1.9 and 1.16 require this of node outputs only. From 1.21 on, inputs and initializers of the nested
      graph are included.
    - An input with an initializer is checked as an input.
    - onnx.checker and ONNX Runtime accept shadowing inputs and initializers; MIGraphX refuses them.
    """
    fresh: FreshNames | None = None
    for graph in model.nested_graphs if _may_hide(model) else ():
        scopes = list(_scopes(graph))
        if any(_hides(graph, outer, before) for outer, before in scopes):
            fresh = fresh or FreshNames(value_names(model.graphs))
            yield from _findings(graph, scopes, None if has_training_information(model) else fresh)


def _may_hide(model: Model) -> bool:
    """Return true if two nested graphs, or one and a graph that is not nested, define the same name, visible or not."""
    names = set[str]().union(*[graph.positions for graph in model.nested_graphs])
    if len(names) < sum(len(graph.positions) for graph in model.nested_graphs):
        return True
    outermost = [graph for graph in model.graphs if graph.kind is not GraphKind.NESTED]
    return not all(graph.positions.keys().isdisjoint(names) for graph in outermost)


OuterGraph = tuple[Graph, int]
"""An enclosing graph, and the node before which its names are visible."""


def _scopes(graph: Graph) -> Iterator[OuterGraph]:
    """Yield the enclosing graphs from the inside out whose names are visible according to the specification."""
    for outer, before in graph.scopes():
        if outer.is_function and before >= len(outer.nodes):
            return  # the default of an attribute parameter
        yield outer, before


def _hides(graph: Graph, outer: Graph, before: int) -> bool:
    """Return true if the graph defines a name that `outer` defines before that node."""
    if outer.positions.keys().isdisjoint(graph.positions):
        return False
    return any(outer.positions.get(name, before) < before for name in graph.positions)


def _findings(graph: Graph, scopes: list[OuterGraph], fresh: FreshNames | None) -> Iterator[Finding]:
    hiding: dict[str, Graph] = {}
    for name in graph.positions:
        for outer, before in scopes:
            if outer.positions.get(name, before) < before:
                hiding[name] = outer
                break
    fix = None if fresh is None else _fix(graph, hiding, fresh)
    for name, outer in hiding.items():
        definition, hidden = graph.first_definition(name), outer.first_definition(name)
        if definition is not None and hidden is not None:
            yield _finding(name, definition, hidden, fix)


def _fix(graph: Graph, hiding: Iterable[str], fresh: FreshNames) -> Fix | None:
    """Return the fix that renames all values of a graph that hide others."""
    names = {name: fresh.like(name) for name in hiding}
    if not can_be_renamed(graph, names):
        return None
    what = f"rename {'1 value' if len(names) == 1 else f'{len(names):,} values'} of {graph.describe()}"
    return Fix(what, (), is_safe=False, later=lambda: renaming(graph, names))


_CLAUSES = {"output": "SUB-1", "initializer": "SUB-2", "sparse_initializer": "SUB-2", "input": "SUB-3"}


def _finding(name: str, definition: Definition, outer: Definition, fix: Fix | None) -> Finding:
    is_placed = outer.node is None or not outer.node.name
    hidden = outer.describe() if is_placed else f"{outer.describe()} in {outer.graph.describe()}"
    accepted = "" if definition.field == "output" else "; onnx.checker and ONNX Runtime accept it"
    return Finding(
        definition.place,
        f"{definition.describe()} is called {quote(name)}, which hides {hidden}{accepted}",
        clause=_CLAUSES[definition.field],
        related=(Related(outer.place, f"outer definition of {quote(name)}: {outer.describe()}"),),
        allowed="a name that is not visible from an enclosing graph",
        subject=name,
        fix=fix,
    )
