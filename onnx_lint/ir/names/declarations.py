# SPDX-License-Identifier: Apache-2.0
"""The declarations of one value in several lists of a graph: inputs, initializers, outputs, and value_info."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, TypeGuard

from onnx_lint.common.cached import cached_property
from onnx_lint.ir.columns.initializers import serialized_type
from onnx_lint.ir.graph import Graph, first_indices
from onnx_lint.ir.places.place import Place
from onnx_lint.schema import Proto
from onnx_lint.wording import quote

Dimension = int | str | None
"""A size, a variable, or neither."""

TENSOR_KINDS: Final = ("tensor_type", "sparse_tensor_type")
"""The cases of TypeProto that have an element type and a shape."""

INITIALIZER_FIELDS: Final = ("initializer", "sparse_initializer")

Statements = Mapping[tuple[int, str | int], int | str | bool]
"""The statements of a type about its parts, by the depth of the part in sequences, maps and optionals, and its name."""


class Declaration:
    """A ValueInfoProto or an initializer of a graph.

    `field`: `input`, `initializer`, `sparse_initializer`, `output` or `value_info`.
    """

    def __init__(self, graph: Graph, field: str, index: int) -> None:
        self.graph = graph
        self.field = field
        self.index = index

    @cached_property
    def proto(self) -> Proto:
        """The message of the declaration."""
        return self.graph.message_at(self.field, self.index)

    @property
    def name(self) -> str:
        """The name of the value; a sparse initializer has that of its values."""
        return str(self.proto.values.name if self.field == "sparse_initializer" else self.proto.name)

    @property
    def place(self) -> Place:
        """The place of the message."""
        return self.graph.at(self.field, self.index)

    @property
    def is_initializer(self) -> bool:
        """True if it is an initializer, whose sizes are all known."""
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
        """The element type of a tensor; 0 if none is stated."""
        if self.field == "initializer":
            return int(self.proto.data_type)
        if self.field == "sparse_initializer":
            return int(self.proto.values.data_type)
        return int(getattr(self.proto.type, self.kind).elem_type) if self.kind in TENSOR_KINDS else 0

    @property
    def dimensions(self) -> list[Dimension] | None:
        """The dimensions of a tensor; None if it has no shape."""
        if self.is_initializer:
            return list(self.proto.dims)
        return dimensions_of(self.proto.type)

    @cached_property
    def statements(self) -> Statements:
        """The statements about the type of the value.

        A sparse initializer represents a tensor, so a dense and a sparse tensor type both match it.
        """
        if not self.is_initializer:
            return statements_of(self.proto.type)
        stated: dict[tuple[int, str | int], int | str | bool] = dict(
            _tensor_statements(0, self.element_type, self.dimensions)
        )
        stated[0, "is_tensor"] = True
        if self.field == "initializer":
            stated[0, "kind"] = "tensor_type"
        return stated

    def describe(self) -> str:
        """Return the name of the declaration in messages."""
        return f"{self.field.replace('_', ' ')} {quote(self.name)} of {self.graph.describe()}"

    def contradiction(self, other: Declaration) -> str:
        """Return the first part of the type that another declaration contradicts: `rank`, or `1` for dimension 1.

        In sequences, maps and optionals the depth comes before the part of the type. Empty if nothing is contradicted.
        """
        stated = other.statements
        parts = (part for part, value in self.statements.items() if stated.get(part, value) != value)
        return next((f"{depth or ''} {what}".strip() for depth, what in parts), "")

    def describe_type(self) -> str:
        """Return the declared type, such as `float[2, N]`."""
        from onnx_lint.ir.in_words import describe_tensor_type, describe_type

        if not self.is_initializer:
            return describe_type(self.proto.type)
        return describe_tensor_type(self.element_type, self.proto.dims)


class RepeatedDeclarations:
    """The declarations of each name that several lists of a graph declare with different types.

    Declarations are created at each iteration, so that their messages are not kept.
    """

    def __init__(self, graph: Graph, entries: Sequence[Sequence[tuple[str, int]]]) -> None:
        self._graph = graph
        self._entries = entries
        """For each name the lists and the indices in them."""

    def __iter__(self) -> Iterator[list[Declaration]]:
        for entries in self._entries:
            yield [Declaration(self._graph, *entry) for entry in entries]


def repeated_declarations(graph: Graph) -> RepeatedDeclarations | None:
    """Return the declarations of each non-empty name that several lists of the graph declare with different types.

    Many exporters write outputs into value_info too, with the same type, and old ones each initializer as an input;
    these are always right. For one name, inputs come first, then initializers, outputs, and value_info. The graph must
    not be a function. None if there are no such names.
    """
    lists: Mapping[str, Sequence[str]] = {
        "input": graph.input_names,
        "initializer": graph.initializer_names,
        "sparse_initializer": graph.sparse_initializer_names,
        "output": graph.output_names,
        "value_info": graph.value_info_names,
    }
    seen: set[str] = set()
    repeated: set[str] = set()
    for names in lists.values():
        repeated.update(seen.intersection(names))
        seen.update(names)
    repeated.discard("")
    if not repeated:
        return None
    found: dict[str, list[tuple[str, int]]] = {}
    for field, names in lists.items():
        for index, name in enumerate(names):
            if name in repeated:
                found.setdefault(name, []).append((field, index))
    differing = [entries for entries in found.values() if not _state_one_type(graph, entries)]
    return RepeatedDeclarations(graph, differing) if differing else None


def defaults_across(algorithm: Graph) -> Iterator[tuple[Declaration, Declaration]]:
    """Yield each initializer of a training algorithm or the main graph with the other's input that has its name."""
    main = algorithm.inference_graph
    for inner, outer in ((algorithm, main), (main, algorithm)):
        inputs = first_indices(inner.input_names)
        for field, names in (
            ("initializer", outer.initializer_names),
            ("sparse_initializer", outer.sparse_initializer_names),
        ):
            for index, name in enumerate(names):
                if name and name in inputs:
                    yield Declaration(outer, field, index), Declaration(inner, "input", inputs[name])


