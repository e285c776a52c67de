# SPDX-License-Identifier: Apache-2.0
"""Edits of the fields of a message; each is a function of a random generator and of the tree that it changes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireType

from .corpus import seeds
from .mutation import NUMBERS, STRINGS
from .tree import Field, lists, parse, root_of

_FIXED_BYTES: dict[int, int] = {WireType.FIXED32: 4, WireType.FIXED64: 8}


def _any_list(rng: Random, root: Field) -> tuple[str, list[Field]]:
    return rng.choice([item for item in lists(root) if item[1]] or list(lists(root)))


def drop_field(rng: Random, root: Field) -> None:
    _, found = _any_list(rng, root)
    if found:
        del found[rng.randrange(len(found))]


def repeat_field(rng: Random, root: Field) -> None:
    _, found = _any_list(rng, root)
    if found:
        field = rng.choice(found)
        at = rng.randrange(len(found) + 1)
        found[at:at] = [field.copy() for _ in range(rng.choice((1, 1, 1, 2, 30, 70)))]


def swap_fields(rng: Random, root: Field) -> None:
    _, found = _any_list(rng, root)
    rng.shuffle(found)


def _scalars(root: Field) -> list[tuple[str, Field]]:
    return [(message, field) for message, found in lists(root) for field in found if isinstance(field.value, bytes)]


def _message_fields(root: Field) -> list[Field]:
    return [field for _, found in lists(root) for field in found if isinstance(field.value, list)]


def edit_value(rng: Random, root: Field) -> None:
    """Give a number another value, or a string that of another one in the model."""
    scalars = _scalars(root)
    if not scalars:
        return
    _, field = rng.choice(scalars)
    if field.wire_type == WireType.VARINT:
        field.value = wire.encode_varint(rng.choice(NUMBERS))
    elif field.wire_type == WireType.LEN:
        strings = [other.value for _, other in scalars if other.wire_type == WireType.LEN]
        field.value = rng.choice((rng.choice(strings), rng.choice(STRINGS), rng.randbytes(rng.randrange(40))))
    else:
        size = _FIXED_BYTES.get(field.wire_type, 0)
        field.value = rng.choice((bytes(size), b"\xff" * size, rng.randbytes(size)))


def add_field(rng: Random, root: Field) -> None:
    """Set a field that the schema declares, with a value of its wire type."""
    message, found = _any_list(rng, root)
    declared = rng.choice(list(wire.fields(message).values()))
    made = _made(rng, declared.number, declared.wire_type)
    if declared.message:
        made.value = b""
    found.insert(rng.randrange(len(found) + 1), made)


def _made(rng: Random, number: int, wire_type: WireType) -> Field:
    values = {
        WireType.VARINT: wire.encode_varint(rng.choice(NUMBERS)),
        WireType.FIXED32: rng.randbytes(4),
        WireType.FIXED64: rng.randbytes(8),
        WireType.LEN: rng.choice(STRINGS),
    }
    return Field(number, wire_type, values[wire_type])


def move_message(rng: Random, root: Field) -> None:
    """Put the content of one message in the place of another of its kind, itself included: graphs into graphs."""
    messages = _message_fields(root)
    if not messages:
        return
    target = rng.choice(messages)
    source = rng.choice([other for other in messages if other.message == target.message])
    target.value = source.copy().value


def borrow_message(rng: Random, root: Field) -> None:
    """Append a message of another seed."""
    lender = rng.choice(seeds())
    other = parse(lender.data, lender.message)
    lenders = _message_fields(root_of(other, lender.message)) if other else []
    if not lenders:
        return
    lent = rng.choice(lenders)
    places = [
        (found, number)
        for message, found in lists(root)
        for number, declared in wire.fields(message).items()
        if declared.message == lent.message
    ]
    if places:
        found, number = rng.choice(places)
        found.append(Field(number, lent.wire_type, lent.copy().value, lent.message))


def change_number(rng: Random, root: Field) -> None:
    _, found = _any_list(rng, root)
    if found:
        rng.choice(found).number = rng.choice((1, 2, 3, 4, 7, 8, 14, 20, 21, 23, 25, 100, 18999, 2**29 - 1))


def change_wire_type(rng: Random, root: Field) -> None:
    scalars = _scalars(root)
    if scalars:
        _, field = rng.choice(scalars)
        changed = _made(
            rng, field.number, rng.choice((WireType.VARINT, WireType.FIXED64, WireType.LEN, WireType.FIXED32))
        )
        field.wire_type, field.value = changed.wire_type, changed.value


FIELDS: tuple[Callable[[Random, Field], None], ...] = (
    drop_field,
    repeat_field,
    swap_fields,
    edit_value,
    edit_value,
    edit_value,
    add_field,
    add_field,
    move_message,
    borrow_message,
    borrow_message,
    change_number,
    change_wire_type,
)
