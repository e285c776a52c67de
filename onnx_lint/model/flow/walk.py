# SPDX-License-Identifier: Apache-2.0
"""Follows types and shapes from inputs, initializers and attributes through every node, subgraph and function body.

Each walk over a graph is a generator. It yields the walks that it needs the output types of, and `_run` keeps the pile
of them, so that functions may call one another as deep as a file has it without any deep recursion here.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from onnx_lint import schema
from onnx_lint.cached import Memory, cached_property
from onnx_lint.model.columns.nodes import NodeForm
from onnx_lint.model.flow.call_memory import CallMemory, GivenAttributes
from onnx_lint.model.flow.cell import Cell, Outcome, as_fact
from onnx_lint.model.flow.declared import declared_inputs, declared_values, initializer_facts
from onnx_lint.model.flow.faulty_values import FaultyValues
from onnx_lint.model.flow.joining import joined
from onnx_lint.model.flow.knowledge import nested_by_position
from onnx_lint.model.flow.value_flow import ValueFlow
from onnx_lint.model.flow.walks import Call, arguments_for
from onnx_lint.model.graph import Function, Graph, Node
from onnx_lint.model.operators.control_flow import ControlFlow
from onnx_lint.model.operators.imports import Imports
from onnx_lint.model.operators.operators import Operators, Scope
from onnx_lint.model.shapes.attribute_values import Protos
from onnx_lint.model.shapes.fact import ABSENT, UNKNOWN, Fact, Facts, fact
from onnx_lint.model.shapes.stated import Outside
from onnx_lint.model.types.argument import UNKNOWN as UNKNOWN_ARGUMENT
from onnx_lint.model.types.argument import Arguments, Bindings, argument_of, read_arguments
from onnx_lint.model.types.distinct_types import TypeIndex
from onnx_lint.model.types.problem import DisallowedOutput
from onnx_lint.model.types.typed_operator import TypedOperator, TypeOutcome, typed_operator
from onnx_lint.record import Record
from onnx_lint.spec.releases import newest_opset_version

if TYPE_CHECKING:
    from onnx_lint.model.flow.function_declarations import FunctionDeclarations
    from onnx_lint.model.flow.subgraph_shapes import SuppliedShapes

Known = dict[str, Fact]
Walk = Generator["Walk", Facts, Facts]

TypedOperators = dict[NodeForm, TypedOperator | None]
"""What nodes stand for under one set of imports; None for what has no signature."""

Cells = dict[NodeForm, Cell]


class _Frame(Record):
    """What holds for all nodes of a function body, or of the graphs outside of functions."""

    operators: TypedOperators
    cells: Cells
    bindings: Bindings | None = None
    """The attributes of the call as far as types depend on them."""
    bound: Protos | None = None
    """The attributes of the call."""
    call: Call | None = None


class Ground(Record):
    """What is walked over: the graphs to begin with, and what is known of operators and declared types."""

    main: Graph | None
    training: Sequence[Graph]
    functions: Sequence[Function]
    operators: Operators
    imports: Imports
    types: TypeIndex
    control_flow: ControlFlow
    outside: Outside
    """Reads the values of a small tensor with external data."""


def follow_values(ground: Ground, *, keeps_all: bool = False) -> ValueFlow:
    """Follow types and shapes through the whole model.

    The main graph goes first, with the functions that it calls, then the training graphs, and functions that nothing
    calls, whose arguments are unknown. `keeps_all`: whether to keep what every call brings to the values of a function
    body; else that of its first call is kept.
    """
    flow = _Flow(ground, keeps_all=keeps_all)
    if ground.main is not None:
        known: Known = {"": ABSENT}
        _run(flow.walk(ground.main, flow.top, known, None))
        for graph in ground.training:
            # The algorithm sees the values of the inference graph, the initialization stands alone.
            _run(flow.walk_nested(graph, flow.top, {"": ABSENT} if graph.parent is None else known, None))
        flow.found.facts = known
        for function in ground.functions:
            if not flow.was_entered(function):
                _run(flow.uncalled(function))
        if ground.functions:
            flow.function_declarations.note(flow.found)
    found = flow.found
    vars(flow).clear()  # what it asks refers to it, and would wait for the garbage collector
    return found


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


class _Flow:
    """The state of one pass over a model."""

    def __init__(self, ground: Ground, *, keeps_all: bool) -> None:
        self.ground = ground
        self.found = ValueFlow(ground.operators, keeps_all=keeps_all)
        self.top = _Frame({}, {})
        self._frames: dict[int, tuple[TypedOperators, Cells]] = {}
        """What functions share that import the same versions; cells where they have no attribute parameters too."""
        self._calls = CallMemory(self._operator_of)
        self._faulty = FaultyValues()
        self._called = {function.name for function in ground.functions}
        self._joined: dict[tuple[Fact, Fact], Fact] = {}
        """What is known of values whose declaration does not contradict what their node gives."""

    @cached_property
    def function_declarations(self) -> FunctionDeclarations:
        """What is held against the declarations in functions."""
        from onnx_lint.model.flow.function_declarations import FunctionDeclarations  # late: few models have functions

        return FunctionDeclarations(self.ground.types, self._faulty)

    # --- graphs

    def walk(self, graph: Graph, frame: _Frame, known: Known, supplied: tuple[Fact | None, ...] | None) -> Walk:
        """Follow the values of a graph and return what is known of its outputs.

        `known` holds what is known of the values that the graph sees and takes in that of its own. `supplied` are the
        inputs of a subgraph as far as the operator gives them.
        """
        declared = {} if graph.is_function else self._enter(graph, frame, known, supplied)
        nested = nested_by_position(graph) if graph.nested else {}
        cells, get, declares, joins = frame.cells, known.get, declared.get, self._joined.get
        outputs_of = graph.table.outputs
        discords: dict[str, Fact] = {}
        impossible: dict[str, Cell] = {}
        self._faulty.begin(graph)
        if graph.parent is not None:
            # What is declared here of a value from outside has to agree as well.
            for name, outer in declared.items():
                if name not in graph.positions and name in known:
                    self._join(name, known[name], outer, discords)
        for index, (form, inputs_of) in enumerate(zip(graph.table.forms, graph.table.inputs, strict=True)):
            cell = cells.get(form) or self._cell(graph, form, frame)
            inputs = tuple(map(get, inputs_of))
            outcome = cell.outcomes.get(inputs)
            if outcome is None:
                if cell.operator is None or cell.operator.by_subgraphs:
                    facts = tuple([UNKNOWN if each is None else each for each in inputs])
                    node = graph.nodes[index]
                    outcome = yield from self._special(node, cell, facts, frame, known, nested.get(index, ()))
                else:
                    outcome = cell.outcome(inputs)
            for name, made in zip(outputs_of[index], outcome.outputs, strict=False):
                stated = declares(name)
                if stated is None or stated is made:
                    known[name] = made
                elif made.kind is None and not _may_be(stated, graph, index, name, cell):
                    known[name] = made
                    if self._is_told(graph, index, name, outcome, known):
                        impossible[name] = cell
                else:
                    known[name] = joins((made, stated)) or self._join(name, made, stated, discords)
            if "" in outputs_of[index]:
                known[""] = ABSENT
            if outcome.problems or outcome.shape_problems:
                self._report(graph.nodes[index], inputs, outcome, frame, known)
        differing = self._compare(graph, declared, discords, frame) if discords else set()
        if impossible:
            self._note_impossible(graph, declared, impossible, frame)
        self.found.note_graph(graph, known, frame.cells, frame.call)
        # What is declared as another type is reported so, and a subgraph hands it on as unknown.
        return tuple([UNKNOWN if name in differing else get(name, UNKNOWN) for name in graph.output_names])

    def _enter(
        self, graph: Graph, frame: _Frame, known: Known, supplied: tuple[Fact | None, ...] | None
    ) -> Mapping[str, Fact]:
        """Take in what is known of inputs and initializers; return what is declared of the other values."""
        inputs = declared_inputs(graph, supplied)
        known.update(inputs)
        if graph.proto.initializer or graph.proto.sparse_initializer:
            for name, made in initializer_facts(graph, self._read_as_numbers(graph, frame), self.ground.outside):
                known[name] = _default_value(inputs[name], made) if name in inputs else made
        return declared_values(self.ground.types, graph)

    def _read_as_numbers(self, graph: Graph, frame: _Frame) -> frozenset[str]:
        """The names of the values whose floating-point elements decide shapes: scales of Resize, bounds of Range."""
        wanted: dict[NodeForm, frozenset[int]] = {}
        for form in graph.form_counts:
            cell = frame.cells.get(form) or self._cell(graph, form, frame)
            if cell.number_operands:
                wanted[form] = cell.number_operands
        if not wanted:
            return frozenset()
        rows = zip(graph.table.forms, graph.table.inputs, strict=True)
        return frozenset(
            names[index] for form, names in rows if form in wanted for index in wanted[form] if index < len(names)
        )

    def _join(self, name: str, made: Fact, stated: Fact, discords: dict[str, Fact]) -> Fact:
        both, discord = joined(made, stated)
        if discord:
            discords[name] = made
        else:
            if len(self._joined) >= _MOST_JOINED:
                self._joined.clear()
            self._joined[made, stated] = both
        return both

    def _compare(
        self, graph: Graph, declared: Mapping[str, Fact], discords: Mapping[str, Fact], frame: _Frame
    ) -> set[str]:
        """Note the values that are declared otherwise than their node makes them; return those of another type."""
        noted: set[str] = set()
        differing: set[str] = set()
        for field, names in (("output", graph.output_names), ("value_info", graph.value_info_names)):
            for index, name in enumerate(names):
                if name not in discords or name in noted:
                    continue
                noted.add(name)
                made, stated = discords[name], declared[name]
                if made.kind and stated.kind and made.kind != stated.kind:
                    differing.add(name)
                    self.found.note_declaration(graph, field, index, stated.kind, made.kind, frame.call)
                else:
                    self.found.note_declared_shape(graph, field, index, stated, made, frame.call)
        return differing

    def _is_told(self, graph: Graph, index: int, name: str, outcome: Outcome, known: Known) -> bool:
        """Whether a value that is declared as what its operator never gives is told: unless it follows from a fault."""
        if outcome.problems or self._faulty.are_behind(graph, index, known):
            return False
        self._faulty.add(graph, [name])
        # What is defined twice has a finding of its own.
        return graph.positions.get(name) == index

    def _note_impossible(
        self, graph: Graph, declared: Mapping[str, Fact], impossible: dict[str, Cell], frame: _Frame
    ) -> None:
        """Note the values that are declared as what their operator never gives, each once."""
        for field, names in (("output", graph.output_names), ("value_info", graph.value_info_names)):
            for index, name in enumerate(names):
                cell = impossible.pop(name, None)
                if cell is not None and cell.operator is not None:
                    stated = declared[name].kind or ""
                    self.found.note_impossible(graph, field, index, stated, cell.operator.schema, frame.call)

    def _report(
        self, node: Node, inputs: tuple[Fact | None, ...], outcome: Outcome, frame: _Frame, known: Known
    ) -> None:
        operator = frame.cells[node.form].operator
        assert operator is not None
        facts = tuple([each or UNKNOWN for each in inputs])
        if outcome.problems:
            self._faulty.add(node.graph, node.outputs)
        for problem in outcome.problems:
            # An output that the node leaves out is of no type.
            if not isinstance(problem, DisallowedOutput) or any(node.outputs[problem.index : problem.index + 1]):
                self.found.note_operand(node, operator.schema, problem, facts, frame.call)
        for shape_problem in outcome.shape_problems:
            self.found.note_shapes(node, operator.schema, shape_problem, facts, frame.call)
        # What is declared does not take the place of what cannot be told: one fault, one finding.
        known.update({name: made for name, made in zip(node.outputs, outcome.outputs, strict=False) if name})

    # --- operators

    def _cell(self, graph: Graph, form: NodeForm, frame: _Frame) -> Cell:
        is_shared = form.is_shared and form.op_type not in self._called
        is_shared = is_shared and (frame.bindings is None or not form.attributes)
        key = self.ground.operators.scope(graph), form
        cell = _cells.get(key) if is_shared else None
        if cell is None:
            operator = self._operator(graph, form, frame.operators)
            cell = Cell(None, (), form, None) if operator is None else _made_cell(operator, form, frame)
            if is_shared and operator is not None:
                _cells.keep(key, cell)
        frame.cells[form] = cell
        return cell

    def _operator(self, graph: Graph, form: NodeForm, operators: TypedOperators) -> TypedOperator | None:
        if form in operators:
            return operators[form]
        operator = self.ground.operators.operator_in(graph, form)
        typed = None
        if operator.schema is not None and operator.opset_version is not None:
            newest = newest_opset_version(operator.domain)
            # A deprecated operator is no part of the operator set, and what later operator sets say is not known.
            binds = not operator.schema.deprecated and (newest is None or operator.opset_version <= newest)
            typed = typed_operator(operator.schema, binds=binds)
        operators[form] = typed
        return typed

    def _special(
        self, node: Node, cell: Cell, inputs: Facts, frame: _Frame, known: Known, nested: Sequence[Graph]
    ) -> Generator[Walk, Facts, Outcome]:
        """A node with subgraphs, a call, or a node that nothing is known of."""
        if cell.operator is not None:
            return (yield from self._control_flow(node, cell, inputs, frame, known, nested))
        for graph in nested:
            yield self.walk_nested(graph, frame, known, None)
        function = self.ground.operators.operator(node).function if node.op_type in self._called else None
        outputs = () if function is None else (yield from self._call(function, node, inputs, frame))
        # An unknown operator leaves room for what is declared.
        return Outcome(outputs + (UNKNOWN,) * (len(node.outputs) - len(outputs)))

    def _control_flow(
        self, node: Node, cell: Cell, inputs: Facts, frame: _Frame, known: Known, nested: Sequence[Graph]
    ) -> Generator[Walk, Facts, Outcome]:
        from onnx_lint.model.flow.subgraph_shapes import SuppliedShapes, scan_axes
        from onnx_lint.model.types.subgraph_types import Subgraphs, outputs_of

        assert cell.operator is not None
        typed = cell.typed(inputs)
        _, problems = cell.shapes(inputs, typed)
        kinds = tuple([each.kind for each in inputs])
        subgraphs = Subgraphs(self.ground.control_flow, node, kinds, cell.arguments)
        supplier = SuppliedShapes(
            subgraphs, inputs, scan_axes(cell.operands(inputs), subgraphs) if not problems else None
        )
        found: dict[str, Facts] = {}
        graphs: dict[str, Graph] = {}
        for graph in nested:
            name = _attribute_name(node, graph)
            supplied = self._supplied(supplier, name, graph, frame)
            found[name] = yield self.walk_nested(graph, frame, known, supplied)
            graphs[name] = graph
        outputs, mismatches = outputs_of(
            subgraphs, {name: tuple([each.kind for each in facts]) for name, facts in found.items()}
        )
        for mismatch in mismatches:
            self.found.note_subgraph(node, graphs[mismatch.attribute], mismatch, frame.call)
        if mismatches:
            self._faulty.add(node.graph, node.outputs)
        if cell.operator.binds and not (typed.problems or problems or mismatches):
            problems = supplier.problems(found)
            if cell.operator.schema.name == "If" and cell.operator.schema.since_version < _IF_OF_SHAPES:
                for index in supplier.differing(found):
                    self.found.note_branches(node, graphs, found, index, frame.call)
        outcome: TypeOutcome = cell.operator.handed_on(typed, outputs)
        handed_on = supplier.outputs(found) if not (problems or mismatches) else ()
        shaped = [*handed_on, *[None] * (len(outcome.outputs) - len(handed_on))]
        made = tuple([as_fact(kind, shape) for kind, shape in zip(outcome.outputs, shaped, strict=False)])
        return Outcome(made, outcome.problems, problems)

    def _supplied(
        self, supplier: SuppliedShapes, attribute: str, graph: Graph, frame: _Frame
    ) -> tuple[Fact | None, ...] | None:
        """What the operator gives to the inputs of the subgraph in an attribute; None where it gives none."""
        node = supplier.subgraphs.node
        kinds = supplier.subgraphs.supplied(attribute, graph)
        for mismatch in supplier.subgraphs.mismatched_inputs(attribute, graph, kinds):
            self.found.note_subgraph(node, graph, mismatch, frame.call)
        if kinds is None:
            return None
        shapes = [*supplier.supplied(), *[None] * len(kinds)]
        supplied = tuple([as_fact(kind, shape) for kind, shape in zip(kinds, shapes, strict=False)])
        self.found.note_supplied_shapes(node, graph, supplied, frame.call)
        return supplied

    def walk_nested(self, graph: Graph, frame: _Frame, known: Known, supplied: tuple[Fact | None, ...] | None) -> Walk:
        """Walk a nested graph, whose names are gone afterwards."""
        hidden = {name: known[name] for name in graph.positions if name in known}
        outputs = yield from self.walk(graph, frame, known, supplied)
        for name in graph.positions:
            known.pop(name, None)
        known.update(hidden)
        return outputs

    # --- functions

    def _call(self, function: Function, node: Node, inputs: Facts, frame: _Frame) -> Generator[Walk, Facts, Facts]:
        """The outputs of a call: those of the body, for these arguments, walked once."""
        attributes = node.attribute_protos
        arguments = read_arguments(attributes, self._calls.deciding(function), frame.bindings) if attributes else ()
        bound = _bound(attributes, frame.bound)
        given: GivenAttributes = tuple(
            [(name, None if proto is None else schema.serialized(proto)) for name, proto in bound.items()]
        )
        inputs = arguments_for(function, inputs)
        known = self._calls.outputs(function, inputs, given)
        if known is not None:
            return known
        typed = self._calls.typed_outputs(function, inputs, arguments)
        if not self._calls.may_enter(function, for_types=typed is None):
            self.function_declarations.doubt(function, types=typed is None)
            return typed or ()
        outputs = yield self._body(function, inputs, arguments, bound, Call(node, inputs, frame.call))
        self._calls.remember(function, inputs, given, arguments, outputs)
        return outputs

    def was_entered(self, function: Function) -> bool:
        """Whether the body has been walked."""
        return self._calls.was_entered(function)

    def uncalled(self, function: Function) -> Walk:
        """Walk the body of a function that no call has led to, with arguments of which nothing is known."""
        self._calls.may_enter(function, for_types=True)
        arguments = tuple((name, UNKNOWN_ARGUMENT) for name in function.attribute_names)
        bound = dict.fromkeys(function.attribute_names)
        inputs = (UNKNOWN,) * len(function.body.input_names)
        return (yield from self._body(function, inputs, arguments, bound, None))

    def _body(self, function: Function, inputs: Facts, arguments: Arguments, bound: Protos, call: Call | None) -> Walk:
        names = function.body.input_names
        known: Known = dict(zip(names, inputs, strict=False))
        known.update(dict.fromkeys(names[len(inputs) :], ABSENT))
        known[""] = ABSENT
        bindings = {default.name: argument_of(default) for default in function.attribute_defaults}
        bindings.update(arguments)
        protos = {default.name: default for default in function.attribute_defaults} | dict(bound)
        operators, cells = self._shared(function)
        self._calls.enter(function)
        frame = _Frame(operators, {} if bindings or protos else cells, bindings, protos, call)
        outputs = yield from self.walk(function.body, frame, known, None)
        self._calls.leave(function)
        self.function_declarations.hold(function, known, frame.cells, call)
        return outputs

    def _shared(self, function: Function) -> tuple[TypedOperators, Cells]:
        scope = self.ground.imports.number_of(function)
        if scope not in self._frames:
            self._frames[scope] = {}, {}
        return self._frames[scope]

    def _operator_of(self, graph: Graph, form: NodeForm) -> TypedOperator | None:
        function = graph.function
        operators = self.top.operators if function is None else self._shared(function)[0]
        return self._operator(graph, form, operators)


def _may_be(stated: Fact, graph: Graph, index: int, name: str, cell: Cell) -> bool:
    """Whether the operator of a node may give what is declared of an output, whatever its inputs."""
    return not stated.kind or cell.may_give(graph.node_outputs[index].index(name), stated.kind)


def _made_cell(operator: TypedOperator, form: NodeForm, frame: _Frame) -> Cell:
    arguments = read_arguments(form.attributes, operator.attributes, frame.bindings)
    if operator.attributes and any(operator.schema.lacks_attribute(attribute.name) for attribute in form.attributes):
        # It may be what the writer meant by one that is not there: one fault, one finding.
        given = {name for name, _ in arguments}
        arguments += tuple((name, UNKNOWN_ARGUMENT) for name in sorted(operator.attributes - given))
    return Cell(operator, arguments, form, frame.bound)


_cells: Final[Memory[tuple[Scope, NodeForm], Cell]] = Memory(2_000)
"""What is known of the nodes of a form where no call of a function decides it: a folder of models repeats a few."""


def _attribute_name(node: Node, graph: Graph) -> str:
    """The name of the attribute that holds the graph; empty for one of a list of graphs."""
    attribute = graph.place.parent
    if attribute is None or attribute.index is None or graph.place.field != "g":
        return ""
    proto: Any = node.attribute_protos[attribute.index]
    return str(proto.name)


def _default_value(stated: Fact, made: Fact) -> Fact:
    """What is known of an input with an initializer: another value may come in its place, of the input's shape.

    Where the two contradict each other, which has a finding of its own, nothing is known of the type.
    """
    if stated.kind and made.kind and stated.kind != made.kind:
        return UNKNOWN
    both, discord = joined(made, stated)
    if discord:
        return both
    return fact(both.kind, stated.shape if stated.shape is not None else made.shape, made.content)


def _bound(attributes: Sequence[Any], around: Protos | None) -> dict[str, Any]:
    """The attributes of a call, where it stands in a function those of the call of that in place of its parameters."""
    found: dict[str, Any] = {}
    for attribute in attributes:
        if not attribute.ref_attr_name:
            found[attribute.name] = attribute
        elif around is not None and attribute.ref_attr_name in around:
            found[attribute.name] = around[attribute.ref_attr_name]
    return found


_IF_OF_SHAPES: Final = 11
"""The version from which the branches of an If may hand on values of different shapes."""

_MOST_JOINED: Final = 50_000
"""So many pairs of facts are remembered; then they are forgotten, which costs time only."""
