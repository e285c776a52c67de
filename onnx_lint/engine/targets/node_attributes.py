# SPDX-License-Identifier: Apache-2.0
"""Questions about the attributes of nodes. In a function, the call may decide a value."""

from __future__ import annotations

from collections.abc import Sequence

from onnx_lint.model import Node
from onnx_lint.refusals.operands import attribute_value


def has_attribute(node: Node, name: str) -> bool:
    """Return whether a node has an attribute, also if a call decides its value."""
    return any(each.name == name for each in node.attribute_protos)


def has_own_value(node: Node, name: str) -> bool:
    """Return whether a node has an attribute with a value of its own. A call may omit one that is a parameter."""
    return any(each.name == name and not each.ref_attr_name for each in node.attribute_protos)


def is_parameter(node: Node, *names: str) -> bool:
    """Return whether a node has one of these attributes with the value of a parameter of its function."""
    return any(each.name in names and each.ref_attr_name for each in node.attribute_protos)


def has_value(node: Node, name: str, value: int | str) -> bool:
    """Return whether an attribute of a node surely has a value: no call decides it."""
    given = [each for each in node.attribute_protos if each.name == name and not each.ref_attr_name]
    return any(attribute_value(each) == value for each in given)


def may_have_value(node: Node, name: str, *values: int | str) -> bool:
    """Return whether an attribute of a node has one of these values, or may get it from a call of its function."""
    return is_parameter(node, name) or any(
        each.name == name and attribute_value(each) in values for each in node.attribute_protos
    )


def integer_of(node: Node, name: str, default: int) -> int:
    """Return the integer of an attribute that is no parameter; the default if the node lacks it."""
    return next((int(each.i) for each in node.attribute_protos if each.name == name), default)


def integers_of(node: Node, name: str) -> Sequence[int]:
    """Return the integers of an attribute that is no parameter; empty if the node lacks it."""
    return next((each.ints for each in node.attribute_protos if each.name == name), ())
