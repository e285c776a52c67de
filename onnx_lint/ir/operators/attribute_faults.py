# SPDX-License-Identifier: Apache-2.0
"""Faults in the values of a node's attributes that do not depend on its operands."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import Record, replace
from onnx_lint.common.salted import salted_text
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.ir.columns.tensor_encodings import element_count
from onnx_lint.ir.crashes import true_if_it_crashes
from onnx_lint.ir.operators.broken_combinations import has_broken_combinations, is_empty_list
from onnx_lint.ir.operators.operators import AlikeNodes, Operators
from onnx_lint.schema import Proto
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES, ATTRIBUTE_TYPE_NAMES, OperatorSchema
from onnx_lint.spec.operators.attribute_constraints import (
    ACTIVATIONS,
    RANDOM,
    AttributeConstraints,
    attribute_constraints,
)
from onnx_lint.spec.operators.attribute_values import RUNTIME_DOMAIN, AllowedValues, allowed_values
from onnx_lint.spec.operators.combinations import Choice, combinations
from onnx_lint.wording import MAX_LISTED_ELEMENTS, counted

if TYPE_CHECKING:
    from onnx_lint.ir.operators.tree_ensembles import TreeFault

_FIELDS = {ATTRIBUTE_TYPE_CODES[name]: name.lower() for name in ("FLOATS", "INTS", "STRINGS")}
_NUMBERS = {
    ATTRIBUTE_TYPE_CODES["INT"]: "i",
    ATTRIBUTE_TYPE_CODES["FLOAT"]: "f",
    ATTRIBUTE_TYPE_CODES["INTS"]: "ints",
    ATTRIBUTE_TYPE_CODES["FLOATS"]: "floats",
}


class AttributeFault(Record):
    """A fault of an attribute: its value, and what is allowed."""

    attribute: str
    what: str
    """The fact, to be put after the attribute's name, or after the element of the list at `index`."""
    allowed: str
    other: str | None = None
    """The attribute that it contradicts."""
    index: int | None = None
    """The index of the wrong element in a list; None if the value as a whole is wrong, or the index is not known."""
    is_allowed: bool = False
    """True if ONNX does not forbid it, but consumers refuse it."""
    is_unexplained: bool = False
    """True if ONNX does not say what it means."""
    is_of_elements: bool = False
    """True if it decides the elements of the outputs only, and not their types and shapes."""
    others: tuple[int, ...] = ()
    """The indices of the next elements with such a fault, as far as they are known."""
    is_longer: bool = False
    """True if it is a list that is longer than the one in `other` allows."""


def attribute_faults(schema: OperatorSchema, form: NodeForm) -> list[AttributeFault]:
    """Return the faults of the attributes of nodes of a form, at most one for each attribute.

    References to parameters of a function, and attributes of another type than in the signature, are skipped.
    """
    if form.known_faults is None:
        return _faults(schema, form)
    signature = schema.domain, schema.name, schema.since_version
    if signature not in form.known_faults:
        form.known_faults[signature] = _faults(schema, form)
    faults: list[AttributeFault] = form.known_faults[signature]
    return faults


def _faults(schema: OperatorSchema, form: NodeForm) -> list[AttributeFault]:
    constraints = attribute_constraints((schema.domain, schema.name, schema.since_version))
    if constraints is None:
        return []
    given = {
        attribute.name: attribute
        for attribute in form.attributes
        if not attribute.ref_attr_name
        and attribute.name in schema.attributes
        and attribute.type == schema.attributes[attribute.name].type_code
    }
    found: dict[str, AttributeFault] = {}
    for fault in (
        *_below(constraints, given),
        *_repeated(constraints, given),
        *_missized(schema, constraints, given),
        *_without_elements(schema, constraints, form),
        *_unequal(schema, constraints, given),
        *_of_operator(schema, form, given),
    ):
        found.setdefault(fault.attribute, fault)
    return list(found.values())


def has_faulty_attributes(operators: Operators) -> bool:
    """Return true if a node has attributes that its operator does not allow.

    They have values that the operator cannot use or does not list, or exclude other attributes or operands of the node.
    """
    return any(true_if_it_crashes(partial(_are_faulty, alike)) for alike in operators.verified_nodes)


def _are_faulty(alike: AlikeNodes) -> bool:
    schema = alike.schema
    forms = [form for form in alike.distinct_forms if form.faultless is not schema]
    if not forms:
        return False
    if has_broken_combinations(schema, forms):
        return True
    if alike.attributes and not all(is_sound(schema, form) for form in forms):
        return True
    for form in forms:
        form.faultless = schema
    return False


