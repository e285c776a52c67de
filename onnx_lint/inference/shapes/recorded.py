# SPDX-License-Identifier: Apache-2.0
"""Nodes of ONNX Runtime's operators (com.microsoft) compared with the record of the operator.

Which forms of operands a node may have follows from its conditions and ranks alone, and is remembered for these: nodes
that differ in their sizes only, as the layers of a model do, cost one equation each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from importlib import import_module
from itertools import chain, product, zip_longest
from typing import Any, Final

from onnx_lint.common.cached import Memory, remembered
from onnx_lint.common.record import EMPTY, Record, replace
from onnx_lint.inference.shapes.forms import (
    OMITTED,
    FormSolution,
    InputRanks,
    may_be,
    rank_at,
    ranks_of,
    solve_one,
    wrong_ranks,
)
from onnx_lint.inference.shapes.operands import UNKNOWN, Inside, Operands, Outputs, OutputShape
from onnx_lint.inference.shapes.problem import Warned
from onnx_lint.inference.shapes.registration import ShapeRule
from onnx_lint.inference.shapes.requirements import check_attribute, condition_test, fit_contents, fit_sizes, is_of_size
from onnx_lint.spec.operators import OperatorSchema, ParameterOption
from onnx_lint.spec.operators.records import OperandForm, OperatorRecord, record_of
from onnx_lint.spec.operators.records.grammar import (
    Condition,
    ParsedForm,
    Pattern,
    Requirement,
    ShapeEquation,
    chosen,
    conditions_in,
    parse_cases,
    parse_form,
    parse_operand,
    parse_requirements,
    replaced,
)

_UNCHECKED: Final = "; only its description requires this"


class _Forms(Record):
    """The forms that a node may have."""

    fitting: tuple[ShapeEquation, ...]
    """Those that the ranks fit."""
    are_alike: bool
    """True if it does not matter to the outputs which of them a node has."""


class _Signature(Record):
    """An operator, and its operands by its signature."""

    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: frozenset[str]


def _placed(signature: tuple[str, ...], operands: Mapping[str, OperandForm]) -> dict[str, ParsedForm]:
    """Return the operands in the order of the signature, up to the last one that the record describes."""
    known = [at for at, name in enumerate(signature) if operands.get(name) is not None]
    return {name: parse_form(operands.get(name)) for name in signature[: max(known, default=-1) + 1]}


class _RecordCase(Record):
    """One of the cases of a record, with a choice of forms."""

    true: frozenset[Condition]
    """The conditions that are true, and the names of the chosen forms."""
    names: Mapping[str, str]
    """The text in place of each name in `OperatorRecord.where`."""


class _ParsedRecord:
    """The record of an operator, parsed, and prepared for its nodes."""

    def __init__(self, signature: _Signature, record: OperatorRecord) -> None:
        self.signature = signature
        self.record = record
        self.inputs = _placed(signature.inputs, record.inputs)
        self.outputs = _placed(signature.outputs, record.outputs)
        self.where = {name: parse_form(each) for name, each in record.where.items()}
        self.cases = [parse_cases(text) for text in record.cases]
        self.advised = tuple([at for at, name in enumerate(signature.inputs) if name in record.advised])
        """The inputs for which only the documentation has requirements: ONNX Runtime does not check them."""
        others = {name: text for name, text in record.advised.items() if name not in signature.inputs}
        self.advised_attributes = _requirements(others)
        self.check = _function(record.check) if record.check else None
        self.computed = _function(record.computed) if record.computed else None
        self.has_function = bool(record.check or record.computed)
        of_attributes = _requirements(record.attributes)
        of_sizes = [each for each in of_attributes if is_of_size(each[1], signature.attributes)]
        self.value_requirements = tuple([each for each in of_attributes if each not in of_sizes])
        """The other requirements of attributes."""
        self.size_requirements = tuple(of_sizes)
        """The requirements of attributes that compare them with dimensions."""
        self.sizes = _requirements(record.sizes)
        self.contents = _requirements(record.contents)
        self.conditions = self._conditions()
        self.tests = tuple([condition_test(each, signature.inputs) for each in self.conditions])
        self.forms: Memory[tuple[tuple[bool, ...], InputRanks], _Forms] = Memory(_MOST)

    def _conditions(self) -> tuple[Condition, ...]:
        """Return the conditions in operands that are not cases, in their order."""
        cases = frozenset(chain(*self.cases))
        forms = chain(self.inputs.values(), self.outputs.values(), self.where.values())
        return tuple(dict.fromkeys(each for form in forms for each in conditions_in(form) if each not in cases))

    def condition_values(self, node: Operands) -> tuple[bool, ...]:
        """Return whether each of the conditions is true of a node."""
        return tuple([is_true(node) for is_true in self.tests])

    def forms_of(self, node: Operands) -> tuple[_Forms, InputRanks]:
        """Return the forms that a node may have, and its ranks."""
        condition_values = self.condition_values(node)
        ranks = ranks_of(node)
        found = self.forms.get((condition_values, ranks))
        if found is None:
            fitting = tuple(self.fitting_forms(condition_values, ranks))
            is_known = None not in ranks and len({form.outputs for form in fitting}) == 1
            found = self.forms.keep((condition_values, ranks), _Forms(fitting, is_known))
        return found, ranks

    def fitting_forms(self, condition_values: tuple[bool, ...], ranks: InputRanks) -> list[ShapeEquation]:
        """Return the forms on these conditions that fit the ranks."""
        found: list[ShapeEquation] = []
        for case in self._cases(condition_values):
            inputs = self._fitting_inputs(case, ranks)
            if inputs is not None:
                found += _equations(inputs, _patterns(self.outputs, case))
        return _distinct(found)

    def all_forms(self, condition_values: tuple[bool, ...]) -> list[ShapeEquation]:
        """Return the forms on these conditions."""
        found: list[ShapeEquation] = []
        for case in self._cases(condition_values):
            found += _equations(_patterns(self.inputs, case), _patterns(self.outputs, case))
        return _distinct(found)

    def _cases(self, condition_values: tuple[bool, ...]) -> Iterator[_RecordCase]:
        """Yield the cases that a node with these conditions may have."""
        true = frozenset([each for each, is_true in zip(self.conditions, condition_values, strict=True) if is_true])
        for case in product(*self.cases):
            known = true.union(case)
            yield _RecordCase(known, {name: text for name, form in self.where.items() if (text := chosen(form, known))})

    def _fitting_inputs(self, case: _RecordCase, ranks: InputRanks) -> list[_Patterns] | None:
        """Return the patterns that inputs of these ranks may have in a case; None if one does not fit."""
        found: list[_Patterns] = []
        for at, (name, form) in enumerate(self.inputs.items()):
            patterns = _of_rank(_operand(name, form, case), rank_at(ranks, at))
            if not patterns:
                return None
            found.append(patterns)
        return found


_Patterns = tuple[Pattern, ...]
"""The patterns of an operand. It must match one of them."""


def _operand(name: str, form: ParsedForm, case: _RecordCase) -> _Patterns:
    """Return the patterns of an operand in a case."""
    return parse_operand(name, replaced(chosen(form, case.true), case.names))


def _patterns(operands: Mapping[str, ParsedForm], case: _RecordCase) -> list[_Patterns]:
    """Return the patterns of each operand in a case."""
    return [_operand(name, form, case) for name, form in operands.items()]


def _equations(inputs: list[_Patterns], outputs: list[_Patterns]) -> Iterator[ShapeEquation]:
    """Yield an equation for each choice of one pattern for each operand."""
    for choice in product(*inputs, *outputs):
        yield ShapeEquation(choice[: len(inputs)], choice[len(inputs) :])


def _distinct(forms: Iterable[ShapeEquation]) -> list[ShapeEquation]:
    """Return each form once. `parse_operand` keeps all its results, so equal patterns of an operand are one object."""
    return list({tuple(map(id, (*form.inputs, *form.outputs))): form for form in forms}.values())


_MAX_READ: Final = 64
"""The most inputs whose content is read if the last input of the signature is variadic."""

_MOST: Final = 200
"""The most outcomes of conditions, and ranks, to keep of an operator."""


def _requirements(texts: Mapping[str, Any]) -> tuple[tuple[str, Requirement], ...]:
    """Return the requirements of each name."""
    return tuple([(name, each) for name, text in texts.items() for each in parse_requirements(text)])


def _function(path: str) -> Any:
    """Return a function of a shape rule, by its module and name."""
    module, _, name = path.partition(".")
    return getattr(import_module(f"onnx_lint.inference.shapes.rules.{module}"), name)


def _of_rank(patterns: _Patterns, rank: int | None) -> _Patterns:
    """Return the patterns that fit an operand of this rank, or one of them if the node omits the operand."""
    found = tuple([each for each in patterns if may_be(each, rank)])
    return found[:1] if rank == OMITTED else found


@remembered(_MOST)
def _parsed(signature: _Signature) -> _ParsedRecord | None:
    record = record_of(signature.operator)
    return _ParsedRecord(signature, record) if record is not None else None


@remembered(_MOST)
def _advice(signature: _Signature) -> _ParsedRecord:
    """Return the record with what only the documentation requires of the inputs."""
    record = record_of(signature.operator)
    assert record is not None
    inputs = {**record.inputs, **record.advised}
    return _ParsedRecord(signature, replace(record, inputs=inputs, check="", computed="", contents=EMPTY))


def recorded_rule(schema: OperatorSchema) -> ShapeRule | None:
    """Return the rule for an operator of com.microsoft; None if it has no record."""
    kept = _rules.get(schema.name)
    if kept is not None and kept[0] is schema:
        return kept[1]
    return _rules.keep(schema.name, (schema, _rule(schema)))[1]


_rules: Final[Memory[str, tuple[OperatorSchema, ShapeRule | None]]] = Memory(_MOST)
"""The rule of each operator, and the signature that it is for: targets have others."""


def _rule(schema: OperatorSchema) -> ShapeRule | None:
    inputs, outputs = (tuple([each.name for each in side]) for side in (schema.inputs, schema.outputs))
    parsed = _parsed(_Signature(schema.name, inputs, outputs, frozenset(schema.attributes)))
    if parsed is None:
        return None
    record = parsed.record
    reads = [at for at, name in enumerate(inputs) if name in record.reads or name in record.contents]
    if reads and schema.inputs[reads[-1]].option is ParameterOption.VARIADIC:
        reads += range(len(inputs), _MAX_READ)
    return ShapeRule(partial(_infer, parsed), tuple(reads))


def _infer(parsed: _ParsedRecord, node: Operands) -> Outputs:
    """Compare a node with its record, and return the shapes of its outputs."""
    node.defaults = parsed.record.defaults
    for name, each in parsed.value_requirements:
        check_attribute(node, name, each)
    if node.problems:
        return UNKNOWN  # one fault, one finding
    if parsed.check is not None:
        parsed.check(node)
    found = parsed.computed(node) if parsed.computed is not None else UNKNOWN
    if node.problems:
        return UNKNOWN
    solution = _solved(parsed, node)
    if not found and solution is not None:
        found = solution.outputs
    has_advice = parsed.record.advised and not node.problems and not node.warnings
    return _with_advice(parsed, node, found) if has_advice else found


def _with_advice(parsed: _ParsedRecord, node: Operands, found: Outputs) -> Outputs:
    """Return the shapes of the outputs, with what the documentation says of them beyond the record.

    A violation of a requirement that only the documentation has is recorded as a warning.
    """
    advised = _solve_advised(parsed, node)
    is_followed = not node.problems
    node.warnings += [Warned(each, _UNCHECKED) for each in node.problems if not isinstance(each, Warned)]
    node.problems.clear()
    if parsed.has_function:
        return found
    if not is_followed:
        return list(map(_if_whole, found))
    return found if advised is None else [_merged(*each) for each in zip_longest(found, advised.outputs)]


def _solved(parsed: _ParsedRecord, node: Operands) -> FormSolution | None:
    """Return the sizes of the dimensions by the form that the node matches.

    If it matches no form, record a problem and return None.
    """
    if not parsed.inputs and not parsed.outputs:
        return None
    forms, ranks = parsed.forms_of(node)
    if not forms.fitting:
        wrong_ranks(parsed.all_forms(parsed.condition_values(node)), node, ranks)
        return None
    fit = (
        partial(fit_sizes, node, parsed.size_requirements, parsed.sizes)
        if parsed.size_requirements or parsed.sizes
        else None
    )
    solution = solve_one(forms.fitting, node, fit, is_first=forms.are_alike)
    if parsed.contents and solution is not None and (forms.are_alike or len(forms.fitting) == 1):
        fit_contents(node, parsed.contents, solution)
    return solution


def _solve_advised(parsed: _ParsedRecord, node: Operands) -> FormSolution | None:
    """Record violations of requirements that only the documentation has; return the sizes by its forms as `_solved`."""
    is_of_inputs = any(node.given(at) for at in parsed.advised)
    solution = _solved(_advice(parsed.signature), node) if is_of_inputs else None
    for name, each in parsed.advised_attributes:
        check_attribute(node, name, each)
    return solution


def _if_whole(shape: OutputShape) -> OutputShape:
    """Return a shape; None if a dimension is unknown: others may have names that only the documentation gives."""
    return shape if isinstance(shape, Inside) or (shape and None not in shape) else None


def _merged(one: OutputShape, other: OutputShape) -> OutputShape:
    """Return one shape from two that are both true. Dimensions that the first leaves open come from the second."""
    if isinstance(one, Inside) or isinstance(other, Inside):
        return one
    if one is None or other is None or len(one) != len(other):
        return other if one is None else one
    return tuple([second if first is None else first for first, second in zip(one, other, strict=True)])
