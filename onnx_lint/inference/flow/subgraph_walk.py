# SPDX-License-Identifier: Apache-2.0
"""Walks over the subgraphs of If, Loop, Scan, SequenceMap and FlexAttention."""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from onnx_lint.inference.flow.conflict_recorder import ConflictRecorder
from onnx_lint.inference.flow.faulty_values import FaultyValues
from onnx_lint.inference.flow.frames import Frame, NestedGraph, Walk, WalkedNode
from onnx_lint.inference.flow.outcome_memo import NodeOutcome, as_fact
from onnx_lint.inference.flow.subgraphs.body_runs import BodyRuns, WalkSubgraph
from onnx_lint.inference.flow.subgraphs.branches import Branches
from onnx_lint.inference.flow.subgraphs.loop_body import LoopBody
from onnx_lint.inference.flow.subgraphs.pieces import with_content
from onnx_lint.inference.flow.subgraphs.scan_axes import scan_axes
from onnx_lint.inference.flow.subgraphs.scan_body import ScanBody
from onnx_lint.inference.flow.subgraphs.score_functions import ScoreFunctions, score_type
from onnx_lint.inference.flow.subgraphs.sequence_map_body import SequenceMapBody
from onnx_lint.inference.flow.subgraphs.subgraph_node import (
    RepeatedBody,
    SubgraphNode,
    WalkedSubgraph,
    WalkedSubgraphs,
)
from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.flow.walks import InputUse
from onnx_lint.inference.shapes.fact import Fact, Facts
from onnx_lint.inference.shapes.problem import is_warning
from onnx_lint.inference.types.subgraph_types import LOOP_HEAD, Subgraphs, Types, outputs_of
from onnx_lint.inference.types.type_string import ValueType
from onnx_lint.ir.operators.control_flow import ControlFlow


