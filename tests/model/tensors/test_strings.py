# SPDX-License-Identifier: Apache-2.0
"""Strings of tensors, judged in one pass over a run of records."""

from __future__ import annotations

import random

import pytest
from fixture_files import lint
from tensor_samples import TENSOR_SETTINGS, tensor_model

from onnx_lint.loader import load, strip_payloads
from onnx_lint.model import Payload
from onnx_lint.model.tensors import strings
from onnx_lint.model.tensors.strings import StringScan
from onnx_lint.schema import wire
from onnx_lint.source import BytesSource


def _judged(strings_: list[bytes]) -> tuple[int, list[tuple[int, int, int]]]:
    """What a plain loop says: how many strings, and count, index and byte for each kind of fault."""
    kinds: list[list[tuple[int, int]]] = [[], [], [], []]
    for index, string in enumerate(strings_):
        try:
            string.decode()
        except UnicodeDecodeError as error:
            kinds[0].append((index, error.start))
        if string.startswith(b"\xef\xbb\xbf"):
            kinds[1].append((index, 0))
        if string.endswith(b"\0"):
            kinds[2].append((index, len(string) - 1))
        if not string:
            kinds[3].append((index, 0))
    return len(strings_), [(len(kind), *(kind[0] if kind else (0, 0))) for kind in kinds]


def _scanned(scan: StringScan) -> tuple[int, list[tuple[int, int, int]]]:
    kinds = (scan.invalid, scan.marked, scan.terminated, scan.empty)
    return scan.count, [(kind.count, kind.index, kind.byte) for kind in kinds]


FRAGMENTS = [
    b"",
    b"a",
    b"2",
    b"\0",
    b"\x32\x01",
    "é".encode(),
    "€".encode(),
    b"\xef\xbb\xbf",
    b"\xe9",
    b"\xf0\x9f",
    b"x" * 130,
]


@pytest.mark.parametrize("piece", [5, 16, 300, 1 << 22])
@pytest.mark.parametrize("seed", range(25))
def test_runs_of_strings_are_judged_as_a_plain_loop_judges(seed: int, piece: int, monkeypatch: pytest.MonkeyPatch):
    generator = random.Random(seed)
    fragments = FRAGMENTS if seed % 2 else FRAGMENTS[:7]
    strings_ = [b"".join(generator.choices(fragments, k=generator.randrange(4))) for _ in range(200)]
    run = b"".join(b"\x32" + wire.encode_varint(len(string)) + string for string in strings_)
    monkeypatch.setattr(strings, "PIECE_BYTES", piece)
    scan = StringScan()
    scan.run(BytesSource(b"front" + run + b"behind"), Payload("string_data", 5, len(run), False))
    assert _scanned(scan) == _judged(strings_)
    in_memory = StringScan()
    in_memory.strings(strings_)
    assert _scanned(in_memory) == _judged(strings_)


def test_a_finding_in_a_run_knows_the_bytes_of_its_record(monkeypatch: pytest.MonkeyPatch):
    data = tensor_model(8, [3], string_data=[b"a", b"b" * 200 + b"\xff", b"c"])
    (in_message,) = lint(load(BytesSource(data)), TENSOR_SETTINGS)
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    monkeypatch.setattr(strip_payloads, "PAYLOAD_BYTES", 1)
    (in_source,) = lint(load(BytesSource(data)), TENSOR_SETTINGS)
    assert in_source == in_message
    start, end = in_source.byte_range or (0, 0)
    assert data[start:end] == b"\x32\xc9\x01" + b"b" * 200 + b"\xff"
