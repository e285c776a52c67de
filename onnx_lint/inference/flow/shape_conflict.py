# SPDX-License-Identifier: Apache-2.0
"""Contradictions between shapes, operators and declarations, with the texts of their findings."""

from __future__ import annotations

from itertools import islice
from typing import Final

from onnx_lint.common.digest import sha256
from onnx_lint.common.record import replace
from onnx_lint.inference.flow.conflict import WHOLE, DeclaredValue, Note, call_notes, name_of_input
from onnx_lint.inference.flow.joining import may_all_have
from onnx_lint.inference.flow.load_time import MAX_FOLDED, ValueInCall, is_constant
from onnx_lint.inference.flow.repairs.search import repairs_of
from onnx_lint.inference.flow.shape_words import WordedProblem, shape_in_words
from onnx_lint.inference.flow.walks import Call, FurtherCalls
from onnx_lint.inference.shapes.dims import agree
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
from onnx_lint.ir.graph import BEFORE_NODES, Graph, GraphKind, Node
from onnx_lint.ir.operators.mismatch import attributes_with
from onnx_lint.ir.operators.proposals import Proposal, Proposals
from onnx_lint.ir.places.place import Place
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.wording import MAX_LISTED_ELEMENTS, quote

_COMPUTED_BOUNDS: Final = frozenset({"tensor(float)", "tensor(double)", "tensor(int32)", "tensor(int64)"})
"""The element types of a Range whose length onnx computes from constant bounds."""


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
        is_accepted_at_load = problem.taken_constant or not self._is_known_at_load(problem.operand, MAX_FOLDED)
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
        return all(is_constant(ValueInCall(self.node.graph, each, self.call), depth) for each in inputs)

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
        return [each.proposal for each in repairs_of(self.node, self.schema, self.inputs, self.problem)]

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
        return shape_places(self.graph.place.at(self.field, self.index), self.declared, self.inferred)

    @property
    def allowed(self) -> str:
        """The inferred shape."""
        shape = shape_in_words(self.inferred)
        return f"a shape that fits {shape} as well" if self.branch else shape

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


def shape_places(value_info: Place, declared: Fact, found: Fact) -> list[Place]:
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