class SubgraphWalk:
    """The walks over the subgraphs of control-flow operators."""

    def __init__(
        self,
        control_flow: ControlFlow,
        recorder: ConflictRecorder,
        found: ValueFlow,
        faulty: FaultyValues,
        walk_subgraph: WalkSubgraph,
    ) -> None:
        self._control_flow = control_flow
        self._recorder = recorder
        self._reachability = found.reachability
        self._trials = found.trials
        self._faulty = faulty
        self._walk_subgraph = walk_subgraph

    def walk(self, walked: WalkedNode) -> Generator[Walk, Facts, NodeOutcome]:
        """Walk the subgraphs of a node with the facts that its operator supplies; return the outcome of the node."""
        if walked.node.op_type == "If":
            return (yield from self._walk_branches(walked))
        body = self._repeated_body(walked)
        if len(walked.subgraphs) == 1:
            body = yield from self._followed(body, walked.subgraphs[0])
        found = yield from self._walk_each(body, walked)
        return self._outcome(body, walked, found)

    def _walk_branches(self, walked: WalkedNode) -> Generator[Walk, Facts, NodeOutcome]:
        """Walk the branches of an If and return its outcome.

        Equal outputs of its branches decide it: such branches contradict neither each other nor the node
        (docs/performance.md: known-branches).
        """
        memo, inputs = walked.memo, walked.inputs
        assert memo.operator is not None
        branches = Branches(self._subgraphs(walked), inputs, memo.operator.schema.since_version)
        found = yield from self._walk_each(branches, walked)
        outputs = found["then_branch"].outputs if found.keys() == _BRANCHES else ()
        if len(outputs) != len(walked.node.outputs) or found["else_branch"].outputs != outputs:
            return self._outcome(branches, walked, found)
        known = memo.outcomes.get((inputs, outputs))
        return known or memo.keep((inputs, outputs), self._outcome(branches, walked, found))

    def walk_others(self, walked: WalkedNode) -> Generator[Walk, Facts, None]:
        """Walk the subgraphs of a node whose outputs do not follow from them: a FlexAttention supplies scores.

        The other operators are searches of ONNX Runtime. It is not documented what they supply.
        """
        scores = score_type(walked.memo.operands(walked.inputs))
        functions = None if scores is None else ScoreFunctions(self._subgraphs(walked, scores), walked.inputs)
        for each in walked.subgraphs:
            supplied = self._supplied(functions, each, walked.frame) if functions is not None else None
            self._reachability.uncertain_depth += 1
            outputs = yield self._walk_subgraph(each, supplied)
            self._reachability.uncertain_depth -= 1
            if functions is not None and not any(functions.types.mismatched_inputs(each.name, each.graph)):
                self._compare_scores(functions, each, outputs, walked.frame)

    def _compare_scores(self, functions: ScoreFunctions, nested: NestedGraph, outputs: Facts, frame: Frame) -> None:
        """Record the output of a subgraph of FlexAttention whose type is not that of the scores."""
        types = {nested.name: tuple([each.kind for each in outputs])}
        for mismatch in outputs_of(functions.types, types)[1]:
            self._recorder.record_subgraph_type(functions.node, nested.graph, mismatch, frame.call)

    # --- what the operator supplies

    def _subgraphs(self, walked: WalkedNode, scores: ValueType | None = None) -> Subgraphs:
        types = tuple([each.kind for each in walked.inputs])
        return Subgraphs(self._control_flow, walked.node, types, walked.memo.arguments, scores)

    def _repeated_body(self, walked: WalkedNode) -> RepeatedBody:
        """Return the body of a Loop, Scan or SequenceMap."""
        subgraphs, inputs = self._subgraphs(walked), walked.inputs
        if walked.node.op_type != "Scan":
            return (LoopBody if walked.node.op_type == "Loop" else SequenceMapBody)(subgraphs, inputs)
        scan = ScanBody(subgraphs, inputs)
        operands = walked.memo.operands(inputs)
        _, problems, _ = walked.memo.shapes(inputs, walked.memo.typed(inputs))
        if operands is None or not all(map(is_warning, problems)):
            return scan
        return ScanBody(subgraphs, inputs, axes=scan_axes(operands, scan.scanned))

    def _followed(self, body: RepeatedBody, nested: NestedGraph) -> Generator[Walk, Facts, RepeatedBody]:
        """Return the body with the facts that it gets in all of its runs."""
        types = body.types.supplied(nested.name, nested.graph)
        if types is None:
            return body
        return (yield from body.followed(BodyRuns(nested, types, self._trials, self._walk_subgraph)))

    def _supplied(self, node: SubgraphNode, nested: NestedGraph, frame: Frame) -> tuple[Fact | None, ...] | None:
        """Return the facts that the operator supplies to the inputs of a subgraph; None if it supplies none."""
        types = node.types.supplied(nested.name, nested.graph)
        if types is None:
            return None
        for mismatch in node.types.mismatched_inputs(nested.name, nested.graph):
            self._recorder.record_subgraph_type(node.node, nested.graph, mismatch, frame.call)
        if isinstance(node, RepeatedBody) and node.failing:
            return node.failing
        supplied = node.supplied_facts(types)
        # Consumers ignore the declared shapes of carried values, which may change.
        stated = supplied[:LOOP_HEAD] if isinstance(node, LoopBody) else supplied
        self._recorder.record_supplied_shapes(node.node, nested.graph, stated, frame.call)
        return supplied

    # --- the walk over each subgraph

    def _walk_each(self, node: SubgraphNode, walked: WalkedNode) -> Generator[Walk, Facts, WalkedSubgraphs]:
        """Walk the subgraphs of a node, and return each with its outputs."""
        found: dict[str, WalkedSubgraph] = {}
        needs = walked.frame.needs
        in_each: list[dict[str, InputUse]] = []
        before = needs.take() if needs is not None else {}
        for each in walked.subgraphs:
            outputs = yield from self._walk_one(node, each, walked.frame)
            found[each.name] = WalkedSubgraph(each.graph, outputs)
            if needs is not None and each.name != node.idle:
                in_each.append(needs.take())
        if needs is not None:
            needs.put(before, in_each)
        return found

    def _walk_one(self, node: SubgraphNode, nested: NestedGraph, frame: Frame) -> Generator[Walk, Facts, Facts]:
        """Walk a subgraph and return its outputs; meanwhile it is known whether the subgraph runs."""
        supplied = None if node.runs_one_of_several else self._supplied(node, nested, frame)
        is_idle = nested.name == node.idle
        is_sure = node.surely_runs and not is_idle
        self._reachability.record_nested(nested.graph, frame.call, is_sure=is_sure and not nested.number)
        # What both branches of an If need is needed, even if it is not known which of them runs.
        is_uncertain = is_idle or (frame.needs is not None and not node.runs_one_of_several and not is_sure)
        if is_idle:
            self._reachability.idle_parts.append(node.part)
        if is_uncertain:
            self._reachability.uncertain_depth += 1
        outputs = yield self._walk_subgraph(nested, supplied)
        if is_idle:
            self._reachability.idle_parts.pop()
        if is_uncertain:
            self._reachability.uncertain_depth -= 1
        return outputs

    # --- the outcome of the node

    def _outcome(self, node: SubgraphNode, walked: WalkedNode, found: WalkedSubgraphs) -> NodeOutcome:
        """Return the outcome of a node, from the outputs of its subgraphs."""
        memo, operator = walked.memo, walked.memo.operator
        assert operator is not None
        typed = memo.typed(walked.inputs)
        _, problems, _ = memo.shapes(walked.inputs, typed)
        types, has_mismatches = self._output_types(node, walked, found)
        is_right = all(map(is_warning, problems)) and not has_mismatches
        if operator.binds and is_right and not typed.problems:
            problems = (*problems, *node.problems(found))
            is_right = all(map(is_warning, problems))
            self._record_shapes(node, walked, found)
        outcome = operator.with_graph_outputs(typed, types)
        if not is_right:
            return NodeOutcome(_only_types(outcome.outputs), outcome.problems, problems)
        made = _output_facts(node, outcome.outputs, found)
        branches = node.possible_outputs(found) if operator.binds else ()
        return NodeOutcome(made, outcome.problems, problems, branches=branches)

    def _record_shapes(self, node: SubgraphNode, walked: WalkedNode, found: WalkedSubgraphs) -> None:
        """Record the outputs of subgraphs that must have one shape, and have several."""
        for conflict in node.shape_conflicts(found, walked.frame.call):
            self._recorder.record_subgraph_shape(conflict)

    def _output_types(self, node: SubgraphNode, walked: WalkedNode, found: WalkedSubgraphs) -> tuple[Types, bool]:
        """Return the types of the outputs, and whether the subgraphs contradict each other or the node."""
        holder = walked.node
        if any(any(node.types.mismatched_inputs(name, each.graph)) for name, each in found.items()):
            # What a subgraph returns follows from its wrong input, which is the finding.
            self._faulty.add(holder.graph, holder.outputs)
            return (None,) * len(holder.outputs), False
        types = {name: tuple([output.kind for output in each.outputs]) for name, each in found.items()}
        outputs, mismatches = outputs_of(node.types, types)
        for mismatch in mismatches:
            graph = found[mismatch.attribute].graph
            self._recorder.record_subgraph_type(holder, graph, mismatch, walked.frame.call)
        if mismatches:
            self._faulty.add(holder.graph, holder.outputs)
        return outputs, bool(mismatches)


_BRANCHES: Final = frozenset({"then_branch", "else_branch"})


def _only_types(types: Types) -> Facts:
    return tuple([as_fact(kind, None) for kind in types])


def _output_facts(node: SubgraphNode, types: Types, found: WalkedSubgraphs) -> Facts:
    """Return the facts of the outputs of a node, with the shapes and elements that its subgraphs produce."""
    shapes = [*node.output_shapes(found), *[None] * len(types)]
    contents = [*node.output_contents(found), *[None] * len(types)]
    facts = [as_fact(kind, shape) for kind, shape in zip(types, shapes, strict=False)]
    return tuple([with_content(each, content) for each, content in zip(facts, contents, strict=False)])
