# SPDX-License-Identifier: Apache-2.0
"""The shapes that control-flow operators supply to their subgraphs, and the shapes that these return."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from math import prod
from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.inference.flow.joining import joined, joined_shapes
from onnx_lint.inference.flow.outcome_memo import as_fact
from onnx_lint.inference.shapes.dims import Dim, Shape, add, are_sizes, is_natural, multiply, subtract, unified, union
from onnx_lint.inference.shapes.element_values import MAX_PASSED, taken
from onnx_lint.inference.shapes.fact import ABSENT, Content, Fact, Facts, fact
from onnx_lint.inference.shapes.operands import (
    Inside,
    Operands,
    OutputShape,
    count_in,
    is_sequence,
    sequence_of,
    shape_in,
)
from onnx_lint.inference.shapes.problem import AxisOutOfRange, Element, ShapeProblem
from onnx_lint.inference.types.subgraph_types import LOOP_HEAD, Subgraphs
from onnx_lint.inference.types.type_string import DOUBLE, FLOAT, ValueType, tensor_of
from onnx_lint.ir.operators.control_flow import subgraph_output_count
from onnx_lint.spec.releases import PREVIEW_DOMAIN


class SuppliedShapes(Record):
    """A control-flow node with the facts of its inputs."""

    subgraphs: Subgraphs
    facts: Facts
    scan: ScanAxes | None = None
    """The axes of a Scan; None for other operators, and if its attributes are wrong."""
    carried: tuple[OutputShape, ...] = ()
    """The shapes that the carried values of a Loop have before each run of the body; empty if unknown."""
    grown: tuple[Dim, ...] = ()
    """By how many elements each carried sequence grows in one run; None if that differs, or is unknown."""
    kept: tuple[Content, ...] = ()
    """The elements that each carried value of a Loop has before and after each run; empty if unknown."""
    mapped: tuple[Facts, ...] = ()
    """The outputs of the body of a SequenceMap for each element; empty if unknown, or if the elements are alike."""
    unrolled: Facts = ()
    """The outputs of a Loop or Scan with a known number of runs; empty if they are not followed run by run."""
    changing: tuple[tuple[int, int, tuple[Fact, Fact]], ...] = ()
    """The outputs of the body that a scan output stacks, and the run in which each first has another shape than in the
    first run, with both facts."""
    failing: Facts = ()
    """The inputs of the body in the first run that meets a fault, if the runs are followed one by one."""

    @property
    def values(self) -> Facts:
        """The inputs that correspond to inputs of the body of a Scan or SequenceMap."""
        count = len(self.subgraphs.values)
        return self.facts[len(self.facts) - count :] if count else ()

    def supplied(self) -> Sequence[OutputShape]:
        """Return the shapes of the inputs of the body. Parts that may differ between runs are unknown."""
        match self.subgraphs.node.op_type:
            case "Loop":
                # The iteration number is a scalar, and the first run of the body has the initial condition.
                # A carried value may change its shape from one run to the next.
                return [None, self.facts[1].shape, *(self.carried or [None] * (len(self.facts) - LOOP_HEAD))]
            case "SequenceMap":
                return [shape_in(each.inside) if each.inside is not None else shape_in(each) for each in self.values]
            case "FlexAttention":
                query, key = (each.shape for each in self.facts[:2])
                return [(*query[:3], key[2])] if query and key and len(query) == len(key) == 4 else []
            case "Scan" if self.scan is not None:
                states = self.subgraphs.state_count
                return [
                    self.scan.state(each.shape) if index < states else self.scan.slice(index - states, each.shape)
                    for index, each in enumerate(self.values)
                ]
        return []

    def supplied_facts(self, kinds: Sequence[ValueType | None]) -> Facts:
        """Return the facts of the inputs of the body. Facts that may differ between runs are unknown."""
        shapes = [*self.supplied(), *[None] * len(kinds)]
        found = [as_fact(kind, shape) for kind, shape in zip(kinds, shapes, strict=False)]
        if self.subgraphs.node.op_type == "Loop" and len(found) >= LOOP_HEAD:
            # The body only runs while the condition holds.
            condition = found[1]
            found[1] = fact(condition.kind, condition.shape, (1,))
            for index, content in enumerate(self.kept, LOOP_HEAD):
                found[index] = with_content(found[index], content)
        elif self.subgraphs.node.op_type == "SequenceMap":
            elements = [each.inside or each for each in self.values]
            found = [with_content(made, each.content) for made, each in zip(found, elements, strict=False)]
        return tuple(found)

    def tried(self) -> SuppliedShapes:
        """Return the shapes with which to try a first run of a Loop's body: the initial ones."""
        carried = self.facts[LOOP_HEAD:]
        contents = tuple([each.content if each.inside is None else None for each in carried])
        return replace(self, carried=tuple(map(shape_in, carried)), kept=contents)

    def sized(self) -> SuppliedShapes:
        """Return the shapes with a variable for the unknown number of elements of each sequence."""
        kinds = [each.kind for each in self.facts[LOOP_HEAD:]]
        return replace(self, carried=tuple(map(_sized, self.carried, kinds)))

    def after(self, body: Facts) -> SuppliedShapes:
        """Return what the carried values have in common with those that a run of the body returns."""
        pairs = list(zip(self.carried, map(shape_in, body[1:]), strict=False))
        carried = tuple([_union(before, later) for before, later in pairs])
        grown = tuple([subtract(later.count, _BEFORE) if isinstance(later, Inside) else None for _, later in pairs])
        kept = tuple([each if each == made.content else None for each, made in zip(self.kept, body[1:], strict=False)])
        return replace(self, carried=carried, grown=grown, kept=kept)

    def for_element(self, index: int) -> SuppliedShapes:
        """Return the inputs of a SequenceMap in one iteration: an element of each sequence of known element shapes."""
        listed = [fact(each.kind, inside=_element(each, index)) if is_listed(each) else each for each in self.facts]
        return replace(self, facts=tuple(listed))

    def outputs(self, found: Mapping[str, Facts]) -> Sequence[OutputShape]:
        """Return the shapes of the node's outputs, from the outputs of its subgraphs."""
        node = self.subgraphs.node
        count = subgraph_output_count(node)
        found = {name: facts for name, facts in found.items() if len(facts) == count}
        match node.op_type:
            case "If":
                one, other = found.get("then_branch"), found.get("else_branch")
                condition = self.facts[0].content if self.facts else None
                # With a known condition only one branch runs.
                return _either(other if condition == (0,) else one, one if condition == (1,) else other)
            case "Loop":
                return list(map(shape_in, self.unrolled)) or self._looped(found.get("body", ()))
            case "SequenceMap" if self.mapped:
                return list(map(_sequence_of, zip(*self.mapped, strict=True)))
            case "SequenceMap" if self.facts:
                return [Inside(shape_in(each), count_in(self.facts[0])) for each in found.get("body", ())]
            case "Scan" if self.scan is not None:
                return self._scanned(self.scan, found.get("body", ()))
        return []

    def contents(self, found: Mapping[str, Facts]) -> Sequence[Content]:
        """Return the known elements of the node's outputs."""
        if self.subgraphs.node.op_type == "Loop" and self.never_runs():
            return [each.content for each in self.facts[LOOP_HEAD:]]
        if self.subgraphs.node.op_type in ("Loop", "Scan"):
            return [each.content for each in self.unrolled] or self.kept
        one, other = found.get("then_branch", ()), found.get("else_branch", ())
        condition = self.facts[0].content if self.facts else None
        if condition == (0,) or condition == (1,):
            return [each.content for each in (one if condition == (1,) else other)]
        return [
            first.content if first.content == second.content else None
            for first, second in zip(one, other, strict=False)
        ]

    def problems(self, found: Mapping[str, Facts]) -> tuple[ShapeProblem, ...]:
        """Return the problems of attributes that depend on the outputs of the subgraphs."""
        body = found.get("body", ())[self.subgraphs.state_count :]
        if self.scan is None or self.scan.outputs is None:
            return ()
        wrong: list[ShapeProblem] = []
        for index, (axis, each) in enumerate(zip(self.scan.outputs, body, strict=False)):
            rank = None if each.shape is None else len(each.shape) + 1
            if rank is not None and not -rank <= axis < rank:
                wrong.append(AxisOutOfRange(Element("scan_output_axes", axis, index), rank, -rank))
        return tuple(wrong)

    def changed_states(self, found: Mapping[str, Facts]) -> Iterator[tuple[int, tuple[Fact, Fact]]]:
        """Yield the states of a Scan that the body returns with another shape, with both facts."""
        if self.scan is None:
            return
        states = self.values[: self.subgraphs.state_count]
        for index, (before, after) in enumerate(zip(states, found.get("body", ()), strict=False)):
            first = as_fact(before.kind, self.scan.state(before.shape))
            if first.shape is not None and joined(first, after)[1] == "shape":
                yield index, (first, after)

    def branches(self, found: Mapping[str, Facts]) -> tuple[Facts, Facts] | tuple[()]:
        """Return the outputs of both branches of an If, if there are as many as the node has outputs."""
        count = subgraph_output_count(self.subgraphs.node)
        one, other = found.get("then_branch", ()), found.get("else_branch", ())
        return (one, other) if len(one) == len(other) == count else ()

    def differing(self, found: Mapping[str, Facts]) -> Iterator[int]:
        """Yield the outputs whose branches of an If have different shapes."""
        one, other = found.get("then_branch", ()), found.get("else_branch", ())
        for index, (first, second) in enumerate(zip(one, other, strict=False)):
            if joined(first, second)[1] == "shape":
                yield index

    def _looped(self, body: Facts) -> Sequence[OutputShape]:
        """Return the shapes of carried values, before the first run or after any run, and of scan outputs."""
        first = self.facts[LOOP_HEAD:]
        if not body:
            return []
        condition, *values = body
        if self.never_runs():
            return [*map(shape_in, first), *[_of_no_run(each.shape) for each in values[len(first) :]]]
        length = self._runs(condition)
        carried = [_union(shape_in(before), shape_in(after)) for before, after in zip(first, values, strict=False)]
        for index, (each, growth) in enumerate(zip(carried, self.grown, strict=False)):
            if isinstance(each, Inside) and isinstance(growth, int):
                count = add(count_in(first[index]), multiply(length, growth))
                if is_natural(count):
                    carried[index] = Inside(each.shape, count)
        return [*carried, *[None if each.shape is None else (length, *each.shape) for each in values[len(first) :]]]

    def runs(self) -> Dim:
        """Return how often the body of a Loop runs if no condition ends it; None if that is unknown."""
        return self._runs(fact(None, (), (1,)))

    def never_runs(self) -> bool:
        """Return whether the body of a Loop, Scan or SequenceMap has no run. A Loop then returns its initial values."""
        if self.subgraphs.node.op_type != "Loop":
            return self._length() == 0
        iterations, first, *_ = (*self.facts, ABSENT, ABSENT)
        count = iterations.content[0] if iterations.content else None
        return first.content == (0,) or (isinstance(count, int) and count <= 0)

    def surely_runs(self) -> bool:
        """Return whether the body of a Loop, Scan or SequenceMap runs at least once, as far as its inputs are known."""
        if self.subgraphs.node.op_type == "Loop":
            iterations, first, *_ = (*self.facts, ABSENT, ABSENT)
            count = iterations.content[0] if iterations.content else None
            may_begin = iterations is ABSENT or (isinstance(count, int) and count > 0)
            return may_begin and (first is ABSENT or first.content == (1,))
        length = self._length()
        return isinstance(length, int) and length > 0

    def _length(self) -> Dim:
        """Return how often the body of a Scan or SequenceMap runs; None if that is unknown."""
        if self.subgraphs.node.op_type == "Scan":
            return self.scan.length if self.scan is not None and not self.scan.batch else None
        return count_in(self.facts[0]) if self.facts else None

    def most_runs(self, greatest: int) -> int:
        """Return how many runs of a Loop's body to try; 0 if the first one is not sure.

        A Loop without a number of iterations runs until its body says otherwise, so that `greatest` is tried. Of more
        than `greatest` iterations, the body may end the first one.
        """
        iterations, first, *_ = (*self.facts, ABSENT, ABSENT)
        if iterations is ABSENT:
            return greatest if first is not ABSENT and first.content == (1,) else 0
        runs = self.runs()
        if not isinstance(runs, int):
            return 0
        return runs if runs <= greatest else min(greatest, 1)

    def _runs(self, condition: Fact) -> Dim:
        """Return how often the body of a Loop runs, if the number of iterations is known and no condition ends it."""
        iterations, first, *_ = (*self.facts, ABSENT, ABSENT)
        begins = first is ABSENT or first.content == (1,)
        if not begins or iterations.content is None or len(iterations.content) != 1:
            return None
        count = iterations.content[0]
        # A first and only run is the last one, whatever condition it returns.
        if condition.content != (1,) and count != 1:
            return None
        if isinstance(count, int):
            return max(count, 0)
        return count if isinstance(count, str) else None

    def _scanned(self, scan: ScanAxes, body: Facts) -> Sequence[OutputShape]:
        states = self.subgraphs.state_count
        first = self.values[:states]
        carried = [
            joined_shapes(scan.whole_state(last.shape), each.shape)[0] for each, last in zip(first, body, strict=False)
        ]
        return [*carried, *[scan.stacked(index, each.shape) for index, each in enumerate(body[states:])]]


