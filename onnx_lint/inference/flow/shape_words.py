# SPDX-License-Identifier: Apache-2.0
"""The wording of messages about shapes."""

from __future__ import annotations

from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.inference.shapes.dims import Shape
from onnx_lint.inference.shapes.expression import declared_name
from onnx_lint.inference.shapes.fact import Fact, Facts
from onnx_lint.inference.shapes.operands import count_in
from onnx_lint.inference.shapes.problem import (
    AxisOutOfRange,
    Element,
    Indivisible,
    InputDimension,
    NotBroadcast,
    NotOneElement,
    NumberSource,
    Overflow,
    PlainProblem,
    ProblemPlace,
    Repeated,
    TwoSizes,
    Unequal,
    WrongCount,
    WrongRank,
    WrongValue,
    contradicted_by,
    fault_of,
)
from onnx_lint.inference.types.type_string import constructor_of
from onnx_lint.ir.graph import Node
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES
from onnx_lint.wording import counted, describe_list, describe_shape, listed, quote, with_more, with_shape

_INTEGERS: Final = (ATTRIBUTE_TYPE_CODES["INT"], ATTRIBUTE_TYPE_CODES["INTS"])
"""The types of attributes whose numbers are written."""

_MAX_NUMBERS: Final = 8
"""The most numbers of an attribute to write."""

_MAX_SHAPES: Final = 3
"""The most shapes of a sequence's elements to write."""

_WEIGHTS: Final = {"QLinearConv": 3}
"""The input of a convolution with its weights, if it is not input 1."""


def shape_in_words(fact: Fact) -> str:
    """Return the shape of a value, or of its content, as text."""
    if fact.inside is None:
        return describe_shape(fact.shape)
    shapes = list(dict.fromkeys(map(_shape_of_element, fact.elements)))
    if not shapes:
        elements = _shape_of_element(fact.inside.shape) if fact.inside.inside is None else shape_in_words(fact.inside)
    else:
        has_others = len(shapes) > _MAX_SHAPES or not isinstance(count_in(fact), int)
        elements = " and ".join([*shapes[:_MAX_SHAPES], *(["others"] if has_others else ())])
    return f"{constructor_of(fact.kind) or 'something'} of {elements}"


def _shape_of_element(shape: Shape) -> str:
    """Return the words for the shape of an element after "of"."""
    return "unknown rank" if shape is None else describe_shape(shape)


def dimension_in_words(dim: int | str) -> str:
    """Return the text of a size; a variable or an expression in quotes, with the declared name of a variable."""
    return str(dim) if isinstance(dim, int) else quote(declared_name(dim))


class _Wording(Record):
    """A problem in words."""

    sentence: str
    """The message."""
    allowed: str
    """The valid shape or number."""


