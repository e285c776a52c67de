# SPDX-License-Identifier: Apache-2.0
"""The nodes of one form in one frame: what their operator makes of the facts of their inputs, each told once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint.common.cached import remembered
from onnx_lint.common.record import Record
from onnx_lint.inference.shapes import problem as shape_problem
from onnx_lint.inference.shapes.attribute_values import AttributeValues, Protos, attribute_values
from onnx_lint.inference.shapes.fact import UNKNOWN, Fact, Facts, fact
from onnx_lint.inference.shapes.operands import Inside, Operands, Output
from onnx_lint.inference.shapes.registration import ShapeRule
from onnx_lint.inference.shapes.rules import shape_rule
from onnx_lint.inference.types.argument import Arguments
from onnx_lint.inference.types.problem import Problem
from onnx_lint.inference.types.type_string import ValueType, optional_element, sequence_element
from onnx_lint.inference.types.typed_operator import TypedOperator, TypeOutcome, allowed_types
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.crashes import Crash, crash_of
from onnx_lint.spec.operators import OperatorSchema, Option

if TYPE_CHECKING:
    from onnx_lint.inference.shapes.contents import Contents

MOST_OUTCOMES: Final = 5_000
"""So many outcomes of a cell are kept; then they are forgotten, which costs time only."""


_NONE: Final[frozenset[int]] = frozenset()


@remembered(1_000)
def _set_of(indices: tuple[int, ...]) -> frozenset[int]:
    """The set of these, one object for all cells: each by itself takes up 200 bytes."""
    return frozenset(indices)


class Outcome(Record):
    """What is known of the outputs, and what is wrong with the inputs."""

    outputs: Facts
    problems: tuple[Problem, ...] = ()
    """What the signature forbids about types."""
    shape_problems: tuple[shape_problem.Problem, ...] = ()
    crash: Crash | None = None
    """The bug because of which less is known of the outputs than could be."""
    branches: tuple[Facts, Facts] | tuple[()] = ()
    """What each branch of an If gives for the outputs, where either branch may run."""


class Cell:
    """What is known of the nodes of one form in a frame."""

    __slots__ = (
        "_attributes",
        "_contents",
        "_is_plain",
        "_reads",
        "_rule",
        "arguments",
        "count",
        "crash",
        "number_operands",
        "operator",
        "outcomes",
        "plain",
    )

    def __init__(
        self, operator: TypedOperator | None, arguments: Arguments, form: NodeForm, bound: Protos | None
    ) -> None:
        self.operator = operator
        self.arguments = arguments
        self.count = len(form.outputs)
        self._is_plain = form.outputs == (True,)
        self.outcomes: dict[tuple[object, ...], Outcome] = {}
        """The outcomes so far by the inputs, without contents where these decide nothing.

        Those of an If by the inputs and what each of its branches hands on.
        """
        self.plain: dict[tuple[Fact | None, ...], Fact] = {}
        """The output where an outcome is nothing but one value of known shape (docs/performance.md: plain-outcomes)."""
        self._rule: ShapeRule | None = None
        self._contents: Contents | None = None
        self._attributes: AttributeValues | None = None
        self._reads = _NONE
        self.number_operands = _NONE
        """The inputs whose floating-point content decides shapes."""
        self.crash: Crash | None = None
        """The bug that keeps the shape rule from being asked."""
        try:
            if operator is not None and takes(operator.schema, form) and not _has_faults(operator.schema, form, bound):
                self._take_rule(operator.schema, form, bound)
        except Exception as error:
            self.crash, self._attributes, self.number_operands = crash_of(error), None, _NONE

    def _take_rule(self, schema: OperatorSchema, form: NodeForm, bound: Protos | None) -> None:
        rule = shape_rule(schema)
        attributes = attribute_values(form.attributes, schema, bound) if rule is not None else None
        if rule is None or attributes is None:
            return
        self._rule, self._attributes = rule, attributes
        reads = rule.reads
        parameters = [(index, schema.input_at(index)) for index in reads]
        self.number_operands = _set_of(
            tuple([index for index, found in parameters if found is not None and "tensor(float)" in found.types])
        )
        if not schema.domain:
            from onnx_lint.inference.shapes.contents import FOLLOWED

            self._contents = FOLLOWED.get(schema.name)
            if self._contents is not None:
                reads += self._contents.reads
        self._reads = _set_of(reads)

    def outcome(self, inputs: tuple[Fact | None, ...]) -> Outcome:
        """The outcome for inputs that `outcomes` does not have; None among them stands for what nothing is known of."""
        reads = self._reads
        facts = tuple(
            [UNKNOWN if each is None else each if index in reads else each.bare for index, each in enumerate(inputs)]
        )
        found = self.outcomes.get(facts)
        if found is None:
            found = self.keep(facts, self._made(facts))
            is_clean = not (found.problems or found.shape_problems or found.crash)
            if self._is_plain and is_clean and found.outputs[0].shape is not None:
                self.plain[facts] = found.outputs[0]
        return found

    def keep(self, key: tuple[object, ...], outcome: Outcome) -> Outcome:
        """Remember an outcome, and return it."""
        if len(self.outcomes) >= MOST_OUTCOMES:
            self.outcomes.clear()
            self.plain.clear()
        self.outcomes[key] = outcome
        return outcome

    def _made(self, facts: Facts) -> Outcome:
        """Return the outcome. A bug in a rule for types, shapes or contents costs what that rule would have told."""
        crash = self.crash
        try:
            typed = self.typed(facts)
        except Exception as error:
            return Outcome((UNKNOWN,) * self.count, crash=crash_of(error))
        try:
            shapes, problems = self.shapes(facts, typed)
            outputs = _as_facts(typed.outputs[: self.count], shapes)
        except Exception as error:
            crash, problems = crash_of(error), ()
            outputs = _as_facts(typed.outputs[: self.count], (None,) * self.count)
        if self._contents is not None and outputs and outputs[0].shape is not None:
            try:
                outputs[0] = self._with_content(facts, outputs[0])
            except Exception as error:
                crash = crash_of(error)
        return Outcome(tuple(outputs), typed.problems, problems, crash)

    def typed(self, facts: Facts) -> TypeOutcome:
        """The types of the outputs, and what the signature forbids."""
        operator = self.operator
        assert operator is not None
        kinds = tuple([each.kind for each in facts])
        if operator.by_inputs:
            return operator.outcomes.get(kinds) or operator.outcome_of_inputs(kinds)
        return operator.outcome(kinds, self.arguments, self.count)

    def shapes(self, facts: Facts, typed: TypeOutcome) -> tuple[Sequence[Output], tuple[shape_problem.Problem, ...]]:
        """The shapes of the outputs, and what is wrong; nothing of a node whose types are."""
        node = self.operands(facts)
        if node is None or self._rule is None or typed.problems:
            return (None,) * self.count, ()
        shapes = node.finished(self._rule.infer(node))
        binds = self.operator is not None and self.operator.binds
        return shapes, (*node.problems, *node.remarks) if binds else ()

    def may_give(self, position: int, kind: ValueType) -> bool:
        """Whether the signature allows a type for an output, whatever the inputs; True where it does not bind.

        An attribute that states an element type by number may be wrong itself, which has a finding of its own.
        """
        operator = self.operator
        if operator is None or not operator.binds:
            return True
        if not operator.by_subgraphs and any(argument.integer is not None for _, argument in self.arguments):
            return True
        parameter = operator.schema.output_at(position)
        return parameter is None or kind in allowed_types(parameter)

    def infer(self, node: Operands) -> None:
        """Ask the shape rule again, of operands that keep what they are asked."""
        if self._rule is not None:
            self._rule.infer(node)

    def operands(self, facts: Facts, kind: type[Operands] = Operands) -> Operands | None:
        """What shape rules see of a node with such inputs; None for nodes of which no rule is asked."""
        if self.operator is None or self._attributes is None:
            return None
        return kind(self.operator.schema, self._attributes, facts, self.count)

    def _with_content(self, facts: Facts, output: Fact) -> Fact:
        from onnx_lint.inference.shapes.contents import contents_after

        node = self.operands(facts)
        if node is None or self._contents is None:
            return output
        content = contents_after(self._contents.follow, node, [output.shape], [output.kind])
        return fact(output.kind, output.shape, content) if content is not None else output


def _as_facts(kinds: Sequence[ValueType | None], shapes: Sequence[Output]) -> list[Fact]:
    return [as_fact(kind, shape) for kind, shape in zip(kinds, shapes, strict=False)]


def as_fact(kind: ValueType | None, shape: Output) -> Fact:
    """What is known of a value of a type with a shape, or with that of what it holds."""
    if isinstance(shape, Inside):
        within = sequence_element(kind) or optional_element(kind)
        count = None if shape.count is None else (shape.count,)
        return fact(kind, None, count, as_fact(within, shape.shape))
    return fact(kind, shape)


def _has_faults(schema: OperatorSchema, form: NodeForm, bound: Protos | None) -> bool:
    """Whether an attribute holds what the operator can do nothing with, which has a finding of its own."""
    if not form.attributes:
        return False
    from onnx_lint.ir.operators.attribute_faults import attribute_faults

    if bound and any(attribute.ref_attr_name for attribute in form.attributes):
        from onnx_lint.ir.operators.bound_nodes import with_values

        form = with_values(form, bound)
    return bool(attribute_faults(schema, form))


def takes(schema: OperatorSchema, form: NodeForm) -> bool:
    """Whether nodes of the form fit a signature, so that a shape rule may rely on it; other rules say why not."""
    if not (schema.allows_input_count(len(form.inputs)) and schema.allows_output_count(len(form.outputs))):
        return False
    for index, given in enumerate(form.inputs):
        parameter = schema.input_at(index)
        if not given and (parameter is None or parameter.option is Option.SINGLE):
            return False
    names = {name for name, _ in form.attribute_types}
    if any(schema.lacks_attribute(name) for name in names):
        # It may be what the writer meant by one that the signature has.
        return False
    return all(name in names for name, attribute in schema.attributes.items() if attribute.required)
