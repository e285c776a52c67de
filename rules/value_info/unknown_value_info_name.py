# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence, Set
from functools import partial
from itertools import compress
from typing import Final

from onnx_lint.model import Delete, Fix, Graph, Model, has_unusual_names
from onnx_lint.rule import Faults, Finding, rule
from onnx_lint.wording import Suggestions, quote, quote_some

_SHOWN: Final = 3

_IS_LOST: Final = "a node reads the name, so the entry may be right, and the definition of the value lost"
"""Why an entry is not deleted."""


@rule(clause=("VI-5", "FUN-23"), since="0.1.0", about=has_unusual_names, needs="graph")
def unknown_value_info_name(model: Model) -> Iterator[Finding]:
    """An entry of `value_info` names no value.

    ### How to fix

    Delete the entries of removed values. `onnx-lint fix` does it (safe). `onnx.shape_inference.infer_shapes` writes the
    needed entries of a graph without `value_info`.

    ### Example

    ```
    node { op_type: "Relu" input: "x" output: "y" }
    value_info { name: "removed" type { tensor_type { elem_type: 1 shape { } } } }
    ```

    Corrected:

    ```
    node { op_type: "Relu" input: "x" output: "y" }
    ```

    ### Why it matters

    The entry is left from a node that was removed or renamed. A value that gets the name later gets a wrong type.

    ### Details

    - In a graph, an entry may name its inputs, initializers and node outputs, values of graphs nested in it, and values
      of outer graphs that it sees.
    - In a function, an entry may name the function's own values and those of graphs nested in its body.
    - In a graph it is one note: no consumer reads such entries, and optimisers leave hundreds of them.
    - In a function each is an error, because the text allows no other names.
    - An entry is not deleted if a node uses the name: the value lost its definition or its name (`undefined-name`).
    """
    suggestions, lost = Suggestions(), set(model.resolution.undefined_names)
    for graph in model.graphs_with("value_info"):
        indices = _unknown(graph)
        if indices:
            found = _of_function(graph, indices, suggestions, lost)
            yield from found if graph.is_function else (_of_graph(lost, graph, indices),)


def _unknown(graph: Graph) -> Sequence[int]:
    """The indices of the entries that name no value, in four bytes each: all of a large file may be such."""
    names, known = graph.value_info_names, graph.positions
    if all(map(known.__contains__, names)):
        return ()
    nested = _nested_names(graph)
    are_unknown = (name and name not in known and name not in nested and not graph.sees(name) for name in names)
    return array("I", compress(range(len(names)), are_unknown))


def _nested_names(graph: Graph) -> set[str]:
    names: set[str] = set()
    pending = list(graph.nested)
    while pending:
        nested = pending.pop()
        names.update(nested.positions)
        pending += nested.nested
    return names


def _of_function(graph: Graph, indices: Sequence[int], suggestions: Suggestions, lost: Set[str]) -> Iterator[Finding]:
    for index in indices:
        name = graph.value_info_names[index]
        fix = Fix(f"delete value info {quote(name)} of {graph.describe()}", (Delete(graph.at("value_info", index)),))
        yield Finding(
            graph.at("value_info", index),
            f"value info {quote(name)} of {graph.describe()} names no value of the function"
            f"{suggestions(name, graph.positions)}",
            clause="FUN-23",
            allowed="the name of an input, an output or a node output of the function",
            subject=name,
            fix=_IS_LOST if name in lost else fix,
        )


def _of_graph(lost: Set[str], graph: Graph, indices: Sequence[int]) -> Finding:
    names = graph.value_info_names
    count = len({names[index] for index in indices})
    if count == 1:
        message = f"value info {quote(names[indices[0]])} of {graph.describe()} names no value"
    else:
        shown = "" if count <= _SHOWN else f", first {_SHOWN} shown"
        first: dict[str, None] = {}
        for index in indices:
            first[names[index]] = None
            if len(first) == _SHOWN:
                break
        message = f"{count:,} entries of value_info in {graph.describe()} name no value{shown}: {quote_some(first)}"
    useless = [index for index in indices if names[index] not in lost] if lost else indices
    fix = Fix.of_many(
        f"delete the entries of value_info in {graph.describe()} that name no value",
        len(useless),
        lambda: (Delete(graph.at("value_info", index)) for index in useless),
    )
    return Finding(
        graph.at("value_info", indices[0]),
        message,
        clause="VI-5",
        allowed="the name of a value of the graph",
        subject=graph.name,
        collective=True,
        fix=fix if useless else _IS_LOST,
        parts=Faults.of_entries(partial(_of_graph, lost), graph, "value_info", names, indices),
    )
