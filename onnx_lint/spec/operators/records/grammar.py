# SPDX-License-Identifier: Apache-2.0
"""The language of records and of shape equations, and its parser.

Records are Python, and their texts are parsed here, once each. A text is one of the following; words are separated by
blanks.

    operand      = "-"                      the node must not have it
                 | dimensions ["!"]         "!": the node must have it
                 | text "{" dimensions { "," dimensions } "}" text      one of these, whichever fits
    dimensions   = { dimension }            none: a scalar, or a tensor of one element
    dimension    = [ name "=" ] size        the dimension also has that name
                 | "?"                      any size; in an output an unknown one
                 | "?*" size                any multiple of a size
                 | "1|" size                1 or that size
                 | "*" name                 any number of dimensions, one such run in each operand
    size         = [ "-" ] product { ("+" | "-") product }
                 | "(" size of attributes ")*" name
    product      = part { ("*" | "/" | "//") part }     from left to right; "/" has no remainder, "//" rounds down
    part         = number
                 | name                     a dimension; all with the same name agree
                 | "@" name [ "." number ]  the number in an attribute, or in an element of a list
                 | "#" name                 the number in an input that is constant
                 | "ceil(" product "/" part ")"         a quotient that is rounded up

    A size follows from the names that other operands determine, or determines the one name in it that they leave open.
    A name that only omitted operands have is 0, unless the size has no other. Names in `where` are replaced by their
    text first.

    equation     = { operand in an equation } ["..."] "->" { operand in an equation }
    operand in an equation = name ["!"] [ "[" dimensions "]" ] | "-"
                 inputs in order, and outputs; one without brackets has any shape, "..." are further inputs

    cases        = word { " or " word }     the forms of a node: all its operands are of one of them
    conditions   = all { " or " all } | "else"          the first that are true decide
    all          = condition { condition }
    condition    = [ "!" ] test             "!": the test is not true
    test         = name                     the node has the input, or an attribute other than 0; or its case
                 | name "=" value           an attribute has the value, '' for an empty text; in `failing` also an input
                                            that many dimensions, and `outputs` is the number of outputs
                 | name ">" (number | name) an attribute is greater
                 | name "~" name            two inputs have one type
                 | name "!~" name           they have known types that differ
                 | name "!=" name           two attributes have values that differ
                 | "elements" | "items"     in `failing`: input 0 has elements; or would have them with a batch

    requirements = requirement { "; " requirement }
    requirement  = demand [ " if " all ]
    demand       = "at least" size | "at most" size     numbers in attributes, dimensions and constant inputs
                 | "above" size | "below" size          without the bound itself
                 | "equal to" size
                 | "multiple of" size | "either multiple of" name     the latter: a multiple or a divisor
                 | "one of" value { value } | "word of" word { word } words in any case
                 | "same as" name           the word in another attribute, in any case
                 | "power of 2 from" number
                 | "as many as" number      the length of a list
                 | "begins with" size | "ends with" size | "rises by" number      the numbers of a list
                 | "not" ("0" | "nan" | "inf") { ... }  no comparison finds NaN
                 | "not given"              an attribute that the node must leave out
                 | "needs" name { name }    what a node with the attribute must have; name "!": an output with a name
                 | "with" value ("needs" | "excludes") name { name }  if the attribute has the value

    combination  = [ "ADVISED" ] kind side { side }     `onnx_lint.spec.operators.combinations`; ADVISED: only the
                                            documentation requires it
    kind         = "NEEDS" (the first only with the second) | "SOME" | "TOGETHER" (all or none) | "AT_MOST_ONE" | "ONE"
    side         = member { "+" member }
    member       = name | "in:" name | "out:" name      an attribute, an input, an output
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

from onnx_lint.common.record import Record, replace

# --- sizes


class SizePart(Record):
    """A part of a product."""

    kind: str
    """`number`, `dimension`, `attribute`, `input` or `ceiling`."""
    name: str = ""
    """The dimension, attribute or input."""
    number: int | None = None
    """The number; of an attribute that is a list the index of the element."""
    dividend: SizeProduct | None = None
    """What a `ceiling` divides."""
    divisor: SizePart | None = None
    operation: str = "*"
    """The operation on the parts before: `*`, `/` or `//`."""


class SizeProduct(Record):
    """A summand of a size."""

    parts: tuple[SizePart, ...]
    is_negative: bool = False

    @property
    def first(self) -> SizePart:
        """The first part, also in a quotient that is rounded up."""
        part = self.parts[0]
        return part.dividend.first if part.dividend is not None else part


class SizeSum(Record):
    """A sum of products."""

    products: tuple[SizeProduct, ...]
    names: frozenset[str]
    """The dimensions in it."""
    attributes: tuple[str, ...]
    is_rounded_down: bool

    @property
    def first(self) -> SizePart:
        """The first part of all."""
        return self.products[0].first


_TOKENS: Final = re.compile(r"//|[-+*/()]|@\w+(?:\.\d+)?|#\w+|\w+")


@cache
def parse_sum(text: str) -> SizeSum:
    """Parse a size, which is a sum. Raises ValueError for a malformed one."""
    tokens = _TOKENS.findall(text)
    if "".join(tokens) != text or not tokens:
        raise ValueError(f"no dimension: {text!r}")
    rest = tokens[::-1]
    products: list[SizeProduct] = []
    while rest:
        sign = rest.pop() if rest[-1] in "+-" else ""
        if products and not sign:
            raise ValueError(f"no dimension: {text!r}")
        products.append(SizeProduct(_product(rest), is_negative=sign == "-"))
    return SizeSum(
        products=tuple(products),
        names=frozenset([token for token in tokens if token.isidentifier() and token != "ceil"]),
        attributes=tuple([token[1:].partition(".")[0] for token in tokens if token[0] == "@"]),
        is_rounded_down="//" in tokens,
    )


def _product(rest: list[str]) -> tuple[SizePart, ...]:
    """Parse a product, and remove its tokens from the end of the list."""
    parts = [_part(rest, "*")]
    while rest and rest[-1] in ("*", "/", "//"):
        operation = rest.pop()
        parts.append(_part(rest, operation))
    return tuple(parts)


def _part(rest: list[str], operation: str) -> SizePart:
    """Parse a part of a product, and remove its tokens from the end of the list."""
    token = rest.pop() if rest else ""
    if token == "ceil":
        return _ceiling(rest, operation)
    if token.isdecimal():
        return SizePart("number", number=int(token), operation=operation)
    if token.startswith("@"):
        name, _, element = token[1:].partition(".")
        return SizePart("attribute", name, int(element) if element else None, operation=operation)
    if token.startswith("#"):
        return SizePart("input", token[1:], operation=operation)
    if not token.isidentifier():
        raise ValueError(f"no dimension: {token!r}")
    return SizePart("dimension", token, operation=operation)


def _ceiling(rest: list[str], operation: str) -> SizePart:
    """Parse the parentheses of `ceil(a/b)`, and remove their tokens from the end of the list."""
    begin = rest.pop() if rest else ""
    *dividend, divisor = _product(rest)
    end = rest.pop() if rest else ""
    if begin != "(" or end != ")" or not dividend or divisor.operation != "/":
        raise ValueError("no dimension: ceil has no quotient")
    return SizePart("ceiling", dividend=SizeProduct(tuple(dividend)), divisor=divisor, operation=operation)


# --- dimensions


class Term(Record):
    """A dimension of an operand, or a run of them."""

    name: str
    """The name or attribute; empty for a number, a size that is computed, and any dimension."""
    factor: int | None = 1
    """The factor of the named size; the value of a number; None for any dimension."""
    kind: str = "name"
    """`name`, `run`, `attribute`, `number`, `sum`, `multiple` or `any`."""
    element: int | None = None
    """The index of the element, for an attribute that is a list."""
    times: SizeSum | None = None
    """An attribute, or a sum of them, that is another factor of a name."""
    computed: SizeSum | None = None
    """The size of a `sum`."""
    or_one: bool = False
    """True if 1 is valid too."""
    also: str = ""
    """Another name of the dimension."""


def _term(text: str) -> Term:
    """Parse a dimension."""
    if text == "?":
        return Term("", None, "any")
    if text.startswith("1|"):
        return replace(_term(text[2:]), or_one=True)
    if text.startswith("?*"):
        return replace(_term(text[2:]), kind="multiple")
    name, is_named, rest = text.partition("=")
    if is_named:
        return replace(_term(rest), also=name)
    if text.startswith("*") and text[1:].isidentifier():
        return Term(text[1:], 1, "run")
    if text.isdecimal():
        return Term("", int(text), "number")
    return _named(text) or _times_attributes(text) or Term("", 1, "sum", computed=parse_sum(text))


def _named(text: str) -> Term | None:
    """Parse a name, or an attribute, perhaps times a number; None for anything else."""
    factor, times, rest = text.rpartition("*")
    name, dot, element = rest.removeprefix("@").partition(".")
    if not name.isidentifier() or (times and not factor.isdecimal()) or (dot and not element.isdecimal()):
        return None
    kind = "attribute" if rest.startswith("@") else "name"
    return Term(name, int(factor or 1), kind, int(element) if element else None)


def _times_attributes(text: str) -> Term | None:
    """Parse a name times an attribute, or times a size of attributes; None for anything else."""
    factor, _, name = text.rpartition("*")
    is_sum = factor.startswith("(@") and factor.endswith(")")
    if not name.isidentifier() or not (is_sum or (factor.startswith("@") and factor[1:].isidentifier())):
        return None
    return Term(name, times=parse_sum(factor.strip("()")))


# --- operands and equations


class Pattern(Record):
    """An operand of an equation, or of a form of an operator."""

    name: str
    terms: tuple[Term, ...] | None
    """None for any shape."""
    run: int | None = None
    """The index of the run among the terms; None if there is none."""
    names: frozenset[str] = frozenset()
    """The names in the terms."""
    sums: tuple[frozenset[str], ...] = ()
    """The names in each sum among the terms."""
    is_required: bool = False
    """True if the node must have it."""
    is_excluded: bool = False
    """True if the node must not have it."""


def _pattern(name: str, dimensions: str | None, *, is_required: bool = False) -> Pattern:
    """Parse the dimensions of an operand; None for any shape."""
    if dimensions is None:
        return Pattern(name, None, is_required=is_required)
    terms = tuple(map(_term, dimensions.split()))
    return Pattern(
        name=name,
        terms=terms,
        run=next((at for at, term in enumerate(terms) if term.kind == "run"), None),
        names=frozenset([term.name for term in terms]),
        sums=tuple([term.computed.names for term in terms if term.computed is not None]),
        is_required=is_required,
    )


@cache
def parse_operand(name: str, text: str | None) -> tuple[Pattern, ...]:
    """Return the patterns of an operand of a record. Raises ValueError for a malformed text."""
    if text is None:
        return (_pattern(name, None),)
    if text == "-":
        return (Pattern("-", None, is_excluded=True),)
    before, brace, rest = text.partition("{")
    if not brace:
        return (_pattern(name, text.removesuffix("!"), is_required=text.endswith("!")),)
    choices, _, after = rest.partition("}")
    return tuple([each for choice in choices.split(",") for each in parse_operand(name, f"{before}{choice}{after}")])


def replaced(text: str | None, where: Mapping[str, str]) -> str | None:
    """Return the text of an operand with the texts of names that stand for dimensions."""
    if not text or not where or not any(each in text for each in where):
        return text
    return re.sub(r"@?\w+", lambda word: where.get(word[0], word[0]), text)


class ShapeEquation(Record):
    """The operands of an operator."""

    inputs: tuple[Pattern, ...]
    outputs: tuple[Pattern, ...]


@cache
def parse_equation(text: str) -> ShapeEquation:
    """Parse an equation. Raises ValueError for a malformed one."""
    left, arrow, right = text.partition("->")
    if not arrow:
        raise ValueError(f"an equation without an arrow: {text}")
    return ShapeEquation(tuple(_operands(left.strip().removesuffix("..."))), tuple(_operands(right)))


def _operands(text: str) -> Iterator[Pattern]:
    """Yield the operands of an equation."""
    rest = text.strip()
    while rest:
        length = next((at for at, sign in enumerate(rest) if not (sign.isalnum() or sign in "_-!")), len(rest))
        name, following = rest[:length], rest[length:]
        dimensions, bracket, after = following[1:].partition("]") if following.startswith("[") else ("", "", following)
        is_closed = bracket or after == following
        if not is_closed or (name != "-" and not name.removesuffix("!").isidentifier()):
            raise ValueError(f"no operand at {rest!r}")
        if name == "-":
            yield Pattern("-", None, is_excluded=True)
        else:
            yield _pattern(name.removesuffix("!"), dimensions if bracket else None, is_required=name.endswith("!"))
        rest = after.lstrip()


# --- conditions and forms


class Condition(Record):
    """A test of a node, or a case. Equal conditions are one object: `parse_condition` makes each once."""

    name: str
    sign: str = ""
    """`=`, `>`, `~`, `!~`, `!=`, or empty: the node has the named input or attribute."""
    value: str = ""
    is_negated: bool = False
    """True if the test must not be true."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__


