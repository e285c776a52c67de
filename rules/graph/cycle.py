# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from onnx_lint.model import Model, Node, has_late_uses
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote, unquoted

MAX_SHOWN_VALUES = 20
"""A longer circle is cut in the message."""

MAX_RELATED = 100
"""The limit on listed nodes of a cycle; readers do not follow more."""


@rule(clause="GRA-1", since="0.1.0", about=has_late_uses, needs="attribute")
def cycle(model: Model) -> Iterator[Finding]:
    """Nodes depend on one another in a circle.

    ### How to fix

    Find the input with the wrong name. To repeat a computation, move it into the body of a Loop or Scan, which passes
    values from one iteration to the next.

    ### Example

    ```
    node { op_type: "Add" input: "x" input: "b" output: "a" }
    node { op_type: "Relu" input: "a" output: "b" }
    ```

    Corrected:

    ```
    node { op_type: "Add" input: "x" input: "x" output: "a" }
    node { op_type: "Relu" input: "a" output: "b" }
    ```

    ### Why it matters

    No execution order exists, because each node waits for the next. No consumer can run the graph.

    ### Details

    - A node also depends on the values that the graphs in its attributes take from outer graphs.
    - If there are several cycles through the same nodes, only a shortest one is reported.
    - `unordered-nodes` does not report the nodes of a cycle again.
    """
    for found in model.resolution.cycles:
        nodes = islice(zip(found.nodes, found.values, strict=True), MAX_RELATED)
        yield Finding(
            found.use.place,
            f"the nodes of {found.nodes[0].graph.describe()} form a cycle: {_cycle_in_words(found.values)}",
            related=tuple(_related(node, value) for node, value in nodes),
            allowed="a graph without cycles",
            subject=found.use.name,
            inner=_repeated_edges(found.nodes, found.values),
            partners=tuple(node.place for node in found.nodes),
        )


def _repeated_edges(nodes: Sequence[Node], values: Sequence[str]) -> str:
    """Return how often each node reads the one before it; nothing if all of them do once."""
    counts = [max(1, nodes[(at + 1) % len(nodes)].inputs.count(value)) for at, value in enumerate(values)]
    return "" if max(counts) == 1 else f"edges {counts}"


def _cycle_in_words(values: tuple[str, ...]) -> str:
    """Return the names of the values along the cycle; the number of those after the first MAX_SHOWN_VALUES."""
    shown = [unquoted(value) for value in values[:MAX_SHOWN_VALUES]]
    if len(values) > MAX_SHOWN_VALUES:
        shown.append(f"... {len(values) - MAX_SHOWN_VALUES:,} more ...")
    return " -> ".join((*shown, shown[0]))


def _related(node: Node, value: str) -> Related:
    return Related(node.place, f"{node.describe()} defines {quote(value)}")
