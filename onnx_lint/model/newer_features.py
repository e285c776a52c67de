# SPDX-License-Identifier: Apache-2.0
"""The fields, types and element types that a model uses and that came with a later IR version than a given one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from onnx_lint import schema
from onnx_lint.common.record import Record
from onnx_lint.ir.attributes import AttributeIndex
from onnx_lint.ir.graph import Function, Graph, Node, NodesOfGraphs
from onnx_lint.ir.parts import File, Metadata, Type
from onnx_lint.ir.places.place import ROOT, Place
from onnx_lint.ir.tensors.suspects import SuspectTensors
from onnx_lint.model.indexed_fields import METADATA, fields_sought_everywhere
from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import ElementType, later_element_types
from onnx_lint.spec.ir_versions import FIELDS, ML_FROM_THE_START, TYPES, Since, later_fields
from onnx_lint.spec.releases import ML_DOMAIN
from onnx_lint.spec.standard import Standard

if TYPE_CHECKING:
    from onnx_lint.inference.types.distinct_types import TypeIndex

_ELEMENT_TYPE_FIELDS = {"tensor_type": "elem_type", "sparse_tensor_type": "elem_type", "map_type": "key_type"}

_KEPT_AS_BYTES: Final = {"node": "NodeProto", "initializer": "TensorProto", "value_info": "ValueInfoProto"}
"""The messages that an outline has as bytes, by the field of a graph or function."""

_Used = TypeVar("_Used", str, ElementType)


class _Holder(Protocol):
    """What messages can name."""

    def describe(self) -> str:
        """The words for it."""


_Occurrence = tuple[str, Place, _Holder | None, int]
"""What is used, as a key of the tables, where, what has it, if that is not the model, and how often from there on."""


class Feature(Record):
    """Something that a later IR version brought."""

    what: str
    """How messages name it."""
    since: Since
    place: Place
    """Where it is used first."""
    of: str
    """The words that name what uses it there, to be put behind `what`; empty for the model itself."""
    count: int


class Content(Record):
    """The parts of a model in which newer features are looked for."""

    proto: Proto
    undated_types: frozenset[str]
    """The kinds of type, by the case of TypeProto, that the variant and edition have whatever the IR version.

    They count only where types are looked through.
    """
    graphs: Sequence[Graph]
    functions: Sequence[Function]
    nodes_with: Callable[[str], NodesOfGraphs]
    """The nodes that have an annotation."""
    overloaded_nodes: NodesOfGraphs
    metadata_beside_nodes: Iterable[Metadata]
    attributes: AttributeIndex
    types: TypeIndex | None
    """None where all types are usual, which are as old as the format."""
    tensors: SuspectTensors


def features_beyond(content: Content, ir_version: int) -> Iterator[Feature]:
    """What a model uses that a consumer which knows `ir_version` and earlier ones has never heard of.

    Fields that no clause judges on their own are left out: they only stand in messages that are told themselves.
    """
    for name, place, holder, count in _first(_fields(content, ir_version)):
        message, _, field = name.rpartition(".")
        yield Feature(f"field '{field}' of {message}", FIELDS[name], place, holder and f" at {holder}", count)
    for name, place, holder, count in _first(_types(content, ir_version)):
        yield Feature(f"type '{name.removesuffix('_type')}'", TYPES[name], place, holder and f" of {holder}", count)
    for element, place, holder, count in _first(_element_types(content, ir_version)):
        yield Feature(f"element type '{element.name}'", element.since, place, holder and f" of {holder}", count)


def _first(occurrences: Iterable[tuple[_Used, Place, _Holder | None, int]]) -> Iterator[tuple[_Used, Place, str, int]]:
    """Yield what is used, where it is used first, what has it there, and how often."""
    first: dict[_Used, tuple[Place, _Holder | None]] = {}
    counts: dict[_Used, int] = {}
    for name, place, holder, count in occurrences:
        first.setdefault(name, (place, holder))
        counts[name] = counts.get(name, 0) + count
    for name, (place, holder) in first.items():
        yield name, place, "" if holder is None else holder.describe(), counts[name]


def _fields(content: Content, known: int) -> Iterator[_Occurrence]:
    premature = later_fields(known)
    yield from _fields_of_model(content, premature)
    sought = fields_sought_everywhere(premature)
    if sought:
        yield from _fields_anywhere(content.proto, ROOT, sought)
    if "domain" in premature.get("NodeProto", ()):
        yield from _domains(content)
    of_attributes = {field for field in premature.get("AttributeProto", ()) if f"AttributeProto.{field}" not in sought}
    yield from _fields_of_attributes(content, of_attributes)
    if "external_data" in premature.get("TensorProto", ()):
        yield from _external_data(content)
    # All metadata but the model's own came with one IR version.
    if METADATA in premature.get("NodeProto", ()):
        for metadata in content.metadata_beside_nodes:
            if metadata.place != ROOT:
                yield f"{metadata.message}.{metadata.field}", metadata.place.at(metadata.field), metadata, 1


def _fields_anywhere(proto: Proto, place: Place, sought: Set[str]) -> Iterator[_Occurrence]:
    """Yield where a message, or one inside it, has a sought field."""
    message = _message_name(proto)
    for descriptor, value in proto.ListFields():
        field = descriptor.name
        if f"{message}.{field}" in sought:
            yield f"{message}.{field}", place.at(field), None, 1
        kept = _KEPT_AS_BYTES.get(field) if descriptor.type == descriptor.TYPE_BYTES else None
        if descriptor.message_type is None and kept is None:
            continue
        for index, each in enumerate(value) if isinstance(value, Sequence) else [(None, value)]:
            inner = schema.opened(kept, each) if kept is not None else each
            yield from _fields_anywhere(inner, place.at(field) if index is None else place.at(field, index), sought)


def _message_name(proto: Proto) -> str:
    """Return the name of the message in the schema, such as `TypeProto.Tensor`."""
    descriptor: Any = proto.DESCRIPTOR
    name = str(descriptor.name)
    while descriptor.containing_type is not None:
        descriptor = descriptor.containing_type
        name = f"{descriptor.name}.{name}"
    return name


def _fields_of_model(content: Content, premature: Mapping[str, list[str]]) -> Iterator[_Occurrence]:
    for field in premature.get("ModelProto", ()):
        if getattr(content.proto, field):
            yield f"ModelProto.{field}", ROOT.at(field), None, 1
    graphs = [graph for graph in content.graphs if not graph.is_function]
    for message, holders in (("GraphProto", graphs), ("FunctionProto", content.functions)):
        for field in premature.get(message, ()):
            if field != METADATA:
                for item in holders:
                    if getattr(item.proto, field):
                        yield f"{message}.{field}", item.place.at(field), _named(item), 1
    for field in premature.get("NodeProto", ()):
        if field != "domain":
            nodes = content.overloaded_nodes if field == "overload" else content.nodes_with(field)
            for node in islice(nodes, 1):
                yield f"NodeProto.{field}", node.place.at(field), node, len(nodes)


def _domains(content: Content) -> Iterator[_Occurrence]:
    """The nodes that name a domain, which most nodes of most models do not."""
    for graph in content.graphs:
        forms = {form for form in graph.form_counts if form.domain}
        for node in graph.nodes_of(forms) if forms else ():
            yield "NodeProto.domain", node.place.at("domain"), node, 1


def _fields_of_attributes(content: Content, premature: Set[str]) -> Iterator[_Occurrence]:
    if premature:
        for attribute in content.attributes.where(lambda kind: not premature.isdisjoint(kind.fields)):
            for field in premature:
                value = getattr(attribute.proto, field)
                if attribute.proto.HasField(field) if hasattr(value, "DESCRIPTOR") else value:
                    yield f"AttributeProto.{field}", attribute.place.at(field), attribute, 1


def _named(item: Graph | Function | Node) -> _Holder:
    return item.body if isinstance(item, Function) else item


def _owner(holder: Type) -> _Holder | None:
    """What has the type; None where the type is all that the file holds."""
    return None if isinstance(holder.owner, File) else holder.owner


def _external_data(content: Content) -> Iterator[_Occurrence]:
    for tensor in content.tensors.external:
        # Both fields say the same, the entries more plainly.
        for field in ("external_data", "data_location"):
            if getattr(tensor.proto, field):
                yield f"TensorProto.{field}", tensor.place.at(field), tensor, 1
                break


def undated_types(standard: Standard, imported: Iterable[Set[str]]) -> frozenset[str]:
    """The kinds of type that the IR version decides nothing about, for a model that imports these domains.

    Edition 1.9 dates none; that it gives the smaller variant no types of ONNX-ML is for another rule. Later ones date
    sequences and maps for both variants, which models of classical machine learning had before.
    """
    if not standard.at_least("1.16"):
        return ML_FROM_THE_START
    if standard.variant == "onnx":
        return frozenset()
    is_classical = any(ML_DOMAIN in domains for domains in imported)
    return ML_FROM_THE_START if is_classical else ML_FROM_THE_START - {"sequence_type", "map_type"}


def _types(content: Content, known: int) -> Iterator[_Occurrence]:
    if content.types is None:
        return
    premature = {name for name, since in TYPES.items() if since.ir_version > known} - content.undated_types
    if premature:
        for holder in content.types.where(lambda proto: proto.WhichOneof("value") in premature):
            yield str(holder.kind), holder.place.at(str(holder.kind)), _owner(holder), 1


def _element_types(content: Content, known: int) -> Iterator[tuple[ElementType, Place, _Holder | None, int]]:
    premature = later_element_types(known)
    if content.types is not None:
        for holder in content.types.where(lambda proto: _element_type(proto) in premature):
            kind = str(holder.kind)
            place = holder.place.at(kind).at(_ELEMENT_TYPE_FIELDS[kind])
            yield premature[_element_type(holder.proto)], place, _owner(holder), 1
    for tensor in content.tensors.of(premature.keys()):
        yield premature[tensor.proto.data_type], tensor.place.at("data_type"), tensor, 1


def _element_type(proto: Proto) -> int:
    """The number of the element or key type; 0, which is none, for types that have no such field."""
    kind = proto.WhichOneof("value")
    return int(getattr(getattr(proto, kind), _ELEMENT_TYPE_FIELDS[kind])) if kind in _ELEMENT_TYPE_FIELDS else 0
