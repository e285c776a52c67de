# SPDX-License-Identifier: Apache-2.0
"""What elements are taken to take up."""

from __future__ import annotations

from random import Random

import pytest
from support.hostile.dense_files import DENSE
from support.hostile.dense_rows import DENSE_ROWS
from support.wire.wire_bytes import group, length, number, tag

from onnx_lint import lint
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.ir.documents.kinds import KINDS
from onnx_lint.loader.limits import elements
from onnx_lint.loader.limits.element_weights import MOST_OF_FIELD, PAID_FOR, ElementBudget, is_out_of_reach
from onnx_lint.loader.limits.limit_faults import FREE_BYTES, SMALL_BYTES, TooManyElementsError
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireType

BYTES = 1_000_000


def spent(message: str, field: str, count: int, nodes: int = 0) -> int:
    """What so many occurrences of a field take up behind so many nodes."""
    budget = ElementBudget(BYTES)
    budget.take("GraphProto", wire.fields_by_name("GraphProto")["node"], nodes)
    before = budget.left
    budget.take(message, wire.fields_by_name(message)[field], count)
    return before - budget.left


def test_what_stands_once_takes_up_no_memory_of_its_own():
    assert spent("NodeProto", "name", 5) == 0


@pytest.mark.parametrize("field", ["input", "output"])
def test_a_few_names_of_each_node_take_up_less_than_others(field: str):
    few, many = spent("NodeProto", field, 40, nodes=10), spent("NodeProto", field, 40)
    assert few < many
    assert spent("NodeProto", field, 60, nodes=10) == few + many // 2


def test_what_goes_beyond_is_told_in_words():
    budget = ElementBudget(BYTES, of_number=40)
    budget.take("AttributeProto", wire.fields_by_name("AttributeProto")["ints"], 25_000)
    assert (budget.left, budget.elements) == (0, 25_000)
    with pytest.raises(
        TooManyElementsError, match="at least 25,001 messages, names and numbers take up 1,000,040 bytes of memory"
    ):
        budget.take("AttributeProto", wire.fields_by_name("AttributeProto")["ints"], 1)


def count_of(message: str, data: bytes) -> ElementBudget:
    count = elements._Count(1 << 60, shares_forms=False)
    count.add(data, message)
    return count.budget


def assert_in_reach(data: bytes):
    """What a file takes up is never said to be out of reach."""
    assert not is_out_of_reach(data, count_of("ModelProto", data).bytes - PAID_FOR * len(data))


def messages() -> set[str]:
    found: set[str] = set()
    left = set(KINDS)
    while left:
        found |= left
        left = {field.message for name in left for field in wire.fields(name).values() if field.message} - found
    return found


@pytest.mark.parametrize("message", sorted(messages()))
def test_no_field_takes_up_more_than_the_most_of_a_field(message: str):
    """A byte may be the tag of a sequence or map as well, each of which is counted for the value around all of them."""
    of_level = elements._OF_LEVEL if message.startswith(("Type", "TensorShape")) else 0
    for field in wire.fields(message).values():
        once = tag(field.number, WireType.LEN) + b"\0"
        # What a few of come more cheaply cannot be told from the budget: each number is taken from none and from many.
        for credit in (0, 100):
            count = elements._Count(1 << 60, shares_forms=False)
            for name, value in vars(count.budget).items():
                if isinstance(value, int) and name not in {"left", "elements", "bytes"}:
                    setattr(count.budget, name, credit)
            count.small(message, once, {})
            assert count.budget.bytes + of_level <= MOST_OF_FIELD


@pytest.mark.parametrize("name", [*DENSE, *DENSE_ROWS])
def test_what_dense_files_take_up_is_in_reach(name: str):
    for size in (100, 3_000, SMALL_BYTES):
        assert_in_reach({**DENSE, **DENSE_ROWS}[name](size))


def hostile(rng: Random, message: str, size: int, depth: int = 0) -> bytes:
    """Small fields of a message, some as no writer writes them, of about so many bytes."""
    fields = list(wire.fields(message).values())
    usual = rng.sample(fields, rng.randint(1, min(3, len(fields))))
    made: list[bytes] = []
    while size > 0:
        field = rng.choice(usual)
        most = min(size, rng.choice((0, 0, 1, 3, 8, 40, 300)))
        if field.message is not None and depth < 12:
            content = hostile(rng, field.message, rng.choice((most, size)), depth + 1)
        elif field.packable:
            content = bytes(rng.choices((0, 1, 0x7F, 0x80, 0x22, 0x2A, 0x4A), k=most))
        else:
            content = bytes(rng.choices(b"ab2:Jrz\x0a\x12\x22\x2a\x32\x4a", k=most))
        way = rng.random()
        if way < 0.05:
            made.append(
                tag(field.number, field.wire_type)[:-1] + bytes([tag(field.number, field.wire_type)[-1] | 0x80, 0])
            )
            made.append(b"\x80\0" if field.wire_type == WireType.LEN else bytes(8))
        elif way < 0.08:
            made.append(group(field.number, content))
        elif way < 0.1:
            made.append(rng.randbytes(most))
        elif field.wire_type == WireType.VARINT and way < 0.5:
            made.append(number(field.number, most))
        else:
            made.append(length(field.number, content))
        size -= len(made[-1])
    return b"".join(made)


def test_what_hostile_files_take_up_is_in_reach():
    rng = Random(19)
    for _ in range(400):
        assert_in_reach(hostile(rng, "ModelProto", rng.choice((40, 400, 4_000, 30_000))))


@pytest.mark.parametrize("name", ["empty graphs of an attribute", "attributes of empty graphs", "empty nodes"])
def test_small_files_of_too_many_elements_exceed_a_limit(name: str):
    size = next(size for size in range(FREE_BYTES, SMALL_BYTES, 1_000) if exceeds(DENSE[name](size)))
    assert count_of("ModelProto", DENSE[name](size - 1_000)).bytes <= DEFAULT_LIMITS.element_bytes + PAID_FOR * size


def exceeds(data: bytes) -> bool:
    return "exceeded-limit" in {found.rule for found in lint(data).diagnostics}


def test_no_file_that_is_not_counted_can_exceed_the_limit():
    densest = bytes([WireType.LEN]) * FREE_BYTES  # as if a field began at each byte
    assert is_out_of_reach(densest, DEFAULT_LIMITS.element_bytes)
    assert not is_out_of_reach(densest * 2, DEFAULT_LIMITS.element_bytes)
