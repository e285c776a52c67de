# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from functools import partial
from itertools import chain, starmap
from typing import Final

from onnx_lint.ir.names.renaming import can_be_renamed, renaming
from onnx_lint.model import (
    Definition,
    Fix,
    FreshNames,
    Graph,
    GraphKind,
    Model,
    Place,
    has_training_information,
    value_names,
)
from onnx_lint.rule import Finding, Record, Related, folded, replace, rule
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
    - onnx.checker and ONNX Runtime accept shadowing inputs and initializers.
    """
    hiding = [*_hiding(model)] if _may_hide(model) else []
    fixes = _fixes(model, hiding) if hiding and not has_training_information(model) else None
    by_name: dict[tuple[str, str], list[_Hiding]] = {}
    for name, definition, outer in hiding:
        by_name.setdefault((definition.field, name), []).append((name, definition, outer))
    for (_, name), found in by_name.items():
        more = (f"more graph hides an outer {quote(name)}", f"more graphs hide an outer {quote(name)}")
        for finding in folded(found, _finding, name, more, None if fixes is None else partial(fixes.at, found)):
            yield finding if fixes is None else replace(finding, fix=fixes.of(found))


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


_Hiding = tuple[str, Definition, Definition]
"""A name, its definition in a nested graph, and the outer one that it hides."""


def _hiding(model: Model) -> Iterator[_Hiding]:
    for graph in model.nested_graphs:
        scopes = list(_scopes(graph))
        if not any(_hides(graph, outer, before) for outer, before in scopes):
            continue
        for name in graph.positions:
            hidden = next((outer for outer, before in scopes if outer.positions.get(name, before) < before), None)
            definition, outer = graph.first_definition(name), hidden.first_definition(name) if hidden else None
            if definition is not None and outer is not None:
                yield name, definition, outer


class _Fixes(Record):
    """The fixes that rename values that hide others, of the graphs in which that is possible."""

    names: dict[Graph, dict[str, str]]
    """The new names of the values of each of these graphs."""
    of_all: Fix | str | None
    """The one fix for all, if they are very many, as each fix takes a walk."""

    def of(self, hiding: Iterable[_Hiding]) -> Fix | str:
        """Return the fix for some of the values."""
        return self.of_all or self._of_some(hiding)

    def at(self, hiding: Iterable[_Hiding], places: Set[Place]) -> Fix | str:
        """Return the fix for those of the values that have these places."""
        return self._of_some(each for each in hiding if each[1].place in places)

    def _of_some(self, hiding: Iterable[_Hiding]) -> Fix | str:
        names: dict[Graph, dict[str, str]] = {}
        for name, definition, _ in hiding:
            if definition.graph in self.names:
                names.setdefault(definition.graph, {})[name] = self.names[definition.graph][name]
        return _renaming(names)


def _fixes(model: Model, hiding: list[_Hiding]) -> _Fixes:
    fresh = FreshNames(value_names(model.graphs))
    names: dict[Graph, dict[str, str]] = {}
    for name, definition, _ in hiding:
        names.setdefault(definition.graph, {})[name] = fresh.like(name)
    names = {graph: renamed for graph, renamed in names.items() if can_be_renamed(graph, renamed)}
    return _Fixes(names, _renaming(names) if len(hiding) > _MAX_APART else None)


_MAX_APART: Final = 100
"""The most values that have fixes of their own."""


def _renaming(names: dict[Graph, dict[str, str]]) -> Fix | str:
    """Return the fix that gives values of graphs new names."""
    if not names:
        return "the name has several meanings in its graph"
    count = sum(map(len, names.values()))
    graphs = next(iter(names)).describe() if len(names) == 1 else f"{len(names):,} graphs"
    what = f"rename {'1 value' if count == 1 else f'{count:,} values'} of {graphs}"
    return Fix(what, (), is_safe=False, later=lambda: chain.from_iterable(starmap(renaming, names.items())))


_CLAUSES = {"output": "SUB-1", "initializer": "SUB-2", "sparse_initializer": "SUB-2", "input": "SUB-3"}


def _finding(hiding: _Hiding) -> Finding:
    name, definition, outer = hiding
    is_placed = outer.node is None or not outer.node.name
    hidden = outer.describe() if is_placed else f"{outer.describe()} in {outer.graph.describe()}"
    return Finding(
        definition.place,
        f"{definition.describe()} is called {quote(name)}, which hides {hidden}",
        clause=_CLAUSES[definition.field],
        related=(Related(outer.place, f"outer definition of {quote(name)}: {outer.describe()}"),),
        allowed="a name that is not visible from an enclosing graph",
        subject=name,
    )
