# SPDX-License-Identifier: Apache-2.0
"""Tests whether the content of a parsed message is plausible, and whether the message is certain, by its kind.

Plausibility has few conditions, so that a faulty message is still recognized. A message is certain if each value is
where its own fields state it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from enum import IntEnum
from itertools import islice
from types import MappingProxyType
from typing import Final

from onnx_lint.ir.documents.kinds import MAGIC
from onnx_lint.ir.documents.value_types import KINDS as VALUE_KINDS
from onnx_lint.model import Payload, Proto
from onnx_lint.spec.element_types import ELEMENT_TYPES, MAP_KEYS, VALUE_FIELDS, DataType, ElementType

_MAX_ELEMENTS: Final = 1 << 63
"""The limit of `_element_count`. No file can have so many elements."""

_MAX_ITEMS: Final = 1000
"""The limit on the items of a list that are examined."""

_DATA_FIELDS: Final = frozenset(VALUE_FIELDS)


class Match(IntEnum):
    """How the content of a file matches a message."""

    NONE = 0
    POSSIBLE = 1
    CERTAIN = 2


def match_of_content(proto: Proto, kind: str) -> Match:
    """Return how the content of a message of this kind matches it."""
    if not _PLAUSIBILITY_TESTS[kind](proto):
        return Match.NONE
    test = _CERTAINTY_TESTS.get(kind)
    return Match.CERTAIN if test is not None and test(proto) else Match.POSSIBLE


def match_of_large_tensor(tensor: Proto, payloads: Sequence[Payload]) -> Match:
    """Return how a tensor matches whose values stay in the file. They must be in the field of its type."""
    if not _is_plausible_tensor(tensor):
        return Match.NONE
    element_type = ELEMENT_TYPES.get(tensor.data_type)
    fields = {payload.field for payload in payloads}
    if element_type is None:
        return Match.POSSIBLE if fields == {"raw_data"} else Match.NONE
    if not fields <= {"raw_data", element_type.field}:
        return Match.NONE
    length = sum(payload.length for payload in payloads)
    elements = _element_count(tensor.dims)
    return Match.CERTAIN if _may_have_length(fields, element_type, elements, length) else Match.POSSIBLE


def _may_have_length(fields: Set[str], element_type: ElementType, elements: int, length: int) -> bool:
    """Return whether values in these fields may have this length in bytes."""
    if fields == {"raw_data"}:
        return length == element_type.bytes_of(elements)
    entries = element_type.entries_of(elements)
    # A number takes ten bytes at most, and a tag if it is unpacked.
    is_enough = element_type.name == "string" or length <= 11 * entries
    return fields == {element_type.field} and entries <= length and is_enough


# --- plausible


def is_name(text: str) -> bool:
    """Return whether a text may be a name: it is printable and not empty."""
    return bool(text) and text.isprintable()


def _any_and_all(items: Iterable[Proto], test: Callable[[Proto], bool]) -> bool:
    """Return true if there are items, and the first of them pass the test."""
    found = [test(item) for item in islice(items, _MAX_ITEMS)]
    return bool(found) and all(found)


def _is_plausible_node(proto: Proto) -> bool:
    return is_name(proto.op_type) and all(name.isprintable() for name in (*proto.input, *proto.output))


def _is_plausible_graph(proto: Proto) -> bool:
    tests = (
        (proto.node, _is_plausible_node),
        (proto.initializer, _is_plausible_tensor),
        (proto.input, _is_plausible_value_info),
        (proto.output, _is_plausible_value_info),
    )
    return proto.name.isprintable() and any(_any_and_all(items, test) for items, test in tests)


def _is_plausible_function(proto: Proto) -> bool:
    return is_name(proto.name) and _any_and_all(proto.node, _is_plausible_node)


def _is_plausible_attribute(proto: Proto) -> bool:
    values = sum(field.name not in {"name", "type", "doc_string"} for field, _ in proto.ListFields())
    return is_name(proto.name) and (proto.type > 0 or values > 0) and values <= 1


def _is_plausible_tensor(proto: Proto) -> bool:
    """Return true for a tensor that is plausible: its data are in the field of its element type, or it states none."""
    given = _data_fields(proto)
    element_type = ELEMENT_TYPES.get(proto.data_type)
    if element_type is None:
        return "raw_data" in given and not proto.data_type
    is_external = proto.data_location == proto.EXTERNAL or bool(proto.external_data)
    if not (given or proto.dims or is_external):
        return False
    is_in_field = not given or not given.isdisjoint({"raw_data", element_type.field})
    return is_in_field and all(dimension >= 0 for dimension in proto.dims)


def _data_fields(tensor: Proto) -> set[str]:
    return {field.name for field, _ in tensor.ListFields() if field.name in _DATA_FIELDS}


def _is_plausible_sparse_tensor(proto: Proto) -> bool:
    return _is_plausible_tensor(proto.values) or _is_plausible_tensor(proto.indices)


def _is_plausible_type(proto: Proto) -> bool:
    match proto.WhichOneof("value"):
        case "tensor_type" | "sparse_tensor_type" as kind:
            return bool(getattr(proto, kind).elem_type in ELEMENT_TYPES)
        case "sequence_type" | "optional_type" as kind:
            return _is_plausible_type(getattr(proto, kind).elem_type)
        case "map_type":
            return _is_plausible_type(proto.map_type.value_type)
        case kind:
            return kind is not None


def _is_plausible_value_info(proto: Proto) -> bool:
    return is_name(proto.name) and _is_plausible_type(proto.type)


def _is_plausible_operator_set(proto: Proto) -> bool:
    return proto.magic == MAGIC or _any_and_all(proto.operator, lambda operator: is_name(operator.op_type))


def _is_plausible_sequence(proto: Proto) -> bool:
    return bool(1 <= proto.elem_type <= len(VALUE_KINDS) and proto.name.isprintable())


def _is_plausible_map(proto: Proto) -> bool:
    return bool(proto.key_type in MAP_KEYS and proto.name.isprintable())


def _is_plausible_optional(proto: Proto) -> bool:
    is_kind = proto.HasField("elem_type") and 0 <= proto.elem_type <= len(VALUE_KINDS)
    return bool(is_kind and proto.name.isprintable())


_PLAUSIBILITY_TESTS: Final[Mapping[str, Callable[[Proto], bool]]] = MappingProxyType(
    {
        "OperatorSetProto": _is_plausible_operator_set,
        "FunctionProto": _is_plausible_function,
        "GraphProto": _is_plausible_graph,
        "NodeProto": _is_plausible_node,
        "AttributeProto": _is_plausible_attribute,
        "TensorProto": _is_plausible_tensor,
        "SparseTensorProto": _is_plausible_sparse_tensor,
        "ValueInfoProto": _is_plausible_value_info,
        "TypeProto": _is_plausible_type,
        "SequenceProto": _is_plausible_sequence,
        "MapProto": _is_plausible_map,
        "OptionalProto": _is_plausible_optional,
    }
)


# --- certain


def _element_count(dimensions: Iterable[int]) -> int:
    """Return the product of dimensions, cut at the largest count in a file: there may be a million large dimensions."""
    count = 1
    for dimension in dimensions:
        count *= dimension
        if count == 0 or count > _MAX_ELEMENTS:
            break
    return count


def _has_stated_values(tensor: Proto) -> bool:
    """Return true if the tensor has as many values as its dimensions state, in the right field."""
    if not _is_plausible_tensor(tensor) or tensor.data_type not in ELEMENT_TYPES:
        return False
    if tensor.data_location == tensor.EXTERNAL:
        return bool(tensor.external_data)
    element_type = ELEMENT_TYPES[tensor.data_type]
    elements = _element_count(tensor.dims)
    if tensor.HasField("raw_data"):
        return len(tensor.raw_data) == element_type.bytes_of(elements)
    return len(getattr(tensor, element_type.field)) == element_type.entries_of(elements)


def _has_both_parts(sparse: Proto) -> bool:
    return sparse.HasField("indices") and sparse.HasField("values") and _is_plausible_tensor(sparse.values)


def _has_stated_elements(sequence: Proto) -> bool:
    own = f"{VALUE_KINDS[sequence.elem_type - 1]}_values" if _is_plausible_sequence(sequence) else None
    return own is not None and {field.name for field, _ in sequence.ListFields()} <= {"name", "elem_type", own}


def _has_stated_pairs(proto: Proto) -> bool:
    own, other = proto.keys, proto.string_keys
    if proto.key_type == DataType.STRING:
        own, other = other, own
    if not _is_plausible_map(proto) or other:
        return False
    if proto.HasField("values") and not _has_stated_elements(proto.values):
        return False
    return len(own) == sum(len(value) for field, value in proto.values.ListFields() if field.name.endswith("_values"))


def _has_stated_value(optional: Proto) -> bool:
    if not _is_plausible_optional(optional):
        return False
    own = {f"{VALUE_KINDS[optional.elem_type - 1]}_value"} if optional.elem_type else set()
    return {field.name for field, _ in optional.ListFields()} <= {"name", "elem_type", *own}


_CERTAINTY_TESTS: Final[Mapping[str, Callable[[Proto], bool]]] = MappingProxyType(
    {
        "TensorProto": _has_stated_values,
        "SparseTensorProto": _has_both_parts,
        "SequenceProto": _has_stated_elements,
        "MapProto": _has_stated_pairs,
        "OptionalProto": _has_stated_value,
    }
)