class ScanAxes(Record):
    """The axes along which a Scan slices its inputs and stacks its outputs."""

    inputs: tuple[int, ...]
    """The axis that each scan input loses; without the batch axis of version 8."""
    outputs: tuple[int, ...] | None
    """The axis that each scan output gains; negative ones count from the end. None if all are the first."""
    length: Dim
    """The number of runs of the body."""
    batch: tuple[Dim, ...] = ()
    """The size of the batch axis in front, in version 8."""
    backwards: frozenset[int] = frozenset()
    """The scan inputs that are read from their end."""
    reversed_outputs: frozenset[int] = frozenset()
    """The scan outputs whose last piece comes first."""

    def state(self, shape: Shape) -> Shape:
        """Return the shape of a state in the body."""
        return None if shape is None else shape[len(self.batch) :]

    def whole_state(self, shape: Shape) -> Shape:
        """Return the shape of a state outside of the body."""
        return None if shape is None else (*self.batch, *shape)

    def slice(self, index: int, shape: Shape) -> Shape:
        """Return the shape of the slice of a scan input that the body gets."""
        if shape is None or index >= len(self.inputs) or len(shape) <= self.inputs[index] + len(self.batch):
            return None
        rest = shape[len(self.batch) :]
        axis = self.inputs[index]
        return rest[:axis] + rest[axis + 1 :]

    def piece(self, index: int, whole: Fact, run: int) -> Fact:
        """Return the fact of the slice of a scan input in one run, with its elements if they are known."""
        made = fact(whole.kind, self.slice(index, whole.shape))
        if whole.content is None or not are_sizes(whole.shape):
            return made
        axis = self.inputs[index]
        place = whole.shape[axis] - 1 - run if index in self.backwards else run
        picks = [(at, [place] if at == axis else range(size)) for at, size in enumerate(whole.shape)]
        return with_content(made, taken(whole.content, whole.shape, picks))

    def stacked_fact(self, index: int, pieces: Sequence[Fact]) -> Fact:
        """Return the fact of a scan output, from its piece of each run; the elements are known along the first axis."""
        axis = self.outputs[index] if self.outputs is not None and index < len(self.outputs) else 0
        if axis and (pieces[0].shape is None or axis != -1 - len(pieces[0].shape)):
            return fact(pieces[0].kind)
        return stacked_facts(pieces[::-1] if index in self.reversed_outputs else pieces)

    def stacked(self, index: int, shape: Shape) -> Shape:
        """Return the shape of a scan output, from the shape of its pieces."""
        if shape is None:
            return None
        axis = self.outputs[index] if self.outputs is not None and index < len(self.outputs) else 0
        axis = axis + len(shape) + 1 if axis < 0 else axis
        if not 0 <= axis <= len(shape):
            return None
        return (*self.batch, *shape[:axis], self.length, *shape[axis:])


