# SPDX-License-Identifier: Apache-2.0
"""The values that an undefined name may mean: values of nearly its name, and values that nothing uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.names.affixes import Affix, Respelling, common_affix, plain, respelling
from onnx_lint.ir.names.uses import ValueUses
from onnx_lint.wording import MAX_SHOWN, nearest

MOST_UNUSED: Final = 50
"""The most unused values of a graph that are looked at: in a graph with more of them, they are unused on purpose."""

MOST_ALIKE: Final = 3
"""The most unused values of the right type that are candidates if no name is near."""

MOST_NAMES: Final = 20
"""The most undefined names of a model whose partners are looked for. With more of them, spelling is not the fault."""

MOST_RENAMED: Final = 100
"""The most undefined names for which one prefix or suffix is looked for."""

LEAST_RESPELT: Final = 3
"""The undefined names from which on one cause is looked for in their case and separators."""

MOST_TOLD: Final = 5
"""The most unused values that a report lists if none of them is meant."""

_MISSPELT: Final = 0.85
"""The likeness of two names from which on one is a misspelling of the other, whatever else is unused."""

_SIMILAR: Final = 0.7
"""The likeness from which on `nearest` takes a name for near."""

_WITHOUT_DIGITS: Final = str.maketrans("", "", "0123456789")


INPUTS_OF_TRANSFORMERS: Final = frozenset(
    {"attention_mask", "bbox", "cache_position", "decoder_attention_mask", "decoder_input_ids", "encoder_hidden_states"}
    | {"encoder_attention_mask", "head_mask", "input_features", "input_ids", "input_values", "inputs_embeds"}
    | {"past_key_values", "pixel_mask", "pixel_values", "position_ids", "token_type_ids"}
)
"""The names of inputs that exporters give to one purpose each: none of them is another one renamed."""


class WantedValue(Record):
    """What is known of the value that an undefined name must mean."""

    types: Set[str] = frozenset()
    """The types that it may have; empty if any will do."""
    is_computed: bool = False
    """True if the node has no other input to compute with, so that no initializer is meant."""


class Partners:
    """Looks up the values that undefined names may mean."""

    def __init__(self, uses: ValueUses, kind_of: Callable[[str, Graph], str | None]) -> None:
        self._uses = uses
        self._kind_of = kind_of
        self._left = MOST_NAMES
        self._unused: dict[Graph, list[tuple[str, Graph]]] = {}
        self._shared: dict[Graph, tuple[list[str], list[str]]] = {}

    def of(self, name: str, graph: Graph, wanted: WantedValue, undefined: Set[str]) -> tuple[str | None, list[str]]:
        """Return the visible name nearest to an undefined one, and others that fit and are unused.

        Of the near names, the unused ones come first: what was renamed without its users is used by nothing. If more
        values of the type are unused than names are undefined, a node that used them is missing, and only a misspelling
        counts. A value whose name differs in its number alone is another one of its kind. `undefined`: all such names.
        """
        if not self._left:
            return None, []
        self._left -= 1
        found = self._unused_in(graph)
        is_few = len(found) <= MOST_UNUSED
        fitting = [(each, home) for each, home in found if not is_few or self._has_type(each, home, wanted.types)]
        others = []
        if len(fitting) <= len(undefined):
            others = [each for each, home in fitting if not (wanted.is_computed and is_initializer(each, home))]
        near = nearest(name, [each for each, _ in found])
        if near is None or not (near in others or is_misspelt(name, near)):
            near = self._nearest_shared(name, graph)
        if not is_few or len(others) > MOST_ALIKE:
            return near, []
        return near, [each for each in others if each != near and not _is_other_value(each, undefined, name)]

    def unused(self, graph: Graph) -> list[str]:
        """Return the few values that nothing uses, without further outputs of nodes that have a used one."""
        found = self._unused_in(graph)
        names = (
            [name for name, home in found if not self._is_further_output(name, home)]
            if len(found) <= MOST_UNUSED
            else []
        )
        return names if len(names) <= MOST_TOLD else []

    def _has_type(self, name: str, home: Graph, types: Set[str]) -> bool:
        return not types or (self._kind_of(name, home) or "") in {"", *types}

    def _nearest_shared(self, name: str, graph: Graph) -> str | None:
        """Return the nearest name that others use: not a weight, unless only the separators differ."""
        letters, bare = name.translate(_WITHOUT_DIGITS), plain(name)
        values, weights = self._shared_in(graph)
        same = next((each for each in weights if plain(each) == bare), None)
        return same or nearest(name, (each for each in values if each.translate(_WITHOUT_DIGITS) != letters))

    def _is_further_output(self, name: str, home: Graph) -> bool:
        position = home.positions[name]
        return position >= 0 and not self._uses.used_in(home).isdisjoint(home.node_outputs[position])

    def renaming(self, undefined: Sequence[tuple[str, Graph]]) -> Affix | Respelling | None:
        """Return the prefix or suffix that all undefined names lack, or have too much, as unused values show.

        Several names may also differ in case or separators alone. None if there is no such change, or more than one.
        """
        graphs: dict[str, list[Graph]] = {}
        for name, graph in undefined:
            graphs.setdefault(name, []).append(graph)
        if not 2 <= len(graphs) <= MOST_RENAMED:
            return None

        around = {graph for _, graph in undefined}
        unused = {graph: {name for name, _ in self._unused_in(graph)} for graph in around}

        def is_meant(name: str, right: str) -> bool:
            return all(right in unused[graph] for graph in graphs[name])

        candidates = [name for name, _ in self._unused_in(undefined[0][1])][:MOST_RENAMED]
        affix = common_affix(list(graphs), candidates, is_meant)
        if affix is not None or len(graphs) < LEAST_RESPELT:
            return affix
        return respelling(graphs, candidates, is_meant)

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

    def _shared_in(self, graph: Graph) -> tuple[list[str], list[str]]:
        """Return the values that a graph sees and that others use, and such weights."""
        if graph not in self._shared:
            values: list[str] = []
            weights: list[str] = []
            for home, position in ((graph, None), *graph.scopes()):
                used = self._uses.used_in(home)
                for name, defined in home.positions.items():
                    if name in used and (position is None or defined < position):
                        is_weight = defined < 0 and is_initializer(name, home)
                        (weights if is_weight else values).append(name)
            self._shared[graph] = values, weights
        return self._shared[graph]


def is_initializer(name: str, graph: Graph) -> bool:
    """Return whether a name that a graph sees is the one of an initializer."""
    definition = graph.definition_of(name)
    return definition is not None and definition.field in {"initializer", "sparse_initializer"}


def _is_other_value(value: str, undefined: Set[str], name: str) -> bool:
    """Return whether a value is not meant by a name, as its own name says."""
    if value in INPUTS_OF_TRANSFORMERS and name in INPUTS_OF_TRANSFORMERS:
        return True
    return _belongs_to_other(value, undefined, name)


def _belongs_to_other(value: str, undefined: Set[str], name: str) -> bool:
    """Return whether the name of a value is like another undefined name, and not like this one."""
    if len(undefined) > MOST_NAMES or _is_like(value, name):
        return False
    return any(_is_like(value, each) for each in undefined)


def _is_like(value: str, name: str) -> bool:
    """Return whether a name is another one with a prefix or suffix, or similar to it."""
    return value.startswith(name) or value.endswith(name) or _likeness(value, name) >= _SIMILAR


def _likeness(one: str, other: str) -> float:
    from difflib import SequenceMatcher

    return SequenceMatcher(None, one[:MAX_SHOWN], other[:MAX_SHOWN]).ratio()


def is_misspelt(name: str, other: str) -> bool:
    """Return whether two names are so alike that one is a misspelling of the other."""
    return plain(name) == plain(other) or _likeness(name, other) >= _MISSPELT
