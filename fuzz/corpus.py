# SPDX-License-Identifier: Apache-2.0
"""The seeds of mutation: every fixture, as bytes, as text and as JSON, and the models beside the tests."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from google.protobuf import json_format
from support.project.fixture_files import fixtures

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.loader.text.read_text import parse_textproto
from onnx_lint.model import Fault

MODELS = Path(__file__).parent.parent / "tests" / "models"

BINARY, TEXT, JSON = ".onnx", ".textproto", ".json"

_EACH_AS_JSON = 4
"""One of this many fixtures in text form is a seed in JSON too. One input in ten is text; JSON is much the same."""


@dataclass(frozen=True)
class Seed:
    """A file to begin with, or an input that was made of one."""

    name: str
    data: bytes
    suffix: str = BINARY
    """Which of the three forms the file has: BINARY, TEXT or JSON."""
    proto: str | None = None
    """The message that the file is said to hold; None leaves it to the loader."""

    @property
    def is_text(self) -> bool:
        """Return whether the file is in one of the two forms of text."""
        return self.suffix != BINARY

    @property
    def message(self) -> str:
        """The message whose fields the file has."""
        return self.proto or "ModelProto"


@functools.cache
def seeds() -> tuple[Seed, ...]:
    """All seeds, in the order of their names."""
    found: list[Seed] = []
    for number, fixture in enumerate(fixtures()):
        found.append(Seed(fixture.id, fixture.data, TEXT if fixture.is_text else BINARY, fixture.proto))
        if not fixture.is_text:
            continue
        parsed = parse_textproto(BytesSource(fixture.data), fixture.proto or "ModelProto")
        if isinstance(parsed, Fault):
            continue
        found.append(Seed(f"{fixture.id} as bytes", parsed.SerializeToString(), BINARY, fixture.proto))
        if number % _EACH_AS_JSON == 0:
            text = json_format.MessageToJson(parsed, descriptor_pool=schema.pool())
            found.append(Seed(f"{fixture.id} as JSON", text.encode(), JSON, fixture.proto))
    for path in sorted(MODELS.glob("*.onnx")):
        found.append(Seed(path.name, path.read_bytes()))
    return tuple(found)


@functools.cache
def seeds_of(*, is_text: bool) -> tuple[Seed, ...]:
    """The seeds in one of the forms of text, or the others."""
    return tuple(seed for seed in seeds() if seed.is_text is is_text)
