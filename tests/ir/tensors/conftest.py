# SPDX-License-Identifier: Apache-2.0
"""Fixtures that have tensors stored and read in other ways."""

from __future__ import annotations

import pytest

from onnx_lint.ir.tensors import contents, strings, wire_values
from onnx_lint.loader.binary import strip_payloads


@pytest.fixture
def values_stay_in_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    monkeypatch.setattr(strip_payloads, "PAYLOAD_BYTES", 1)
    monkeypatch.setattr(strip_payloads, "INTEGER_BYTES", 1)


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces so small that each fixture has many."""
    monkeypatch.setattr(wire_values, "PIECE_BYTES", 24)
    monkeypatch.setattr(wire_values, "VARINT_PIECE_BYTES", 13)
    monkeypatch.setattr(contents, "_RAW_PIECE_BYTES", 48)
    monkeypatch.setattr(strings, "PIECE_BYTES", 7)
