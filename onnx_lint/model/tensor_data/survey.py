# SPDX-License-Identifier: Apache-2.0
"""One walk over all tensors of a model, which leaves out those about which no rule has anything to say."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from google.protobuf.descriptor import FieldDescriptor

from onnx_lint import schema
from onnx_lint.model.graph import Graph, Proto
from onnx_lint.model.initializers import Initializers, dimensions
from onnx_lint.model.place import Key, Place
from onnx_lint.model.tensor_data.element_type import ELEMENT_TYPES, UNDEFINED
from onnx_lint.model.tensor_data.sparse import StoredSparseTensor
from onnx_lint.model.tensor_data.stored_tensor import EXTERNAL, MAX_INT64, TYPED_FIELDS, StoredTensor
from onnx_lint.model.views import Payload, SparseTensor, Tensor
from onnx_lint.record import Record

if TYPE_CHECKING:
    from onnx_lint.model.model import Model


class TensorSurvey(Record):
    """What the rules on tensors look at."""

    irregular: tuple[StoredTensor, ...]
    """The tensors that do not evidently have the right number of values in one field that is right for their type."""
    tensors: tuple[StoredTensor, ...]
    """The irregular ones, and those that evidently have, of a type of which not every value is right."""
    sparse: tuple[StoredSparseTensor, ...]
    """Every sparse tensor."""
    annotated: tuple[Tensor, ...]
    """The tensors that say more than name, type, shape and values: documentation, metadata, or where they are."""
    element_types: frozenset[int]
    """The numbers of the element types that are stated; 0 where a tensor states none."""


def survey(model: Model) -> TensorSurvey:
    """Walk over every tensor of `model`."""
    walk = _Walk(model)
    for graph in model.graphs:
        if not graph.is_function:
            walk.initializers(graph)
    for attribute in model.attributes_where(lambda signature: not TENSOR_FIELDS.isdisjoint(signature.fields)):
        walk.attribute(attribute.proto, attribute.place, attribute.graph)
    return TensorSurvey(
        tuple(walk.irregular),
        tuple(walk.irregular + walk.regular),
        tuple(walk.sparse),
        tuple(walk.annotated),
        frozenset(walk.element_types),
    )


TENSOR_FIELDS: Final = frozenset({"t", "tensors", "sparse_tensor", "sparse_tensors"})
"""The fields of AttributeProto that hold tensors."""


class _Walk:
    """Collects tensors; a place is made only for one that is kept, or that may have a payload in the source."""

    def __init__(self, model: Model) -> None:
        self.source = model.source
        self.payloads = model.payloads
        self.irregular: list[StoredTensor] = []
        self.regular: list[StoredTensor] = []
        self.sparse: list[StoredSparseTensor] = []
        self.annotated: list[Tensor] = []
        self.element_types: set[int] = set()
        self.left_out: dict[Key, list[int]] = {}
        for *prefix, (field, index) in self.payloads:
            if field == "initializer" and index is not None:
                self.left_out.setdefault(tuple(prefix), []).append(index)

    def initializers(self, graph: Graph) -> None:
        held = graph.initializers
        if held.names:
            prefix = graph.place.key
            self.element_types.update(held.element_types)
            for index in sorted({*self.doubtful(held), *self.left_out.get(prefix, ())}):
                self.tensor(graph.proto.initializer[index], graph.place, prefix, ("initializer", index), graph)
        for index, proto in enumerate(graph.proto.sparse_initializer):
            self.sparse_tensor(SparseTensor(proto, graph.place.at("sparse_initializer", index), graph))

    def doubtful(self, held: Initializers) -> list[int]:
        """The indices of the initializers that are not evidently right; each kind of them is judged once."""
        kinds = list(zip(held.element_types, held.shapes, held.raw_bytes, strict=True))
        doubtful = {kind for kind in set(kinds) if not _is_plain(*kind)}
        return [index for index, kind in enumerate(kinds) if kind in doubtful] if doubtful else []

    def attribute(self, attribute: Proto, place: Place, graph: Graph) -> None:
        prefix = place.key if self.payloads else ()
        if attribute.HasField("t"):
            self.tensor(attribute.t, place, prefix, ("t", None), graph)
        for index, proto in enumerate(attribute.tensors):
            self.tensor(proto, place, prefix, ("tensors", index), graph)
        if attribute.HasField("sparse_tensor"):
            self.sparse_tensor(SparseTensor(attribute.sparse_tensor, place.at("sparse_tensor"), graph))
        for index, proto in enumerate(attribute.sparse_tensors):
            self.sparse_tensor(SparseTensor(proto, place.at("sparse_tensors", index), graph))

    def tensor(self, proto: Proto, holder: Place, prefix: Key, step: tuple[str, int | None], graph: Graph) -> None:
        payloads = self.payloads.get((*prefix, step), ()) if self.payloads else ()
        # To ask for all fields at once costs less than to ask for a few.
        fields = dict(proto.ListFields())
        regular = _regular(fields, payloads)
        is_annotated = self.note(fields)
        if regular is not None and regular.is_plain and not is_annotated:
            return
        tensor = Tensor(proto, holder.at(*step), graph, payloads)
        if is_annotated:
            self.annotated.append(tensor)
        if regular is None:
            self.irregular.append(StoredTensor(tensor, self.source))
        elif not regular.is_plain:
            self.regular.append(StoredTensor(tensor, self.source, regular.field))

    def note(self, fields: dict[FieldDescriptor, Any]) -> bool:
        """Take down the element type; return whether the tensor is annotated."""
        self.element_types.add(fields.get(_DATA_TYPE, UNDEFINED))
        return not _ANNOTATIONS.isdisjoint(fields)

    def sparse_tensor(self, sparse: SparseTensor) -> None:
        values, indices = self.part(sparse, "values"), self.part(sparse, "indices")
        self.sparse.append(StoredSparseTensor(sparse, values, indices))
        self.irregular += [part for part in (values, indices) if part is not None]

    def part(self, sparse: SparseTensor, field: str) -> StoredTensor | None:
        if not sparse.proto.HasField(field):
            return None
        place = sparse.place.at(field)
        tensor = Tensor(getattr(sparse.proto, field), place, sparse.graph, self.payloads.get(place.key, ()))
        if self.note(dict(tensor.proto.ListFields())):
            self.annotated.append(tensor)
        return StoredTensor(tensor, self.source)


_FIELDS: Final = schema.message("TensorProto").DESCRIPTOR.fields_by_name
# The descriptors themselves are the keys of what ListFields gives, so they make the quickest table.
_DIMS, _DATA_TYPE, _SEGMENT, _RAW_DATA, _DATA_LOCATION = (
    _FIELDS[name] for name in ("dims", "data_type", "segment", "raw_data", "data_location")
)
_ANNOTATIONS: Final = frozenset(
    {_DATA_LOCATION, *(_FIELDS[name] for name in ("doc_string", "external_data", "metadata_props"))}
)
_VALUE_FIELDS: Final = frozenset({_RAW_DATA, *(_FIELDS[name] for name in TYPED_FIELDS)})


class _Encoding(NamedTuple):
    """How values of one element type stand in one field."""

    entries: int
    elements: int
    """So many entries (bytes of raw_data) go with so many elements."""
    is_plain: bool
    """Whether every entry is right, and no bit is left over."""
    field: str

    def entries_of(self, elements: int) -> int:
        """How many entries so many elements take up."""
        return -(-elements * self.entries // self.elements)


_EXTERNAL: Final = _Encoding(0, 0, is_plain=True, field="")


def _encodings() -> dict[tuple[int, FieldDescriptor], _Encoding]:
    found: dict[tuple[int, FieldDescriptor], _Encoding] = {}
    for element in ELEMENT_TYPES.values():
        if element.bits:
            plain = element.bits >= 8 and element.name != "bool"
            found[element.number, _RAW_DATA] = _Encoding(element.bits, 8, plain, "raw_data")
        per_entry = element.elements_per_entry
        plain = element.entry_range is None and element.name != "string"
        found[element.number, _FIELDS[element.field]] = _Encoding(
            element.entries_of(per_entry), per_entry, plain, element.field
        )
    return found


_ENCODINGS: Final = _encodings()


def _is_plain(element_type: int, shape: bytes, raw_bytes: int) -> bool:
    """Whether a tensor with these, a name and nothing else evidently holds what it should."""
    encoding = _ENCODINGS.get((element_type, _RAW_DATA))
    elements = _positive_elements(dimensions(shape))
    if encoding is None or elements is None:
        return False
    return encoding.is_plain and raw_bytes == encoding.entries_of(elements)


def _positive_elements(dims: Iterable[int]) -> int | None:
    """The product of the dimensions; None unless all are positive and it fits 64 bits."""
    elements = 1
    for dim in dims:
        elements *= dim
        if not 0 < dim <= elements <= MAX_INT64:
            return None
    return elements


def _regular(values: dict[FieldDescriptor, Any], payloads: tuple[Payload, ...]) -> _Encoding | None:
    """How the values are stored, where there are evidently as many as there should be, in one field; else None.

    `values`: the fields of the tensor that are set.
    """
    data_type = values.get(_DATA_TYPE, UNDEFINED)
    elements = _positive_elements(values.get(_DIMS, ()))
    if elements is None:
        return None
    if values.get(_DATA_LOCATION) == EXTERNAL:
        return _EXTERNAL if data_type in ELEMENT_TYPES else None
    fields = _VALUE_FIELDS.intersection(values)
    if len(fields) != 1 or _SEGMENT in values:
        return None
    (field,) = fields
    encoding = _ENCODINGS.get((data_type, field))
    if encoding is None:
        return None
    count = len(values[field])
    if payloads:
        if count or len(payloads) > 1 or payloads[0].field != "raw_data":
            return None  # what has to be read to be counted is counted when a rule asks
        count = payloads[0].length
    return encoding if count == encoding.entries_of(elements) else None
