# SPDX-License-Identifier: Apache-2.0
"""Walks over the subgraphs of If, Loop, Scan, SequenceMap and FlexAttention."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING

from onnx_lint.inference.flow.conflict_recorder import ConflictRecorder
from onnx_lint.inference.flow.faulty_values import FaultyValues
from onnx_lint.inference.flow.frames import Frame, NestedGraph, Walk, WalkedNode
from onnx_lint.inference.flow.outcome_memo import NodeOutcome, as_fact
from onnx_lint.inference.flow.subgraphs.branches import Branches
from onnx_lint.inference.flow.subgraphs.pieces import with_content
from onnx_lint.inference.flow.subgraphs.subgraph_node import (
    RepeatedBody,
    SubgraphNode,
    SubgraphOutputs,
    known_condition,
)
from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.flow.walks import InputUse
from onnx_lint.inference.shapes.fact import Fact, Facts
from onnx_lint.inference.shapes.problem import is_warning
from onnx_lint.inference.types.subgraph_types import Subgraphs, Types, outputs_of
from onnx_lint.inference.types.type_string import ValueType
from onnx_lint.ir.operators.control_flow import ControlFlow

if TYPE_CHECKING:
    from onnx_lint.inference.flow.subgraphs.body_runs import WalkSubgraph
    from onnx_lint.inference.flow.subgraphs.score_functions import ScoreFunctions


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
        types = self._subgraphs(walked)
        body = self._repeated_body(walked, types)
        if len(walked.subgraphs) == 1:
            body = yield from self._followed(body, walked.subgraphs[0])
        found = yield from self._walk_each(body)
        return self._outcome(body, types, found)

    def _walk_branches(self, walked: WalkedNode) -> Generator[Walk, Facts, NodeOutcome]:
        """Walk the branches of an If and return its outcome.

        Equal outputs of its branches decide it: such branches contradict neither each other nor the node
        (docs/performance.md: known-branches).
        """
        condition = known_condition(walked.inputs[0]) if walked.inputs else None
        branches = Branches(walked, condition)
        found = yield from self._walk_each(branches)
        outputs = found.get("then_branch", ())
        is_decided = len(outputs) == len(walked.node.outputs) and found.get("else_branch") == outputs
        known = walked.memo.outcomes.get((walked.inputs, outputs)) if is_decided else None
        if known is not None:
            return known
        outcome = self._outcome(branches, self._subgraphs(walked), found)
        return walked.memo.keep((walked.inputs, outputs), outcome) if is_decided else outcome

    def walk_others(self, walked: WalkedNode) -> Generator[Walk, Facts, None]:
        """Walk the subgraphs of a node whose outputs do not follow from them: a FlexAttention supplies scores.

        The other operators are searches of ONNX Runtime. It is not documented what they supply.
        """
        from onnx_lint.inference.flow.subgraphs.score_functions import ScoreFunctions, score_type

        scores = score_type(walked.memo.operands(walked.inputs))
        functions = None if scores is None else ScoreFunctions(walked, self._subgraphs(walked, scores))
        for each in walked.subgraphs:
            supplied = self._supplied(functions, each, walked.frame) if functions is not None else None
            outputs = yield self._reachability.uncertain_walk(self._walk_subgraph(each, supplied))
            if functions is not None and not any(functions.types.mismatched_inputs(each.name, each.graph)):
                self._compare_scores(functions, each, outputs, walked.frame)

    def _compare_scores(self, functions: ScoreFunctions, nested: NestedGraph, outputs: Facts, frame: Frame) -> None:
        """Record the output of a subgraph of FlexAttention whose type is not that of the scores."""
        types = {nested.name: tuple([each.kind for each in outputs])}
        _, mismatches = outputs_of(functions.types, types)
        for mismatch in mismatches:
            self._recorder.record_subgraph_type(functions.node, nested.graph, mismatch, frame.call)

    # --- what the operator supplies

    def _subgraphs(self, walked: WalkedNode, scores: ValueType | None = None) -> Subgraphs:
        types = tuple([each.kind for each in walked.inputs])
        return Subgraphs(self._control_flow, walked.node, types, walked.memo.arguments, scores)

    def _repeated_body(self, walked: WalkedNode, types: Subgraphs) -> RepeatedBody:
        """Return the body of a Loop, Scan or SequenceMap."""
        match walked.node.op_type:
            case "Loop":
                from onnx_lint.inference.flow.subgraphs.loop_body import LoopBody

                return LoopBody(walked, types)
            case "SequenceMap":
                from onnx_lint.inference.flow.subgraphs.sequence_map_body import SequenceMapBody

                return SequenceMapBody(walked, types)
        from onnx_lint.inference.flow.subgraphs.scan_axes import scan_axes
        from onnx_lint.inference.flow.subgraphs.scan_body import ScanBody

        scan = ScanBody(walked, types)
        operands = walked.memo.operands(walked.inputs)
        _, problems, _ = walked.memo.shapes(walked.inputs, walked.memo.typed(walked.inputs))
        if operands is None or not all(map(is_warning, problems)):
            return scan
        return ScanBody(walked, types, axes=scan_axes(operands, scan.scanned))

    def _followed(self, body: RepeatedBody, nested: NestedGraph) -> Generator[Walk, Facts, RepeatedBody]:
        """Return the body with the facts that it gets in all of its runs."""
        from onnx_lint.inference.flow.subgraphs.body_runs import BodyRuns

        types = body.types.supplied(nested.name, nested.graph)
        if types is None:
            return body
        return (yield from body.followed(BodyRuns(nested, types, self._trials, self._walk_subgraph)))

    def _supplied(
        self, node: RepeatedBody | ScoreFunctions, nested: NestedGraph, frame: Frame
    ) -> tuple[Fact | None, ...] | None:
        """Return the facts that the operator supplies to the inputs of a subgraph; None if it supplies none."""
        types = node.types.supplied(nested.name, nested.graph)
        if types is None:
            return None
        for mismatch in node.types.mismatched_inputs(nested.name, nested.graph):
            self._recorder.record_subgraph_type(node.node, nested.graph, mismatch, frame.call)
        if isinstance(node, RepeatedBody) and node.failing:
            return node.failing
        supplied = node.supplied_facts(types)
        kept = supplied[: node.kept_shapes]
        self._recorder.record_supplied_shapes(node.node, nested.graph, kept, frame.call)
        return supplied

    # --- the walk over each subgraph

    def _walk_each(self, node: SubgraphNode) -> Generator[Walk, Facts, dict[str, Facts]]:
        """Walk the subgraphs of an If, Loop, Scan or SequenceMap, and return their outputs."""
        found: dict[str, Facts] = {}
        frame, idle, surely_runs = node.walked.frame, node.idle, node.surely_runs
        body = node if isinstance(node, RepeatedBody) else None  # an If supplies nothing to its branches
        needs = frame.needs
        in_each: list[dict[str, InputUse]] = []
        before = needs.take() if needs is not None else {}
        # What both branches of an If need is needed, even if it is not known which of them runs.
        is_uncertain = needs is not None and body is not None and not surely_runs
        for each in node.walked.subgraphs:
            walk = self._walk_subgraph(each, self._supplied(body, each, frame) if body is not None else None)
            is_idle = each.name == idle
            is_sure = surely_runs and not is_idle and not each.is_passed_by_call
            self._reachability.record_nested(each.graph, frame.call, is_sure=is_sure)
            if is_idle:
                walk = self._reachability.idle_walk(walk, node.part)
            elif is_uncertain:
                walk = self._reachability.uncertain_walk(walk)
            found[each.name] = yield walk
            if needs is not None and not is_idle:
                in_each.append(needs.take())
        if needs is not None:
            needs.put(before, in_each)
        return found

    # --- the outcome of the node

    def _outcome(self, node: SubgraphNode, subgraphs: Subgraphs, found: SubgraphOutputs) -> NodeOutcome:
        """Return the outcome of a node, from the outputs of its subgraphs."""
        memo, operator, inputs = node.walked.memo, node.walked.memo.operator, node.facts
        assert operator is not None
        typed = memo.typed(inputs)
        _, problems, _ = memo.shapes(inputs, typed)
        types, has_mismatches = self._output_types(node.walked, subgraphs, found)
        is_right = all(map(is_warning, problems)) and not has_mismatches
        if operator.binds and is_right and not typed.problems:
            problems = (*problems, *node.problems(found))
            is_right = all(map(is_warning, problems))
            for conflict in node.shape_conflicts(found):
                self._recorder.record_subgraph_shape(conflict)
        outcome = operator.with_graph_outputs(typed, types)
        if not is_right:
            return NodeOutcome(_only_types(outcome.outputs), outcome.problems, problems)
        made = _output_facts(node, outcome.outputs, found)
        branches = node.possible_outputs(found) if operator.binds else ()
        return NodeOutcome(made, outcome.problems, problems, branches=branches)

    def _output_types(self, walked: WalkedNode, subgraphs: Subgraphs, found: SubgraphOutputs) -> tuple[Types, bool]:
        """Return the types of the outputs, and whether the subgraphs contradict each other or the node."""
        node = walked.node
        if any(any(subgraphs.mismatched_inputs(each.name, each.graph)) for each in walked.subgraphs):
            # What a subgraph returns follows from its wrong input, which is the finding.
            self._faulty.add(node.graph, node.outputs)
            return (None,) * len(node.outputs), False
        types = {attribute: tuple([each.kind for each in outputs]) for attribute, outputs in found.items()}
        outputs, mismatches = outputs_of(subgraphs, types)
        for mismatch in mismatches:
            graph = walked.subgraph(mismatch.attribute)
            self._recorder.record_subgraph_type(node, graph, mismatch, walked.frame.call)
        if mismatches:
            self._faulty.add(node.graph, node.outputs)
        return outputs, bool(mismatches)


def _only_types(types: Types) -> Facts:
    return tuple([as_fact(kind, None) for kind in types])


def _output_facts(node: SubgraphNode, types: Types, found: SubgraphOutputs) -> Facts:
    """Return the facts of the outputs of a node, with the shapes and elements that its subgraphs produce."""
    shapes = [*node.output_shapes(found), *[None] * len(types)]
    contents = [*node.output_contents(found), *[None] * len(types)]
    facts = [as_fact(kind, shape) for kind, shape in zip(types, shapes, strict=False)]
    return tuple([with_content(each, content) for each, content in zip(facts, contents, strict=False)])
