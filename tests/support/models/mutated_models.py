# SPDX-License-Identifier: Apache-2.0
"""The models of the fixtures, each as it is and with random mutations of its messages."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator, Set

import onnx
from google.protobuf import text_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from support.project.fixture_files import Fixture, fixtures

SEED = 15
MUTANTS = 2
"""The number of mutants of each model."""

NUMBERS = (0, 1, -1, 2, 7, 2**31, -(2**40))


def models(rules: Set[str] | None = None) -> Iterator[tuple[str, onnx.ModelProto]]:
    """The models of the fixtures in text form, each with its name; those of some rules alone."""
    for fixture in candidates():
        if rules is None or fixture.rule in rules:
            yield from parsed(fixture)


def candidates() -> Iterator[Fixture]:
    """The fixtures with a model in text form; parsing all of them takes seconds."""
    return (fixture for fixture in fixtures() if fixture.is_text and not fixture.proto)


def parsed(fixture: Fixture) -> Iterator[tuple[str, onnx.ModelProto]]:
    """The model of a fixture with its name; none if the fixture is about the text."""
    with contextlib.suppress(text_format.ParseError):
        yield fixture.id, text_format.Parse(fixture.text, onnx.ModelProto())


def mutate(message: Message, choose: random.Random) -> None:
    """Change one field somewhere in the message."""
    while True:
        given = message.ListFields()
        if not given:
            return None
        field, value = choose.choice(given)
        if field.type != FieldDescriptor.TYPE_MESSAGE:
            return _mutate_value(message, field, choose)
        inner = value[choose.randrange(len(value))] if field.is_repeated else value
        if choose.random() < 0.15:
            return _mutate_message(message, field, inner, choose)
        message = inner


def _mutate_message(message: Message, field: FieldDescriptor, inner: Message, choose: random.Random) -> None:
    if field.is_repeated and choose.random() < 0.5:
        getattr(message, field.name).add().CopyFrom(inner)
    elif choose.random() < 0.5:
        message.ClearField(field.name)
    else:
        inner.Clear()


def _mutate_value(message: Message, field: FieldDescriptor, choose: random.Random) -> None:
    is_text = field.type in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)
    if choose.random() < 0.3:
        return message.ClearField(field.name)
    if is_text:
        value: object = choose.choice(["", "x", "y", "Relu", "ai.onnx.ml", "#w"])
        value = value if field.type == FieldDescriptor.TYPE_STRING else str(value).encode()
    elif field.enum_type is not None:
        value = choose.choice([each.number for each in field.enum_type.values])
    else:
        value = choose.choice(NUMBERS)
    try:
        if not field.is_repeated:
            setattr(message, field.name, value)
        elif choose.random() < 0.5:
            getattr(message, field.name).append(value)
        else:
            getattr(message, field.name)[choose.randrange(len(getattr(message, field.name)))] = value
    except (ValueError, TypeError):
        message.ClearField(field.name)  # the number is none that the field holds
    return None


def cases(rules: Set[str] | None = None) -> Iterator[tuple[str, onnx.ModelProto]]:
    """Each model, or each of the fixtures of some rules, and its mutants, with a name."""
    for name, model in models(rules):
        yield name, model
        for number in range(MUTANTS):
            choose = random.Random(f"{SEED} {name} {number}")
            mutant = onnx.ModelProto()
            mutant.CopyFrom(model)
            for _ in range(choose.choice((1, 1, 2))):
                mutate(mutant, choose)
            yield f"{name}, mutant {number}", mutant
