# SPDX-License-Identifier: Apache-2.0
"""How messages speak of conflicts of types: the value, its type, and where it comes from."""

from __future__ import annotations

from onnx_lint.model.fit import describe_schema
from onnx_lint.model.graph import Definition, Graph
from onnx_lint.model.place import Place
from onnx_lint.model.typing.conflict import (
    CallSite,
    DeclarationConflict,
    OperandConflict,
    SubgraphConflict,
    SubgraphRole,
)
from onnx_lint.model.typing.typed_operator import (
    Differing,
    Disallowed,
    DisallowedOutput,
    allowed_types,
    shared_variable,
)
from onnx_lint.model.typing.value_type import describe_types
from onnx_lint.spec.operators import OperatorSchema, OperatorSchemas, Parameter
from onnx_lint.wording import quote

Note = tuple[Place, str]
"""A place that belongs to a conflict, and what stands there."""


def describe_operands(conflict: OperandConflict, schemas: OperatorSchemas) -> str:
    """What is the matter with the types of a node's operands."""
    node, schema, problem = conflict.node, conflict.schema, conflict.problem
    if isinstance(problem, Disallowed):
        kind = conflict.inputs[problem.index] or ""
        return (
            f"{_input(conflict, problem.index)} of {node.describe()} is {kind}{_origin(conflict, problem.index)}, "
            f"{describe_schema(schema)} takes {allowed_at(conflict)}{_other_version(schemas, conflict)}"
        )
    if isinstance(problem, Differing):
        first, second = (
            f"{_input(conflict, index)} is {conflict.inputs[index]}{_origin(conflict, index)}"
            for index in (problem.other, problem.index)
        )
        rule = f"{describe_schema(schema)} {_binding(conflict, problem)}{_other_version(schemas, conflict)}"
        return f"{first} and {second} at {node.describe()}, {rule}"
    return (
        f"output {problem.index} {quote(node.outputs[problem.index])} of {node.describe()} comes to be {problem.type}, "
        f"{describe_schema(schema)} gives {allowed_at(conflict)}{_other_version(schemas, conflict)}"
    )


def allowed_at(conflict: OperandConflict) -> str:
    """The types that the signature has for the operand that is not of any of them, or for the two that differ."""
    problem, schema = conflict.problem, conflict.schema
    if isinstance(problem, Differing):
        return "one type for both"
    is_input = isinstance(problem, Disallowed)
    parameter = schema.input_at(problem.index) if is_input else schema.output_at(problem.index)
    return describe_types(allowed_types(parameter)) if parameter is not None else ""


def operand_notes(conflict: OperandConflict) -> list[Note]:
    """Where the values of the inputs in question come from, and the call that brought their types."""
    problem = conflict.problem
    indices = [problem.other, problem.index] if isinstance(problem, Differing) else []
    indices += [problem.index] if isinstance(problem, Disallowed) else []
    notes = []
    for index in indices:
        name = conflict.node.inputs[index]
        definition = definition_of(conflict.node.graph, name)
        if definition is not None:
            notes.append((definition.place, f"{quote(name)} is {conflict.inputs[index]}"))
    return notes + site_notes(conflict.site)


def describe_declaration(conflict: DeclarationConflict) -> str:
    """What is the matter with a declared type."""
    word = conflict.field.replace("_", " ")
    definition = definition_of(conflict.graph, conflict.name)
    maker = definition.describe() if definition is not None else "the node"
    return (
        f"{word} {quote(conflict.name)} of {conflict.graph.describe()} is declared as {conflict.declared}, "
        f"{maker} is {conflict.inferred}"
    )


def declaration_notes(conflict: DeclarationConflict) -> list[Note]:
    """Where the value comes from, and the call that brought its type."""
    definition = definition_of(conflict.graph, conflict.name)
    notes = [] if definition is None else [(definition.place, f"{quote(conflict.name)} is {conflict.inferred}")]
    return notes + site_notes(conflict.site)