def is_sound(schema: OperatorSchema, form: NodeForm) -> bool:
    """Return whether the attributes of nodes of a form have no fault, and only listed values.

    The form notes it: most forms are those of an earlier model, and value flow asks as well.
    """
    if form.sound is not schema:
        if attribute_faults(schema, form):
            return False
        listed = {name: values for name, _ in form.attribute_types if (values := allowed_values(schema, name))}
        if listed and any(unlisted_value(each, schema, listed) for each in form.attributes):
            return False
        form.sound = schema
    return True


class UnlistedValue(Record):
    """A value of an attribute that its operator does not list."""

    value: str | int
    index: int | None
    """Its index in a list; None for an attribute of one value."""
    others: tuple[UnlistedValue, ...] = ()
    """The further ones of the list."""


def unlisted_value(
    attribute: Proto, schema: OperatorSchema, listed: Mapping[str, AllowedValues]
) -> UnlistedValue | None:
    """Return the first value of an attribute that is not listed for its name, with the further ones, or None."""
    allowed = listed.get(attribute.name)
    if allowed is None or attribute.ref_attr_name or attribute.type != schema.attributes[attribute.name].type_code:
        return None
    wrong = islice(_unlisted(attribute, allowed), MAX_LISTED_ELEMENTS)
    first = next(wrong, None)
    return None if first is None else replace(first, others=tuple(wrong))


def _unlisted(attribute: Proto, allowed: AllowedValues) -> Iterator[UnlistedValue]:
    """Yield the values of an attribute that are not allowed."""
    are_texts, is_list = attribute.type in _TEXTS, attribute.type in _FIELDS
    start = 0
    for piece in _pieces(attribute):
        # A list of millions of texts has a handful of distinct ones. No set is made of numbers: hashes may collide.
        if not all(_readable(value) in allowed for value in (set(piece) if are_texts else piece)):
            for index, value in enumerate(map(_readable, piece), start):
                if value not in allowed:
                    yield UnlistedValue(value, index if is_list else None)
        start += len(piece)


_TEXTS: Final = (ATTRIBUTE_TYPE_CODES["STRING"], ATTRIBUTE_TYPE_CODES["STRINGS"])


def _pieces(attribute: Proto) -> Iterable[Sequence[int | bytes]]:
    """Return the values of an attribute in pieces. A list that stays in the file is read piece by piece."""
    match ATTRIBUTE_TYPE_NAMES[attribute.type]:
        case "INT":
            return ([attribute.i],)
        case "STRING":
            return ([attribute.s],)
        case name:
            values: Sequence[int | bytes] = getattr(attribute, name.lower())
            if len(values) < _MANY:
                return (values,)
            from onnx_lint.ir.long_lists import pieces_of

            return pieces_of(values)


_MANY: Final = 1_000
"""A list of fewer elements is never in the file."""


def _readable(value: int | bytes) -> str | int:
    return _text(value) if isinstance(value, bytes) else value


def _text(value: bytes) -> str:
    """Return the text of a string attribute; bytes that are not UTF-8 give a value that is certainly not allowed."""
    return value.decode("utf-8", "surrogateescape")


GivenAttributes = Mapping[str, Proto]


def _below(constraints: AttributeConstraints, given: GivenAttributes) -> Iterator[AttributeFault]:
    for name, least in constraints.minima.items():
        if name in given:
            value = getattr(given[name], _NUMBERS[given[name].type])
            numbers = [value] if isinstance(value, int | float) else value
            # NaN is below everything.
            wrong = (each for each in enumerate(numbers) if not each[1] >= least)
            index, below = next(wrong, _NO_NUMBER)
            if name == "clip" and numbers == [0]:
                yield AttributeFault(name, "is 0, which bounds every element to 0", "a number above 0", is_allowed=True)
            if below is not None:
                what = f"is {_short(below)}, but must be at least {least}"
                others = tuple(at for at, _ in islice(wrong, MAX_LISTED_ELEMENTS))
                yield AttributeFault(name, what, f"numbers of at least {least}", index=index, others=others)


def _short(number: float) -> str:
    """Return the number as it was written: 0.1, and not the nearest number of 32 bits."""
    return str(number) if isinstance(number, int) else f"{number:.7g}"


def _repeated(constraints: AttributeConstraints, given: GivenAttributes) -> Iterator[AttributeFault]:
    for name in sorted(constraints.distinct & given.keys()):
        yield from _again(name, given[name].ints, "each axis once")


