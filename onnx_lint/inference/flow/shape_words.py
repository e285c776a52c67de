# SPDX-License-Identifier: Apache-2.0
"""The wording of messages about shapes."""

from __future__ import annotations

from typing import Final

from onnx_lint.common.record import Record
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
)
from onnx_lint.ir.graph import Node
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES
from onnx_lint.wording import counted, describe_list, describe_shape, listed, quote, with_more, with_shape

_INTEGERS: Final = (ATTRIBUTE_TYPE_CODES["INT"], ATTRIBUTE_TYPE_CODES["INTS"])
"""The types of attributes whose numbers are written."""

_MAX_NUMBERS: Final = 8
"""The most numbers of an attribute to write."""

_MAX_SHAPES: Final = 3
"""The most shapes of a sequence's elements to write."""


def shape_in_words(fact: Fact) -> str:
    """Return the shape of a value, or of its content, as text."""
    if fact.inside is not None:
        shapes = list(dict.fromkeys(map(describe_shape, fact.elements)))
        has_others = len(shapes) > _MAX_SHAPES or not isinstance(count_in(fact), int)
        listed_shapes = [*shapes[:_MAX_SHAPES], *(["others"] if has_others and shapes else ())]
        elements = " and ".join(listed_shapes) or shape_in_words(fact.inside)
        return f"{(fact.kind or '').partition('(')[0] or 'something'} of {elements.removeprefix('of ')}"
    return describe_shape(fact.shape)


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
        pair = _input_or_attribute(_contradicted(self.problem)), _input_or_attribute(fault_of(self.problem))
        return [each for each in pair if each is not None]

    @property
    def shown(self) -> set[int]:
        """The inputs that the message shows with their shapes."""
        problem = self.problem
        if isinstance(problem, (AxisOutOfRange, Repeated, WrongValue)):
            return (
                {self._data_input}
                if self._is_about_shape_of_data and self._shows_shape_of_data(problem.place)
                else set()
            )
        places = _contradicted(problem), fault_of(problem)
        operands = [each.operand if isinstance(each, InputDimension) else each for each in places]
        return {each for each in operands if isinstance(each, int)}

    @property
    def sentence(self) -> str:
        """The message for the problem."""
        problem = self.problem
        match problem:
            case WrongRank():
                return self._wrong_rank(problem)
            case NotOneElement():
                return self._not_one_element(problem)
            case Unequal():
                return self._unequal(problem)
            case TwoSizes():
                return self._two_sizes(problem)
            case NotBroadcast():
                return self._not_broadcast(problem)
            case Indivisible():
                return self._indivisible(problem)
            case AxisOutOfRange():
                return self._axis_out_of_range(problem)
            case Repeated():
                return self._repeated(problem)
            case WrongCount():
                return self._wrong_count(problem)
            case WrongValue():
                return self._wrong_value(problem)
            case Overflow():
                return self._overflow(problem)

    @property
    def allowed(self) -> str:
        """The valid shape or number."""
        problem = self.problem
        match problem:
            case WrongRank(least=least, greatest=greatest):
                return _ranks_in_words(least, greatest)
            case NotOneElement(is_scalar=is_scalar):
                return _one_in_words(is_scalar=is_scalar)
            case Unequal():
                return _sizes_in_words(problem)
            case TwoSizes():
                return "one size for each dimension variable"
            case NotBroadcast(one=one, other=other):
                return f"{one.size} or 1 for dimension {other.axis} of input {other.operand}"
            case Indivisible(divisor=divisor):
                return f"a multiple of {divisor}"
            case AxisOutOfRange(rank=rank, least=least):
                return _axis_range(least, rank)
            case Repeated():
                return "each once"
            case WrongCount(expected=expected):
                return f"{_count_in_words(problem)} element{'' if expected == 1 else 's'}"
            case WrongValue(allowed=allowed):
                return allowed
            case Overflow():
                return "a size below 2**63"

    # --- the sentence of each kind of problem

    def _wrong_rank(self, problem: WrongRank) -> str:
        what = f"{self._input_in_words(problem.operand)} of {self._node} is {self._shape_in_words(problem.operand)}"
        return f"{what}, {self._rank_in_words(problem)}"

    def _not_one_element(self, problem: NotOneElement) -> str:
        what = f"{self._input_in_words(problem.operand)} of {self._node} is {self._shape_in_words(problem.operand)}"
        return f"{what}, but {self.node.op_type} needs {_one_in_words(is_scalar=problem.is_scalar)}"

    def _unequal(self, problem: Unequal) -> str:
        is_bound = problem.or_more or problem.least is not None
        expected = None if problem.others else problem.expected
        reason = self._reason_for_size(expected, problem.by, ", the size of {}" if is_bound else " like {}")
        if isinstance(problem.by, Element) and problem.by.source == "group":
            # Of a convolution: its channels follow from `group` and from the weights.
            weights = 3 if self.node.op_type == "QLinearConv" else 1
            reason += f" and {self._input_in_words(weights)} is {self._shape_in_words(weights)}"
        return f"{self._place_in_words(problem.place)}, but must be {_sizes_in_words(problem)}{reason}"

    def _two_sizes(self, problem: TwoSizes) -> str:
        sizes = [
            f"{each.size} for dimension {each.axis} of {self._operand_in_words(each.operand)}"
            for each in (problem.first, problem.second)
        ]
        return f"in {self._node} dimension variable {quote(problem.variable)} must be both {' and '.join(sizes)}"

    def _not_broadcast(self, problem: NotBroadcast) -> str:
        pair = problem.one, problem.other
        operands = " and ".join([self._operand_in_words(each.operand) for each in pair])
        sizes = [f"dimension {each.axis} of input {each.operand} is {each.size}" for each in pair]
        return f"{operands} of {self._node} cannot be broadcast to one shape: {', but '.join(sizes)}"

    def _indivisible(self, problem: Indivisible) -> str:
        reason = f", {problem.why}" if problem.why else self._reason_for_size(problem.divisor, problem.by, " ({})")
        return f"{self._place_in_words(problem.place)}, which is not a multiple of {problem.divisor}{reason}"

    def _axis_out_of_range(self, problem: AxisOutOfRange) -> str:
        fault = f"{self._element_in_words(problem.place)}, but {_axes_in_words(problem.least, problem.rank)}"
        return self._with_shape_of_data(fault, problem.place)

    def _repeated(self, problem: Repeated) -> str:
        advice = "the specification advises against writing twice to one index without a reduction"
        taken = f"; {advice}" if problem.is_taken else ""
        return f"{self._element_in_words(problem.place)}, the same as element {problem.first}{taken}"

    def _wrong_count(self, problem: WrongCount) -> str:
        what = f"{self._source_in_words(problem.source)} of {self._node} has {counted(problem.count, 'element')}"
        return f"{what}, but must have {_count_in_words(problem)}{self._reason_for_count(problem.by)}"

    def _wrong_value(self, problem: WrongValue) -> str:
        why = f": {problem.reason}" if problem.reason else f", but must be {problem.allowed}"
        fault = f"{self._element_in_words(problem.place)}{why}"
        return self._with_shape_of_data(fault, problem.place) if problem.about_data else fault

    def _overflow(self, problem: Overflow) -> str:
        what = f"output {problem.output} {quote(self.node.outputs[problem.output])} of {self._node}"
        return f"dimension {problem.axis} of {what} does not fit into an int64"

    # --- parts of sentences

    def _is_given(self, index: int) -> bool:
        return index < len(self.node.inputs) and self.node.inputs[index] != ""

    @property
    def _node(self) -> str:
        return self.node.describe()

    @property
    def _is_about_shape_of_data(self) -> bool:
        """True if a number does not fit the shape of input 0, which the message shows."""
        problem = self.problem
        return isinstance(problem, AxisOutOfRange) or (isinstance(problem, WrongValue) and problem.about_data)

    @property
    def _data_input(self) -> int:
        """The input whose shape the message shows: input 0, unless an operator of ONNX Runtime has scales before it."""
        rank = self.problem.rank if isinstance(self.problem, AxisOutOfRange) else None
        if rank is None or not self.node.domain:
            return 0
        return next(
            (at for at, each in enumerate(self.inputs) if each.shape is not None and len(each.shape) == rank), 0
        )

    def _shows_shape_of_data(self, element: Element) -> bool:
        """Return whether the message shows the shape of the input: it is known, and the number is not in that input."""
        index = self._data_input
        return element.source != index and index < len(self.inputs) and self.inputs[index].shape is not None

    def _with_shape_of_data(self, sentence: str, element: Element) -> str:
        """Append the shape of the input that a number does not fit to the sentence about the number, if it is shown."""
        index = self._data_input
        return (
            with_more(sentence, f"{self._input_in_words(index)} is {self._shape_in_words(index)}")
            if self._shows_shape_of_data(element)
            else sentence
        )

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
        return f"dimension {place.axis} of {self._operand_in_words(place.operand)} of {self._node} is {place.size}"

    def _reason_for_size(self, expected: int | None, by: ProblemPlace | None, template: str) -> str:
        """Return the source of a size: the other operand or attribute, with its own number if that differs.

        `expected`: None if several sizes are valid. `template`: the format string for another dimension of the expected
        size, such as ` like {}`.
        """
        if by is None:
            return ""
        if isinstance(by, InputDimension):
            what = f"dimension {by.axis} of {self._operand_in_words(by.operand)}"
            return template.format(what) if by.size == expected else f" because of {what}"
        value = _value_in_words(by)
        which = "" if by.index is None else f"element {by.index} of "
        what = f"{which}{self._source_in_words(by.source)}"
        return f" ({what})" if by.value == expected else f" because {what} is {value}"

    def _reason_for_count(self, by: NumberSource | None) -> str:
        """Return the input or attribute from which the required number of elements follows, as a clause."""
        if not isinstance(by, str):
            return "" if by is None else f" for {self._operand_in_words(by)}"
        proto = next((each for each in self.node.attribute_protos if each.name == by and not each.ref_attr_name), None)
        if proto is None or proto.type not in _INTEGERS or len(proto.ints) > _MAX_NUMBERS:
            return f" because of attribute {quote(by)}"
        return (
            f" because attribute {quote(by)} is {proto.i if proto.type == _INTEGERS[0] else describe_list(proto.ints)}"
        )


