# SPDX-License-Identifier: Apache-2.0
"""Nodes whose operands have types that the operator does not allow."""

from __future__ import annotations

from collections.abc import Callable

from onnx_lint.common.record import Record
from onnx_lint.inference.types.conflict import CallSite, Note, definition_of, name_of_input, site_notes
from onnx_lint.inference.types.problem import Contradicted, Differing, Disallowed, DisallowedOutput, TypeProblem
from onnx_lint.inference.types.type_string import (
    ValueType,
    describe_types,
    is_optional,
    optional_element,
    optional_of,
    tensor_element,
)
from onnx_lint.inference.types.typed_operator import Inputs, allowed_types, shared_variable
from onnx_lint.ir.graph import Node
from onnx_lint.ir.operators.mismatch import describe_schema, version_with
from onnx_lint.ir.places.place import Place
from onnx_lint.spec.element_types import ELEMENT_TYPES
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES, OperatorSchema, OperatorSchemas, Parameter
from onnx_lint.wording import quote


class OperandConflict(Record):
    """A node whose operands' types the signature does not allow."""

    node: Node
    schema: OperatorSchema
    schemas: OperatorSchemas
    """The source of the other versions of the operator."""
    problem: TypeProblem
    inputs: Inputs
    site: CallSite | None

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
    def hint(self) -> str | None:
        """The number of the attribute with which the types fit; None if types differ, which a Cast must mend."""
        problem = self.problem
        if not isinstance(problem, Contradicted) or problem.fitting is None:
            return None
        return f"with {problem.attribute}={problem.fitting} the types fit"

    @property
    def lacks_conversion(self) -> bool:
        """True if the operator would accept the input after it is put into an optional type, or taken out of one."""
        kind = self.inputs[self.problem.index] if isinstance(self.problem, Disallowed) else None
        parameter = self.schema.input_at(self.problem.index)
        if not kind or parameter is None:
            return False
        converted = optional_element(kind) if is_optional(kind) else optional_of(kind)
        return converted in allowed_types(parameter)

    def describe(self) -> str:
        """Return the types, and the version that would allow them; `allowed` lists the types of this version."""
        operator, problem = describe_schema(self.schema), self.problem
        if isinstance(problem, Contradicted):
            kind, origin = self.inputs[problem.index], _origin(self, problem.index)
            what = f"{_input(self, problem.index)} of {self.node.describe()} is {kind}{origin}"
            given = _with_attribute(self, problem)
            single = f"but {given} {operator} needs {self.allowed}"
            return f"{what}, {single if ',' not in self.allowed else f'which {operator} does not allow {given}'}"
        hint = _hint(self)
        if isinstance(problem, Disallowed):
            kind, origin = self.inputs[problem.index], _origin(self, problem.index)
            what = f"{_input(self, problem.index)} of {self.node.describe()} is {kind}{origin}"
            allowed = self.allowed
            wanted = f"but {operator} needs {allowed}" if "," not in allowed else f"which {operator} does not allow"
            return f"{what}, {wanted}{hint}"
        if isinstance(problem, Differing):
            first, second = (
                f"{_input(self, index)} is {self.inputs[index]}{_origin(self, index)}"
                for index in (problem.other, problem.index)
            )
            return (
                f"{first} and {second} at {self.node.describe()}, but {operator} {_binding(self.schema, problem)}{hint}"
            )
        what = f"output {problem.index} {quote(self.subject)} of {self.node.describe()} is inferred as {problem.type}"
        return f"{what}, which {operator} does not produce{hint}"

    def notes(self) -> list[Note]:
        """Return the definitions of the inputs in question, whose types the message has, and the call."""
        found: list[Note] = []
        for index in _inputs_of(self.problem):
            definition = definition_of(self.node.graph, self.node.inputs[index])
            if definition is not None:
                found.append((definition.place, f"defines input {index}"))
        return found + site_notes(self.site)


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


def _input(conflict: OperandConflict, index: int) -> str:
    return f"input {index} {quote(conflict.node.inputs[index])}"


def _origin(conflict: OperandConflict, index: int) -> str:
    definition = definition_of(conflict.node.graph, conflict.node.inputs[index])
    return f" ({definition.describe()})" if definition is not None else ""


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


def _hint(conflict: OperandConflict) -> str:
    return version_hint(conflict.schema, conflict.schemas, lambda schema: _takes(schema, conflict))


def version_hint(schema: OperatorSchema, schemas: OperatorSchemas, allows: Callable[[OperatorSchema], bool]) -> str:
    """Return the other version of an operator that allows something: the next later one, or else the next earlier.

    The result is a phrase to append to a message; empty if there is none. Deprecated versions are skipped.
    """
    found = version_with(schemas, schema, allows)
    if found is None:
        return ""
    return f"; opset {found[0]} allows it" if found[1] else f"; it was allowed up to opset {found[0]}"


def _takes(schema: OperatorSchema, conflict: OperandConflict) -> bool:
    """Return whether a signature allows the type of the input or output, or the types of two
    inputs, in the conflict.
    """
    problem = conflict.problem
    if isinstance(problem, DisallowedOutput):
        return gives(schema, problem.index, problem.type)
    indices = _inputs_of(problem)
    parameters = [schema.input_at(index) for index in indices]
    allowed = [
        parameter is not None and conflict.inputs[index] in allowed_types(parameter)
        for index, parameter in zip(indices, parameters, strict=True)
    ]
    return all(allowed) and (len(indices) == 1 or not _are_bound(*parameters))


def gives(schema: OperatorSchema, index: int, kind: ValueType) -> bool:
    """Return whether a signature allows a type for an output."""
    output = schema.output_at(index)
    return output is not None and kind in allowed_types(output)
