# SPDX-License-Identifier: Apache-2.0
"""Finds the tensors of a model that are not evidently right, the sparse ones, and the annotated ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING

from onnx_lint.common.record import Record
from onnx_lint.input.source import Source
from onnx_lint.ir.attributes import AttributeIndex
from onnx_lint.ir.columns.tensor_encodings import (
    SetFields,
    are_values_evident,
    encoding_of,
    is_annotated,
    set_fields,
)
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.parts import Attribute, SparseTensor, Tensor
from onnx_lint.ir.payload import Payload
from onnx_lint.ir.places.place import Place, PlaceKey
from onnx_lint.ir.tensors.reparsed_tensors import MAX_KEPT, AttributeOrigin, InitializerOrigin, TensorOrigin, Tensors
from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import ELEMENT_TYPES

if TYPE_CHECKING:
    from onnx_lint.ir.tensors.sparse import StoredSparseTensor
    from onnx_lint.ir.tensors.stored_tensor import StoredTensor


class SuspectTensors(Record):
    """The tensors of a model that a rule may report."""

    miscounted: tuple[StoredTensor, ...]
    """The tensors that do not evidently have the right number of values in one field that is right for their type."""
    unproved: tuple[StoredTensor, ...]
    """The miscounted ones, and those whose number is right, with values that are not evidently right."""
    sparse: tuple[StoredSparseTensor, ...]
    """Every sparse tensor."""
    documented: Tensors
    """The tensors with documentation."""
    with_metadata: Tensors
    """The tensors with metadata."""
    external: Tensors
    """The tensors that say where their values are."""
    element_types: frozenset[int]
    """The numbers of the stated element types; 0 if a tensor states none."""
    initializers: Sequence[Graph]
    """The graphs. Their initializers are searched when tensors of a type are requested."""
    attributes: AttributeIndex
    """The attributes, likewise."""
    payloads: Mapping[PlaceKey, tuple[Payload, ...]]

    def of(self, element_types: Set[int], *, may_be_nan: bool = False) -> Iterator[Tensor]:
        """Yield the tensors of these element types: initializers, parts of sparse tensors, and those in attributes.

        `may_be_nan`: True to leave out tensors that evidently hold no NaN; most of those in other files are left out.
        """
        if self.element_types.isdisjoint(element_types):
            return
        for graph in self.initializers:
            yield from self._initializers(graph, element_types, may_be_nan=may_be_nan)
        for attribute in self.attributes.where(
            lambda kind: kind.may_be_nan >= may_be_nan and not element_types.isdisjoint(kind.element_types)
        ):
            for proto, place in tensors_in(attribute):
                if proto.data_type in element_types:
                    yield self._tensor(proto, place, attribute.graph)
        for sparse in self.sparse:
            for part in (sparse.values, sparse.indices):
                if part is not None and part.proto.data_type in element_types:
                    yield part.tensor

    def _initializers(self, graph: Graph, element_types: Set[int], *, may_be_nan: bool) -> Iterator[Tensor]:
        columns = graph.initializers
        for index, number in enumerate(columns.element_types):
            if number in element_types:
                is_right = may_be_nan and index not in columns.may_be_nan
                if is_right and not self.payloads:
                    continue
                place = graph.at("initializer", index)
                if not is_right or place.key in self.payloads:
                    yield self._tensor(graph.message_at("initializer", index), place, graph)

    def _tensor(self, proto: Proto, place: Place, graph: Graph) -> Tensor:
        return Tensor(proto, place, graph, self.payloads.get(place.key, ()))


def tensors_in(attribute: Attribute) -> Iterator[tuple[Proto, Place]]:
    """Yield the dense tensors in the value of an attribute, each with its place."""
    if attribute.proto.HasField("t"):
        yield attribute.proto.t, attribute.place.at("t")
    for index, proto in enumerate(attribute.proto.tensors):
        yield proto, attribute.place.at("tensors", index)


def find_suspects(
    graphs: Sequence[Graph],
    attributes: AttributeIndex,
    source: Source,
    payloads: Mapping[PlaceKey, tuple[Payload, ...]],
) -> SuspectTensors:
    """Examine each tensor that is not evidently right, and collect the element types of all tensors."""
    walk = _Collector(source, payloads)
    for graph in graphs:
        if not graph.is_function:
            walk.initializers(graph)
    walk.attributes(attributes)
    miscounted = tuple(walk.miscounted)
    return SuspectTensors(
        miscounted,
        (*miscounted, *walk.counted),
        tuple(walk.sparse),
        Tensors(walk.documented),
        Tensors(walk.with_metadata),
        Tensors(walk.external),
        frozenset(walk.element_types),
        [graph for graph in graphs if not graph.is_function],
        attributes,
        payloads,
    )


class _Collector:
    """Collects tensors."""

    def __init__(self, source: Source, payloads: Mapping[PlaceKey, tuple[Payload, ...]]) -> None:
        self.source = source
        self.payloads = payloads
        self.miscounted: list[StoredTensor] = []
        self.counted: list[StoredTensor] = []
        self.sparse: list[StoredSparseTensor] = []
        self.documented: list[Tensor | TensorOrigin] = []
        self.with_metadata: list[Tensor | TensorOrigin] = []
        self.external: list[Tensor | TensorOrigin] = []
        self.element_types: set[int] = set()
        self.left_out: dict[PlaceKey, list[tuple[str, int | None]]] = {}
        """By the message around them, the steps to tensors that the loader left values of in the source."""
        for *holder, step in filter(None, self.payloads):  # the root of a file is in no message
            self.left_out.setdefault(tuple(holder), []).append(step)

    def initializers(self, graph: Graph) -> None:
        if graph.initializers.names:
            for index in self.initializers_to_examine(graph):
                self.tensor(graph.message_at("initializer", index), graph.at("initializer", index), graph, index)
        for index, proto in enumerate(graph.proto.sparse_initializer):
            self.sparse_tensor(SparseTensor(proto, graph.at("sparse_initializer", index), graph))

    def initializers_to_examine(self, graph: Graph) -> list[int]:
        """Return the indices of initializers that are of a kind not evidently right, or have values in the source."""
        initializers = graph.initializers
        self.element_types |= ELEMENT_TYPES.keys() & initializers.element_types
        found = set(initializers.unproved)
        if graph.is_file and self.payloads:
            return list(range(len(initializers.names)))
        if self.left_out:
            steps = self.left_out.get(graph.place.key, ())
            found.update(index for field, index in steps if field == "initializer" and index is not None)
        return sorted(found)

    def attributes(self, attributes: AttributeIndex) -> None:
        for kind in attributes.kinds:
            self.element_types |= kind.element_types
        for attribute in attributes.where(lambda kind: not kind.are_tensors_evident):
            self.attribute(attribute)
            if self.left_out:
                self.left_out.pop(attribute.place.key, None)
        # A tensor that looks right without its payloads may have a second field among them.
        missed = {holder for holder, steps in self.left_out.items() if steps[0][0] in ("t", "tensors")}
        if missed:
            for attribute in attributes.where(lambda kind: bool(kind.element_types)):
                if attribute.place.key in missed:
                    self.attribute(attribute)

    def attribute(self, attribute: Attribute) -> None:
        proto, place, graph = attribute.proto, attribute.place, attribute.graph
        for tensor, where in tensors_in(attribute):
            self.tensor(tensor, where, graph)
        if proto.HasField("sparse_tensor"):
            self.sparse_tensor(SparseTensor(proto.sparse_tensor, place.at("sparse_tensor"), graph))
        for index, sparse in enumerate(proto.sparse_tensors):
            self.sparse_tensor(SparseTensor(sparse, place.at("sparse_tensors", index), graph))

    def tensor(self, proto: Proto, place: Place, graph: Graph, index: int | None = None) -> None:
        """Look at a tensor, which is the initializer of this index if it is one."""
        fields = set_fields(proto)
        tensor = self.described(proto, fields, place, graph, index)
        encoding = encoding_of(fields, tensor.payloads)
        if encoding is None:
            self.keep(self.miscounted, tensor, index)
        elif not are_values_evident(fields, encoding):
            self.keep(self.counted, tensor, index, encoding.field)

    def keep(
        self, found: list[StoredTensor], tensor: Tensor, index: int | None, allowed_field: str | None = None
    ) -> None:
        """Add the tensor to a list of suspects."""
        origin = None if len(found) < MAX_KEPT else self.origin(tensor, index)
        found.append(self.stored(tensor, allowed_field, origin))

    def origin(self, tensor: Tensor, index: int | None) -> TensorOrigin:
        if index is not None:
            return InitializerOrigin(tensor.graph, self.payloads, index)
        return AttributeOrigin(tensor.graph, self.payloads, tensor.proto, tensor.place)

    def described(
        self, proto: Proto, fields: SetFields, place: Place, graph: Graph, index: int | None = None
    ) -> Tensor:
        """Return the tensor with its payloads; note its element type, and the tensor itself if it is annotated."""
        tensor = Tensor(proto, place, graph, self.payloads.get(place.key, ()) if self.payloads else ())
        if proto.data_type in ELEMENT_TYPES:
            self.element_types.add(proto.data_type)
        if is_annotated(fields):
            for found, belongs in (
                (self.documented, proto.doc_string),
                (self.with_metadata, proto.metadata_props),
                (self.external, proto.external_data or proto.data_location),
            ):
                if belongs:
                    found.append(tensor if len(found) < MAX_KEPT else self.origin(tensor, index))
        return tensor

    def sparse_tensor(self, sparse: SparseTensor) -> None:
        from onnx_lint.ir.tensors.sparse import StoredSparseTensor

        values, indices = self.part(sparse, "values"), self.part(sparse, "indices")
        self.sparse.append(StoredSparseTensor(sparse, values, indices))
        self.miscounted += [part for part in (values, indices) if part is not None]

    def part(self, sparse: SparseTensor, field: str) -> StoredTensor | None:
        if not sparse.proto.HasField(field):
            return None
        proto = getattr(sparse.proto, field)
        tensor = self.described(proto, set_fields(proto), sparse.place.at(field), sparse.graph)
        return self.stored(tensor)

    def stored(
        self, tensor: Tensor, allowed_field: str | None = None, origin: TensorOrigin | None = None
    ) -> StoredTensor:
        from onnx_lint.ir.tensors.stored_tensor import StoredTensor

        return StoredTensor(tensor, self.source, allowed_field, origin)
