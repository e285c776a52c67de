# SPDX-License-Identifier: Apache-2.0
"""Nodes of ONNX Runtime's operators (com.microsoft) compared with the record of the operator.

Which forms of operands a node may have follows from its conditions and ranks alone, and is remembered for these: nodes
that differ in their sizes only, as the layers of a model do, cost one equation each.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from importlib import import_module
from itertools import product, zip_longest
from typing import Any, Final

from onnx_lint.common.cached import Memory, remembered
from onnx_lint.common.record import EMPTY, Record, replace
from onnx_lint.inference.shapes.equations import Pattern, ShapeEquation, operand
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
from onnx_lint.inference.shapes.requirements import condition, fit_contents, fit_sizes, has_attribute, is_of_size
from onnx_lint.spec.operators import OperatorSchema, ParameterOption
from onnx_lint.spec.operators.records import OperandForm, OperatorRecord, Requirement, record_of, requirements

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


def _placed(signature: tuple[str, ...], operands: Mapping[str, OperandForm]) -> dict[str, OperandForm]:
    """Return the operands in the order of the signature, up to the last one that the record describes."""
    known = [at for at, name in enumerate(signature) if operands.get(name) is not None]
    return {name: operands.get(name) for name in signature[: max(known, default=-1) + 1]}


class _RecordReading:
    """The record of an operator, prepared for its nodes."""

    def __init__(self, signature: _Signature, record: OperatorRecord) -> None:
        self.signature = signature
        self.record = record
        self.inputs = _placed(signature.inputs, record.inputs)
        self.outputs = _placed(signature.outputs, record.outputs)
        self.advised = tuple([at for at, name in enumerate(signature.inputs) if name in record.advised])
        """The inputs with further requirements in the documentation, which the runtime does not check."""
        others = {name: text for name, text in record.advised.items() if name not in signature.inputs}
        self.advised_attributes = _parsed(others)
        self.check = _function(record.check) if record.check else None
        self.computed = _function(record.computed) if record.computed else None
        self.has_function = bool(record.check or record.computed)
        of_attributes = _parsed(record.attributes)
        of_sizes = [each for each in of_attributes if is_of_size(each[1], signature.attributes)]
        self.attributes = tuple([each for each in of_attributes if each not in of_sizes])
        self.limited = tuple(of_sizes)
        """The requirements of attributes that are about dimensions."""
        self.sizes = _parsed(record.sizes)
        self.contents = _parsed(record.contents)
        self.choices = frozenset(word for choice in record.cases for word in choice.split(" or "))
        self.conditions = tuple(dict.fromkeys(self._words((self.inputs, self.outputs, record.where))))
        self.truths = tuple([condition(each, signature.inputs) for each in self.conditions])
        self.forms: Memory[tuple[tuple[bool, ...], InputRanks], _Forms] = Memory(_MOST)

    def _words(self, forms: Iterable[Mapping[str, OperandForm]]) -> Iterator[str]:
        """Yield the words of the conditions in operands, in their order."""
        for each in forms:
            for form in each.values():
                if isinstance(form, dict):
                    words = [word for text in form for word in text.split() if text != "else"]
                    yield from [word for word in words if word not in self.choices and word != "or"]
                    yield from self._words((form,))

    def forms_of(self, node: Operands) -> tuple[_Forms, InputRanks]:
        """Return the forms that a node may have, and its ranks."""
        truths = tuple([is_true(node) for is_true in self.truths])
        ranks = ranks_of(node)
        found = self.forms.get((truths, ranks))
        if found is None:
            fitting = tuple(self.all_forms(truths, ranks))
            is_known = None not in ranks and len({form.outputs for form in fitting}) == 1
            found = self.forms.keep((truths, ranks), _Forms(fitting, is_known))
        return found, ranks

    def all_forms(self, truths: tuple[bool, ...], ranks: InputRanks | None) -> list[ShapeEquation]:
        """Return the forms on these conditions, only those that fit the ranks if there are any."""
        true = frozenset([each for each, is_true in zip(self.conditions, truths, strict=True) if is_true])
        parsed: dict[tuple[str | None, ...], list[Pattern]] = {}
        found: dict[tuple[int, ...], ShapeEquation] = {}
        for case in product(*[choice.split(" or ") for choice in self.record.cases]):
            known = true.union(case)
            where = {name: text for name, each in self.record.where.items() if (text := self._chosen(each, known))}
            inputs: list[list[Pattern]] = []
            for at, (name, each) in enumerate(self.inputs.items()):
                patterns = self._patterns(name, each, known, where, parsed)
                inputs.append(patterns if ranks is None else _of_rank(patterns, rank_at(ranks, at)))
                if not inputs[-1]:
                    break
            outputs = [self._patterns(name, each, known, where, parsed) for name, each in self.outputs.items()]
            for choice in product(*inputs, *outputs) if all(inputs) else ():
                form = ShapeEquation(choice[: len(inputs)], choice[len(inputs) :])
                found[tuple([id(each) for each in choice])] = form
        return list(found.values())

    def _patterns(
        self,
        name: str,
        form: OperandForm,
        known: frozenset[str],
        where: Mapping[str, str],
        parsed: dict[tuple[str | None, ...], list[Pattern]],
    ) -> list[Pattern]:
        """Return what an operand may be in a case; `parsed` has what it may be in the cases before."""
        dims = self._chosen(form, known)
        key = name, dims, *where.values()
        if key not in parsed:
            parsed[key] = _patterns(name, dims, where)
        return parsed[key]

    def _chosen(self, form: OperandForm, known: frozenset[str]) -> str | None:
        """Return the dimensions of an operand in a case and with the conditions that are true."""
        while isinstance(form, dict):
            for words, each in form.items():
                if words in known or words == "else" or _are_true(words, known):
                    form = each
                    break
            else:
                form = None
        return form if isinstance(form, str) else None


_MAX_READ: Final = 64
"""The most inputs whose content is read if the last input of the signature is variadic."""

_MOST: Final = 200
"""The most outcomes of conditions, and ranks, to keep of an operator."""


def _are_true(words: str, known: frozenset[str]) -> bool:
    return any(known.issuperset(each.split()) for each in words.split(" or "))


def _parsed(texts: Mapping[str, Any]) -> tuple[tuple[str, Requirement], ...]:
    return tuple([(name, each) for name, text in texts.items() for each in requirements(text)])


def _function(path: str) -> Any:
    """Return a function of a shape rule, by its module and name."""
    module, _, name = path.partition(".")
    return getattr(import_module(f"onnx_lint.inference.shapes.rules.{module}"), name)


def _patterns(name: str, dims: str | None, where: Mapping[str, str]) -> list[Pattern]:
    """Return an operand in an equation, once for each choice in its braces."""
    if dims is None or dims == "-":
        return [operand(dims or name)]
    before, brace, rest = dims.partition("{")
    if brace:
        choices, _, after = rest.partition("}")
        texts = [f"{before}{each.strip()}{after}" for each in choices.split(",")]
        return [pattern for text in texts for pattern in _patterns(name, text, where)]
    text = dims.removesuffix("!")
    if any(each in text for each in where):
        text = re.sub(r"@?\w+", lambda word: where.get(word[0], word[0]), text)
    return [operand(f"{name}{'!' * dims.endswith('!')}[{text}]")]


def _of_rank(patterns: list[Pattern], rank: int | None) -> list[Pattern]:
    """Return what an operand of this rank may be, of several; for one that the node omits one suffices."""
    found = [each for each in patterns if may_be(each, rank)]
    return found[:1] if rank == OMITTED else found


@remembered(_MOST)
def _reading(signature: _Signature) -> _RecordReading | None:
    record = record_of(signature.operator)
    return _RecordReading(signature, record) if record is not None else None


@remembered(_MOST)
def _advice(signature: _Signature) -> _RecordReading:
    """Return the record with what only the documentation requires of the inputs."""
    record = record_of(signature.operator)
    assert record is not None
    inputs = {**record.inputs, **record.advised}
    return _RecordReading(signature, replace(record, inputs=inputs, check="", computed="", contents=EMPTY))


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
    reading = _reading(_Signature(schema.name, inputs, outputs, frozenset(schema.attributes)))
    if reading is None:
        return None
    record = reading.record
    reads = [at for at, name in enumerate(inputs) if name in record.reads or name in record.contents]
    if reads and schema.inputs[reads[-1]].option is ParameterOption.VARIADIC:
        reads += range(len(inputs), _MAX_READ)
    return ShapeRule(partial(_infer, reading), tuple(reads))


def _infer(reading: _RecordReading, node: Operands) -> Outputs:
    """Compare a node with its record, and return the shapes of its outputs."""
    node.defaults = reading.record.defaults
    for name, each in reading.attributes:
        has_attribute(node, name, each)
    if node.problems:
        return UNKNOWN  # one fault, one finding
    if reading.check is not None:
        reading.check(node)
    found = reading.computed(node) if reading.computed is not None else UNKNOWN
    if node.problems:
        return UNKNOWN
    solution = _solved(reading, node)
    if not found and solution is not None:
        found = solution.outputs
    if reading.record.advised and not node.problems and not node.warnings:
        return _advised(reading, node, found)
    return found


def _solved(reading: _RecordReading, node: Operands) -> FormSolution | None:
    """Record what no form of the operands has; return what the node has of its form."""
    if not reading.inputs and not reading.outputs:
        return None
    forms, ranks = reading.forms_of(node)
    if forms.fitting:
        fit = partial(fit_sizes, node, reading.limited, reading.sizes) if reading.limited or reading.sizes else None
        solution = solve_one(forms.fitting, node, fit, is_first=forms.are_alike)
        if reading.contents and solution is not None and (forms.are_alike or len(forms.fitting) == 1):
            fit_contents(node, reading.contents, solution)
        return solution
    truths = tuple([is_true(node) for is_true in reading.truths])
    wrong_ranks(reading.all_forms(truths, None), node, ranks)
    return None


def _advised(reading: _RecordReading, node: Operands, found: Outputs) -> Outputs:
    """Make warnings of what only the documentation requires, and return what is known of the outputs nevertheless."""
    is_of_inputs = any(node.given(at) for at in reading.advised)
    solution = _solved(_advice(reading.signature), node) if is_of_inputs else None
    for name, each in reading.advised_attributes:
        has_attribute(node, name, each)
    if node.problems:
        node.warnings += [Warned(each, _UNCHECKED) for each in node.problems if not isinstance(each, Warned)]
        node.problems.clear()
        return found if reading.has_function else list(map(_if_whole, found))
    if solution is None or reading.has_function:
        return found
    return [_known(one, other) for one, other in zip_longest(found, solution.outputs)]


def _if_whole(shape: OutputShape) -> OutputShape:
    """Return a shape without unknown dimensions: others may have names that only the documentation gives."""
    return shape if isinstance(shape, Inside) or (shape and None not in shape) else None


def _known(one: OutputShape, other: OutputShape) -> OutputShape:
    """Return what two true statements say of one shape."""
    if isinstance(one, Inside) or isinstance(other, Inside):
        return one
    if one is None or other is None or len(one) != len(other):
        return other if one is None else one
    return tuple([second if first is None else first for first, second in zip(one, other, strict=True)])
