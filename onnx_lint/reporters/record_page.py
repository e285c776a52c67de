# SPDX-License-Identifier: Apache-2.0
"""The part of an operator's page of `explain` that lists what ONNX Runtime requires, from the operator's record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from onnx_lint.spec.operators.records import GraphForm, OperatorRecord
from onnx_lint.spec.operators.records.grammar import (
    Condition,
    FormCase,
    ParsedForm,
    Requirement,
    parse_all,
    parse_cases,
    parse_form,
    parse_requirements,
)
from onnx_lint.spec.operators.runtime_releases import EXTENTS
from onnx_lint.wording import listed

LEGEND: Final = (
    "Dimensions have names: equal names are equal sizes in all operands. `@k` is the number in attribute `k`, `#k` "
    "that in input `k`, `?` any size, `*rows` any number of dimensions (so `? ? *more` is two or more), `*all` any "
    "shape, `1|b` either of two sizes, `{a, b}` either of two forms. `w=2*d` gives a size a name, `ceil(a/b)` is a "
    "quotient that is rounded up, `a//b` one that is rounded down. `-` is an operand that the node must leave out, and "
    "`!` one that it must have."
)
"""The sentences before the list, which explain how its lines are written."""

_TEXTS: Final = (
    ("sizes", "dimension `{}`: {}"),
    ("contents", "each number in input `{}`, if it is a constant: {}"),
)
"""The fields of a record that have requirements for each name, and the lines."""

_OF_ATTRIBUTES: Final = (
    ("attributes", "{}"),
    ("flags", "one of {}; kernels decide what another value does"),
    ("minima", "each number at least {}"),
    ("lists", "{}"),
    ("defaults", "{} if it is left out"),
    ("advised", "{}, which the documentation requires, not kernels"),
)
"""The fields of a record that say something of each attribute, and the words for it."""

_WORDS: Final = {"nan", "inf", "given"}
"""The words in requirements that are not names."""

_DIMENSIONS: Final = {"?": "any", "+": "stated"}
"""The dimensions of a form of graphs that are not shown as they are written."""

_TYPES: Final = {"F": "float or float16"}
"""The types of a form of graphs that are not shown as they are written."""

_TERMS: Final = {"named": "those in the table", "outputs": "one for each output"}
"""The terms of a number of inputs or outputs that are not numbers."""


def record_lines(record: OperatorRecord) -> Iterator[str]:
    """Yield what a record requires, one line for each requirement."""
    kinds = frozenset(each for text in record.cases for each in parse_cases(text))
    if record.compared:
        yield f"compared as a whole: {record.compared}"
    for choice in record.cases:
        yield f"the operands of a node are all of one kind, by their forms in the lines below: {choice}"
    for name, form in record.where.items():
        yield f"`{name}` stands for {_form(form, kinds)}"
    yield from _operands(record, kinds)
    yield from _attributes(record, kinds)
    for field, line in _TEXTS:
        texts: Mapping[str, Any] = getattr(record, field)
        yield from (line.format(name, _required(text)) for name, text in texts.items())
    yield from _lists(record)
    yield from _releases(record)
    if (record.check or record.computed) and not record.compared and not record.graphs:
        yield "sizes that no line names are compared as well, such as those of windows and of products of matrices"


def _operands(record: OperatorRecord, kinds: frozenset[Condition]) -> Iterator[str]:
    """Yield the forms of the inputs, with what only the documentation requires of them, and those of the outputs."""
    for name, form in record.inputs.items():
        if form is not None:
            yield f"input `{name}`: {_form(form, kinds)}"
        if (advised := record.advised.get(name)) is not None:
            yield f"required by the documentation, not by kernels, of `{name}`: {_form(advised, kinds)}"
    for name, form in record.outputs.items():
        if form is not None:
            yield f"output `{name}`: {_form(form, kinds)}"


def _attributes(record: OperatorRecord, kinds: frozenset[Condition]) -> Iterator[str]:
    """Yield all that is said of each attribute in one line. An input of which only advice is known has one as well."""
    fields = [(field, words, getattr(record, field)) for field, words in _OF_ATTRIBUTES]
    for name in dict.fromkeys(name for _, _, texts in fields for name in texts if name not in record.inputs):
        said = [words.format(_said(field, texts[name], kinds)) for field, words, texts in fields if name in texts]
        yield f"{'' if _is_shape(record, name) else 'attribute '}`{name}`: {'; '.join(said)}"


def _said(field: str, value: object, kinds: frozenset[Condition]) -> object:
    """Return what a field of a record says of an attribute, for the line of the attribute."""
    if field in ("attributes", "advised"):
        return _form(value, kinds)
    if field == "lists":
        return _numbered(str(value), "element")
    return " ".join([str(each) if each != "" else "''" for each in value]) if isinstance(value, tuple) else value


def _is_shape(record: OperatorRecord, name: str) -> bool:
    """Return whether what is advised of a name is a shape, as of an input, and no requirement."""
    form = record.advised.get(name)
    try:
        return form is not None and (not isinstance(form, str) or not parse_requirements(form))
    except ValueError:
        return True


def _lists(record: OperatorRecord) -> Iterator[str]:
    if record.lengths:
        yield f"lists of equal length (`2*`: twice as long): {record.lengths}"
    if record.scales:
        yield f"scales, which must be positive and finite: {record.scales}"
    if record.block_scales:
        yield f"scales of blocks, which must be finite: {record.block_scales}"
    if record.element_types:
        yield f"attributes that hold an element type: {' '.join(record.element_types)}"
    if record.patterns:
        yield f"regular expressions in the syntax of RE2: {' '.join(record.patterns)}"
    if record.repeated:
        yield f"each group of the last input has: {record.repeated}"
    if record.gapless:
        yield "no input may be left out between others"


def _releases(record: OperatorRecord) -> Iterator[str]:
    for what, release in record.since.items():
        if "=" in what:
            yield f"needs ONNX Runtime {release}: {_conditions_in_words(parse_all(what))}"
        else:
            yield f"ONNX Runtime before {release} does not compare the shape of `{what}`"
    for what, release in record.until.items():
        when = f"after {release}" if release else "of any release"
        yield f"no kernel for CPUs {when} if {_conditions_in_words(parse_all(what))}"
    for what, release in record.failing.items():
        when = f"up to {release}" if release else "of all releases"
        yield f"each run on CPUs {when} fails if {_conditions_in_words(parse_all(what))}"


# --- forms and requirements


def _form(form: object, kinds: frozenset[Condition]) -> str:
    """Return the dimensions of an operand, or the requirement of an attribute, for each case or condition."""
    if isinstance(form, Mapping):
        return "; ".join(_choices(parse_form(form), kinds, ()))
    return _text(str(form)) if form is not None else "any shape"


def _text(text: str) -> str:
    """Return the dimensions of an operand, or requirements, in words."""
    try:
        return _required(text)
    except ValueError:
        return {"": "a scalar", "-": "must be left out"}.get(text, f"`[{text}]`")


def _choices(form: ParsedForm, kinds: frozenset[Condition], before: tuple[str, ...]) -> Iterator[str]:
    """Yield each form with all its conditions. `before`: those that hold of all of them; "" for what is otherwise."""
    if isinstance(form, tuple):
        for case in form:
            yield from _choices(case.form, kinds, (*before, _condition(case, kinds)))
        return
    conditions = [each for each in before if each]
    otherwise = " otherwise" if not all(before) else ""
    yield f"{_form(form, kinds)}{otherwise}{f' if {listed(conditions)}' if conditions else ''}"


def _condition(case: FormCase, kinds: frozenset[Condition]) -> str:
    """Return a condition in words; empty for what is otherwise."""
    texts = []
    for conditions in case.alternatives:
        named = [f"the kind is {each.name}" for each in conditions if each in kinds]
        others = [each for each in conditions if each not in kinds]
        texts.append(listed([*named, *([_conditions_in_words(others)] if others else [])]))
    return listed(texts, "or")


def _conditions_in_words(conditions: Iterable[Condition]) -> str:
    """Return conditions that must all be met, in words."""
    return listed([_in_words(each) for each in conditions])


_RELATIONS: Final = {"!=": "is not", "!~": "has another type than", "~": "has the type of"}


def _in_words(condition: Condition) -> str:
    name, value = condition.name, condition.value or "''"
    if name in EXTENTS:
        return EXTENTS[name].words
    if condition.sign in _RELATIONS:
        return f"`{name}` {_RELATIONS[condition.sign]} `{value}`"
    if name == "outputs" and condition.sign == "=":
        return f"the node has {_numbered(value, 'output')}"
    if not condition.sign:
        return f"the node {'lacks' if condition.is_negated else 'has'} `{name}`"
    verb = "is" if condition.sign == "=" else "is above"
    return f"`{name}` {verb}{' not' if condition.is_negated else ''} {value}"


_PLAIN: Final = {
    "begins with": "begins with {}",
    "either multiple of": "a multiple or a divisor of {}",
    "ends with": "ends with {}",
    "multiple of": "a multiple of {}",
    "needs": "requires {}",
    "not": "not {}",
    "one of": "{}",
    "power of 2 from": "a power of 2, at least {}",
    "rises by": "at least {} more than the one before",
    "same as": "the same as {}",
    "word of": "{}, in upper or lower case",
}
"""Kinds of requirements whose words are not those of the record."""


def _required(text: str) -> str:
    """Return requirements in words. Raises ValueError for what is none."""
    return "; ".join(map(_requirement, parse_requirements(text)))


def _requirement(required: Requirement) -> str:
    names = [
        each if each in _WORDS or each.removeprefix("-").isdecimal() else f"`{each.removesuffix('!')}`"
        for each in required.of
    ]
    if required.value:
        text = f"{required.value} {'requires' if required.kind == 'needs' else 'excludes'} {listed(names)}"
    else:
        joined = listed(names, "and" if required.kind == "needs" else "or")
        if required.kind == "as many as":
            text = _numbered(joined, "element")
        else:
            text = _PLAIN.get(required.kind, f"{required.kind} {{}}").format(joined)
    return f"{text} if {_conditions_in_words(required.conditions)}" if required.conditions else text


def _numbered(number: str, noun: str) -> str:
    """Return a number, or the name of one, with its noun: `1 element`, `2 elements`, "`n` elements"."""
    return f"{number} {noun}{'' if number == '1' else 's'}"


# --- graphs


def graph_tables(record: OperatorRecord) -> Iterator[str]:
    """Yield what each graph in an attribute must be: for each value of `model_type`, a table and the numbers."""
    for kind, graphs in record.graphs.items():
        for forms in {id(each): each for each in graphs.values()}.values():
            named = [f"`{name}`" for name, each in graphs.items() if each == forms]
            for form in forms:
                whole = f" with {len(form.inputs)} inputs" if len(forms) > 1 else ""
                yield f"#### `model_type` {kind}: {listed(named)}{whole}\n\n{_table(form)}\n\n{_numbers(form)}"


def _table(form: GraphForm) -> str:
    rows = ["| Place | Name | Type | Dimensions |", "| --- | --- | --- | --- |"]
    for field, values in (("input", form.inputs), ("output", form.outputs)):
        for index, (name, text) in enumerate(values.items()):
            kind, *dims = text.split()
            place = f"{field} {index}" if not name.startswith("?") else "the next input, or missing"
            if field == "input" and index and any(each.startswith("?") for each in list(values)[:index]):
                place = place.replace(f"input {index}", "the next input")
            shape = ", ".join([_DIMENSIONS.get(each, each) for each in dims])
            shown = "any" if name == "*" else f"`{name.removeprefix('?')}`"
            rows.append(f"| {place} | {shown} | {_TYPES.get(kind, kind)} | {f'`[{shape}]`' if dims else 'any'} |")
    return "\n".join(rows)


GRAPHS: Final = (
    "ONNX Runtime passes values to these graphs by position. T is float or float16, the same in all places of a graph; "
    "`stated` is a size that the graph declares. A layer is one of attention, whose states are inputs and outputs."
)
"""The sentences before the tables, which explain how they are read."""


def _numbers(form: GraphForm) -> str:
    """Return how many inputs and outputs a graph has, as a list."""
    lines = list(_numbers_of("inputs", form.input_counts))
    if form.states != "any":
        lines.append(f"- the inputs for layers are {_TYPES.get(form.states, form.states)}")
    lines += _numbers_of("outputs", form.output_counts)
    if form.others != "any":
        lines.append(f"- the other outputs are {_TYPES.get(form.others, form.others)}")
    lines += [
        f"- {f'input `{what}`' if what else 'this form'} needs ONNX Runtime {release}"
        for what, release in form.since.items()
    ]
    return "\n".join(lines)


def _numbers_of(field: str, counts: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each number of inputs or outputs, with the conditions for it."""
    alike: dict[str, list[str]] = {}
    for words, text in counts.items():
        alike.setdefault(text, []).append(words)
    for text, conditions in alike.items():
        when = " otherwise" if len(alike) > 1 else ""
        if conditions != ["else"]:
            shared = [word for word in conditions[0].split() if all(word in each.split() for each in conditions)]
            choices = [word for each in conditions for word in each.split() if word not in shared]
            parts = [*map(_of_graph, shared), *([_of_graph(listed(choices, "or"))] if choices else [])]
            when = f" if {listed(parts)}"
        yield f"- {field}{when}: {_numbers_in_words(text)}"


def _numbers_in_words(text: str) -> str:
    """Return "named+4n+1" as "those in the table, 4 for each layer, and 1 more", and choices with "or"."""
    choices = [each.split("+") for each in text.split()]
    if len(choices) > 1:
        more = listed([each[-1] for each in choices], "or")
        return f"{_TERMS.get(choices[0][0], choices[0][0])}, and {more} more"
    (terms,) = choices
    words = [f"{each[:-1]} for each layer" if each.endswith("n") else _TERMS.get(each, each) for each in terms]
    if len(words) > 1 and words[-1].isdecimal():
        words[-1] = f"{words[-1]} more"
    return f"{', '.join(words[:-1])}, and {words[-1]}" if len(words) > 1 else words[0]


def _of_graph(word: str) -> str:
    if word.startswith("@"):
        return f"attribute `{word[1:]}` is not 0"
    return f"the graph has {f'a node {word}' if word[0].isupper() else f'the input `{word}`'}"
