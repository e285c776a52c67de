# SPDX-License-Identifier: Apache-2.0
"""The nodes that kernels of ONNX Runtime refuse in some models, for attributes, types and shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from math import prod
from typing import Final

from onnx_lint.engine.targets.model_parts import normalized_sizes, stored_contents
from onnx_lint.engine.targets.node_attributes import has_attribute, has_own_value, is_parameter, may_have_value
from onnx_lint.engine.targets.onnx_inference import (
    FORBIDDEN_GATES_WORDS,
    has_empty_outputs,
    may_have_forbidden_gates,
)
from onnx_lint.engine.targets.unjudged_kinds import UnjudgedKind, node_kind, phrase
from onnx_lint.model import Model, Node
from onnx_lint.refusals.operands import input_name, input_shape, is_given_by_run, kind_of, output_name
from onnx_lint.spec.element_types import MAX_INT64, DataType
from onnx_lint.spec.products.refusals import (
    LINEAR_ATTENTION,
    ONNXRUNTIME_NEEDED_ATTRIBUTES,
    REFUSED_FORMS,
    RefusedForm,
)

# --- function bodies that ONNX Runtime uses where it has no kernel


def _is_clip_of_narrow_type(model: Model, node: Node) -> bool:
    """Return whether the function body of a Clip needs Less and Where of a narrow type, which have no kernel."""
    return any(node.inputs[1:]) and kind_of(model, node.graph, input_name(node, 0)) in _NARROW


_NARROW: Final = ("tensor(int16)", "tensor(uint16)", "tensor(bfloat16)")


def has_unknown_channels(model: Model, node: Node) -> bool:
    """Return whether ONNX Runtime may not be able to make the function body of a CausalConvWithState.

    It needs the rank of the data, and a number of channels, which the data or the weights state.
    """
    data, weights = input_shape(model, node, 0), input_shape(model, node, 1)
    if data is None:
        return True
    return not any(isinstance(channels, int) for channels in (*data[1:2], *(weights or ())[:1]))


def _is_parameter_with_forbidden_gates(model: Model, node: Node) -> bool:
    """Return whether the update rule of a LinearAttention is a parameter, and may forbid an input."""
    return is_parameter(node, "update_rule") and may_have_forbidden_gates(model, node)


def _may_broadcast_float16(model: Model, node: Node) -> bool:
    """Return whether the scale or the bias of a LayerNormalization of float16 may need broadcasting.

    It needs none if it has one element, or as many as it scales.
    """
    if kind_of(model, node.graph, input_name(node, 0)) != "tensor(float16)":
        return False
    sizes = normalized_sizes(model, node)
    others = [model.shape_of(name, node.graph) for name in node.inputs[1:] if name]
    return not all(_needs_no_broadcasting(shape, sizes) for shape in others)


def _needs_no_broadcasting(shape: Sequence[object] | None, sizes: Sequence[object] | None) -> bool:
    """Return whether a tensor surely has one element, or as many as a tensor of these sizes."""
    if shape is None or None in shape:
        return False
    if sizes is not None and [*shape] == [*sizes]:
        return True
    count = _count(shape)
    return count is not None and count in (1, _count(sizes))


def _count(sizes: Sequence[object] | None) -> int | None:
    """Return the number of elements; None if it is unknown."""
    known = [size for size in sizes or () if isinstance(size, int)]
    return prod(known) if sizes is not None and len(known) == len(sizes) else None


_NORMALIZES_FLOAT16: Final = (1, 20)
"""The first known release with a kernel of LayerNormalization for float16. Others run its function."""


# --- constants


def _may_divide_by_0(model: Model, node: Node) -> bool:
    """Return whether a divisor of a type whose elements are not followed may be a constant with a 0.

    Some releases end the process while they compute the quotient of constants.
    """
    name = input_name(node, 1)
    if kind_of(model, node.graph, name) not in _NOT_FOLLOWED or is_given_by_run(model, node.graph, name):
        return False
    contents = stored_contents(model, node.graph, name)
    return not contents or any(each is None or 0 in each for each in contents)


_NOT_FOLLOWED: Final = frozenset(f"tensor({name})" for name in ("int8", "int16", "uint8", "uint16", "uint32", "uint64"))
"""The types of integers whose elements the inference reads for few operators only."""


# --- attributes


def _may_pad_by_kernel_size(_: Model, node: Node) -> bool:
    """Return whether a pad of a pool is as long as the kernel, for some axis."""
    if is_parameter(node, "kernel_shape", "pads"):
        return True
    lists = {each.name: each.ints for each in node.attribute_protos}
    return max(lists.get("pads", ()), default=0) >= min(lists.get("kernel_shape", ()), default=MAX_INT64)


def _may_have_refused_lrn_numbers(_: Model, node: Node) -> bool:
    """Return whether the size is even, or alpha or beta is not above 0."""
    numbers = [each.f for each in node.attribute_protos if each.name in ("alpha", "beta")]
    sizes = [each.i for each in node.attribute_protos if each.name == "size"]
    return min(numbers, default=1.0) <= 0 or any(size % 2 == 0 for size in sizes)


def _may_have_steps_below_1(_: Model, node: Node) -> bool:
    """Return whether a dilation or a stride is below 1, or may be."""
    lists = [each.ints for each in node.attribute_protos if each.name in ("dilations", "strides")]
    return is_parameter(node, "dilations", "strides") or any(min(each, default=1) < 1 for each in lists)


def _may_produce_float16(_: Model, node: Node) -> bool:
    return may_have_value(node, "dtype", DataType.FLOAT16)


def _has_rotary_dimension(_: Model, node: Node) -> bool:
    return any(each.name == "rotary_embedding_dim" and (each.i or each.ref_attr_name) for each in node.attribute_protos)


def _has_lists_of_unequal_length(_: Model, node: Node) -> bool:
    """Return whether the attributes starts, ends and axes of a Slice have different lengths."""
    return len({len(each.ints) for each in node.attribute_protos}) > 1


def _has_lengths_and_number(_: Model, node: Node) -> bool:
    """Return whether a Split has the lengths of its outputs, and their number as well."""
    return len(node.inputs) > 1 and has_attribute(node, "num_outputs")


_MAY_REFUSE_ATTRIBUTES: Final[Mapping[str, Callable[[Model, Node], bool]]] = {
    **dict.fromkeys(("AveragePool", "LpPool", "MaxPool", "MaxUnpool"), _may_pad_by_kernel_size),
    **dict.fromkeys(("EyeLike", "RandomNormalLike", "RandomUniformLike"), _may_produce_float16),
    "BatchNormalization": has_empty_outputs,
    "Col2Im": _may_have_steps_below_1,
    "LRN": _may_have_refused_lrn_numbers,
    "RotaryEmbedding": _has_rotary_dimension,
    "Slice": _has_lists_of_unequal_length,
    "Split": _has_lengths_and_number,
    "StringNormalizer": lambda _, __: True,  # a locale that the machine may lack
}
"""Returns whether the kernel may refuse a node for its attributes, by operator."""


def _may_have_refused_value(model: Model, node: Node, forms: Sequence[RefusedForm]) -> bool:
    """Return whether a node may have a value of an attribute that is refused for its type.

    The type is unknown, or a call decides the value.
    """
    kind = kind_of(model, node.graph, output_name(node, 0))
    is_passed = {each.name: bool(each.ref_attr_name) for each in node.attribute_protos}
    return any(
        form.attribute in is_passed and (not kind or (is_passed[form.attribute] and kind in form.types))
        for form in forms
    )


def _may_refuse_scales(model: Model, node: Node) -> bool:
    from onnx_lint.engine.targets.unjudged_scales import may_refuse_scales

    return may_refuse_scales(model, node)


def _unjudged_value(name: str, forms: Sequence[RefusedForm]) -> UnjudgedKind:
    may_be_refused = partial(_may_have_refused_value, forms=forms)
    return node_kind((name,), f"of {name} with a value that the release may refuse for the type", may_be_refused)


UNJUDGED_FUNCTION_BODIES: Final = (
    node_kind(("Clip",), "of Clip with a narrow type", _is_clip_of_narrow_type),
    node_kind(
        ("CausalConvWithState",), "of CausalConvWithState with an unknown number of channels", has_unknown_channels
    ),
)
"""The nodes without a kernel whose function body may not run."""

UNJUDGED_VALUES: Final = (
    node_kind(("Div", "Mod"), "of Div or Mod that may divide by a constant 0", _may_divide_by_0),
    node_kind((LINEAR_ATTENTION,), FORBIDDEN_GATES_WORDS, _is_parameter_with_forbidden_gates),
    *(_unjudged_value(name, forms) for name, forms in REFUSED_FORMS.items()),
    *(
        node_kind((name,), f"of {name} with attributes that the kernel may refuse", may_be_refused)
        for name, may_be_refused in _MAY_REFUSE_ATTRIBUTES.items()
    ),
)
"""The nodes that the kernel may refuse for values of operands and attributes."""

UNJUDGED_SIZES: Final = (
    *(
        node_kind((name,), f"of {name} with scales or attributes that the kernel may refuse", _may_refuse_scales)
        for name in ("Resize", "Upsample")
    ),
    node_kind(
        ("LayerNormalization",),
        "of LayerNormalization of float16 with a scale of other sizes",
        _may_broadcast_float16,
        until=_NORMALIZES_FLOAT16,
    ),
)
"""The nodes that the kernel may refuse for scales and sizes."""


def without_needed_attributes(model: Model) -> Iterator[str]:
    """Yield the nodes without an attribute that the signature makes optional and the kernel needs, as phrases."""
    for alike in model.operators.alike_nodes:
        operator = alike.operator
        attribute = ONNXRUNTIME_NEEDED_ATTRIBUTES.get((operator.domain, operator.op_type))
        if attribute is None or operator.schema is None or attribute not in operator.schema.attributes:
            continue
        lacking = sum(not has_own_value(node, attribute) for node in alike.nodes)
        yield from phrase(lacking, "node", f"of {operator.op_type} without the attribute {attribute!r}")
