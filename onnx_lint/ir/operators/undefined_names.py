# SPDX-License-Identifier: Apache-2.0
"""Names that nothing defines: which other graph defines them, and which values they may mean."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final

from onnx_lint.ir.graph import Graph
from onnx_lint.ir.names.affixes import Affix, Respelling
from onnx_lint.ir.names.meant_values import MeantValues, WantedValue
from onnx_lint.ir.names.resolution import Resolution
from onnx_lint.ir.names.uses import ValueUses
from onnx_lint.ir.operators.proposals import Proposal, Proposals
from onnx_lint.ir.places.edits import Assign, Edit
from onnx_lint.wording import listed, quote

_CERTAIN_COUNT: Final = 3
"""From this number of undefined names on, a correction that fits all of them is stated, and not asked."""

MAX_EXPLAINED: Final = 10_000
"""If more names are undefined, what they may mean is not looked for: that would need more memory than the model."""


class UndefinedNames:
    """The undefined names of a model: explains them, and proposes the values that they may mean."""

    def __init__(
        self,
        graphs: Sequence[Graph],
        resolution: Resolution,
        uses: ValueUses,
        kind_of: Callable[[str, Graph], str | None],
    ) -> None:
        """`graphs`: all graphs. `kind_of`: returns the type of a value that a graph sees; None if it is unknown."""
        self._meant_values = MeantValues(uses, kind_of)
        outputs = list(islice(_undefined_outputs_of(graphs), MAX_EXPLAINED + 1))
        count = sum(1 for _ in islice(resolution.undefined_names, MAX_EXPLAINED + 1))
        self.are_few = count + len(outputs) <= MAX_EXPLAINED
        """False for a model with too many of them: then nothing is proposed."""
        self._undefined = {(each.name, each.graph): each for each in resolution.undefined} if self.are_few else {}
        self._outputs = dict.fromkeys(outputs) if self.are_few else {}
        names = chain(resolution.undefined_names, (name for name, _ in outputs))
        self._defining_graphs = _defining_graphs(graphs, names)
        self._affixes: dict[int | None, Affix | Respelling | None] = {}
        """What the undefined names of a function (None: of the model) lack, or how they are misspelled."""
        self._causes: dict[Graph, str | None] = {}
        """What `_renamed_inputs` returns for a graph."""

    def elsewhere(self, name: str, graph: Graph) -> str | None:
        """Return which other graph defines the name, in words; None if none does."""
        elsewhere = self._defining_graphs.get(name)
        if elsewhere is None:
            return None
        if graph.function is not elsewhere.function:
            return f"only {elsewhere.describe()} defines; functions and their callers do not share names"
        if any(outer is elsewhere for outer, _ in graph.scopes()):
            return f"{elsewhere.describe()} does not define before the node that runs this graph"
        return f"only {elsewhere.describe()} defines; names of that graph are not visible here"

    def proposals(self, name: str, graph: Graph, wanted: WantedValue, lost_with: str | None = None) -> Proposals | None:
        """Return the values that an undefined name may mean; None if a graph of the same function or model defines it,
        or if too many names are undefined.

        A graph of another function does not matter, since functions name their values independently. `lost_with`: the
        cause of the finding, common to several, if no value fits.
        """
        defining = self._defining_graphs.get(name)
        if not self.are_few or (defining is not None and defining.function is graph.function):
            return None
        affix = self._affix(graph)
        if affix is not None:
            names = list(dict.fromkeys(self._undefined_like(graph)))
            count = len({each for each, _ in names})
            text = affix.describe(count)
            cause = f"{'' if graph.function is None else graph.function.index} {text}"
            edits = Proposal(text, lambda _: self._renamed(names, affix))
            sentence = "{}" if count >= _CERTAIN_COUNT else "do {}?"
            return Proposals(sentence, lambda: (edits,), ends_message=True, cause=cause)
        options = lambda: self._options(name, graph, wanted)  # noqa: E731 - a function of these very values
        lost = "a node" if graph.is_function else "a node, an initializer or an input"
        return Proposals(
            "did you mean {}?",
            options,
            ends_message=True,
            otherwise=lambda: self._unused(graph),
            cause_if_none_fits=lambda: self._renamed_inputs(graph) or lost_with,
            if_none_fits=None if defining else f"nothing produces {quote(name)}: {lost} is missing",
        )

    def _unused(self, graph: Graph) -> str | None:
        """Return which values nothing uses, in words: a node between such a value and the name may be missing."""
        names = self._meant_values.unused(graph)
        return f"nothing uses {listed([quote(each) for each in names], 'or')}" if names else None

    def _renamed_inputs(self, graph: Graph) -> str | None:
        """Return one cause for all undefined names if the inputs that nothing uses are as many; else None."""
        if graph not in self._causes:
            names = self._meant_values.unused_inputs(graph)
            count = len({each for each, _ in self._undefined_like(graph)})
            is_one = 1 < count == len(names)
            self._causes[graph] = f"{graph.place} has unused inputs {names}" if is_one else None
        return self._causes[graph]

    def _options(self, name: str, graph: Graph, wanted: WantedValue) -> list[Proposal]:
        undefined = {each for each, _ in self._undefined_like(graph)}
        candidates = self._meant_values.candidates_for(name, graph, wanted, undefined)
        misspelt, unused = candidates.misspelt, candidates.unused
        found = [*([] if misspelt is None else [misspelt]), *unused]
        return [self._option(each, name, graph, misspelt, unused) for each in found]

    def _option(self, meant: str, name: str, graph: Graph, near: str | None, unused: Sequence[str]) -> Proposal:
        definition = graph.definition_of(meant)
        assert definition is not None
        what = f"{quote(meant)} is {definition.describe()}{', which nothing uses' if meant in unused else ''}"
        edits = lambda _: self._renaming(name, graph, meant)  # noqa: E731 - a function of these very values
        tolerates_fixable_finding = meant == near or (definition.field == "input" and len(unused) == 1)
        return Proposal(
            quote(meant),
            edits,
            (definition.place, what),
            is_preferred=meant == near,
            must_be_only=True,
            tolerates_fixable_finding=tolerates_fixable_finding,
        )

    def _undefined_like(self, graph: Graph) -> Iterator[tuple[str, Graph]]:
        """Yield the undefined names of the model, or of the function that has the graph, each with its graph."""
        pairs = (*self._undefined, *self._outputs)
        return (pair for pair in pairs if pair[1].function is graph.function)

    def _affix(self, graph: Graph) -> Affix | Respelling | None:
        """Return the one correction of all undefined names of the model, or of the function; None if there is none."""
        key = graph.function_index
        if key not in self._affixes:
            self._affixes[key] = self._meant_values.renaming(list(self._undefined_like(graph)))
        return self._affixes[key]

    def _renamed(self, names: Iterable[tuple[str, Graph]], affix: Affix | Respelling) -> Iterator[Edit]:
        for name, graph in names:
            yield from self._renaming(name, graph, affix.corrected(name) or name)

    def _renaming(self, name: str, graph: Graph, meant: str) -> Iterator[Edit]:
        """Yield the edits that replace a name by another one in its uses in a graph and in the outputs of the graph."""
        undefined = self._undefined.get((name, graph))
        if undefined is not None:
            yield from (Assign(use.place, meant) for use in undefined.uses())
        if (name, graph) not in self._outputs:
            return
        for index, output in enumerate(graph.output_names):
            if output == name:
                place = graph.at("output", index)
                yield Assign(place if graph.is_function else place.at("name"), meant)


def _undefined_outputs_of(graphs: Iterable[Graph]) -> Iterator[tuple[str, Graph]]:
    """Yield the names of graph outputs that nothing defines, each with its graph."""
    for graph in graphs:
        for name in graph.output_names:
            if name and name not in graph.positions and not graph.sees(name):
                yield name, graph


def _defining_graphs(graphs: Sequence[Graph], names: Iterable[str]) -> Mapping[str, Graph]:
    """Return the first graph that defines each of these names, if one does. It is not the one that lacks the name."""
    found: dict[str, Graph] = {}
    if len(graphs) > 1:
        wanted = set(names)
        for graph in graphs:
            for name in wanted.intersection(graph.positions):
                found.setdefault(name, graph)
    return found
