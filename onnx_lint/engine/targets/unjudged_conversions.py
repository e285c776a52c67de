# SPDX-License-Identifier: Apache-2.0
"""Parts of a model that programs which convert models refuse in some models: they cannot be said to load such a model.

The data of OpenVINO list the operators and types that it lacks in general. The tables below list the kinds of nodes
whose conversion failed in OpenVINO 2026.4.1, in 1,884 node tests of onnx, 10,667 models with one node, all fixtures and
exports. Nodes of these kinds may load in some models, and in another release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from onnx_lint.engine.targets.parts_in_question import (
    has_attribute,
    inputs_of_kind,
    is_parameter,
    kind_of,
    may_be_constant,
    nodes_of,
    normalized_sizes,
    phrases,
    stored_contents,
)
from onnx_lint.engine.targets.unjudged_bodies import has_doubtful_branches, has_doubtful_loop, has_doubtful_scan
from onnx_lint.model import AlikeNodes, Model, Node
from onnx_lint.spec.element_types import ELEMENT_TYPES, DataType
from onnx_lint.spec.products import ProductRelease


def unjudged_by_converters(model: Model, release: ProductRelease) -> Iterator[str]:
    """Yield the parts that a release refuses in some models, in words; for OpenVINO also the nodes."""
    yield from phrases(
        (inputs_of_kind(model, _NOT_CONVERTED), "input", "of a type that the release may not have"),
        (_tensors_of_other_types(model, release), "tensor", "of a type that the release may not have"),
        # A release refuses one that a node reads, unless it is the default of an input.
        (
            sum(len(graph.sparse_initializer_names) for graph in model.graphs_with("sparse_initializer")),
            "sparse initializer",
            "",
        ),
        (
            sum(each.proto.HasField("segment") for each in (*model.tensors.miscounted, *model.tensors.external)),
            "tensor",
            "in segments",
        ),
        # A release loads such a tensor only if the file holds nothing else.
        (
            sum(each.is_external and "length" not in each.keys for each in model.external_data),
            "tensor",
            "in data files without a length",
        ),
        (
            sum(0 in each.proto.dims for each in model.tensors.of({DataType.STRING})),
            "tensor",
            "of strings without elements",
        ),
        (int(not model.proto.opset_import), "model", "without imports"),
        (sum(map(_has_negative_axes, nodes_of(model, "Resize"))), "node", "of Resize with negative axes"),
    )
    if release.product == "openvino":
        yield from _unjudged_nodes(model)


_NOT_CONVERTED: Final = r"map\(|sparse|opaque|complex|float[46]e|\bu?int2\b"
"""A pattern of the types of inputs that OpenVINO does not convert."""


def _tensors_of_other_types(model: Model, release: ProductRelease) -> int:
    """Return the number of tensors of types that the data of the release do not list; 0 if they list no types."""
    if not release.element_types:
        return 0
    others = {number for number, each in ELEMENT_TYPES.items() if f"tensor({each.name})" not in release.element_types}
    return sum(1 for _ in model.tensors.of(others))


def _has_negative_axes(node: Node) -> bool:
    return any(min(each.ints, default=0) < 0 for each in node.attribute_protos if each.name == "axes")


def _unjudged_nodes(model: Model) -> Iterator[str]:
    """Yield the nodes of the kinds whose conversion fails in some models, in words."""
    for alike in model.operators.alike_nodes:
        if alike.operator.domain or alike.operator.function is not None:
            continue
        doubts = Counter(_doubt(model, alike, node) for node in alike.nodes)
        for what, count in doubts.items():
            if what:
                said = f"of {alike.operator.op_type} {what}".rstrip()
                yield from phrases((count, "node", f"{said}, whose conversion may fail"))


def _doubt(model: Model, alike: AlikeNodes, node: Node) -> str:
    """Return the form of a node of the default domain with which its conversion may fail, in words; otherwise empty."""
    name, version = alike.operator.op_type, alike.operator.opset_version or 0
    if name in _ALWAYS_DOUBTFUL:
        return " "  # there is nothing to say but the name
    if name in _NEED_RANKS and _has_unknown_rank(model, node):
        return "with an operand of unknown rank"
    if name.startswith(("Arg", "Reduce")) and (doubt := _doubt_of_reduction(model, node)):
        return doubt
    types = _CONVERTED_TYPES.get(name)
    if types is not None and node.inputs and not _has_type(model, node, types):
        return "with a first input of this type"
    is_doubtful = _DOUBTFUL_FORMS.get(name)
    if is_doubtful is not None and is_doubtful(model, node, version):
        return _WORDS.get(name, "in this form")
    has_strings = any(kind_of(model, node.graph, each) == "tensor(string)" for each in node.inputs if each)
    return "of strings" if has_strings else ""


def _doubt_of_reduction(model: Model, node: Node) -> str:
    """Return why the conversion of a reduction may fail, for any of its operators; otherwise empty."""
    if 0 in (_sizes(model, node, 0) or ()) and may_be_constant(model, node.graph, node.inputs[0]):
        return "of a constant without elements"
    if len(node.inputs) < 2:
        return ""
    axes = _sizes(model, node, 1)
    return "" if axes is not None and all(isinstance(size, int) for size in axes) else "with axes of unknown number"


_ALWAYS: Final = (
    "AffineGrid Attention Bernoulli BlackmanWindow Col2Im ConcatFromSequence HammingWindow HannWindow "
    "NegativeLogLikelihoodLoss RotaryEmbedding STFT SequenceAt SequenceConstruct SequenceEmpty SequenceErase "
    "SequenceInsert SequenceLength SplitToSequence"
)
_ALWAYS_DOUBTFUL: Final = frozenset(_ALWAYS.split())
"""Operators whose conversion may fail for reasons that are not compared here: sequences, constants, masks."""

_RANKED: Final = (
    "Conv ConvInteger ConvTranspose DepthToSpace DequantizeLinear GlobalLpPool GridSample InstanceNormalization "
    "LogSoftmax LpNormalization OneHot Pad QLinearConv QLinearMatMul QuantizeLinear Resize ReverseSequence Softmax "
    "SpaceToDepth TopK Upsample"
)
_NEED_RANKS: Final = frozenset(_RANKED.split())
"""Operators whose conversion fails if the rank of an operand is unknown."""


def _has_unknown_rank(model: Model, node: Node) -> bool:
    return any(model.shape_of(name, node.graph) is None for name in node.inputs if name)


def _has_type(model: Model, node: Node, types: str) -> bool:
    """Return whether the first input has one of these types."""
    kind = kind_of(model, node.graph, node.inputs[0])
    return kind.removeprefix("tensor(").removesuffix(")") in types.split()


_CONVERTED_TYPES: Final[Mapping[str, str]] = {
    "BatchNormalization": "float float16 double",
    "Celu": "float",
    "DFT": "float float16 bfloat16",
    "MaxRoiPool": "float float16 double",
    "RMSNormalization": "float",
    "RandomNormalLike": "float float16 double bfloat16",
    "RandomUniformLike": "float",
    "Resize": "float float16 bfloat16 int8 uint8 int32 int64",
    "Upsample": "float float16 bfloat16 int8 uint8 int32 int64",
}
"""The types of input 0 with which a conversion does not fail, for operators that ONNX allows other types for."""


_IsDoubtful = Callable[[Model, Node, int], bool]
"""Returns whether the conversion of a node may fail, in a version of the operator set."""


def _sizes(model: Model, node: Node, index: int) -> Sequence[object] | None:
    """Return the shape of an input; None if it is unknown, or if the node leaves it out."""
    name = node.inputs[index] if index < len(node.inputs) else ""
    return model.shape_of(name, node.graph) if name else None


def _has(node: Node, name: str) -> bool:
    """Return whether a node has an attribute."""
    return any(each.name == name for each in node.attribute_protos)


def _is_constant_of_strings(_: Model, node: Node, version: int) -> bool:
    """Return whether a Constant has strings in an attribute of its own, or before version 13 no tensor."""
    if version < 13:
        return not _has(node, "value")
    return _has(node, "value_string") or _has(node, "value_strings")


def _may_train(model: Model, node: Node, version: int) -> bool:
    """Return whether a Dropout may be in training mode. Before version 7, it is unless `is_test` is 1."""
    if version < 7:
        return not has_attribute(node, "is_test", 1)
    name = node.inputs[2] if len(node.inputs) > 2 else ""
    if not name:
        return False
    contents = stored_contents(model, node.graph, name)
    return not contents or any(each is None or any(each) for each in contents)


def _is_batch_first_or_of_unknown_size(_: Model, node: Node, __: int) -> bool:
    return not _has(node, "hidden_size") or has_attribute(node, "layout", 1)


def _is_mod_of_floats(model: Model, node: Node, _: int) -> bool:
    """Return whether a Mod without `fmod` 1 has floats, which ONNX does not allow, or a type that is unknown."""
    kind = kind_of(model, node.graph, node.inputs[0]) if node.inputs else ""
    return not has_attribute(node, "fmod", 1) and "int" not in kind


def _has_rare_coordinates(_: Model, node: Node, __: int) -> bool:
    return has_attribute(node, "coordinate_transformation_mode", b"half_pixel_symmetric", b"tf_crop_and_resize")


def _is_rare_normalization(model: Model, node: Node, _: int) -> bool:
    """Return whether a BatchNormalization has several outputs, a rank below 2, inputs of several types, or an epsilon
    below 0.
    """
    if _may_be_below_0(node, "epsilon"):
        return True
    data = _sizes(model, node, 0)
    kinds = {kind_of(model, node.graph, name) for name in node.inputs}
    return len(node.outputs) > 1 or data is None or len(data) < 2 or len(kinds) > 1


def _has_doubtful_window(model: Model, node: Node, version: int) -> bool:
    """Return whether the window of a pool may be longer than the padded input, or a pad as long as the window."""
    lists = {each.name: [*each.ints] for each in node.attribute_protos}
    kernel, data = lists.get("kernel_shape", []), _sizes(model, node, 0)
    count = len(kernel)
    pads = lists.get("pads", [0] * 2 * count)
    if data is None or len(data) != count + 2 or len(pads) != 2 * count or len(data) > _MOST_AXES:
        return True
    if node.op_type == "LpPool" and version < 2:
        return True
    if any(max(pads[axis], pads[axis + count]) >= size for axis, size in enumerate(kernel)):
        return True
    if 0 in data[:2]:
        return True
    dilations = lists.get("dilations", [1] * count)
    for axis, (size, length) in enumerate(zip(kernel, data[2:], strict=True)):
        dilation = dilations[axis] if axis < len(dilations) else 1
        padding = pads[axis] + pads[axis + count]
        if isinstance(length, int) and (size - 1) * dilation + 1 > length + padding:
            return True
    return False


def _has_many_axes(model: Model, node: Node, _: int) -> bool:
    """Return whether a window has more than three axes, beside batch and channels."""
    return len(_sizes(model, node, 0) or ()) > _MOST_AXES


_MOST_AXES: Final = 5
"""The highest rank of what windows move over that OpenVINO converts."""


def _is_scaled_by_less(model: Model, node: Node, _: int) -> bool:
    """Return whether a LayerNormalization may have a scale or a bias of another rank than it normalizes axes."""
    sizes = normalized_sizes(model, node)
    others = [model.shape_of(name, node.graph) for name in node.inputs[1:] if name]
    return sizes is None or any(each is None or len(each) != len(sizes) for each in others)


def _shrinks_by_less_than_0(_: Model, node: Node, __: int) -> bool:
    return _may_be_below_0(node, "lambd")


def _may_be_below_0(node: Node, name: str) -> bool:
    """Return whether an attribute is below 0, or a parameter of a function."""
    return is_parameter(node, name) or any(each.name == name and each.f < 0 for each in node.attribute_protos)


def _is_scalar_or_unknown(model: Model, node: Node, _: int) -> bool:
    """Return whether input 0 is a scalar, or its rank is unknown."""
    return not _sizes(model, node, 0)


def _gathers_other_sizes(model: Model, node: Node, _: int) -> bool:
    """Return whether the indices have another size than the data on another axis than that of the node."""
    data, indices = _sizes(model, node, 0), _sizes(model, node, 1)
    if data is None or indices is None or len(data) != len(indices):
        return False
    axis = next((each.i for each in node.attribute_protos if each.name == "axis"), 0) % max(len(data), 1)
    pairs = [(a, b) for at, (a, b) in enumerate(zip(data, indices, strict=True)) if at != axis]
    return any(isinstance(a, int) and isinstance(b, int) and a != b for a, b in pairs)


def _has_doubtful_scale(model: Model, node: Node, _: int) -> bool:
    """Return whether a scale is of blocks, or may have another number of elements than the axis."""
    data, scale = _sizes(model, node, 0), _sizes(model, node, 1)
    if data is None or scale is None or len(scale) > 1 or _has_blocks(node):
        return True
    if len(node.inputs) > 2 and node.inputs[2] and not _is_zero_point_of(scale, _sizes(model, node, 2)):
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


def _has_many_scales(*indices: int) -> _IsDoubtful:
    """Return the function that returns whether one of these inputs may have several elements."""

    def has_many(model: Model, node: Node, _: int) -> bool:
        shapes = [_sizes(model, node, index) for index in indices]
        return any(each is None or any(size != 1 for size in each) for each in shapes)

    return has_many


def _reduces_early_int8(model: Model, node: Node, version: int) -> bool:
    """Return whether a node reduces integers of 8 bits before version 13."""
    kind = kind_of(model, node.graph, node.inputs[0]) if node.inputs else ""
    return version < 13 and kind in ("tensor(int8)", "tensor(uint8)")


def _is_random_of_other_type(_: Model, node: Node, __: int) -> bool:
    """Return whether a node produces random numbers of another type than float."""
    return any(each.name == "dtype" and each.i != 1 for each in node.attribute_protos)


def _has_unknown_size(model: Model, node: Node, _: int) -> bool:
    """Return whether a size of input 0 is unknown."""
    data = _sizes(model, node, 0)
    return data is None or not all(isinstance(size, int) for size in data)


def _broadcasts_at_axis(_: Model, node: Node, version: int) -> bool:
    """Return whether a node broadcasts as operator sets before 7 do: the second operand begins at an axis."""
    return version < _BROADCASTS_AS_NUMPY and _has(node, "axis")


_BROADCASTS_AS_NUMPY: Final = 7


def _has_list(model: Model, node: Node, _: int) -> bool:
    """Return whether an operand of a Range is no scalar."""
    return any(_sizes(model, node, index) for index in range(3))


def _has_no_axes(model: Model, node: Node, _: int) -> bool:
    """Return whether the input with the axes has no elements."""
    return 0 in (_sizes(model, node, 1) or ())


def _has_many_numbers(model: Model, node: Node, version: int) -> bool:
    """Return whether the input of a TopK with the number of elements may have several."""
    number = _sizes(model, node, 1)
    return version >= _WITH_NUMBER_AS_INPUT and (number is None or any(size != 1 for size in number))


_WITH_NUMBER_AS_INPUT: Final = 10
"""The first version of TopK that reads the number of elements from an input."""


def _has_unknown_counts(model: Model, node: Node, _: int) -> bool:
    """Return whether it is unknown how many depths or values a OneHot has."""
    return any(not isinstance(size, int) for index in (1, 2) for size in _sizes(model, node, index) or ())


_DOUBTFUL_FORMS: Final[Mapping[str, _IsDoubtful]] = {
    **dict.fromkeys(("ArgMax", "ArgMin"), _is_scalar_or_unknown),
    **dict.fromkeys(("AveragePool", "LpPool", "MaxPool"), _has_doubtful_window),
    **dict.fromkeys(("And", "Equal", "Greater", "Less", "Or", "Pow", "Xor"), _broadcasts_at_axis),
    "BatchNormalization": _is_rare_normalization,
    "Cast": lambda _, node, version: version < 6,
    "Concat": lambda _, node, version: not _has(node, "axis"),
    "Constant": _is_constant_of_strings,
    **dict.fromkeys(("DequantizeLinear", "QuantizeLinear"), _has_doubtful_scale),
    **dict.fromkeys(("Conv", "ConvInteger", "ConvTranspose"), _has_many_axes),
    "Dropout": _may_train,
    **dict.fromkeys(("GRU", "LSTM", "RNN"), _is_batch_first_or_of_unknown_size),
    "GatherElements": _gathers_other_sizes,
    "GlobalLpPool": _has_unknown_size,
    "GridSample": lambda model, node, _: len(_sizes(model, node, 0) or ()) != 4,
    "If": has_doubtful_branches,
    "LayerNormalization": _is_scaled_by_less,
    "Loop": has_doubtful_loop,
    "Mod": _is_mod_of_floats,
    "OneHot": _has_unknown_counts,
    "Pad": lambda _, node, version: has_attribute(node, "mode", b"wrap"),
    "QLinearConv": lambda *given: _has_many_scales(1, 4, 6)(*given) or _has_many_axes(*given),
    "QLinearMatMul": _has_many_scales(1, 4, 6),
    **dict.fromkeys(("RandomNormalLike", "RandomUniform", "RandomUniformLike"), _is_random_of_other_type),
    "Range": _has_list,
    **dict.fromkeys(("ReduceMax", "ReduceMin"), _reduces_early_int8),
    "Reshape": lambda _, node, version: version < 5 and not _has(node, "shape"),
    "Resize": _has_rare_coordinates,
    "ReverseSequence": _has_unknown_size,
    "Scan": has_doubtful_scan,
    "Shrink": _shrinks_by_less_than_0,
    **dict.fromkeys(("Squeeze", "Unsqueeze"), _has_no_axes),
    "TopK": _has_many_numbers,
}
"""Which nodes of an operator have a form whose conversion may fail. The number is the version of the operator set."""

_OF_POOLS: Final = "with windows or pads that may be too long, or of more than three axes"
_WORDS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("AveragePool", "LpPool", "MaxPool"), _OF_POOLS),
    **dict.fromkeys(("And", "Equal", "Greater", "Less", "Or", "Pow", "Xor"), "with axis, before operator set 7"),
    **dict.fromkeys(("ArgMax", "ArgMin"), "of a scalar, or of unknown rank"),
    "BatchNormalization": "with several outputs, parameters of another type, less than two dimensions, or an epsilon "
    "below 0",
    "Cast": "of operator sets before 6",
    "Constant": "of strings, or without a tensor",
    **dict.fromkeys(
        ("DequantizeLinear", "QuantizeLinear"), "with scales in blocks, or not one for each element of axis"
    ),
    **dict.fromkeys(("Conv", "ConvInteger", "ConvTranspose"), "with windows of more than three axes"),
    "Dropout": "that may be in training mode",
    **dict.fromkeys(("GRU", "LSTM", "RNN"), "without hidden_size, or with layout 1"),
    "GatherElements": "with indices of another size",
    **dict.fromkeys(("GlobalLpPool", "ReverseSequence"), "of unknown size"),
    "GridSample": "of another rank than 4",
    "If": "with a condition of unknown rank, or with branches that return what no node of them computes",
    "Loop": "whose states may change their shapes, or whose body returns what no node of it computes, or reads a "
    "condition that it only passes on",
    "LayerNormalization": "with a scale or a bias of another rank than it normalizes axes",
    "Mod": "of floats without fmod",
    "Pad": "with mode 'wrap'",
    **dict.fromkeys(("QLinearConv", "QLinearMatMul"), "with several scales, or windows of more than three axes"),
    **dict.fromkeys(("RandomNormalLike", "RandomUniform", "RandomUniformLike"), "with another dtype than FLOAT"),
    "Range": "of a list",
    **dict.fromkeys(("ReduceMax", "ReduceMin"), "of int8 or uint8 before operator set 13"),
    "Resize": "with coordinate_transformation_mode 'half_pixel_symmetric' or 'tf_crop_and_resize'",
    "Shrink": "with a lambd below 0",
    "Scan": "whose body reads values from outside or has another Scan",
    **dict.fromkeys(("Squeeze", "Unsqueeze"), "with axes of no elements"),
    "OneHot": "with depths or values of unknown number",
    "TopK": "with a number of unknown size",
}
"""The forms of `_DOUBTFUL_FORMS` in words."""
