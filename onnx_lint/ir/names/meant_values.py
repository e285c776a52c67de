# SPDX-License-Identifier: Apache-2.0
"""The values that an undefined name may mean: values of nearly its name, and values that nothing uses."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.names.affixes import Affix, Respelling, common_affix, respelling
from onnx_lint.ir.names.misspelling import LEAST_LETTERS, KnownNames, is_misspelt, is_respelt
from onnx_lint.ir.names.uses import ValueUses
from onnx_lint.wording import MAX_QUOTED_CHARACTERS, MIN_LIKENESS, nearest

MAX_UNUSED: Final = 50
"""The most unused values of a graph that are looked at: in a graph with more of them, they are unused on purpose."""

MAX_ALIKE: Final = 3
"""The most unused values of the right type that are candidates if no name is near."""

MAX_NAMES: Final = 20
"""The most undefined names of a model whose meaning is looked for. With more of them, spelling is not the fault."""

MAX_COMPARED: Final = 50_000
"""The most names that all searches of a model look at. A search that begins with fewer names is finished."""

MAX_RENAMED: Final = 100
"""The most undefined names for which one prefix or suffix is looked for."""

MIN_RESPELT: Final = 3
"""The fewest undefined names for which one cause is looked for in their case and separators."""

MAX_LISTED: Final = 5
"""The most unused values that a report lists if none of them is meant."""

_LEAST_PART: Final = 2
"""The fewest letters of a name that is a part of another one by more than chance."""

_PASSES_WEIGHTS: Final = frozenset({"Cast", "ConstantOfShape", "DequantizeLinear", "Identity", "Transpose"})
"""The operators that make a weight of an initializer."""

_MAX_PASSED: Final = 4
"""The most such nodes in a row."""


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
    """True if no weight is meant: the node has no other input to compute with, or its inputs are of one kind."""


class Candidates(Record):
    """The values that an undefined name probably means."""

    misspelt: str | None = None
    """A value whose name differs by a typing error."""
    unused: tuple[str, ...] = ()
    """The others that fit and that nothing uses, those with the likest names first.

    Empty if there are more of them than undefined names: then a node that used them is probably missing.
    """


class MeantValues:
    """Looks up the values that undefined names may mean."""

    def __init__(self, uses: ValueUses, kind_of: Callable[[str, Graph], str | None]) -> None:
        self._uses = uses
        self._kind_of = kind_of
        self._left = MAX_NAMES
        self._names_left = MAX_COMPARED
        self._unused: dict[Graph, list[tuple[str, Graph]]] = {}
        self._shared: dict[Graph, KnownNames] = {}

    def candidates_for(self, name: str, graph: Graph, wanted: WantedValue, undefined: Set[str]) -> Candidates:
        """Return the values that a name in a graph may mean. `undefined`: all undefined names."""
        if not self._left or self._names_left <= 0:
            return Candidates()
        self._left -= 1
        unused = self._unused_in(graph)
        self._names_left -= len(unused)
        fitting = self._fitting(unused, wanted, len(undefined))
        misspelt = self._misspelt(name, graph, [each for each, _ in unused], fitting)
        if misspelt is not None and _matches_another_spelling(misspelt, undefined, name):
            misspelt = None
        if len(unused) > MAX_UNUSED or len(fitting) > MAX_ALIKE:
            return Candidates(misspelt)
        others = [each for each in fitting if each != misspelt and not _is_other_value(each, undefined, name)]
        others.sort(key=lambda each: _likeness(each, name), reverse=True)
        return Candidates(misspelt, tuple(others))

    def _fitting(self, unused: Sequence[tuple[str, Graph]], wanted: WantedValue, undefined: int) -> list[str]:
        """Return the unused values that fit; none if they are more than the `undefined` names.

        The types of many unused values are not compared.
        """
        is_few = len(unused) <= MAX_UNUSED
        fitting = [(each, home) for each, home in unused if not is_few or self._fits(each, home, wanted.types)]
        if len(fitting) > undefined:
            return []
        return [each for each, home in fitting if not (wanted.is_computed and is_weight(each, home))]

    def _misspelt(self, name: str, graph: Graph, unused: Sequence[str], fitting: Sequence[str]) -> str | None:
        """Return the value whose name another one misspells: preferably an unused one, or a used one.

        An unused value comes first, because nothing uses a value that was renamed without its users. Its name may
        differ in more than a typing error if it is one of the `fitting` ones.
        """
        near = nearest(name, unused)
        if near is None and len(unused) <= MAX_UNUSED:
            renamed = [each for each in fitting if _is_renamed(name, each)]
            near = renamed[0] if len(renamed) == 1 else None
        if near is not None and (near in fitting or _is_renamed(name, near)):
            return near
        used = self._shared_in(graph).meant_by(name, lambda each: not is_weight(each, graph))
        return used or _input_without_last_letter(name, graph)

    def unused_inputs(self, graph: Graph) -> list[str]:
        """Return the inputs of a graph that nothing uses, if they are all of the few values that nothing uses."""
        names = self.unused(graph)
        definitions = (graph.definition_of(each) for each in names)
        return names if all(each is not None and each.field == "input" for each in definitions) else []

    def unused(self, graph: Graph) -> list[str]:
        """Return the few values that nothing uses, without further outputs of nodes that have a used one."""
        found = self._unused_in(graph)
        names = (
            [name for name, home in found if not self._is_further_output(name, home)]
            if len(found) <= MAX_UNUSED
            else []
        )
        return names if len(names) <= MAX_LISTED else []

    def _fits(self, name: str, home: Graph, types: Set[str]) -> bool:
        has_type = not types or (self._kind_of(name, home) or "") in {"", *types}
        return has_type and not self._is_further_output(name, home)

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
        if not 2 <= len(graphs) <= MAX_RENAMED:
            return None

        around = {graph for _, graph in undefined}
        unused = {graph: {name for name, _ in self._unused_in(graph)} for graph in around}

        def is_meant(name: str, right: str) -> bool:
            return all(right in unused[graph] for graph in graphs[name])

        candidates = [name for name, _ in self._unused_in(undefined[0][1])][:MAX_RENAMED]
        affix = common_affix(list(graphs), candidates, is_meant)
        if affix is not None or len(graphs) < MIN_RESPELT:
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

    def _shared_in(self, graph: Graph) -> KnownNames:
        """Return the values that a graph sees and that others use."""
        if graph not in self._shared:
            names: list[str] = []
            for home, position in ((graph, None), *graph.scopes()):
                used = self._uses.used_in(home)
                names += [
                    name
                    for name, defined in home.positions.items()
                    if name in used and (position is None or defined < position)
                ]
            self._shared[graph] = KnownNames(names)
        return self._shared[graph]


def is_initializer(name: str, graph: Graph) -> bool:
    """Return whether a name that a graph sees is the one of an initializer."""
    definition = graph.definition_of(name)
    return definition is not None and definition.field in {"initializer", "sparse_initializer"}


def is_weight(name: str, graph: Graph) -> bool:
    """Return whether a name that a graph sees is the one of an initializer, or of a constant.

    Also if it is the output of nodes that only cast, transpose, dequantize, repeat or pass one.
    """
    for _ in range(_MAX_PASSED):
        definition = graph.definition_of(name)
        node = None if definition is None else definition.node
        if node is None:
            return is_initializer(name, graph)
        if node.op_type not in _PASSES_WEIGHTS or not node.inputs:
            return node.op_type == "Constant"
        name, graph = node.inputs[0], node.graph
    return False


def _input_without_last_letter(name: str, graph: Graph) -> str | None:
    """Return the graph input `x1` for the name `x1a`, in which a letter follows the number.

    Only for inputs: a value that a node makes may have siblings of such names.
    """
    right = name[:-1]
    definition = graph.definition_of(right) if name[-1:].isalpha() and right[-1:].isdigit() else None
    return right if definition is not None and definition.field == "input" else None


def _is_renamed(name: str, right: str) -> bool:
    """Return whether a name is another one misspelt, or with more or fewer parts at one end."""
    fewer, more = sorted((name, right), key=len)
    if len(fewer) >= LEAST_LETTERS and more != fewer:
        if more.startswith(fewer) and not more[len(fewer)].isalnum():
            return True
        if more.endswith(fewer) and not more[-len(fewer) - 1].isalnum():
            return True
    return is_misspelt(name, right)


def _is_other_value(value: str, undefined: Set[str], name: str) -> bool:
    """Return whether a value is not meant by a name, as its own name says."""
    if value in INPUTS_OF_TRANSFORMERS and name in INPUTS_OF_TRANSFORMERS:
        return True
    return _matches_another_spelling(value, undefined, name) or _resembles_another(value, undefined, name)


def _matches_another_spelling(value: str, undefined: Set[str], name: str) -> bool:
    """Return whether another undefined name differs from a value in case or separators alone, and this one in more."""
    if len(undefined) > MAX_NAMES or is_respelt(name, value):
        return False
    return any(is_respelt(each, value) for each in undefined)


def _resembles_another(value: str, undefined: Set[str], name: str) -> bool:
    """Return whether the name of a value is like another undefined name, and not like this one."""
    if len(undefined) > MAX_NAMES or _is_like(value, name):
        return False
    return any(_is_like(value, each) for each in undefined)


def _is_like(value: str, name: str) -> bool:
    """Return whether a name is another one with a prefix or suffix, or similar to it."""
    part, whole = sorted((value, name), key=len)
    is_part = len(part) >= _LEAST_PART and (whole.startswith(part) or whole.endswith(part))
    if is_part or _is_renamed(name, value):
        return True
    return _likeness(value, name) >= MIN_LIKENESS


def _likeness(one: str, other: str) -> float:
    from difflib import SequenceMatcher

    return SequenceMatcher(None, one[:MAX_QUOTED_CHARACTERS], other[:MAX_QUOTED_CHARACTERS]).ratio()
