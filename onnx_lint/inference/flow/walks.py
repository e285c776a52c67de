# SPDX-License-Identifier: Apache-2.0
"""The walks over graphs and function bodies, with their results."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from itertools import chain
from operator import attrgetter
from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.inference.flow.outcome_memo import OutcomeMemo
from onnx_lint.inference.shapes.fact import ABSENT, UNKNOWN, Fact, Facts
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.graph import Function, Graph, Node
from onnx_lint.spec.operators.schema import OperatorSchema, ParameterOption

MAX_AROUND: Final = 8
"""The most calls around a call of which each one is distinguished from others with the same arguments."""


MAX_FURTHER: Final = 1_000
"""The most further calls that are kept for a fault."""


class FurtherCalls:
    """Calls with the faults of another one, which are added as they are found."""

    def __init__(self) -> None:
        self.calls: list[Call] = []


class Call(Record):
    """A function call that was followed."""

    node: Node
    arguments: Facts
    """The facts of the inputs of the node, without omitted ones at the end."""
    around: Call | None
    """The call of the function body that contains the node."""
    equal: FurtherCalls | None = None
    """The calls with the same arguments, for which the body is not walked again; filled only if it has faults."""

    def each(self, depth: int = MAX_AROUND) -> Iterator[Call]:
        """Yield the call and those with the same arguments, each with every call around it."""
        equal = self.equal.calls if self.equal is not None else ()
        for one in (self, *equal):
            if one.around is None or not depth:
                yield replace(one, equal=None)
            else:
                yield from (replace(one, around=around, equal=None) for around in one.around.each(depth - 1))


class InputUse(Record):
    """A node of a function body that needs an input of the function, as its own input of that index."""

    node: Node
    index: int
    is_required: bool
    """False for one of the values of a variadic input that has enough others."""


def needed_inputs(schema: OperatorSchema, names: Sequence[str], omitted: Set[str]) -> Iterator[tuple[int, bool]]:
    """Yield the index of each input of a node that is omitted and not optional, and whether the operator requires it.

    Among the values of a variadic input, the specification requires only the least number of values.
    """
    for index, (name, parameter) in enumerate(zip(names, schema.inputs, strict=False)):
        if name in omitted and parameter.option is ParameterOption.SINGLE:
            yield index, True
    last = schema.inputs[-1] if schema.inputs else None
    if last is not None and last.option is ParameterOption.VARIADIC:
        before = len(schema.inputs) - 1
        values = [name for name in names[before:] if name and name not in omitted]
        is_short = len(values) < last.min_arity
        for index, name in enumerate(names[before:], before):
            if name in omitted:
                yield index, is_short


_IS_REQUIRED: Final = attrgetter("is_required")


class CallNeeds:
    """The inputs that a call omits and that its body needs, found so far."""

    __slots__ = ("uses",)

    def __init__(self) -> None:
        self.uses: dict[str, InputUse] = {}

    def add(self, name: str, use: InputUse) -> None:
        """Note that the body needs an input. A use that requires it replaces one that does not."""
        known = self.uses.get(name)
        if known is None or (use.is_required and not known.is_required):
            self.uses[name] = use

    def take(self) -> dict[str, InputUse]:
        """Return what is needed so far, and begin anew."""
        taken, self.uses = self.uses, {}
        return taken

    def put(self, before: dict[str, InputUse], in_each: Sequence[dict[str, InputUse]]) -> None:
        """Set what was needed before some subgraphs, and what each of them needs: one of them runs."""
        self.uses = before
        for name in (in_each or ({},))[0]:
            uses = [each[name] for each in in_each if name in each]
            if len(uses) == len(in_each):
                # What one of them does not require is not required.
                self.add(name, min(uses, key=_IS_REQUIRED))


class OmittedInput(Record):
    """An input that a call leaves out, and that the body needs in this call."""

    call: Node
    index: int
    use: InputUse


class WalkResult(Record):
    """The result of one walk over a graph or function body."""

    graph: Graph
    facts: Mapping[str, Fact]
    """The facts of the values that the graph defines."""
    unknown: Collection[str]
    """The values whose shape is unknown."""
    memos: Mapping[NodeForm, OutcomeMemo]
    unequal: Sequence[int]
    """The indices of the nodes that make dimensions equal, or whose outputs are declared with other dimensions."""
    call: Call | None
    """The call of the function body that contains the graph."""

    def fact(self, name: str) -> Fact:
        """Return the fact of a value that the graph defines."""
        return self.facts.get(name, UNKNOWN)


class WalkedValue(Record):
    """A value, in the walk over the graph that defines it."""

    walked: WalkResult
    name: str


class Walks:
    """The first walk over each graph or function body, and the later ones if they are kept."""

    def __init__(self) -> None:
        self._first: dict[int, WalkResult] = {}
        self._later: list[WalkResult] = []
        self._of_calls: dict[tuple[int, int], WalkResult] = {}
        self._of_arguments: dict[tuple[int, Facts], WalkResult] = {}
        """The first walk over a function body with these arguments, for calls without new results."""
        self.are_graphs_left_out = False
        """True if graphs that calls give to functions were not followed for all their calls."""

    def __iter__(self) -> Iterator[WalkResult]:
        """Yield the first walk over each graph, then the others."""
        return chain(self._first.values(), self._later)

    def __contains__(self, graph: Graph) -> bool:
        return id(graph) in self._first

    @property
    def first(self) -> list[WalkResult]:
        """The first walk over each graph."""
        return list(self._first.values())

    def add(self, walked: WalkResult) -> None:
        """Store a walk."""
        key = id(walked.graph)
        if key in self._first:
            self._later.append(walked)
        else:
            self._first[key] = walked
        if walked.call is not None:
            self._of_calls[key, id(walked.call)] = walked
            if walked.graph.is_function:
                self._of_arguments.setdefault((key, walked.call.arguments), walked)

    def of(self, graph: Graph, call: Call | None) -> WalkResult | None:
        """Return the walk over a graph in a call, or the first one if that was not kept."""
        return self._of_calls.get((id(graph), id(call))) or self._first.get(id(graph))

    def of_arguments(self, body: Graph, arguments: Facts) -> WalkResult | None:
        """Return the walk over a function body with these arguments, or the first one if that was not kept."""
        return self._of_arguments.get((id(body), arguments)) or self._first.get(id(body))

    def scope(self, walked: WalkResult, name: str) -> WalkResult | None:
        """Return the walk over the graph that defines a name used by a node: this walk, or an enclosing one."""
        graph: Graph | None = walked.graph
        while graph is not None and name not in graph.positions:
            graph = graph.parent
        return None if graph is None else self.of(graph, walked.call)

    def fact(self, walked: WalkResult, name: str) -> Fact:
        """Return the fact of a name that a node of a graph uses."""
        if not name:
            return ABSENT
        scope = self.scope(walked, name)
        return UNKNOWN if scope is None else scope.fact(name)

    def inputs(self, walked: WalkResult, names: Iterable[str]) -> Facts:
        """Return the facts of the inputs of a node with these names."""
        known = walked.facts.get
        return tuple([known(name) or self.fact(walked, name) for name in names])


def arguments_for(function: Function, inputs: Facts) -> Facts:
    """Return the inputs of a node that calls a function, without omitted ones at the end.

    A function may have thousands of inputs, and thousands of calls may omit nearly all of them. So calls that differ
    only in omitted inputs count as equal.
    """
    count = min(len(inputs), len(function.body.input_names))
    while count and inputs[count - 1] is ABSENT:
        count -= 1
    return inputs[:count]
