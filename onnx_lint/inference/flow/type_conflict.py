# SPDX-License-Identifier: Apache-2.0
"""Contradictions between types, operators, declarations and subgraphs, with the wording of their findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.conflict import DeclaredValue, Note, call_notes, name_of_input
from onnx_lint.inference.flow.repairs.edits import with_attributes
from onnx_lint.inference.flow.walks import Call, FurtherCalls
from onnx_lint.inference.types.problem import Contradicted, Differing, Disallowed, DisallowedOutput, TypeProblem
from onnx_lint.inference.types.subgraph_types import Mismatch, SubgraphRole
from onnx_lint.inference.types.type_string import (
    ValueType,
    describe_types,
    fits_after_optional,
    is_optional,
    optional_element,
    optional_of,
    tensor_element,
)
from onnx_lint.inference.types.typed_operator import Inputs, allowed_types, shared_variable
from onnx_lint.ir.graph import Graph, Node
from onnx_lint.ir.operators.mismatch import attributes_with, describe_schema, version_with
from onnx_lint.ir.operators.proposals import Proposal, Proposals, only
from onnx_lint.ir.places.place import Place
from onnx_lint.spec.element_types import ELEMENT_TYPES
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES, OperatorSchema, OperatorSchemas, Parameter
from onnx_lint.wording import quote


def _call_notes(call: Call | None) -> list[Note]:
    return call_notes(call, lambda fact: fact.kind or "an unknown type")


def _differ_in_option(one: ValueType, other: ValueType) -> bool:
    """Return whether one of the types is the optional type of the other."""
    return one == optional_of(other) or other == optional_of(one)


class OperandConflict(Record):
    """A node whose operands' types the signature does not allow."""

    node: Node
    schema: OperatorSchema
    schemas: OperatorSchemas
    """The source of the other versions of the operator."""
    problem: TypeProblem
    inputs: Inputs
    call: Call | None
    further: FurtherCalls | None = None
    """Other calls of the function with the same problem."""

    @property
    def key(self) -> tuple[object, ...]:
        """Identifies the problem at the node, in any call."""
        return id(self.node.graph), self.node.index, self.problem

    @property
    def place(self) -> Place:
        """The name in the node's list of inputs or outputs."""
        field = "output" if isinstance(self.problem, DisallowedOutput) else "input"
        return self.node.place.at(field, self.problem.index)

    @property
    def subject(self) -> str:
        """The name of the value."""
        names = self.node.outputs if isinstance(self.problem, DisallowedOutput) else self.node.inputs
        return names[self.problem.index]

    def types_allowed_for(self, index: int) -> frozenset[ValueType]:
        """Return the types that the signature allows for an input; none if it has no such input."""
        parameter = self.schema.input_at(index)
        return allowed_types(parameter) if parameter is not None else frozenset()

    @property
    def allowed(self) -> str:
        """The types that the signature allows for the operand, or the words for two that must be equal."""
        problem, schema = self.problem, self.schema
        if isinstance(problem, Differing):
            return f"{_common_types(self, problem)} for both"
        if isinstance(problem, Contradicted):
            stated = schema.input_at(problem.index)
            return describe_types(problem.allowed & allowed_types(stated)) if stated is not None else ""
        is_input = isinstance(problem, Disallowed)
        parameter = schema.input_at(problem.index) if is_input else schema.output_at(problem.index)
        return describe_types(allowed_types(parameter)) if parameter is not None else ""

    @property
    def cause(self) -> str:
        """The operator, the operands and their types."""
        problem, schema = self.problem, self.schema
        given = [f"{name_of_input(schema, each)}: {self.inputs[each]}" for each in _inputs_of(problem)]
        if isinstance(problem, DisallowedOutput):
            given = [f"output {problem.index}: {problem.type}"]
        return f"{schema.domain}::{schema.name} {type(problem).__name__} {', '.join(given)}"

    @property
    def proposals(self) -> Proposals | None:
        """The number of the attribute with which the types fit; None if types differ, which a Cast must fix."""
        problem = self.problem
        if not isinstance(problem, Contradicted) or problem.fitting is None:
            return None
        values = {problem.attribute: problem.fitting}
        sentence = f"with {problem.attribute}={problem.fitting} the types fit"
        return only(Proposal(sentence, lambda _: with_attributes(self.node, values)))

    @property
    def inner(self) -> str:
        """The types of two inputs that must be equal: which of them is wrong is not known, but they may change places.

        Any other type is that of the whole value.
        """
        if not isinstance(self.problem, Differing):
            return ""
        return ", ".join(f"input {index}: {self.inputs[index]}" for index in _inputs_of(self.problem))

    @property
    def inner_of_node(self) -> str:
        """The same, as the place is the operand."""
        return self.inner

    def apart(self) -> list[OperandConflict]:
        """Return the conflict alone: it is about one operand."""
        return [self]

    @property
    def lacks_conversion(self) -> bool:
        """True if the operator would accept the input after it is put into an optional type, or taken out of one."""
        kind = self.inputs[self.problem.index] if isinstance(self.problem, Disallowed) else None
        parameter = self.schema.input_at(self.problem.index)
        if not kind or parameter is None:
            return False
        if "?" in kind:
            return fits_after_optional(kind, allowed_types(parameter))
        converted = optional_element(kind) if is_optional(kind) else optional_of(kind)
        return converted in allowed_types(parameter)

    def describe(self) -> str:
        """Return the types, and the version that would allow them; `allowed` lists the types of this version."""
        operator, problem = describe_schema(self.schema), self.problem
        if isinstance(problem, DisallowedOutput):
            what = f"output {problem.index} {quote(self.subject)} of {self.node.describe()}"
            return f"{what} is inferred as {problem.type}, which {operator} does not produce{_hint(self)}"
        if isinstance(problem, Differing):
            pair = " and ".join(_typed_input(self, index) for index in (problem.other, problem.index))
            wanted = f"but {operator} {_binding(self.schema, problem)}"
            return f"{pair} at {self.node.describe()}, {wanted}{_hint(self)}"
        given, hint = (_with_attribute(self, problem), "") if isinstance(problem, Contradicted) else ("", _hint(self))
        what = _typed_input(self, problem.index, f" of {self.node.describe()}")
        if "," in self.allowed:
            return f"{what}, which {operator} does not allow{given and f' {given}'}{hint}"
        return f"{what}, but {given and f'{given} '}{operator} needs {self.allowed}{hint}"

    def notes(self) -> list[Note]:
        """Return the definitions of the inputs in question, whose types the message has, and the call."""
        found: list[Note] = []
        for index in _inputs_of(self.problem):
            definition = self.node.graph.definition_of(self.node.inputs[index])
            if definition is not None:
                found.append((definition.place, f"defines input {index}"))
        return found + _call_notes(self.call)


