# SPDX-License-Identifier: Apache-2.0
"""Walks over the subgraphs of If, Loop, Scan and SequenceMap."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Final

from onnx_lint.common.record import replace
from onnx_lint.inference.flow.faulty_values import FaultyValues
from onnx_lint.inference.flow.frames import Frame, NestedGraph, Walk
from onnx_lint.inference.flow.outcome_memo import NodeOutcome, OutcomeMemo, as_fact
from onnx_lint.inference.flow.subgraph_shapes import (
    SuppliedShapes,
    changing_pieces,
    is_listed,
    scan_axes,
    score_type,
    stacked_facts,
    with_content,
)
from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.flow.walks import InputUse
from onnx_lint.inference.shapes.fact import Content, Fact, Facts, fact
from onnx_lint.inference.shapes.operands import OutputShape, count_in, shape_in
from onnx_lint.inference.shapes.problem import is_warning
from onnx_lint.inference.shapes.stated import facts_of_types
from onnx_lint.inference.types.subgraph_types import LOOP_HEAD, Subgraphs, Types, outputs_of
from onnx_lint.inference.types.typed_operator import TypeOutcome
from onnx_lint.ir.graph import Graph, Node
from onnx_lint.ir.operators.control_flow import ControlFlow


class SubgraphWalk:
    """The walks over the subgraphs of control-flow operators."""

    def __init__(
        self,
        control_flow: ControlFlow,
        found: ValueFlow,
        faulty: FaultyValues,
        walk_subgraph: Callable[[NestedGraph, tuple[Fact | None, ...] | None], Walk],
    ) -> None:
        self._control_flow = control_flow
        self._found = found
        self._faulty = faulty
        self._walk_subgraph = walk_subgraph

    def walk(
        self, node: Node, memo: OutcomeMemo, inputs: Facts, frame: Frame, nested: Sequence[NestedGraph]
    ) -> Generator[Walk, Facts, NodeOutcome]:
        """Walk the subgraphs of a node with the facts that its operator supplies; return the outcome of the node."""
        graphs = {each.name: each.graph for each in nested}
        if node.op_type == "If":  # it supplies nothing to its branches
            found = yield from self._walk_each(None, _idle_branch(inputs), frame, nested)
            return self._outcome_of_if(node, memo, inputs, found, graphs, frame)
        supplier = self._supplier(node, memo, inputs)
        if len(nested) == 1:
            supplier = yield from self._of_all_runs(supplier, node.op_type, nested[0])
        found = yield from self._walk_each(supplier, "body" if supplier.never_runs() else None, frame, nested)
        return self._outcome(node, memo, supplier, found, graphs, frame)

    def _of_all_runs(
        self, supplier: SuppliedShapes, op_type: str, body: NestedGraph
    ) -> Generator[Walk, Facts, SuppliedShapes]:
        """Return the supplier with the shapes that the body of a Loop, Scan or SequenceMap gets in all of its runs."""
        if op_type == "Loop":
            supplier = yield from self._invariant(supplier, body)
            supplier = yield from self._unrolled(supplier, body)
        elif op_type == "Scan":
            supplier = yield from self._scanned(supplier, body)
        elif op_type == "SequenceMap":
            supplier = yield from self._mapped(supplier, body)
        return supplier

    def _walk_each(
        self, supplier: SuppliedShapes | None, idle: str | None, frame: Frame, nested: Sequence[NestedGraph]
    ) -> Generator[Walk, Facts, dict[str, Facts]]:
        """Walk the subgraphs of a node; return the outputs of each by its attribute. `idle` never runs."""
        found: dict[str, Facts] = {}
        needs = frame.needs
        in_each: list[dict[str, InputUse]] = []
        before = needs.take() if needs is not None else {}
        may_not_run = needs is not None and supplier is not None and not supplier.surely_runs()
        for each in nested:
            supplied = self._supplied(supplier, each.name, each.graph, frame) if supplier is not None else None
            is_idle = each.name == idle
            if is_idle:
                self._found.idle.append("body" if supplier is not None else "branch")
            self._found.unsure += is_idle or may_not_run
            is_sure = not is_idle and (idle is not None if supplier is None else supplier.surely_runs())
            self._found.note_whether_sure(each.graph, each.frame.call, is_sure=is_sure and not each.number)
            found[each.name] = yield self._walk_subgraph(each, supplied)
            if is_idle:
                self._found.idle.pop()
            self._found.unsure -= is_idle or may_not_run
            if needs is not None and not is_idle:
                in_each.append(needs.take())
        if needs is not None:
            needs.put(before, in_each)
        return found

    def _outcome_of_if(
        self,
        node: Node,
        memo: OutcomeMemo,
        inputs: Facts,
        found: Mapping[str, Facts],
        graphs: Mapping[str, Graph],
        frame: Frame,
    ) -> NodeOutcome:
        """Return the outcome of an If. Equal outputs of its branches decide it: such branches contradict neither each
        other nor the node (docs/performance.md: known-branches).
        """
        facts = found.get("then_branch", ())
        is_decided = len(facts) == len(node.outputs) and found.get("else_branch") == facts
        known = memo.outcomes.get((inputs, facts)) if is_decided else None
        if known is not None:
            return known
        outcome = self._outcome(node, memo, self._supplier(node, memo, inputs), found, graphs, frame)
        return memo.keep((inputs, facts), outcome) if is_decided else outcome

    def _invariant(self, supplier: SuppliedShapes, nested: NestedGraph) -> Generator[Walk, Facts, SuppliedShapes]:
        """Return the supplier with shapes that carried values have before each run of a Loop's body.

        They are found by trial: the initial shapes, then what these have in common with those after a run, until a
        run changes nothing.
        """
        kinds = supplier.subgraphs.supplied(nested.name, nested.graph)
        trial = supplier.tried()
        if kinds is None or all(each is None for each in trial.carried):
            return supplier
        failing = self._found.failing_bodies
        failing.discard(id(nested.graph))
        for number in range(_MAX_TRIALS + _WITH_ELEMENTS if self._found.may_try else 0):
            body = yield from self._tried(nested, trial.sized().supplied_facts(kinds))
            if number == 0 and id(nested.graph) in failing and not supplier.never_runs():
                return trial  # the first run meets a fault, which the walk that is kept reports
            after = trial.after(body)
            if after.carried == trial.carried and after.kept == trial.kept:
                return after
            trial = after if number + 1 < _WITH_ELEMENTS else replace(after, kept=())
        return supplier

    def _unrolled(self, supplier: SuppliedShapes, nested: NestedGraph) -> Generator[Walk, Facts, SuppliedShapes]:
        """Return the supplier with the outputs of a Loop of a few runs whose carried values change, by running each."""
        first, most = supplier.facts[LOOP_HEAD:], supplier.most_runs(_MAX_RUN_NODES // max(len(nested.graph.forms), 1))
        kinds = supplier.subgraphs.supplied(nested.name, nested.graph)
        if nested.number or kinds is None or not most or not _differ_by_run(supplier, first, nested.graph):
            return supplier
        head = supplier.supplied_facts(kinds)[:LOOP_HEAD]
        carried = first
        stacked: list[Facts] = []
        goes_on: Content = (1,)
        while len(stacked) < most and goes_on == (1,):
            index = with_content(fact(head[0].kind, ()), (len(stacked),))
            inputs = (index, head[1], *carried)
            body, has_failed = yield from self._run(nested, inputs)
            if has_failed:
                return replace(supplier, failing=inputs)
            goes_on = body[0].content if body else None
            carried = body[1 : 1 + len(first)]
            stacked.append(body[1 + len(first) :])
        columns = list(zip(*stacked, strict=True))
        changing = changing_pieces(columns, 1 + len(first))
        if goes_on != (0,) and len(stacked) != supplier.runs():
            return replace(supplier, changing=changing) if changing else supplier
        return replace(supplier, unrolled=(*carried, *map(stacked_facts, columns)), changing=changing)

    def _scanned(self, supplier: SuppliedShapes, nested: NestedGraph) -> Generator[Walk, Facts, SuppliedShapes]:
        """Return the supplier with the elements of the outputs of a Scan of a few runs, by running each."""
        scan, kinds = supplier.scan, supplier.subgraphs.supplied(nested.name, nested.graph)
        has_elements = any(each.content is not None for each in supplier.values)
        if nested.number or kinds is None or scan is None or not has_elements or not isinstance(scan.length, int):
            return supplier
        if not 0 < scan.length * max(len(nested.graph.forms), 1) <= _MAX_RUN_NODES or scan.batch:
            return supplier
        states = supplier.subgraphs.state_count
        carried = supplier.values[:states]
        stacked: list[Facts] = []
        for index in range(scan.length):
            slices = [scan.piece(at, each, index) for at, each in enumerate(supplier.values[states:])]
            body, has_failed = yield from self._run(nested, (*carried, *slices))
            if has_failed:
                return replace(supplier, failing=(*carried, *slices))
            carried = body[:states]
            stacked.append(body[states:])
        columns = list(zip(*stacked, strict=True))
        made = [scan.stacked_fact(at, column) for at, column in enumerate(columns)]
        return replace(supplier, unrolled=(*carried, *made), changing=changing_pieces(columns, states))

    def _tried(self, nested: NestedGraph, inputs: Facts) -> Generator[Walk, Facts, Facts]:
        """Return the outputs of a body with these inputs, without keeping anything of the walk."""
        is_trial, self._found.is_trial = self._found.is_trial, True
        body = yield self._walk_subgraph(nested, inputs)
        self._found.is_trial = is_trial
        return body

    def _run(self, nested: NestedGraph, inputs: Facts) -> Generator[Walk, Facts, tuple[Facts, bool]]:
        """Return the outputs of a body with these inputs, and whether that run meets a fault; keep nothing of it."""
        failing = self._found.failing_bodies
        failing.discard(id(nested.graph))
        body = yield from self._tried(nested, inputs)
        # In a graph nested in the body a fault may be in a branch that this run does not take.
        return body, id(nested.graph) in failing

    def _mapped(self, supplier: SuppliedShapes, nested: NestedGraph) -> Generator[Walk, Facts, SuppliedShapes]:
        """Return the supplier with the outputs of SequenceMap's body for each element, found by trial."""
        kinds = supplier.subgraphs.supplied(nested.name, nested.graph)
        count = count_in(supplier.facts[0]) if supplier.facts else None
        if nested.number or kinds is None or not any(map(is_listed, supplier.facts)):
            return supplier
        found: list[Facts] = []
        for index in range(count if isinstance(count, int) else 0):
            inputs = supplier.for_element(index).supplied_facts(kinds)
            body, has_failed = yield from self._run(nested, inputs)
            if has_failed:
                return replace(supplier, failing=inputs)
            found.append(body)
        return replace(supplier, mapped=tuple(found))

    def walk_others(
        self, node: Node, memo: OutcomeMemo, inputs: Facts, frame: Frame, nested: Sequence[NestedGraph]
    ) -> Generator[Walk, Facts, None]:
        """Walk the subgraphs of a node whose outputs do not follow from them: a FlexAttention supplies scores.

        The other operators are searches of ONNX Runtime. It is not documented what they supply.
        """
        supplier = self._supplier(node, memo, inputs) if score_type(memo.operands(inputs)) is not None else None
        for each in nested:
            name, graph = each.name, each.graph
            supplied = self._supplied(supplier, name, graph, frame) if supplier is not None else None
            self._found.unsure += 1
            found = yield self._walk_subgraph(each, supplied)
            self._found.unsure -= 1
            if supplier is None or any(True for _ in supplier.subgraphs.mismatched_inputs(name, graph)):
                continue  # an output that follows from a wrong input is not reported again
            for mismatch in outputs_of(supplier.subgraphs, {name: tuple([each.kind for each in found])})[1]:
                self._found.note_subgraph(node, graph, mismatch, frame.call)

    def _supplier(self, node: Node, memo: OutcomeMemo, inputs: Facts) -> SuppliedShapes:
        _, problems, _ = memo.shapes(inputs, memo.typed(inputs))
        is_right = all(map(is_warning, problems))
        operands = memo.operands(inputs)
        kinds = tuple([each.kind for each in inputs])
        subgraphs = Subgraphs(self._control_flow, node, kinds, memo.arguments, score_type(operands))
        return SuppliedShapes(subgraphs, inputs, scan_axes(operands, subgraphs) if is_right else None)

    def _outcome(
        self,
        node: Node,
        memo: OutcomeMemo,
        supplier: SuppliedShapes,
        found: Mapping[str, Facts],
        graphs: Mapping[str, Graph],
        frame: Frame,
    ) -> NodeOutcome:
        """Return the outcome of a node, from the outputs of its subgraphs by their attributes."""
        assert memo.operator is not None
        inputs, schema = supplier.facts, memo.operator.schema
        is_if_of_shapes = schema.name == "If" and schema.since_version >= _IF_OF_SHAPES
        typed = memo.typed(inputs)
        _, problems, _ = memo.shapes(inputs, typed)
        outputs, has_mismatches = self._output_types(node, supplier.subgraphs, found, graphs, frame)
        is_right = all(map(is_warning, problems)) and not has_mismatches
        if memo.operator.binds and is_right and not typed.problems:
            problems = (*problems, *supplier.problems(found))
            is_right = all(map(is_warning, problems))
            may_differ = is_if_of_shapes or schema.name != "If"
            self._note_shapes(node, supplier, found, graphs, frame, may_differ=may_differ)
        outcome: TypeOutcome = memo.operator.with_graph_outputs(typed, outputs)
        returned = found
        if schema.name == "Loop" and "body" in graphs and supplier.never_runs():
            # Only what the body declares is known of a value that no run computes: ONNX Runtime returns the shape [0].
            returned = {"body": tuple(facts_of_types(graphs["body"].value_infos["output"].types))}
        made = _shaped(outcome.outputs, supplier.outputs(returned) if is_right else ())
        branches: tuple[Facts, Facts] | tuple[()] = ()
        if is_right:
            made = _with_contents(made, supplier, schema.name, found)
            # With a known condition only one branch runs; a node without inputs is another finding.
            is_open = memo.operator.binds and all(each.content is None for each in inputs[:1])
            branches = supplier.branches(found) if is_if_of_shapes and is_open else ()
        return NodeOutcome(made, outcome.problems, problems, branches=branches)

    def _note_shapes(
        self,
        node: Node,
        supplier: SuppliedShapes,
        found: Mapping[str, Facts],
        graphs: Mapping[str, Graph],
        frame: Frame,
        *,
        may_differ: bool,
    ) -> None:
        """Note states and pieces that change their shape, and branches that differ, unless these `may_differ`."""
        for index, shapes in supplier.changed_states(found):
            self._found.note_state(node, graphs["body"], index, shapes, frame.call)
        for index, run, shapes in supplier.changing:
            self._found.note_piece(node, graphs["body"], index, run, shapes, frame.call)
        if not may_differ:
            for index in supplier.differing(found):
                self._found.note_branches(node, graphs, found, index, frame.call)

    def _output_types(
        self, node: Node, subgraphs: Subgraphs, found: Mapping[str, Facts], graphs: Mapping[str, Graph], frame: Frame
    ) -> tuple[Types, bool]:
        """Return the types of the outputs, and whether the subgraphs contradict each other or the node."""
        kinds = {name: tuple([each.kind for each in facts]) for name, facts in found.items()}
        outputs, mismatches = outputs_of(subgraphs, kinds)
        if any(True for name, graph in graphs.items() for _ in subgraphs.mismatched_inputs(name, graph)):
            # What a subgraph returns follows from its wrong input, which is the finding.
            self._faulty.add(node.graph, node.outputs)
            return (None,) * len(node.outputs), False
        for mismatch in mismatches:
            self._found.note_subgraph(node, graphs[mismatch.attribute], mismatch, frame.call)
        if mismatches:
            self._faulty.add(node.graph, node.outputs)
        return outputs, bool(mismatches)

    def _supplied(
        self, supplier: SuppliedShapes, attribute: str, graph: Graph, frame: Frame
    ) -> tuple[Fact | None, ...] | None:
        """Return the facts that the operator supplies to the inputs of a subgraph; None if it supplies none."""
        node = supplier.subgraphs.node
        kinds = supplier.subgraphs.supplied(attribute, graph)
        for mismatch in supplier.subgraphs.mismatched_inputs(attribute, graph):
            self._found.note_subgraph(node, graph, mismatch, frame.call)
        if kinds is None:
            return None
        if supplier.failing:
            return supplier.failing
        supplied = supplier.supplied_facts(kinds)
        # Consumers ignore the declared shapes of carried values, which may change.
        stated = supplied[:LOOP_HEAD] if node.op_type == "Loop" else supplied
        self._found.note_supplied_shapes(node, graph, stated, frame.call)
        return supplied


