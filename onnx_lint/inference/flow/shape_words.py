# SPDX-License-Identifier: Apache-2.0
"""The wording of messages about shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from onnx_lint.common.record import Record
from onnx_lint.inference.flow.conflict import Note
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
from onnx_lint.inference.shapes.stated import fact_of_type
from onnx_lint.ir.graph import BEFORE_NODES, Graph, Node
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES
from onnx_lint.wording import counted, describe_list, describe_shape, listed, quote, with_more, with_shape

_INTEGERS: Final = (ATTRIBUTE_TYPE_CODES["INT"], ATTRIBUTE_TYPE_CODES["INTS"])
"""The types of attributes whose numbers are written."""

_MOST_OF_LIST: Final = 8
"""The most numbers of an attribute to write."""

_FEW: Final = 3
"""The most shapes of a sequence's elements to write."""


def text_of(fact: Fact) -> str:
    """Return the shape of a value, or of its content, as text."""
    if fact.inside is not None:
        shapes = list(dict.fromkeys(map(describe_shape, fact.elements)))
        has_others = len(shapes) > _FEW or not isinstance(count_in(fact), int)
        listed_shapes = [*shapes[:_FEW], *(["others"] if has_others and shapes else ())]
        elements = " and ".join(listed_shapes) or text_of(fact.inside)
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
        pair = _source(_contradicted(self.problem)), _source(fault_of(self.problem))
        return [each for each in pair if each is not None]

    @property
    def shown(self) -> set[int]:
        """The inputs that the message shows with their shapes."""
        problem = self.problem
        if isinstance(problem, (AxisOutOfRange, Repeated, WrongValue)):
            return {self._data} if self._is_about_data and self._has_data(problem.place) else set()
        places = _contradicted(problem), fault_of(problem)
        operands = [each.operand if isinstance(each, InputDimension) else each for each in places]
        return {each for each in operands if isinstance(each, int)}

    @property
    def sentence(self) -> str:
        """The message for the problem."""
        return _SENTENCES[type(self.problem)](self, self.problem)

    @property
    def allowed(self) -> str:
        """The valid shape or number."""
        problem = self.problem
        match problem:
            case WrongRank(least=least, greatest=greatest):
                return _ranks(least, greatest)
            case NotOneElement(is_scalar=is_scalar):
                return _ONE[is_scalar]
            case Unequal():
                return _sizes(problem)
            case TwoSizes():
                return "one size for each dimension variable"
            case NotBroadcast(one=one, other=other):
                return f"{one.size} or 1 for dimension {other.axis} of input {other.operand}"
            case Indivisible(divisor=divisor):
                return f"a multiple of {divisor}"
            case AxisOutOfRange(rank=rank, least=least):
                return _axes(least, rank)
            case Repeated():
                return "each once"
            case WrongCount(expected=expected):
                return f"{_count(problem)} element{'' if expected == 1 else 's'}"
            case WrongValue(allowed=allowed):
                return allowed
            case Overflow():
                return "a size below 2**63"

    # --- the sentence of each kind of problem

    def _wrong_rank(self, problem: WrongRank) -> str:
        what = f"{self._input(problem.operand)} of {self._node} is {self._shape(problem.operand)}"
        return f"{what}, {self._rank(problem)}"

    def _not_one_element(self, problem: NotOneElement) -> str:
        what = f"{self._input(problem.operand)} of {self._node} is {self._shape(problem.operand)}"
        return f"{what}, but {self.node.op_type} needs {_ONE[problem.is_scalar]}"

    def _unequal(self, problem: Unequal) -> str:
        is_bound = problem.or_more or problem.least is not None
        expected = None if problem.others else problem.expected
        reason = self._reason(expected, problem.by, ", the size of {}" if is_bound else " like {}")
        if isinstance(problem.by, Element) and problem.by.source == "group":
            weights = 3 if self.node.op_type == "QLinearConv" else 1
            reason += f" and {self._input(weights)} is {self._shape(weights)}"
        return f"{self._place(problem.place)}, but must be {_sizes(problem)}{reason}"

    def _two_sizes(self, problem: TwoSizes) -> str:
        sizes = [
            f"{each.size} for dimension {each.axis} of {self._operand(each.operand)}"
            for each in (problem.first, problem.second)
        ]
        return f"in {self._node} dimension variable {quote(problem.variable)} must be both {' and '.join(sizes)}"

    def _not_broadcast(self, problem: NotBroadcast) -> str:
        pair = problem.one, problem.other
        operands = " and ".join([self._operand(each.operand) for each in pair])
        sizes = [f"dimension {each.axis} of input {each.operand} is {each.size}" for each in pair]
        return f"{operands} of {self._node} cannot be broadcast to one shape: {', but '.join(sizes)}"

    def _indivisible(self, problem: Indivisible) -> str:
        reason = f", {problem.why}" if problem.why else self._reason(problem.divisor, problem.by, " ({})")
        return f"{self._place(problem.place)}, which is not a multiple of {problem.divisor}{reason}"

    def _axis_out_of_range(self, problem: AxisOutOfRange) -> str:
        fault = f"{self._element(problem.place)}, but {_axes_in_words(problem.least, problem.rank)}"
        return self._with_data(fault, problem.place)

    def _repeated(self, problem: Repeated) -> str:
        advice = "the specification advises against writing twice to one index without a reduction"
        taken = f"; {advice}" if problem.is_taken else ""
        return f"{self._element(problem.place)}, the same as element {problem.first}{taken}"

    def _wrong_count(self, problem: WrongCount) -> str:
        what = f"{self._source(problem.source)} of {self._node} has {counted(problem.count, 'element')}"
        return f"{what}, but must have {_count(problem)}{self._for(problem.by)}"

    def _wrong_value(self, problem: WrongValue) -> str:
        why = f": {problem.reason}" if problem.reason else f", but must be {problem.allowed}"
        fault = f"{self._element(problem.place)}{why}"
        return self._with_data(fault, problem.place) if problem.about_data else fault

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
    def _is_about_data(self) -> bool:
        """True if a number does not fit the shape of input 0, which the message shows."""
        problem = self.problem
        return isinstance(problem, AxisOutOfRange) or (isinstance(problem, WrongValue) and problem.about_data)

    @property
    def _data(self) -> int:
        """The input whose shape the message shows: input 0, unless an operator of ONNX Runtime has scales before it."""
        rank = self.problem.rank if isinstance(self.problem, AxisOutOfRange) else None
        if rank is None or not self.node.domain:
            return 0
        return next(
            (at for at, each in enumerate(self.inputs) if each.shape is not None and len(each.shape) == rank), 0
        )

    def _has_data(self, element: Element) -> bool:
        """Return whether the shape of the input is known, and the number is not in that input itself."""
        index = self._data
        return element.source != index and index < len(self.inputs) and self.inputs[index].shape is not None

    def _with_data(self, sentence: str, element: Element) -> str:
        """Append the shape of the input to a sentence about a number that does not fit it, as far as `_has_data`."""
        index = self._data
        return (
            with_more(sentence, f"{self._input(index)} is {self._shape(index)}")
            if self._has_data(element)
            else sentence
        )

    def _input(self, index: int) -> str:
        return f"input {index} {quote(self.node.inputs[index])}"

    def _operand(self, index: int) -> str:
        return with_shape(self._input(index), self._shape(index))

    def _shape(self, index: int) -> str:
        return text_of(self.inputs[index])

    def _rank(self, problem: WrongRank) -> str:
        ranks = _ranks(problem.least, problem.greatest)
        if isinstance(problem.like, int):
            verb = "be" if problem.greatest == 0 else "have"
            return f"but must {verb} {ranks} to match {self._operand(problem.like)}"
        if problem.like is not None:
            given = any(attribute.name == problem.like for attribute in self.node.attribute_protos)
            return f"but must have {ranks} {'by' if given else 'without'} attribute {quote(problem.like)}"
        return f"but {self.node.op_type} needs {ranks}"

    def _source(self, source: NumberSource) -> str:
        if not isinstance(source, str):
            return self._input(source)
        given = any(attribute.name == source for attribute in self.node.attribute_protos)
        return f"attribute {quote(source)}" if given else f"attribute {quote(source)} (by default)"

    def _element(self, element: Element) -> str:
        which = "" if element.index is None else f"element {element.index} of "
        return f"{which}{self._source(element.source)} of {self._node} is {_value(element)}"

    def _place(self, place: ProblemPlace) -> str:
        if isinstance(place, Element):
            return self._element(place)
        return f"dimension {place.axis} of {self._operand(place.operand)} of {self._node} is {place.size}"

    def _reason(self, expected: int | None, by: ProblemPlace | None, template: str) -> str:
        """Return the source of a size: the other operand or attribute, with its own number if that differs.

        `expected`: None if several sizes are valid. `template`: the format string for another dimension of the expected
        size, such as ` like {}`.
        """
        if by is None:
            return ""
        if isinstance(by, InputDimension):
            what = f"dimension {by.axis} of {self._operand(by.operand)}"
            return template.format(what) if by.size == expected else f" because of {what}"
        value = _value(by)
        which = "" if by.index is None else f"element {by.index} of "
        what = f"{which}{self._source(by.source)}"
        return f" ({what})" if by.value == expected else f" because {what} is {value}"

    def _for(self, by: NumberSource | None) -> str:
        if not isinstance(by, str):
            return "" if by is None else f" for {self._operand(by)}"
        proto = next((each for each in self.node.attribute_protos if each.name == by and not each.ref_attr_name), None)
        if proto is None or proto.type not in _INTEGERS or len(proto.ints) > _MOST_OF_LIST:
            return f" because of attribute {quote(by)}"
        return (
            f" because attribute {quote(by)} is {proto.i if proto.type == _INTEGERS[0] else describe_list(proto.ints)}"
        )


