# SPDX-License-Identifier: Apache-2.0
"""The forms of nodes of the default domain whose conversion may fail in OpenVINO.

Each function gets the model, the node, and the version of the default domain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from onnx_lint.engine.targets.parts_in_question import (
    has_attribute,
    is_parameter,
    normalized_sizes,
    stored_contents,
)
from onnx_lint.model import Model, Node
from onnx_lint.refusals.operands import input_name, input_shape, kind_of

IsDoubtful = Callable[[Model, Node, int], bool]
"""Returns whether the conversion of a node may fail, in a version of the operator set."""


def has_own(node: Node, name: str) -> bool:
    """Return whether a node has an attribute, also if a call decides its value."""
    return any(each.name == name for each in node.attribute_protos)


def is_constant_of_strings(_: Model, node: Node, version: int) -> bool:
    """Return whether a Constant has strings in an attribute of its own, or before version 13 no tensor."""
    if version < 13:
        return not has_own(node, "value")
    return has_own(node, "value_string") or has_own(node, "value_strings")


def may_train(model: Model, node: Node, version: int) -> bool:
    """Return whether a Dropout may be in training mode. Before version 7, it is unless `is_test` is 1."""
    if version < 7:
        return not has_attribute(node, "is_test", 1)
    name = input_name(node, 2)
    if not name:
        return False
    contents = stored_contents(model, node.graph, name)
    return not contents or any(each is None or any(each) for each in contents)


def is_batch_first_or_of_unknown_size(_: Model, node: Node, __: int) -> bool:
    """Return whether a recurrent node has no `hidden_size`, or may have `layout` 1."""
    return not has_own(node, "hidden_size") or has_attribute(node, "layout", 1)


def is_mod_of_floats(model: Model, node: Node, _: int) -> bool:
    """Return whether a Mod without `fmod` 1 has floats, which ONNX does not allow, or a type that is unknown."""
    kind = kind_of(model, node.graph, input_name(node, 0))
    return not has_attribute(node, "fmod", 1) and "int" not in kind


def has_rare_coordinates(_: Model, node: Node, __: int) -> bool:
    """Return whether a Resize may have one of two modes of coordinates."""
    return has_attribute(node, "coordinate_transformation_mode", b"half_pixel_symmetric", b"tf_crop_and_resize")


def is_rare_normalization(model: Model, node: Node, _: int) -> bool:
    """Return whether a BatchNormalization has several outputs, a rank below 2, inputs of several types, or an epsilon
    below 0.
    """
    if _may_be_below_0(node, "epsilon"):
        return True
    data = input_shape(model, node, 0)
    kinds = {kind_of(model, node.graph, name) for name in node.inputs}
    return len(node.outputs) > 1 or data is None or len(data) < 2 or len(kinds) > 1


def has_doubtful_window(model: Model, node: Node, version: int) -> bool:
    """Return whether the window of a pool may be longer than the padded input, or a pad as long as the window."""
    lists = {each.name: [*each.ints] for each in node.attribute_protos}
    kernel, data = lists.get("kernel_shape", []), input_shape(model, node, 0)
    count = len(kernel)
    pads = lists.get("pads", [0] * 2 * count)
    if data is None or len(data) != count + 2 or len(pads) != 2 * count or len(data) > _MOST_AXES:
        return True
    if (node.op_type == "LpPool" and version < 2) or 0 in data[:2]:
        return True
    dilations = [*lists.get("dilations", []), *[1] * count]
    windows = zip(kernel, dilations, pads[:count], pads[count:], data[2:], strict=False)
    return any(
        max(before, after) >= size or (isinstance(length, int) and (size - 1) * dilation + 1 > length + before + after)
        for size, dilation, before, after, length in windows
    )


def has_many_axes(model: Model, node: Node, _: int) -> bool:
    """Return whether a window has more than three axes, beside batch and channels."""
    return len(input_shape(model, node, 0) or ()) > _MOST_AXES


_MOST_AXES: Final = 5
"""The highest rank of what windows move over that OpenVINO converts."""


def is_scaled_by_less(model: Model, node: Node, _: int) -> bool:
    """Return whether a LayerNormalization may have a scale or a bias of another rank than it normalizes axes."""
    sizes = normalized_sizes(model, node)
    others = [model.shape_of(name, node.graph) for name in node.inputs[1:] if name]
    return sizes is None or any(each is None or len(each) != len(sizes) for each in others)


def shrinks_by_less_than_0(_: Model, node: Node, __: int) -> bool:
    """Return whether the `lambd` of a Shrink may be below 0."""
    return _may_be_below_0(node, "lambd")


def _may_be_below_0(node: Node, name: str) -> bool:
    """Return whether an attribute is below 0, or a parameter of a function."""
    return is_parameter(node, name) or any(each.name == name and each.f < 0 for each in node.attribute_protos)


def is_scalar_or_unknown(model: Model, node: Node, _: int) -> bool:
    """Return whether input 0 is a scalar, or its rank is unknown."""
    return not input_shape(model, node, 0)


def gathers_other_sizes(model: Model, node: Node, _: int) -> bool:
    """Return whether the indices have another size than the data on another axis than that of the node."""
    data, indices = input_shape(model, node, 0), input_shape(model, node, 1)
    if data is None or indices is None or len(data) != len(indices):
        return False
    axis = next((each.i for each in node.attribute_protos if each.name == "axis"), 0) % max(len(data), 1)
    pairs = [(a, b) for at, (a, b) in enumerate(zip(data, indices, strict=True)) if at != axis]
    return any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in pairs)


def has_doubtful_scale(model: Model, node: Node, _: int) -> bool:
    """Return whether a scale is of blocks, or may have another number of elements than the axis."""
    data, scale = input_shape(model, node, 0), input_shape(model, node, 1)
    if data is None or scale is None or len(scale) > 1 or _has_blocks(node):
        return True
    if input_name(node, 2) and not _is_zero_point_of(scale, input_shape(model, node, 2)):
        return True
    axis = next((each.i for each in node.attribute_protos if each.name == "axis"), 1)
    if not scale or scale[0] == 1:
        return False
    return not -len(data) <= axis < len(data) or data[axis] != scale[0]


def _is_zero_point_of(scale: Sequence[object], zero_point: Sequence[object] | None) -> bool:
    """Return whether a zero point has one element, or the shape of the scale."""
    return zero_point is not None and (all(size == 1 for size in zero_point) or [*zero_point] == [*scale])


def _has_blocks(node: Node) -> bool:
    return any(each.name == "block_size" and each.i for each in node.attribute_protos)


def has_many_scales(model: Model, node: Node, _: int) -> bool:
    """Return whether a scale of a QLinearConv or QLinearMatMul may have several elements."""
    shapes = [input_shape(model, node, index) for index in (1, 4, 6)]
    return any(each is None or any(size != 1 for size in each) for each in shapes)


def has_many_scales_or_axes(model: Model, node: Node, version: int) -> bool:
    """Return whether a QLinearConv may have several elements in a scale, or more than three axes in its window."""
    return has_many_scales(model, node, version) or has_many_axes(model, node, version)


def reduces_early_int8(model: Model, node: Node, version: int) -> bool:
    """Return whether a node reduces integers of 8 bits before version 13."""
    kind = kind_of(model, node.graph, input_name(node, 0))
    return version < 13 and kind in ("tensor(int8)", "tensor(uint8)")


def is_random_of_other_type(_: Model, node: Node, __: int) -> bool:
    """Return whether a node produces random numbers of another type than float."""
    return any(each.name == "dtype" and each.i != 1 for each in node.attribute_protos)


def has_unknown_size(model: Model, node: Node, _: int) -> bool:
    """Return whether a size of input 0 is unknown."""
    data = input_shape(model, node, 0)
    return data is None or not all(isinstance(size, int) for size in data)


def broadcasts_at_axis(_: Model, node: Node, version: int) -> bool:
    """Return whether a node broadcasts as operator sets before 7 do: the second operand begins at an axis."""
    return version < _BROADCASTS_AS_NUMPY and has_own(node, "axis")


_BROADCASTS_AS_NUMPY: Final = 7


def has_list(model: Model, node: Node, _: int) -> bool:
    """Return whether an operand of a Range is no scalar."""
    return any(input_shape(model, node, index) for index in range(3))


def has_no_axes(model: Model, node: Node, _: int) -> bool:
    """Return whether the input with the axes has no elements."""
    return 0 in (input_shape(model, node, 1) or ())


def has_many_numbers(model: Model, node: Node, version: int) -> bool:
    """Return whether the input of a TopK with the number of elements may have several."""
    number = input_shape(model, node, 1)
    return version >= _WITH_NUMBER_AS_INPUT and (number is None or any(size != 1 for size in number))


_WITH_NUMBER_AS_INPUT: Final = 10
"""The first version of TopK that reads the number of elements from an input."""


def has_unknown_counts(model: Model, node: Node, _: int) -> bool:
    """Return whether it is unknown how many depths or values a OneHot has."""
    return any(not isinstance(size, int) for index in (1, 2) for size in input_shape(model, node, index) or ())
