# SPDX-License-Identifier: Apache-2.0
"""The products of a transposed tensor of float16 that end the process of ONNX Runtime 1.23.2 and 1.32.0.

They do if the other operand is a constant of at most two dimensions, and if the Transpose makes the first axis one of
the last two and keeps the order of the others. Seen for all permutations of three and four axes, on both sides.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from onnx_lint.engine.targets.model_parts import may_be_constant, passed_on
from onnx_lint.engine.targets.node_attributes import integers_of, is_parameter
from onnx_lint.ir.operators.stored_elements import StoredElements
from onnx_lint.model import Graph, Model, Node
from onnx_lint.refusals.operands import input_name, kind_of, output_name
from onnx_lint.spec.releases import normalized_domain


def count_products_ending_process(model: Model, products: Sequence[Node]) -> int:
    """Return the number of products that may end the process."""
    return _Products(model).count(products)


class _Products:
    """The products of a model."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._sources = StoredElements(model.calls, model.main_graph)
        self._readers: dict[Graph, dict[str, list[Node]]] = {}

    def count(self, products: Sequence[Node]) -> int:
        return sum(len(node.inputs) > 1 and self._may_end_process(node) for node in products)

    def _may_end_process(self, node: Node) -> bool:
        first, second = node.inputs[:2]
        if kind_of(self._model, node.graph, first) != "tensor(float16)":
            return False
        pairs = ((first, second), (second, first))
        is_one = any(self._is_transposed(node, one) and self._is_constant(node, other) for one, other in pairs)
        return is_one and not self._has_bias(node)

    # --- the transposed operand

    def _is_transposed(self, node: Node, name: str) -> bool:
        """Return whether an operand may come from a Transpose that only moves the first axis."""
        return any(
            found.node is not None and self._moves_first_axis(found.node)
            for found in self._sources.definitions_behind(node.graph, name, self._behind)
        )

    def _behind(self, node: Node, output: str) -> Sequence[str]:
        """Return the inputs of a node that is removed, or that follows the product after a fusion."""
        if normalized_domain(node.domain):
            return ()
        if node.op_type in ("Mul", "Div"):
            return node.inputs
        if node.op_type == "Reshape" and node.inputs:
            before, after = (self._model.shape_of(name, node.graph) for name in (node.inputs[0], output))
            return node.inputs[:1] if before is None or after is None or [*before] == [*after] else ()
        return passed_on(self._model, node, output)

    def _moves_first_axis(self, node: Node) -> bool:
        """Return whether a Transpose only moves the first axis, or may do so with one before it."""
        if normalized_domain(node.domain) or node.op_type != "Transpose" or not node.inputs:
            return False
        graph = node.graph
        if graph is self._model.main_graph and node.outputs[0] in graph.output_names:
            return False
        before = self._sources.definitions_behind(graph, node.inputs[0], self._behind)
        if any(each.node is not None and each.node.op_type == "Transpose" for each in before):
            return True
        return is_parameter(node, "perm") or _moves_only_axis_0(node)

    # --- the constant

    def _is_constant(self, node: Node, name: str) -> bool:
        """Return whether an operand of at most two dimensions may be computed while the model is loaded."""
        shape = self._model.shape_of(name, node.graph)
        if shape is not None and len(shape) > 2:
            return False
        return may_be_constant(self._model, node.graph, name, _NOT_FOLDED)

    # --- the bias

    def _has_bias(self, node: Node) -> bool:
        """Return whether a product and the constant bias that alone reads it become a Gemm first: sizes are known."""
        output, graph = output_name(node, 0), node.graph
        readers = self._readers_in(graph).get(output, ())
        if len(readers) != 1 or readers[0].op_type != "Add" or output in graph.output_names:
            return False
        others = [name for name in readers[0].inputs if name != output]
        if node.op_type != "MatMul" or len(others) != 1 or not self._is_constant(readers[0], others[0]):
            return False
        return self._fits_gemm(node, others[0])

    def _fits_gemm(self, node: Node, bias_name: str) -> bool:
        """Return whether the known sizes of a product and its bias are those of a Gemm."""
        names = (input_name(node, 1), output_name(node, 0), bias_name)
        weights, sizes, bias = (self._model.shape_of(name, node.graph) for name in names)
        if weights is None or sizes is None or bias is None or len(weights) != 2:
            return False
        return all(isinstance(size, int) for size in sizes) and [*bias] == [*sizes[-1:]]

    def _readers_in(self, graph: Graph) -> dict[str, list[Node]]:
        if graph not in self._readers:
            found = self._readers[graph] = {}
            for node in graph.nodes:
                for name in node.inputs:
                    found.setdefault(name, []).append(node)
        return self._readers[graph]


def _moves_only_axis_0(node: Node) -> bool:
    """Return whether a Transpose makes the first axis one of the last two, and keeps the order of the others."""
    order = integers_of(node, "perm")
    others = [axis for axis in order if axis]
    return len(order) > 2 and 0 in order[-2:] and others == sorted(others)


_NOT_FOLDED: Collection[str] = ("DequantizeLinear", "Mul")
"""The operators that ONNX Runtime does not compute with constants of float16."""
