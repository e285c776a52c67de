# SPDX-License-Identifier: Apache-2.0
"""What a graph declares of one value in several places: as input, initializer, output, and in value_info."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeGuard

from onnx_lint.model.graph import Graph
from onnx_lint.model.place import Place
from onnx_lint.record import Record
from onnx_lint.schema import Proto
from onnx_lint.spec.operators import ELEMENT_TYPES
from onnx_lint.wording import quote

Dimension = int | str | None
"""A size, a variable, or neither."""

TENSOR_KINDS: Final = ("tensor_type", "sparse_tensor_type")
"""The cases of TypeProto that have an element type and a shape."""

INITIALIZER_FIELDS: Final = ("initializer", "sparse_initializer")

MAX_SHOWN_DIMENSIONS: Final = 8


class Declaration(Record):
    """A ValueInfoProto or an initializer of a graph."""

    graph: Graph
    field: str
    """`input`, `initializer`, `sparse_initializer`, `output` or `value_info`."""
    index: int

    @property
    def proto(self) -> Proto:
        """The message that stands there."""
        return self.graph.message_at(self.field, self.index)

    @property
    def name(self) -> str:
        """The name of the value; a sparse initializer has that of its values."""
        return str(self.proto.values.name if self.field == "sparse_initializer" else self.proto.name)

    @property
    def place(self) -> Place:
        """The place of the message."""
        return self.graph.place.at(self.field, self.index)

    @property
    def is_initializer(self) -> bool:
        """Whether it is an initializer, whose sizes are all known."""
        return self.field in INITIALIZER_FIELDS

    @property
    def kind(self) -> str | None:
        """The case of the type that is set; that of an initializer is a tensor type."""
        if self.is_initializer:
            return "sparse_tensor_type" if self.field == "sparse_initializer" else "tensor_type"
        kind: str | None = self.proto.type.WhichOneof("value")
        return kind

    @property
    def element_type(self) -> int:
        """The element type of a tensor; 0 where none is stated."""
        if self.field == "initializer":
            return int(self.proto.data_type)
        if self.field == "sparse_initializer":
            return int(self.proto.values.data_type)
        return int(getattr(self.proto.type, self.kind).elem_type) if self.kind in TENSOR_KINDS else 0

    @property
    def dimensions(self) -> list[Dimension] | None:
        """The dimensions of a tensor; None where it has no shape."""
        if self.is_initializer:
            return list(self.proto.dims)
        return dimensions_of(self.proto.type)

    def describe(self) -> str:
        """The declaration as messages name it."""
        return f"{self.field.replace('_', ' ')} {quote(self.name)} of {self.graph.describe()}"

    def describe_type(self) -> str:
        """What it declares, such as `float[2,N]`."""
        if not self.is_initializer:
            return describe_type(self.proto.type)
        return f"{element_type_name(self.element_type)}{_brackets(self.dimensions)}"


def repeated_declarations(graph: Graph) -> list[list[Declaration]]:
    """The declarations of each non-empty name that stands in several lists of the graph and not with one type in all.

    Many exporters write outputs into value_info too, as the same type; nothing can be wrong with those. Of one name,
    inputs come first, then initializers, outputs, and value_info. The graph is no function.
    """
    lists = {
        "input": graph.input_names,
        "initializer": graph.initializer_names,
        "sparse_initializer": graph.sparse_initializer_names,
        "output": graph.output_names,
        "value_info": graph.value_info_names,
    }
    if len(set().union(*lists.values())) == sum(map(len, lists.values())):
        return []
    seen: set[str] = set()
    repeated: set[str] = set()
    for names in lists.values():
        repeated.update(seen.intersection(names))
        seen.update(names)
    repeated.discard("")
    found: dict[str, list[tuple[str, int]]] = {}
    for field, names in lists.items() if repeated else ():
        for index, name in enumerate(names):
            if name in repeated:
                found.setdefault(name, []).append((field, index))
    differing = (entries for entries in found.values() if not _state_one_type(graph, entries))
    return [[Declaration(graph, field, index) for field, index in entries] for entries in differing]


def _state_one_type(graph: Graph, entries: list[tuple[str, int]]) -> bool:
    """Whether these entries of the graph's lists state the same type, byte for byte."""
    if any(field in INITIALIZER_FIELDS for field, _ in entries):
        return False
    return len({graph.value_infos[field].types[index] for field, index in entries}) == 1


