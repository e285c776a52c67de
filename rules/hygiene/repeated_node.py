# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from typing import Final

from onnx_lint.common.salted import salted_key
from onnx_lint.inference.flow.folding import bytes_of, is_pure
from onnx_lint.ir.tensors.equal import digest_of
from onnx_lint.model import EXTERNAL_LOCATION, Graph, Model, Node, StoredTensor, Tensor
from onnx_lint.rule import Finding, Related, by_share, rule
from onnx_lint.wording import quote

_LARGE: Final = 1 << 16
"""The bytes of a Constant from which on deleting it makes the file smaller by what matters."""
_OFTEN_ON_PURPOSE: Final = frozenset({"DequantizeLinear", "QuantizeLinear"})
"""Tools that quantize a model repeat them, so that a runtime can fuse each with one user."""


@rule(clause=("HYG-18", "HYG-22"), since="0.2.0", needs="attribute", kinds={"least_bytes": "count"})
def repeated_node(model: Model, *, least_bytes: int = 1_024) -> Iterator[Finding]:
    """A node computes the same as an earlier node of its graph: operator, attributes and inputs are equal.

    ### How to fix

    Use the outputs of the first node, and delete the other one.

    - `onnx-lint fix --select repeated-node` (safe) does it; for 16-bit floating-point numbers and in functions, add
      `--unsafe-fixes`.
    - `onnx_ir.passes.common.CommonSubexpressionEliminationPass()(model)` also does it.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 800 } } } } }
    node { op_type: "Exp" input: "x" output: "a" }
    node { op_type: "Exp" input: "x" output: "b" }
    node { op_type: "Add" input: "a" input: "b" output: "y" }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 800 } } } } }
    node { op_type: "Exp" input: "x" output: "a" }
    node { op_type: "Add" input: "a" input: "a" output: "y" }
    ```

    ### Why it matters

    The runtime computes and stores the same value twice. Equal constants make the file larger.

    ### Details

    - Only results of at least `least_bytes` bytes (an option), or of unknown size, are reported.
    - If such nodes are fewer than a tenth of the model's nodes, or one or two, they are reported only if the rule is
      selected by its name. Constants of 64 KiB and more are always reported.
    - Constants are compared by their values.
    - Operators with random results, operators with subgraphs, functions, and operators of other domains are not
      compared.
    - QuantizeLinear and DequantizeLinear are not reported, because tools repeat them on purpose.
    - Nodes of different graphs are not compared. Two nodes whose results are both graph outputs are not reported.
    """
    yield from by_share(model, _findings(model, least_bytes), "HYG-18", "HYG-22")


def _findings(model: Model, least_bytes: int) -> Iterator[Finding]:
    not_parsed = _nodes_with_payloads(model)
    for graph in model.graphs:
        for node, first in _repetitions(model, graph, not_parsed.get(graph.place.key, {})):
            size = _size(model, node)
            if size >= least_bytes and not _are_results(graph, node.outputs, first.outputs):
                yield _finding(model, node, first, size)


def _nodes_with_payloads(model: Model) -> dict[object, dict[int, Hashable]]:
    """Return None for each node with data that stays in the file, by the place of the graph and its index there."""
    found: dict[object, dict[int, Hashable]] = {}
    for place in model.payloads:
        for depth, (field, index) in enumerate(place):
            if field == "node" and index is not None:
                found.setdefault(place[:depth], {})[index] = None
    return found


def _repetitions(model: Model, graph: Graph, not_parsed: dict[int, Hashable]) -> Iterator[tuple[Node, Node]]:
    """Yield the nodes of a graph that compute the same as an earlier node, each with the first such node."""
    if graph.is_file:
        return
    pure = {form for form in graph.form_counts if is_pure(model.operators, graph, form)}
    if not pure:
        return
    first: dict[Hashable, int] = {}
    equal: dict[str, str] = {}
    values = {**not_parsed, **_equal_constants(model, graph)}
    placed = set(graph.table.annotated.get("device_configurations", ()))
    for index, (form, inputs) in enumerate(zip(graph.forms, graph.node_inputs, strict=True)):
        if form not in pure or index in placed or form.op_type in _OFTEN_ON_PURPOSE:
            continue
        value = values.get(index, id(form))
        key = value, form.outputs, tuple([equal.get(name, name) for name in inputs])
        earlier = first.setdefault(key, index)
        if earlier != index and value is not None:
            node, other = graph.nodes[index], graph.nodes[earlier]
            equal.update(zip(node.outputs, other.outputs, strict=True))
            yield node, other


def _finding(model: Model, node: Node, first: Node, size: float) -> Finding:
    equal = {new: old for new, old in zip(node.outputs, first.outputs, strict=True) if new}
    return Finding(
        node.place,
        f"{node.describe()} computes the same as {first.describe()}",
        clause="HYG-18" if node.op_type == "Constant" and size >= _LARGE else None,
        allowed="one node for each computation",
        related=(Related(first.place, "the first one"),),
        subject=node.name or next(filter(None, node.outputs), None),
        cause=node.op_type,
        fix=model.removals.delete_nodes(
            f"delete {node.describe()} and read {quote(next(filter(None, first.outputs)))} instead",
            node.graph,
            (node.index,),
            equal,
        ),
    )


def _size(model: Model, node: Node) -> float:
    """Return the bytes of the largest output; infinity if one is unknown."""
    sizes = [bytes_of(model.value_flow.fact_of(name, node.graph)) for name in node.outputs if name]
    return max((math.inf if size is None else size for size in sizes), default=0)


def _are_results(graph: Graph, outputs: Sequence[str], others: Sequence[str]) -> bool:
    """Return whether a graph returns an output of one node, and that of the other."""
    results = set(graph.output_names)
    return any(new in results and old in results for new, old in zip(outputs, others, strict=True))


def _equal_constants(model: Model, graph: Graph) -> dict[int, Hashable]:
    """Return the values of Constants of one type and shape, by the index of the node."""
    found: dict[int, Hashable] = {}
    alike: dict[bytes, list[tuple[int, StoredTensor]]] = {}
    for node in graph.nodes_of({form for form in graph.form_counts if form.op_type == "Constant"}):
        for attribute, place in node.attributes():
            if attribute.name == "value" and attribute.HasField("t") and attribute.t.data_location != EXTERNAL_LOCATION:
                at = place.at("t")
                tensor = StoredTensor(Tensor(attribute.t, at, graph, model.payloads.get(at.key, ())), model.source)
                key = salted_key((attribute.t.data_type, *attribute.t.dims))
                alike.setdefault(key, []).append((node.index, tensor))
    for key, tensors in alike.items():
        if len(tensors) > 1 and not model.source.is_remote:
            found.update({index: (key, digest_of(tensor)) for index, tensor in tensors if tensor.field})
    return found
