# SPDX-License-Identifier: Apache-2.0
"""Which attributes of a model look alike: one pass over all of them, after which a question is asked once a kind.

A graph of a hundred thousand nodes has a handful of signatures, and most of its attributes equal another one byte by
byte, so that looking one up by its serialized form costs less than asking for each of its fourteen value fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from types import MappingProxyType
from typing import Final

from onnx_lint.model.graph import Graph, Proto
from onnx_lint.model.tensor_data.evidence import is_evident
from onnx_lint.model.views import Attribute
from onnx_lint.record import Record
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES

VALUE_FIELD_OF_TYPE: Final[Mapping[int, str]] = MappingProxyType(
    {
        ATTRIBUTE_TYPE_CODES["FLOAT"]: "f",
        ATTRIBUTE_TYPE_CODES["INT"]: "i",
        ATTRIBUTE_TYPE_CODES["STRING"]: "s",
        ATTRIBUTE_TYPE_CODES["TENSOR"]: "t",
        ATTRIBUTE_TYPE_CODES["GRAPH"]: "g",
        ATTRIBUTE_TYPE_CODES["SPARSE_TENSOR"]: "sparse_tensor",
        ATTRIBUTE_TYPE_CODES["TYPE_PROTO"]: "tp",
        ATTRIBUTE_TYPE_CODES["FLOATS"]: "floats",
        ATTRIBUTE_TYPE_CODES["INTS"]: "ints",
        ATTRIBUTE_TYPE_CODES["STRINGS"]: "strings",
        ATTRIBUTE_TYPE_CODES["TENSORS"]: "tensors",
        ATTRIBUTE_TYPE_CODES["GRAPHS"]: "graphs",
        ATTRIBUTE_TYPE_CODES["SPARSE_TENSORS"]: "sparse_tensors",
        ATTRIBUTE_TYPE_CODES["TYPE_PROTOS"]: "type_protos",
    }
)
"""The field of AttributeProto that holds the value, for each number of the enum AttributeType but UNDEFINED."""

TYPE_NAMES: Final[Mapping[int, str]] = MappingProxyType({code: name for name, code in ATTRIBUTE_TYPE_CODES.items()})
"""The name of each number of the enum AttributeType but UNDEFINED."""

_VALUE_FIELDS: Final = frozenset(VALUE_FIELD_OF_TYPE.values())

_SPARSE_FIELDS: Final = frozenset({"sparse_tensor", "sparse_tensors"})

MAX_KEY_BYTES: Final = 128
"""A longer attribute is hardly ever repeated and is looked at without being remembered."""


class AttributeSignature(Record):
    """What an AttributeProto holds, without its name and values."""

    type: int
    """The stated type, whether the enum knows the number or not; 0 where it is absent or UNDEFINED."""
    fields: tuple[str, ...]
    """The value fields that are set."""
    is_named: bool
    is_reference: bool
    """Whether it refers to an attribute parameter of a function."""
    is_documented: bool
    is_text: bool
    """Whether all its strings are valid UTF-8; also where it has none."""
    element_types: frozenset[int]
    """What its dense tensors state as element types; 0 is among them where one states none."""
    are_tensors_evident: bool
    """Whether its tensors, if it has any, are dense and evidently hold what they should, and nothing else."""


class _Row(Record):
    """The attributes of the nodes of one graph, or the defaults of a function's attribute parameters."""

    graph: Graph
    are_defaults: bool
    numbers: list[int]
    """For each attribute the number of its signature, in the order of the file."""


