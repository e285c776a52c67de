# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.ir.names.c90_names import as_c90
from onnx_lint.model import Assign, Fix, FreshNames, Graph, Model
from onnx_lint.rule import Finding, folded, replace, rule


@rule(clause="HYG-12", since="0.2.0", needs="attribute")
def unnamed_node(model: Model) -> Iterator[Finding]:
    """A node has no name.

    ### How to fix

    Name each node.

    - `onnx-lint fix --unsafe-fixes --select unnamed-node` (unsafe: other files may use names that a reader generates)
      uses the name of the operator, and a number if another node has it: `Relu` and `Relu_1`.
    - `onnx_ir.passes.common.NameFixPass()(model)` also names nodes.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    node { op_type: "Relu" input: "x" output: "positive" }
    node { op_type: "Neg" input: "positive" output: "y" name: "negate" }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    node { op_type: "Relu" input: "x" output: "positive" name: "Relu" }
    node { op_type: "Neg" input: "positive" output: "y" name: "negate" }
    ```

    ### Why it matters

    Profilers, quantization tools and error messages identify a node by its name. Without one, they show an index that
    changes with every edit of the model.

    ### Details

    - The specification allows nodes without names.
    - All such nodes of a model are one finding.
    """
    more = ("more node has no name", "more nodes have no name")
    for finding in folded(_unnamed(model), _finding, None, more):
        yield replace(finding, fix=_fix(model, finding.count))


def _unnamed(model: Model) -> Iterator[tuple[Graph, int]]:
    for graph in model.graphs:
        if "" in graph.node_names:
            yield from ((graph, index) for index, name in enumerate(graph.node_names) if not name)


def _finding(unnamed: tuple[Graph, int]) -> Finding:
    graph, index = unnamed
    node = graph.nodes[index]
    return Finding(node.place, f"{node.describe().removeprefix('unnamed ')} has no name", allowed="a name")


def _fix(model: Model, count: int) -> Fix:
    what = "give 1 node its operator as a name" if count == 1 else f"give {count:,} nodes their operators as names"
    return Fix(what, (), is_safe=False, later=lambda: _names(model))


def _names(model: Model) -> Iterator[Assign]:
    fresh = FreshNames(name for graph in model.graphs for name in graph.node_names)
    for graph, index in _unnamed(model):
        name = as_c90(graph.nodes[index].op_type) or "node"
        yield Assign(graph.at("node", index).at("name"), fresh.like(name))
