# SPDX-License-Identifier: Apache-2.0
"""The types of an operator's outputs, and the violations of its signature, from the types of its inputs."""

from __future__ import annotations

from typing import Final

from onnx_lint.common.cached import Memory
from onnx_lint.common.record import Record
from onnx_lint.inference.types.argument import Arguments
from onnx_lint.inference.types.decision import Application, OutputTypes
from onnx_lint.inference.types.output_types import OUTPUT_TYPES
from onnx_lint.inference.types.problem import Differing, Disallowed, DisallowedOutput, TypeProblem
from onnx_lint.inference.types.stated_types import contradicted_statements, stating_attributes
from onnx_lint.inference.types.type_string import ABSENT, ValueType, canonical, sequence_element
from onnx_lint.spec.operators import OperatorSchema, Parameter, ParameterOption

Inputs = tuple[ValueType | None, ...]
"""The types of a node's inputs; None if unknown, ABSENT if omitted."""


class TypeOutcome(Record):
    """The known types of the outputs, and the problems."""

    outputs: tuple[ValueType | None, ...]
    problems: tuple[TypeProblem, ...] = ()


class TypedOperator:
    """A signature with a cache of the outcomes for input types."""

    __slots__ = ("_fixed_outputs", "_outcomes", "attributes", "binds", "by_subgraphs", "schema")

    def __init__(self, schema: OperatorSchema, *, binds: bool = True) -> None:
        self.schema = schema
        self.binds = binds
        """True if nodes are checked against the signature; otherwise types are inferred without problems."""
        self._outcomes: Memory[tuple[Inputs, Arguments, int], TypeOutcome] = Memory(_MOST)
        output_types = OUTPUT_TYPES.get((schema.domain, schema.name), _BY_SIGNATURE)
        self.attributes = output_types.attributes | stating_attributes(schema.domain, schema.name)
        """The attributes that decide types."""
        self.by_subgraphs = output_types.by_subgraphs
        """True if the output types are those of its subgraphs."""
        self._fixed_outputs = not any(output.option is ParameterOption.VARIADIC for output in schema.outputs)

    def outcome(self, inputs: Inputs, arguments: Arguments, output_count: int) -> TypeOutcome:
        """Return the outcome; `arguments` are the attributes with the names in `attributes`."""
        count = len(self.schema.outputs) if self._fixed_outputs else output_count
        key = (inputs, arguments, count)
        outcome = self._outcomes.get(key)
        return outcome or self._outcomes.keep(key, self._infer(inputs, arguments, count))

    def with_graph_outputs(self, outcome: TypeOutcome, outputs: tuple[ValueType | None, ...]) -> TypeOutcome:
        """Return the outcome of a control-flow operator whose subgraphs have these output types."""
        wrong = _disallowed_outputs(self.schema, outputs)
        problems = (*outcome.problems, *wrong) if self.binds else ()
        return TypeOutcome(_without(outputs, wrong), problems)

    def _infer(self, inputs: Inputs, arguments: Arguments, output_count: int) -> TypeOutcome:
        outcome = _infer(self.schema, inputs, arguments, output_count)
        return outcome if self.binds else TypeOutcome(outcome.outputs)


_BY_SIGNATURE: Final = OutputTypes((None,))

_MOST: Final = 5_000
"""The most outcomes of an operator, and the most operators, to keep."""

_typed: Final[Memory[tuple[int, bool], TypedOperator]] = Memory(_MOST)


def typed_operator(schema: OperatorSchema, *, binds: bool) -> TypedOperator:
    """Return the signature with the outcomes of earlier models of the run, which repeat them."""
    key = (id(schema), binds)  # the id stays valid because the entry keeps the schema alive
    return _typed[key] if key in _typed else _typed.keep(key, TypedOperator(schema, binds=binds))


def allowed_types(parameter: Parameter) -> frozenset[ValueType]:
    """Return the types that a signature allows for a parameter."""
    return canonical(parameter.types)