def _sequence_of(elements: Facts) -> Inside:
    """Return the sequence of these elements."""
    return sequence_of(tuple([each.shape for each in elements]), tuple([each.content for each in elements]))


def score_type(node: Operands | None) -> ValueType | None:
    """Return the type of the scores of a FlexAttention; None for other operators, and if it is unknown."""
    if node is None or (node.schema.domain, node.operator) != (PREVIEW_DOMAIN, "FlexAttention"):
        return None
    precision = node.integer("softmax_precision")
    if precision is not None:
        return tensor_of(precision)
    kind = node.fact(0).kind
    if not kind:
        return None
    return DOUBLE if kind == DOUBLE else FLOAT


def scan_axes(node: Operands | None, subgraphs: Subgraphs) -> ScanAxes | None:
    """Return the axes of a Scan node; None for any other node, and if its inputs do not have these axes."""
    if node is None or node.operator != "Scan":
        return None
    count = len(subgraphs.values) - subgraphs.state_count
    inputs = node.facts[len(node.facts) - count :] if count else ()
    has_batch = node.version < _WITHOUT_BATCH
    axes, output_axes = node.integers("scan_input_axes"), node.integers("scan_output_axes")
    batch: Dim = None
    length: Dim = None
    found: list[int] = []
    for index, each in enumerate(inputs):
        shape = each.shape
        axis = axes[index] if axes is not None and index < len(axes) else 0
        if shape is not None:
            axis = axis + len(shape) if axis < 0 else axis
            place = axis + has_batch
            if not 0 <= place < len(shape):
                return None
            length = unified(length, shape[place])
            batch = unified(batch, shape[0])
        found.append(axis)
    backwards, reversed_outputs = (
        frozenset([index for index, each in enumerate(node.integers(name) or ()) if each])
        for name in ("scan_input_directions", "scan_output_directions")
    )
    return ScanAxes(tuple(found), output_axes, length, (batch,) if has_batch else (), backwards, reversed_outputs)