_SENTENCES: Final[Mapping[type, Callable[[WordedProblem, Any], str]]] = {
    WrongRank: WordedProblem._wrong_rank,
    NotOneElement: WordedProblem._not_one_element,
    Unequal: WordedProblem._unequal,
    TwoSizes: WordedProblem._two_sizes,
    NotBroadcast: WordedProblem._not_broadcast,
    Indivisible: WordedProblem._indivisible,
    AxisOutOfRange: WordedProblem._axis_out_of_range,
    Repeated: WordedProblem._repeated,
    WrongCount: WordedProblem._wrong_count,
    WrongValue: WordedProblem._wrong_value,
    Overflow: WordedProblem._overflow,
}
"""Returns the sentence for a problem, by its kind."""


def _value(element: Element) -> object:
    """Return a number, or a list of numbers."""
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
    """Return the operand, dimension or number that the faulty one contradicts; for most numbers it is input 0."""
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


def _source(place: NumberSource | ProblemPlace | None) -> NumberSource | None:
    if isinstance(place, InputDimension):
        return place.operand
    return place.source if isinstance(place, Element) else place


_ONE = {True: "a scalar", False: "one element"}
"""The words for the operand of an operator that requires one element, by whether its rank must be 0."""


def _sizes(problem: Unequal) -> str:
    """Return the allowed sizes of a dimension."""
    if problem.others:
        return listed([str(size) for size in sorted({problem.expected, *problem.others})], "or")
    if problem.least is not None and problem.least < problem.expected:
        return f"{problem.least} to {problem.expected}" if problem.least else f"at most {problem.expected}"
    return f"at least {problem.expected}" if problem.or_more else str(problem.expected)


