# SPDX-License-Identifier: Apache-2.0
"""The body of a Loop."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import replace
from onnx_lint.inference.flow.frames import Walk
from onnx_lint.inference.flow.subgraphs.pieces import changes_of_pieces, common_shape, stacked_facts, with_content
from onnx_lint.inference.flow.subgraphs.subgraph_node import RepeatedBody, SubgraphOutputs, known_condition
from onnx_lint.inference.shapes.dims import Dim, Shape, add, is_natural, multiply, subtract
from onnx_lint.inference.shapes.fact import ABSENT, Content, Fact, Facts, fact
from onnx_lint.inference.shapes.operands import Inside, OutputShape, count_in, is_sequence, shape_in
from onnx_lint.inference.shapes.stated import facts_of_types
from onnx_lint.inference.types.subgraph_types import LOOP_HEAD, Types
from onnx_lint.inference.types.type_string import ValueType
from onnx_lint.ir.graph import Graph

if TYPE_CHECKING:
    from onnx_lint.inference.flow.subgraphs.body_runs import BodyRuns

_BEFORE: Final = "#before"
"""The variable for the number of elements of a sequence before a run of a Loop's body; no exporter writes it."""

_TRIALS_WITH_ELEMENTS: Final = 2
"""The first trials of the body, in which the elements that no run has changed are known."""

_TRIALS_WITH_SHAPES: Final = 4
"""The most trials after them. Each that is not the last makes a dimension of a carried value unknown."""


