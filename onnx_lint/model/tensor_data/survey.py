# SPDX-License-Identifier: Apache-2.0
"""One walk over all tensors of a model, which leaves out those about which no rule has anything to say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from google.protobuf.descriptor import FieldDescriptor

from onnx_lint import schema
from onnx_lint.model.graph import Graph, Proto
from onnx_lint.model.place import Place
from onnx_lint.model.tensor_data.element_type import ELEMENT_TYPES
from onnx_lint.model.tensor_data.sparse import StoredSparseTensor
from onnx_lint.model.tensor_data.stored_tensor import EXTERNAL, MAX_INT64, TYPED_FIELDS, StoredTensor
from onnx_lint.model.views import Payload, SparseTensor, Tensor

if TYPE_CHECKING:
    from onnx_lint.model.model import Model


@dataclass(frozen=True, slots=True)
class TensorSurvey:
    """What the rules on tensors look at."""

    tensors: tuple[StoredTensor, ...]
    """Every tensor but those that are evidently right: one value field with the right number of values, of a type of
    which every value is right. The parts of sparse tensors are among them."""
    sparse: tuple[StoredSparseTensor, ...]
    """Every sparse tensor."""


def survey(model: Model) -> TensorSurvey:
    """Walk over every tensor of `model`."""
    walk = _Walk(model)
    for graph in model.graphs:
        if not graph.is_function:
            walk.initializers(graph)
        for node in graph.nodes:
            for index, attribute in enumerate(node.proto.attribute):
                if _holds_tensors(attribute):
                    walk.attribute(attribute, node.place.at("attribute", index), graph)
    for function in model.functions:
        for index, attribute in enumerate(function.attribute_defaults):
            walk.attribute(attribute, function.place.at("attribute_proto", index), function.body)
    return TensorSurvey(tuple(walk.tensors), tuple(walk.sparse))


def _holds_tensors(attribute: Proto) -> bool:
    # Asked of the fields, not of `type`: a tensor under a wrong type is still there.
    return bool(
        attribute.HasField("t") or attribute.HasField("sparse_tensor") or attribute.tensors or attribute.sparse_tensors
    )


class _Walk:
    """Collects tensors; a place is made only for one that is kept, or that may have a payload in the source."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.tensors: list[StoredTensor] = []
        self.sparse: list[StoredSparseTensor] = []

    def initializers(self, graph: Graph) -> None:
        for index, proto in enumerate(graph.proto.initializer):
            self.tensor(proto, graph.place, "initializer", index, graph)
        for index, proto in enumerate(graph.proto.sparse_initializer):
            self.sparse_tensor(SparseTensor(proto, graph.place.at("sparse_initializer", index), graph))

    def attribute(self, attribute: Proto, place: Place, graph: Graph) -> None:
        if attribute.HasField("t"):
            self.tensor(attribute.t, place, "t", None, graph)
        for index, proto in enumerate(attribute.tensors):
            self.tensor(proto, place, "tensors", index, graph)
        if attribute.HasField("sparse_tensor"):
            self.sparse_tensor(SparseTensor(attribute.sparse_tensor, place.at("sparse_tensor"), graph))
        for index, proto in enumerate(attribute.sparse_tensors):
            self.sparse_tensor(SparseTensor(proto, place.at("sparse_tensors", index), graph))

    def tensor(self, proto: Proto, holder: Place, field: str, index: int | None, graph: Graph) -> None:
        payloads = self.model.payloads.get((*holder.key, (field, index)), ()) if self.model.payloads else ()
        if not _is_plain(proto, payloads):
            tensor = Tensor(proto, holder.at(field, index), graph, payloads)
            self.tensors.append(StoredTensor(tensor, self.model.source))

    def sparse_tensor(self, sparse: SparseTensor) -> None:
        values, indices = self.part(sparse, "values"), self.part(sparse, "indices")
        self.sparse.append(StoredSparseTensor(sparse, values, indices))
        self.tensors += [part for part in (values, indices) if part is not None]

    def part(self, sparse: SparseTensor, field: str) -> StoredTensor | None:
        if not sparse.proto.HasField(field):
            return None
        place = sparse.place.at(field)
        tensor = Tensor(getattr(sparse.proto, field), place, sparse.graph, self.model.payloads.get(place.key, ()))
        return StoredTensor(tensor, self.model.source)


_FIELDS: Final = schema.message("TensorProto").DESCRIPTOR.fields_by_name
# The descriptors themselves are the keys of what ListFields gives, so they make the quickest table.
_DIMS, _DATA_TYPE, _SEGMENT, _RAW_DATA, _DATA_LOCATION = (
    _FIELDS[name] for name in ("dims", "data_type", "segment", "raw_data", "data_location")
)
_VALUE_FIELDS: Final = frozenset({_RAW_DATA, *(_FIELDS[name] for name in TYPED_FIELDS)})


def _plain_encodings() -> dict[tuple[int, FieldDescriptor], tuple[int, int]]:
    """Element types in fields where every value is right.

    The number of entries times the first number is the number of elements times the second.
    """
    found: dict[tuple[int, FieldDescriptor], tuple[int, int]] = {}
    for element in ELEMENT_TYPES.values():
        if element.name not in {"string", "bool"}:
            # In bits: for types of less than a byte only tensors without unused bits come out even.
            found[element.number, _RAW_DATA] = (8, element.bits)
        if element.name != "string" and element.entry_range is None:
            found[element.number, _FIELDS[element.field]] = (1, element.entries_of(1))
    return found


_PLAIN_ENCODINGS: Final = _plain_encodings()


def _is_plain(proto: Proto, payloads: tuple[Payload, ...]) -> bool:
    """Whether the tensor is evidently right. Asks for all fields at once, which costs less than asking for a few."""
    values = dict(proto.ListFields())
    data_type = values.get(_DATA_TYPE)
    elements = 1
    for dim in values.get(_DIMS, ()):
        elements *= dim
        if not 0 < dim <= elements <= MAX_INT64:
            return False
    if values.get(_DATA_LOCATION) == EXTERNAL:
        return data_type in ELEMENT_TYPES
    fields = _VALUE_FIELDS.intersection(values)
    if len(fields) != 1 or _SEGMENT in values:
        return False
    (field,) = fields
    encoding = _PLAIN_ENCODINGS.get((data_type, field)) if data_type is not None else None
    if encoding is None:
        return False
    count = len(values[field])
    if payloads:
        if count or len(payloads) > 1 or payloads[0].field != _RAW_DATA.name:
            return False  # what has to be read to be counted is counted when a rule asks
        count = payloads[0].length
    return count * encoding[0] == elements * encoding[1]
