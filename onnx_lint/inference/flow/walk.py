# SPDX-License-Identifier: Apache-2.0
"""Follows types and shapes from inputs, initializers and attributes through every node, subgraph and function body.

Each walk over a graph is a generator. It yields the walks that it needs the output types of, and `_run` keeps the pile
of them, so that functions may call one another as deep as a file has it without any deep recursion here.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint.common.cached import cached_property
from onnx_lint.inference.flow.cell import Cell, Outcome
from onnx_lint.inference.flow.declarations import Declarations, may_be
from onnx_lint.inference.flow.declared import declared_inputs, declared_values, default_value, initializer_facts
from onnx_lint.inference.flow.faulty_values import FaultyValues
from onnx_lint.inference.flow.frames import Frame, Frames, Ground, Known, Walk
from onnx_lint.inference.flow.knowledge import have_known_shapes, nested_by_position
from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.shapes.fact import ABSENT, UNKNOWN, Fact, Facts, fact
from onnx_lint.inference.shapes.problem import is_remark
from onnx_lint.inference.types.problem import DisallowedOutput
from onnx_lint.ir.crashes import crash_of
from onnx_lint.ir.graph import Graph, Node

if TYPE_CHECKING:
    from onnx_lint.inference.flow.function_walk import FunctionWalk
    from onnx_lint.inference.flow.subgraph_walk import SubgraphWalk


def follow_values(ground: Ground, *, keeps_all: bool = False) -> ValueFlow:
    """Follow types and shapes through the whole model.

    The main graph goes first, with the functions that it calls, then the training graphs, and functions that nothing
    calls, whose arguments are unknown. `keeps_all`: whether to keep what every call brings to the values of a function
    body; else that of its first call is kept.
    """
    flow = Flow(ground, keeps_all=keeps_all)
    if ground.main is not None:
        top = flow.frames.top
        known: Known = {"": ABSENT}
        _run(flow.walk(ground.main, top, known, None))
        for graph in ground.training:
            # The algorithm sees the values of the inference graph, the initialization stands alone.
            _run(flow.walk_nested(graph, top, {"": ABSENT} if graph.parent is None else known, None))
        flow.found.facts = known
        for function in ground.functions:
            if not flow.functions.was_entered(function):
                with ground.crashes.at_place(_FOLLOW, function.place):
                    _run(flow.functions.uncalled(function))
        if ground.functions:
            with ground.crashes.during("comparing the declarations of functions with what follows"):
                flow.functions.declarations.note(flow.found)
    found = flow.found
    vars(flow).clear()  # what it asks refers to it, and would wait for the garbage collector
    return found


_FOLLOW: Final = "following the values"


def _run(walk: Walk) -> Facts:
    pile = [walk]
    handed: Facts | None = None
    while True:
        try:
            # The first step of a generator takes None, which the type of what is handed to later steps has no room for.
            pile.append(next(pile[-1]) if handed is None else pile[-1].send(handed))
            handed = None
        except StopIteration as stop:
            pile.pop()
            handed = stop.value
            if not pile:
                return stop.value  # type: ignore[no-any-return]  # StopIteration does not know the generator's type


class Flow:
    """The state of one pass over a model."""

    def __init__(self, ground: Ground, *, keeps_all: bool) -> None:
        self.ground = ground
        self.crashes = ground.crashes
        self.found = ValueFlow(ground.operators, keeps_all=keeps_all)
        self.frames = Frames(ground)
        self.faulty = FaultyValues()
        self._declarations = Declarations(self.found, self.faulty)

    @cached_property
    def functions(self) -> FunctionWalk:
        """The walks over function bodies."""
        from onnx_lint.inference.flow.function_declarations import FunctionDeclarations  # late: few models have any
        from onnx_lint.inference.flow.function_walk import FunctionWalk

        return FunctionWalk(self.frames, FunctionDeclarations(self.faulty), self.found, self.walk, self.crashes)

    @cached_property
    def subgraphs(self) -> SubgraphWalk:
        """The walks over subgraphs of control-flow operators."""
        from onnx_lint.inference.flow.subgraph_walk import SubgraphWalk  # late, as above

        return SubgraphWalk(self.ground.control_flow, self.found, self.faulty, self.walk_nested)

    def walk(self, graph: Graph, frame: Frame, known: Known, supplied: tuple[Fact | None, ...] | None) -> Walk:
        """Follow the values of a graph and return what is known of its outputs.

        `known` holds what is known of the values that the graph sees and takes in that of its own. `supplied` are the
        inputs of a subgraph as far as the operator gives them. A bug that no smaller boundary stops ends the walk over
        this graph alone.
        """
        try:
            return (yield from self._walk(graph, frame, known, supplied))
        except Exception as error:
            self.crashes.note_place(crash_of(error), _FOLLOW, graph.place)
        with self.crashes.at_place(_FOLLOW, graph.place):
            self.found.note_graph(graph, known, frame.cells, frame.call, has_unknown=True)
        return (UNKNOWN,) * len(graph.output_names)

    def _walk(self, graph: Graph, frame: Frame, known: Known, supplied: tuple[Fact | None, ...] | None) -> Walk:
        declared = {} if graph.is_function else self._enter(graph, frame, known, supplied)
        nested = nested_by_position(graph) if graph.nested else {}
        cells, get, declares, joins = frame.cells, known.get, declared.get, self._declarations.joined.get
        table = graph.table
        has_unknown = not have_known_shapes(graph.names_before_nodes, known)
        discords: dict[str, Fact] = {}
        impossible: dict[str, Cell] = {}
        self.faulty.begin(graph)
        if graph.parent is not None:
            # What is declared here of a value from outside has to agree as well.
            for name, outer in declared.items():
                if name not in graph.positions and name in known:
                    self._declarations.join(name, known[name], outer, discords)
        for index, (form, inputs_of, outputs) in enumerate(zip(table.forms, table.inputs, table.outputs, strict=True)):
            cell = cells.get(form) or self.frames.cell(graph, form, frame)
            inputs = tuple(map(get, inputs_of))
            plain = cell.plain.get(inputs)
            if plain is not None:
                name = outputs[0]
                stated = declares(name)
                if stated is None or stated is plain:
                    known[name] = plain
                    continue
            outcome = cell.outcomes.get(inputs)
            if outcome is None:
                if cell.operator is None or cell.operator.by_subgraphs:
                    facts = tuple([UNKNOWN if each is None else each for each in inputs])
                    node = graph.nodes[index]
                    outcome = yield from self._special(node, cell, facts, frame, known, nested.get(index, ()))
                    if outcome.branches and declared:
                        self._declarations.compare_branches(graph, declared, outputs, outcome, frame.call)
                else:
                    outcome = cell.outcome(inputs)
            has_unknown = has_unknown or len(outcome.outputs) < len(outputs)
            for name, made in zip(outputs, outcome.outputs, strict=False):
                stated = declares(name)
                if stated is None or stated is made:
                    known[name] = made
                elif made.kind is None and not may_be(stated, graph, index, name, cell):
                    known[name] = made
                    if self._declarations.is_told(graph, index, name, outcome, known):
                        impossible[name] = cell
                else:
                    known[name] = joins((made, stated)) or self._declarations.join(name, made, stated, discords)
                    if form.op_type == "Reshape" and name not in discords and inputs[0] is not None:
                        self._declarations.compare_counts(graph, name, cell, inputs[0], stated, known[name], frame.call)
                has_unknown = has_unknown or known[name].shape is None
            if "" in outputs:
                known[""] = ABSENT
            if outcome.crash is not None:
                self.crashes.note_node(outcome.crash, "inferring types and shapes", graph.nodes[index])
            if outcome.problems or outcome.shape_problems:
                has_unknown = True
                self._report(graph.nodes[index], inputs, outcome, frame, known)
        differing: set[str] = set()
        with self.crashes.at_place("comparing declarations with what follows", graph.place):
            if discords:
                differing = self._declarations.compare(graph, declared, discords, frame.call)
            if impossible:
                self._declarations.note_impossible(graph, declared, impossible, frame.call)
        for index, graphs in nested.items():
            operator = cells[table.forms[index]].operator if index < len(table.forms) else None
            # Others with graphs are searches of ONNX Runtime, of which nobody says what they supply.
            if operator is not None and not operator.by_subgraphs:
                for each in graphs:
                    yield self.walk_nested(each, frame, known, None)
        self.found.note_graph(graph, known, frame.cells, frame.call, has_unknown=has_unknown)
        # What is declared as another type is reported so, and a subgraph hands it on as unknown.
        return tuple([UNKNOWN if name in differing else get(name, UNKNOWN) for name in graph.output_names])

    def _enter(
        self, graph: Graph, frame: Frame, known: Known, supplied: tuple[Fact | None, ...] | None
    ) -> Mapping[str, Fact]:
        """Take in what is known of inputs and initializers; return what is declared of the other values."""
        inputs: dict[str, Fact] = {}
        with self.crashes.at_place("reading the inputs", graph.place):
            inputs = declared_inputs(graph, supplied)
        known.update(inputs)
        if graph.initializer_names or graph.sparse_initializer_names:
            with self.crashes.at_place("reading the initializers", graph.place):
                numbers = self.frames.read_as_numbers(graph, frame)
                made = initializer_facts(graph, numbers, self.ground.outside, self.crashes)
                for name in inputs.keys() & made.keys():
                    made[name] = default_value(inputs[name], made[name])
                known.update(made)
        with self.crashes.at_place("reading the declarations", graph.place):
            return declared_values(graph)
        return {}

    def _report(
        self, node: Node, inputs: tuple[Fact | None, ...], outcome: Outcome, frame: Frame, known: Known
    ) -> None:
        operator = frame.cells[node.form].operator
        assert operator is not None
        facts = tuple([each or UNKNOWN for each in inputs])
        with self.crashes.at_node("noting what is wrong with operands", node):
            if outcome.problems:
                self.faulty.add(node.graph, node.outputs)
            for problem in outcome.problems:
                # An output that the node leaves out is of no type.
                if not isinstance(problem, DisallowedOutput) or any(node.outputs[problem.index : problem.index + 1]):
                    self.found.note_operand(node, operator.schema, problem, facts, frame.call)
            for shape_problem in outcome.shape_problems:
                self.found.note_shapes(node, operator.schema, shape_problem, facts, frame.call)
        # What is declared does not take the place of what cannot be told: one fault, one finding.
        if outcome.problems or not all(map(is_remark, outcome.shape_problems)):
            known.update({name: made for name, made in zip(node.outputs, outcome.outputs, strict=False) if name})

    def _special(
        self, node: Node, cell: Cell, inputs: Facts, frame: Frame, known: Known, nested: Sequence[Graph]
    ) -> Generator[Walk, Facts, Outcome]:
        """A node with subgraphs, a call, or a node that nothing is known of."""
        if cell.operator is not None:
            try:
                return (yield from self.subgraphs.walk(node, cell, inputs, frame, known, nested))
            except Exception as error:
                self.crashes.note_node(crash_of(error), "following the values through subgraphs", node)
            for graph in nested:
                if graph not in self.found.walks:
                    yield self.walk_nested(graph, frame, known, None)
            return Outcome((UNKNOWN,) * len(node.outputs))
        for graph in nested:
            yield self.walk_nested(graph, frame, known, None)
        outputs: Facts = ()
        try:
            function = self.ground.operators.operator(node).function if self.frames.may_call(node.op_type) else None
            if function is None:
                outputs = _without_signature(node, inputs)
            else:
                outputs = yield from self.functions.call(function, node, inputs, frame)
        except Exception as error:
            self.crashes.note_node(crash_of(error), "following the values through the function", node)
        # An unknown operator leaves room for what is declared.
        return Outcome(outputs + (UNKNOWN,) * (len(node.outputs) - len(outputs)))

    def walk_nested(self, graph: Graph, frame: Frame, known: Known, supplied: tuple[Fact | None, ...] | None) -> Walk:
        """Walk a nested graph, whose names are gone afterwards."""
        names = graph.positions
        hidden = {} if known.keys().isdisjoint(names) else {name: known[name] for name in names if name in known}
        outputs = yield from self.walk(graph, frame, known, supplied)
        for name in names:
            known.pop(name, None)
        if hidden:
            known.update(hidden)
        return outputs


def _without_signature(node: Node, inputs: Facts) -> Facts:
    """What is known of the outputs of operators without a signature that ONNX Runtime writes into models.

    Its transformer tools put the first into the domain of ONNX, which lacks it, its training tools add the second. The
    type may be that of the other input.
    """
    as_input = {"SimplifiedLayerNormalization": "", "Scale": "com.microsoft"}.get(node.op_type) == node.domain
    return (fact(None, inputs[0].shape),) if as_input and node.outputs and inputs else ()
