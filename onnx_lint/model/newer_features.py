# SPDX-License-Identifier: Apache-2.0
"""The fields, types and element types in a model that came with a later IR version than a given one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar

from onnx_lint.common.record import Record
from onnx_lint.ir.graph import Function, Graph, Node
from onnx_lint.ir.operators.named_element_types import named_element_types
from onnx_lint.ir.parts import METADATA, File, Type
from onnx_lint.ir.places.place import ROOT, Place
from onnx_lint.model.questions import overloaded_nodes
from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import ElementType, later_element_types
from onnx_lint.spec.ir_versions import LATER_FIELDS, ML_FROM_THE_START, TYPES, Since, later_fields
from onnx_lint.spec.releases import ML_DOMAIN, NEWEST_IR_VERSION
from onnx_lint.spec.standard import Standard

if TYPE_CHECKING:
    from onnx_lint.model.model import Model

_ELEMENT_TYPE_FIELDS = {"tensor_type": "elem_type", "sparse_tensor_type": "elem_type", "map_type": "key_type"}

_Used = TypeVar("_Used", str, int, ElementType)


class _Holder(Protocol):
    """The parts of a model that messages can name."""

    def describe(self) -> str:
        """Return the words for it."""


_Occurrence = tuple[_Used, Place, _Holder | None, int]
"""The feature (a key of the tables), its place, its holder (None: the model), and the number of uses from there on."""


class Feature(Record):
    """A field, type or element type that came with a later IR version."""

    what: str
    """Its name in messages."""
    since: Since
    place: Place
    """The place of its first use."""
    of: str
    """The words for the holder of its first use, which follow `what`; empty for the model itself."""
    count: int
    uses: Callable[[], Sequence[Feature]]
    """Returns the feature for each of its uses."""


def may_use_newer_features(model: Model) -> bool:
    """Return whether the model states an IR version before the newest, and may use features of a later one."""
    known = model.ir_version
    if not 1 <= known < NEWEST_IR_VERSION:
        return False
    return (
        model.declared_types.has_unusual
        or not model.tensors.element_types.isdisjoint(later_element_types(known))
        or any(_HAVING.get(message, _tensor_has)(model, fields) for message, fields in later_fields(known).items())
        or any(named_element_types(model.operators, model.bound_nodes, later_element_types(known).keys()))
    )


def _model_has(model: Model, fields: Sequence[str]) -> bool:
    return any(getattr(model.proto, field) for field in fields)


def _graph_has(model: Model, fields: Sequence[str]) -> bool:
    return any(map(model.graphs_with, fields))


def _function_has(model: Model, _: Sequence[str]) -> bool:
    return bool(model.functions)


def _node_has(model: Model, fields: Sequence[str]) -> bool:
    return (
        any(map(model.nodes_with, fields))
        or ("overload" in fields and bool(overloaded_nodes(model)))
        or ("domain" in fields and any(form.domain for form in model.forms))
    )


def _attribute_has(model: Model, fields: Sequence[str]) -> bool:
    wanted = set(fields)
    return not all(wanted.isdisjoint(kind.fields) for kind in model.attribute_index.kinds)


def _value_info_has(model: Model, _: Sequence[str]) -> bool:
    return bool(model.annotated_value_infos)


def _tensor_has(model: Model, _: Sequence[str]) -> bool:
    return bool(model.tensors.external or model.tensors.with_metadata)


_HAVING: Final[Mapping[str, Callable[[Model, Sequence[str]], bool]]] = MappingProxyType(
    {
        "ModelProto": _model_has,
        "GraphProto": _graph_has,
        "FunctionProto": _function_has,
        "NodeProto": _node_has,
        "AttributeProto": _attribute_has,
        "ValueInfoProto": _value_info_has,
    }
)
"""By message: returns whether anything in a model may have one of these fields of it. All others are in tensors."""


def features_beyond(model: Model, ir_version: int) -> Iterator[Feature]:
    """Yield the features of a model that a consumer of `ir_version` and earlier versions does not know.

    Fields that no clause judges on their own are left out: they occur only in messages that are reported themselves.
    """
    yield from _first_features(_field_feature, partial(_fields, model, ir_version))
    yield from _first_features(_type_feature, partial(_types, model, ir_version))
    declared: set[int] = set()

    def element_types(*, every: bool = False) -> Iterator[_Occurrence[ElementType]]:
        for occurrence in _element_types(model, ir_version):
            declared.add(occurrence[0].number)
            yield occurrence

    yield from _first_features(_element_feature, element_types)
    yield from _first_features(_named_feature, partial(_only_named, model, ir_version, declared))


def _field_feature(name: str, holder: str) -> tuple[str, Since, str]:
    """Return the words for a feature, its version, and the words for its holder."""
    message, _, field = name.rpartition(".")
    return f"field '{field}' of {message}", LATER_FIELDS[name], holder and f" at {holder}"


def _type_feature(name: str, holder: str) -> tuple[str, Since, str]:
    return f"type '{name.removesuffix('_type')}'", TYPES[name], holder and f" of {holder}"


def _element_feature(element: ElementType, holder: str) -> tuple[str, Since, str]:
    return f"element type '{element.name}'", element.since, holder and f" of {holder}"


def _named_feature(element: ElementType, holder: str) -> tuple[str, Since, str]:
    return f"element type '{element.name}'", element.since, f", named by {holder},"


def _first_features(
    describe: Callable[[Any, str], tuple[str, Since, str]], occurrences: Callable[..., Iterator[_Occurrence[Any]]]
) -> Iterator[Feature]:
    """Yield each feature once, at its first use. `occurrences`: yields the uses, all of them with `every`."""
    for name, place, holder, count in _first(occurrences()):
        what, since, of = describe(name, holder)
        yield Feature(what, since, place, of, count, partial(_uses, describe, occurrences, name))


def _uses(
    describe: Callable[[Any, str], tuple[str, Since, str]],
    occurrences: Callable[..., Iterator[_Occurrence[Any]]],
    name: object,
) -> list[Feature]:
    """Return a feature for each of its uses."""
    found: list[Feature] = []
    for other, place, holder, _ in occurrences(every=True):
        if other == name:
            what, since, of = describe(other, "" if holder is None else holder.describe())
            found.append(Feature(what, since, place, of, 1, lambda: found))
    return found


def _first(occurrences: Iterable[_Occurrence[_Used]]) -> Iterator[tuple[_Used, Place, str, int]]:
    """Yield each feature with the place and holder of its first use, and the number of its uses."""
    first: dict[_Used, tuple[Place, _Holder | None]] = {}
    counts: dict[_Used, int] = {}
    for name, place, holder, count in occurrences:
        first.setdefault(name, (place, holder))
        counts[name] = counts.get(name, 0) + count
    for name, (place, holder) in first.items():
        yield name, place, "" if holder is None else holder.describe(), counts[name]


def _fields(model: Model, known: int, *, every: bool = False) -> Iterator[_Occurrence[str]]:
    premature = later_fields(known)
    yield from _fields_of_model(model, premature, every=every)
    if "domain" in premature.get("NodeProto", ()):
        yield from _domains(model)
    yield from _fields_of_attributes(model, set(premature.get("AttributeProto", ())))
    if "external_data" in premature.get("TensorProto", ()):
        yield from _external_data(model)
    # All metadata except the model's own came with one IR version.
    if METADATA in premature.get("NodeProto", ()):
        for metadata in model.metadata(()):
            if metadata.place != ROOT:
                yield f"{metadata.message}.{metadata.field}", metadata.place.at(metadata.field), metadata, 1


def _fields_of_model(model: Model, premature: Mapping[str, list[str]], *, every: bool) -> Iterator[_Occurrence[str]]:
    for field in premature.get("ModelProto", ()):
        if getattr(model.proto, field):
            yield f"ModelProto.{field}", ROOT.at(field), None, 1
    graphs = [graph for graph in model.graphs if not graph.is_function]
    for message, holders in (("GraphProto", graphs), ("FunctionProto", model.functions)):
        for field in premature.get(message, ()):
            if field != METADATA:
                for item in holders:
                    if getattr(item.proto, field):
                        yield f"{message}.{field}", item.place.at(field), _named(item), 1
    yield from _fields_of_nodes(model, premature.get("NodeProto", ()), every=every)


def _fields_of_nodes(model: Model, premature: Iterable[str], *, every: bool) -> Iterator[_Occurrence[str]]:
    for field in premature:
        if field != "domain":
            nodes = overloaded_nodes(model) if field == "overload" else model.nodes_with(field)
            for node in islice(nodes, None if every else 1):
                yield f"NodeProto.{field}", node.place.at(field), node, 1 if every else len(nodes)


def _domains(model: Model) -> Iterator[_Occurrence[str]]:
    """Yield the nodes that name a domain; most nodes of most models do not."""
    for graph in model.graphs:
        forms = {form for form in graph.form_counts if form.domain}
        if not forms:
            continue
        for node in graph.nodes_of(forms):
            yield "NodeProto.domain", node.place.at("domain"), node, 1


def _fields_of_attributes(model: Model, premature: Set[str]) -> Iterator[_Occurrence[str]]:
    if premature:
        for attribute in model.attributes(lambda kind: not premature.isdisjoint(kind.fields)):
            for field in premature:
                value = getattr(attribute.proto, field)
                if attribute.proto.HasField(field) if hasattr(value, "DESCRIPTOR") else value:
                    yield f"AttributeProto.{field}", attribute.place.at(field), attribute, 1


def _named(item: Graph | Function | Node) -> _Holder:
    return item.body if isinstance(item, Function) else item


def _owner(holder: Type) -> _Holder | None:
    """Return the owner of the type; None if the file holds only the type."""
    return None if isinstance(holder.owner, File) else holder.owner


def _external_data(model: Model) -> Iterator[_Occurrence[str]]:
    for tensor in model.tensors.external:
        # Both fields have the same meaning, and the entries are easier to understand.
        for field in ("external_data", "data_location"):
            if getattr(tensor.proto, field):
                yield f"TensorProto.{field}", tensor.place.at(field), tensor, 1
                break


def undated_types(standard: Standard, known: Iterable[Set[str]]) -> frozenset[str]:
    """Return the kinds of type that every IR version has, for a model that imports or uses these domains.

    Edition 1.9 dates none; another rule checks that the smaller variant has no types of ONNX-ML. Later editions date
    sequences and maps for both variants, though models of classical machine learning had them before.
    """
    if not standard.at_least("1.16"):
        return ML_FROM_THE_START
    if standard.variant == "onnx":
        return frozenset()
    is_classical = any(ML_DOMAIN in domains for domains in known)
    return ML_FROM_THE_START if is_classical else ML_FROM_THE_START - {"sequence_type", "map_type"}


def _types(model: Model, known: int, *, every: bool = False) -> Iterator[_Occurrence[str]]:
    if not model.declared_types.has_unusual:
        return
    imported = map(model.imports.domains, [None, *model.functions])
    # A domain that nodes use without an import is a finding by itself, whose fix makes these types known.
    undated = undated_types(model.standard, chain(imported, model.domains_in_use.values()))
    premature = {name for name, since in TYPES.items() if since.ir_version > known} - undated
    if premature:
        for holder in model.types(lambda proto: proto.WhichOneof("value") in premature):
            yield str(holder.kind), holder.place.at(str(holder.kind)), _owner(holder), 1


def _element_types(model: Model, known: int) -> Iterator[_Occurrence[ElementType]]:
    premature = later_element_types(known)
    if model.declared_types.has_unusual:
        for holder in model.types(lambda proto: _element_type(proto) in premature):
            kind = str(holder.kind)
            place = holder.place.at(kind).at(_ELEMENT_TYPE_FIELDS[kind])
            yield premature[_element_type(holder.proto)], place, _owner(holder), 1
    for tensor in model.tensors.of(premature.keys()):
        yield premature[tensor.proto.data_type], tensor.place.at("data_type"), tensor, 1


def _only_named(
    model: Model, known: int, declared: Set[int], *, every: bool = False
) -> Iterator[_Occurrence[ElementType]]:
    """Yield the element types that attributes name and no value is declared with."""
    premature = later_element_types(known)
    for each in named_element_types(model.operators, model.bound_nodes, premature.keys() - declared):
        yield premature[each.number], each.place, each, 1


def _element_type(proto: Proto) -> int:
    """Return the number of the element or key type; 0 for types without such a field."""
    kind = proto.WhichOneof("value")
    return int(getattr(getattr(proto, kind), _ELEMENT_TYPE_FIELDS[kind])) if kind in _ELEMENT_TYPE_FIELDS else 0
