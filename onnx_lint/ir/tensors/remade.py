# SPDX-License-Identifier: Apache-2.0
"""Tensors that are made anew for whoever comes to them.

A hostile file has tens of thousands that rules look at, and a message that was parsed by itself takes up more than a
kilobyte, however small it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, overload

from onnx_lint.common.record import Record
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.parts import Tensor
from onnx_lint.ir.payload import Payload
from onnx_lint.ir.places.place import Key, Place
from onnx_lint.schema import Proto

MOST_KEPT: Final = 1_000
"""So many tensors of one list are kept with what was found out of them; as many findings of a rule are reported."""


class TensorOrigin(Record):
    """What a tensor is made from: the index of an initializer, which is parsed again, or a message in an attribute."""

    graph: Graph
    payloads: Mapping[Key, tuple[Payload, ...]]
    """What the loader left in the source, by place."""
    index: int | None
    """Of an initializer."""
    proto: Proto | None
    place: Place | None

    def make(self) -> Tensor:
        """The tensor."""
        proto, place, graph = self.proto, self.place, self.graph
        if self.index is not None:
            proto, place = graph.message_at("initializer", self.index), graph.at("initializer", self.index)
        assert place is not None
        return Tensor(proto, place, graph, self.payloads.get(place.key, ()) if self.payloads else ())


class Tensors(Sequence[Tensor]):
    """Tensors in the order of the model; the first ones are kept, the others made when somebody comes to them."""

    __slots__ = ("_items",)

    def __init__(self, items: list[Tensor | TensorOrigin]) -> None:
        self._items = items

    @property
    def origins(self) -> Sequence[Tensor | TensorOrigin]:
        """The tensors that are kept, and what the others are made from."""
        return self._items

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Tensor]:
        return map(made, self._items)

    @overload
    def __getitem__(self, index: int) -> Tensor: ...
    @overload
    def __getitem__(self, index: slice) -> Tensors: ...
    def __getitem__(self, index: int | slice) -> Tensor | Tensors:
        return Tensors(self._items[index]) if isinstance(index, slice) else made(self._items[index])


def made(item: Tensor | TensorOrigin) -> Tensor:
    """The tensor, which may have to be made."""
    return item.make() if isinstance(item, TensorOrigin) else item
