# SPDX-License-Identifier: Apache-2.0
"""Changes to try of an attribute with a name that the operator lacks, or with a value of another type."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint import schema as messages
from onnx_lint.ir.graph import Node
from onnx_lint.ir.operators.proposals import Proposal, ready
from onnx_lint.ir.places.edits import Assign
from onnx_lint.spec.element_types import DataType
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES, ATTRIBUTE_TYPE_NAMES, OperatorSchema
from onnx_lint.wording import describe_list, nearest, quote

if TYPE_CHECKING:
    from onnx_lint.schema import Proto

_FOREIGN: Final[Mapping[str, tuple[str, ...]]] = {
    "approx": ("approximate",),
    "axes": ("perm",),
    "batch_first": ("layout",),
    "ceil": ("ceil_mode",),
    "dilation": ("dilations",),
    "dim": ("axis", "axes"),
    "dims": ("axes", "perm"),
    "dtype": ("to", "dtype"),
    "eps": ("epsilon",),
    "hidden": ("hidden_size",),
    "keep_dims": ("keepdims",),
    "keepdim": ("keepdims",),
    "kernel": ("kernel_shape",),
    "kernel_size": ("kernel_shape",),
    "ksize": ("kernel_shape",),
    "negative_slope": ("alpha",),
    "order": ("perm",),
    "output_size": ("output_shape",),
    "padding": ("pads",),
    "permutation": ("perm",),
    "pool_size": ("kernel_shape",),
    "start_dim": ("axis",),
    "transpose_a": ("transA",),
    "transpose_b": ("transB",),
    "upscale_factor": ("blocksize",),
}
"""Names that PyTorch, TensorFlow and others have for attributes of ONNX."""

_OF_AXES: Final = frozenset({"dilations", "kernel_shape", "pads", "strides"})
"""The attributes with numbers for each spatial axis."""

_OF_BOTH_ENDS: Final = "pads"
"""The attribute with two numbers for each axis where other frameworks have one."""


def meant_attribute(name: str, schema: OperatorSchema) -> str | None:
    """Return the attribute of an operator that a wrong name means: what other frameworks call so, or the nearest."""
    foreign = next((each for each in _FOREIGN.get(name, ()) if each in schema.attributes), None)
    return foreign or nearest(name, schema.attributes)


def with_name(
    node: Node, index: int, right: str, schema: OperatorSchema, axes: int | None, *, is_required: bool
) -> tuple[Proposal, ...]:
    """Return the attribute with the right name, with its value or with what the value means in ONNX.

    `axes`: the number of spatial axes of the node; None if it is unknown. `is_required`: whether the node needs it.
    """
    attribute = node.attribute_protos[index]
    if right not in schema.attributes or any(each.name == right for each in node.attribute_protos):
        return ()
    found = []
    if schema.attributes[right].type_code == attribute.type:
        text = f"{quote(right)}, which it requires" if is_required else quote(right)
        found.append(ready(text, Assign(node.place.at("attribute", index).at("name"), right)))
    for values in _of_each_axis(attribute, right, axes):
        if schema.attributes[right].type == "INTS":
            found.append(_replaced(node, index, f"{right}={describe_list(values)}", _ints(right, values)))
    return tuple(found)


def _of_each_axis(attribute: Proto, name: str, axes: int | None) -> Iterator[Sequence[int]]:
    """Yield the numbers for all spatial axes, if an attribute has one number, or one for each axis instead of two."""
    if name not in _OF_AXES or axes is None or not 0 < axes <= _MAX_AXES:
        return
    if attribute.type == ATTRIBUTE_TYPE_CODES["INT"]:
        yield [attribute.i] * axes * (2 if name == _OF_BOTH_ENDS else 1)
    elif name == _OF_BOTH_ENDS and len(attribute.ints) == axes:
        yield [*attribute.ints, *attribute.ints]


_MAX_AXES: Final = 8

_MAX_NUMBERS: Final = 16
"""The most numbers of a list that a proposal writes in another type."""


def with_type(node: Node, index: int, schema: OperatorSchema, axes: int | None) -> tuple[Proposal, ...]:
    """Return the attribute with its value in the type of the operator, as far as ONNX has one.

    `axes`: as for `with_name`.
    """
    attribute = node.attribute_protos[index]
    name, wanted = attribute.name, schema.attributes[attribute.name].type
    given = ATTRIBUTE_TYPE_NAMES.get(attribute.type)
    found: list[tuple[str, Proto]] = []
    if (given, wanted) == ("INT", "FLOAT"):
        found.append((f"{name}={float(attribute.i)} (FLOAT)", _scalar(name, "FLOAT", f=float(attribute.i))))
    elif (given, wanted) == ("FLOAT", "INT") and attribute.f.is_integer():
        found.append((f"{name}={int(attribute.f)} (INT)", _scalar(name, "INT", i=int(attribute.f))))
    elif (given, wanted) == ("INTS", "INT") and len(attribute.ints) == 1:
        found.append((f"{name}={attribute.ints[0]} (INT)", _scalar(name, "INT", i=attribute.ints[0])))
    elif (given, wanted) == ("FLOATS", "INTS") and all(each.is_integer() for each in attribute.floats[:_MAX_NUMBERS]):
        values = [int(each) for each in attribute.floats[:_MAX_NUMBERS]]
        if len(values) == len(attribute.floats):
            found.append((f"{name}={describe_list(values)} (INTS)", _ints(name, values)))
    elif (given, wanted) == ("INT", "INTS"):
        lists = [*_of_each_axis(attribute, name, axes)] or [[attribute.i]]
        found += [(f"{name}={describe_list(each)} (INTS)", _ints(name, each)) for each in lists]
    return tuple(_replaced(node, index, f"write {text}", proto) for text, proto in found)


def with_both_ends(node: Node, index: int) -> tuple[Proposal, ...]:
    """Return `pads` with each number twice, for the begin and the end of its axis; nothing for another attribute."""
    attribute = node.attribute_protos[index]
    values = [*attribute.ints, *attribute.ints]
    if attribute.name != _OF_BOTH_ENDS or not 0 < len(attribute.ints) <= _MAX_AXES:
        return ()
    return (_replaced(node, index, f"write pads={describe_list(values)} (INTS)", _ints(_OF_BOTH_ENDS, values)),)


def with_suffix(node: Node, index: int, schema: OperatorSchema) -> tuple[Proposal, ...]:
    """Return the number that `value` of a Constant holds in place of a tensor: as a list, as a FLOAT, or as a tensor.

    The lists and the FLOAT have attributes of their own, `value_ints` and `value_float`, where the version has them.
    """
    attribute = node.attribute_protos[index]
    name, given = attribute.name, attribute.i
    if ATTRIBUTE_TYPE_NAMES.get(attribute.type) != "INT" or schema.attributes[name].type != "TENSOR":
        return ()
    of_list, of_float = f"{name}_ints", f"{name}_float"
    found = [
        (f"{of_list}=[{given}] (INTS)", _ints(of_list, [given])),
        (f"{of_float}={float(given)} (FLOAT)", _scalar(of_float, "FLOAT", f=float(given))),
    ]
    written = [(text, made) for text, made in found if made.name in schema.attributes]
    if not written:
        written = [
            (f"a tensor in {quote(name)}: {given} (INT64)", _tensor(name, "INT64", [], given)),
            (f"a tensor in {quote(name)}: [{given}] (INT64)", _tensor(name, "INT64", [1], given)),
            (f"a tensor in {quote(name)}: {float(given)} (FLOAT)", _tensor(name, "FLOAT", [], float(given))),
        ]
    return tuple(_replaced(node, index, f"write {text}", made) for text, made in written)


def _tensor(name: str, element: str, dims: Sequence[int], value: float) -> Proto:
    tensor = messages.message("TensorProto")
    if element == "FLOAT":
        made = tensor(data_type=DataType.FLOAT, dims=dims, float_data=[value])
    else:
        made = tensor(data_type=DataType.INT64, dims=dims, int64_data=[int(value)])
    return messages.message("AttributeProto")(name=name, type=ATTRIBUTE_TYPE_CODES["TENSOR"], t=made)


def _scalar(name: str, kind: str, **value: float) -> Proto:
    return messages.message("AttributeProto")(name=name, type=ATTRIBUTE_TYPE_CODES[kind], **value)


def _ints(name: str, values: Sequence[int]) -> Proto:
    return messages.message("AttributeProto")(name=name, type=ATTRIBUTE_TYPE_CODES["INTS"], ints=values)


def _replaced(node: Node, index: int, text: str, proto: Proto) -> Proposal:
    return ready(text, Assign(node.place.at("attribute", index), proto))
