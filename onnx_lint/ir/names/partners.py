# SPDX-License-Identifier: Apache-2.0
"""The values that an undefined name may mean: values of nearly its name, and values that nothing uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from typing import Final

from onnx_lint.ir.graph import Graph
from onnx_lint.ir.names.affixes import Affix, common_affix
from onnx_lint.ir.names.uses import ValueUses
from onnx_lint.wording import nearest

MOST_UNUSED: Final = 50
"""The most unused values of a graph that are looked at: in a graph with more of them, they are unused on purpose."""

MOST_ALIKE: Final = 3
"""The most unused values of the right type that are candidates if no name is near."""

MOST_NAMES: Final = 20
"""The most undefined names of a model whose partners are looked for. With more of them, spelling is not the fault."""

MOST_RENAMED: Final = 100
"""The most undefined names for which one prefix or suffix is looked for."""


class Partners:
    """Looks up the values that undefined names may mean."""

    def __init__(self, uses: ValueUses, kind_of: Callable[[str, Graph], str | None]) -> None:
        self._uses = uses
        self._kind_of = kind_of
        self._left = MOST_NAMES
        self._unused: dict[Graph, list[tuple[str, Graph]]] = {}

    def of(self, name: str, graph: Graph, types: Set[str]) -> tuple[str | None, list[str]]:
        """Return the visible name nearest to an undefined one, and others that are of one of the types and unused.

        Of the near names, the unused ones come first: what was renamed without its users is used by nothing. There are
        no others if these are many. `types`: empty if any type will do.
        """
        if not self._left:
            return None, []
        self._left -= 1
        found = self._unused_in(graph)
        near = nearest(name, [each for each, _ in found]) or nearest(name, visible(graph))
        if len(found) > MOST_UNUSED:
            return near, []
        others = [
            each
            for each, home in found
            if each != near and (not types or (self._kind_of(each, home) or "") in {"", *types})
        ]
        return near, others if len(others) <= MOST_ALIKE else []

    def renaming(self, undefined: Sequence[tuple[str, Graph]]) -> Affix | None:
        """Return the prefix or suffix that all undefined names lack, or have too much; None unless it is certain."""
        graphs: dict[str, list[Graph]] = {}
        for name, graph in undefined:
            graphs.setdefault(name, []).append(graph)
        if not 2 <= len(graphs) <= MOST_RENAMED:
            return None

        def is_seen(name: str, right: str) -> bool:
            return all(graph.definition_of(right) is not None for graph in graphs[name])

        candidates = [name for name, _ in self._unused_in(undefined[0][1])][:MOST_RENAMED]
        return common_affix(list(graphs), candidates, is_seen)

    def _unused_in(self, graph: Graph) -> list[tuple[str, Graph]]:
        """Return the values that a graph sees and nothing uses, each with the graph that defines it."""
        if graph not in self._unused:
            used = self._uses.used_in
            own = [(name, graph) for name in graph.positions if name and name not in used(graph)]
            outer = [
                (name, around)
                for around, position in graph.scopes()
                for name, defined in around.positions.items()
                if name and defined < position and name not in used(around)
            ]
            self._unused[graph] = own + outer
        return self._unused[graph]


def visible(graph: Graph) -> Iterator[str]:
    """Yield the names that a graph sees."""
    yield from graph.positions
    for outer, position in graph.scopes():
        yield from (other for other, defined in outer.positions.items() if defined < position)
