# SPDX-License-Identifier: Apache-2.0
"""What nodes and declarations say of the variables that stand for dimensions, and where no sizes make all of it true.

An equation holds wherever the node runs: a declared dimension is the one that follows, the columns of one matrix are
the rows of the next, and tensors that are put together agree along the other axes. Broadcasting gives none, as a
variable may stand for 1. A nested graph may not run at all, so that what it says counts for itself alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.declared import declared_values
from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.flow.walks import Call, Walked
from onnx_lint.inference.shapes.dims import Dim
from onnx_lint.inference.shapes.expression import Sum, read
from onnx_lint.inference.shapes.fact import UNKNOWN, Fact, Facts
from onnx_lint.inference.shapes.operands import EQUATED, Argument, Operands
from onnx_lint.inference.shapes.problem import Place as Source
from onnx_lint.inference.types.conflict import Note
from onnx_lint.ir.crashes import Crashes
from onnx_lint.ir.graph import Graph, GraphKind, Node
from onnx_lint.ir.places.place import Place
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.wording import quote


class Equation(Record):
    """Two dimensions that are the same, and who says so."""

    one: int | str
    other: int | str
    place: Place
    text: str


class Contradiction(Record):
    """An equation that no sizes of its variables make true, with those before it that say what some of them are."""

    equation: Equation
    because: tuple[Equation, ...]

    @property
    def place(self) -> Place:
        """The declared dimension, or the input of the node."""
        return self.equation.place

    @property
    def subject(self) -> str | None:
        """The variable or expression that cannot be true."""
        one = self.equation.one
        return one if isinstance(one, str) else str(self.equation.other)

    @property
    def allowed(self) -> str:
        """What would be right there."""
        return "variables that stand for one size each in the whole model"

    def describe(self) -> str:
        """What is said of the variable, and what else is."""
        if not self.because:
            return f"{self.equation.text}, which no size makes true"
        return f"{self.equation.text}; but {'; '.join(each.text for each in self.because[:_MOST_TOLD])}"

    def notes(self) -> list[Note]:
        """The other equations."""
        return [(each.place, each.text) for each in self.because]


_MOST_TOLD: Final = 3
"""So many reasons stand in a message; all are related places."""


def contradictions(flow: ValueFlow, crashes: Crashes) -> list[Contradiction]:
    """The equations that cannot be true, each variable once.

    A bug costs the equations of a node, or of a scope, and is noted.
    """
    equations: dict[_Scope, list[Equation]] = {(): []}
    for walked in flow.walks.first:
        scope = _scope(walked.graph, walked.call)
        if scope is not None:
            with crashes.at_place(_SOLVE, walked.graph.place):
                equations.setdefault(scope, []).extend(_equations(flow, walked, crashes))
    solutions: dict[_Scope, _Solution] = {}
    found: list[Contradiction] = []
    for scope in sorted(equations, key=len):
        solution = solutions[scope] = _Solution(solutions.get(scope[:-1]) if scope not in ((), _APART) else None)
        with crashes.during(_SOLVE):
            found.extend(solution.contradictions(equations[scope]))
    return found


_SOLVE: Final = "comparing dimension variables"


_Scope = tuple[int, ...]
"""The nested graphs around, from the outermost one on; that of the main graph is empty."""

_APART: Final[_Scope] = (-1,)
"""What stands for the main graph where an initialization graph is in its place."""


def _scope(graph: Graph, call: Call | None) -> _Scope | None:
    """The scope whose variables stand in a graph: of a function those of the graph that calls it; None for none."""
    around: list[int] = []
    while True:
        if graph.is_function:
            if call is None:
                return None
            graph, call = call.node.graph, call.around
        elif graph.parent is not None and graph.kind is GraphKind.NESTED:
            around.append(id(graph))
            if len(around) > _DEEPEST:
                return None
            graph = graph.parent
        else:
            return (*(_APART if graph.kind is GraphKind.INITIALIZATION else ()), *reversed(around))


_DEEPEST: Final = 64
"""Graphs that are nested deeper are not looked at; no parser reads a file with so many but through functions."""


def _equations(flow: ValueFlow, walked: Walked, crashes: Crashes) -> Iterator[Equation]:
    graph = walked.graph
    stated = {} if graph.is_function else declared_values(graph)
    places = _places(graph) if stated else {}
    for node in graph.nodes:
        cell = walked.cells.get(node.form)
        if cell is None or cell.operator is None or cell.operator.by_subgraphs:
            continue
        with crashes.at_node(_SOLVE, node):
            facts = flow.walks.inputs(walked, node)
            declared = [stated.get(name, UNKNOWN) if name else UNKNOWN for name in node.outputs]
            if any(each.shape for each in declared) and any(map(_has_variables, (*declared, *facts))):
                outputs = cell.outcome(facts).outputs
                for name, made, each in zip(node.outputs, outputs, declared, strict=False):
                    yield from _of_declaration(graph, places, node, name, made, each)
            if node.op_type in EQUATED and any(_has_variables(each) for each in facts):
                recorder = cell.operands(facts, Recorder)
                if isinstance(recorder, Recorder):
                    cell.infer(recorder)
                    yield from _of_operands(node, facts, recorder)


def _has_variables(fact: Fact) -> bool:
    return fact.shape is not None and any(isinstance(dim, str) for dim in fact.shape)


def _of_declaration(
    graph: Graph, places: Mapping[str, tuple[str, int]], node: Node, name: str, made: Fact, declared: Fact
) -> Iterator[Equation]:
    if made.shape is None or declared.shape is None or len(made.shape) != len(declared.shape):
        return
    for axis, (given, said) in enumerate(zip(made.shape, declared.shape, strict=True)):
        if given is None or said is None or given == said or not (isinstance(said, str) or isinstance(given, str)):
            continue
        field, index = places[name]
        place = graph.place.at(field, index).at("type").at("tensor_type").at("shape").at("dim", axis)
        what = f"dimension {axis} of {field.replace('_', ' ')} {quote(name)}"
        yield Equation(
            said, given, place, f"{what} is declared as {_word(said)}, and {node.describe()} gives {_word(given)}"
        )


def _places(graph: Graph) -> dict[str, tuple[str, int]]:
    """For each declared value the list that declares it and its place there, value_info before the outputs."""
    found = {name: ("output", index) for index, name in enumerate(graph.output_names)}
    return found | {name: ("value_info", index) for index, name in enumerate(graph.value_info_names)}


def _word(dim: int | str) -> str:
    return str(dim) if isinstance(dim, int) else quote(dim)


class Recorder(Operands):
    """Operands that keep which of their dimensions have to be the same."""

    __slots__ = ("equal_dims",)

    def __init__(
        self, schema: OperatorSchema, attributes: Mapping[str, Argument], facts: Facts, output_count: int
    ) -> None:
        super().__init__(schema, attributes, facts, output_count)
        self.equal_dims: list[tuple[tuple[int, int], str | int, str | int]] = []
        """For each pair the input and the axis of the first, and both dimensions."""

    def same(self, at: tuple[int, int], expected: Dim, by: Source | None) -> Dim:
        """As of `Operands`."""
        found = self.dim(*at)
        if found is not None and expected is not None and found != expected and at[0] < EQUATED[self.operator]:
            self.equal_dims.append((at, found, expected))
        return super().same(at, expected, by)


def _of_operands(node: Node, facts: Facts, recorder: Recorder) -> Iterator[Equation]:
    for (index, axis), found, expected in recorder.equal_dims:
        if isinstance(found, int) and isinstance(expected, int):
            continue
        rank = len(facts[index].shape or ())
        what = f"dimension {axis % rank} of input {index} {quote(node.inputs[index])}"
        text = f"{node.describe()} needs {what}, which is {_word(found)}, to be {_word(expected)}"
        yield Equation(found, expected, node.place.at("input", index), text)


# --- solving


class _Solution:
    """What the variables are, as far as the equations before say so."""

    def __init__(self, around: _Solution | None) -> None:
        self._around = around
        self._known: dict[str, tuple[int | str, tuple[Equation, ...]]] = {}
        """For a variable its size, or another variable, and the equations from which that follows."""
        self._told: set[str] = set() if around is None else around._told

    def contradictions(self, equations: Sequence[Equation]) -> Iterator[Contradiction]:
        left = list(equations)
        for _ in range(_MOST_ROUNDS):
            undecided: list[Equation] = []
            for equation in left:
                verdict = self._hold(equation)
                if verdict is None:
                    undecided.append(equation)
                elif not verdict[0]:
                    yield Contradiction(equation, verdict[1])
            if len(undecided) == len(left):
                return
            left = undecided

    def _hold(self, equation: Equation) -> tuple[bool, tuple[Equation, ...]] | None:
        """Whether an equation may be true, and by which others; None where it tells nothing yet."""
        because: dict[int, Equation] = {}
        variables = {*_variables(equation.one), *_variables(equation.other)}
        one, other = (self._reduced(side, because) for side in (equation.one, equation.other))
        terms = {product: one.get(product, 0) - other.get(product, 0) for product in {**one, **other}}
        terms = {product: times for product, times in terms.items() if times}
        names = {name for product in (*one, *other) for name in product}
        if (names | variables) & self._told or not terms:
            return True, ()
        reasons = tuple(because.values())
        rest = terms.pop((), 0)
        follows = self._follow(terms, rest, equation, reasons)
        if follows is False:
            self._told |= names | variables
            return False, reasons
        return (True, ()) if follows else None

    def _follow(self, terms: Sum, rest: int, equation: Equation, because: tuple[Equation, ...]) -> bool | None:
        """Take in what follows of terms and a number that are 0 together; None where nothing does."""
        if not terms:
            return False
        are_plain = all(_is_plain(name) for product in terms for name in product)
        if are_plain and rest and all((times > 0) == (rest > 0) for times in terms.values()):
            return False
        if not are_plain or any(len(product) != 1 for product in terms):
            return None
        reasons = (*because, equation)[-_MOST_REASONS:]
        match list(terms.items()):
            case [((name,), times)]:
                size, left = divmod(-rest, times)
                # Only an empty tensor would make "N" the same as "2*N". But there may be no past: "P + N" is N then.
                is_on_both = all(name in _variables(side) for side in (equation.one, equation.other))
                if left or size < 0 or (size == 0 and is_on_both and not because):
                    return False
                self._known[name] = size, reasons
                return True
            case [((one,), 1), ((other,), -1)] | [((other,), -1), ((one,), 1)] if not rest:
                self._known[one] = other, reasons
                return True
        return None

    def _reduced(self, side: int | str, because: dict[int, Equation]) -> Sum:
        """A side of an equation with what is known in place of its variables."""
        found: Sum = {}
        for product, times in _terms(side).items():
            names: list[str] = []
            for name in product:
                value = self._value(name, because)
                if isinstance(value, int):
                    times *= value
                else:
                    names.append(value)
            key = tuple(sorted(names))
            found[key] = found.get(key, 0) + times
        return found

    def _value(self, name: str, because: dict[int, Equation]) -> int | str:
        passed: list[str] = []
        value: int | str = name
        while isinstance(value, str) and (step := self._step(value)) is not None:
            passed.append(value)
            value = step[0]
        reasons: tuple[Equation, ...] = ()
        for each in reversed(passed):
            # The way is shorter from now on.
            step = self._step(each)
            reasons = (*(step[1] if step is not None else ()), *reasons)[-_MOST_REASONS:]
            self._known[each] = value, reasons
        because.update({id(each): each for each in reasons})
        return value

    def _step(self, name: str) -> tuple[int | str, tuple[Equation, ...]] | None:
        """What is known of a variable here, or in a graph around."""
        known = self._known.get(name)
        return known if known is not None or self._around is None else self._around._step(name)


_MOST_ROUNDS: Final = 8
_MOST_REASONS: Final = 8
"""Of a chain of equations the last are told."""


def _is_plain(name: str) -> bool:
    """Whether a factor is a variable, and no quotient, sum or minimum, which may be less than 0."""
    return not name.endswith(")")


def _terms(side: int | str) -> Sum:
    """A side as a sum; a name that cannot be told apart in an expression stands for itself."""
    return {(): side} if isinstance(side, int) else read(side) or {(side,): 1}


def _variables(side: int | str) -> Iterator[str]:
    for product in _terms(side):
        yield from product
