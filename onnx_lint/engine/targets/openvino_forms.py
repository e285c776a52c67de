# SPDX-License-Identifier: Apache-2.0
"""The forms of nodes of the default domain whose conversion may fail in OpenVINO."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from onnx_lint.engine.targets.model_parts import normalized_sizes, stored_contents
from onnx_lint.engine.targets.node_attributes import has_value, integer_of
from onnx_lint.engine.targets.node_to_convert import NodeToConvert
from onnx_lint.refusals.operands import input_name
from onnx_lint.spec.element_types import DataType


def is_constant_of_strings(node: NodeToConvert) -> bool:
    """Return whether a Constant has strings in an attribute of its own, or before version 13 no tensor."""
    if node.version < 13:
        return not node.has_attribute("value")
    return node.has_attribute("value_string") or node.has_attribute("value_strings")


def may_train(node: NodeToConvert) -> bool:
    """Return whether a Dropout may be in training mode. Before version 7, it is unless `is_test` is 1."""
    if node.version < 7:
        return not has_value(node.node, "is_test", 1)
    name = input_name(node.node, 2)
    if not name:
        return False
    contents = stored_contents(node.model, node.node.graph, name)
    return not contents or any(each is None or any(each) for each in contents)


def may_be_batch_first_or_of_unknown_size(node: NodeToConvert) -> bool:
    """Return whether a recurrent node has no `hidden_size`, or may have `layout` 1."""
    return not node.has_attribute("hidden_size") or node.may_have_value("layout", 1)


def may_be_mod_of_floats(node: NodeToConvert) -> bool:
    """Return whether a Mod without `fmod` 1 has floats, which ONNX does not allow, or a type that is unknown."""
    return not has_value(node.node, "fmod", 1) and "int" not in node.kind(input_name(node.node, 0))


def may_use_unconverted_coordinates(node: NodeToConvert) -> bool:
    """Return whether a Resize may have one of the two coordinate modes that OpenVINO does not convert."""
    return node.may_have_value("coordinate_transformation_mode", "half_pixel_symmetric", "tf_crop_and_resize")


def is_unusual_normalization(node: NodeToConvert) -> bool:
    """Return whether a BatchNormalization has several outputs, a rank below 2, inputs of several types, or an epsilon
    below 0.
    """
    if node.may_be_negative("epsilon"):
        return True
    data = node.shape(0)
    kinds = {node.kind(name) for name in node.node.inputs}
    return len(node.node.outputs) > 1 or data is None or len(data) < 2 or len(kinds) > 1


def may_have_long_window(node: NodeToConvert) -> bool:
    """Return whether the window of a pool may be longer than the padded input, or a pad as long as the window."""
    lists = {each.name: [*each.ints] for each in node.node.attribute_protos}
    kernel, data = lists.get("kernel_shape", []), node.shape(0)
    count = len(kernel)
    pads = lists.get("pads", [0] * 2 * count)
    if data is None or len(data) != count + 2 or len(pads) != 2 * count or len(data) > _MAX_RANK:
        return True
    if (node.node.op_type == "LpPool" and node.version < 2) or 0 in data[:2]:
        return True
    dilations = [*lists.get("dilations", []), *[1] * count]
    windows = zip(kernel, dilations, pads[:count], pads[count:], data[2:], strict=False)
    return any(
        max(before, after) >= size or (isinstance(length, int) and (size - 1) * dilation + 1 > length + before + after)
        for size, dilation, before, after, length in windows
    )


def has_many_axes(node: NodeToConvert) -> bool:
    """Return whether a window has more than three axes, beside batch and channels."""
    return len(node.shape(0) or ()) > _MAX_RANK


_MAX_RANK: Final = 5
"""The highest rank of what windows move over that OpenVINO converts."""


def scale_rank_may_differ(node: NodeToConvert) -> bool:
    """Return whether the scale or bias of a LayerNormalization may have another rank than the number of its axes."""
    sizes = normalized_sizes(node.model, node.node)
    others = [node.model.shape_of(name, node.node.graph) for name in node.node.inputs[1:] if name]
    return sizes is None or any(each is None or len(each) != len(sizes) for each in others)


def lambd_may_be_negative(node: NodeToConvert) -> bool:
    """Return whether the `lambd` of a Shrink may be below 0."""
    return node.may_be_negative("lambd")


def may_be_scalar(node: NodeToConvert) -> bool:
    """Return whether input 0 is a scalar, or its rank is unknown."""
    return not node.shape(0)


def gathers_other_sizes(node: NodeToConvert) -> bool:
    """Return whether the indices have another size than the data on another axis than that of the node."""
    data, indices = node.shape(0), node.shape(1)
    if data is None or indices is None or len(data) != len(indices):
        return False
    gathered = integer_of(node.node, "axis", 0) % max(len(data), 1)
    sizes = zip(data, indices, strict=True)
    return any(
        isinstance(size, int) and isinstance(count, int) and size != count
        for axis, (size, count) in enumerate(sizes)
        if axis != gathered
    )


def may_have_unfitting_scale(node: NodeToConvert) -> bool:
    """Return whether a scale is of blocks, or may have another number of elements than the axis."""
    data, scale = node.shape(0), node.shape(1)
    if data is None or scale is None or len(scale) > 1 or integer_of(node.node, "block_size", 0):
        return True
    if input_name(node.node, 2) and not _is_zero_point_of(scale, node.shape(2)):
        return True
    if not scale or scale[0] == 1:
        return False
    axis = integer_of(node.node, "axis", 1)
    return not -len(data) <= axis < len(data) or data[axis] != scale[0]


def _is_zero_point_of(scale: Sequence[object], zero_point: Sequence[object] | None) -> bool:
    """Return whether a zero point has one element, or the shape of the scale."""
    return zero_point is not None and (all(size == 1 for size in zero_point) or [*zero_point] == [*scale])


def may_have_several_scales(node: NodeToConvert) -> bool:
    """Return whether a scale of a QLinearConv or QLinearMatMul may have several elements."""
    shapes = [node.shape(index) for index in (1, 4, 6)]
    return any(each is None or any(size != 1 for size in each) for each in shapes)


def may_have_several_scales_or_axes(node: NodeToConvert) -> bool:
    """Return whether a QLinearConv may have several elements in a scale, or more than three axes in its window."""
    return may_have_several_scales(node) or has_many_axes(node)


def reduces_early_int8(node: NodeToConvert) -> bool:
    """Return whether a node reduces integers of 8 bits before version 13."""
    return node.version < 13 and node.kind(input_name(node.node, 0)) in ("tensor(int8)", "tensor(uint8)")


def is_random_of_other_type(node: NodeToConvert) -> bool:
    """Return whether a node produces random numbers of another type than float."""
    return integer_of(node.node, "dtype", DataType.FLOAT) != DataType.FLOAT


def has_unknown_size(node: NodeToConvert) -> bool:
    """Return whether a size of input 0 is unknown."""
    data = node.shape(0)
    return data is None or not all(isinstance(size, int) for size in data)


def broadcasts_at_axis(node: NodeToConvert) -> bool:
    """Return whether a node broadcasts as operator sets before 7 do: the second operand begins at an axis."""
    return node.version < _BROADCASTS_AS_NUMPY and node.has_attribute("axis")


_BROADCASTS_AS_NUMPY: Final = 7


def has_list(node: NodeToConvert) -> bool:
    """Return whether an operand of a Range is no scalar."""
    return any(node.shape(index) for index in range(3))


def has_no_axes(node: NodeToConvert) -> bool:
    """Return whether the input with the axes has no elements."""
    return 0 in (node.shape(1) or ())


def may_have_several_counts(node: NodeToConvert) -> bool:
    """Return whether the input of a TopK with the number of elements may itself have several elements."""
    number = node.shape(1)
    return node.version >= _WITH_NUMBER_AS_INPUT and (number is None or any(size != 1 for size in number))


_WITH_NUMBER_AS_INPUT: Final = 10
"""The first version of TopK that reads the number of elements from an input."""


def has_unknown_depth_or_values(node: NodeToConvert) -> bool:
    """Return whether it is unknown how many depths or values a OneHot has."""
    return any(not isinstance(size, int) for index in (1, 2) for size in node.shape(index) or ())
