# SPDX-License-Identifier: Apache-2.0
"""Tensors that are created at each use, to save memory.

A parsed message takes more than a kilobyte, however small it is, and a hostile file may have tens of thousands of
tensors that rules examine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.parts import Tensor
from onnx_lint.ir.payload import Payload
from onnx_lint.ir.places.place import Place, PlaceKey
from onnx_lint.schema import Proto

MAX_KEPT: Final = 1_000
"""The number of tensors of one list that are kept, with the results about them: the default of `findings_per_rule`."""


class InitializerOrigin(Record):
    """The place of an initializer, which is parsed again at each use."""

    graph: Graph
    payloads: Mapping[PlaceKey, tuple[Payload, ...]]
    """The payloads that the loader left in the source, by place."""
    index: int

    def tensor(self) -> Tensor:
        """Parse the tensor."""
        proto, place = self.graph.message_at("initializer", self.index), self.graph.at("initializer", self.index)
        return Tensor(proto, place, self.graph, self.payloads.get(place.key, ()) if self.payloads else ())


class AttributeOrigin(Record):
    """A tensor of an attribute, which keeps its message. Only the `Tensor` is created again at each use."""

    graph: Graph
    payloads: Mapping[PlaceKey, tuple[Payload, ...]]
    """The payloads that the loader left in the source, by place."""
    proto: Proto
    place: Place

    def tensor(self) -> Tensor:
        """Create the tensor."""
        return Tensor(
            self.proto, self.place, self.graph, self.payloads.get(self.place.key, ()) if self.payloads else ()
        )


TensorOrigin = InitializerOrigin | AttributeOrigin


class Tensors:
    """Tensors in the order of the model. The first ones are kept, and the others are created at each use."""

    __slots__ = ("_items",)

    def __init__(self, items: list[Tensor | TensorOrigin]) -> None:
        self._items = items

    @property
    def origins(self) -> Sequence[Tensor | TensorOrigin]:
        """The tensors that are kept, and the origins of the others."""
        return self._items

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Tensor]:
        return map(tensor_of, self._items)


def tensor_of(item: Tensor | TensorOrigin) -> Tensor:
    """Return the tensor, created if it is not kept."""
    return item if isinstance(item, Tensor) else item.tensor()