_SIGNS: Final = ("!=", "!~", "=", ">", "~")


@cache
def parse_condition(word: str) -> Condition:
    """Parse one condition. Raises ValueError for a malformed one."""
    test = word.removeprefix("!")
    sign = next((each for each in _SIGNS if each in test), "")
    name, _, value = test.partition(sign) if sign else (test, "", "")
    if not name.isidentifier():
        raise ValueError(f"no condition: {word!r}")
    return Condition(name, sign, "" if value == "''" else value, is_negated=word.startswith("!"))


AllConditions = tuple[Condition, ...]
"""Conditions that must all be true."""


@cache
def parse_all(text: str) -> AllConditions:
    """Parse conditions that must all be true."""
    return tuple(map(parse_condition, text.split()))


class FormCase(Record):
    """A form that an operand has on conditions."""

    alternatives: tuple[AllConditions, ...]
    """The form applies if all conditions of one of these are true. An empty one is `else`."""
    form: ParsedForm

    def applies(self, known: frozenset[Condition]) -> bool:
        """Return whether the form applies, with the conditions that are true."""
        for each in self.alternatives:  # noqa: SIM110  # any() takes half again as long
            if known.issuperset(each):
                return True
        return False


ParsedForm = str | None | tuple[FormCase, ...]
"""The text of an operand, None for any shape, or a form for each case or condition, of which the first applies."""