class LoopBody(RepeatedBody):
    """A Loop, with the facts that its carried values have before each run of the body."""

    carried: tuple[OutputShape, ...] = ()
    """The shapes that the carried values have before each run; empty if unknown."""
    grown: tuple[Dim, ...] = ()
    """By how many elements each carried sequence grows in one run; None if that differs, or is unknown."""
    kept: tuple[Content, ...] = ()
    """The elements that each carried value has before and after each run; empty if unknown."""
    unrolled: Facts = ()
    """The outputs of a Loop with a known number of runs; empty if they are not followed run by run."""

    kept_shapes = LOOP_HEAD
    """Those of the iteration number and the condition: consumers ignore the declared shapes of carried values."""

    # --- how often the body runs

    @property
    def _trip_count(self) -> Fact:
        """The number of iterations; ABSENT if it is omitted."""
        return self.facts[0] if self.facts else ABSENT

    @property
    def _first_condition(self) -> bool | None:
        """The initial condition: true if it is omitted, None if it is unknown."""
        first = self.facts[1] if len(self.facts) > 1 else ABSENT
        return True if first is ABSENT else known_condition(first)

    @property
    def never_runs(self) -> bool:
        """True if the body has no run, so that the Loop returns its initial values."""
        count = _only_element(self._trip_count)
        return self._first_condition is False or (isinstance(count, int) and count <= 0)

    @property
    def surely_runs(self) -> bool:
        """True if the body runs at least once, as far as the inputs are known."""
        count = _only_element(self._trip_count)
        may_begin = self._trip_count is ABSENT or (isinstance(count, int) and count > 0)
        return may_begin and self._first_condition is True

    def _run_count(self, condition: bool | None) -> Dim:
        """Return how often the body runs if it always returns this condition; None if that is unknown."""
        count = _only_element(self._trip_count)
        # A first and only run is the last one, whatever condition it returns.
        if self._first_condition is not True or (condition is not True and count != 1):
            return None
        return max(count, 0) if isinstance(count, int) else count

    def _most_runs(self, greatest: int) -> int:
        """Return how many runs to try; 0 if the first one is not sure.

        A Loop without a number of iterations runs until its body says otherwise, so that `greatest` is tried. Of more
        than `greatest` iterations, the body may end the first one.
        """
        if self._trip_count is ABSENT:
            is_endless = len(self.facts) < LOOP_HEAD or self.facts[1] is ABSENT
            return greatest if self._first_condition is True and not is_endless else 0
        runs = self._run_count(condition=True)
        if not isinstance(runs, int):
            return 0
        return runs if runs <= greatest else min(greatest, 1)

    # --- the inputs of the body

    def supplied_shapes(self) -> Sequence[OutputShape]:
        """Return the shapes of the inputs of the body.

        The iteration number is a scalar, and the first run of the body has the initial condition. A carried value may
        change its shape from one run to the next.
        """
        return [None, self.facts[1].shape, *(self.carried or [None] * (len(self.facts) - LOOP_HEAD))]

    def supplied_facts(self, types: Types) -> Facts:
        """Return the facts of the inputs of the body, which only runs while the condition is true."""
        found = list(super().supplied_facts(types))
        if len(found) >= LOOP_HEAD:
            condition = found[1]
            found[1] = fact(condition.kind, condition.shape, (1,))
            for index, content in enumerate(self.kept, LOOP_HEAD):
                found[index] = with_content(found[index], content)
        return tuple(found)

    def followed(self, body: BodyRuns) -> Generator[Walk, Facts, LoopBody]:
        """Return the Loop with what its carried values have before each run, and its outputs if the runs are few."""
        loop = yield from self._with_invariant(body)
        if body.can_follow_each:
            loop = yield from loop._unrolled(body)
        return loop

    def _with_invariant(self, body: BodyRuns) -> Generator[Walk, Facts, LoopBody]:
        """Return the Loop with the shapes that carried values have before each run.

        They are found by trial: the initial shapes, then what these have in common with those after a run, until a
        run changes nothing.
        """
        trial = self._with_initial_facts()
        if not body.has_budget or all(each is None for each in trial.carried):
            return self
        for number in range(_TRIALS_WITH_ELEMENTS + _TRIALS_WITH_SHAPES):
            run = yield from body.run(trial._with_count_variables().supplied_facts(body.types))
            if number == 0 and run.has_failed and not self.never_runs:
                return trial  # the first run meets a fault, which the walk that is kept reports
            after = trial._widened_by(run.outputs)
            if after.carried == trial.carried and after.kept == trial.kept:
                return after
            trial = after if number + 1 < _TRIALS_WITH_ELEMENTS else replace(after, kept=())
        return self

    def _with_initial_facts(self) -> LoopBody:
        """Return the Loop with the facts of carried values before the first run."""
        carried = self.facts[LOOP_HEAD:]
        contents = tuple([each.content if each.inside is None else None for each in carried])
        return replace(self, carried=tuple(map(shape_in, carried)), kept=contents)

    def _with_count_variables(self) -> LoopBody:
        """Return the Loop with a variable for the unknown number of elements of each carried sequence."""
        types = [each.kind for each in self.facts[LOOP_HEAD:]]
        return replace(self, carried=tuple(map(_with_count_variable, self.carried, types)))

    def _widened_by(self, outputs: Facts) -> LoopBody:
        """Return what the carried values have in common with those that a run of the body returns."""
        pairs = list(zip(self.carried, map(shape_in, outputs[1:]), strict=False))
        carried = tuple([common_shape(before, later) for before, later in pairs])
        grown = tuple([subtract(later.count, _BEFORE) if isinstance(later, Inside) else None for _, later in pairs])
        elements = zip(self.kept, outputs[1:], strict=False)
        kept = tuple([each if each == made.content else None for each, made in elements])
        return replace(self, carried=carried, grown=grown, kept=kept)

    def _unrolled(self, body: BodyRuns) -> Generator[Walk, Facts, LoopBody]:
        """Return the Loop with its outputs if its runs are few and its carried values change, by trying each run."""
        carried = first = self.facts[LOOP_HEAD:]
        most = self._most_runs(body.most)
        if not most or not self._differs_by_run(body.graph):
            return self
        iteration, condition = self.supplied_facts(body.types)[:LOOP_HEAD]
        stacked: list[Facts] = []
        goes_on: bool | None = True
        while len(stacked) < most and goes_on:
            inputs = (with_content(fact(iteration.kind, ()), (len(stacked),)), condition, *carried)
            run = yield from body.run(inputs)
            if run.has_failed:
                return replace(self, failing=inputs)
            goes_on = known_condition(run.outputs[0]) if run.outputs else None
            carried = run.outputs[1 : 1 + len(first)]
            stacked.append(run.outputs[1 + len(first) :])
        columns = list(zip(*stacked, strict=True))
        changes = changes_of_pieces(columns, 1 + len(first))
        if goes_on is not False and len(stacked) != self._run_count(condition=True):
            return replace(self, changes=changes)
        return replace(self, unrolled=(*carried, *map(stacked_facts, columns)), changes=changes)

    def _differs_by_run(self, body: Graph) -> bool:
        """Return whether the known runs differ: in elements or shapes of carried values, or by their number."""
        first = self.facts[LOOP_HEAD:]
        if any(each.content for each in first) and [each.content for each in first] != list(self.kept):
            return True
        if tuple(map(shape_in, first)) != self.carried:
            return True
        number = body.input_names[0] if body.input_names else ""
        return any(number in node.inputs for node in body.nodes)

    # --- the outputs of the node

    def output_shapes(self, found: SubgraphOutputs) -> Sequence[OutputShape]:
        """Return the shapes of carried values, before the first run or after any run, and of scan outputs."""
        if self.unrolled:
            return list(map(shape_in, self.unrolled))
        outputs = self.outputs_in(found, "body")
        if not outputs:
            return ()
        if self.never_runs:
            return self._shapes_of_no_run(self.walked.subgraph("body"))
        condition, *values = outputs
        length = self._run_count(known_condition(condition))
        first = self.facts[LOOP_HEAD:]
        carried = [
            common_shape(shape_in(before), shape_in(after)) for before, after in zip(first, values, strict=False)
        ]
        for index, (each, growth) in enumerate(zip(carried, self.grown, strict=False)):
            if isinstance(each, Inside) and isinstance(growth, int):
                count = add(count_in(first[index]), multiply(length, growth))
                if is_natural(count):
                    carried[index] = Inside(each.shape, count)
        return [*carried, *[None if each.shape is None else (length, *each.shape) for each in values[len(first) :]]]

    def _shapes_of_no_run(self, body: Graph) -> Sequence[OutputShape]:
        """Return the shapes of the outputs of a Loop whose body has no run.

        Only what the body declares is known of a value that no run computes: ONNX Runtime returns the shape [0].
        """
        first = self.facts[LOOP_HEAD:]
        pieces = facts_of_types(body.value_infos["output"].types)[1 + len(first) :]
        return [*map(shape_in, first), *[_shape_without_elements(each.shape) for each in pieces]]

    def output_contents(self, found: SubgraphOutputs) -> Sequence[Content]:
        """Return the known elements of carried values, and those of the outputs of runs that are followed."""
        if self.never_runs:
            return [each.content for each in self.facts[LOOP_HEAD:]]
        return [each.content for each in self.unrolled] or self.kept


def _only_element(count: Fact) -> Dim:
    """Return the element of a scalar; None if it is unknown."""
    if count.content is None or len(count.content) != 1:
        return None
    element = count.content[0]
    return element if isinstance(element, int | str) else None


def _with_count_variable(shape: OutputShape, kind: ValueType | None) -> OutputShape:
    if isinstance(shape, Inside) and shape.count is None and is_sequence(kind):
        return replace(shape, count=_BEFORE)
    return shape


def _shape_without_elements(shape: Shape) -> Shape:
    """Return the shape of a scan output of no run; its variables have no size."""
    if shape is None:
        return None
    return (0, *[dim if isinstance(dim, int) else None for dim in shape])
