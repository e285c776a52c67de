# SPDX-License-Identifier: Apache-2.0
"""The types of outputs that follow from something other than a type variable."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.types.argument import Argument
from onnx_lint.inference.types.type_string import (
    ABSENT,
    ValueType,
    is_optional,
    optional_element,
    optional_of,
    sequence_element,
    sequence_of,
    tensor_of,
)
from onnx_lint.spec.operators import OperatorSchema


class Application(Record):
    """An operator with the inputs and attributes that its output types may depend on."""

    schema: OperatorSchema
    inputs: tuple[ValueType | None, ...]
    arguments: Mapping[str, Argument]
    output_count: int

    def input(self, index: int) -> ValueType | None:
        """Return the type of an input; ABSENT also beyond the last input."""
        return self.inputs[index] if index < len(self.inputs) else ABSENT


Decision = Callable[[Application, int], ValueType | None]
"""Returns the type of the output with an index, None if unknown."""


class OutputTypes(Record):
    """The decisions on output types that do not follow from type variables."""

    decisions: tuple[Decision | None, ...]
    """For each output; None leaves it to the signature. The last one applies to all arguments of a variadic output."""
    attributes: frozenset[str] = frozenset()
    """The attributes that the decisions read."""
    by_subgraphs: bool = False
    """True if the types are those of the outputs of the node's subgraphs."""

    def decision_at(self, index: int) -> Decision | None:
        """Return the decision for an output."""
        return self.decisions[min(index, len(self.decisions) - 1)]


# --- decisions


def fixed(kind: ValueType) -> Decision:
    """Always the same type."""
    return lambda _application, _index: kind


def unknown(reason: str) -> Decision:
    """An unknown type; the reason is for the reader of the table."""
    assert reason
    return lambda _application, _index: None


def like(position: int) -> Decision:
    """The type of an input."""
    return lambda application, _index: application.input(position) or None


def if_present(position: int, otherwise: Decision) -> Decision:
    """The type of an input if the node has it; without it, the type that `otherwise` decides."""

    def infer(application: Application, index: int) -> ValueType | None:
        kind = application.input(position)
        return otherwise(application, index) if kind == ABSENT else kind

    return infer


def gradient(application: Application, index: int) -> ValueType | None:
    """Gradient: the type of the input with the output's index; the operator does not define it for integers."""
    kind = application.input(index)
    return kind if kind in _DIFFERENTIABLE else None


def element_code(attribute: str, otherwise: Decision, *, may_be_zero: bool = False) -> Decision:
    """A tensor whose element type an INT attribute states by number, otherwise that of `otherwise`.

    `may_be_zero`: whether the number 0 means that none is stated.
    """

    def infer(application: Application, index: int) -> ValueType | None:
        argument = application.arguments.get(attribute)
        if argument is None or (may_be_zero and argument.integer == 0):
            return otherwise(application, index)
        return tensor_of(argument.integer or 0)

    return infer


def value_of(attribute: str, otherwise: ValueType) -> Decision:
    """The type of a TENSOR or TYPE_PROTO attribute; `otherwise` without it."""

    def infer(application: Application, _index: int) -> ValueType | None:
        argument = application.arguments.get(attribute)
        return otherwise if argument is None else argument.type

    return infer


def the_given(*alternatives: tuple[str, ValueType | None], otherwise: ValueType | None = None) -> Decision:
    """The type for the one of several attributes that has a value; None means the value's own type.

    An empty list does not count as a value: exporters write both of two alternatives and leave one empty. Operators
    allow only one of them, so if there are several the type is unknown.
    """

    def infer(application: Application, _index: int) -> ValueType | None:
        given = [(application.arguments[name], kind) for name, kind in alternatives if name in application.arguments]
        given = [(argument, kind) for argument, kind in given if argument.value is not False]
        if not given:
            return otherwise
        argument, kind = given[0]
        if len(given) > 1 or argument.kind == 0:
            return None
        return argument.type if kind is None else kind

    return infer


def named(attribute: str, kinds: Mapping[str | int, ValueType], otherwise: ValueType) -> Decision:
    """The type for the text of a STRING attribute, or the number of an INT; `otherwise` without it."""

    def infer(application: Application, _index: int) -> ValueType | None:
        argument = application.arguments.get(attribute)
        return otherwise if argument is None else kinds.get(argument.text or argument.integer or 0)

    return infer


def mapped(position: int, kinds: Mapping[ValueType, ValueType]) -> Decision:
    """The type that a table has for the type of an input."""
    return lambda application, _index: kinds.get(application.input(position) or ABSENT)


def sequence(element: Decision) -> Decision:
    """A sequence of the type from another decision."""
    return lambda application, index: sequence_of(element(application, index))


def element_of_sequence(position: int) -> Decision:
    """The element type of a sequence input."""
    return lambda application, _index: sequence_element(application.input(position))


def first_known_input(application: Application, _index: int) -> ValueType | None:
    """The type of the first input that has one, for homogeneous variadic inputs."""
    return next((kind for kind in application.inputs if kind), None)


def optional(application: Application, _index: int) -> ValueType | None:
    """Optional: of the input's type, or for an empty value of the type in the attribute `type`."""
    if application.input(0) != ABSENT:
        return optional_of(application.input(0))
    argument = application.arguments.get("type")
    return optional_of(argument.type) if argument is not None else None


def optional_content(application: Application, _index: int) -> ValueType | None:
    """OptionalGetElement: the content of the optional type; another type is unchanged."""
    kind = application.input(0)
    return optional_element(kind) if kind and is_optional(kind) else kind or None


_DIFFERENTIABLE: Final = {"tensor(float16)", "tensor(float)", "tensor(double)"}


def optimizer_state(groups: int, returned: tuple[int, ...]) -> Decision:
    """Training operators: after R and T come `groups` lists of n tensors each. Some lists are returned updated."""

    def infer(application: Application, index: int) -> ValueType | None:
        count = (len(application.inputs) - _OPTIMIZER_SCALARS) // groups
        if count < 1 or index >= count * len(returned):
            return None
        group, member = divmod(index, count)
        return application.input(_OPTIMIZER_SCALARS + returned[group] * count + member) or None

    return infer


_OPTIMIZER_SCALARS: Final = 2
