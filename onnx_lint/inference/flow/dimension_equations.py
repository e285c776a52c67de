# SPDX-License-Identifier: Apache-2.0
"""Equations between dimension variables, from nodes and declarations, and those that no sizes satisfy.

Equations come from nodes and from declarations: a declared dimension equals the inferred one, the columns of one matrix
equal the rows of the next, and concatenated tensors agree in the other axes. Broadcasting gives no equation, because a
variable may be 1. A nested graph may not run at all, so its equations are only used inside of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import gcd
from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import Record, replace
from onnx_lint.inference.flow.conflict import Note, call_notes
from onnx_lint.inference.flow.declared_facts import declared_values
from onnx_lint.inference.flow.joining import joined_shapes
from onnx_lint.inference.flow.scopes import APART, Scopes, VariableScope, innermost_around
from onnx_lint.inference.flow.shape_words import shape_in_words
from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.flow.walks import Call, WalkResult
from onnx_lint.inference.shapes.dims import SIZE_LIMIT, Dim, Dims, Shape, are_sizes, is_natural, is_positive
from onnx_lint.inference.shapes.dims import product as product_of
from onnx_lint.inference.shapes.expression import Product, Sum, bounds, limited_factor, read, variables_in
from onnx_lint.inference.shapes.fact import UNKNOWN, Fact, Facts, is_complete
from onnx_lint.inference.shapes.operands import EqualDimensions
from onnx_lint.inference.shapes.problem import TwoSizes
from onnx_lint.inference.shapes.rules.broadcasting import BROADCASTING
from onnx_lint.inference.shapes.stated import facts_of_types
from onnx_lint.ir.crashes import Crashes
from onnx_lint.ir.graph import Graph, GraphKind, Node
from onnx_lint.ir.places.place import Place
from onnx_lint.wording import quote

if TYPE_CHECKING:
    from onnx_lint.inference.shapes.one_variable import Course, OneVariable


class DimensionEquation(Record):
    """Two dimensions that are equal, and the node that makes them so."""

    one: int | str
    """The declared dimension, or that of the operand."""
    other: int | str
    """The dimension that the node produces, or requires."""
    node: Node
    axis: int | None
    """The axis of the dimension; None for the number of elements of an operand."""
    operand: int = -1
    """The index of the input with the first dimension."""
    declared: str = ""
    """The output whose declaration has the first dimension; empty if none has."""
    sizes: tuple[str, ...] = ()
    """The other dimensions of an operand of Concat, if they may be 0: the operand is left out then."""
    copied: tuple[Dim, ...] = ()
    """The dimensions that a Reshape keeps. If one of them is 0, so are both numbers of elements."""
    joined: tuple[Dims, ...] = ()
    """The shapes that a Concat joins."""
    is_left_out: bool = False
    """True if the operand is an empty one of Concat, which ONNX Runtime leaves out, against the text."""
    is_of_rows: bool = False
    """True if the bias of Gemm has the size, for the rows of the product: a batch, unlike its columns."""
    or_one: bool = False
    """True if the size 1 fits as well, because the operands are broadcast."""
    call: Call | None = None
    """The call of the function that has the node."""

    def is_true_at_0(self, variable: str) -> bool:
        """Return whether the equation says nothing where a variable is 0, because an operand is empty then."""
        sides = (self.one, self.other) if self.node.op_type == "Concat" else self.copied
        return variable in sides

    def binds(self, variable: str) -> bool:
        """Return whether the equation is required for all sizes of the other variables.

        ONNX Runtime requires nothing of an operand of Concat that is empty because another dimension is 0.
        """
        if not self.joined:
            return True
        full = [
            shape for shape in self.joined if all(dim is not None and variables_in(dim) <= {variable} for dim in shape)
        ]
        sides = [shape[self.axis or 0] for shape in full]
        return all(side in sides for side in (self.one, self.other))

    def binds_if_full(self, variable: str) -> bool:
        """Return whether the equation is required unless the operand with the variable is empty: the other one never
        is, because it has sizes alone.
        """
        sides = [side for side in (self.one, self.other) if variable not in variables_in(side)]
        others = [shape for shape in self.joined if shape[self.axis or 0] in sides]
        return self.binds(variable) or any(are_sizes(shape) and 0 not in shape for shape in others)

    @property
    def is_declared(self) -> bool:
        """True if one side comes from a declaration, and the other from the node."""
        return bool(self.declared)

    @property
    def place(self) -> Place:
        """The declared dimension, or the input of the node."""
        if not self.declared:
            return self.node.place.at("input", self.operand)
        field, index = self._declaration
        shape = self.node.graph.place.at(field, index).at("type").at("tensor_type").at("shape")
        return shape if self.axis is None else shape.at("dim", self.axis)

    @property
    def inner(self) -> str:
        """The dimension of an input; the place of a declared dimension says it."""
        return "" if self.declared or self.axis is None else f"dimension {self.axis}"

    @property
    def _declaration(self) -> tuple[str, int]:
        """The list and the index of the declaration; value_info before the outputs."""
        graph = self.node.graph
        if self.declared in graph.value_info_names:
            return "value_info", graph.value_info_names.index(self.declared)
        return "output", graph.output_names.index(self.declared)

    @property
    def is_of_input(self) -> bool:
        """True if a node that joins, scatters or repeats needs the size because a graph input is declared with it."""
        if self.shared_variables or self.axis is None:
            return False
        size = self.one if isinstance(self.one, int) else self.other
        inputs = self.node.inputs
        names = inputs if self.node.op_type in ("Concat", *_FITTED) else ()
        if self.node.op_type in _RECURRENT:
            names = inputs[self.operand : self.operand + 1]
        if self.is_of_rows:
            names = inputs[2:3]
        return any(size in _declared_shape(name, self.node.graph, self.call) for name in names)

    @property
    def is_by_weights(self) -> bool:
        """True if the weights of a product, convolution or recurrence need the size: channels or features."""
        if self.shared_variables:
            return False
        if self.node.op_type in _RECURRENT:
            return self.operand in _WEIGHTS_OF_RECURRENCE
        if self.is_of_rows:
            return False
        return self.node.op_type not in ("Concat", "Reshape", "Split", "SplitToSequence", "Squeeze", *_FITTED)

    @property
    def constant(self) -> tuple[Graph, str] | None:
        """The constant that the size comes from: the shape of a Reshape, or the other operand; None if there is none.

        It may be one that a call passes to the function with the node.
        """
        if self.node.op_type == "Squeeze":
            return None  # it needs a 1 at any axis
        others = [name for index, name in enumerate(self.node.inputs) if index != self.operand]
        has_size = isinstance(self.one, int) and self.operand >= 0
        names = [self.node.inputs[self.operand], *others] if has_size else others
        passed = [_passed(name, self.node.graph, self.call) for name in names]
        return next((each for each in passed if each is not None and _follows_from_constants(*each)), None)

    @property
    def shared_variables(self) -> set[str]:
        """The names that occur on both sides."""
        return variables_in(self.one) & variables_in(self.other)

    @property
    def text(self) -> str:
        """The statement in words."""
        one, other = map(_word, (self.one, self.other))
        if not self.declared:
            name = f"input {self.operand} {quote(self.node.inputs[self.operand])}"
            if self.axis is None:
                return f"{self.node.describe()} needs {name} to have {other} elements, but it has {one}"
            wanted = f"1 or {other}" if self.or_one else other
            return f"{self.node.describe()} needs dimension {self.axis} of {name} to be {wanted}, but it is {one}"
        of_graph = f"{self._declaration[0].replace('_', ' ')} {quote(self.declared)}"
        if self.axis is None:
            data = f"input 0 {quote(self.node.inputs[0])} of {self.node.describe()}"
            return f"{of_graph} is declared with {one} elements, but {data} has {other}"
        what = f"dimension {self.axis} of {of_graph}"
        return f"{what} is declared as {one}, but {self.node.describe()} produces {other}"


def _declared_shape(name: str, graph: Graph, call: Call | None) -> Dims:
    """Return the shape with which an input of a graph is declared, also if calls of functions pass it on; else ()."""
    passed = _passed(name, graph, call)
    definition = passed[0].definition_of(passed[1]) if passed is not None else None
    if passed is None or definition is None or definition.field != "input":
        return ()
    declared = facts_of_types(definition.graph.value_infos["input"].types)
    return declared[definition.graph.input_names.index(passed[1])].shape or ()


def _passed(name: str, graph: Graph, call: Call | None) -> tuple[Graph, str] | None:
    """Return the value that calls pass on under a name, and the graph that sees it; None if they leave it out."""
    definition = graph.definition_of(name)
    while definition is not None and definition.field == "input" and definition.graph.is_function:
        index = definition.graph.input_names.index(name)
        if call is None or index >= len(call.node.inputs):
            return None
        name, graph, call = call.node.inputs[index], call.node.graph, call.around
        definition = graph.definition_of(name)
    return graph, name


def _follows_from_constants(graph: Graph, name: str) -> bool:
    """Return whether a value is stored, or few nodes compute it from stored values alone."""
    left, seen = [name], {name}
    while left:
        current = left.pop()
        definition = graph.definition_of(current)
        if definition is None or len(seen) > _MAX_COMPUTED:
            return False
        if definition.field == "input" and current not in definition.graph.initializer_index:
            return False
        node = definition.node
        new = {each for each in node.inputs if each} - seen if node is not None else set()
        if node is not None and not node.inputs and node.op_type != "Constant":
            return False
        left += sorted(new)
        seen |= new
    return True


_MAX_COMPUTED: Final = 32
"""The most values from which a constant may be computed."""

_FITTED: Final = ("Attention", "ScatterElements", "ScatterND", "TensorScatter")
"""The operators with masks and updates, which have as many rows as the data."""

_RECURRENT: Final = ("GRU", "LSTM", "RNN")
_WEIGHTS_OF_RECURRENCE: Final = (1, 2, 3, 7)
"""The inputs W, R, B and P. The others are the data, its lengths and the initial states."""


class Contradiction(Record):
    """An equation that no sizes of its variables satisfy, with the earlier equations that determine some of them."""

    equation: DimensionEquation
    because: tuple[DimensionEquation, ...]
    is_of_empty: bool = False
    """True if it is satisfied by the size 0, which only empty tensors have."""
    unsure: Graph | None = None
    """The nested graph with the nodes, if it may not run."""

    @property
    def is_declared(self) -> bool:
        """True if declarations alone cause it: PyTorch declares all dimensions of a branch that cannot run alike."""
        return all(each.is_declared for each in (self.equation, *self.because))

    @property
    def is_nested(self) -> bool:
        """True if a node of a nested graph takes part."""
        return any(each.node.graph.kind is GraphKind.NESTED for each in (self.equation, *self.because))

    @property
    def place(self) -> Place:
        """The declared dimension, or the input of the node."""
        return self.equation.place

    @property
    def subject(self) -> str | None:
        """The variable or expression that cannot be satisfied."""
        one = self.equation.one
        return one if isinstance(one, str) else str(self.equation.other)

    @property
    def inner(self) -> str:
        """The dimension of the input that is wrong."""
        return self.equation.inner

    @property
    def allowed(self) -> str:
        """The requirement on the variables."""
        return "variables that have one size each in the whole model"

    def describe(self) -> str:
        """Return the statement about the variable, and the contradicting statements."""
        one, other = (_terms(side).get((), 0) for side in (self.equation.one, self.equation.other))
        # 0 makes an equation true between multiples, and where dimensions cancel out, but only empty tensors have it.
        is_of_empty = self.is_of_empty or (one == other and not self.because)
        above_0 = " above 0" if is_of_empty or any(each.copied for each in (self.equation, *self.because)) else ""
        what = "all of this" if self.because else "this"
        where = f" where {self.unsure.describe()} runs" if self.unsure is not None else ""
        texts = "; ".join(_texts((self.equation, *self.because[:_MAX_SHOWN])))
        return f"{texts}; no size{above_0} makes {what} true{where}"

    def notes(self) -> list[Note]:
        """Return the other equations."""
        return [*((each.place, each.text) for each in self.because), *_call_notes((self.equation, *self.because))]


def _texts(equations: Sequence[DimensionEquation]) -> list[str]:
    """Return the statements of equations, with the calls if several calls make statements about one node."""
    calls: dict[Place, set[int]] = {}
    for each in equations:
        calls.setdefault(each.node.place, set()).add(id(each.call))
    are_several = [len(calls[each.node.place]) > 1 for each in equations]
    return [
        f"{each.text} in the call by {each.call.node.describe()}" if several and each.call is not None else each.text
        for each, several in zip(equations, are_several, strict=True)
    ]


def _call_notes(equations: Sequence[DimensionEquation]) -> list[Note]:
    """Return notes about the calls in which nodes of functions make statements, each call once."""
    calls = {id(each.call): each.call for each in equations}
    return [note for call in calls.values() for note in call_notes(call, shape_in_words)]


_MAX_SHOWN: Final = 3
"""The reasons that a message contains; all of them are related places."""


def contradictions(flow: ValueFlow, crashes: Crashes) -> list[Contradiction]:
    """Return the equations that cannot be satisfied, each variable once. They are looked for once.

    After a bug only the equations of a node or of a scope are missing; the crash is recorded.
    """
    if flow.contradictions is None:
        flow.contradictions = _contradictions(flow, crashes)
    found: list[Contradiction] = flow.contradictions
    return found


def _contradictions(flow: ValueFlow, crashes: Crashes) -> list[Contradiction]:
    equations = _scoped_equations(flow, crashes)
    solutions: dict[VariableScope, _Solution] = {}
    budget = _Budget()
    found: list[Contradiction] = []
    unsure = partial(_unsure_graph, flow)
    for scope in sorted(equations, key=len):
        solution = solutions[scope] = _Solution(innermost_around(scope, solutions), budget)
        with crashes.at(_SOLVE):
            of_scope = [replace(each, unsure=unsure(scope)) for each in solution.contradictions(equations[scope])]
            found.extend(each for each in of_scope if not (each.is_declared and each.is_nested))
    known = {scope for scope, solution in solutions.items() if solution.has_sizes}
    scopes = Scopes(flow)
    for walked in flow.running if known else ():
        for scope in scopes.of(walked.graph, walked.call):
            if scope in known and _may_have_sizes(walked, solutions[scope]):
                with crashes.at(_SOLVE, walked.graph.place):
                    of_graph = _not_broadcast(flow, walked, solutions[scope])
                    found.extend(replace(each, unsure=unsure(scope)) for each in of_graph)
    # Two sizes within one node are an error there.
    told = {each.problem.variable for each in flow.shapes if isinstance(each.problem, TwoSizes)}
    return [each for each in found if each.subject not in told]


def _may_have_sizes(walked: WalkResult, solution: _Solution) -> bool:
    """Return whether dimensions in a walk may have known sizes: those in a function come from its arguments."""
    if walked.call is None:
        return True
    dims = {dim for each in walked.call.arguments for dim in each.shape or () if isinstance(dim, str)}
    return any(isinstance(solution.value(name)[0], int) for dim in dims for name in variables_in(dim))


def _unsure_graph(flow: ValueFlow, scope: VariableScope) -> Graph | None:
    """Return the innermost graph of a scope, which may not run; None if the scope is not that of a nested graph."""
    if scope in ((), APART):
        return None
    innermost, _ = scope[-1]
    return next((each.graph for each in flow.running if id(each.graph) == innermost), None)


def _not_broadcast(flow: ValueFlow, walked: WalkResult, solution: _Solution) -> Iterator[Contradiction]:
    """Yield the operands that do not broadcast with the sizes that the equations give their variables."""
    seen = set()
    first_walk = flow.walks.of(walked.graph, None) or walked  # a later one keeps fewer memos, of the same operators
    for node in walked.graph.nodes:
        operator = first_walk.memos[node.form].operator
        first = _BROADCAST.get(node.op_type)
        if first is None or operator is None or operator.schema.domain or operator.schema.since_version < first:
            continue
        shapes = _broadcast_shapes(node.op_type, flow.walks.inputs(walked, node.inputs))
        if shapes in seen:  # many nodes have the same ones
            continue
        seen.add(shapes)
        for at in range(-max([len(shape) for _, shape in shapes], default=0), 0):
            dims = [(index, shape[at], at + len(shape)) for index, shape in shapes if len(shape) >= -at]
            if any(isinstance(dim, str) for _, dim, _ in dims):
                yield from solution.not_broadcast(node, dims)


def _broadcast_shapes(op_type: str, facts: Facts) -> tuple[tuple[int, Dims], ...]:
    """Return the shapes that a node broadcasts, each with the index of its input."""
    shapes = tuple([(index, each.shape) for index, each in enumerate(facts) if each.shape is not None])
    if op_type in _PRODUCTS:
        return tuple([(index, shape[:-2]) for index, shape in shapes])
    if op_type != "Expand":
        return shapes
    asked = facts[1].content if len(facts) > 1 else None
    target = tuple([dim if isinstance(dim, int | str) else None for dim in asked or ()])
    return ((1, target), *[each for each in shapes if each[0] == 0])


_PRODUCTS: Final = ("MatMul", "MatMulInteger")
"""The operators that broadcast all axes but the last two."""

_BROADCAST: Final = {**BROADCASTING, "Expand": 1, "PRelu": 7, **dict.fromkeys(_PRODUCTS, 1)}
"""The operators that broadcast operands in some way, each with the first version that does."""


class _SizeOfVariable(Record):
    """What gives one size to a variable that an input leaves open."""

    equation: DimensionEquation
    variable: str
    source: Place
    input_name: str
    """The input that leaves it open, and its name."""

    @property
    def inner(self) -> str:
        """The dimension of the input of a node that has the size."""
        return self.equation.inner

    @property
    def place(self) -> Place:
        """The dimension with that size."""
        return self.equation.place

    @property
    def subject(self) -> str | None:
        """The variable."""
        return self.variable

    def notes(self) -> list[Note]:
        """The input that leaves it open."""
        return [(self.source, f"{quote(self.variable)} is open here")]


class FixedSize(_SizeOfVariable):
    """A declaration that gives a size to what inputs leave open, the first one for a variable."""

    @property
    def allowed(self) -> str:
        """The size that would be right."""
        return quote(str(self.equation.other))

    def describe(self) -> str:
        """Return a message with the declared size and the input dimension that is left open."""
        return f"{self.equation.text}, whose size input {quote(self.input_name)} leaves open"


def fixed_sizes(flow: ValueFlow, crashes: Crashes) -> list[FixedSize]:
    """Return the sizes that the main graph declares for what its inputs leave open, one for each variable."""
    found: dict[str, FixedSize] = {}
    for walked in flow.running:
        graph = walked.graph
        if graph.kind is not GraphKind.MAIN or graph.is_function:
            continue
        inputs = graph.value_infos["input"].types
        sources = {
            dim: index
            for index, fact in reversed(list(enumerate(facts_of_types(inputs))))
            for dim in fact.shape or ()
            if isinstance(dim, str)
        }
        for equation in _equations(flow, walked, crashes) if sources else ():
            if not equation.is_declared or not isinstance(equation.one, int):
                continue
            variables = sorted(set(_variables(equation.other)))
            if variables and all(name in sources for name in variables):
                index = sources[variables[0]]
                source = graph.place.at("input", index)
                found.setdefault(variables[0], FixedSize(equation, variables[0], source, graph.input_names[index]))
    return list(found.values())


class FrozenSize(_SizeOfVariable):
    """A variable of an input for which the nodes of the model leave only one size, by an equation of one of them."""

    size: int
    because: tuple[DimensionEquation, ...]
    """The equations before that it follows from as well."""
    is_unless_empty: bool = False
    """True if an empty input has the size 0."""
    is_if_full: bool = False
    """True if any size runs where another dimension makes an operand empty."""

    @property
    def is_by_weights(self) -> bool:
        """True if the size is only that of a product or convolution: channels or features, which weights fix."""
        return all(each.is_by_weights for each in (self.equation, *self.because))

    @property
    def allowed(self) -> str:
        """The size that the input may have."""
        return f"{self.size} instead of {quote(self.variable)} in the input, or nodes that take any size"

    def describe(self) -> str:
        """Return a message with what needs the size, and the input that leaves it open."""
        by = "".join(f"; {each.text}" for each in self.because[:_MAX_SHOWN])
        constant = self.equation.constant
        source = f" (constant {quote(constant[1])})" if constant is not None else ""
        or_0 = ", or 0" if self.is_unless_empty and self.size else ""
        if_full = " where no operand is empty" if self.is_if_full else ""
        end = f"so {quote(self.variable)} of input {quote(self.input_name)} can only be {self.size}{or_0}{if_full}"
        return f"{self.equation.text}{source}{by}; {end}"

    def notes(self) -> list[Note]:
        """The input that leaves it open, the constant, and the other equations."""
        constant = self.equation.constant
        definition = constant[0].definition_of(constant[1]) if constant is not None else None
        named = [(definition.place, f"defines constant {quote(constant[1])}")] if constant and definition else []
        others = [(each.place, each.text) for each in self.because]
        return [*super().notes(), *named, *others, *_call_notes((self.equation, *self.because))]


def frozen_sizes(flow: ValueFlow, crashes: Crashes) -> list[FrozenSize]:
    """Return the variables of the main graph's inputs for which the nodes leave only one size.

    They are looked for once. What declarations say of a size is left aside: see `fixed_sizes`.
    """
    if flow.frozen_sizes is None:
        flow.frozen_sizes = _frozen_sizes(flow, crashes)
    found: list[FrozenSize] = flow.frozen_sizes
    return found


def _frozen_sizes(flow: ValueFlow, crashes: Crashes) -> list[FrozenSize]:
    equations = _equations_of_running(flow, crashes)
    if not equations:
        return []
    graphs = [walked.graph for walked in flow.running]
    main = next((each for each in graphs if each.kind is GraphKind.MAIN and not each.is_function), None)
    sources = _open_dimensions(main) if main is not None else {}
    solution = _Solution(None)
    with crashes.at(_SOLVE):
        list(solution.contradictions(equations))
    frozen = [_frozen_size(solution, name, *source) for name, source in sources.items()]
    found = [each for each in frozen if each is not None]
    excluded = _variables_without_a_size(flow, crashes) if found else ()
    return [each for each in found if each.variable not in excluded]


def _frozen_size(solution: _Solution, name: str, place: Place, input_name: str) -> FrozenSize | None:
    """Return the only size that equations leave to a variable of an input; None if they leave others."""
    size, reasons = solution.value(name)
    is_unless_empty = not isinstance(size, int) and name in solution.unless_empty
    if is_unless_empty:
        size, reasons = solution.unless_empty[name]
    if not isinstance(size, int) or not reasons or any(each.is_of_input for each in reasons):
        return None
    if not all(each.binds_if_full(name) for each in reasons):
        return None
    if_full = not all(each.binds(name) for each in reasons)
    or_0 = not if_full and (is_unless_empty or any(each.is_true_at_0(name) for each in reasons))
    return FrozenSize(reasons[-1], name, place, input_name, size, reasons[:-1], or_0, if_full)


def _variables_without_a_size(flow: ValueFlow, crashes: Crashes) -> set[str]:
    """Return the variables that are in a contradiction with nodes that surely run: that is another finding."""
    found = [each for each in contradictions(flow, crashes) if each.unsure is None and not each.is_declared]
    equations = [equation for each in found for equation in (each.equation, *each.because)]
    return {name for each in equations for side in (each.one, each.other) for name in variables_in(side)}


def _equations_of_running(flow: ValueFlow, crashes: Crashes) -> list[DimensionEquation]:
    """Return what nodes that surely run say of sizes, without declarations.

    Nodes whose operands do not fit are left out: their fault is another finding, and a size may be a part of it.
    """
    faulty = {conflict.node.place for conflict in flow.shapes}
    equations = _scoped_equations(flow, crashes)[()]
    return [each for each in equations if not (each.is_declared or each.is_left_out or each.node.place in faulty)]


def _open_dimensions(graph: Graph) -> dict[str, tuple[Place, str]]:
    """Return the variables in the inputs without a default, each with the first input that has it."""
    found: dict[str, tuple[Place, str]] = {}
    for index, fact in enumerate(facts_of_types(graph.value_infos["input"].types)):
        for dim in fact.shape or ():
            if isinstance(dim, str) and graph.input_names[index] not in graph.initializer_names:
                found.setdefault(dim, (graph.place.at("input", index), graph.input_names[index]))
    return found


_SOLVE: Final = "comparing dimension variables"


def _scoped_equations(flow: ValueFlow, crashes: Crashes) -> Mapping[VariableScope, Sequence[DimensionEquation]]:
    """Return the equations of each scope; those of the main graph also if there are none."""
    known: Mapping[VariableScope, Sequence[DimensionEquation]] | None = flow.equations
    if known is None:
        found: dict[VariableScope, list[DimensionEquation]] = {(): []}
        scopes = Scopes(flow)
        for walked in flow.running:
            with crashes.at(_SOLVE, walked.graph.place):
                equations = list(_equations(flow, walked, crashes))
                for scope in scopes.of(walked.graph, walked.call) if walked.unequal else ():
                    found.setdefault(scope, []).extend(equations)
        flow.equations = known = found
    return known


def _equations(flow: ValueFlow, walked: WalkResult, crashes: Crashes) -> Iterator[DimensionEquation]:
    if not walked.unequal:
        return
    graph = walked.graph
    stated = {} if graph.is_function else declared_values(graph)
    for index in sorted(set(walked.unequal)):
        node = graph.nodes[index]
        memo = walked.memos[node.form]
        if memo.operator is None or memo.operator.by_subgraphs:
            continue
        facts = flow.walks.inputs(walked, node.inputs)
        with crashes.at(_SOLVE, node):
            outcome = memo.outcomes.get(facts) or memo.outcome(facts)
            for name, made in zip(node.outputs, outcome.outputs, strict=False):
                declared = stated.get(name, UNKNOWN)
                yield from _of_declaration(node, name, made, declared)
                if node.op_type == "Reshape" and facts and not outcome.shape_problems:
                    yield from _of_declared_count(node, name, facts[0], made, declared)
            reshaped = outcome.outputs[0].shape if node.op_type == "Reshape" and outcome.outputs else None
            yield from _of_operands(node, facts, outcome.equated, reshaped, walked.call)


def _of_declaration(node: Node, name: str, made: Fact, declared: Fact) -> Iterator[DimensionEquation]:
    if made.shape is None or declared.shape is None or len(made.shape) != len(declared.shape):
        return
    for axis, (given, said) in enumerate(zip(made.shape, declared.shape, strict=True)):
        if given is None or said is None or given == said or not (isinstance(said, str) or isinstance(given, str)):
            continue
        yield DimensionEquation(said, given, node, axis, declared=name)


def _of_declared_count(node: Node, name: str, data: Fact, made: Fact, declared: Fact) -> Iterator[DimensionEquation]:
    """Yield that a Reshape to an unknown shape keeps the number of elements, if both numbers have a common variable."""
    stated, is_contradictory = joined_shapes(made.shape, declared.shape)
    if data.shape is None or stated is None or is_contradictory or is_complete(made):
        return
    one, other = product_of(stated), product_of(data.shape)
    if one is not None and other is not None and one != other and variables_in(one) & variables_in(other):
        yield DimensionEquation(one, other, node, None, declared=name)


def _word(dim: int | str) -> str:
    return str(dim) if isinstance(dim, int) else quote(dim)


def _of_operands(
    node: Node, facts: Facts, equal: Sequence[EqualDimensions], reshaped: Shape, call: Call | None
) -> Iterator[DimensionEquation]:
    is_concat = bool(equal) and node.op_type == "Concat"
    may_be_0 = _sizes_that_may_be_0(facts) if is_concat else ()
    joined = tuple([each.shape for each in facts if each.shape is not None]) if is_concat else ()
    for (index, axis), found, expected in equal:
        shape = facts[index].shape or ()
        is_left_out = is_concat and 0 in shape
        if is_left_out and not any(isinstance(size, int) and size for size in (found, expected)):
            continue  # two names, or a 0, beside an empty operand, such as the past of a first step, are often meant
        names = variables_in(found) | variables_in(expected)
        sizes = tuple([size for size in may_be_0 if names & variables_in(size)])
        copied = tuple([dim for dim in reshaped or () if isinstance(dim, str) and dim in shape])
        place = axis % len(shape) if axis is not None else None
        flags = {"is_left_out": is_left_out, "is_of_rows": _is_of_rows(node, index, axis)}
        yield DimensionEquation(found, expected, node, place, index, "", sizes, copied, joined, **flags, call=call)


def _is_of_rows(node: Node, operand: int, axis: int | None) -> bool:
    """Return whether an axis of an operand is the one before the last of the bias of Gemm."""
    return node.op_type == "Gemm" and (operand, axis) == _ROWS_OF_BIAS


_ROWS_OF_BIAS: Final = (2, -2)


def _sizes_that_may_be_0(facts: Facts) -> list[str]:
    """Return the dimensions that may be 0. One that may be below 0 is left out: windows do not fit in there."""
    dims = {dim for each in facts for dim in each.shape or () if isinstance(dim, str)}
    return sorted(dim for dim in dims if is_natural(dim) and not is_positive(dim))


# --- solving


class _Budget:
    """How many equations may still be solved apart, in all scopes of a model: each computes thousands of values."""

    def __init__(self) -> None:
        self.left = _MAX_APART


class _Solution:
    """The values of those variables that the earlier equations determine."""

    def __init__(self, around: _Solution | None, budget: _Budget | None = None) -> None:
        self._around = around
        self._budget = budget or _Budget()
        self._known: dict[str, tuple[int | str, tuple[DimensionEquation, ...]]] = {}
        """For a variable its size, or an equal variable, and the equations that imply it."""
        self.unless_empty: dict[str, tuple[int | str, tuple[DimensionEquation, ...]]] = {}
        """For a variable the only size apart from 0, and the equations that imply it."""
        self._reported: set[str] = set() if around is None else around._reported

    @property
    def has_sizes(self) -> bool:
        """Whether the equations, here or in an enclosing graph, give a variable a size."""
        here = any(isinstance(value, int) for value, _ in self._known.values())
        return here or (self._around is not None and self._around.has_sizes)

    def not_broadcast(self, node: Node, dims: Sequence[tuple[int, Dim, int]]) -> Iterator[Contradiction]:
        """Yield a contradiction if the known sizes of operands, each with its index and axis, do not broadcast."""
        first: tuple[int | str, int, dict[int, DimensionEquation]] | None = None
        for index, dim, axis in dims:
            because: dict[int, DimensionEquation] = {}
            size = _number(self._reduced(dim, because)) if dim is not None else None
            if dim is None or size is None or size == 1:
                continue
            if first is None:
                first = dim, size, because
            elif size != first[1] and not {*_variables(dim), *_variables(first[0])} & self._reported:
                reasons = tuple({**first[2], **because}.values())
                equation = DimensionEquation(dim, first[0], node, axis, index, or_one=True)
                self._reported.update(_variables(dim), _variables(first[0]))
                yield Contradiction(equation, reasons)

    def contradictions(self, equations: Sequence[DimensionEquation]) -> Iterator[Contradiction]:
        first: dict[tuple[int | str, int | str, tuple[str, ...]], DimensionEquation] = {}
        for equation in equations:  # many nodes state the same about two dimensions
            first.setdefault((equation.one, equation.other, equation.sizes), equation)
        left = list(first.values())
        for _ in range(_MAX_ROUNDS):
            undecided: list[DimensionEquation] = []
            for equation in left:
                verdict = self._hold(equation)
                if verdict is None:
                    undecided.append(equation)
                elif not verdict[0]:
                    yield Contradiction(equation, verdict[1])
            if len(undecided) == len(left):
                count = len(self._known)
                yield from self._solve_apart(undecided)
                if len(self._known) == count:
                    return
            left = undecided

    def _solve_apart(self, undecided: Sequence[DimensionEquation]) -> Iterator[Contradiction]:
        """Solve the equations that have one variable each, all of a variable together."""
        from onnx_lint.inference.shapes.one_variable import OneVariable

        rows: dict[str, list[_Row]] = {}
        few = undecided[: self._budget.left]
        self._budget.left -= len(few)
        for equation in few:
            reasons: dict[int, DimensionEquation] = {}
            variable = OneVariable(partial(self._value, because=reasons))
            course = _course(equation, variable)
            if course is not None and variable.name not in self._reported:
                rows.setdefault(variable.name, []).append(_Row(equation, course, tuple(reasons.values())))
        for name, of_variable in rows.items():
            for found in [_together(of_variable)] if name else [_together([row]) for row in of_variable]:
                if found.contradiction is not None:
                    self._reported |= {name} - {""}
                    yield found.contradiction
                elif found.size is not None and name:
                    values = self.unless_empty if found.sizes == _WITH_0 else self._known
                    values[name] = found.size, found.because[-_MAX_REASONS:]

    def _hold(self, equation: DimensionEquation) -> tuple[bool, tuple[DimensionEquation, ...]] | None:
        """Return whether an equation can be satisfied, and the equations that decide it; None if it is undecided."""
        if equation.sizes:
            return None
        because: dict[int, DimensionEquation] = {}
        variables = {*_variables(equation.one), *_variables(equation.other)}
        one, other = (self._reduced(side, because) for side in (equation.one, equation.other))
        terms = _difference(one, other)
        names = {name for product in (*one, *other) for name in product}
        if (names | variables) & self._reported or not terms:
            return True, ()
        reasons = tuple(because.values())
        rest = terms.pop((), 0)
        follows = self._follow(terms, rest, equation, reasons)
        if follows is False:
            self._reported |= names | variables
            return False, reasons
        return (True, ()) if follows else None

    def _follow(
        self, terms: Sum, rest: int, equation: DimensionEquation, because: tuple[DimensionEquation, ...]
    ) -> bool | None:
        """Use the equation that terms and a number add up to 0; return False if it has no solution,
        None if undecided.
        """
        if not terms:
            return False
        if not all(_is_plain(name) for product in terms for name in product):
            return False if _is_beyond(terms, rest) else self._follow_limit(terms, rest, equation, because)
        # Only an empty tensor would make a number of elements twice as many.
        sign = rest or (max(terms.values()) if self._are_on_both_sides(terms, equation) and not because else 0)
        if sign and all((times > 0) == (sign > 0) for times in terms.values()):
            return False
        return self._note_value(terms, rest, (*because, equation)[-_MAX_REASONS:])

    def _note_value(self, terms: Sum, rest: int, reasons: tuple[DimensionEquation, ...]) -> bool | None:
        """Note the size of the one variable in an equation, or that two are equal; return False if it has no solution,
        None if undecided.
        """
        if rest % gcd(*terms.values()):
            return False  # whatever integers the variables are
        match list(terms.items()):
            case [(names, times)]:
                size, left = divmod(-rest, times)
                # Only an empty tensor would make "N" the same as "2*N". But the past may be empty: "P + N" is N then.
                if left or size < 0:
                    return False
                return self._follow_product(names, size, reasons)
            case [((one,), 1), ((other,), -1)] | [((other,), -1), ((one,), 1)] if not rest:
                self._known[one] = other, reasons
                return True
        return None

    def _follow_limit(
        self, terms: Sum, rest: int, equation: DimensionEquation, because: tuple[DimensionEquation, ...]
    ) -> bool | None:
        """Use the equation of a maximum or minimum with a number, if that is its only factor that is not plain."""
        (product, times), *more = [item for item in terms.items() if not all(map(_is_plain, item[0]))]
        limit = limited_factor(product[0]) if not more and len(product) == 1 and abs(times) == 1 else None
        if limit is None:
            return None
        inner_text, number, is_maximum = limit
        reasons: dict[int, DimensionEquation] = {id(each): each for each in because}
        inner = self._reduced(inner_text, reasons)
        # The equation says that the maximum or minimum is `right`.
        right = {each: -times * count for each, count in terms.items() if each != product} | {(): -times * rest}
        apart = _difference(right, inner)
        size, of_inner = _number(right), _number(inner)
        if of_inner is not None:
            number = (max if is_maximum else min)(of_inner, number)
            return self._follow_sum(_difference(right, {(): number}), equation, reasons)
        distance = _number(apart) if size is None else size - number
        if distance is None:
            return None
        if not is_maximum:
            distance = -distance
        if distance == 0:
            return None
        if distance < 0:
            return False
        if size is not None:
            return self._follow_sum(apart, equation, reasons)
        # It is not what is inside, so it is the number; 0 only if the tensor is empty.
        if not number and not reasons:
            return False
        return self._follow_sum(_difference(right, {(): number}), equation, reasons)

    def _follow_sum(
        self, terms: Sum, equation: DimensionEquation, because: Mapping[int, DimensionEquation]
    ) -> bool | None:
        """Use that a sum is 0, as an equation implies; see `_follow`."""
        rest = terms.pop((), 0)
        return self._follow(terms, rest, equation, tuple(because.values())) if terms or rest else True

    def _follow_product(self, names: Product, size: int, reasons: tuple[DimensionEquation, ...]) -> bool | None:
        """Use that the product of variables is a size; return False if it cannot be, None if that is undecided."""
        first, *others = set(names)
        if not others and size < SIZE_LIMIT:
            root = round(size ** (1 / len(names)))
            if root ** len(names) != size:
                return False
            self._known[first] = root, reasons
            return True
        if size == 1:
            self._known.update(dict.fromkeys(names, (1, reasons)))
            return True
        return None

    def _are_on_both_sides(self, terms: Sum, equation: DimensionEquation) -> bool:
        names = {name for product in terms for name in product}
        return all(names <= set(_variables(side)) for side in (equation.one, equation.other))

    def _reduced(self, side: int | str, because: dict[int, DimensionEquation]) -> Sum:
        """Return a side of an equation with the known values of its variables inserted."""
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

    def value(self, name: str) -> tuple[int | str, tuple[DimensionEquation, ...]]:
        """Return the size of a variable, or one that is equal to it, and the equations that imply it."""
        because: dict[int, DimensionEquation] = {}
        return self._value(name, because), tuple(because.values())

    def _value(self, name: str, because: dict[int, DimensionEquation]) -> int | str:
        passed: list[str] = []
        value: int | str = name
        while isinstance(value, str) and (step := self._step(value)) is not None:
            passed.append(value)
            value = step[0]
        reasons: tuple[DimensionEquation, ...] = ()
        for each in reversed(passed):
            # Shorten the path for the next time.
            step = self._step(each)
            reasons = (*(step[1] if step is not None else ()), *reasons)[-_MAX_REASONS:]
            self._known[each] = value, reasons
        because.update({id(each): each for each in reasons})
        return value

    def _step(self, name: str) -> tuple[int | str, tuple[DimensionEquation, ...]] | None:
        """Return what a variable is equal to, here or in an enclosing graph."""
        known = self._known.get(name)
        return known if known is not None or self._around is None else self._around._step(name)


def _course(equation: DimensionEquation, variable: OneVariable) -> Course | None:
    """Return the course of the difference of both sides, which is 0 where Concat leaves out an operand."""
    from onnx_lint.inference.shapes.one_variable import difference, unless_empty

    dims = (equation.one, equation.other, *equation.sizes)
    courses = [course for dim in dims if (course := variable.of_sum(_terms(dim))) is not None]
    if len(courses) < len(dims):
        return None
    one, other, *sizes = courses
    between = difference(one, other)
    return unless_empty(between, sizes) if between is not None and sizes else between


class _Row(Record):
    """An equation of one variable: where its sides differ by 0, it is true."""

    equation: DimensionEquation
    course: Course
    because: tuple[DimensionEquation, ...]
    """The equations from which it follows that there is no other variable."""


class _Solved(Record):
    """What equations of one variable say: that they contradict each other, or the only size of the variable."""

    contradiction: Contradiction | None = None
    size: int | None = None
    sizes: int = 0
    """How many sizes are left: 2 if the size may also be 0."""
    because: tuple[DimensionEquation, ...] = ()


def _together(rows: Sequence[_Row]) -> _Solved:
    """Return the verdict on equations of the same variable."""
    from onnx_lint.inference.shapes.one_variable import zeros

    kept: list[_Row] = []
    solved = _Solved()
    sizes: tuple[int, ...] | None = None
    for row in rows[:_MAX_TOGETHER]:
        found = zeros([each.course for each in (*kept, row)])
        if found is None:
            continue
        kept.append(row)
        if found.are_endless:
            continue
        sizes = found.sizes
        needed = [each for each in kept[:-1] if not _is_known_without(each, kept, sizes)]
        because = {id(each): each for one in (*needed, row) for each in (*one.because, one.equation)}
        *others, _ = because.values()
        # 0 makes multiples equal. A number on one side means 0 itself.
        is_of_empty = sizes == (0,) and all(each.shared_variables for each in because.values())
        if not sizes or is_of_empty:
            return _Solved(Contradiction(row.equation, tuple(others), is_of_empty))
        is_unless_empty = len(sizes) == _WITH_0 and not sizes[0]
        if (len(sizes) == 1 or is_unless_empty) and (solved.size is None or len(sizes) == 1 < solved.sizes):
            solved = _Solved(size=sizes[-1], sizes=len(sizes), because=tuple(because.values()))
    return solved


_WITH_0: Final = 2


def _is_known_without(one: _Row, rows: Sequence[_Row], sizes: tuple[int, ...]) -> bool:
    """Return whether the other equations have the same solutions without this one."""
    from onnx_lint.inference.shapes.one_variable import zeros

    found = zeros([each.course for each in rows if each is not one])
    return found is not None and not found.are_endless and found.sizes == sizes


_MAX_APART: Final = 128
"""The most equations of a model that are solved by variable."""

_MAX_TOGETHER: Final = 16
"""The most equations of one variable that are solved together."""

_MAX_ROUNDS: Final = 8
_MAX_REASONS: Final = 8
"""The equations of a chain to report: the last ones."""


def _is_plain(name: str) -> bool:
    """Return whether a factor is a plain variable: a quotient, sum or minimum may be less than 0."""
    return not name.endswith(")")


def _is_beyond(terms: Sum, rest: int) -> bool:
    """Return whether a multiple of a quotient, minimum or maximum and a number add up to 0 for no value of it."""
    [(product, times), *others] = terms.items()
    if others or len(product) != 1:
        return False
    size, left = divmod(-rest, times)
    least, most = bounds(product[0])
    return bool(left) or (most is not None and size > most) or (least is not None and size < least)


def _difference(one: Sum, other: Sum) -> Sum:
    """Return the difference of two sums, without terms that are 0."""
    found = {product: one.get(product, 0) - other.get(product, 0) for product in {**one, **other}}
    return {product: times for product, times in found.items() if times}


def _number(terms: Sum) -> int | None:
    """Return the value of a sum without variables; None for others."""
    return terms.get((), 0) if all(not product or not times for product, times in terms.items()) else None


def _terms(side: int | str) -> Sum:
    """Return a side as a sum. A name that is ambiguous in an expression is a variable of its own."""
    return {(): side} if isinstance(side, int) else read(side) or {(side,): 1}


def _variables(side: int | str) -> Iterator[str]:
    for product in _terms(side):
        yield from product