_WITH_ELEMENTS: Final = 2
"""The trials, besides, in which the elements of carried values are known: those that a run changes are dropped."""

_MAX_RUN_NODES: Final = 128
"""The most nodes in all runs of a Loop that is followed run by run."""

_MAX_TRIALS: Final = 4
"""The most trials of the body of a Loop. Each that is not the last makes a dimension of a carried value unknown."""

_IF_OF_SHAPES: Final = 11
"""The first version of If whose branches may produce different shapes."""


def _shaped(kinds: Types, shapes: Sequence[OutputShape]) -> Facts:
    """Return outputs of these types and shapes; without a shape of its own, only the type of an output is known."""
    all_shapes = [*shapes, *[None] * (len(kinds) - len(shapes))]
    return tuple([as_fact(kind, shape) for kind, shape in zip(kinds, all_shapes, strict=False)])


def _with_contents(made: Facts, supplier: SuppliedShapes, op_type: str, found: Mapping[str, Facts]) -> Facts:
    """Return the outputs of a node with the elements that its subgraphs produce."""
    if op_type not in ("If", "Loop", "Scan"):
        return made
    contents = [*supplier.contents(found), *[None] * len(made)]
    return tuple([with_content(each, content) for each, content in zip(made, contents, strict=False)])


def _differ_by_run(supplier: SuppliedShapes, first: Facts, body: Graph) -> bool:
    """Return whether the known runs of a Loop differ: in elements or shapes of carried values, or by their number."""
    if any(each.content for each in first) and [each.content for each in first] != list(supplier.kept):
        return True
    if tuple(map(shape_in, first)) != supplier.carried:
        return True
    number = body.input_names[0] if body.input_names else ""
    return any(number in node.inputs for node in body.nodes)


def _idle_branch(inputs: Facts) -> str | None:
    """Return the branch of an If that never runs; None if the condition is unknown."""
    condition = inputs[0].content if inputs else None
    if condition == (0,):
        return "then_branch"
    return "else_branch" if condition == (1,) else None
