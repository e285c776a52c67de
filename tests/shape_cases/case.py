# SPDX-License-Identifier: Apache-2.0
"""A node with facts about its inputs, in the forms that the shape rules and onnx take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import onnx
import onnx.defs
from onnx import AttributeProto, TensorProto, helper

from onnx_lint.inference.shapes.dims import Dim, Dims
from onnx_lint.spec.element_types import ELEMENT_TYPE_NAMES


@dataclass(frozen=True)
class Operand:
    """An input: its shape, of a sequence or optional that of its elements, and its elements where they are constant."""

    shape: Dims | None
    content: tuple[Any, ...] | None = None
    kind: str | None = None
    """The type; None takes one that the signature allows, of float where it can."""


@dataclass(frozen=True)
class Case:
    """A node; `mutation` names the change of the family's own case."""

    inputs: tuple[Operand | None, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    outputs: int = 1
    mutation: str = "as it is"


def constant(*elements: Any, kind: str | None = None) -> Operand:
    """A constant of rank 1."""
    return Operand((len(elements),), elements, kind)


def scalar(element: Any, kind: str | None = None) -> Operand:
    """A constant of rank 0."""
    return Operand((), (element,), kind)


def case(*inputs: Operand | tuple[Dim, ...] | None, outputs: int = 1, **attributes: Any) -> Case:
    """A node whose inputs are given as shapes, as operands, or as None for one that is left out."""
    operands = tuple(Operand(each) if isinstance(each, tuple) else each for each in inputs)
    return Case(operands, attributes, outputs)


# --- types


def chosen_types(schema: onnx.defs.OpSchema, made: Case) -> list[str]:
    """A type for each input: the one it says, else one for its type variable that goes with its content."""
    variables: dict[str, str] = {}
    found = []
    for index, operand in enumerate(made.inputs):
        parameter = schema.inputs[min(index, len(schema.inputs) - 1)]
        if operand is not None and operand.kind:
            variables[parameter.type_str] = operand.kind
        elif operand is not None and operand.content is not None:
            integral = not any(isinstance(each, float) for each in operand.content)
            wanted = "tensor(int64)" if integral else "tensor(float)"
            if wanted in parameter.types:
                variables[parameter.type_str] = wanted
    for index, operand in enumerate(made.inputs):
        parameter = schema.inputs[min(index, len(schema.inputs) - 1)]
        own = operand.kind if operand is not None else None
        found.append(own or variables.get(parameter.type_str) or first_type(frozenset(parameter.types)))
    return found


@cache
def first_type(types: frozenset[str]) -> str:
    """The type of a constraint that cases take: float where it allows it."""
    return min(
        types, key=lambda kind: (kind != "tensor(float)", "float)" not in kind, not kind.startswith("tensor"), kind)
    )


# --- what onnx is asked


def model_of(schema: onnx.defs.OpSchema, made: Case) -> onnx.ModelProto:
    """A model with the node alone."""
    model = onnx.ModelProto(ir_version=onnx.IR_VERSION)
    model.opset_import.add(domain=schema.domain, version=schema.since_version)
    graph = model.graph
    graph.name = "g"
    node = graph.node.add(op_type=schema.name, domain=schema.domain)
    for index, (operand, kind) in enumerate(zip(made.inputs, chosen_types(schema, made), strict=True)):
        if operand is None:
            node.input.append("")
            continue
        name = f"x{index}"
        node.input.append(name)
        if operand.content is not None:
            graph.initializer.append(_tensor(name, operand, kind))
        else:
            value = graph.input.add(name=name)
            fill_type(value.type, kind, operand.shape)
    for index in range(made.outputs):
        node.output.append(f"y{index}")
        graph.output.add(name=f"y{index}")
    node.attribute.extend(attribute_proto(schema, name, value) for name, value in made.attributes.items())
    return model


def attribute_proto(schema: onnx.defs.OpSchema, name: str, value: Any) -> AttributeProto:
    """An attribute of the type that the signature gives it, so that an empty list is one."""
    declared = schema.attributes.get(name)
    return helper.make_attribute(name, value, attr_type=declared.type.value if declared is not None else None)


def _tensor(name: str, operand: Operand, kind: str) -> TensorProto:
    code = ELEMENT_TYPE_NAMES.index(kind[len("tensor(") : -1]) + 1
    return helper.make_tensor(name, code, operand.shape, operand.content)


def fill_type(proto: onnx.TypeProto, kind: str, shape: Dims | None) -> None:
    """State a type, and the shape of the tensor in it."""
    constructor, _, rest = kind.partition("(")
    match constructor:
        case "tensor" | "sparse_tensor":
            tensor = proto.tensor_type if constructor == "tensor" else proto.sparse_tensor_type
            tensor.elem_type = ELEMENT_TYPE_NAMES.index(rest[:-1]) + 1
            if shape is not None:
                tensor.shape.SetInParent()
                for dim in shape:
                    if isinstance(dim, int):
                        tensor.shape.dim.add(dim_value=dim)
                    else:
                        tensor.shape.dim.add(dim_param=dim or "")
        case "seq":
            fill_type(proto.sequence_type.elem_type, rest[:-1], shape)
        case "optional":
            fill_type(proto.optional_type.elem_type, rest[:-1], shape)
        case "map":
            key, _, value = rest[:-1].partition(",")
            proto.map_type.key_type = ELEMENT_TYPE_NAMES.index(key) + 1
            value = value.strip()
            fill_type(proto.map_type.value_type, value if "(" in value else f"tensor({value})", shape)


@dataclass(frozen=True)
class Held:
    """The content of a sequence or an optional."""

    shape: Shapes


Shapes = Dims | Held | None
"""A shape, or the shape of the elements or content; None for none."""


def inferred_shape(proto: onnx.TypeProto) -> Shapes:
    """Return the shape that a type states, or that of its elements or content; None for none."""
    which = proto.WhichOneof("value")
    if which in ("sequence_type", "optional_type"):
        inner = inferred_shape(getattr(proto, which).elem_type)
        return Held(inner) if inner is not None else None
    if which not in ("tensor_type", "sparse_tensor_type"):
        return None
    tensor = getattr(proto, which)
    if not tensor.HasField("shape"):
        return None
    # A variable that onnx made itself says nothing.
    return tuple(
        dim.dim_value if dim.HasField("dim_value") else _own_variable(dim.dim_param) for dim in tensor.shape.dim
    )


def _own_variable(name: str) -> str | None:
    return name if name and not name.startswith("unk__") else None