def _again(name: str, axes: Sequence[int], allowed: str) -> Iterator[AttributeFault]:
    """Yield the fault of a list that names an axis again."""
    index, *others = _repeated_in(axes) or (None,)
    if index is not None:
        yield AttributeFault(name, f"names axis {axes[index]} again", allowed, index=index, others=tuple(others))


_NO_NUMBER: Final = None, None


def _repeated_in(numbers: Sequence[int]) -> Sequence[int]:
    """Return the indices of the numbers that occur before."""
    if len(numbers) >= _MANY:
        from onnx_lint.ir.long_lists import repeated_in

        return repeated_in(numbers)
    first: dict[str, int] = {}
    return [index for index, number in enumerate(numbers) if first.setdefault(salted_text(number), index) != index]


def _missized(
    schema: OperatorSchema, constraints: AttributeConstraints, given: GivenAttributes
) -> Iterator[AttributeFault]:
    for name, size in constraints.sizes.items():
        length = _length(given[name]) if name in given else None
        # An empty list counts as omitted if it may be omitted.
        is_left_out = length == 0 and not schema.attributes[name].required and given[name].type in _FIELDS
        if length is not None and length != size and not is_left_out:
            yield AttributeFault(
                name, f"has {counted(length, 'element')}, but must have {size}", counted(size, "element")
            )
        elif length is not None and name == "value" and not given[name].t.dims:
            what = "is a scalar, which consumers refuse"
            yield AttributeFault(name, what, "a list of one element", is_allowed=True)


def _without_elements(
    schema: OperatorSchema, constraints: AttributeConstraints, form: NodeForm
) -> Iterator[AttributeFault]:
    """Yield lists without elements, of a group in which at least one needs elements."""
    for group in constraints.needing_elements:
        there = [attribute for attribute in form.attributes if attribute.name in group]
        if there and all(is_empty_list(attribute) for attribute in there):
            name = there[0].name
            yield AttributeFault(name, "has no elements, but must have at least 1", "a list of at least 1 element")


def _has_choices(schema: OperatorSchema) -> bool:
    """Return whether lists of the operator exclude each other."""
    return any(combination.kind is Choice.ONE for combination in combinations(schema))


