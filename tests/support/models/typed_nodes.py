# SPDX-License-Identifier: Apache-2.0
"""Nodes with the types of their inputs, right and wrong, for the test that holds the flow of types against onnx."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache

import onnx
import onnx.defs
from onnx import AttributeProto, NodeProto, TensorProto, TypeProto, helper

from onnx_lint.inference.types.type_string import canonical
from onnx_lint.spec.element_types import ELEMENT_TYPE_NAMES
from support.models.operator_nodes import attribute_of, least_node, most_node

TENSORS = [f"tensor({name})" for name in ELEMENT_TYPE_NAMES]
OTHER_KINDS = ["seq(tensor(float))", "optional(tensor(float))", "map(int64,tensor(float))", "sparse_tensor(float)"]

NEEDED: Mapping[str, Mapping[str, object]] = {
    "CategoryMapper": {"cats_int64s": [1], "cats_strings": ["a"]},
    "Constant": {"value": helper.make_tensor("t", TensorProto.FLOAT, [1], [1.0])},
    "LabelEncoder": {"keys_floats": [1.0], "values_int64s": [1]},
    "MeanVarianceNormalization": {"axes": [0, 2, 3]},
    "OneHotEncoder": {"cats_int64s": [1]},
    "TreeEnsembleClassifier": {"classlabels_int64s": [1]},
    "TreeEnsemble": {"nodes_modes": helper.make_tensor("t", TensorProto.UINT8, [1], [0])},
    "ZipMap": {"classlabels_int64s": [1]},
}
"""Attributes that the signature does not require and the inference of onnx does."""


@dataclass(frozen=True)
class Case:
    """A node with the types of its inputs, and those that are declared for its outputs."""

    mutation: str
    node: NodeProto
    inputs: Mapping[str, str]
    outputs: Mapping[str, str] = field(default_factory=dict)


# --- types as text


def type_proto(text: str) -> TypeProto:
    constructor, _, rest = text.partition("(")
    argument = rest[:-1]
    proto = TypeProto()
    match constructor:
        case "tensor":
            proto.tensor_type.elem_type = _code(argument)
        case "sparse_tensor":
            proto.sparse_tensor_type.elem_type = _code(argument)
        case "seq":
            proto.sequence_type.elem_type.CopyFrom(type_proto(argument))
        case "optional":
            proto.optional_type.elem_type.CopyFrom(type_proto(argument))
        case "map":
            key, _, value = argument.partition(",")
            proto.map_type.key_type = _code(key)
            value = value.strip()
            proto.map_type.value_type.CopyFrom(type_proto(value if "(" in value else f"tensor({value})"))
        case _:
            raise AssertionError(text)
    return proto


def _code(element: str) -> int:
    return ELEMENT_TYPE_NAMES.index(element) + 1


def type_text(proto: TypeProto) -> str | None:
    match proto.WhichOneof("value"):
        case "tensor_type":
            code = proto.tensor_type.elem_type
            return f"tensor({ELEMENT_TYPE_NAMES[code - 1]})" if code else None
        case "sparse_tensor_type":
            return f"sparse_tensor({ELEMENT_TYPE_NAMES[proto.sparse_tensor_type.elem_type - 1]})"
        case "sequence_type":
            inner = type_text(proto.sequence_type.elem_type)
            return f"seq({inner})" if inner else None
        case "optional_type":
            inner = type_text(proto.optional_type.elem_type)
            return f"optional({inner})" if inner else None
        case "map_type":
            value = type_text(proto.map_type.value_type)
            key = ELEMENT_TYPE_NAMES[proto.map_type.key_type - 1]
            return f"map({key},{value})" if value else None
        case _:
            return None


# --- cases


@cache
def _sorted_types(types: frozenset[str]) -> list[str]:
    """The types of a constraint, those of float first, so that inputs go with one another and with attributes."""
    return sorted(types, key=lambda kind: (re.search(r"\bfloat\b", kind) is None, kind))


def _parameter(schema: onnx.defs.OpSchema, index: int) -> onnx.defs.OpSchema.FormalParameter:
    return schema.inputs[min(index, len(schema.inputs) - 1)]


def input_types(schema: onnx.defs.OpSchema, node: NodeProto, chosen: Mapping[str, str]) -> dict[str, str]:
    """A type for each input: the chosen one for its type variable, else the first of the constraint."""
    found = {}
    for index, name in enumerate(node.input):
        parameter = _parameter(schema, index)
        found[name] = chosen.get(parameter.type_str) or _sorted_types(frozenset(parameter.types))[0]
    return found


def bases(schema: onnx.defs.OpSchema) -> Iterator[NodeProto]:
    """Nodes with many operands, or with few. The first one that onnx accepts is changed."""
    least, most = least_node(schema), most_node(schema)
    for inputs, outputs in ((most.input, most.output), (most.input, least.output), (least.input, least.output)):
        for last in range(len(inputs), len(inputs) - 3, -1):
            node = NodeProto()
            node.CopyFrom(least)
            del node.input[:], node.output[:]
            node.input.extend(inputs[: max(last, 0)])
            node.output.extend(outputs)
            for name, value in NEEDED.get(schema.name, {}).items():
                if name in schema.attributes:
                    node = _with_attribute(node, helper.make_attribute(name, value))
            yield node


def _with_attribute(node: NodeProto, attribute: AttributeProto) -> NodeProto:
    changed = NodeProto()
    changed.CopyFrom(node)
    kept = [given for given in changed.attribute if given.name != attribute.name]
    del changed.attribute[:]
    changed.attribute.extend([*kept, attribute])
    return changed


def _attributes(schema: onnx.defs.OpSchema) -> Iterator[AttributeProto]:
    """Values of each attribute that might decide a type."""
    for name, declared in sorted(schema.attributes.items()):
        kind = AttributeProto.AttributeType.Name(declared.type.value)
        attribute = attribute_of(name, declared.type.value)
        yield attribute
        for code in range(len(ELEMENT_TYPE_NAMES) + 1):
            changed = AttributeProto()
            changed.CopyFrom(attribute)
            if kind == "INT":
                changed.i = code
            elif kind == "TENSOR" and code:
                changed.t.CopyFrom(TensorProto(data_type=code, dims=[0]))
            elif kind == "TYPE_PROTO" and code:
                changed.tp.tensor_type.elem_type = code
            else:
                break
            yield changed
        if kind == "STRING":
            for text in (b"TO_FLOAT", b"TO_STRING", b"TO_INT64"):
                yield helper.make_attribute(name, text)
        if kind == "TYPE_PROTO":
            for text in ("seq(tensor(int8))", "seq(tensor(string))"):
                yield helper.make_attribute(name, type_proto(text))


def operand_cases(schema: onnx.defs.OpSchema, base: NodeProto) -> Iterator[Case]:
    for variable, types in _variables(schema):
        for kind in types:
            yield Case("type", base, input_types(schema, base, {variable: kind}))
    for attribute in _attributes(schema):
        yield Case("attribute", _with_attribute(base, attribute), input_types(schema, base, {}))
    yield from _input_mutations(schema, base)


def _variables(schema: onnx.defs.OpSchema) -> Iterator[tuple[str, list[str]]]:
    seen = set()
    for parameter in schema.inputs:
        if parameter.type_str not in seen:
            seen.add(parameter.type_str)
            yield parameter.type_str, _sorted_types(frozenset(parameter.types))


def _input_mutations(schema: onnx.defs.OpSchema, base: NodeProto) -> Iterator[Case]:
    types = input_types(schema, base, {})
    for index, name in enumerate(base.input):
        parameter = _parameter(schema, index)
        allowed = canonical(frozenset(parameter.types))
        others = [
            kind for kind in (*(f"tensor({name})" for name in ELEMENT_TYPE_NAMES), *OTHER_KINDS) if kind not in allowed
        ]
        shared = [other for at, other in enumerate(base.input) if at != index and _are_bound(schema, at, index)]
        for kind in others[:: max(1, len(others) // 6)]:
            # All inputs of the variable, so that only the constraint is broken.
            yield Case("input outside of the constraint", base, types | dict.fromkeys([name, *shared], kind))
        if shared and len(allowed) > 1:
            other = next(kind for kind in sorted(allowed) if kind != types[name])
            yield Case("two types for one variable", base, types | {name: other})


def _are_bound(schema: onnx.defs.OpSchema, one: int, other: int) -> bool:
    first, second = _parameter(schema, one), _parameter(schema, other)
    return first.type_str == second.type_str and first.is_homogeneous and second.is_homogeneous


def output_mutations(case: Case, inferred: Mapping[str, str]) -> Iterator[Case]:
    for name, kind in inferred.items():
        yield replace(case, mutation="output declared as it is", outputs={name: kind})
        other = "tensor(double)" if kind == "tensor(float)" else "tensor(float)"
        yield replace(case, mutation="output declared as another element type", outputs={name: other})
        yield replace(case, mutation="output declared as another kind", outputs={name: f"seq({other})"})
