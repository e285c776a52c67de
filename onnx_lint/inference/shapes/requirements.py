# SPDX-License-Identifier: Apache-2.0
"""The requirements in an operator's record on numbers in attributes and dimensions, and their conditions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.inference.shapes.dims import Dim
from onnx_lint.inference.shapes.equations import Size
from onnx_lint.inference.shapes.forms import FormSolution
from onnx_lint.inference.shapes.operands import Operands
from onnx_lint.inference.shapes.problem import Element, Indivisible, InputDimension, ProblemPlace, Unequal, WrongCount
from onnx_lint.spec.operators.records.grammar import Condition, Requirement, SizePart, SizeProduct, SizeSum
from onnx_lint.wording import listed

ConditionTest = Callable[[Operands], bool]
"""Returns whether a condition is true of a node."""


def condition_test(condition: Condition, inputs: Sequence[str], outputs: Sequence[str] = ()) -> ConditionTest:
    """Return the test for a condition of the nodes of an operator with these inputs and outputs.

    `outputs`: those whose names no input or attribute has.
    """
    test = _positive_test(condition, inputs, outputs)
    return (lambda node: not test(node)) if condition.is_negated else test


def _positive_test(condition: Condition, inputs: Sequence[str], outputs: Sequence[str]) -> ConditionTest:
    """Return the test for a condition without its negation."""
    name, value = condition.name, condition.value
    match condition.sign:
        case "=" if not value:
            return lambda node: node.argument(name) in ("", ("",))
        case "=":
            return lambda node: str(node.argument(name)) == value
        case ">" if value.isdecimal():
            return lambda node: node.integer(name, 0) > int(value)
        case ">":
            return lambda node: node.integer(name, 0) > node.integer(value, 0)
        case "~":
            return lambda node: _kind(node, name) == _kind(node, value)
        case "!~":
            return lambda node: _differ(_kind(node, name), _kind(node, value)) and node.given(node.input(name))
    if name in inputs:
        index = inputs.index(name)
        return lambda node: node.given(index)
    if name in outputs:
        place = outputs.index(name)
        return lambda node: node.gives(place)
    return lambda node: bool(node.argument(name))


def _kind(node: Operands, name: str) -> str | None:
    """Return the type of an input."""
    return node.fact(node.input(name)).kind


def _differ(one: str | None, other: str | None) -> bool:
    """Return whether two types are known and differ."""
    return one is not None and other is not None and one != other


def holds(node: Operands, condition: Condition) -> bool:
    """Return whether a condition is true of a node."""
    outputs = [each.name for each in node.schema.outputs if each.name not in node.schema.attributes]
    return condition_test(condition, [each.name for each in node.schema.inputs], outputs)(node)


def is_of_size(required: Requirement, attributes: Set[str]) -> bool:
    """Return whether a requirement compares an attribute with a dimension."""
    if required.kind not in ("at most", "multiple of"):
        return False
    first = required.size.first
    return first.kind == "dimension" and first.name not in attributes


# --- attributes


def check_attribute(node: Operands, name: str, required: Requirement) -> None:
    """Record an attribute that breaks a requirement."""
    value = node.argument(name)
    if value is None:
        return
    before = len(node.problems)
    if required.kind in ("needs", "excludes"):
        _check_beside(node, name, value, required)
    elif required.kind == "as many as":
        _check_count(node, name, value, required)
    elif isinstance(value, tuple):
        for index, number in enumerate(value):
            _KINDS[required.kind](node, name, number, index, required)
    else:
        _KINDS[required.kind](node, name, value, None, required)
    if len(node.problems) > before and not all(holds(node, each) for each in required.conditions):
        del node.problems[before:]


def _check_beside(node: Operands, name: str, value: object, required: Requirement) -> None:
    """Record an attribute beside which a required operand or attribute is missing, or an excluded one is given."""
    if not value or (required.value and required.value != str(value)):
        return
    others = tuple([each for each in required.conditions if not _is_value(each, name, value)])
    why = _why(replace(required, conditions=others))
    for each in required.of:
        part = _part(node, each)
        if required.kind == "excludes" and part.is_given:
            allowed = "another value" if required.value or part.is_attribute else None
            node.wrong_value(name, value, f"it excludes {part.words}{why}", allowed=allowed)
        elif required.kind == "needs" and not part.is_given:
            _record_missing(node, name, value, part, of_value=required.value, why=why)


def _is_value(condition: Condition, name: str, value: object) -> bool:
    """Return whether a condition is that an attribute has a value."""
    is_test = condition.sign == "=" and not condition.is_negated
    return is_test and condition.name == name and condition.value == str(value)


def _record_missing(node: Operands, name: str, value: object, part: _NamedPart, *, of_value: str, why: str) -> None:
    """Record an attribute whose required part the node omits. `of_value`: the value that requires it, or empty."""
    if part.is_attribute and not of_value:
        reason = f"'{name}' {value} requires it"
        node.wrong_value(part.name, node.integer(part.name, 0), reason, allowed="at least 1")
        return
    reason = f"it requires {part.words}{why}, which the node leaves out"
    node.wrong_value(name, value, reason, allowed=f"{part.words}, or another value" if of_value else None)


class _NamedPart(Record):
    """An input, output or attribute of a node that an attribute requires or excludes."""

    name: str
    words: str
    is_given: bool
    is_attribute: bool = False


def _part(node: Operands, name: str) -> _NamedPart:
    """Return the part that a word of a record names. An output without a name is given, unless the word ends in "!"."""
    needs_name, name = name.endswith("!"), name.removesuffix("!")
    index = node.input(name)
    if index < len(node.schema.inputs):
        return _NamedPart(name, f"input {index} ('{name}')", node.given(index))
    index = next((at for at, each in enumerate(node.schema.outputs) if each.name == name), -1)
    if index >= 0:
        is_given = node.gives(index) if needs_name else node.output_count > index
        return _NamedPart(name, f"output {index} ('{name}')", is_given)
    return _NamedPart(name, f"attribute '{name}'", node.has(name) and node.argument(name) != 0, is_attribute=True)


def _check_count(node: Operands, name: str, value: object, required: Requirement) -> None:
    """Record a list of another length."""
    count = int(required.of[0])
    if isinstance(value, tuple) and len(value) != count:
        node.problems.append(WrongCount(name, len(value), count))


def _why(required: Requirement) -> str:
    """Return the conditions of a requirement in words."""
    found = [_condition_in_words(each) for each in required.conditions]
    return f" if {' and '.join(found)}" if found else ""


def _condition_in_words(condition: Condition) -> str:
    name = condition.name
    if condition.sign == "!~":
        return f"inputs '{name}' and '{condition.value}' have different types"
    if condition.sign == "=":
        value = condition.value or "''"
        return f"attribute '{name}' is {'not ' if condition.is_negated else ''}{value}"
    return f"the node {'leaves out' if condition.is_negated else 'has'} '{name}'"


def _check_at_least(node: Operands, name: str, value: object, index: int | None, required: Requirement) -> None:
    least = _number(node, required.of[0])
    if isinstance(value, int | float) and least is not None and value < least:
        node.too_small(name, value, least, index=index, condition=_why(required))


def _check_above(node: Operands, name: str, value: object, index: int | None, required: Requirement) -> None:
    bound = _number(node, required.of[0])
    if isinstance(value, int | float) and bound is not None and value <= bound:
        node.wrong_value(name, value, index=index, allowed=f"more than {bound}{_bound(node, required)}")


def _check_below(node: Operands, name: str, value: object, index: int | None, required: Requirement) -> None:
    bound = _number(node, required.of[0])
    if isinstance(value, int | float) and bound is not None and value >= bound:
        node.wrong_value(name, value, index=index, allowed=f"less than {bound}{_bound(node, required)}")


def _bound(node: Operands, required: Requirement) -> str:
    """Return the attribute that is the bound, or otherwise the conditions, in words."""
    return f" (attribute '{required.of[0]}')" if required.of[0] in node.schema.attributes else _why(required)


_ALLOWED_NUMBERS: Final = {"inf": "a finite number", "nan": "a number"}
"""The numbers that remain allowed, in words, by the first excluded kind."""


def _check_not(node: Operands, name: str, value: object, index: int | None, required: Requirement) -> None:
    """Record an attribute that the node must not have, or a number of an excluded kind."""
    if required.of == ("given",):
        if node.has(name):
            reason = f"{node.schema.name} must not have it{_why(required)}"
            node.wrong_value(name, value, reason, index=index, allowed="no such attribute")
    elif isinstance(value, int | float) and any(_KINDS_OF_NUMBERS[each](value) for each in required.of):
        allowed = next((words for kind, words in _ALLOWED_NUMBERS.items() if kind in required.of), "another number")
        node.wrong_value(name, value, index=index, allowed=f"{allowed}{_why(required)}")


def _check_at_most(node: Operands, name: str, value: object, index: int | None, required: Requirement) -> None:
    most = _number(node, required.of[0])
    if isinstance(value, int) and most is not None and value > most:
        node.wrong_value(name, value, f"at most {most}{_why(required)}", index=index)


def _check_one_of(node: Operands, name: str, value: object, index: int | None, required: Requirement) -> None:
    if str(value) not in required.of and not (required.kind == "word of" and _is_word(str(value), required.of)):
        words = listed([*required.of], "or")
        node.wrong_value(name, value, f"it must be {words}{_why(required)}", index=index, allowed=words)


def _check_same_as(node: Operands, name: str, value: object, index: int | None, required: Requirement) -> None:
    """Record a word that differs from the one in another attribute, apart from its case."""
    given = node.argument(required.of[0])
    other = str(given)
    if given is not None and str(value).upper() != other.upper():
        reason = f"it must be {other} like attribute '{required.of[0]}'"
        node.wrong_value(name, value, reason, index=index, allowed=other)


def _is_word(text: str, words: Sequence[str]) -> bool:
    return text.upper() in [each.upper() for each in words]


def _check_power_of_2(node: Operands, name: str, value: object, index: int | None, required: Requirement) -> None:
    least = int(required.of[0])
    if isinstance(value, int) and (value < least or value & (value - 1)):
        allowed = f"{least}, {2 * least}, {4 * least}, ..."
        node.wrong_value(name, value, f"it must be a power of two from {least} on", index=index, allowed=allowed)


def _check_multiple(node: Operands, name: str, value: object, index: int | None, required: Requirement) -> None:
    other = _number(node, required.of[0])
    if not isinstance(value, int) or value <= 0 or other is None or other <= 0 or not value % other:
        return
    if required.kind == "either multiple of" and other % value:
        allowed = f"a multiple or a divisor of {other}"
        node.wrong_value(
            name, value, f"it must be {allowed} (attribute '{required.of[0]}')", index=index, allowed=allowed
        )
    elif required.kind == "multiple of":
        by = Element(required.of[0], other) if not required.of[0].isdecimal() else None
        node.indivisible(Element(name, value, index), other, by)


_KINDS_OF_NUMBERS: Final[Mapping[str, Callable[[float], bool]]] = {
    "0": lambda value: value == 0,
    "inf": math.isinf,
    "nan": math.isnan,
}
"""The kinds of numbers that a requirement can exclude, with their tests."""

_NumberCheck = Callable[[Operands, str, object, int | None, Requirement], None]

_KINDS: Final[Mapping[str, _NumberCheck]] = {
    "above": _check_above,
    "at least": _check_at_least,
    "at most": _check_at_most,
    "below": _check_below,
    "either multiple of": _check_multiple,
    "multiple of": _check_multiple,
    "not": _check_not,
    "one of": _check_one_of,
    "power of 2 from": _check_power_of_2,
    "same as": _check_same_as,
    "word of": _check_one_of,
}


def _number(node: Operands, text: str) -> int | None:
    """Return a number from its text or from an attribute; None for a dimension."""
    return int(text) if text.removeprefix("-").isdecimal() else node.integer(text)


# --- dimensions


Required = Iterable[tuple[str, Requirement]]
"""The requirements of attributes or dimensions, with their names."""


def fit_sizes(node: Operands, attributes: Required, sizes: Required, solution: FormSolution) -> None:
    """Record attributes and dimensions that break a requirement with the dimensions of a form."""
    for name, each in attributes:
        value = node.integer(name)
        if value is not None:
            _check_attribute(node, Element(name, value), each, solution)
    for name, each in sizes:
        size, place = solution.sizes.get(name, (None, None))
        if isinstance(size, int) and isinstance(place, InputDimension) and not node.problems:
            _check_size(node, name, each, solution)
            if node.problems and not all(holds(node, condition) for condition in each.conditions):
                node.problems.clear()


def _check_attribute(node: Operands, place: Element, required: Requirement, solution: FormSolution) -> None:
    """Record an attribute that breaks a requirement with a dimension."""
    limit, by = _limit(node, required.size, solution)
    if not isinstance(limit, int) or not isinstance(place.value, int):
        return
    if required.kind == "at most" and place.value > limit:
        node.wrong_value(place.source, place.value, allowed=f"at most {limit}{_source(node, by, limit)}")
    elif required.kind == "multiple of" and limit and place.value % limit:
        node.indivisible(place, limit, by)


def _check_size(node: Operands, name: str, required: Requirement, solution: FormSolution) -> None:
    size, place = solution.sizes[name]
    limit, by = _limit(node, required.size, solution)
    if not isinstance(size, int) or not isinstance(place, InputDimension) or not isinstance(limit, int):
        return
    if required.kind == "multiple of" and limit and size % limit:
        parts = place.size // size if size else 1
        _record_indivisible(node, place, limit, parts=parts, by=solution.parts.get(name) or by)
    elif required.kind == "at most" and size > limit:
        node.problems.append(Unequal(place, limit, by, least=0))
    elif required.kind == "equal to" and size != limit:
        node.problems.append(Unequal(place, limit, by))
    elif required.kind == "at least" and size < limit:
        # The dimension may be a sum of the size and a number.
        node.problems.append(Unequal(place, limit + place.size - size, by, or_more=True))


def _record_indivisible(
    node: Operands, place: InputDimension, limit: int, *, parts: int, by: ProblemPlace | None
) -> None:
    """Record a dimension of equal parts that are not multiples of a number."""
    why = f"because each of its {parts} parts must be a multiple of {limit}" if parts > 1 else ""
    node.problems.append(Indivisible(place, limit * parts, by, why))


def _limit(node: Operands, size: SizeSum, solution: FormSolution) -> Size:
    """Return the value of a size, with the source of its first part."""
    total: Dim = 0
    for product in size.products:
        found = _product(node, product, solution)
        if not isinstance(found, int) or not isinstance(total, int):
            return None, None
        total += -found if product.is_negative else found
    return total, _value_of(node, size.first, solution)[1]


def _product(node: Operands, product: SizeProduct, solution: FormSolution) -> Dim:
    """Return the value of a product without its sign, computed from the left; quotients are rounded down."""
    first, *rest = product.parts
    found, _ = _value_of(node, first, solution)
    for part in rest:
        other, _ = _value_of(node, part, solution)
        if not isinstance(found, int) or not isinstance(other, int):
            return None
        found = found * other if part.operation == "*" else found // other if other else None
    return found


def _value_of(node: Operands, part: SizePart, solution: FormSolution) -> Size:
    """Return the value of a part of a product, and its source: an attribute, a dimension or an element."""
    if part.dividend is not None and part.divisor is not None:
        one, (other, _) = _product(node, part.dividend, solution), _value_of(node, part.divisor, solution)
        return (-(-one // other) if isinstance(one, int) and isinstance(other, int) and other else None), None
    if part.kind == "attribute":
        number = node.integer(part.name)
        return number, Element(part.name, number)
    if part.kind == "input":
        index = node.input(part.name)
        content = node.content(index) or ()
        element = content[0] if len(content) == 1 and isinstance(content[0], int) else None
        return element, Element(index, element)
    if part.kind == "dimension":
        return solution.sizes.get(part.name, (None, None))
    return part.number, None


# --- contents


def fit_contents(node: Operands, contents: Required, solution: FormSolution) -> None:
    """Record the first constant in each input that breaks its requirement."""
    for name, each in contents:
        index = node.input(name)
        numbers = node.content(index)
        if not numbers:
            continue
        limit, by = _limit(node, each.size, solution)
        if not isinstance(limit, int) or not all(holds(node, condition) for condition in each.conditions):
            continue
        at = first_wrong(each.kind, numbers, limit)
        if at is None or node.problems:
            continue
        why = _source(node, by, limit) or _why(each)
        allowed = f"{_LIMITS.get(each.kind, '')}{limit}{why}"
        if each.kind == _RISES:
            allowed = "no less than the one before"
        node.wrong_value(index, numbers[at], index=at if len(numbers) > 1 else None, allowed=allowed)


def first_wrong(kind: str, numbers: Sequence[Dim | float], limit: int) -> int | None:
    """Return the index of the first number that breaks the requirement; None if there is none."""
    places = {"begins with": [0], "ends with": [len(numbers) - 1]}.get(kind, range(len(numbers)))
    is_right = _COMPARED.get(kind)
    for at in places:
        number = numbers[at]
        if is_right is None:
            before = numbers[at - 1] if at else None
            if isinstance(number, int) and isinstance(before, int) and number < before + limit:
                return at
        elif isinstance(number, int | float) and not is_right(number, limit):
            return at
    return None


_COMPARED: Final[Mapping[str, Callable[[float, int], bool]]] = {
    "above": lambda number, limit: number > limit,
    "at least": lambda number, limit: number >= limit,
    "at most": lambda number, limit: number <= limit,
    "begins with": lambda number, limit: number == limit,
    "below": lambda number, limit: number < limit,
    "ends with": lambda number, limit: number == limit,
}
_RISES: Final = "rises by"
_LIMITS: Final = {"above": "more than ", "at least": "at least ", "at most": "at most ", "below": "less than "}


def _source(node: Operands, by: ProblemPlace | None, limit: int) -> str:
    """Return the source of a limit in words."""
    if isinstance(by, InputDimension):
        return f" because of dimension {by.axis} of input {by.operand} ('{node.schema.inputs[by.operand].name}')"
    if isinstance(by, Element) and isinstance(by.source, int):
        what = f"input {by.source} ('{node.schema.inputs[by.source].name}')"
    elif isinstance(by, Element):
        what = f"attribute '{by.source}'"
    else:
        return ""
    return f" because of {what}" if by.value == limit else f" because {what} is {by.value}"