def _unequal(
    schema: OperatorSchema, constraints: AttributeConstraints, given: GivenAttributes
) -> Iterator[AttributeFault]:
    """Yield lists whose lengths differ from the most frequent length of their group, or else from the first."""
    for group in constraints.lengths:
        lengths = _compared_lengths(group, schema, constraints, given)
        if len(lengths) < _PAIR:
            continue
        # Lengths in units of the longer lists: pads are twice as many as all others.
        scale = max(factor for _, factor in group)
        units = [each.length * scale // each.factor for each in lengths]
        usual = Counter(unit for unit in units if unit).most_common(1)[0][0] if any(units) else 0
        right = lengths[units.index(usual)]
        for each, unit in zip(lengths, units, strict=True):
            if unit != usual:
                yield _unequal_length(each, right)


class _Length(Record):
    """The length of a list in a group, and by which factor it is longer than the others."""

    name: str
    length: int
    factor: int


def _compared_lengths(
    group: tuple[tuple[str, int], ...],
    schema: OperatorSchema,
    constraints: AttributeConstraints,
    given: GivenAttributes,
) -> list[_Length]:
    """Return the lengths of the lists of a group that must be equal: without empty ones, if those count as omitted."""
    every = [
        _Length(name, length, factor)
        for name, factor in group
        if name in given and (length := _length(given[name])) is not None
    ]
    # Two lists of keys or values, one of them empty, are reported by another rule.
    if constraints.compares_empty and (len(every) == _PAIR or not _has_choices(schema)):
        return every
    return [each for each in every if each.length]


def _unequal_length(wrong: _Length, right: _Length) -> AttributeFault:
    wanted = right.length * wrong.factor // right.factor
    if wrong.factor == right.factor:
        relation = f"as many as '{right.name}'"
    else:
        relation = f"{'twice as many as' if wrong.factor > 1 else 'half of'} '{right.name}'"
    what = f"has {counted(wrong.length, 'element')}, but needs {wanted}, {relation}"
    allowed = f"{counted(wanted, 'element')}, {relation}"
    return AttributeFault(wrong.name, what, allowed, right.name, is_longer=wrong.length > wanted)


_PAIR: Final = 2


def _length(attribute: Proto) -> int | None:
    """Return the number of elements of a list or a tensor; None for impossible dimensions and other attributes."""
    if attribute.type in _FIELDS:
        return len(getattr(attribute, _FIELDS[attribute.type]))
    return element_count(attribute.t.dims) if attribute.type == ATTRIBUTE_TYPE_CODES["TENSOR"] else None


# --- operators with special requirements


def _of_operator(schema: OperatorSchema, form: NodeForm, given: GivenAttributes) -> Iterable[AttributeFault]:
    check = _CHECKS.get((schema.domain, schema.name), _recorded if schema.domain == RUNTIME_DOMAIN else None)
    return check(schema, form, given) if check is not None else ()


def _recorded(schema: OperatorSchema, form: NodeForm, given: GivenAttributes) -> Iterator[AttributeFault]:
    """Yield the faults of the patterns of an operator of com.microsoft: an empty one, and those RE2 cannot compile."""
    from onnx_lint.spec.operators.records import record_of

    record = record_of(schema.name)
    if record is None:
        return
    is_read = True
    for name in record.patterns:
        if name not in given:
            continue
        is_list = schema.attributes[name].type == "STRINGS"
        patterns = list(given[name].strings) if is_list else [given[name].s]
        if is_read and patterns == [b""] and not is_list:
            yield AttributeFault(name, "is empty", _PATTERN)
        faults = [(index, fault) for index, each in enumerate(patterns) if (fault := _fault_of_pattern(each))]
        if faults:
            (index, what), *others = faults
            yield AttributeFault(
                name, what, _PATTERN, index=index if is_list else None, others=tuple([index for index, _ in others])
            )
        is_read = is_read and not (patterns if is_list else patterns[0])


def _equation(schema: OperatorSchema, form: NodeForm, given: GivenAttributes) -> Iterator[AttributeFault]:
    if "equation" not in given:
        return
    from onnx_lint.ir.operators.einsum_equation import equation_fault, lacks_ellipsis

    fault = equation_fault(_text(given["equation"].s), len(form.inputs))
    if fault is not None:
        allowed = "terms of letters with commas between them, one for each input, and '->' and a term for the output"
        yield AttributeFault("equation", fault, allowed)
    elif lacks_ellipsis(given["equation"].s):
        what = "has an ellipsis before '->' and none after it, which consumers refuse"
        yield AttributeFault("equation", what, "an ellipsis after '->' as well", is_allowed=True)


def _pattern(schema: OperatorSchema, form: NodeForm, given: GivenAttributes) -> Iterator[AttributeFault]:
    if "pattern" in given and (fault := _fault_of_pattern(given["pattern"].s)):
        yield AttributeFault("pattern", fault, _PATTERN)


_PATTERN: Final = "a regular expression in the syntax of RE2"


def _fault_of_pattern(pattern: bytes) -> str | None:
    from onnx_lint.ir.operators.re2_pattern import pattern_fault

    return pattern_fault(pattern.decode("utf-8", "backslashreplace"))


def _of_learned(schema: OperatorSchema, form: NodeForm, given: GivenAttributes) -> Iterable[AttributeFault]:
    """Return the faults of an encoder, a linear classifier or a vectorizer."""
    from onnx_lint.ir.operators import machine_learning_attributes

    faults_of = {
        "LabelEncoder": machine_learning_attributes.encoder_faults,
        "LinearClassifier": machine_learning_attributes.linear_classifier_faults,
        "TfIdfVectorizer": machine_learning_attributes.n_gram_faults,
    }
    return itertools.starmap(AttributeFault, faults_of[schema.name](given))


def _of_ensemble(schema: OperatorSchema, form: NodeForm, given: GivenAttributes) -> Iterable[AttributeFault]:
    from onnx_lint.ir.operators.ensemble_votes import VOTINGS, is_evidently_right

    voting = VOTINGS.get(schema.name)
    if voting is not None and form.known_faults is None and is_evidently_right(given, voting):
        return ()
    from onnx_lint.ir.operators import tree_ensembles

    if voting is not None:
        faults: Iterable[TreeFault] = tree_ensembles.voting_faults(given, voting)
    else:
        faults = tree_ensembles.ensemble_faults(given, {attribute.name for attribute in form.attributes})
    return (_of_tree(*fault) for fault in faults)


def _of_tree(name: str, what: str, allowed: str, other: str | None, wrong: Iterable[int] = ()) -> AttributeFault:
    """Return the fault of the lists of a tree ensemble. `wrong`: the indices of the wrong elements."""
    indices = [int(each) for each in islice(wrong, MAX_LISTED_ELEMENTS)]
    return AttributeFault(name, what, allowed, other, indices[0] if indices else None, others=tuple(indices[1:]))


def _permutation(schema: OperatorSchema, form: NodeForm, given: GivenAttributes) -> Iterator[AttributeFault]:
    axes: Sequence[int] = given["perm"].ints if "perm" in given else ()
    allowed = f"each number from 0 to {len(axes) - 1} once"
    count = len(axes)
    beyond = (each for each in enumerate(axes) if not 0 <= each[1] < count)
    at, outside = next(beyond, _NO_NUMBER)
    repeated = [*_again("perm", axes, allowed)]
    yield from repeated
    if outside is not None and not repeated:
        what = f"is {outside}, but the axes are from 0 to {count - 1}"
        others = tuple(at for at, _ in islice(beyond, MAX_LISTED_ELEMENTS))
        yield AttributeFault("perm", what, allowed, index=at, others=others)


def _activations(schema: OperatorSchema, form: NodeForm, given: GivenAttributes) -> Iterator[AttributeFault]:
    references = [attribute.name for attribute in form.attributes if attribute.ref_attr_name]
    if "activations" not in given or "direction" in references:
        return
    each = ACTIVATIONS[schema.name]
    direction = given["direction"].s if "direction" in given else b"forward"
    number = each * (2 if direction == b"bidirectional" else 1)
    length = len(given["activations"].strings)
    # The default of RNN has two functions even for one direction.
    is_default = schema.name == "RNN" and length == _PAIR and list(given["activations"].strings) == [b"Tanh"] * _PAIR
    if length != number and not is_default and length:
        what = f"has {counted(length, 'element')}, but must have {number}, {each} for each direction"
        yield AttributeFault("activations", what, counted(number, "element"))


def _of_distribution(schema: OperatorSchema, form: NodeForm, given: GivenAttributes) -> Iterator[AttributeFault]:
    """Yield parameters of a distribution that are none: no probability, no deviation, no interval."""
    references = {attribute.name for attribute in form.attributes if attribute.ref_attr_name}
    low, high = (given[name].f if name in given else default for name, default in (("low", 0.0), ("high", 1.0)))
    if schema.name == "Dropout" and "ratio" in given and not 0 <= given["ratio"].f <= 1:
        what = f"is {_short(given['ratio'].f)}, but a share is from 0 to 1"
        yield AttributeFault("ratio", what, "0 to 1", is_unexplained=True, is_of_elements=True)
    elif "scale" in given and not given["scale"].f >= 0:
        what = f"is {_short(given['scale'].f)}, but a standard deviation is at least 0"
        yield AttributeFault("scale", what, "a number of at least 0", is_unexplained=True, is_of_elements=True)
    elif not references.intersection(("low", "high")) and not low <= high:
        name = "low" if "low" in given else "high"
        what = f"is {_short(low if name == 'low' else high)}"
        other = f"'high' is {_short(high)}" if name == "low" else f"'low' is {_short(low)}"
        yield AttributeFault(
            name,
            f"{what}, but {other}",
            "an interval whose end is not before its begin",
            is_unexplained=True,
            is_of_elements=True,
        )


def _intercepts(schema: OperatorSchema, form: NodeForm, given: GivenAttributes) -> Iterator[AttributeFault]:
    references = [attribute.name for attribute in form.attributes if attribute.ref_attr_name]
    if "intercepts" not in given or "targets" in references:
        return
    targets = given["targets"].i if "targets" in given else 1
    length = len(given["intercepts"].floats)
    if length and length != targets:
        yield AttributeFault(
            "intercepts", f"has {counted(length, 'element')}, but 'targets' is {targets}", "one for each target"
        )


_AttributeCheck = Callable[[OperatorSchema, NodeForm, GivenAttributes], Iterable[AttributeFault]]
_CHECKS: Final[Mapping[tuple[str, str], _AttributeCheck]] = {
    ("", "Transpose"): _permutation,
    ("", "Einsum"): _equation,
    ("", "RegexFullMatch"): _pattern,
    ("", "TfIdfVectorizer"): _of_learned,
    ("ai.onnx.ml", "LabelEncoder"): _of_learned,
    ("ai.onnx.ml", "LinearClassifier"): _of_learned,
    ("ai.onnx.ml", "LinearRegressor"): _intercepts,
    ("ai.onnx.ml", "TreeEnsemble"): _of_ensemble,
    ("ai.onnx.ml", "TreeEnsembleClassifier"): _of_ensemble,
    ("ai.onnx.ml", "TreeEnsembleRegressor"): _of_ensemble,
    **{("", name): _activations for name in ACTIVATIONS},
    **{("", name): _of_distribution for name in RANDOM},
}
"""The check of each operator with requirements of its own."""
