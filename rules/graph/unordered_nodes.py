# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from onnx_lint.ir.names.ordering import fix_of_order
from onnx_lint.ir.names.resolution import LateUse
from onnx_lint.model import GraphKind, Model, Node, has_late_uses
from onnx_lint.rule import ALSO_SUPPRESSED, Finding, Related, folded, replace, rule
from onnx_lint.wording import quote


@rule(clause=("GRA-2", "NOD-9", "NOD-10", "FUN-9"), since="0.1.0", about=has_late_uses, needs="attribute")
def unordered_nodes(model: Model) -> Iterator[Finding]:
    """A node uses a value that only a later node defines.

    ### How to fix

    Write each node after the nodes whose outputs it uses. `onnx-lint fix` (safe) moves the fewest nodes and changes
    nothing else. It skips graphs in which a name is defined twice, because there the order decides what the name means.
    Other tools sort all nodes:

    - `onnx_ir`: `onnx_ir.passes.common.TopologicalSortPass()(model)`, or `graph.sort()` for one graph.
    - ONNX GraphSurgeon: `graph.toposort()`.

    ### Example

    ```
    node { op_type: "Relu" input: "a" output: "b" }
    node { op_type: "Abs" input: "x" output: "a" }
    ```

    Corrected:

    ```
    node { op_type: "Abs" input: "x" output: "a" }
    node { op_type: "Relu" input: "a" output: "b" }
    ```

    ### Why it matters

    Consumers read the list once and expect each value to exist when a node uses it.

    ### Details

    - Nodes must be in topological order in the main graph, nested graphs, function bodies and training graphs.
    - A value that a nested graph takes from an outer graph must be defined before the node that contains the nested
      graph.
    - ONNX Runtime sorts the nodes itself. Most other consumers refuse the model or fail when they load it.
    - There is one finding for each graph, with the number of such nodes.
    """
    more = ("more input is defined only later", "more inputs are defined only later")
    for graph, uses in groupby(_first_uses(model), lambda late: late.producer.graph):
        # Any order of the nodes without some of the faults is without all of them.
        for finding in folded(uses, _finding, graph.name, more, lambda _: ALSO_SUPPRESSED):
            yield replace(finding, fix=fix_of_order(graph, model.resolution))


def _first_uses(model: Model) -> Iterator[LateUse]:
    """Yield the late uses, each name once for a node."""
    seen: set[tuple[Node, str]] = set()
    for late in model.resolution.unordered:
        if (late.use.node, late.use.name) not in seen:
            seen.add((late.use.node, late.use.name))
            yield late


def _finding(late: LateUse) -> Finding:
    user, producer, graph = late.holder, late.producer, late.use.node.graph
    within = "" if graph is producer.graph else f" in {graph.describe()}"
    return Finding(
        late.use.place,
        f"{user.describe()} uses {quote(late.use.name)}{within}, which is defined only later by {producer.describe()}",
        clause=_clause(late),
        related=(Related(producer.place, f"{producer.describe()} defines {quote(late.use.name)}"),),
        allowed="nodes in topological order",
        subject=late.use.name,
        partners=(producer.place.at("output", producer.outputs.index(late.use.name)),),
    )


def _clause(late: LateUse) -> str:
    kind = late.producer.graph.kind
    if kind is GraphKind.FUNCTION:
        return "FUN-9"
    if kind is GraphKind.NESTED:
        return "NOD-10"
    return "NOD-9" if kind is GraphKind.MAIN else "GRA-2"