_WITHOUT_BATCH: Final = 9
"""The first version of Scan without a batch axis."""


def _of_no_run(shape: Shape) -> Shape:
    """Return the shape of a scan output without elements; its variables have no size."""
    if shape is None:
        return None
    return (0, *[dim if isinstance(dim, int) else None for dim in shape])


def _either(one: Facts | None, other: Facts | None) -> list[OutputShape]:
    if one is None or other is None:
        # The other branch is missing, or is a parameter of a function.
        return [shape_in(each) for each in one or other or ()]
    return [_union(shape_in(first), shape_in(second)) for first, second in zip(one, other, strict=True)]


def _union(one: OutputShape, other: OutputShape) -> OutputShape:
    if isinstance(one, Inside) and isinstance(other, Inside):
        count = one.count if one.count == other.count else None
        if 0 in (one.count, other.count):
            # What is empty says nothing about the elements.
            full = other if one.count == 0 else one
            return Inside(full.shape, count, full.elements)
        elements = one.elements if one.elements == other.elements else ()
        parts = one.parts if one.parts == other.parts else ()
        whole = one.whole if one.whole == other.whole else None
        return Inside(_union(one.shape, other.shape), count, elements, parts, whole)
    if isinstance(one, Inside) or isinstance(other, Inside):
        return None
    return union(one, other)


