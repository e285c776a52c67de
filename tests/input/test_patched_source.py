# SPDX-License-Identifier: Apache-2.0
"""A source with some bytes replaced reads like the resulting bytes."""

from __future__ import annotations

import random

from onnx_lint.input.patched_source import PatchedSource, Stretch, unpatched
from onnx_lint.input.source import BytesSource


def _patched(data: bytes, patches: list[tuple[int, int, list[Stretch]]]) -> bytes:
    """Return what the patches make of the data, worked out the plain way."""
    made, position = b"", 0
    for start, end, pieces in patches:
        made += data[position:start]
        made += b"".join(piece if isinstance(piece, bytes) else data[slice(*piece)] for piece in pieces)
        position = end
    return made + data[position:]


def test_patches_of_patches_read_as_their_bytes():
    choose = random.Random(30)
    for _ in range(300):
        data = choose.randbytes(choose.randrange(40))
        source = unpatched(BytesSource(data))
        for _ in range(3):
            cuts = sorted(choose.randrange(len(data) + 1) for _ in range(4))
            pieces: list[Stretch] = [choose.randbytes(choose.randrange(3)), tuple(sorted(choose.choices(cuts, k=2)))]  # type: ignore[list-item]
            patches = [(cuts[0], cuts[1], pieces), (cuts[2], cuts[3], pieces[::-1])]
            data, source = _patched(data, patches), source.patched(patches)
        assert source.size == len(data)
        assert source.read_at(0, len(data)) == data
        assert source.read_at(0, len(data) + 5) == data
        start, end = sorted(choose.randrange(len(data) + 1) for _ in range(2))
        assert source.window(start, end - start) == data[start:end]


def test_a_patched_source_keeps_few_bytes():
    """Bytes of the base that follow each other are one piece again."""
    source = unpatched(BytesSource(bytes(100))).patched([(10, 10, [b"new"])])
    assert source.pieces == [(0, 10), b"new", (10, 100)]
    assert source.patched([(10, 13, [])]).pieces == [(0, 100)]
    assert PatchedSource(BytesSource(b""), []).read_at(0, 10) == b""
