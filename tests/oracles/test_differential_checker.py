# SPDX-License-Identifier: Apache-2.0
"""With `--consumer onnx.checker`, whatever `onnx.checker.check_model` refuses onnx-lint refuses as well.

The models are those of the fixtures, each as it is and with random mutations of its messages: fields that are taken
away, emptied, doubled, or get another value. What onnx refuses and onnx-lint takes has to be explained.
"""

from __future__ import annotations

import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import onnx
import pytest
from fixture_files import Fixture, fixtures
from google.protobuf import text_format
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from onnx_lint import lint

pytestmark = pytest.mark.differential

SEED = 15
MUTANTS = 2
"""How many mutants there are of each model."""


@dataclass(frozen=True)
class Explained:
    """What onnx refuses and onnx-lint does not: the message of onnx, what else holds of the model, and why."""

    message: str
    holds: Callable[[onnx.ModelProto], bool]
    why: str


def _dense(model: onnx.ModelProto) -> list[onnx.TensorProto]:
    attributes = [attribute for node in model.graph.node for attribute in node.attribute]
    return [*model.graph.initializer, *[attribute.t for attribute in attributes]]


EXPLAINED = (
    Explained(
        r"Mismatched attribute type in .*actual: 'UNDEFINED'",
        lambda model: model.ir_version < 2,
        "before IR version 2 attributes had no field for their type",
    ),
    Explained(
        r"No opset import for domain 'ai\.onnx'",
        lambda model: any(entry.domain == "" for entry in model.opset_import),
        "a node may spell the default domain out, and the import leave it empty",
    ),
    Explained(
        r"too small for the declared shape",
        lambda model: any(tensor.HasField("segment") for tensor in _dense(model)),
        "of a tensor with a segment only a part is stored (onnx issue 8268)",
    ),
    Explained(
        r"dimension product overflow",
        lambda model: any(0 in tensor.dims for tensor in _dense(model)),
        "a tensor with a dimension of zero has no elements; onnx multiplies those before it",
    ),
    Explained(
        r"Opset import for domain .* not compatible",
        lambda model: len({entry.domain for entry in model.opset_import}) < len(model.opset_import),
        "of two imported versions of a domain the specification takes the highest, onnx the last",
    ),
)

NUMBERS = (0, 1, -1, 2, 7, 2**31, -(2**40))


def models() -> Iterator[tuple[str, onnx.ModelProto]]:
    """The models of the fixtures in text form, each with its name."""
    for fixture in fixtures():
        if fixture.is_text and not fixture.proto:
            model = _parsed(fixture)
            if model is not None:
                yield fixture.id, model


def _parsed(fixture: Fixture) -> onnx.ModelProto | None:
    try:
        return text_format.Parse(fixture.text, onnx.ModelProto())
    except text_format.ParseError:
        return None  # it is about the text


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


def cases() -> Iterator[tuple[str, onnx.ModelProto]]:
    for name, model in models():
        yield name, model
        for number in range(MUTANTS):
            choose = random.Random(f"{SEED} {name} {number}")
            mutant = onnx.ModelProto()
            mutant.CopyFrom(model)
            for _ in range(choose.choice((1, 1, 2))):
                mutate(mutant, choose)
            yield f"{name}, mutant {number}", mutant


def refusal(path: Path) -> str | None:
    """Why onnx refuses the model; None where it takes it."""
    try:
        onnx.checker.check_model(path, full_check=False)
    except Exception as error:
        return str(error)
    return None


def test_what_onnx_checker_refuses_is_refused():
    used: Counter[str] = Counter()
    missed: list[str] = []
    refused = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        for name, model in cases():
            path.write_bytes(model.SerializePartialToString())
            message = refusal(path)
            if message is None:
                continue
            refused += 1
            if not lint(path, consumers=["onnx.checker"]).conforms:
                continue
            reason = next((each for each in EXPLAINED if re.search(each.message, message) and each.holds(model)), None)
            if reason is None:
                missed.append(f"{name}: {message.splitlines()[0][:200]}")
            else:
                used[reason.message] += 1
    assert refused > 1000
    assert not missed, "\n".join(missed)
    assert {each.message for each in EXPLAINED} - set(used) == set(), "explained and no longer needed"
