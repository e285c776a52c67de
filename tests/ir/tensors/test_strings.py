# SPDX-License-Identifier: Apache-2.0
"""Strings of tensors, judged in one pass over a run of records."""

from __future__ import annotations

import itertools
import random

import pytest
from support.models.tensor_samples import TENSOR_SETTINGS, tensor_model
from support.project.each_case import each_case
from support.project.fixture_files import lint
from support.wire.wire_bytes import length, number

from onnx_lint.input.source import BytesSource
from onnx_lint.ir.tensors import strings
from onnx_lint.ir.tensors.strings import StringScan, whole_records
from onnx_lint.loader import load
from onnx_lint.loader.binary import strip_payloads
from onnx_lint.model import Payload
from onnx_lint.schema import wire


def _judged(strings_: list[bytes]) -> tuple[int, list[tuple[int, list[tuple[int, int]]]]]:
    """Return what a plain loop says: how many strings, and for each kind of fault how many, with index and byte."""
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
    return len(strings_), [(len(kind), kind) for kind in kinds]


def _scanned(scan: StringScan) -> tuple[int, list[tuple[int, list[tuple[int, int]]]]]:
    kinds = (scan.invalid, scan.marked, scan.terminated, scan.empty)
    return scan.count, [(kind.count, [(each.index, each.byte) for each in kind.listed]) for kind in kinds]


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


@each_case("piece", [1, 5, 16, 300, 1 << 22])
@each_case("seed", range(25))
def test_runs_of_strings_are_judged_as_a_plain_loop_judges(seed: int, piece: int, monkeypatch: pytest.MonkeyPatch):
    generator = random.Random(seed)
    fragments = FRAGMENTS if seed % 2 else FRAGMENTS[:7]
    strings_ = [b"".join(generator.choices(fragments, k=generator.randrange(4))) for _ in range(200)]
    run = b"".join(b"\x32" + wire.encode_varint(len(string)) + string for string in strings_)
    monkeypatch.setattr(strings, "PIECE_BYTES", piece)
    scan = StringScan()
    scan.scan_run(BytesSource(b"front" + run + b"behind"), Payload("string_data", 5, len(run), False))
    assert _scanned(scan) == _judged(strings_)
    in_memory = StringScan()
    in_memory.scan_strings(strings_)
    assert _scanned(in_memory) == _judged(strings_)


def test_a_finding_in_a_run_knows_the_bytes_of_its_record(monkeypatch: pytest.MonkeyPatch):
    data = tensor_model(8, [3], string_data=[b"a", b"b" * 200 + b"\xff", b"c"])
    (in_message,) = lint(load(BytesSource(data)), TENSOR_SETTINGS)
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    monkeypatch.setattr(strip_payloads, "PAYLOAD_BYTES", 1)
    monkeypatch.setattr(strip_payloads, "INTEGER_BYTES", 1)
    (in_source,) = lint(load(BytesSource(data)), TENSOR_SETTINGS)
    assert in_source == in_message
    start, end = in_source.byte_range or (0, 0)
    assert data[start:end] == b"\x32\xc9\x01" + b"b" * 200 + b"\xff"


STRING_DATA, STRINGS = 6, 9


@each_case("seed", range(40))
@each_case("field", [STRING_DATA, STRINGS])
def test_whole_records_are_counted_up_to_another_record_or_the_end(seed: int, field: int):
    chance = random.Random(seed)
    tag = field << 3 | 2
    # Strings that look like tags and lengths, so that cuts fall into them.
    letters = bytes([tag, tag, 0, 3, 0x41, 0xC3])
    sizes = range(300 if seed % 4 == 0 else 12)
    records = [length(field, bytes(chance.choices(letters, k=chance.choice(sizes)))) for _ in range(80)]
    behind = (b"", number(2, 7), length(1, b"x"), b"\xff" * 9, records[0][:-1])[seed % 5]
    ends = list(itertools.accumulate(map(len, records)))
    window = b"".join(records) + behind
    assert whole_records(window, 0, tag) == (80, ends[-1])
    assert whole_records(window, ends[9], tag) == (70, ends[-1])
    cut = chance.randrange(len(window))
    whole = sum(end <= cut for end in ends)
    assert whole_records(window[:cut], 0, tag) == (whole, ends[whole - 1] if whole else 0)