def _value_in_words(element: Element) -> object:
    """Return the text of a number, a list of numbers or a string."""
    value = element.value
    if value in ((), ""):
        return "empty" if value == () else "''"
    return describe_list(value) if isinstance(value, tuple) else value


def fault_of(problem: PlainProblem) -> int | ProblemPlace | None:
    """Return what is wrong: the index of an input, a dimension, or a number; None if it is an output."""
    match problem:
        case WrongRank(operand=operand) | NotOneElement(operand=operand):
            return operand
        case NotBroadcast(other=other) | TwoSizes(second=other):
            return other
        case WrongCount(source=source):
            return Element(source, None)
        case Overflow():
            return None
    return problem.place


def _contradicted(problem: PlainProblem) -> NumberSource | ProblemPlace | None:
    """Return the operand, dimension or number that the faulty one contradicts; None if there is none.

    A wrong axis, index or other number contradicts the shape of input 0.
    """
    match problem:
        case WrongRank(like=like):
            return like
        case Unequal(by=by) | Indivisible(by=by) | WrongCount(by=by):
            return by
        case NotBroadcast(one=one) | TwoSizes(first=one):
            return one
        case AxisOutOfRange() | Repeated() | WrongValue():
            return 0
    return None


def _input_or_attribute(place: NumberSource | ProblemPlace | None) -> NumberSource | None:
    """Return the index of the input, or the name of the attribute, that has a dimension or number."""
    if isinstance(place, InputDimension):
        return place.operand
    return place.source if isinstance(place, Element) else place


def _one_in_words(*, is_scalar: bool) -> str:
    """Return what an operator requires that requires one element. `is_scalar`: whether the rank must be 0."""
    return "a scalar" if is_scalar else "one element"


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


def _axis_range(least: int, rank: int) -> str:
    return f"{least} to {rank - 1}" if least < rank else "none"


def _axes_in_words(least: int, rank: int) -> str:
    return f"the axes are from {least} to {rank - 1}" if least < rank else "there are no axes"


def _ranks_in_words(least: int, greatest: int | None) -> str:
    if greatest is None:
        return f"at least {counted(least, 'dimension')}"
    if greatest == 0:
        return "a scalar"
    if least == greatest:
        return counted(least, "dimension")
    return f"at most {counted(greatest, 'dimension')}" if least == 0 else f"{least} to {greatest} dimensions"
