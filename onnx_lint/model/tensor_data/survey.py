# SPDX-License-Identifier: Apache-2.0
"""One walk over all tensors of a model, which leaves out those about which no rule has anything to say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from onnx_lint.model.graph import Graph, Proto
from onnx_lint.model.place import Key, Place
from onnx_lint.model.tensor_data.element_type import ELEMENT_TYPES
from onnx_lint.model.tensor_data.stored_tensor import EXTERNAL, MAX_INT64, StoredTensor
from onnx_lint.model.views import Payload, SparseTensor, Tensor
from onnx_lint.schema import wire

if TYPE_CHECKING:
    from onnx_lint.model.model import Model


@dataclass(frozen=True, slots=True)
class StoredSparseTensor:
    """A sparse tensor with its parts; a part is None where it is absent."""

    sparse: SparseTensor
    values: StoredTensor | None
    indices: StoredTensor | None

    @property
    def place(self) -> Place:
        """The place of the SparseTensorProto."""
        return self.sparse.place

    @property
    def dims(self) -> list[int]:
        """The dense shape."""
        return list(self.sparse.proto.dims)

    def describe(self) -> str:
        """The sparse tensor as messages name it: by the name of its values, which is its own."""
        if self.values is not None and self.values.proto.name:
            return self.values.describe().replace("tensor", "sparse tensor", 1)
        return f"the sparse tensor at {self.place} of {self.sparse.graph.describe()}"


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
    payloads = model.payloads
    tensors: list[StoredTensor] = []
    for proto, holder, field, index, graph in _tensors(model):
        if not (_is_plain(proto, ()) if not payloads else _is_plain(proto, payloads.get(_key(holder, field, index), ()))):
            tensors.append(_stored(model, proto, holder.at(field, index), graph))
    sparse = [_stored_sparse(model, each) for each in model.sparse_tensors()] if _has_sparse(model) else []
    tensors += [part for each in sparse for part in (each.values, each.indices) if part is not None]
    return TensorSurvey(tuple(tensors), tuple(sparse))


def _stored(model: Model, proto: Proto, place: Place, graph: Graph) -> StoredTensor:
    payloads = model.payloads.get(place.key, ()) if model.payloads else ()
    return StoredTensor(Tensor(proto, place, graph, payloads), model.source)
