# SPDX-License-Identifier: Apache-2.0
"""The seeds of mutation: every fixture, as bytes and as text, and the models beside the tests."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from support.project.fixture_files import fixtures

from onnx_lint.input.source import BytesSource
from onnx_lint.loader.text.read_text import parse_textproto
from onnx_lint.model import Fault

MODELS = Path(__file__).parent.parent / "tests" / "models"

BINARY, TEXT = ".onnx", ".textproto"


@dataclass(frozen=True)
class Seed:
    """A file to begin with, or an input that was made of one."""

    name: str
    data: bytes
    suffix: str = BINARY
    """Which of the two forms the file has: BINARY or TEXT."""
    proto: str | None = None
    """The message that the file is said to hold; None leaves it to the loader."""

    @property
    def is_text(self) -> bool:
        """Return whether the file is in text form."""
        return self.suffix != BINARY

    @property
    def message(self) -> str:
        """The message whose fields the file has."""
        return self.proto or "ModelProto"


@functools.cache
def seeds() -> tuple[Seed, ...]:
    """All seeds, in the order of their names."""
    found: list[Seed] = []
    for fixture in fixtures():
        found.append(Seed(fixture.id, fixture.data, TEXT if fixture.is_text else BINARY, fixture.proto))
        if not fixture.is_text:
            continue
        parsed = parse_textproto(BytesSource(fixture.data), fixture.proto or "ModelProto")
        if isinstance(parsed, Fault):
            continue
        found.append(Seed(f"{fixture.id} as bytes", parsed.SerializeToString(), BINARY, fixture.proto))
    for path in sorted(MODELS.glob("*.onnx")):
        found.append(Seed(path.name, path.read_bytes()))
    return tuple(found)


@functools.cache
def seeds_of(*, is_text: bool) -> tuple[Seed, ...]:
    """The seeds in text form, or the others."""
    return tuple(seed for seed in seeds() if seed.is_text is is_text)
