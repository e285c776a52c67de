# SPDX-License-Identifier: Apache-2.0
"""Tensors that are parsed again at each use.

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

MOST_KEPT: Final = 1_000
"""The limit on the tensors of one list that are kept with the results about them; it equals the limit on the findings
of a rule.
"""


class TensorOrigin(Record):
    """The origin of a tensor: the index of an initializer, which is parsed again, or a message in an attribute."""

    graph: Graph
    payloads: Mapping[PlaceKey, tuple[Payload, ...]]
    """The payloads that the loader left in the source, by place."""
    index: int | None
    """The index of an initializer; None for a message in an attribute."""
    proto: Proto | None
    place: Place | None

    def make(self) -> Tensor:
        """Return the tensor."""
        proto, place, graph = self.proto, self.place, self.graph
        if self.index is not None:
            proto, place = graph.message_at("initializer", self.index), graph.at("initializer", self.index)
        assert place is not None
        return Tensor(proto, place, graph, self.payloads.get(place.key, ()) if self.payloads else ())


class Tensors:
    """Tensors in the order of the model. The first ones are kept, and the others are made at each use."""

    __slots__ = ("_items",)

    def __init__(self, items: list[Tensor | TensorOrigin]) -> None:
        self._items = items

    @property
    def origins(self) -> Sequence[Tensor | TensorOrigin]:
        """Return the tensors that are kept, and the origins of the others."""
        return self._items

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[Tensor]:
        return map(made, self._items)


def made(item: Tensor | TensorOrigin) -> Tensor:
    """Return the tensor, parsed again if necessary."""
    return item.make() if isinstance(item, TensorOrigin) else item