class RefusedInitializer(Record):
    """The common words for the conflicts about an initializer that several operators refuse."""

    cause: str
    """The causes of the conflicts."""
    allowed: str
    """The types that all of the operators allow."""


def refused_initializers(conflicts: Iterable[OperandConflict]) -> dict[Place, RefusedInitializer]:
    """Return the initializers that several operators refuse, by the places of their conflicts.

    Such a tensor is stored with a wrong type. One for which no type fits all of the operators is left out.
    """
    readers: dict[Place, list[tuple[OperandConflict, Parameter]]] = {}
    for each in conflicts:
        parameter = each.schema.input_at(each.problem.index)
        if isinstance(each.problem, Disallowed) and parameter is not None:
            definition = each.node.graph.definition_of(each.subject)
            if definition is not None and definition.field == "initializer":
                readers.setdefault(definition.place, []).append((each, parameter))
    found = {}
    for same in readers.values():
        causes = sorted({each.cause for each, _ in same})
        fitting = frozenset.intersection(*(allowed_types(parameter) for _, parameter in same))
        if len(causes) > 1 and fitting:
            refused = RefusedInitializer("; ".join(causes), describe_types(fitting))
            found.update({each.place: refused for each, _ in same})
    return found


def _with_attribute(conflict: OperandConflict, problem: Contradicted) -> str:
    """Return the attribute with its number, if that is known."""
    name = problem.attribute
    proto = next((each for each in conflict.node.attribute_protos if each.name == name), None)
    if proto is None and problem.fitting is not None:
        return f"without {name}={problem.fitting}"
    if proto is None or proto.ref_attr_name or proto.type != ATTRIBUTE_TYPE_CODES["INT"]:
        return f"{'without' if proto is None else 'with'} attribute {quote(name)}"
    element = ELEMENT_TYPES.get(proto.i)
    given = f"with {name}={proto.i}{'' if element is None else f' ({element.name.upper()})'}"
    name_of_kind = tensor_element(conflict.inputs[problem.index])
    own = next((each for each in ELEMENT_TYPES.values() if each.name == name_of_kind), None)
    if conflict.schema.name != "BitCast" or element is None or own is None:
        return given
    return f"{given}: {own.bits} bits cannot become {element.bits}"