def _infer(schema: OperatorSchema, inputs: Inputs, arguments: Arguments, output_count: int) -> TypeOutcome:
    # With a wrong number of inputs, which is another finding, it is open which parameter each of them is for.
    if not schema.allows_input_count(len(inputs)):
        return TypeOutcome((None,) * output_count)
    problems, bound, broken = _bound_variables(schema, inputs)
    # One fault, one finding: if the variables already contradict each other, skip the rest.
    problems = problems or _mismatched_elements(schema, inputs)
    contradicted = [] if problems else contradicted_statements(schema, inputs, arguments)
    problems += contradicted
    # If only attributes decide, a fault of the inputs does not matter; if inputs decide, the outputs are unknown.
    is_open = bool(contradicted) or (bool(problems) and not arguments)
    known = {variable: inputs[index] for variable, index in bound.items() if variable not in broken}
    application = Application(schema, inputs, dict(arguments), output_count)
    types = tuple([_output(application, index, known, broken, is_open=is_open) for index in range(output_count)])
    wrong = _disallowed_outputs(schema, types)
    # An element type that is stated by number is checked as the value of the attribute, by another rule.
    if not any(argument.integer is not None for _, argument in arguments):
        problems += wrong
    return TypeOutcome(_without(types, wrong), tuple(problems))


def _bound_variables(schema: OperatorSchema, inputs: Inputs) -> tuple[list[TypeProblem], dict[str, int], set[str]]:
    """Return the problems of the inputs, the first input of each type variable, and the variables that problems break.

    A variable is broken if one of its inputs has a type that it does not allow, or two have different ones.
    """
    problems: list[TypeProblem] = []
    disallowed: set[tuple[str, str]] = set()
    bound: dict[str, int] = {}
    broken: set[str] = set()
    for index, kind in enumerate(inputs):
        parameter = schema.input_at(index)
        if not kind or parameter is None:
            continue
        variable = shared_variable(parameter)
        if kind not in allowed_types(parameter):
            # Inputs that share a variable and the wrong type are one fault.
            if not variable or (variable, kind) not in disallowed:
                problems.append(Disallowed(index))
            disallowed.add((variable, kind))
            broken.add(variable)
        elif variable and inputs[bound.setdefault(variable, index)] != kind:
            problems.append(Differing(index, bound[variable]))
            broken.add(variable)
    return problems, bound, broken


def _disallowed_outputs(schema: OperatorSchema, types: tuple[ValueType | None, ...]) -> list[DisallowedOutput]:
    pairs = enumerate(types)
    return [DisallowedOutput(index, kind) for index, kind in pairs if kind and kind not in _allowed_at(schema, index)]


def _without(types: tuple[ValueType | None, ...], wrong: list[DisallowedOutput]) -> tuple[ValueType | None, ...]:
    """Return the types, with None for those that the signature does not allow."""
    indices = {problem.index for problem in wrong}
    return tuple([None if index in indices else kind for index, kind in enumerate(types)]) if wrong else types


def shared_variable(parameter: Parameter) -> str:
    """Return the type variable that the arguments of a parameter share; empty if each argument has its own type."""
    return (parameter.homogeneous and parameter.variable) or ""


def _output(
    application: Application, index: int, known: dict[str, ValueType | None], broken: set[str], *, is_open: bool
) -> ValueType | None:
    parameter = application.schema.output_at(index)
    if parameter is None:
        return None
    decision = OUTPUT_TYPES.get((application.schema.domain, application.schema.name), _BY_SIGNATURE).decision_at(index)
    if decision is not None:
        return None if is_open else decision(application, index)
    if len(parameter.types) == 1 and shared_variable(parameter) not in broken - {""}:
        return next(iter(allowed_types(parameter)))
    return known.get(shared_variable(parameter)) if shared_variable(parameter) else None


def _allowed_at(schema: OperatorSchema, index: int) -> frozenset[ValueType]:
    parameter = schema.output_at(index)
    return allowed_types(parameter) if parameter is not None else frozenset()


# --- bindings between inputs that type variables cannot express


def _mismatched_elements(schema: OperatorSchema, inputs: Inputs) -> list[TypeProblem]:
    """SequenceInsert: the tensor must have the type of the elements of the sequence.

    Attention: a mask that is not Boolean must have the type of the query or the value.
    """
    if (schema.domain, schema.name) == ("", "Attention") and len(inputs) > _MASK:
        kinds = (inputs[0], inputs[2], "tensor(bool)", ABSENT, None)
        return [] if None in kinds[:2] or inputs[_MASK] in kinds else [Differing(_MASK, 0)]
    if (schema.domain, schema.name) != ("", "SequenceInsert") or len(inputs) < _SEQUENCE_AND_TENSOR:
        return []
    element, tensor = sequence_element(inputs[0]), inputs[1]
    return [Differing(1, 0)] if element and tensor and element != tensor else []


_SEQUENCE_AND_TENSOR: Final = 2
_MASK: Final = 3