def _count(problem: WrongCount) -> str:
    """Return the allowed numbers of elements of a list."""
    if problem.or_one and problem.expected != 1:
        return f"1 or {problem.expected:,}"
    if problem.or_multiple:
        return f"a multiple of {problem.expected:,}"
    return f"at least {problem.expected:,}" if problem.or_more else f"{problem.expected:,}"


def _axes(least: int, rank: int) -> str:
    return f"{least} to {rank - 1}" if least < rank else "none"


def _axes_in_words(least: int, rank: int) -> str:
    return f"the axes are from {least} to {rank - 1}" if least < rank else "there are no axes"


def _ranks(least: int, greatest: int | None) -> str:
    if greatest is None:
        return f"at least {counted(least, 'dimension')}"
    if greatest == 0:
        return "a scalar"
    if least == greatest:
        return counted(least, "dimension")
    return f"at most {counted(greatest, 'dimension')}" if least == 0 else f"{least} to {greatest} dimensions"


# --- where knowledge comes from


def shape_notes(graph: Graph, name: str, fact: Fact) -> list[Note]:
    """Return the definition of a value, and the declaration of its shape."""
    definition = graph.definition_of(name)
    if definition is None:
        return []
    found: list[Note] = [(definition.place, f"{quote(name)} is {text_of(fact)}")]
    owner: Graph | None = graph
    while owner is not None and name not in owner.positions:
        owner = owner.parent
    if owner is None or owner.is_function or owner.positions[name] == BEFORE_NODES:
        return found
    for field, names in (("value_info", owner.value_info_names), ("output", owner.output_names)):
        if name in names:
            index = names.index(name)
            declared = fact_of_type(owner.message_at(field, index).type)
            if any(dim is not None for dim in declared.shape or ()):
                place = owner.place.at(field, index)
                found.append((place, f"{quote(name)} is declared as {text_of(declared)}"))
    return found
