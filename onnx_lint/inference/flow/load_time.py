# SPDX-License-Identifier: Apache-2.0
"""What consumers know of a value when they load a model, before any run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.walks import Call
from onnx_lint.inference.shapes.dims import are_sizes
from onnx_lint.inference.shapes.stated import fact_of_type
from onnx_lint.ir.graph import Definition, Graph, Node
from onnx_lint.ir.operators.control_flow import CONTROL_FLOW_OPERATORS
from onnx_lint.spec.operators.attribute_constraints import NONDETERMINISTIC

MAX_FOLDED: Final = 20
"""The most nodes in a row that compute a constant from constants."""

_KEEPING: Final = frozenset({"Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
"""Operators that leave a constant constant. ONNX Runtime computes them when it loads a model (constant folding)."""

_NOT_FOLDED: Final = NONDETERMINISTIC | CONTROL_FLOW_OPERATORS

_SHAPED_INPUTS: Final = {
    **dict.fromkeys(("Constant", "ConstantOfShape"), 0),
    **dict.fromkeys(("Cast", "Expand", "Identity", "Relu", "Reshape", "Sigmoid", "Slice", "Transpose"), 1),
    **dict.fromkeys(("Add", "Conv", "Div", "Gemm", "MatMul", "Mul", "Sub"), 3),
}
"""Operators whose output shape consumers infer from the shapes of so many inputs, if the other inputs are constants."""


class ValueInCall(Record):
    """A value that a graph sees, in a call of the function that has the graph."""

    graph: Graph
    name: str
    call: Call | None

    @property
    def origin(self) -> _ValueOrigin | None:
        """The definition of the value; for an input of a function that of the argument. None if it is unknown."""
        value: ValueInCall | None = self
        while value is not None:
            definition = value.graph.definition_of(value.name)
            if definition is None:
                return None
            if definition.node is not None or not definition.graph.is_function:
                return _ValueOrigin(definition, value.call)
            value = _argument(definition, value.call)
        return None


class _ValueOrigin(Record):
    """The definition of a value outside of functions, or by a node, with the call that it is in."""

    definition: Definition
    call: Call | None

    @property
    def node(self) -> Node | None:
        """The node that defines the value."""
        return self.definition.node

    def inputs(self, names: Sequence[str]) -> list[ValueInCall]:
        """Return the inputs of the node with these names, without omitted ones."""
        assert self.node is not None
        return [ValueInCall(self.node.graph, name, self.call) for name in names if name]


def is_constant(value: ValueInCall, depth: int) -> bool:
    """Return whether a value is the same in each run: an initializer that no input overrides, or a Constant.

    Up to `depth` nodes of `_KEEPING` may be between the constant and the value, and a call may pass it to a function.
    """
    origin = value.origin
    if origin is None:
        return False
    node = origin.node
    if node is None:
        return origin.definition.field != "input"
    if node.op_type not in _KEEPING or node.domain or not node.inputs or not depth:
        return node.op_type == "Constant"
    wrapped, *others = [ValueInCall(node.graph, name, origin.call) for name in node.inputs]
    return is_constant(wrapped, depth - 1) and all(is_constant(each, 0) for each in others)


def has_shape_at_load(value: ValueInCall, depth: int = MAX_FOLDED) -> bool:
    """Return whether consumers know the shape of a value when they load a model.

    It is stored or declared, or up to `depth` nodes make it of such a value, and of constants.
    """
    origin = value.origin
    if origin is None:
        return False
    node = origin.node
    if node is None:
        return True
    count = _SHAPED_INPUTS.get(node.op_type) if not node.domain and depth else None
    if count is None:
        return _is_folded(value, depth)
    shaped = [ValueInCall(node.graph, name, origin.call) for name in node.inputs[:count]]
    are_known = all(has_shape_at_load(each, depth - 1) for each in shaped)
    return are_known and all(_is_folded(each, depth - 1) for each in origin.inputs(node.inputs[count:]))


def _is_folded(value: ValueInCall, depth: int) -> bool:
    """Return whether ONNX Runtime knows a value when it loads a model.

    Up to `depth` nodes in a row may compute it from constants and from the declared sizes of inputs.
    """
    origin = value.origin
    if origin is None:
        return False
    node = origin.node
    if node is None:
        return origin.definition.field != "input"
    if node.op_type == "Constant":
        return True
    if node.domain or not depth or node.op_type in _NOT_FOLDED or not any(node.inputs):
        return False
    if node.op_type == "Shape" and _has_declared_sizes(node.graph, node.inputs[0]):
        return True
    return all(_is_folded(each, depth - 1) for each in origin.inputs(node.inputs))


def _has_declared_sizes(graph: Graph, name: str) -> bool:
    """Return whether a value is an input of its graph that is declared with sizes alone."""
    definition = graph.definition_of(name)
    if definition is None or definition.field != "input" or definition.graph.is_function:
        return False
    return are_sizes(fact_of_type(definition.graph.proto.input[definition.index].type).shape)


def _argument(definition: Definition, call: Call | None) -> ValueInCall | None:
    """Return the argument of the call for an input of a function, in the call around it."""
    function = definition.graph.function
    # A graph that a function passes to another one runs in a call of the other.
    while call and function and (call.node.domain, call.node.op_type) != (function.domain, function.name):
        call = call.around
    if call is None or definition.index >= len(call.node.inputs):
        return None
    return ValueInCall(call.node.graph, call.node.inputs[definition.index], call.around)
