# SPDX-License-Identifier: Apache-2.0
"""Random attributes and facts of operands for any operator, among them values at the limits of the valid range."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

from onnx_lint import schema
from onnx_lint.inference.shapes.fact import ABSENT, UNKNOWN, Fact, fact
from onnx_lint.inference.types.typed_operator import shared_variable
from onnx_lint.schema import Proto
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_NAMES, BUILT_IN, OperatorSchema
from onnx_lint.spec.operators.attribute_values import allowed_values

DOMAINS = tuple(domain for domain in BUILT_IN.known_domains() if BUILT_IN.operator_names(domain))

_DIMS = (0, 1, 2, 3, 5, None, "N", "M", "2*N")
_NUMBERS = (-1, 0, 1, 1, 1, 2, 2, 3, 7, 2**62)
_ELEMENTS = (-1, 0, 1, 2, 3, None, "N", 2**62)
_WORDS = (b"", b"NOTSET", b"SAME_UPPER", b"VALID", b"ij,jk->ik", b"ii->", b"...i,i", b"abc", b"\xff")
_FLOATS = (-1.5, 0.0, 0.5, 2.0, float("inf"), float("nan"))
_LENGTHS = (0, 1, 1, 2, 2, 3, 4)


def operator_versions() -> Iterator[OperatorSchema]:
    """Yield the signature of every version of every known operator."""
    for domain in DOMAINS:
        for name in sorted(BUILT_IN.operator_names(domain)):
            for version in BUILT_IN.versions(domain, name):
                found = BUILT_IN.find(domain, name, version)
                if found is not None:
                    yield found


def counts_of_operands(operator: OperatorSchema, most: int = 7) -> tuple[list[int], list[int]]:
    """Return the numbers of inputs and of outputs that a signature allows, up to some more than it needs."""
    inputs = [count for count in range(max(most, operator.min_input + 2)) if operator.allows_input_count(count)]
    return inputs, [count for count in range(1, 5) if operator.allows_output_count(count)]


def random_facts(random: Random, operator: OperatorSchema, count: int) -> tuple[Fact, ...]:
    """Return random facts about the inputs: mostly types that go together, shapes of like ranks, and elements."""
    kinds: dict[str, str] = {}
    rank = random.choice((0, 1, 1, 2, 2, 3, 4))
    found = []
    for index in range(count):
        parameter = operator.input_at(index)
        if parameter is None or not parameter.types:
            kind = "tensor(float)"
        else:
            kind = kinds.setdefault(shared_variable(parameter) or str(index), random.choice(sorted(parameter.types)))
            if random.random() < 0.03:
                kind = random.choice(sorted(parameter.types))
        found.append(ABSENT if index > 0 and random.random() < 0.06 else _random_fact(random, kind, rank))
    return tuple(found)


def _random_fact(random: Random, kind: str, usual_rank: int) -> Fact:
    chance = random.random()
    if chance < 0.08:
        return UNKNOWN
    if chance < 0.15:
        return fact(kind)
    if not kind.startswith("tensor("):
        inside = fact("tensor(float)", (2, "N")) if random.random() < 0.5 else None
        count = (random.choice(_ELEMENTS),) if kind.startswith("seq(") and random.random() < 0.5 else None
        return fact(kind, None, count, inside)
    rank = usual_rank if random.random() < 0.6 else random.choice((0, 1, 1, 1, 2, 3, 4))
    shape = tuple(random.choice(_DIMS) for _ in range(rank))
    if len(shape) > 1 or random.random() < 0.2 or not all(isinstance(dim, int) for dim in shape):
        return fact(kind, shape)
    size = 1 if not shape else int(shape[0] or 0)
    if "int" in kind or "bool" in kind:
        return fact(kind, shape, tuple(random.choice(_ELEMENTS) for _ in range(size)))
    if "float" in kind or "double" in kind:
        return fact(kind, shape, tuple(random.choice(_FLOATS[:4]) for _ in range(size)))
    return fact(kind, shape)


def random_attributes(random: Random, operator: OperatorSchema, names: Iterable[str]) -> tuple[Proto, ...]:
    """Return attributes of these names: of half of the nodes with any values, of the others with usual ones."""
    is_usual = random.random() < 0.5
    length = random.choice((1, 2, 2, 3)) if is_usual else None
    return tuple(_random_attribute(random, operator, name, length) for name in names)


def _random_attribute(random: Random, operator: OperatorSchema, name: str, usual_length: int | None) -> Proto:
    """Return an attribute of the type that the signature gives it. `usual_length`: of lists; None for any values."""
    code = operator.attributes[name].type_code
    made = schema.message("AttributeProto")(name=name, type=code)
    length = random.choice(_LENGTHS) if usual_length is None else usual_length * (2 if name == "pads" else 1)
    allowed = allowed_values(operator, name)
    words = [str(value).encode() for value in sorted(allowed, key=str)] if allowed else list(_WORDS)
    numbers = [value for value in allowed or () if isinstance(value, int)] or [0, 1, 1, 1, 2]
    if usual_length is None:
        words += _WORDS
        numbers += _NUMBERS
    match ATTRIBUTE_TYPE_NAMES[code]:
        case "INT":
            made.i = random.choice(numbers)
        case "INTS":
            axes = name in {"axes", "perm"} and usual_length is not None
            made.ints.extend(random.sample(range(length), length) if axes else random.choices(numbers, k=length))
        case "FLOAT":
            made.f = random.choice(_FLOATS)
        case "FLOATS":
            made.floats.extend(random.choice(_FLOATS) for _ in range(length))
        case "STRING":
            made.s = random.choice(words)
        case "STRINGS":
            made.strings.extend(random.choice(words) for _ in range(length))
        case "TENSOR":
            made.t.data_type = random.choice((0, 1, 2, 7, 8, 99))
            made.t.dims.extend(random.choice((-1, 0, 1, 2)) for _ in range(length % 3))
            if random.random() < 0.7:
                made.t.int64_data.extend(range(2))
        case "GRAPH":
            made.g.name = "g"
        case "TYPE_PROTO":
            made.tp.tensor_type.elem_type = random.choice((0, 1, 7, 99))
    return made
