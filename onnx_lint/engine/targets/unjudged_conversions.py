# SPDX-License-Identifier: Apache-2.0
"""The parts for which OpenVINO or TensorRT refuses some models. Each makes the verdict *not proven*.

The data of OpenVINO list the operators and types that it lacks in general. The tables below list the kinds of nodes
whose conversion failed in OpenVINO 2026.4.1, in 1,884 node tests of onnx, 10,667 models with one node, all fixtures and
exports. Nodes of these kinds may load in some models, and in another release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.engine.targets import openvino_forms as forms
from onnx_lint.engine.targets.model_parts import count_inputs_of_kind, may_be_constant
from onnx_lint.engine.targets.node_to_convert import MayFail, NodeToConvert
from onnx_lint.engine.targets.unjudged_bodies import branches_may_fail, loop_may_fail, scan_may_fail
from onnx_lint.engine.targets.unjudged_kinds import UnjudgedKind, node_kind, phrase, phrases
from onnx_lint.engine.targets.unjudged_tensors import count_tensors_in_segments
from onnx_lint.model import Model, Node
from onnx_lint.spec.element_types import ELEMENT_TYPES, DataType
from onnx_lint.spec.products import ProductRelease


def unjudged_by_converters(model: Model, release: ProductRelease) -> Iterator[str]:
    """Yield the parts that a release refuses in some models, as phrases; for OpenVINO also the nodes."""
    yield from phrases(model, (_INPUTS,))
    yield from phrase(_count_tensors_of_other_types(model, release), "tensor", _OF_RARE_TYPE)
    yield from phrases(model, _UNJUDGED)
    if release.product == "openvino":
        yield from _unjudged_nodes(model)


_OF_RARE_TYPE: Final = "of a type that the release may not have"


def _count_inputs_of_rare_types(model: Model) -> int:
    return count_inputs_of_kind(model, _NOT_CONVERTED)


_NOT_CONVERTED: Final = r"map\(|sparse|opaque|complex|float[46]e|\bu?int2\b"
"""A pattern of the types of inputs that OpenVINO does not convert."""

_INPUTS: Final = UnjudgedKind("input", _OF_RARE_TYPE, _count_inputs_of_rare_types)


def _count_tensors_of_other_types(model: Model, release: ProductRelease) -> int:
    """Return the number of tensors of types that the data of the release do not list; 0 if they list no types."""
    if not release.element_types:
        return 0
    others = {number for number, each in ELEMENT_TYPES.items() if f"tensor({each.name})" not in release.element_types}
    return sum(1 for _ in model.tensors.of(others))


def _count_sparse_initializers(model: Model) -> int:
    return sum(len(graph.sparse_initializer_names) for graph in model.graphs_with("sparse_initializer"))


def _count_data_files_without_length(model: Model) -> int:
    return sum(each.is_external and "length" not in each.keys for each in model.external_data)


def _count_empty_tensors_of_strings(model: Model) -> int:
    return sum(0 in each.proto.dims for each in model.tensors.of({DataType.STRING}))


def _has_negative_axes(_: Model, node: Node) -> bool:
    return any(min(each.ints, default=0) < 0 for each in node.attribute_protos if each.name == "axes")


_UNJUDGED: Final = (
    # A release refuses one that a node reads, unless it is the default of an input.
    UnjudgedKind("sparse initializer", "", _count_sparse_initializers),
    UnjudgedKind("tensor", "in segments", count_tensors_in_segments),
    # A release loads such a tensor only if the file holds nothing else.
    UnjudgedKind("tensor", "in data files without a length", _count_data_files_without_length),
    UnjudgedKind("tensor", "of strings without elements", _count_empty_tensors_of_strings),
    UnjudgedKind("model", "without imports", lambda model: int(not model.proto.opset_import)),
    node_kind(("Resize",), "of Resize with negative axes", _has_negative_axes),
)


def _unjudged_nodes(model: Model) -> Iterator[str]:
    """Yield the nodes of the forms whose conversion fails in some models, as phrases."""
    for alike in model.operators.alike_nodes:
        if alike.operator.domain or alike.operator.function is not None:
            continue
        name, version = alike.operator.op_type, alike.operator.opset_version or 0
        if name in _NEVER_JUDGED:
            yield from phrase(len(alike.nodes), "node", f"of {name}, whose conversion may fail")
            continue
        counts = Counter(_unjudged_form(name, NodeToConvert(model, node, version)) for node in alike.nodes)
        for form, count in counts.items():
            if form is not None:
                yield from phrase(count, "node", f"of {name} {form}, whose conversion may fail")


def _unjudged_form(name: str, node: NodeToConvert) -> str | None:
    """Return the form with which the conversion of a node may fail, in words; None if it does not fail."""
    inputs = node.node.inputs
    if name in _NEED_RANKS and _has_unknown_rank(node):
        return "with an operand of unknown rank"
    if name.startswith(("Arg", "Reduce")) and (form_of_reduction := _unjudged_reduction(node)) is not None:
        return form_of_reduction
    types = _CONVERTED_TYPES.get(name)
    if types is not None and inputs and node.kind(inputs[0]) not in types:
        return "with a first input of this type"
    form = _UNJUDGED_FORMS.get(name)
    if form is not None and form.may_fail(node):
        return form.words
    return "of strings" if any(node.kind(each) == "tensor(string)" for each in inputs if each) else None


def _unjudged_reduction(node: NodeToConvert) -> str | None:
    """Return the form of a reduction with which the conversion of any of its operators may fail; otherwise None."""
    if 0 in (node.shape(0) or ()) and may_be_constant(node.model, node.node.graph, node.node.inputs[0]):
        return "of a constant without elements"
    axes = node.shape(1)
    is_known = len(node.node.inputs) < 2 or (axes is not None and all(isinstance(size, int) for size in axes))
    return None if is_known else "with axes of unknown number"


_ALWAYS: Final = (
    "AffineGrid Attention Bernoulli BlackmanWindow Col2Im ConcatFromSequence HammingWindow HannWindow "
    "NegativeLogLikelihoodLoss RotaryEmbedding STFT SequenceAt SequenceConstruct SequenceEmpty SequenceErase "
    "SequenceInsert SequenceLength SplitToSequence"
)
_NEVER_JUDGED: Final = frozenset(_ALWAYS.split())
"""Operators whose conversion may fail for reasons that are not compared here: sequences, constants, masks."""

_RANKED: Final = (
    "Conv ConvInteger ConvTranspose DepthToSpace DequantizeLinear GlobalLpPool GridSample InstanceNormalization "
    "LogSoftmax LpNormalization OneHot Pad QLinearConv QLinearMatMul QuantizeLinear Resize ReverseSequence Softmax "
    "SpaceToDepth TopK Upsample"
)
_NEED_RANKS: Final = frozenset(_RANKED.split())
"""Operators whose conversion fails if the rank of an operand is unknown."""


def _has_unknown_rank(node: NodeToConvert) -> bool:
    return any(node.model.shape_of(name, node.node.graph) is None for name in node.node.inputs if name)


def _tensors(*element_types: str) -> frozenset[str]:
    return frozenset(f"tensor({name})" for name in element_types)


_FLOATS: Final = _tensors("float", "float16", "double")
_IMAGES: Final = _tensors("float", "float16", "bfloat16", "int8", "uint8", "int32", "int64")

_CONVERTED_TYPES: Final[Mapping[str, frozenset[str]]] = {
    "BatchNormalization": _FLOATS,
    "Celu": _tensors("float"),
    "DFT": _tensors("float", "float16", "bfloat16"),
    "MaxRoiPool": _FLOATS,
    "RMSNormalization": _tensors("float"),
    "RandomNormalLike": _FLOATS | _tensors("bfloat16"),
    "RandomUniformLike": _tensors("float"),
    "Resize": _IMAGES,
    "Upsample": _IMAGES,
}
"""The types of input 0 with which a conversion does not fail, for operators that ONNX allows other types for."""


class _UnjudgedForm(Record):
    """A form of the nodes of an operator with which a conversion may fail."""

    may_fail: MayFail
    words: str = "in this form"


_POOL: Final = _UnjudgedForm(
    forms.may_have_long_window, "with windows or pads that may be too long, or of more than three axes"
)
_BROADCAST: Final = _UnjudgedForm(forms.broadcasts_at_axis, "with axis, before operator set 7")
_SCALES: Final = "with several scales, or windows of more than three axes"
_SIZE: Final = _UnjudgedForm(forms.has_unknown_size, "of unknown size")

_UNJUDGED_FORMS: Final[Mapping[str, _UnjudgedForm]] = {
    **dict.fromkeys(("ArgMax", "ArgMin"), _UnjudgedForm(forms.may_be_scalar, "of a scalar, or of unknown rank")),
    **dict.fromkeys(("AveragePool", "LpPool", "MaxPool"), _POOL),
    **dict.fromkeys(("And", "Equal", "Greater", "Less", "Or", "Pow", "Xor"), _BROADCAST),
    "BatchNormalization": _UnjudgedForm(
        forms.is_unusual_normalization,
        "with several outputs, parameters of another type, less than two dimensions, or an epsilon below 0",
    ),
    "Cast": _UnjudgedForm(lambda node: node.version < 6, "of operator sets before 6"),
    "Concat": _UnjudgedForm(lambda node: not node.has_attribute("axis")),
    "Constant": _UnjudgedForm(forms.is_constant_of_strings, "of strings, or without a tensor"),
    **dict.fromkeys(
        ("DequantizeLinear", "QuantizeLinear"),
        _UnjudgedForm(forms.may_have_unfitting_scale, "with scales in blocks, or not one for each element of axis"),
    ),
    **dict.fromkeys(
        ("Conv", "ConvInteger", "ConvTranspose"),
        _UnjudgedForm(forms.has_many_axes, "with windows of more than three axes"),
    ),
    "Dropout": _UnjudgedForm(forms.may_train, "that may be in training mode"),
    **dict.fromkeys(
        ("GRU", "LSTM", "RNN"),
        _UnjudgedForm(forms.may_be_batch_first_or_of_unknown_size, "without hidden_size, or with layout 1"),
    ),
    "GatherElements": _UnjudgedForm(forms.gathers_other_sizes, "with indices of another size"),
    **dict.fromkeys(("GlobalLpPool", "ReverseSequence"), _SIZE),
    "GridSample": _UnjudgedForm(lambda node: len(node.shape(0) or ()) != 4, "of another rank than 4"),
    "If": _UnjudgedForm(
        branches_may_fail,
        "with a condition of unknown rank, or with branches that return what no node of them computes",
    ),
    "LayerNormalization": _UnjudgedForm(
        forms.scale_rank_may_differ, "with a scale or a bias of another rank than it normalizes axes"
    ),
    "Loop": _UnjudgedForm(
        loop_may_fail,
        "whose states may change their shapes, or whose body returns what no node of it computes, or reads a condition "
        "that it only passes on",
    ),
    "Mod": _UnjudgedForm(forms.may_be_mod_of_floats, "of floats without fmod"),
    "OneHot": _UnjudgedForm(forms.has_unknown_depth_or_values, "with depths or values of unknown number"),
    "Pad": _UnjudgedForm(lambda node: node.may_have_value("mode", "wrap"), "with mode 'wrap'"),
    "QLinearConv": _UnjudgedForm(forms.may_have_several_scales_or_axes, _SCALES),
    "QLinearMatMul": _UnjudgedForm(forms.may_have_several_scales, _SCALES),
    **dict.fromkeys(
        ("RandomNormalLike", "RandomUniform", "RandomUniformLike"),
        _UnjudgedForm(forms.is_random_of_other_type, "with another dtype than FLOAT"),
    ),
    "Range": _UnjudgedForm(forms.has_list, "of a list"),
    **dict.fromkeys(
        ("ReduceMax", "ReduceMin"),
        _UnjudgedForm(forms.reduces_early_int8, "of int8 or uint8 before operator set 13"),
    ),
    "Reshape": _UnjudgedForm(lambda node: node.version < 5 and not node.has_attribute("shape")),
    "Resize": _UnjudgedForm(
        forms.may_use_unconverted_coordinates,
        "with coordinate_transformation_mode 'half_pixel_symmetric' or 'tf_crop_and_resize'",
    ),
    "Scan": _UnjudgedForm(scan_may_fail, "whose body reads values from outside or has another Scan"),
    "Shrink": _UnjudgedForm(forms.lambd_may_be_negative, "with a lambd below 0"),
    **dict.fromkeys(("Squeeze", "Unsqueeze"), _UnjudgedForm(forms.has_no_axes, "with axes of no elements")),
    "TopK": _UnjudgedForm(forms.may_have_several_counts, "with a number of unknown size"),
}
"""The forms of nodes with which a conversion may fail, by operator."""