def dimensions_of(proto: Proto) -> list[Dimension] | None:
    """The dimensions that a TypeProto of a dense or sparse tensor states; None where it has no shape."""
    kind = proto.WhichOneof("value")
    if kind not in TENSOR_KINDS or not getattr(proto, kind).HasField("shape"):
        return None
    return [_dimension(dimension) for dimension in getattr(proto, kind).shape.dim]


def _dimension(proto: Proto) -> Dimension:
    match proto.WhichOneof("value"):
        case "dim_value":
            return int(proto.dim_value)
        case "dim_param":
            return str(proto.dim_param)
        case _:
            return None


def shapes_contradict(one: list[Dimension] | None, other: list[Dimension] | None) -> bool:
    """Whether no shape is both: the ranks differ or a size does. Variables and unknown dimensions fit anything."""
    if one is None or other is None:
        return False
    if len(one) != len(other):
        return True
    pairs = zip(one, other, strict=True)
    return any(is_size(a) and is_size(b) and a != b for a, b in pairs)


def is_size(dimension: Dimension) -> TypeGuard[int]:
    """Whether it is a size; a negative number, which has a finding of its own, is none."""
    return isinstance(dimension, int) and dimension >= 0


def types_contradict(one: Proto, other: Proto) -> bool:
    """Whether no type is both of these TypeProtos; what one of them leaves open contradicts nothing."""
    kind = one.WhichOneof("value")
    if kind is None or not other.HasField("value"):
        return False
    if other.WhichOneof("value") != kind:
        return True
    mine, theirs = getattr(one, kind), getattr(other, kind)
    match kind:
        case "sequence_type" | "optional_type":
            return types_contradict(mine.elem_type, theirs.elem_type)
        case "map_type":
            return _differ(mine.key_type, theirs.key_type) or types_contradict(mine.value_type, theirs.value_type)
        case "opaque_type":
            return _differ(mine.name, theirs.name) or _differ(mine.domain, theirs.domain)
        case _:
            return _differ(mine.elem_type, theirs.elem_type) or shapes_contradict(
                dimensions_of(one), dimensions_of(other)
            )


def declarations_contradict(one: Declaration, other: Declaration) -> bool:
    """Whether one value cannot be as both say.

    A sparse initializer stands for a tensor, so a dense and a sparse tensor type both fit it.
    """
    if not one.is_initializer and not other.is_initializer:
        return types_contradict(one.proto.type, other.proto.type)
    if one.kind is None or other.kind is None:
        return False
    if one.kind not in TENSOR_KINDS or other.kind not in TENSOR_KINDS:
        return True
    if one.kind != other.kind and "sparse_initializer" not in (one.field, other.field):
        return True
    return _differ(one.element_type, other.element_type) or shapes_contradict(one.dimensions, other.dimensions)


def _differ(one: object, other: object) -> bool:
    """Whether both are stated and are not the same; 0 and the empty string state nothing."""
    return bool(one) and bool(other) and one != other


def element_type_name(code: int) -> str:
    """The name of a number of the enum TensorProto.DataType, the number where it has none."""
    if 0 < code <= len(ELEMENT_TYPES):
        return ELEMENT_TYPES[code - 1]
    return f"element type {code}" if code else "undefined"


def describe_type(proto: Proto) -> str:
    """A TypeProto for messages: `float[2,N,?]`, `seq(map(int64, float[]))`."""
    kind = proto.WhichOneof("value")
    match kind:
        case None:
            return "no type"
        case "sequence_type":
            return f"seq({describe_type(proto.sequence_type.elem_type)})"
        case "optional_type":
            return f"optional({describe_type(proto.optional_type.elem_type)})"
        case "map_type":
            return f"map({element_type_name(proto.map_type.key_type)}, {describe_type(proto.map_type.value_type)})"
        case "opaque_type":
            return f"opaque({proto.opaque_type.domain},{proto.opaque_type.name})"
        case _:
            prefix = "sparse " if kind == "sparse_tensor_type" else ""
            return f"{prefix}{element_type_name(getattr(proto, kind).elem_type)}{_brackets(dimensions_of(proto))}"


def _brackets(dimensions: list[Dimension] | None) -> str:
    if dimensions is None:
        return ""
    shown = list(_shown(dimensions[:MAX_SHOWN_DIMENSIONS]))
    if len(dimensions) > MAX_SHOWN_DIMENSIONS:
        shown.append(f"... {len(dimensions)} dimensions")
    return f"[{','.join(shown)}]"


def _shown(dimensions: list[Dimension]) -> Iterator[str]:
    for dimension in dimensions:
        if isinstance(dimension, str):
            yield quote(dimension)[1:-1]
        else:
            yield "?" if dimension is None else str(dimension)
