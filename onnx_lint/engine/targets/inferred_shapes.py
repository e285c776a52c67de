# SPDX-License-Identifier: Apache-2.0
"""The values whose shapes the inference of onnx surely finds, from the shapes of the inputs alone."""

from __future__ import annotations

from typing import Final

from onnx_lint.ir.graph import Definition, GraphKind
from onnx_lint.model import Model, Node
from onnx_lint.spec.releases import normalized_domain


class InferredShapes:
    """Answers whether onnx infers the shapes of values. Each node is looked at once for all findings."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._is_inferred_by_node: dict[Node, bool] = {}
        """Whether onnx infers the shape of the first output of a node, for those that were asked about."""

    def are_inferred(self, name: str) -> bool:
        """Return whether onnx infers the shapes of the values of this name for which a graph declares a type."""
        graphs = [graph for graph in self._model.graphs if name in graph.value_info_names]
        return bool(graphs) and all(self._is_inferred(graph.definition_of(name)) for graph in graphs)

    def _is_inferred(self, found: Definition | None) -> bool:
        """Return whether onnx infers the shape of a value, since that of each value before it needs no contents."""
        if found is not None and found.node is not None and found.node not in self._is_inferred_by_node:
            self._look_at(found.node)
        return self._was_inferred(found)

    def _look_at(self, node: Node) -> None:
        """Set `_is_inferred_by_node` for a node, and for those before it. A cycle is not inferred."""
        known = self._is_inferred_by_node
        pending, begun = [node], set[Node]()
        while pending:
            current = pending[-1]
            sources = [current.graph.definition_of(name) for name in current.inputs if name]
            if current not in begun and current not in known and self._needs_only_shapes(current):
                begun.add(current)
                before = [each.node for each in sources if each is not None and each.node is not None]
                pending += [each for each in before if each not in known and each not in begun]
                continue
            pending.pop()
            if current not in known:
                known[current] = current in begun and all(map(self._was_inferred, sources))

    def _was_inferred(self, found: Definition | None) -> bool:
        """Return whether onnx infers the shape of a value whose node is in `_is_inferred_by_node`."""
        if found is None or found.node is None:
            return found is not None and self._has_sizes(found)
        return not found.index and self._is_inferred_by_node.get(found.node, False)

    def _has_sizes(self, found: Definition) -> bool:
        """Return whether an input of the main graph, or an initializer, has a shape of numbers."""
        if found.field == "initializer":
            return True
        if found.field != "input" or found.graph.kind is not GraphKind.MAIN:
            return False
        shape = self._model.shape_of(found.graph.input_names[found.index], found.graph)
        return shape is not None and all(isinstance(size, int) for size in shape)

    def _needs_only_shapes(self, node: Node) -> bool:
        """Return whether onnx infers the first output of a node from the shapes of the inputs alone."""
        if normalized_domain(node.domain) or node.op_type not in INFERRED:
            return False
        return (self._model.imports.versions(node.graph.function).get("") or 0) >= INFERRED_SINCE


INFERRED_SINCE: Final = 7
"""The first version of the default domain in which onnx infers the shapes of all these operators."""

_NAMES: Final = (
    "Abs Acos Acosh Add And Asin Asinh Atan Atanh BatchNormalization Cast Ceil Celu Concat Constant Conv Cos Cosh "
    "Div Dropout Elu Equal Erf Exp Flatten Floor Gather Gelu Gemm GlobalAveragePool GlobalMaxPool Greater "
    "GreaterOrEqual HardSigmoid HardSwish Identity InstanceNormalization LayerNormalization LeakyRelu Less "
    "LessOrEqual Log LogSoftmax MatMul Max Mean Min Mish Mul Neg Not Or PRelu Pow Reciprocal Relu Round Selu Shape "
    "Sigmoid Sign Sin Sinh Softmax Softplus Softsign Sqrt Sub Sum Tan Tanh ThresholdedRelu Transpose Where Xor"
)
INFERRED: Final = frozenset(_NAMES.split())
"""Operators of the default domain whose first output gets its shape from onnx without the contents of an input."""
