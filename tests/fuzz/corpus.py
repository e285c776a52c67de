# SPDX-License-Identifier: Apache-2.0
"""What mutation starts from: every fixture, as bytes and as text, and the models that stand beside the tests."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from fixture_files import fixtures

from onnx_lint.loader.text import parse_textproto
from onnx_lint.model import Fault
from onnx_lint.source import BytesSource

MODELS = Path(__file__).parent.parent / "models"


@dataclass(frozen=True)
class Seed:
    """A file to begin with."""

    name: str
    data: bytes
    is_text: bool
    proto: str | None = None
    """The message that the file is said to hold; None leaves it to the loader."""

    @property
    def message(self) -> str:
        """The message whose fields the file has."""
        return self.proto or "ModelProto"


@functools.cache
def seeds() -> tuple[Seed, ...]:
    """All seeds, in the order of their names."""
    found: list[Seed] = []
    for fixture in fixtures():
        if not fixture.is_text:
            found.append(Seed(fixture.id, fixture.data, False, fixture.proto))
            continue
        found.append(Seed(fixture.id, fixture.data, True, fixture.proto))
        parsed = parse_textproto(BytesSource(fixture.data), fixture.proto or "ModelProto")
        if not isinstance(parsed, Fault):
            found.append(Seed(f"{fixture.id} as bytes", parsed.SerializeToString(), False, fixture.proto))
    for path in sorted(MODELS.glob("*.onnx")):
        found.append(Seed(path.name, path.read_bytes(), is_text=False))
    return tuple(found)
