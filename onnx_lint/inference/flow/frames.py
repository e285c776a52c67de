# SPDX-License-Identifier: Apache-2.0
"""What holds for all nodes that are walked over: what is walked, and what operators stand for in it."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.cell import Cell
from onnx_lint.inference.flow.walks import Call
from onnx_lint.inference.shapes.attribute_values import Protos
from onnx_lint.inference.shapes.fact import Fact, Facts
from onnx_lint.inference.shapes.stated import Outside
from onnx_lint.inference.types.argument import UNKNOWN as UNKNOWN_ARGUMENT
from onnx_lint.inference.types.argument import Bindings, read_arguments
from onnx_lint.inference.types.typed_operator import TypedOperator, typed_operator
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.crashes import Crashes, crash_of
from onnx_lint.ir.graph import Function, Graph
from onnx_lint.ir.operators.control_flow import ControlFlow
from onnx_lint.ir.operators.imports import Imports
from onnx_lint.ir.operators.operators import Operators, Scope
from onnx_lint.spec.releases import newest_opset_version

TypedOperators = dict[NodeForm, TypedOperator | None]
"""What nodes stand for under one set of imports; None for what has no signature."""

Cells = dict[NodeForm, Cell]

Known = dict[str, Fact]
"""What is known of the values that the nodes of a graph see."""

Walk = Generator["Walk", Facts, Facts]
"""A walk over a graph, see inference/flow/walk.py: it yields the walks that it needs, and returns the outputs."""


class Ground(Record):
    """What is walked over: the graphs to begin with, and what is known of operators."""

    main: Graph | None
    training: Sequence[Graph]
    functions: Sequence[Function]
    operators: Operators
    imports: Imports
    control_flow: ControlFlow
    outside: Outside
    """Reads the values of a small tensor with external data."""
    crashes: Crashes
    """Takes note of the bugs that are met."""


class Frame(Record):
    """What holds for all nodes of a function body, or of the graphs outside of functions."""

    scope: Scope
    """What is known from earlier models of nodes as they are there."""
    operators: TypedOperators
    cells: Cells
    kept: Cells
    """The cells of earlier models, of nodes as they are there where no call decides what they do."""
    bindings: Bindings | None = None
    """The attributes of the call as far as types depend on them."""
    bound: Protos | None = None
    """The attributes of the call."""
    call: Call | None = None


class Frames:
    """What the nodes of each form stand for, found when the first of them is met."""

    def __init__(self, ground: Ground) -> None:
        scope = ground.operators.scope(None)
        self.top = Frame(scope, {}, {}, _kept.of(scope))
        """That of the graphs outside of functions."""
        self._operators = ground.operators
        self._imports = ground.imports
        self._crashes = ground.crashes
        self._called = {function.name for function in ground.functions}
        self._of_functions: dict[int, tuple[TypedOperators, Cells]] = {}
        self._holders: dict[tuple[object, ...], Cell] = {}
        """The cells of nodes outside of functions that hold graphs and have no other attributes, by what they share."""

    def may_call(self, op_type: str) -> bool:
        """Whether a function has the name of an operator."""
        return op_type in self._called

    def scope(self, function: Function) -> Scope:
        """What is known from earlier models of nodes as they are in a function body."""
        return self._operators.scope(function)

    def kept(self, scope: Scope) -> Cells:
        """The cells of earlier models of nodes as they are there."""
        return _kept.of(scope)

    def of_function(self, function: Function) -> tuple[TypedOperators, Cells]:
        """What functions share that import the same versions; cells where they have no attribute parameters too."""
        scope = self._imports.number_of(function)
        if scope not in self._of_functions:
            self._of_functions[scope] = {}, {}
        return self._of_functions[scope]

    def cell(self, graph: Graph, form: NodeForm, frame: Frame) -> Cell:
        """The cell of a form that the frame has none of yet."""
        # What holds for calls of a function depends on their attributes.
        is_shared = form.is_shared and form.op_type not in self._called
        is_shared = is_shared and (frame.bindings is None or not form.attributes)
        key = _key_of_holder(form) if form.attribute_kinds and frame.bindings is None else None
        cell = self._holders.get(key) if key is not None else None
        if cell is None and is_shared:
            cell = frame.kept.get(form)
        if cell is None:
            cell = self._new_cell(graph, form, frame)
            if is_shared and cell.operator is not None:
                _kept.keep(frame.scope, form, cell)
        if key is not None:
            self._holders[key] = cell
        frame.cells[form] = cell
        return cell

    def _new_cell(self, graph: Graph, form: NodeForm, frame: Frame) -> Cell:
        try:
            operator = self._operator(graph, form, frame.operators)
            return _NOTHING_KNOWN if operator is None else _made_cell(operator, form, frame)
        except Exception as error:
            self._crashes.note_node(crash_of(error), "looking up the operator", graph.first_of(form))
            return _NOTHING_KNOWN

    def operator_of(self, graph: Graph, form: NodeForm) -> TypedOperator | None:
        """What the nodes of a form stand for in a graph; None for what has no signature."""
        function = graph.function
        operators = self.top.operators if function is None else self.of_function(function)[0]
        return self._operator(graph, form, operators)

    def _operator(self, graph: Graph, form: NodeForm, operators: TypedOperators) -> TypedOperator | None:
        if form in operators:
            return operators[form]
        operator = self._operators.operator_in(graph, form)
        typed = None
        if operator.schema is not None and operator.opset_version is not None:
            newest = newest_opset_version(operator.domain)
            # A deprecated operator is no part of the operator set, and what later operator sets say is not known.
            binds = not operator.schema.deprecated and (newest is None or operator.opset_version <= newest)
            typed = typed_operator(operator.schema, binds=binds)
        operators[form] = typed
        return typed

    def read_as_numbers(self, graph: Graph, frame: Frame) -> frozenset[str]:
        """The names of the values whose floating-point elements decide shapes: scales of Resize, bounds of Range."""
        wanted: dict[NodeForm, frozenset[int]] = {}
        for form in graph.form_counts:
            cell = frame.cells.get(form) or self.cell(graph, form, frame)
            if cell.number_operands:
                wanted[form] = cell.number_operands
        if not wanted:
            return frozenset()
        rows = zip(graph.table.forms, graph.table.inputs, strict=True)
        return frozenset(
            names[index] for form, names in rows if form in wanted for index in wanted[form] if index < len(names)
        )


def _key_of_holder(form: NodeForm) -> tuple[object, ...] | None:
    """What decides the cell of nodes that hold graphs and have no other attributes, as If and Loop; None for others.

    No two of these forms have the same graphs, and what these make of values is followed in each by itself
    (docs/performance.md: cells-of-holders).
    """
    kinds = form.attribute_kinds
    if not kinds or any(kind.fields != ("g",) for kind in kinds):
        return None
    return form.op_type, form.domain, form.overload, form.inputs, form.outputs, form.attribute_types, kinds


def _made_cell(operator: TypedOperator, form: NodeForm, frame: Frame) -> Cell:
    arguments = read_arguments(form.attributes, operator.attributes, frame.bindings)
    if operator.attributes and any(operator.schema.lacks_attribute(attribute.name) for attribute in form.attributes):
        # It may be what the writer meant by one that is not there: one fault, one finding.
        given = {name for name, _ in arguments}
        arguments += tuple((name, UNKNOWN_ARGUMENT) for name in sorted(operator.attributes - given))
    return Cell(operator, arguments, form, frame.bound)


_NOTHING_KNOWN: Final = Cell(None, (), NodeForm("", "", (), ()), None)
"""Of the nodes of an operator without a signature."""


class _Kept:
    """What is known of the nodes of forms where no call of a function decides it: a folder of models repeats a few."""

    def __init__(self) -> None:
        self._by_scope: dict[Scope, Cells] = {}
        self._count = 0

    def of(self, scope: Scope) -> Cells:
        """The cells of nodes as they are there."""
        found = self._by_scope.get(scope)
        if found is None:
            if len(self._by_scope) >= _MOST_SCOPES:
                self._clear()
            found = self._by_scope[scope] = {}
        return found

    def keep(self, scope: Scope, form: NodeForm, cell: Cell) -> None:
        """Remember a cell."""
        if self._count >= _MOST_CELLS:
            self._clear()
        self._count += 1
        self.of(scope)[form] = cell

    def _clear(self) -> None:
        for cells in self._by_scope.values():
            cells.clear()  # frames may have them
        self._by_scope.clear()
        self._count = 0


_MOST_SCOPES: Final = 100
_MOST_CELLS: Final = 2_000
"""So many are remembered; then all are forgotten, which costs time only."""

_kept: Final = _Kept()