def _state_one_type(graph: Graph, entries: list[tuple[str, int]]) -> bool:
    """Return true if these entries of the graph's lists state the same type, byte for byte."""
    if any(field == "sparse_initializer" for field, _ in entries):
        return False
    initializers = graph.initializers
    types = {
        serialized_type(initializers.element_types[index], initializers.shapes[index])
        if field == "initializer"
        else graph.value_infos[field].types[index]
        for field, index in entries
    }
    return len(types) == 1


def dimensions_of(proto: Proto) -> list[Dimension] | None:
    """The dimensions that a TypeProto of a dense or sparse tensor states; None if it has no shape."""
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


def is_size(dimension: Dimension) -> TypeGuard[int]:
    """Return true for a size; a negative number is not one, and another rule reports it."""
    return isinstance(dimension, int) and dimension >= 0


def statements_of(proto: Proto) -> Statements:
    """Return the statements of a TypeProto. Zero and empty values, variables and unknown dimensions state nothing."""
    stated: dict[tuple[int, str | int], int | str | bool] = {}
    depth = 0
    inner: Proto | None = proto
    while inner is not None:
        kind = inner.WhichOneof("value")
        if kind is None:
            break
        stated[depth, "kind"] = kind
        stated[depth, "is_tensor"] = kind in TENSOR_KINDS
        found = getattr(inner, kind)
        inner = None
        match kind:
            case "sequence_type" | "optional_type":
                inner = found.elem_type
            case "map_type":
                if found.key_type:
                    stated[depth, "key_type"] = int(found.key_type)
                inner = found.value_type
            case "opaque_type":
                stated.update({(depth, part): getattr(found, part) for part in _OPAQUE_PARTS if getattr(found, part)})
            case _:
                dimensions = list(map(_dimension, found.shape.dim)) if found.HasField("shape") else None
                stated.update(_tensor_statements(depth, int(found.elem_type), dimensions))
        depth += 1
    return stated


_OPAQUE_PARTS: Final = ("domain", "name")


def _tensor_statements(
    depth: int, element_type: int, dimensions: list[Dimension] | None
) -> Iterator[tuple[tuple[int, str | int], int]]:
    if element_type:
        yield (depth, "elem_type"), element_type
    if dimensions is not None:
        yield (depth, "rank"), len(dimensions)
        for axis, dimension in enumerate(dimensions):
            if is_size(dimension):
                yield (depth, axis), dimension


def contradict(one: Statements, other: Statements) -> bool:
    """Return true if no type fits both: they state different things about the same part.

    Only parts of both are compared. If kinds or ranks differ, deeper parts may differ too, which changes nothing.
    """
    few, many = (one, other) if len(one) < len(other) else (other, one)
    return any(many.get(part, value) != value for part, value in few.items())