def parse_form(form: str | Mapping[str, Any] | None) -> ParsedForm:
    """Parse the conditions of a form in a record."""
    if not isinstance(form, Mapping):
        return form
    return tuple([FormCase(_alternatives(words), parse_form(each)) for words, each in form.items()])


@cache
def _alternatives(text: str) -> tuple[AllConditions, ...]:
    return ((),) if text == "else" else tuple(map(parse_all, text.split(" or ")))


def parse_cases(text: str) -> tuple[Condition, ...]:
    """Parse the cases of a record."""
    return tuple(map(parse_condition, text.split(" or ")))


def chosen(form: ParsedForm, known: frozenset[Condition]) -> str | None:
    """Return the text of an operand, with the conditions that are true; None for any shape."""
    while isinstance(form, tuple):
        for case in form:
            if case.applies(known):
                form = case.form
                break
        else:
            return None
    return form


def conditions_in(form: ParsedForm) -> Iterator[Condition]:
    """Yield the conditions in a form, and the cases, in their order."""
    if not isinstance(form, tuple):
        return
    for case in form:
        for each in case.alternatives:
            yield from each
    for case in form:
        yield from conditions_in(case.form)


# --- requirements


class Requirement(Record):
    """A requirement of a number."""

    kind: str
    """`at least`, `at most`, `multiple of`, `needs`, `excludes`, ..."""
    of: tuple[str, ...]
    """Sizes, or the names of attributes or operands."""
    conditions: AllConditions = ()
    """The conditions that must be true of the node, as in the forms of an operand."""
    value: str = ""
    """The value of the attribute for which it needs or excludes something; empty for each but 0."""

    @property
    def size(self) -> SizeSum:
        """The size that the number is compared with."""
        return parse_sum(self.of[0])


_KINDS: Final = frozenset(
    {
        "above", "as many as", "at least", "at most", "begins with", "below", "either multiple of", "ends with",
        "equal to", "multiple of", "needs", "not", "one of", "power of 2 from", "rises by", "same as", "word of",
    }
)  # fmt: skip
_WORDS_OF_A_KIND: Final = {each.split()[0]: len(each.split()) for each in _KINDS}
"""The number of words of a kind, by its first word."""


@cache
def parse_requirements(text: str) -> tuple[Requirement, ...]:
    """Parse requirements. Raises ValueError for malformed ones."""
    return tuple(map(_requirement, text.split("; ")))


def _requirement(text: str) -> Requirement:
    required, _, conditions = text.partition(" if ")
    first, *words = required.split() or [""]
    if first == "with" and len(words) > 2 and words[1] in ("needs", "excludes"):
        value, kind, *of = words
        return Requirement(kind, tuple(of), parse_all(conditions), value)
    count = _WORDS_OF_A_KIND.get(first, 1) - 1
    kind, of = " ".join([first, *words[:count]]), words[count:]
    if kind not in _KINDS or not of or ";" in text:
        raise ValueError(f"no requirement: {text!r}")
    return Requirement(kind, tuple(of), parse_all(conditions))
