# SPDX-License-Identifier: Apache-2.0
"""The pieces of a large message are all of its bytes, in their order."""

from __future__ import annotations

import itertools

from support.wire.wire_bytes import length

from onnx_lint.loader.binary.runs import RUN
from onnx_lint.loader.limits.large_messages import MAX_PIECE_BYTES, LargeField, pieces_of, run_count
from onnx_lint.schema import wire


def _bounds(content: bytes) -> list[tuple[int, int]]:
    return [(piece.start, piece.end) for piece in pieces_of("GraphProto", content)]


def test_a_large_field_is_a_piece_of_its_own():
    small, large = length(1, b"node"), length(5, bytes(MAX_PIECE_BYTES + 1))
    cuts = [0, len(small), len(small + large), len(small + large + small)]
    assert _bounds(small + large + small) == [*itertools.pairwise(cuts)]


def test_the_rest_behind_a_fault_is_one_piece():
    small = length(1, b"node")
    assert _bounds(small + b"\xff") == [(0, len(small) + 1)]


def test_the_fields_of_a_run_are_counted():
    content = b"\x08\x01\x08\x80\x01" * 20_000
    pieces = list(pieces_of("TensorProto", content))
    assert b"".join(content[piece.start : piece.end] for piece in pieces) == content
    field = wire.fields("TensorProto")[1]
    for piece in pieces:
        if isinstance(piece, LargeField) and piece.wire_type == RUN:
            assert run_count(field, content, piece.start, piece.end) == content.count(b"\x08", piece.start, piece.end)
