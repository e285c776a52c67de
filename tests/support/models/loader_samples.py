# SPDX-License-Identifier: Apache-2.0
"""Files that the tests of the loader have in common."""

from __future__ import annotations

from google.protobuf.message import DecodeError

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import FaultKind, Model
from support.wire.wire_bytes import (
    BASE,
    GRAPH,
    length,
)

MODEL = BASE + length(7, GRAPH)


def loaded(data: bytes, name: str = "model.onnx") -> Model:
    return load(BytesSource(data), name)


def faults(model: Model) -> list[tuple[FaultKind, str, int | None]]:
    return [(fault.kind, str(fault.place), fault.offset) for fault in model.faults]


def protobuf_reads(data: bytes) -> bool:
    try:
        schema.message("ModelProto").FromString(data)
    except (DecodeError, UnicodeDecodeError):
        return False
    return True
