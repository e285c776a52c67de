# SPDX-License-Identifier: Apache-2.0
"""Groups of undefined names of weights that were probably lost together."""

from __future__ import annotations

import re
from collections.abc import Iterable, Set
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.ir.graph import Graph, Node
from onnx_lint.ir.names.resolution import UndefinedName, Use


class _Losses(Record):
    """The weights that a node lacks."""

    kinds: Set[str]
    group: str
    """One text for all nodes of its operator in the graph that lack the same kinds of weights."""


class LostWeights:
    """Groups the names of weights that were lost together: nodes of one operator lack the same kinds of weights.

    The names of one kind of weight differ in what is before their last point, and in numbers.
    """

    def __init__(self, undefined: Iterable[UndefinedName]) -> None:
        self._names: dict[Graph, set[str]] = {}
        for each in undefined:
            self._names.setdefault(each.graph, set()).add(each.name)
        self._losses: dict[tuple[Graph, int], _Losses] = {}
        """By graph and node."""

    def group_of(self, use: Use) -> str | None:
        """Return one text for all names that were lost together; None if the name is no weight of its node."""
        if "." not in use.name:
            return None
        key = use.node.graph, use.node.index
        if key not in self._losses:
            self._losses[key] = self._losses_of(use.node)
        losses = self._losses[key]
        return losses.group if _kind_of_weight(use.name) in losses.kinds else None

    def _losses_of(self, node: Node) -> _Losses:
        undefined: Set[str] = self._names.get(node.graph, frozenset())
        kinds = {_kind_of_weight(name) for name in node.inputs[1:] if name in undefined}
        return _Losses(kinds, f"{node.graph.place} {node.op_type} without {sorted(kinds)}")


def _kind_of_weight(name: str) -> str:
    return _NUMBERS.sub("#", name.rpartition(".")[2])


_NUMBERS: Final = re.compile("[0-9]+")
