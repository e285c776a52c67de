# SPDX-License-Identifier: Apache-2.0
"""A node of the default domain, as the functions see it that ask whether OpenVINO may fail to convert it."""

from __future__ import annotations

from collections.abc import Callable

from onnx_lint.common.record import Record
from onnx_lint.engine.targets.node_attributes import has_attribute, is_parameter, may_have_value
from onnx_lint.inference.shapes.dims import Shape
from onnx_lint.model import Model, Node
from onnx_lint.refusals.operands import input_shape, kind_of


class NodeToConvert(Record):
    """A node of the default domain, with its model and the version of the operator set."""

    model: Model
    node: Node
    version: int

    def kind(self, name: str) -> str:
        """Return the type of a value that the node reads, such as `tensor(float)`; empty if it is unknown."""
        return kind_of(self.model, self.node.graph, name)

    def shape(self, index: int) -> Shape:
        """Return the shape of an input; None if it is unknown, or if the node omits the input."""
        return input_shape(self.model, self.node, index)

    def has_attribute(self, name: str) -> bool:
        """Return whether the node has an attribute, also if a call decides its value."""
        return has_attribute(self.node, name)

    def may_have_value(self, name: str, *values: int | str) -> bool:
        """Return whether an attribute has one of these values, or may get it from a call of its function."""
        return may_have_value(self.node, name, *values)

    def may_be_negative(self, name: str) -> bool:
        """Return whether an attribute is a float below 0, or a parameter of a function."""
        given = self.node.attribute_protos
        return is_parameter(self.node, name) or any(each.name == name and each.f < 0 for each in given)


MayFail = Callable[[NodeToConvert], bool]
"""Returns whether the conversion of a node may fail."""
