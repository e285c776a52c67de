# SPDX-License-Identifier: Apache-2.0
"""Caches the outcomes of one node form in one frame: input facts -> outcome."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import Record, replace
from onnx_lint.inference.shapes.attribute_values import AttributeValues, attribute_values
from onnx_lint.inference.shapes.contents import CONTENT_RULES, contents_after
from onnx_lint.inference.shapes.dims import Shape
from onnx_lint.inference.shapes.fact import ABSENT, UNKNOWN, Content, Fact, Facts, fact, forget
from onnx_lint.inference.shapes.operands import EqualDimensions, Inside, Operands, OutputShape
from onnx_lint.inference.shapes.problem import ShapeProblem
from onnx_lint.inference.shapes.registration import ShapeRule
from onnx_lint.inference.shapes.rules import shape_rule
from onnx_lint.inference.types.argument import Arguments, Protos
from onnx_lint.inference.types.problem import TypeProblem
from onnx_lint.inference.types.type_string import ValueType, optional_element, sequence_element
from onnx_lint.inference.types.typed_operator import TypedOperator, TypeOutcome, allowed_types, shared_variable
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.crashes import Crash, crash_of
from onnx_lint.ir.operators.attribute_faults import attribute_faults, is_sound, unlisted_value
from onnx_lint.spec.operators import OperatorSchema, ParameterOption
from onnx_lint.spec.operators.attribute_values import allowed_values, holds_element_type, is_flag

if TYPE_CHECKING:
    from onnx_lint.inference.shapes.contents import ContentRule

MAX_OUTCOMES: Final = 5_000
"""The most outcomes that a memo keeps; a full cache is emptied, which costs only time."""


class NodeOutcome(Record):
    """The facts of the outputs of a node, and the problems of its inputs."""

    outputs: Facts
    problems: tuple[TypeProblem, ...] = ()
    """The violations of the type constraints of the signature."""
    shape_problems: tuple[ShapeProblem, ...] = ()
    crash: Crash | None = None
    """The bug that left the facts of the outputs incomplete."""
    branches: tuple[Facts, Facts] | tuple[()] = ()
    """The outputs of each branch of an If, if either branch may run."""
    equated: tuple[EqualDimensions, ...] = ()
    """The dimensions that the node makes equal."""

    @property
    def has_only_outputs(self) -> bool:
        """True if nothing but the facts of the outputs is to be recorded."""
        return not (self.problems or self.shape_problems or self.crash or self.equated)


class OutcomeMemo:
    """The outcomes of the nodes of one form in a frame."""

    __slots__ = (
        "_attributes",
        "_contents",
        "_followed",
        "_is_plain",
        "_reads",
        "_rule",
        "arguments",
        "count",
        "crash",
        "has_faulty_attribute",
        "has_walks",
        "named_outputs",
        "operator",
        "outcomes",
        "plain",
    )

    def __init__(
        self,
        operator: TypedOperator | None,
        arguments: Arguments,
        form: NodeForm,
        bound: Protos | None,
        *,
        has_content: bool = True,
    ) -> None:
        """`has_content`: whether elements are followed through the node."""
        self.operator = operator
        self.arguments = arguments
        self.has_walks = operator is None or operator.by_subgraphs
        """True if a node may run graphs or a function, which are walked for each node."""
        self.count = len(form.outputs)
        self.named_outputs = form.outputs
        # A schema file may describe an operator without outputs.
        self._is_plain = form.outputs == (True,) and operator is not None and bool(operator.schema.outputs)
        self.outcomes: dict[tuple[object, ...], NodeOutcome] = {}
        """The outcomes by the inputs, without contents that decide nothing.

        Those of an If whose branches have equal outputs are stored by its inputs and these.
        """
        self.plain: dict[tuple[Fact | None, ...], Fact] = {}
        """The output, for outcomes that are only one value of known shape (docs/performance.md: plain-outcomes)."""
        self._rule: ShapeRule | None = None
        self._contents: ContentRule | None = None
        self._attributes: AttributeValues | None = None
        self._reads: tuple[int, ...] = ()
        self._followed = 0
        """The number of inputs, from the first on, whose elements affect only the elements of the output."""
        self.crash: Crash | None = None
        """The bug that keeps the shape rule from being used."""
        self.has_faulty_attribute = False
        """True if an attribute has a value that the operator cannot use, so that the outputs are unknown."""
        try:
            if operator is not None and takes(operator.schema, form):
                self.has_faulty_attribute = _has_faults(operator.schema, form, bound)
                if not self.has_faulty_attribute:
                    self._take_rule(operator.schema, form, bound)
                    self._contents = self._contents if has_content else None
        except Exception as error:
            self.crash, self._attributes = crash_of(error), None

    def _take_rule(self, schema: OperatorSchema, form: NodeForm, bound: Protos | None) -> None:
        rule = shape_rule(schema)
        attributes = attribute_values(form.attributes, schema, bound) if rule is not None else None
        if rule is None or attributes is None:
            return
        self._rule, self._attributes = rule, attributes
        self._reads = rule.reads
        self._contents = CONTENT_RULES.get(schema.name) if not schema.domain else None
        self._followed = self._contents.reads if self._contents is not None else 0

    def without_types(self, outcome: NodeOutcome, inputs: tuple[Fact | None, ...]) -> NodeOutcome:
        """Return the outcome without the types of outputs that share a variable with an input of unknown type."""
        if self.operator is None:
            return outcome
        schema = self.operator.schema
        unknown = {
            shared_variable(parameter)
            for index, each in enumerate(inputs)
            if (each is None or each.kind is None) and (parameter := schema.input_at(index)) is not None
        } - {""}
        outputs = tuple(
            [
                fact(None, made.shape, made.content, made.inside)
                if (parameter := schema.output_at(index)) is not None and shared_variable(parameter) in unknown
                else made
                for index, made in enumerate(outcome.outputs)
            ]
        )
        return replace(outcome, outputs=outputs)

    def outcome(self, inputs: tuple[Fact | None, ...]) -> NodeOutcome:
        """Return the outcome for inputs that are not in `outcomes`; None is an unknown input."""
        reads, followed = self._reads, self._followed
        if self._contents is not None and self._contents.needs_all:
            are_known = all(each is not None and (each.content is not None or each is ABSENT) for each in inputs)
            followed = followed if are_known else 0
        facts = tuple(
            [
                UNKNOWN if each is None else each if index < followed or index in reads else each.bare
                for index, each in enumerate(inputs)
            ]
        )
        found = self.outcomes.get(facts)
        if found is None:
            found = self.keep(facts, self._made(facts))
            if self.is_clean(found) and found.outputs[0].shape is not None and not found.outputs[0].wide_bytes:
                self.plain[facts] = found.outputs[0]
        return found

    def is_clean(self, found: NodeOutcome) -> bool:
        """Return whether an outcome is one value, and nothing else is to be noted when a node has it."""
        return self._is_plain and not self.has_faulty_attribute and found.has_only_outputs

    def keep(self, key: tuple[object, ...], outcome: NodeOutcome) -> NodeOutcome:
        """Store an outcome, and return it."""
        if len(self.outcomes) >= MAX_OUTCOMES:
            self.outcomes.clear()
            self.plain.clear()
        self.outcomes[key] = outcome
        return outcome

    def _made(self, facts: Facts) -> NodeOutcome:
        """Return the outcome.

        After a bug in a rule for types, shapes or contents, only the results of that rule are missing.
        """
        crash = self.crash
        equated: tuple[EqualDimensions, ...] = ()
        try:
            typed = self.typed(facts)
        except Exception as error:
            return NodeOutcome((UNKNOWN,) * self.count, crash=crash_of(error))
        try:
            shapes, problems, equated = self.shapes(facts, typed)
            outputs = _as_facts(typed.outputs[: self.count], shapes)
        except Exception as error:
            crash, problems = crash_of(error), ()
            outputs = _as_facts(typed.outputs[: self.count], (None,) * self.count)
        if self._contents is not None and outputs and self._may_know(facts, outputs[0].shape):
            try:
                self._add_contents(facts, outputs)
            except Exception as error:
                crash = crash_of(error)
        return NodeOutcome(tuple(outputs), typed.problems, problems, crash, equated=equated)

    def _may_know(self, facts: Facts, shape: Shape) -> bool:
        """Return whether an element of an output of this shape may follow from the known elements of the inputs."""
        assert self._contents is not None
        if shape is None:
            return False
        if not self._contents.reads or not shape or 0 in shape:  # a scalar may follow from an empty input
            return True
        read = facts[: self._contents.reads]
        if self._contents.needs_all:
            given = [each.content is not None or each is ABSENT for each in read]
            return all(given)
        given = [each.content is not None or bool(each.parts) for each in read]
        return any(given)

    def typed(self, facts: Facts) -> TypeOutcome:
        """Return the types of the outputs, and the violations of the signature."""
        operator = self.operator
        assert operator is not None
        kinds = tuple([each.kind for each in facts])
        return operator.outcome(kinds, self.arguments, self.count)

    def shapes(
        self, facts: Facts, typed: TypeOutcome
    ) -> tuple[Sequence[OutputShape], tuple[ShapeProblem, ...], tuple[EqualDimensions, ...]]:
        """Return the shapes of the outputs, their problems, and the dimensions that are made equal.

        With type problems only the problems of attributes are returned.
        """
        if typed.problems:
            facts = tuple([each if each is ABSENT else UNKNOWN for each in facts])
        node = self.operands(facts)
        if node is None or self._rule is None:
            return (None,) * self.count, (), ()
        shapes = node.finished(self._rule.infer(node))
        if typed.problems:
            shapes = (None,) * self.count
        binds = self.operator is not None and self.operator.binds
        return shapes, (*node.problems, *node.warnings) if binds else (), tuple(node.equated)

    def may_give(self, position: int, kind: ValueType) -> bool:
        """Return whether the signature allows a type for an output, for any inputs; True if it does not bind.

        An attribute that states an element type by number may itself be wrong, which is another finding.
        """
        operator = self.operator
        if operator is None or not operator.binds:
            return True
        if not operator.by_subgraphs and any(argument.integer is not None for _, argument in self.arguments):
            return True
        parameter = operator.schema.output_at(position)
        return parameter is None or kind in allowed_types(parameter)

    def operands(self, facts: Facts) -> Operands | None:
        """Return the view of a node with these inputs for shape rules; None if there is no rule for it."""
        if self.operator is None or self._attributes is None:
            return None
        found = Operands(self.operator.schema, self._attributes, facts, self.count)
        found.named_outputs = self.named_outputs
        return found

    def _add_contents(self, facts: Facts, outputs: list[Fact]) -> None:
        """Add the known elements to the outputs of a node."""
        node = self.operands(facts)
        if node is None or self._contents is None:
            return
        for index, content in enumerate(contents_after(self._contents, node, outputs)):
            if content is not None:
                outputs[index] = fact(outputs[index].kind, outputs[index].shape, content)


class WideFacts:
    """The wide facts of a model so far, whose memory is bounded: those with many or long dimensions or elements.

    A node of 30 bytes may make a fact of 5,000, and the estimate of the memory for a model does not count it.
    """

    def __init__(self) -> None:
        self._kept: set[Fact] = set()
        self._bytes_left = _MAX_BYTES

    def __contains__(self, made: Fact) -> bool:
        return made in self._kept

    def are_among(self, outputs: Facts) -> bool:
        """Return whether some of the outputs of a node are wide."""
        return any(map(_WIDE_BYTES, outputs))

    def bounded_outcome(self, memo: OutcomeMemo, outcome: NodeOutcome) -> NodeOutcome:
        """Return an outcome with wide facts, without those for which there is no memory."""
        bounded = tuple(map(self.bounded, outcome.outputs))
        if bounded == outcome.outputs:
            return outcome
        memo.outcomes.clear()
        return replace(outcome, outputs=bounded)

    def bounded(self, made: Fact) -> Fact:
        """Return the fact, or a part of it that is not wide if the wide facts of the model take too much memory."""
        if not made.wide_bytes or made in self._kept:
            return made
        if made.wide_bytes > self._bytes_left:
            forget(made)
            return fact(made.kind) if made.bare.wide_bytes else made.bare
        self._bytes_left -= made.wide_bytes
        self._kept.add(made)
        return made


_WIDE_BYTES: Final = attrgetter("wide_bytes")

_MAX_BYTES: Final = 16 << 20
"""The most memory for wide facts: 100,000 shapes of three long expressions fit, or 3,000 lists of a hundred integers.
"""


def _as_facts(kinds: Sequence[ValueType | None], shapes: Sequence[OutputShape]) -> list[Fact]:
    return [as_fact(kind, shape) for kind, shape in zip(kinds, shapes, strict=False)]


def as_fact(kind: ValueType | None, shape: OutputShape) -> Fact:
    """Return the fact for a type with a shape, or with the shape of its content."""
    if isinstance(shape, Inside):
        within = sequence_element(kind) or optional_element(kind)
        count: Content = None if shape.count is None else (shape.count,)
        if shape.whole is not None:
            count = (shape.count, *shape.whole)
        return fact(kind, None, count, as_fact(within, shape.shape), shape.elements, shape.parts)
    return fact(kind, shape)


def _has_faults(schema: OperatorSchema, form: NodeForm, bound: Protos | None) -> bool:
    """Return whether an attribute has a value with which types or shapes are unknown, which is another finding."""
    if not form.attributes:
        return False
    if bound and any(attribute.ref_attr_name for attribute in form.attributes):
        from onnx_lint.ir.operators.bound_nodes import with_values

        form = with_values(form, bound)
    return not is_sound(schema, form) and (
        any(not (fault.is_allowed or fault.is_of_elements) for fault in attribute_faults(schema, form))
        or any(
            # Consumers accept any number as a flag, and an element type decides no shape.
            not is_flag(schema, attribute.name)
            and not holds_element_type(schema, attribute.name)
            and (allowed := allowed_values(schema, attribute.name)) is not None
            and unlisted_value(attribute, schema, {attribute.name: allowed})
            for attribute in form.attributes
        )
    )


def takes(schema: OperatorSchema, form: NodeForm) -> bool:
    """Return whether nodes of the form fit a signature, so that shape rules may rely on it.

    Other rules report misfits.
    """
    if not (schema.allows_input_count(len(form.inputs)) and schema.allows_output_count(len(form.outputs))):
        return False
    for index, given in enumerate(form.inputs):
        parameter = schema.input_at(index)
        if not given and (parameter is None or parameter.option is ParameterOption.SINGLE):
            return False
    names = {name for name, _ in form.attribute_types}
    if any(schema.lacks_attribute(name) for name in names):
        # It may be a misspelt attribute of the signature.
        return False
    return all(name in names for name, attribute in schema.attributes.items() if attribute.required)