def with_content(made: Fact, content: Content) -> Fact:
    """Return a fact with known elements, if it is a tensor of so many."""
    if content is None or made.inside is not None or not are_sizes(made.shape) or prod(made.shape) != len(content):
        return made
    return fact(made.kind, made.shape, content)


def stacked_facts(pieces: Sequence[Fact]) -> Fact:
    """Return the fact of a scan output, from its pieces."""
    shape = pieces[0].shape if all(each.shape == pieces[0].shape for each in pieces) else None
    made = fact(pieces[0].kind, (len(pieces), *shape) if shape is not None else None)
    contents = [each.content for each in pieces]
    known = [content for content in contents if content is not None]
    is_short = len(known) == len(contents) and sum(map(len, known)) <= MAX_PASSED
    return with_content(made, tuple(chain(*known)) if is_short else None)


def changing_pieces(columns: Sequence[Facts], first: int) -> tuple[tuple[int, int, tuple[Fact, Fact]], ...]:
    """Return the scan outputs whose pieces differ in shape, see `SuppliedShapes.changing`.

    `first`: the index of the first scan output among the outputs of the body.
    """
    found = []
    for index, pieces in enumerate(columns, first):
        run = next((run for run, each in enumerate(pieces) if _never_agree(pieces[0].shape, each.shape)), None)
        if run is not None:
            found.append((index, run, (pieces[0], pieces[run])))
    return tuple(found)


def _never_agree(one: Shape, other: Shape) -> bool:
    """Return whether two shapes differ for all sizes of their variables."""
    if one is None or other is None:
        return False
    if len(one) != len(other):
        return True
    distances = [subtract(first, second) for first, second in zip(one, other, strict=True)]
    return any(isinstance(distance, int) and distance for distance in distances)


def is_listed(fact: Fact) -> bool:
    """Return whether a value is a sequence and the shape, or the elements, of each tensor in it is known."""
    return count_in(fact) in {len(each) for each in (fact.elements, fact.parts) if each}


def _element(sequence: Fact, index: int) -> Fact | None:
    if sequence.inside is None:
        return None
    made = as_fact(sequence.inside.kind, sequence.elements[index]) if sequence.elements else sequence.inside
    return with_content(made, sequence.parts[index]) if sequence.parts else made


_BEFORE: Final = "#before"
"""The variable for the number of elements of a sequence before a run of a Loop's body; no exporter writes it."""


def _sized(shape: OutputShape, kind: ValueType | None) -> OutputShape:
    if isinstance(shape, Inside) and shape.count is None and is_sequence(kind):
        return replace(shape, count=_BEFORE)
    return shape
