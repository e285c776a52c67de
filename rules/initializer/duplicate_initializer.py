# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Graph, Model, has_unusual_names
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause=("INI-2", "INI-2a"), since="0.1.0", about=has_unusual_names, needs="attribute")
def duplicate_initializer(model: Model) -> Iterator[Finding]:
    """Two initializers of a graph have one name.

    ### How to fix

    - Delete the initializer that you do not mean, or rename it and its uses.
    - Code that changes a weight must replace the tensor, not append another one.

    ### Example

    ```
    initializer { name: "w" data_type: 1 dims: 1 float_data: 1 }
    initializer { name: "w" data_type: 1 dims: 1 float_data: 2 }
    ```

    Corrected:

    ```
    initializer { name: "w" data_type: 1 dims: 1 float_data: 2 }
    ```

    ### Why it matters

    Some readers take the first tensor, others the last.

    ### Details

    - All initializers of a graph, dense and sparse together, must have different names.
    - Edition 1.9 requires it only within each of the two lists.
    """
    for graph in model.graphs:
        names = [*graph.initializer_names, *graph.sparse_initializer_names]
        if len(set(names)) != len(names):
            yield from _duplicates(graph)


def _duplicates(graph: Graph) -> Iterator[Finding]:
    first: dict[str, tuple[str, int]] = {}
    lists = {"initializer": graph.initializer_names, "sparse_initializer": graph.sparse_initializer_names}
    for field, names in lists.items():
        for index, name in enumerate(names):
            other_field, other = first.setdefault(name, (field, index))
            if (other_field, other) == (field, index) or not name:
                continue
            yield Finding(
                graph.at(field, index),
                f"{_both(other_field, other, field, index)} of {graph.describe()} are both called {quote(name)}",
                clause="INI-2" if field == other_field else "INI-2a",
                related=(Related(graph.at(other_field, other), f"first initializer {quote(name)}"),),
                allowed="one initializer for each name",
                subject=name,
                # Those of a part that is in the graph twice are as far apart.
                cause=f"{graph.place} {index - other}" if field == other_field else None,
            )


def _both(field: str, index: int, other_field: str, other: int) -> str:
    one, two = (each.replace("_", " ") for each in (field, other_field))
    return f"{one}s {index} and {other}" if one == two else f"{one} {index} and {two} {other}"