def _common_types(conflict: OperandConflict, problem: Differing) -> str:
    """Return the one or two types of the inputs that the operator takes for both of them."""
    parameters = [conflict.schema.input_at(index) for index in (problem.other, problem.index)]
    allowed = [allowed_types(parameter) for parameter in parameters if parameter is not None]
    given = dict.fromkeys(conflict.inputs[index] for index in (problem.other, problem.index))
    names = [kind for kind in given if kind and all(kind in kinds for kinds in allowed)]
    return " or ".join(names) or "one type"


def _inputs_of(problem: TypeProblem) -> list[int]:
    """Return the inputs that the problem is about."""
    if isinstance(problem, Differing):
        return [problem.other, problem.index]
    return [] if isinstance(problem, DisallowedOutput) else [problem.index]


def _typed_input(conflict: OperandConflict, index: int, of: str = "") -> str:
    """Return an input with its type and its origin."""
    definition = conflict.node.graph.definition_of(conflict.node.inputs[index])
    origin = f" ({definition.describe()})" if definition is not None else ""
    return f"input {index} {quote(conflict.node.inputs[index])}{of} is {conflict.inputs[index]}{origin}"


def _binding(schema: OperatorSchema, problem: Differing) -> str:
    one, other = schema.input_at(problem.index), schema.input_at(problem.other)
    if one is None or not _are_bound(one, other):
        return "needs one element type in both"
    return f"needs one type {one.variable} for both"


def _are_bound(one: Parameter | None, other: Parameter | None) -> bool:
    """Return whether two inputs share a type variable, and each of them has one type for all its arguments."""
    if one is None or other is None:
        return False
    return shared_variable(one) != "" and shared_variable(one) == shared_variable(other)


# --- the version that would allow the types


def version_that_takes(conflict: OperandConflict) -> int | None:
    """Return the next later version of the operator that allows the types; None if there is none."""
    found = version_with(conflict.schemas, conflict.schema, lambda schema: _takes(schema, conflict))
    if found is None:
        return None
    version, is_later = found
    return version if is_later else None


def _hint(conflict: OperandConflict) -> str:
    return _version_hint(conflict.schema, conflict.schemas, lambda schema: _takes(schema, conflict))


def _version_hint(schema: OperatorSchema, schemas: OperatorSchemas, allows: Callable[[OperatorSchema], bool]) -> str:
    """Return the other version of an operator that allows something: the next later one, or else the next earlier.

    The result is a phrase to append to a message; empty if there is none. Deprecated versions are skipped.
    """
    found = version_with(schemas, schema, allows)
    if found is None:
        return ""
    version, is_later = found
    return f"; opset {version} allows it" if is_later else f"; it was allowed up to opset {version}"


def _takes(schema: OperatorSchema, conflict: OperandConflict) -> bool:
    """Return whether a signature allows the type of the input or output in the conflict, or those of both inputs."""
    problem = conflict.problem
    if isinstance(problem, DisallowedOutput):
        return _gives(schema, problem.index, problem.type)
    indices = _inputs_of(problem)
    parameters = [schema.input_at(index) for index in indices]
    allowed = [
        parameter is not None and conflict.inputs[index] in allowed_types(parameter)
        for index, parameter in zip(indices, parameters, strict=True)
    ]
    return all(allowed) and (len(indices) == 1 or not _are_bound(*parameters))


def _gives(schema: OperatorSchema, index: int, kind: ValueType) -> bool:
    """Return whether a signature allows a type for an output."""
    output = schema.output_at(index)
    return output is not None and kind in allowed_types(output)


# --- declarations and subgraphs


class DeclarationConflict(DeclaredValue):
    """A value whose declared type contradicts the inferred one."""

    declared: ValueType
    inferred: ValueType
    call: Call | None

    @property
    def allowed(self) -> str:
        """The inferred type."""
        return self.inferred

    @property
    def lacks_conversion(self) -> bool:
        """True if one of the types is the optional type of the other."""
        return _differ_in_option(self.declared, self.inferred)

    def describe(self) -> str:
        """Return the declared type and the inferred one."""
        producer = self.definition.describe() if self.definition is not None else "the node"
        either = "; either of the two is wrong" if self.cast_to is not None else ""
        return f"{self.describe_declaration(self.declared)}, but {producer} is {self.inferred}{either}"

    @property
    def cast_to(self) -> Place | None:
        """The attribute of a Cast that decides the type: converters change one and forget the other."""
        node = self.definition.node if self.definition is not None else None
        index = next(attributes_with(node, {"to"}), None) if node is not None and node.op_type == "Cast" else None
        return None if node is None or index is None else node.place.at("attribute", index)

    def notes(self) -> list[Note]:
        """Return the definition of the value, and the call that supplies its type."""
        found = self.defined()
        if self.cast_to is not None:
            found.append((self.cast_to, "the other suspect: what the Cast converts to"))
        return found + _call_notes(self.call)