class AttributeIndex:
    """The signatures of the attributes of the graphs that were added, and which attributes have them."""

    def __init__(self) -> None:
        self._numbers: dict[AttributeSignature, int] = {}
        self._known: dict[bytes, int] = {}
        self._rows: list[_Row] = []

    def add(self, graph: Graph) -> list[Attribute]:
        """Take in the attributes of the graph's nodes, and a function's defaults; not those of nested graphs.

        Returns the attributes that hold graphs.
        """
        nodes = chain.from_iterable([node.attribute_protos for node in graph.nodes])
        rows = [_Row(graph, are_defaults=False, numbers=self._numbers_of(nodes))]
        if graph.is_function and graph.proto.attribute_proto:
            defaults = self._numbers_of(graph.proto.attribute_proto)
            rows.append(_Row(graph, are_defaults=True, numbers=defaults))
        self._rows += rows
        return list(self._found(rows, _holds_graphs))

    def where(self, is_wanted: Callable[[AttributeSignature], bool]) -> Iterator[Attribute]:
        """The attributes of whose signature `is_wanted` is true, in the order of the graphs.

        It is asked once for each distinct signature.
        """
        return self._found(self._rows, is_wanted)

    @property
    def signatures(self) -> Iterable[AttributeSignature]:
        """The distinct signatures."""
        return self._numbers

    def count(self, is_wanted: Callable[[AttributeSignature], bool]) -> int:
        """How many attributes have a signature of which `is_wanted` is true."""
        wanted = {number for signature, number in self._numbers.items() if is_wanted(signature)}
        return sum(number in wanted for row in self._rows for number in row.numbers) if wanted else 0

    def _found(self, rows: list[_Row], is_wanted: Callable[[AttributeSignature], bool]) -> Iterator[Attribute]:
        wanted = {number for signature, number in self._numbers.items() if is_wanted(signature)}
        for row in rows:
            if not wanted.isdisjoint(row.numbers):
                yield from _located(row, wanted)

    def _numbers_of(self, attributes: Iterable[Proto]) -> list[int]:
        known = self._known.get
        numbers: list[int] = []
        for attribute in attributes:
            key = attribute.SerializePartialToString()
            number = known(key)
            numbers.append(self._number(attribute, key) if number is None else number)
        return numbers

    def _number(self, attribute: Proto, key: bytes) -> int:
        signature = _signature(attribute)
        number = self._numbers.setdefault(signature, len(self._numbers))
        if len(key) <= MAX_KEY_BYTES:
            self._known[key] = number
        return number


def _holds_graphs(signature: AttributeSignature) -> bool:
    # Asked of the fields, not of the type: a graph under a wrong type is still there.
    return "g" in signature.fields or "graphs" in signature.fields


def value_fields(attribute: Proto) -> tuple[str, ...]:
    """The value fields of an AttributeProto that are set: present singular fields and lists with elements."""
    return tuple(field.name for field, _ in attribute.ListFields() if field.name in _VALUE_FIELDS)


def _signature(attribute: Proto) -> AttributeSignature:
    fields = value_fields(attribute)
    tensors = [attribute.t] if "t" in fields else []
    tensors += attribute.tensors
    return AttributeSignature(
        attribute.type,
        fields,
        is_named=bool(attribute.name),
        is_reference=bool(attribute.ref_attr_name),
        is_documented=bool(attribute.doc_string),
        is_text=all(utf8_fault(value) is None for value in chain((attribute.s,), attribute.strings)),
        element_types=frozenset([tensor.data_type for tensor in tensors]),
        are_tensors_evident=all(map(is_evident, tensors)) and _SPARSE_FIELDS.isdisjoint(fields),
    )


def utf8_fault(value: bytes) -> int | None:
    """The index of the first byte that keeps `value` from being UTF-8; None where it is valid."""
    try:
        value.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None


def _located(row: _Row, wanted: set[int]) -> Iterator[Attribute]:
    graph, numbers = row.graph, row.numbers
    if row.are_defaults:
        for index, number in enumerate(numbers):
            if number in wanted:
                place = graph.place.at("attribute_proto", index)
                yield Attribute(graph.proto.attribute_proto[index], place, graph, None)
        return
    start = 0
    for node in graph.nodes:
        protos = node.attribute_protos
        own = numbers[start : start + len(protos)]
        start += len(own)
        if wanted.isdisjoint(own):
            continue
        place = node.place
        for index, number in enumerate(own):
            if number in wanted:
                yield Attribute(protos[index], place.at("attribute", index), graph, node)
