# SPDX-License-Identifier: Apache-2.0
"""A large file, parsed in pieces and in one."""

from __future__ import annotations

import pytest

from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.loader.binary import strip_payloads
from onnx_lint.model import Model


def in_one(data: bytes, kind: str) -> Model:
    return load(BytesSource(data), "file.pb", proto=kind)


def in_pieces(data: bytes, kind: str, monkeypatch: pytest.MonkeyPatch, piece_bytes: int = 1) -> Model:
    with monkeypatch.context() as patch:
        patch.setattr(strip_payloads, "WHOLE_BYTES", 0)
        patch.setattr(strip_payloads, "PIECE_BYTES", piece_bytes)
        patch.setattr(strip_payloads, "LONG_RUN", 1)
        return load(BytesSource(data), "file.pb", proto=kind)


def assert_same(data: bytes, monkeypatch: pytest.MonkeyPatch, kind: str = "ModelProto", piece_bytes: int = 1) -> None:
    one, pieces = in_one(data, kind), in_pieces(data, kind, monkeypatch, piece_bytes)
    assert (pieces.loaded, pieces.faults) == (one.loaded, one.faults)
    assert pieces.document == one.document