class ImpossibleDeclaration(DeclaredValue):
    """A value whose declared type the operator of its node can never produce."""

    declared: ValueType
    schema: OperatorSchema
    schemas: OperatorSchemas
    """The source of the other versions of the operator."""
    call: Call | None

    @property
    def allowed(self) -> str:
        """The types that the signature allows for the output."""
        return describe_types(self._given)

    @property
    def lacks_conversion(self) -> bool:
        """True if the operator produces the type inside the declared one, or the optional type of the declared one."""
        return any(_differ_in_option(self.declared, given) for given in self._given)

    @property
    def _index(self) -> int:
        definition = self.definition
        assert definition is not None, "the value comes from a node of the graph"
        return definition.index

    @property
    def _given(self) -> frozenset[ValueType]:
        output = self.schema.output_at(self._index)
        return allowed_types(output) if output is not None else frozenset()

    def describe(self) -> str:
        """Return the declared type, and the version that would produce it; `allowed` has the types of this version."""
        hint = _version_hint(self.schema, self.schemas, lambda schema: _gives(schema, self._index, self.declared))
        reason = f"{describe_schema(self.schema)} does not produce it{hint}"
        producer = self.definition.describe() if self.definition is not None else "the node"
        return f"{self.describe_declaration(self.declared)}, which {producer} cannot be: {reason}"

    def notes(self) -> list[Note]:
        """Return the definition of the value, and the call of the enclosing function."""
        return self.defined() + _call_notes(self.call)


class SubgraphConflict(Record):
    """An input or output of a subgraph whose type is not the one that its control-flow operator requires."""

    node: Node
    graph: Graph
    mismatch: Mismatch
    call: Call | None

    @property
    def key(self) -> tuple[object, ...]:
        """Identifies the input or output, in any call."""
        return id(self.graph), self.mismatch.role, self.mismatch.index

    @property
    def place(self) -> Place:
        """The input or output of the subgraph."""
        return self.graph.at(self._field, self.mismatch.index)

    @property
    def allowed(self) -> str:
        """The type that the operator requires."""
        return self.mismatch.expected

    @property
    def subject(self) -> str | None:
        """The name of the node."""
        return self.node.name or None

    @property
    def inner(self) -> str:
        """The types of two branches: which of them is wrong is not known, but they may change places.

        Any other type is that of the whole value.
        """
        if self.mismatch.role is not SubgraphRole.BRANCH:
            return ""
        return f"{self.mismatch.found} beside {self.mismatch.expected}"

    @property
    def lacks_conversion(self) -> bool:
        """True if one of the types is the optional type of the other."""
        return _differ_in_option(self.mismatch.found, self.mismatch.expected)

    @property
    def _field(self) -> str:
        return "input" if self.mismatch.role is SubgraphRole.INPUT else "output"

    def describe(self) -> str:
        """Return the type and the one that the operator requires."""
        role, index = self.mismatch.role, self.mismatch.index
        found, expected = self.mismatch.found, self.mismatch.expected
        names = self.graph.input_names if role is SubgraphRole.INPUT else self.graph.output_names
        what = f"{self._field} {index} {quote(names[index])} of {self.graph.describe()}"
        return f"{what} {_MISMATCHES[role].format(found=found, node=self.node.describe(), expected=expected)}"

    def notes(self) -> list[Note]:
        """Return the node, and the call that supplies the types."""
        return [(self.node.place, self.node.describe()), *_call_notes(self.call)]


_MISMATCHES: Final[Mapping[SubgraphRole, str]] = {
    SubgraphRole.INPUT: "is declared as {found}, but {node} supplies {expected}",
    SubgraphRole.CONDITION: "is {found}, but the condition of {node} is {expected}",
    SubgraphRole.BRANCH: "is {found}, but the other branch of {node} produces {expected}",
    SubgraphRole.CARRIED: "is {found}, but the carried value of {node} begins as {expected}",
    SubgraphRole.SCAN_OUTPUT: "is {found}, but each scan output of {node} is {expected}",
    SubgraphRole.MODIFIED: "is {found}, but {node} requires the type of the input, {expected}",
}
