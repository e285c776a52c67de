# SPDX-License-Identifier: Apache-2.0
"""Infers types and shapes from inputs, initializers and attributes through every node, subgraph and function body.

Each walk over a graph is a generator. It yields the walks whose output types it needs, and `_run` keeps a stack of
them. So functions may call one another as deeply as a file says without deep recursion in Python.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint.common.cached import cached_property
from onnx_lint.common.deadline import check_deadline
from onnx_lint.inference.flow.conflict_recorder import ConflictRecorder
from onnx_lint.inference.flow.declarations import (
    Declarations,
    compare_counts,
    may_be,
    with_declared_rank,
    without_expressions,
)
from onnx_lint.inference.flow.declared_facts import (
    declared_inputs,
    declared_values,
    enforced_inputs,
    fact_of_input_with_default,
    initializer_facts,
)
from onnx_lint.inference.flow.faulty_values import FaultyValues
from onnx_lint.inference.flow.frames import (
    FlowInput,
    Frame,
    Frames,
    GraphWalk,
    Known,
    NestedGraph,
    NodeStep,
    Walk,
    WalkedNode,
)
from onnx_lint.inference.flow.joining import without_own_names
from onnx_lint.inference.flow.knowledge import have_known_shapes
from onnx_lint.inference.flow.outcome_memo import MAX_OUTCOMES, NodeOutcome, OutcomeMemo, WideFacts
from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.shapes.fact import ABSENT, UNKNOWN, Fact, Facts, fact, is_complete
from onnx_lint.inference.shapes.problem import is_warning
from onnx_lint.inference.types.problem import DisallowedOutput
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.crashes import crash_of
from onnx_lint.ir.graph import Graph, GraphKind, Node

if TYPE_CHECKING:
    from onnx_lint.inference.flow.function_walk import FunctionWalk
    from onnx_lint.inference.flow.subgraph_walk import SubgraphWalk


OF_OTHER_KINDS: Final = frozenset(
    {"ConcatFromSequence", "Optional", "OptionalGetElement", "OptionalHasElement", "SequenceAt", "SequenceConstruct"}
    | {"SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceLength", "SequenceMap", "SplitToSequence"}
    | {"CastMap", "DictVectorizer", "ZipMap"}
)
"""The operators that make or take sequences, maps and optionals."""

_FOLLOW: Final = "following the values"

_NODES_BETWEEN_LOOKS: Final = 64
"""How many nodes that no memo answers in one step lie between two looks at the time."""


def follow_values(flow_input: FlowInput, *, keeps_all: bool = False) -> ValueFlow:
    """Infer types and shapes in the whole model.

    The main graph comes first, with the functions that it calls, then the training graphs, and functions that are never
    called, whose arguments are unknown. `keeps_all`: whether to keep the values of a function body for every call, and
    all known elements; otherwise the values are kept for the first call, and only elements on which something depends.
    """
    flow = Flow(flow_input, keeps_all=keeps_all)
    if flow_input.main is not None:
        top = flow.frames.top
        known: Known = {"": ABSENT}
        _run(flow.walk(flow_input.main, top, known, None))
        for graph in flow_input.training:
            # The algorithm sees the values of the inference graph; the initialization is independent.
            _run(flow.walk_nested(graph, top, {"": ABSENT} if graph.parent is None else known, None))
        flow.found.facts = known
        for function in flow_input.functions:
            if not flow.functions.was_entered(function):
                with flow_input.crashes.at(_FOLLOW, function.place):
                    _run(flow.functions.uncalled(function))
        if flow_input.functions:
            with flow_input.crashes.at("comparing the declarations of functions with what follows"):
                flow.functions.declarations.record(flow.found, flow.recorder)
    found = flow.found
    flow.recorder.record_held_back()
    if flow_input.trusts_declarations and not keeps_all and not OF_OTHER_KINDS.isdisjoint(flow_input.operators.names):
        from onnx_lint.inference.flow.possible_types import record_possible_types

        with flow_input.crashes.at("looking for the possible types of values"):
            record_possible_types(found, flow.recorder, flow_input)
    vars(flow).clear()  # its parts refer to it, and would have to wait for the garbage collector
    return found


def _run(walk: Walk) -> Facts:
    stack = [walk]
    result: Facts | None = None
    while True:
        try:
            # The first step of a generator requires None, which is not a valid value for later steps.
            stack.append(next(stack[-1]) if result is None else stack[-1].send(result))
            result = None
        except StopIteration as stop:
            stack.pop()
            result = stop.value
            if not stack:
                return stop.value  # type: ignore[no-any-return]  # StopIteration does not know the generator's type


def _is_bound_reshape(memo: OutcomeMemo) -> bool:
    """Return whether the operator of a node is the Reshape of ONNX, whose types fit."""
    operator = memo.operator
    return operator is not None and operator.binds and (operator.schema.domain, operator.schema.name) == ("", "Reshape")


def _comparable_declaration(here: GraphWalk, step: NodeStep, stated: Fact, made: Fact) -> Fact:
    """Return the declaration of an output without the names of dimensions that say nothing about the value there."""
    if step.outcome.branches:
        stated = without_expressions(stated)
    return stated if here.graph.parent is None else without_own_names(stated, made)


def _have_other_shapes(made: Fact, stated: Fact) -> bool:
    """Return whether the shape of a value is known and declared, but not the same."""
    return made.shape is not None and stated.shape is not None and made.shape != stated.shape


class Flow:
    """The state of one pass over a model."""

    def __init__(self, flow_input: FlowInput, *, keeps_all: bool) -> None:
        self.flow_input = flow_input
        self.crashes = flow_input.crashes
        self.found = ValueFlow(flow_input.operators, flow_input.crashes, keeps_all=keeps_all)
        self.recorder = ConflictRecorder(self.found, flow_input.operators.schemas)
        self.frames = Frames(flow_input, keeps_elements=keeps_all)
        self.faulty = FaultyValues()
        self._reachability = self.found.reachability
        self._trials = self.found.trials
        self._declarations = Declarations(self.recorder, self.faulty)
        self._wide = WideFacts()
        self._repeated: dict[tuple[OutcomeMemo, tuple[Fact | None, ...]], Fact] = {}
        """The outputs that are plain in this model, by inputs with all their elements.

        Memos have no such inputs, since they are kept for later models.
        """

    @cached_property
    def functions(self) -> FunctionWalk:
        """The walks over function bodies."""
        from onnx_lint.inference.flow.function_declarations import FunctionDeclarations
        from onnx_lint.inference.flow.function_walk import FunctionWalk

        return FunctionWalk(self, FunctionDeclarations(self.faulty))

    @cached_property
    def subgraphs(self) -> SubgraphWalk:
        """The walks over subgraphs of control-flow operators."""
        from onnx_lint.inference.flow.subgraph_walk import SubgraphWalk

        return SubgraphWalk(self.flow_input.control_flow, self.recorder, self.found, self.faulty, self.walk_subgraph)

    def walk(self, graph: Graph, frame: Frame, known: Known, supplied: tuple[Fact | None, ...] | None) -> Walk:
        """Infer the values of a graph and return the facts of its outputs.

        `known` has the facts of the values that the graph sees, and gets those of its own values. `supplied` are the
        inputs of a subgraph that the operator supplies. A bug that is not handled closer to its cause ends only the
        walk over this graph.
        """
        if self._trials.is_trial and not self._trials.has_budget:
            return (UNKNOWN,) * len(graph.output_names)
        try:
            return (yield from self._walk(graph, frame, known, supplied))
        except Exception as error:
            self.crashes.note(crash_of(error), _FOLLOW, graph.place)
        with self.crashes.at(_FOLLOW, graph.place):
            self.found.kept.keep(graph, frame, known, has_unknown=True)
        return (UNKNOWN,) * len(graph.output_names)

    def _walk(self, graph: Graph, frame: Frame, known: Known, supplied: tuple[Fact | None, ...] | None) -> Walk:
        check_deadline()
        if graph.is_function:
            declared = self._declared_if_uncalled(graph, frame)
        else:
            declared = self._enter(graph, frame, known, supplied)
        here = GraphWalk(graph, frame, known, declared)
        here.has_unknown = not have_known_shapes(graph.names_before_nodes, known)
        self.faulty.begin(graph)
        here.affected = self.faulty.begin_shapes(graph)
        self._compare_outer_values(here)
        memos, get, declares, affected, table = frame.memos, known.get, here.declared.get, here.affected, graph.table
        repeated = self._repeated
        order = self.flow_input.orders.get(id(graph))
        rows: Iterable[tuple[int, tuple[NodeForm, Sequence[str], Sequence[str]]]]
        rows = enumerate(zip(table.forms, table.inputs, table.outputs, strict=True))
        if order is not None:
            rows = map(list(rows).__getitem__, order)
        for index, (form, inputs_of, outputs) in rows:
            memo = memos.get(form) or self.frames.memo(graph, form, frame)
            # Many nodes have one input, for which no iterator is made.
            inputs = (get(inputs_of[0]),) if len(inputs_of) == 1 else tuple(map(get, inputs_of))
            plain = memo.plain.get(inputs) or repeated.get((memo, inputs))
            if plain is not None and not affected:  # docs/performance.md: plain-outcomes
                name = outputs[0]
                stated = declares(name)
                if stated is None or stated is plain:
                    known[name] = plain
                    continue
            outcome = memo.outcomes.get(inputs) or (yield from self._new_outcome(here, index, memo, inputs))
            self._take(here, index, memo, inputs, outcome)
        differing = self._compare_declarations(here)
        yield from self._walk_other_subgraphs(here)
        if frame.needs is not None and not self._reachability.uncertain_depth and not self._trials.is_trial:
            self.functions.record_uses(graph, frame, known)
        self.found.kept.keep(graph, frame, known, has_unknown=here.has_unknown, unequal=here.unequal)
        return here.results(differing)

    def _compare_outer_values(self, here: GraphWalk) -> None:
        """Compare the declarations of outer values with their facts; they must agree as well."""
        if here.graph.parent is None:
            return
        for name, outer in here.declared.items():
            if name not in here.graph.positions and name in here.known:
                self._declarations.join(name, here.known[name], outer, here.contradicted)

    def _new_outcome(
        self, here: GraphWalk, index: int, memo: OutcomeMemo, inputs: tuple[Fact | None, ...]
    ) -> Generator[Walk, Facts, NodeOutcome]:
        """Return the outcome of a node whose inputs have these facts for the first time."""
        if not memo.has_walks:
            return memo.outcome(inputs)
        facts = tuple([UNKNOWN if each is None else each for each in inputs])
        special = self._outcome_of_call if memo.operator is None else self._outcome_of_subgraphs
        outcome = yield from special(here, index, memo, facts)
        if outcome.branches and here.declared:
            outputs = here.graph.table.outputs[index]
            self._declarations.compare_branches(here.graph, here.declared, outputs, outcome, here.frame.call)
        return outcome

    def _take(
        self, here: GraphWalk, index: int, memo: OutcomeMemo, inputs: tuple[Fact | None, ...], outcome: NodeOutcome
    ) -> None:
        """Add the facts of the outputs of a node to those that are known, and record its problems."""
        if not index % _NODES_BETWEEN_LOOKS:
            check_deadline()
        graph, known, affected = here.graph, here.known, here.affected
        outputs = graph.table.outputs[index]
        if not affected and memo.is_clean(outcome):  # docs/performance.md: plain-outcomes
            stated, made = here.declared.get(outputs[0]), outcome.outputs[0]
            if (not made.wide_bytes or made in self._wide) and (stated is None or stated is made):
                known[outputs[0]] = made
                if made.shape is None:
                    here.has_unknown = True
                elif not memo.has_walks:
                    self._repeat(memo, inputs, made)
                return
        if self._wide.are_among(outcome.outputs):
            outcome = self._wide.bounded_outcome(memo, outcome)
        if affected and self._lacks_a_type(here, index, inputs, outcome):
            outcome = memo.without_types(outcome, inputs)
        self._take_outputs(here, index, memo, inputs, outcome)
        if not outcome.has_only_outputs:
            self._take_faults(here, NodeStep(index, memo, inputs, outcome))

    def _take_outputs(
        self, here: GraphWalk, index: int, memo: OutcomeMemo, inputs: tuple[Fact | None, ...], outcome: NodeOutcome
    ) -> None:
        """Add the facts of the outputs of a node to those that are known."""
        known, outputs = here.known, here.graph.table.outputs[index]
        is_affected = memo.has_faulty_attribute or (bool(here.affected) and self._is_affected(here, index))
        if len(outcome.outputs) < len(outputs):
            here.has_unknown = True
        for name, made in zip(outputs, outcome.outputs, strict=False):
            stated = here.declared.get(name)
            if stated is None or stated is made:
                known[name] = made
            else:
                known[name] = self._with_declaration(here, NodeStep(index, memo, inputs, outcome), name, stated, made)
            if is_affected and not is_complete(made):
                # After a fault declarations do not count: most exporters infer them from the faulty value.
                known[name] = fact(known[name].kind, made.shape, made.content, made.inside)
                here.affected.add(name)
            if known[name].shape is None:
                here.has_unknown = True
        if "" in outputs:
            known[""] = ABSENT

    def _repeat(self, memo: OutcomeMemo, inputs: tuple[Fact | None, ...], made: Fact) -> None:
        """Note what the next nodes with these inputs produce (docs/performance.md: repeated-inputs)."""
        if len(self._repeated) >= MAX_OUTCOMES:
            self._repeated.clear()
        self._repeated[memo, inputs] = made

    def _take_faults(self, here: GraphWalk, step: NodeStep) -> None:
        """Record the bug that an outcome met, the problems of the node's operands, and that dimensions are equated."""
        index, outcome = step.index, step.outcome
        if outcome.equated:
            here.unequal.append(index)
        if outcome.crash is not None:
            self.crashes.note(outcome.crash, "inferring types and shapes", here.graph.nodes[index])
        if outcome.problems or outcome.shape_problems:
            here.has_unknown = True
            if self._report(here, step):
                here.affected.update(filter(None, here.graph.table.outputs[index]))

    def _with_declaration(self, here: GraphWalk, step: NodeStep, name: str, stated: Fact, made: Fact) -> Fact:
        """Return the fact of an output: what the operator makes, joined with the declaration."""
        memo, index = step.memo, step.index
        if _have_other_shapes(made, stated):
            here.unequal.append(index)
        if made.kind is None and not may_be(stated, here.graph, index, name, memo):
            # `is_reported` looks the output up.
            here.known[name] = made
            if self._declarations.is_reported(here.graph, index, name, step.outcome, here.known):
                here.impossible[name] = memo
            return made
        stated = _comparable_declaration(here, step, stated, made)
        if memo.operator is not None and memo.operator.schema.name == "DictVectorizer":
            made = with_declared_rank(made, stated, here.graph.table.forms[index])
        quick = self._declarations.joined.get((made, stated))
        found = quick or self._declarations.join(name, made, stated, here.contradicted)
        if name in here.contradicted:
            here.affected.add(name)  # declarations of later values may follow from the wrong one
        elif _is_bound_reshape(memo) and step.inputs and not step.outcome.shape_problems:
            self._compare_counts(here, step, name, stated, made)
        return found

    def _compare_counts(self, here: GraphWalk, step: NodeStep, name: str, stated: Fact, made: Fact) -> None:
        """Compare the number of elements of a Reshape's output, as declared, with that of its input."""
        data = step.inputs[0] or UNKNOWN
        match compare_counts(data.shape, stated.shape, made.shape):
            case "other":
                self._declarations.record_count(here.graph, name, data, stated, here.frame.call)
            case "other by names":
                here.unequal.append(step.index)

    def _compare_declarations(self, here: GraphWalk) -> set[str]:
        """Record the declarations that contradict what was inferred; return the values of another type."""
        differing: set[str] = set()
        with self.crashes.at("comparing declarations with what follows", here.graph.place):
            if here.contradicted:
                differing = self._declarations.compare(here.graph, here.declared, here.contradicted, here.frame.call)
            if here.impossible:
                self._declarations.record_impossible(here.graph, here.declared, here.impossible, here.frame.call)
        return differing

    def _walk_other_subgraphs(self, here: GraphWalk) -> Generator[Walk, Facts, None]:
        """Walk the subgraphs of nodes whose operator does not run them."""
        forms = here.graph.table.forms
        for index, graphs in here.nested.items():
            holder = here.frame.memos[forms[index]] if index < len(forms) else None
            if holder is not None and holder.operator is not None and not holder.operator.by_subgraphs:
                node = here.graph.nodes[index]
                facts = tuple([here.known.get(name, UNKNOWN) for name in node.inputs])
                subgraphs = here.frame.subgraphs_of(node, graphs, here.known)
                with self.crashes.at("following the values through subgraphs", node):
                    yield from self.subgraphs.walk_others(WalkedNode(node, holder, facts, here.frame, subgraphs))
        for graph in here.nested.get(len(forms), ()):
            # The call gives another graph than the default of the parameter.
            yield from self._walk_alone(graph, here.frame, here.known)

    def _declared_if_uncalled(self, body: Graph, frame: Frame) -> Mapping[str, Fact]:
        """Return what the value_info of a function that is never called declares. Calls may have other facts."""
        is_used = frame.call is None and self.flow_input.trusts_declarations and body.value_info_names
        return declared_values(body) if is_used else {}

    def _enter(
        self, graph: Graph, frame: Frame, known: Known, supplied: tuple[Fact | None, ...] | None
    ) -> Mapping[str, Fact]:
        """Add the facts of inputs and initializers to `known`; return the declarations of the other values."""
        inputs: dict[str, Fact] = {}
        with self.crashes.at("reading the inputs", graph.place):
            inputs = (declared_inputs if self.flow_input.trusts_declarations else enforced_inputs)(graph, supplied)
        known.update(inputs)
        if graph.initializer_names or graph.sparse_initializer_names:
            with self.crashes.at("reading the initializers", graph.place):
                made = initializer_facts(graph, self.flow_input.outside, self.crashes, self._wide.bounded, self.frames)
                for name in self.flow_input.misfits.get(id(graph), ()):
                    made[name] = fact(made[name].kind, None)
                for name in inputs.keys() & made.keys():
                    made[name] = self._with_default(graph, inputs[name], made[name])
                known.update(made)
        with self.crashes.at("reading the declarations", graph.place):
            return declared_values(graph) if self.flow_input.trusts_declarations else {}
        return {}

    def _with_default(self, graph: Graph, stated: Fact, made: Fact) -> Fact:
        """Return the fact of an input with an initializer."""
        given = self.flow_input
        if not given.trusts_declarations:
            return stated
        found = fact_of_input_with_default(stated, made)
        is_open = given.has_open_defaults and graph.kind is GraphKind.MAIN
        # A condition that callers choose decides nothing.
        return found.bare if is_open and (not given.trusts_defaults or found.kind == "tensor(bool)") else found

    def _report(self, here: GraphWalk, step: NodeStep) -> bool:
        """Record the problems of a node; return whether its outputs are unknown because of them."""
        node, outcome, call = here.graph.nodes[step.index], step.outcome, here.frame.call
        operator = step.memo.operator
        assert operator is not None
        facts = tuple([each or UNKNOWN for each in step.inputs])
        with self.crashes.at("noting what is wrong with operands", node):
            if outcome.problems:
                self.faulty.add(node.graph, node.outputs)
            for problem in outcome.problems:
                # An omitted output has no type.
                if not isinstance(problem, DisallowedOutput) or any(node.outputs[problem.index : problem.index + 1]):
                    self.recorder.record_operand_types(node, operator.schema, problem, facts, call)
            for shape_problem in outcome.shape_problems:
                self.recorder.record_operand_shapes(node, operator.schema, shape_problem, facts, call)
        # A declaration does not replace an unknown output: one fault, one finding.
        is_fault = bool(outcome.problems) or not all(map(is_warning, outcome.shape_problems))
        if is_fault:
            made = zip(node.outputs, outcome.outputs, strict=False)
            here.known.update({name: each for name, each in made if name})
        return is_fault

    def _lacks_a_type(self, here: GraphWalk, index: int, inputs: tuple[Fact | None, ...], outcome: NodeOutcome) -> bool:
        """Return whether an input of a node has an unknown type that follows from a fault.

        False if the node has a type problem of its own.
        """
        is_unknown = any(each is None or each.kind is None for each in inputs)
        return not outcome.problems and is_unknown and self.faulty.are_affected(here.graph, index, here.known)

    def _is_affected(self, here: GraphWalk, index: int) -> bool:
        """Return whether a node has an input, or a subgraph with an output, whose shape is lost to a fault."""
        if not here.affected.isdisjoint(here.graph.node_inputs[index]):
            return True
        return self.faulty.reach_outputs(here.nested.get(index, ()))

    def _outcome_of_subgraphs(
        self, here: GraphWalk, index: int, memo: OutcomeMemo, inputs: Facts
    ) -> Generator[Walk, Facts, NodeOutcome]:
        """Return the outcome of a node whose operator runs its subgraphs."""
        node, nested = here.graph.nodes[index], here.nested.get(index, ())
        try:
            subgraphs = here.frame.subgraphs_of(node, nested, here.known)
            return (yield from self.subgraphs.walk(WalkedNode(node, memo, inputs, here.frame, subgraphs)))
        except Exception as error:
            self.crashes.note(crash_of(error), "following the values through subgraphs", node)
        for graph in nested:
            yield from self._walk_alone(graph, here.frame, here.known)
        return NodeOutcome((UNKNOWN,) * len(node.outputs))

    def _outcome_of_call(
        self, here: GraphWalk, index: int, memo: OutcomeMemo, inputs: Facts
    ) -> Generator[Walk, Facts, NodeOutcome]:
        """Return the outcome of a function call, or of a node of an unknown operator."""
        node, nested = here.graph.nodes[index], here.nested.get(index, ())
        outputs: Facts = ()
        try:
            function = self.flow_input.operators.operator(node).function if self.frames.may_call(node.op_type) else None
            if function is None or self._trials.is_trial:
                outputs = _without_signature(node, inputs)
            else:
                subgraphs = here.frame.subgraphs_of(node, nested, here.known)
                outputs = yield from self.functions.call(function, node, inputs, subgraphs, here.frame)
        except Exception as error:
            self.crashes.note(crash_of(error), "following the values through the function", node)
        for graph in nested:
            # Nothing runs it: an operator of another domain may, or a call was not followed.
            yield from self._walk_alone(graph, here.frame, here.known)
        # For an unknown operator declarations are used.
        return NodeOutcome(outputs[: len(node.outputs)] + (UNKNOWN,) * (len(node.outputs) - len(outputs)))

    def _walk_alone(self, graph: Graph, frame: Frame, known: Known) -> Generator[Walk, Facts, None]:
        """Walk a graph with unknown inputs, unless an operator has run it."""
        if graph not in self.found.walks:
            yield self._reachability.uncertain_walk(self.walk_nested(graph, frame, known, None))

    def walk_subgraph(self, nested: NestedGraph, supplied: tuple[Fact | None, ...] | None) -> Walk:
        """Walk a graph that an attribute of a node has, or that a call passes to it."""
        if nested.is_passed_by_call:
            return self._reachability.uncertain_walk(self.functions.walk_passed(nested, supplied))
        return self.walk_nested(nested.graph, nested.frame, nested.known, supplied)

    def walk_nested(self, graph: Graph, frame: Frame, known: Known, supplied: tuple[Fact | None, ...] | None) -> Walk:
        """Walk a nested graph, and remove its names afterwards."""
        names = graph.positions
        hidden = {} if known.keys().isdisjoint(names) else {name: known[name] for name in names if name in known}
        outputs = yield from self.walk(graph, frame, known, supplied)
        for name in names:
            known.pop(name, None)
        if hidden:
            known.update(hidden)
        return outputs


def _without_signature(node: Node, inputs: Facts) -> Facts:
    """Return the facts of the outputs of operators without a signature that ONNX Runtime writes into models.

    Its transformer tools put the first into the domain of ONNX, which lacks it, and its training tools add the second.
    The type may be that of the other input.
    """
    as_input = {"SimplifiedLayerNormalization": "", "Scale": "com.microsoft"}.get(node.op_type) == node.domain
    return (fact(None, inputs[0].shape),) if as_input and node.outputs and inputs else ()
