# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Assign, Definition, Graph, GraphKind, Model, Proposals, has_unusual_names, only, ready
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(
    clause=("GRA-5", "NOD-5", "NAM-3", "FUN-11", "TRN-9"),
    since="0.1.0",
    about=has_unusual_names,
    needs="attribute",
)
def duplicate_definition(model: Model) -> Iterator[Finding]:
    """A value name is defined more than once in one graph.

    ### How to fix

    Rename the second value, and use the new name where you mean that value. Before you join two graphs, prefix the
    names of one: `onnx.compose.add_prefix`, or `prefix1=` and `prefix2=` of `onnx.compose.merge_models`.

    ### Example

    ```
    node { op_type: "Relu" input: "x" output: "y" }
    node { op_type: "Abs" input: "x" output: "y" }
    ```

    Corrected:

    ```
    node { op_type: "Relu" input: "x" output: "y" }
    node { op_type: "Abs" input: "x" output: "z" }
    ```

    ### Why it matters

    With two definitions, every use of the name is ambiguous. Consumers refuse the model or silently pick one
    definition.

    ### Details

    - A name must be defined only once: as a graph input, as an initializer, or as an output of one node (static single
      assignment).
    - An input and an initializer may share a name: the initializer is the input's default value.
    - If one used name has no definition, the help line says to give it to the second value. onnx-lint tries that.
    - A training algorithm and the inference graph are one graph, and their names must differ.
    - Reported by other rules: two initializers of one name (`duplicate-initializer`), two parameters of a function
      (`duplicate-function-parameter`).
    """
    for graph in model.graphs:
        if not _is_clean(graph):
            yield from _duplicates(graph, model)


def _is_clean(graph: Graph) -> bool:
    if graph.has_redefinitions or len(set(graph.input_names)) != len(graph.input_names):
        return False
    if graph.kind is not GraphKind.ALGORITHM:
        return True
    return graph.positions.keys().isdisjoint(graph.inference_graph.positions.keys())


def _duplicates(graph: Graph, model: Model) -> Iterator[Finding]:
    inference = graph.inference_graph if graph.kind is GraphKind.ALGORITHM else None
    elsewhere = () if inference is None else inference.positions
    seen = set[str]()
    for name, definition in graph.definitions():
        if name not in seen and name not in elsewhere:
            seen.add(name)
            continue
        other = inference.first_definition(name) if inference is not None else None
        other = other or graph.first_definition(name)
        if other is None or _is_for_another_rule(definition, other):
            continue
        yield Finding(
            definition.place,
            f"{definition.describe()} defines {quote(name)}, which {other.describe()} defines already",
            clause=_clause(graph, definition, other),
            related=(Related(other.place, f"first definition of {quote(name)}: {other.describe()}"),),
            allowed="one definition for each value name of a graph",
            subject=name,
            cause=_cause(graph, definition, other),
            proposals=_other_name(definition, model),
        )


def _other_name(definition: Definition, model: Model) -> Proposals | None:
    """Return the one name that the graph uses and nothing defines as that of the second value."""
    graph = definition.graph
    if definition.node is None:
        return None
    undefined = {each.name for each in model.resolution.undefined if each.graph is graph}
    undefined |= {name for name in graph.output_names if name and name not in graph.positions and not graph.sees(name)}
    if len(undefined) != 1:
        return None
    (name,) = undefined
    text = f"call output {definition.index} of {definition.node.describe()} {quote(name)}, which nothing defines"
    return only(ready(text, Assign(definition.place, name)))


def _is_for_another_rule(definition: Definition, other: Definition) -> bool:
    """Return true if an input has its default value here, or if another rule reports both, which are in one list."""
    if definition.node is not None or other.node is not None:
        return False
    if "input" in (definition.field, other.field):
        return definition.field != other.field or definition.graph.is_function
    return definition.graph is other.graph


def _cause(graph: Graph, definition: Definition, other: Definition) -> str | None:
    """Return the same text for all elements of a part that is in the graph twice: those of a copy are as far apart."""
    if definition.graph is not other.graph or definition.field != other.field:
        return None
    if definition.node is None or other.node is None:
        return f"{graph.place} {definition.field} {definition.index - other.index}"
    if definition.node.op_type != other.node.op_type or definition.index != other.index:
        return None
    return f"{graph.place} node {definition.node.index - other.node.index}"


def _clause(graph: Graph, definition: Definition, other: Definition) -> str:
    if other.graph is not graph:
        return "TRN-9"
    if graph.is_function:
        return "FUN-11"
    if definition.node is None:
        return "NAM-3"
    return "GRA-5" if other.node is not None else "NOD-5"