def describe_subgraph(conflict: SubgraphConflict) -> str:
    """What is the matter with the type of a subgraph's input or output."""
    node, role = conflict.node, conflict.role
    names = conflict.graph.input_names if role is SubgraphRole.INPUT else conflict.graph.output_names
    field = "input" if role is SubgraphRole.INPUT else "output"
    what = f"{field} {conflict.index} {quote(names[conflict.index])} of {conflict.graph.describe()}"
    match role:
        case SubgraphRole.INPUT:
            return f"{what} is declared as {conflict.found}, {node.describe()} supplies {conflict.expected}"
        case SubgraphRole.CONDITION:
            return f"{what} is {conflict.found}, as the condition of {node.describe()} it is {conflict.expected}"
        case SubgraphRole.BRANCH:
            return f"{what} is {conflict.found}, the other branch of {node.describe()} gives {conflict.expected}"
        case SubgraphRole.CARRIED:
            return f"{what} is {conflict.found}, {node.describe()} carries on what begins as {conflict.expected}"


def subgraph_place(conflict: SubgraphConflict) -> Place:
    """The input or output of the subgraph."""
    field = "input" if conflict.role is SubgraphRole.INPUT else "output"
    return conflict.graph.place.at(field, conflict.index)


def site_notes(site: CallSite | None) -> list[Note]:
    """The call by which the types came in."""
    if site is None:
        return []
    types = ", ".join("nothing" if kind == "" else kind or "an unknown type" for kind in site.inputs)
    return [(site.node.place, f"called by {site.node.describe()} with {types}")]


def definition_of(graph: Graph, name: str) -> Definition | None:
    """What defines a name where the nodes of a graph use it."""
    return graph.first_definitions.get(name) or graph.outer_definition(name)


def _input(conflict: OperandConflict, index: int) -> str:
    return f"input {index} {quote(conflict.node.inputs[index])}"


def _origin(conflict: OperandConflict, index: int) -> str:
    definition = definition_of(conflict.node.graph, conflict.node.inputs[index])
    return f" ({definition.describe()})" if definition is not None else ""


def _binding(conflict: OperandConflict, problem: Differing) -> str:
    parameter, other = conflict.schema.input_at(problem.index), conflict.schema.input_at(problem.other)
    if parameter is None or other is None or parameter.variable != other.variable:
        return "has tensors of one element type in both"
    return f"has one type {parameter.variable} for both"


def _other_version(schemas: OperatorSchemas, conflict: OperandConflict) -> str:
    """Which other version allows the types there, the next later one or else the next earlier; empty if none does."""
    schema = conflict.schema
    versions = schemas.versions(schema.domain, schema.name)
    for version in versions:
        if version > schema.since_version and _takes(schemas.find(schema.domain, schema.name, version), conflict):
            return f"; opset {version} allows it"
    for version in reversed(versions):
        if version < schema.since_version and _takes(schemas.find(schema.domain, schema.name, version), conflict):
            until = next(later for later in versions if later > version) - 1
            return f"; it was allowed up to opset {until}"
    return ""


def _takes(schema: OperatorSchema | None, conflict: OperandConflict) -> bool:
    """Whether a signature allows the type of the one input or output, or the types of two inputs, in the conflict."""
    if schema is None or schema.deprecated:
        return False
    problem = conflict.problem
    if isinstance(problem, DisallowedOutput):
        output = schema.output_at(problem.index)
        return output is not None and problem.type in allowed_types(output)
    indices = [problem.other, problem.index] if isinstance(problem, Differing) else [problem.index]
    parameters = [schema.input_at(index) for index in indices]
    allowed = [
        parameter is not None and conflict.inputs[index] in allowed_types(parameter)
        for index, parameter in zip(indices, parameters, strict=True)
    ]
    return all(allowed) and (len(indices) == 1 or not _are_bound(*parameters))


def _are_bound(one: Parameter | None, other: Parameter | None) -> bool:
    """Whether two inputs share a type variable, and each of them has one type for all its arguments."""
    return (
        one is not None
        and other is not None
        and bool(shared_variable(one))
        and shared_variable(one) == shared_variable(other)
    )