class WordedProblem(Record):
    """A problem of a node with the facts of its inputs, in words."""

    node: Node
    inputs: Facts
    problem: PlainProblem

    @property
    def operands(self) -> list[int]:
        """The inputs that the problem is about, the faulty one last."""
        indices = [each for each in self.sources if isinstance(each, int)]
        return list(dict.fromkeys(each for each in indices if self._is_given(each)))

    @property
    def sources(self) -> list[NumberSource]:
        """The inputs and attributes that the problem is about, the faulty one last."""
        if isinstance(self.problem, Overflow):
            return list(range(len(self.inputs)))
        pair = _input_or_attribute(contradicted_by(self.problem)), _input_or_attribute(fault_of(self.problem))
        return [each for each in pair if each is not None]

    @property
    def shown(self) -> set[int]:
        """The inputs that the message shows with their shapes."""
        if isinstance(self.problem, (AxisOutOfRange, Repeated, WrongValue)):
            return set() if self._shown_data is None else {self._shown_data}
        places = contradicted_by(self.problem), fault_of(self.problem)
        operands = [each.operand if isinstance(each, InputDimension) else each for each in places]
        return {each for each in operands if isinstance(each, int)}

    @property
    def sentence(self) -> str:
        """The message for the problem."""
        return self._wording.sentence

    @property
    def allowed(self) -> str:
        """The valid shape or number."""
        return self._wording.allowed

    @property
    def _wording(self) -> _Wording:
        match self.problem:
            case WrongRank():
                return self._wrong_rank(self.problem)
            case NotOneElement():
                return self._not_one_element(self.problem)
            case Unequal():
                return self._unequal(self.problem)
            case TwoSizes():
                return self._two_sizes(self.problem)
            case NotBroadcast():
                return self._not_broadcast(self.problem)
            case Indivisible():
                return self._indivisible(self.problem)
            case AxisOutOfRange():
                return self._axis_out_of_range(self.problem)
            case Repeated():
                return self._repeated(self.problem)
            case WrongCount():
                return self._wrong_count(self.problem)
            case WrongValue():
                return self._wrong_value(self.problem)
            case Overflow():
                return self._overflow(self.problem)

    # --- the wording of each kind of problem

    def _wrong_rank(self, problem: WrongRank) -> _Wording:
        what = f"{self._input_in_words(problem.operand)} of {self._node} is {self._shape_in_words(problem.operand)}"
        allowed = _ranks_in_words(problem.least, problem.greatest)
        return _Wording(f"{what}, {self._rank_in_words(problem)}", allowed)

    def _not_one_element(self, problem: NotOneElement) -> _Wording:
        what = f"{self._input_in_words(problem.operand)} of {self._node} is {self._shape_in_words(problem.operand)}"
        allowed = "a scalar" if problem.is_scalar else "one element"
        return _Wording(f"{what}, but {self.node.op_type} needs {allowed}", allowed)

    def _unequal(self, problem: Unequal) -> _Wording:
        is_bound = problem.or_more or problem.least is not None
        expected = None if problem.others else problem.expected
        if isinstance(problem.by, InputDimension) and problem.by.size == expected:
            reason = f"{', the size of' if is_bound else ' like'} {self._dimension_in_words(problem.by)}"
        else:
            reason = self._reason_for_number(expected, problem.by)
        if isinstance(problem.by, Element) and problem.by.source == "group":
            reason += f" and {self._weights_in_words}"
        allowed = _sizes_in_words(problem)
        return _Wording(f"{self._place_in_words(problem.place)}, but must be {allowed}{reason}", allowed)

    def _two_sizes(self, problem: TwoSizes) -> _Wording:
        sizes = [
            f"{each.size} for dimension {each.axis} of {self._operand_in_words(each.operand)}"
            for each in (problem.first, problem.second)
        ]
        name = dimension_in_words(problem.variable)
        sentence = f"in {self._node} dimension variable {name} must be both {' and '.join(sizes)}"
        return _Wording(sentence, "one size for each dimension variable")

    def _not_broadcast(self, problem: NotBroadcast) -> _Wording:
        one, other = problem.one, problem.other
        operands = " and ".join([self._operand_in_words(each.operand) for each in (one, other)])
        sizes = [f"dimension {each.axis} of input {each.operand} is {each.size}" for each in (one, other)]
        sentence = f"{operands} of {self._node} cannot be broadcast to one shape: {', but '.join(sizes)}"
        return _Wording(sentence, f"{one.size} or 1 for dimension {other.axis} of input {other.operand}")

    def _indivisible(self, problem: Indivisible) -> _Wording:
        reason = f", {problem.why}" if problem.why else self._reason_for_number(problem.divisor, problem.by)
        fault = self._place_in_words(problem.place)
        sentence = f"{fault}, which is not a multiple of {problem.divisor}{reason}"
        return _Wording(sentence, f"a multiple of {problem.divisor}")

    def _axis_out_of_range(self, problem: AxisOutOfRange) -> _Wording:
        fault, last = self._element_in_words(problem.place), problem.rank - 1
        if last < problem.least:
            sentence = self._with_shape_of_data(f"{fault}, but there are no axes")
            return _Wording(sentence, "no axis, because the input is a scalar")
        sentence = self._with_shape_of_data(f"{fault}, but the axes are from {problem.least} to {last}")
        return _Wording(sentence, f"{problem.least} to {last}")

    def _repeated(self, problem: Repeated) -> _Wording:
        advice = "the specification advises against writing twice to one index without a reduction"
        taken = f"; {advice}" if problem.is_taken else ""
        sentence = f"{self._element_in_words(problem.place)}, the same as element {problem.first}{taken}"
        return _Wording(sentence, "each number once")

    def _wrong_count(self, problem: WrongCount) -> _Wording:
        what = f"{self._source_in_words(problem.source)} of {self._node} has {counted(problem.count, 'element')}"
        count = _count_in_words(problem)
        sentence = f"{what}, but must have {count}{self._reason_for_count(problem.by)}"
        return _Wording(sentence, f"{count} element{'' if problem.expected == 1 else 's'}")

    def _wrong_value(self, problem: WrongValue) -> _Wording:
        why = f": {problem.reason}" if problem.reason else f", but must be {problem.allowed}"
        sentence = self._with_shape_of_data(f"{self._element_in_words(problem.place)}{why}")
        return _Wording(sentence, problem.allowed)

    def _overflow(self, problem: Overflow) -> _Wording:
        what = f"output {problem.output} {quote(self.node.outputs[problem.output])} of {self._node}"
        return _Wording(f"dimension {problem.axis} of {what} does not fit into an int64", "a size below 2**63")

    # --- parts of sentences

    def _is_given(self, index: int) -> bool:
        return index < len(self.node.inputs) and self.node.inputs[index] != ""

    @property
    def _node(self) -> str:
        return self.node.describe()

    @property
    def _shown_data(self) -> int | None:
        """The input whose shape the message shows because a number does not fit it; None if there is none.

        It is not shown if it is unknown, or if the number is in that input.
        """
        match self.problem:
            case AxisOutOfRange(place=place, rank=rank):
                index = self._input_of_rank(rank)
            case WrongValue(place=place, about_data=True):
                index = 0
            case _:
                return None
        is_known = index < len(self.inputs) and self.inputs[index].shape is not None
        return index if is_known and place.source != index else None

    def _input_of_rank(self, rank: int) -> int:
        """Return the input that axes count in: input 0, unless an operator of ONNX Runtime has scales before it."""
        if not self.node.domain:
            return 0
        shapes = [each.shape for each in self.inputs]
        return next((index for index, shape in enumerate(shapes) if shape is not None and len(shape) == rank), 0)

    def _with_shape_of_data(self, sentence: str) -> str:
        """Return the sentence about a number, with the shape of the input that it does not fit."""
        index = self._shown_data
        if index is None:
            return sentence
        return with_more(sentence, f"{self._input_in_words(index)} is {self._shape_in_words(index)}")

    def _input_in_words(self, index: int) -> str:
        return f"input {index} {quote(self.node.inputs[index])}"

    def _operand_in_words(self, index: int) -> str:
        return with_shape(self._input_in_words(index), self._shape_in_words(index))

    def _shape_in_words(self, index: int) -> str:
        return shape_in_words(self.inputs[index])

    def _rank_in_words(self, problem: WrongRank) -> str:
        ranks = _ranks_in_words(problem.least, problem.greatest)
        if isinstance(problem.like, int):
            verb = "be" if problem.greatest == 0 else "have"
            return f"but must {verb} {ranks} to match {self._operand_in_words(problem.like)}"
        if problem.like is not None:
            given = any(attribute.name == problem.like for attribute in self.node.attribute_protos)
            return f"but must have {ranks} {'by' if given else 'without'} attribute {quote(problem.like)}"
        return f"but {self.node.op_type} needs {ranks}"

    def _source_in_words(self, source: NumberSource) -> str:
        if not isinstance(source, str):
            return self._input_in_words(source)
        given = any(attribute.name == source for attribute in self.node.attribute_protos)
        return f"attribute {quote(source)}" if given else f"attribute {quote(source)} (by default)"

    def _element_in_words(self, element: Element) -> str:
        which = "" if element.index is None else f"element {element.index} of "
        return f"{which}{self._source_in_words(element.source)} of {self._node} is {_value_in_words(element)}"

    def _place_in_words(self, place: ProblemPlace) -> str:
        if isinstance(place, Element):
            return self._element_in_words(place)
        return f"{self._dimension_in_words(place)} of {self._node} is {place.size}"

    @property
    def _weights_in_words(self) -> str:
        """The weights of a convolution with their shape: its channels follow from them and from `group`."""
        index = _WEIGHTS.get(self.node.op_type, 1)
        return f"{self._input_in_words(index)} is {self._shape_in_words(index)}"

    def _dimension_in_words(self, dimension: InputDimension) -> str:
        return f"dimension {dimension.axis} of {self._operand_in_words(dimension.operand)}"

    def _reason_for_number(self, expected: int | None, by: ProblemPlace | None) -> str:
        """Return the source of a required number, with its own number if that differs.

        `expected`: None if several numbers are valid.
        """
        if by is None:
            return ""
        if isinstance(by, InputDimension):
            what = self._dimension_in_words(by)
            return f" ({what})" if by.size == expected else f" because of {what}"
        which = "" if by.index is None else f"element {by.index} of "
        what = f"{which}{self._source_in_words(by.source)}"
        return f" ({what})" if by.value == expected else f" because {what} is {_value_in_words(by)}"

    def _reason_for_count(self, by: NumberSource | None) -> str:
        """Return the input or attribute from which the required number of elements follows, as a clause."""
        if not isinstance(by, str):
            return "" if by is None else f" for {self._operand_in_words(by)}"
        proto = next((each for each in self.node.attribute_protos if each.name == by and not each.ref_attr_name), None)
        if proto is None or proto.type not in _INTEGERS or len(proto.ints) > _MAX_NUMBERS:
            return f" because of attribute {quote(by)}"
        value = proto.i if proto.type == _INTEGERS[0] else describe_list(proto.ints)
        return f" because attribute {quote(by)} is {value}"


