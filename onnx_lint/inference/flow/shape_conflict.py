# SPDX-License-Identifier: Apache-2.0
"""Contradictions between shapes, operators and declarations, with the wording of their findings."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import Final

from onnx_lint.common.digest import sha256
from onnx_lint.common.record import Record, replace
from onnx_lint.inference.flow.conflict import WHOLE, DeclaredValue, Note, call_notes, name_of_input
from onnx_lint.inference.flow.joining import may_all_have
from onnx_lint.inference.flow.repairs import repairs_of
from onnx_lint.inference.flow.shape_words import WordedProblem, shape_in_words
from onnx_lint.inference.flow.walks import Call, FurtherCalls
from onnx_lint.inference.shapes.dims import agree, are_sizes
from onnx_lint.inference.shapes.fact import Fact
from onnx_lint.inference.shapes.problem import (
    EMPTY,
    Element,
    InputDimension,
    NumberSource,
    Overflow,
    WrongRank,
    WrongValue,
    apart,
    fault_of,
)
from onnx_lint.inference.shapes.stated import fact_of_type
from onnx_lint.ir.graph import BEFORE_NODES, Definition, Graph, GraphKind, Node
from onnx_lint.ir.operators.control_flow import CONTROL_FLOW_OPERATORS
from onnx_lint.ir.operators.mismatch import attributes_with
from onnx_lint.ir.operators.proposals import Proposal, Proposals
from onnx_lint.ir.places.place import Place
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.spec.operators.attribute_constraints import NONDETERMINISTIC
from onnx_lint.wording import MAX_LISTED_ELEMENTS, quote


class ShapeConflict(WordedProblem):
    """A node whose operator does not accept the shapes of its inputs, or the numbers that decide shapes."""

    schema: OperatorSchema
    call: Call | None
    """The call whose arguments lead to the conflict in a function body: the first of several."""
    warning: str | None = None
    """What else to say if the conflict is only a warning; None if it is an error."""
    further: FurtherCalls | None = None
    """Other calls of the function with the same problem."""

    @property
    def key(self) -> tuple[object, ...]:
        """Identifies the problem at the node. In a function, other numbers in another call make no other problem.

        The key has texts: Python does not salt the hashes of numbers, so a file could choose numbers with which most
        keys have one hash.
        """
        at = id(self.node.graph), self.node.index
        if self.call is None:
            return *at, repr(self.problem)
        about = [getattr(self.problem, name, None) for name in ("operand", "source", "output")]
        return *at, type(self.problem), *about, str(getattr(self.problem, "place", ""))

    @property
    def source(self) -> NumberSource | None:
        """The attribute, or the input, with the wrong number; None if a shape is wrong."""
        fault = fault_of(self.problem)
        return fault.source if isinstance(fault, Element) else None

    @property
    def is_tolerated(self) -> bool:
        """True if the conflict is not reported: the rank is customary, or the subgraph need not run for this value."""
        return self._has_customary_rank or self._is_about_empty_outer_value

    @property
    def _has_customary_rank(self) -> bool:
        """True if ONNX itself writes the rank of an operand, and onnx.checker and ONNX Runtime accept it."""
        return isinstance(self.problem, WrongRank) and self.problem.is_customary and self.is_accepted_rank

    @property
    def _is_about_empty_outer_value(self) -> bool:
        """True if a value from outside of a subgraph is empty. The subgraph may run only if the value is not empty."""
        if not isinstance(self.problem, WrongValue) or self.problem.place.value != EMPTY:
            return False
        graph = self.node.graph
        return graph.kind is GraphKind.NESTED and self.node.inputs[0] not in graph.positions

    @property
    def is_accepted_rank(self) -> bool:
        """True if onnx.checker and ONNX Runtime accept an operand of a rank that the operator does not allow."""
        problem = self.problem
        if not isinstance(problem, WrongRank):
            return False
        # ONNX Runtime checks the rank of a constant before and after constant folding, so both checks must accept it.
        is_accepted_at_load = problem.taken_constant or not self._is_known_at_load(problem.operand, _MAX_FOLDED)
        return is_accepted_at_load and (problem.taken_at_run or self._is_known_at_load(problem.operand, 0))

    def _is_known_at_load(self, operand: int, depth: int) -> bool:
        """Return whether the value of an operand is known when the model is loaded: it is a constant.

        A bound of Range is known only if all bounds are constants, of an element type that consumers compute with.
        `depth`: the number of foldable nodes that may be between the constant and the operand.
        """
        inputs = [self.node.inputs[operand]]
        if self.schema.name == "Range":
            if self.inputs[operand].kind not in _COMPUTED_BOUNDS:
                return False
            inputs = list(self.node.inputs)
        return all(_is_constant(self.node.graph, each, self.call, depth) for each in inputs)

    @property
    def place(self) -> Place:
        """The attribute, the element of an initializer, the output of an overflow, or the input."""
        fault, place = fault_of(self.problem), self.node.place
        if isinstance(fault, Element) and isinstance(fault.source, str):
            index = next(attributes_with(self.node, {fault.source}), None)
            return place if index is None else place.at("attribute", index)
        if isinstance(fault, Element):
            assert isinstance(fault.source, int)
            return _element_place(self.node, fault.source, fault.index)
        if isinstance(self.problem, Overflow):
            return place.at("output", self.problem.output)
        if isinstance(fault, InputDimension):
            return place.at("input", fault.operand)
        return place.at("input", fault or 0)

    @property
    def subject(self) -> str | None:
        """The name of the attribute, the value or the node that the conflict is about."""
        source = self.source
        if isinstance(source, str):
            return source
        if isinstance(self.problem, Overflow):
            return self.node.outputs[self.problem.output]
        return self.node.inputs[self.operands[-1]] if self.operands else self.node.name or None

    @property
    def cause(self) -> str:
        """The operator, the operands with their shapes, or attributes, and the problem with its numbers."""
        names = [
            f"{name_of_input(self.schema, each)} {self.inputs[each].shape}" if isinstance(each, int) else each
            for each in self.sources
        ]
        first = next(apart(self.problem))
        problem = sha256(repr(first).encode()).hexdigest()  # the problem may have a list of millions
        return f"{self.schema.domain}::{self.schema.name} {', '.join(names)}: {problem}"

    @property
    def inner(self) -> str:
        """The dimension or element that is wrong: most have no place in the file."""
        fault = fault_of(self.problem)
        if isinstance(fault, InputDimension):
            return f"dimension {fault.axis}"
        if isinstance(fault, Element) and fault.index is not None:
            return f"element {fault.index}"
        return f"dimension {self.problem.axis}" if isinstance(self.problem, Overflow) else WHOLE

    @property
    def inner_of_node(self) -> str:
        """The input or the attribute that is wrong, and the dimension or element."""
        source = self.sources[-1] if self.sources else ""
        return f"{source} {self.inner}"

    def apart(self) -> list[ShapeConflict]:
        """Return a conflict for each of the elements or dimensions that are wrong."""
        return [replace(self, problem=problem) for problem in islice(apart(self.problem), MAX_LISTED_ELEMENTS)]

    @property
    def proposals(self) -> Proposals:
        """The changes with which the shapes of the node fit."""
        return Proposals("with {} the shapes fit", self._changes)

    def _changes(self) -> list[Proposal]:
        changes = repairs_of(self.node, self.schema, self.inputs, self.problem)
        return [
            Proposal(
                each.text,
                partial(each.edits, self.node),
                must_add_no_finding=each.must_add_no_finding,
                must_be_only=each.must_be_only,
            )
            for each in changes
        ]

    def describe(self) -> str:
        """Return the shapes or numbers, and the requirement."""
        return self.sentence + (self.warning or "")

    def notes(self) -> list[Note]:
        """Return the definitions of the operands, with shapes that the message leaves out, and the call."""
        found: list[Note] = []
        shown = self.shown
        for index in self.operands:
            name, fact = self.node.inputs[index], self.inputs[index]
            if fact.shape is None and fact.inside is None:
                continue  # an unknown shape explains nothing
            notes = _shape_notes(self.node.graph, name, fact)
            if notes and index in shown:
                notes[0] = notes[0][0], f"defines input {index}"
            found += notes
        if isinstance(self.source, int):
            found.append((self.node.place.at("input", self.source), f"read by {self.node.describe()}"))
        return [*(note for note in found if note[0] != self.place), *call_notes(self.call, shape_in_words)]


_FOLDED: Final = frozenset({"Cast", "Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
"""Operators that leave a constant constant. ONNX Runtime computes them when it loads a model (constant folding)."""

_MAX_FOLDED: Final = 20
"""The most such nodes in a row between a constant and its use."""


_COMPUTED_BOUNDS: Final = frozenset({"tensor(float)", "tensor(double)", "tensor(int32)", "tensor(int64)"})
"""The element types of a Range whose length onnx computes from constant bounds."""


def _is_constant(graph: Graph, name: str, call: Call | None, depth: int) -> bool:
    """Return whether a value is the same in each run: an initializer that no input overrides, or a Constant.

    Up to `depth` nodes of `_FOLDED` may be between the constant and the value, and a call may pass it to a function.
    """
    definition = graph.definition_of(name)
    if definition is None:
        return False
    node = definition.node
    if node is None and definition.graph.function is not None and definition.graph.is_function:
        argument = _argument(definition, call)
        return argument is not None and _is_constant(*argument, depth)
    if node is None:
        return definition.field != "input"
    if node.op_type in _FOLDED and not node.domain and node.inputs and depth:
        wrapped, *others = node.inputs
        is_constant = _is_constant(node.graph, wrapped, call, depth - 1)
        return is_constant and all(_is_constant(node.graph, each, call, 0) for each in others)
    return node.op_type == "Constant"


def has_shape_at_load(graph: Graph, name: str, call: Call | None, depth: int = _MAX_FOLDED) -> bool:
    """Return whether consumers know the shape of a value when they load a model.

    It is stored or declared, or up to `depth` nodes make it of such a value, and of constants.
    """
    definition = graph.definition_of(name)
    node = definition.node if definition is not None else None
    if definition is None:
        return False
    if node is None and definition.graph.is_function:
        argument = _argument(definition, call)
        return argument is not None and has_shape_at_load(*argument, depth)
    if node is None:
        return True
    with_shapes = _WITH_SHAPES.get(node.op_type) if not node.domain and depth else None
    if with_shapes is None:
        return _is_folded(graph, name, call, depth)
    shaped, constant = node.inputs[:with_shapes], node.inputs[with_shapes:]
    are_known = all(has_shape_at_load(node.graph, each, call, depth - 1) for each in shaped)
    return are_known and all(not each or _is_folded(node.graph, each, call, depth - 1) for each in constant)


def _is_folded(graph: Graph, name: str, call: Call | None, depth: int) -> bool:
    """Return whether ONNX Runtime knows a value when it loads a model: up to `depth` nodes in a row compute it of
    constants and of sizes that inputs are declared with.
    """
    definition = graph.definition_of(name)
    node = definition.node if definition is not None else None
    if definition is not None and node is None and definition.graph.is_function:
        argument = _argument(definition, call)
        return argument is not None and _is_folded(*argument, depth)
    if node is None:
        return definition is not None and definition.field != "input"
    if node.op_type == "Constant":
        return True
    if node.domain or not depth or node.op_type in _NOT_FOLDED or not any(node.inputs):
        return False
    if node.op_type == "Shape" and _has_declared_sizes(node.graph, node.inputs[0]):
        return True
    return all(not each or _is_folded(node.graph, each, call, depth - 1) for each in node.inputs)


def _has_declared_sizes(graph: Graph, name: str) -> bool:
    """Return whether a value is an input of its graph that is declared with sizes alone."""
    definition = graph.definition_of(name)
    if definition is None or definition.field != "input" or definition.graph.is_function:
        return False
    return are_sizes(fact_of_type(definition.graph.proto.input[definition.index].type).shape)


_NOT_FOLDED: Final = NONDETERMINISTIC | CONTROL_FLOW_OPERATORS


_WITH_SHAPES: Final = {
    **dict.fromkeys(("Constant", "ConstantOfShape"), 0),
    **dict.fromkeys(("Cast", "Expand", "Identity", "Relu", "Reshape", "Sigmoid", "Slice", "Transpose"), 1),
    **dict.fromkeys(("Add", "Conv", "Div", "Gemm", "MatMul", "Mul", "Sub"), 3),
}
"""Operators whose output shape consumers infer from the shapes of so many inputs, if the other inputs are constants."""


def _argument(definition: Definition, call: Call | None) -> tuple[Graph, str, Call | None] | None:
    """Return the argument of the call for an input of a function: its graph and name, and the call around it."""
    function = definition.graph.function
    # A graph that a function passes to another one runs in a call of the other.
    while call and function and (call.node.domain, call.node.op_type) != (function.domain, function.name):
        call = call.around
    if call is None or definition.index >= len(call.node.inputs):
        return None
    return call.node.graph, call.node.inputs[definition.index], call.around


def _element_place(node: Node, operand: int, element: int | None) -> Place:
    """Return the place of an element in the initializer that an input names; the input if the element has no place."""
    graph: Graph | None = node.graph
    name = node.inputs[operand]
    while graph is not None and not graph.is_function:
        if name in graph.positions:
            break
        graph = graph.parent
    if graph is None or graph.is_function or name not in graph.initializer_index:
        return node.place.at("input", operand)
    index = graph.initializer_index[name]
    place = graph.place.at("initializer", index)
    proto = graph.message_at("initializer", index)
    for field in ("int64_data", "int32_data", "float_data", "double_data"):
        if element is not None and element < len(getattr(proto, field)):
            return place.at(field, element)
    return place


class DeclaredShapeConflict(DeclaredValue):
    """A value whose declared shape contradicts the inferred one."""

    declared: Fact
    inferred: Fact
    call: Call | None
    branch: str = ""
    """The branch of an If that has the inferred shape; empty if it holds for both branches."""

    @property
    def place(self) -> Place:
        """The dimension that differs, or the shape if the ranks differ."""
        return self.places[0]

    @property
    def places(self) -> list[Place]:
        """All dimensions that differ, or the shape if the ranks differ."""
        return _shape_places(self.graph.place.at(self.field, self.index), self.declared, self.inferred)

    @property
    def allowed(self) -> str:
        """The inferred shape."""
        return (
            f"a shape that fits {shape_in_words(self.inferred)} as well"
            if self.branch
            else shape_in_words(self.inferred)
        )

    @property
    def cause(self) -> str | None:
        """The node and the axes that differ: several outputs may be declared for one wrong axis.

        For Constants that value_info declares, the two shapes: an exporter makes the same mistake for all of them.
        """
        definition = self.graph.definition_of(self.subject)
        if definition is None or definition.node is None:
            return None
        if definition.node.op_type == "Constant" and self.field == "value_info":
            return f"{self.graph.name} Constant {self.declared.shape} {self.inferred.shape}"
        pairs = enumerate(zip(self.declared.shape or (), self.inferred.shape or (), strict=False))
        axes = [axis for axis, (one, other) in pairs if not agree(one, other)]
        return f"{self.graph.name} {definition.node.index} {' '.join(definition.node.outputs)} {axes}"

    @property
    def differs_in_elements(self) -> bool:
        """True if the value has a sequence whose elements do not all have the declared shape."""
        declared, inferred = self._sequences
        return bool(inferred.elements) and declared.inside is not None

    @property
    def differs_only_in_variables(self) -> bool:
        """True if the elements of a sequence differ only in dimensions that are declared as variables."""
        declared, inferred = self._sequences
        stated = declared.inside.shape if declared.inside is not None else None
        sizes = tuple([dim if isinstance(dim, int) else None for dim in stated or ()])
        return may_all_have(inferred.elements, sizes)

    @property
    def _sequences(self) -> tuple[Fact, Fact]:
        """The declared and the inferred fact of the sequence, which may be in an optional."""
        declared, inferred = self.declared, self.inferred
        while not inferred.elements and inferred.inside is not None and declared.inside is not None:
            declared, inferred = declared.inside, inferred.inside
        return declared, inferred

    def describe(self) -> str:
        """Return the declared shape and the inferred one."""
        return f"{self.describe_declaration(shape_in_words(self.declared))}, but {self._inferred_in_words}"

    def describe_from_node(self) -> str:
        """Return the inferred shape and the declared one, for a fault of the node."""
        return f"{self._inferred_in_words}, but {self.describe_declaration(shape_in_words(self.declared))}"

    @property
    def _inferred_in_words(self) -> str:
        producer = self.definition.describe() if self.definition is not None else "the node"
        branch = f" in {self.branch}" if self.branch else ""
        return f"{producer} is {shape_in_words(self.inferred)}{branch}"

    def notes(self) -> list[Note]:
        """Return the definition of the value, and the call that supplies it."""
        return self.defined() + call_notes(self.call, shape_in_words)


class DeclaredCountConflict(DeclaredValue):
    """The output of a Reshape whose declared shape has another number of elements than the input."""

    declared: Fact
    data: Fact
    """The fact about the input."""
    call: Call | None

    @property
    def place(self) -> Place:
        """The declared shape."""
        return self.graph.place.at(self.field, self.index).at("type").at("tensor_type").at("shape")

    @property
    def allowed(self) -> str:
        """The number of elements that the shape must have."""
        return f"as many elements as {shape_in_words(self.data)} has"

    def describe(self) -> str:
        """Return the declared shape and the shape of the input."""
        node = self.definition.node if self.definition is not None else None
        data = f"input 0 {quote(node.inputs[0])} of {node.describe()}" if node is not None else "the input"
        reason = f"{data} is {shape_in_words(self.data)}, which has another number of elements"
        return f"{self.describe_declaration(shape_in_words(self.declared))}, but {reason}"

    def notes(self) -> list[Note]:
        """Return the definition of the input, and the call that supplies it."""
        node = self.definition.node if self.definition is not None else None
        found = [] if node is None else _shape_notes(node.graph, node.inputs[0], self.data)
        return found + call_notes(self.call, shape_in_words)


class _SubgraphShapeConflict(Record):
    """A conflict about an input or output of a subgraph."""

    node: Node
    graph: Graph
    index: int
    shapes: tuple[Fact, Fact]
    """The required shape, and the shape that the value has."""
    call: Call | None

    @classmethod
    def key_at(cls, graph: Graph, index: int) -> tuple[object, ...]:
        """Return the key of a conflict of this kind about an input or output."""
        return id(graph), cls, index

    @property
    def key(self) -> tuple[object, ...]:
        """Identifies the conflict, in any call."""
        return self.key_at(self.graph, self.index)

    @property
    def cause_key(self) -> tuple[object, ...] | None:
        """The key of the conflict that this one follows from, if it was found as well."""
        return None

    @property
    def inner(self) -> str:
        """Empty: `place` is the dimension that is wrong, or the whole shape."""
        return ""

    @property
    def allowed(self) -> str:
        """The shape that is required."""
        return shape_in_words(self.shapes[0])

    def notes(self) -> list[Note]:
        """Return the node, and the call that supplies the shapes."""
        return [(self.node.place, self.node.describe()), *call_notes(self.call, shape_in_words)]


class SuppliedShapeConflict(_SubgraphShapeConflict):
    """An input of a subgraph that is declared with another shape than its control-flow operator supplies."""

    @property
    def place(self) -> Place:
        """The dimension that differs, or the shape if the ranks differ."""
        supplied, declared = self.shapes
        return _shape_places(self.graph.place.at("input", self.index), declared, supplied)[0]

    @property
    def subject(self) -> str:
        """The name of the input."""
        return self.graph.input_names[self.index]

    def describe(self) -> str:
        """Return the declared shape and the supplied one."""
        supplied, declared = map(shape_in_words, self.shapes)
        what = f"input {self.index} {quote(self.subject)} of {self.graph.describe()}"
        return f"{what} is declared as {declared}, but {self.node.describe()} supplies {supplied}"


class _OutputShapeConflict(_SubgraphShapeConflict):
    """A conflict about an output of a subgraph."""

    @property
    def place(self) -> Place:
        """The output of the subgraph."""
        return self.graph.place.at("output", self.index)

    @property
    def subject(self) -> str:
        """The name of that output."""
        return self.graph.output_names[self.index]

    def describe_output(self, graph: Graph, shape: Fact) -> str:
        """Return the output of a subgraph with its shape."""
        name = quote(graph.output_names[self.index])
        return f"output {self.index} {name} of {graph.describe()} is {shape_in_words(shape)}"


class StateShapeConflict(_OutputShapeConflict):
    """A state of a Scan that its body returns with another shape than it began with."""

    @property
    def cause_key(self) -> tuple[object, ...]:
        """The key of the conflict about the state as an input of the body, which is declared with another shape."""
        return SuppliedShapeConflict.key_at(self.graph, self.index)

    def describe(self) -> str:
        """Return both shapes."""
        begins = f"the state of {self.node.describe()} begins as {shape_in_words(self.shapes[0])}"
        return f"{self.describe_output(self.graph, self.shapes[1])}, but {begins}; a state must keep its shape"


class PieceShapeConflict(_OutputShapeConflict):
    """A scan output of a Loop or Scan for which runs of the body return different shapes."""

    run: int
    """The first run with another shape than the first one, from 0 on."""

    def describe(self) -> str:
        """Return the shapes of both runs."""
        one, other = map(shape_in_words, self.shapes)
        what = f"output {self.index} {quote(self.subject)} of {self.graph.describe()}"
        runs = f"is {other} in iteration {self.run} of {self.node.describe()}, but {one} in iteration 0"
        return f"{what} {runs}; all iterations must return one shape for a scan output"


class BranchShapeConflict(_OutputShapeConflict):
    """An If output whose branches produce different shapes: the output of the second one, `graph`."""

    first: Graph
    """The first branch."""

    def describe(self) -> str:
        """Return both outputs and their shapes."""
        one, other = self.describe_output(self.first, self.shapes[0]), self.describe_output(self.graph, self.shapes[1])
        return f"{other}, but {one}; branches of {self.node.describe()} must return one shape"

    def notes(self) -> list[Note]:
        """Return the output of the first branch, and the call that supplies the shapes."""
        other = f"{quote(self.first.output_names[self.index])} of the other branch"
        return [(self.first.place.at("output", self.index), other), *call_notes(self.call, shape_in_words)]


SubgraphShapeProblem = BranchShapeConflict | PieceShapeConflict | StateShapeConflict | SuppliedShapeConflict


def _shape_places(value_info: Place, declared: Fact, found: Fact) -> list[Place]:
    """Return the dimensions that differ, or the place of all of them if the ranks differ."""
    if declared.shape is None or found.shape is None:
        return [value_info]
    place = value_info.at("type").at("tensor_type").at("shape")
    if len(declared.shape) != len(found.shape):
        return [place]
    pairs = enumerate(zip(declared.shape, found.shape, strict=True))
    return [place.at("dim", axis) for axis, (one, other) in pairs if not agree(one, other)] or [place]


def _shape_notes(graph: Graph, name: str, fact: Fact) -> list[Note]:
    """Return notes on a value: its definition with its shape, and each declaration that has sizes."""
    definition = graph.definition_of(name)
    if definition is None:
        return []
    found: list[Note] = [(definition.place, f"{quote(name)} is {shape_in_words(fact)}")]
    owner: Graph | None = graph
    while owner is not None and name not in owner.positions:
        owner = owner.parent
    if owner is None or owner.is_function or owner.positions[name] == BEFORE_NODES:
        return found
    for field, names in (("value_info", owner.value_info_names), ("output", owner.output_names)):
        if name in names:
            index = names.index(name)
            declared = fact_of_type(owner.message_at(field, index).type)
            if any(dim is not None for dim in declared.shape or ()):
                place = owner.place.at(field, index)
                found.append((place, f"{quote(name)} is declared as {shape_in_words(declared)}"))
    return found
