# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from onnx_lint.ir.names.resolution import UndefinedName
from onnx_lint.model import Graph, GraphKind, Model, Place, has_unusual_names, nameless_definition
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(
    clause=("VI-1", "VI-7", "FUN-5a", "INI-1", "SPA-1"),
    since="0.1.0",
    about=has_unusual_names,
    needs="value-info",
)
def unnamed_value(model: Model) -> Iterator[Finding]:
    """A graph or function declares a value without a name.

    ### How to fix

    Name the value, or delete it if nothing uses it.

    ### Example

    ```
    input { type { tensor_type { elem_type: 1 shape { } } } }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { } } } }
    ```

    ### Why it matters

    Nothing can refer to the value: an empty name in a node is an omitted operand. `onnx.checker`
    refuses an unnamed input or initializer.

    ### Details

    - Inputs and outputs of graphs and functions, entries of `value_info`, and initializers need a name.
    - A sparse initializer has the name of its values.
    - Tensors in attributes need no name. Outputs of a node may have the empty name.
    """
    graphs = [*filter(_has_unnamed, model.graphs)]
    nameless = nameless_definition(model) if graphs else None
    for graph in graphs:
        for field, names, clause in _lists(graph):
            if "" not in names:
                continue
            for index, name in enumerate(names):
                if name or not _is_there(graph, field, index):
                    continue
                what = "the value" if graph.is_file else f"{field.replace('_', ' ')} {index} of {graph.describe()}"
                yield Finding(
                    graph.at(field, index),
                    f"{what} has no name",
                    clause=clause,
                    allowed="a non-empty name",
                    related=_users(nameless, graph.at(field, index)),
                )


def _users(nameless: tuple[UndefinedName, Place] | None, place: Place) -> tuple[Related, ...]:
    """Return the nodes that use the only undefined name, if this is the only initializer without a name."""
    if nameless is None or nameless[1] != place:
        return ()
    undefined = nameless[0]
    name = quote(undefined.name)
    return tuple(
        Related(use.place, f"{use.node.describe()} uses {name}, which nothing defines")
        for use in undefined.uses(_MAX_USERS)
    )


_MAX_USERS: Final = 4


def _has_unnamed(graph: Graph) -> bool:
    if "" in graph.input_names or "" in graph.output_names:
        return True
    if graph.is_function:
        return bool(graph.proto.value_info) and "" in graph.value_info_names
    return "" in graph.value_info_names or "" in graph.initializer_names or "" in graph.sparse_initializer_names


def _lists(graph: Graph) -> Iterator[tuple[str, list[str], str]]:
    parameters = {GraphKind.FUNCTION: "FUN-5a", GraphKind.NESTED: "VI-7"}.get(graph.kind, "VI-1")
    yield "input", graph.input_names, parameters
    yield "output", graph.output_names, parameters
    yield "value_info", graph.value_info_names, "VI-1"
    yield "initializer", graph.initializer_names, "INI-1"
    yield "sparse_initializer", graph.sparse_initializer_names, "SPA-1"


def _is_there(graph: Graph, field: str, index: int) -> bool:
    """A sparse initializer without values lacks more than a name, which is another rule's."""
    return field != "sparse_initializer" or graph.proto.sparse_initializer[index].HasField("values")