def _value_in_words(element: Element) -> str:
    """Return the text of a number, a list of numbers or a string."""
    value = element.value
    if value in ((), ""):
        return "empty" if value == () else "''"
    return describe_list(value) if isinstance(value, tuple) else str(value)


def _input_or_attribute(place: NumberSource | ProblemPlace | None) -> NumberSource | None:
    """Return the index of the input, or the name of the attribute, that has a dimension or number."""
    if isinstance(place, InputDimension):
        return place.operand
    return place.source if isinstance(place, Element) else place


def _sizes_in_words(problem: Unequal) -> str:
    """Return the allowed sizes of a dimension."""
    if problem.others:
        return listed([str(size) for size in sorted({problem.expected, *problem.others})], "or")
    if problem.least is not None and problem.least < problem.expected:
        return f"{problem.least} to {problem.expected}" if problem.least else f"at most {problem.expected}"
    return f"at least {problem.expected}" if problem.or_more else str(problem.expected)


def _count_in_words(problem: WrongCount) -> str:
    """Return the allowed numbers of elements of a list."""
    if problem.or_one and problem.expected != 1:
        return f"1 or {problem.expected:,}"
    if problem.or_multiple:
        return f"a multiple of {problem.expected:,}"
    return f"at least {problem.expected:,}" if problem.or_more else f"{problem.expected:,}"


def _ranks_in_words(least: int, greatest: int | None) -> str:
    if greatest is None:
        return f"at least {counted(least, 'dimension')}"
    if greatest == 0:
        return "a scalar"
    if least == greatest:
        return counted(least, "dimension")
    return f"at most {counted(greatest, 'dimension')}" if least == 0 else f"{least} to {greatest} dimensions"
