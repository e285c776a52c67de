# SPDX-License-Identifier: Apache-2.0
"""The values of tensors: the same verdict wherever they are stored, and never more in memory than a piece."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.models.tensor_samples import (
    TENSOR_FIXTURES,
    TENSOR_SETTINGS,
    WatchedSource,
    serialized_fixture,
    tensor_model,
    unpacked,
)
from support.project.fixture_files import Fixture, lint
from support.project.sampled import one_in

from onnx_lint.input.source import BytesSource
from onnx_lint.ir.tensors import wire_values
from onnx_lint.loader import load
from onnx_lint.loader.binary import strip_payloads
from onnx_lint.spec.standard import DEFAULT_STANDARD

# --- the table


# --- the same verdict wherever the values are


def _verdict(fixture: Fixture, data: bytes) -> list[tuple[str, ...]]:
    diagnostics = lint(load(BytesSource(data), "model.onnx", fixture.standard), fixture.settings)
    return sorted((each.severity.label, each.rule, each.clause, each.place, each.message) for each in diagnostics)


@one_in(9, slow=3, heavy=1)
def test_values_left_in_the_source_give_the_same_findings(step: int, request: pytest.FixtureRequest):
    def verdicts() -> Iterator[dict[str, list[tuple[str, ...]]]]:
        for change in (bytes, unpacked):
            yield {each.id: _verdict(each, change(serialized_fixture(each))) for each in TENSOR_FIXTURES[::step]}

    expected, of_unpacked = verdicts()
    assert of_unpacked == expected
    for setting in ("values_stay_in_the_source", "small_pieces"):
        request.getfixturevalue(setting)
        assert list(verdicts()) == [expected, expected]


@pytest.mark.usefixtures("values_stay_in_the_source")
def test_the_loader_leaves_values_in_the_source_in_these_tests():
    fixture = next(each for each in TENSOR_FIXTURES if each.path.stem == "the_least_and_the_greatest_of_each_type")
    model = load(BytesSource(serialized_fixture(fixture)), "model.onnx", fixture.standard)
    assert {payload.field for each in model.payloads.values() for payload in each} == {"int32_data", "uint64_data"}


# --- large tensors


def _messages(data: bytes) -> list[str]:
    return [each.message for each in lint(load(BytesSource(data)), TENSOR_SETTINGS)]


W = "of tensor 'w' of main graph"


def _large_cases() -> Iterator[tuple[str, bytes, list[str]]]:
    count = 50_001
    bools = bytearray(count)
    bools[40_000], bools[45_000] = 2, 3
    yield (
        "bools",
        tensor_model(9, [count], raw_data=bytes(bools)),
        [f"byte 40000 of raw_data {W} is 2, which is not a bool (1 more like it)"],
    )
    bytes_ = [index & 0xFF for index in range(count)]
    bytes_[33_333], bytes_[50_000] = -1, 256
    yield (
        "uint8 in int32_data",
        tensor_model(2, [count], int32_data=bytes_),
        [f"entry 33333 of int32_data {W} is -1, which does not fit uint8 (1 more like it)"],
    )
    words = [0xFFFF_FFFF] * count
    words[7] = 1 << 63
    yield (
        "uint32 in uint64_data",
        tensor_model(12, [count], uint64_data=words),
        [f"entry 7 of uint64_data {W} is 9223372036854775808, which does not fit uint32"],
    )
    yield (
        "surplus of varints of ten bytes",
        tensor_model(7, [count], int64_data=[-1] * (count + 1)),
        [f"int64_data {W} has 50,002 entries, but int64[50001] needs 50,001"],
    )
    yield (
        "double_data",
        tensor_model(15, [count], double_data=[1.0] * (2 * count - 1)),
        [f"double_data {W} has 100,001 entries, but complex128[50001] needs 100,002"],
    )
    yield (
        "padding",
        tensor_model(22, [count], int32_data=[0x21] * (count // 2) + [0x31]),
        ["the last entry of int32_data of tensor 'w' of main graph has bits 0x30 set after the last int4"],
    )
    yield (
        "padding in raw_data",
        tensor_model(27, [count], raw_data=b"\1" * (6 * count // 8) + b"\xc1"),
        ["the last byte of raw_data of tensor 'w' of main graph has bits 0xc0 set after the last float6e2m3"],
    )
    texts = [b"label %d" % index for index in range(count)]
    texts[30_000], texts[30_001], texts[9] = b"caf\xe9", b"\xef\xbb\xbfx", b"x\0"
    yield (
        "strings",
        tensor_model(8, [count], string_data=texts),
        [
            "string 9 of tensor 'w' of main graph ends in NUL",
            "string 30001 of tensor 'w' of main graph begins with a byte order mark",
            "string 30000 of tensor 'w' of main graph is not UTF-8 at byte 3",
        ],
    )


@pytest.mark.parametrize("way", ["in the message", "packed", "unpacked"])
@pytest.mark.parametrize(("data", "expected"), [pytest.param(*case[1:], id=case[0]) for case in _large_cases()])
def test_faults_deep_in_large_tensors(data: bytes, expected: list[str], way: str, monkeypatch: pytest.MonkeyPatch):
    if way != "in the message":
        monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    found = _messages(unpacked(data) if way == "unpacked" else data)
    assert sorted(found) == sorted(expected)


# --- strings


# --- numbers


# --- runs in bulk


# --- what is read


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(lambda: tensor_model(9, [9 << 20], raw_data=bytes(9 << 20)), id="bool"),
        pytest.param(lambda: tensor_model(2, [9 << 20], int32_data=bytes(9 << 20)), id="uint8"),
        pytest.param(lambda: tensor_model(8, [1], string_data=[b"a" * (9 << 20)]), id="one long string"),
        pytest.param(lambda: tensor_model(8, [90_000], string_data=[b"a" * 100] * 90_000), id="strings"),
    ],
)
def test_contents_are_read_in_bounded_pieces(make: Callable[[], bytes]):
    model = load(WatchedSource(make()))
    WatchedSource.longest = 0
    assert lint(model, TENSOR_SETTINGS) == ()
    assert 0 < WatchedSource.longest <= wire_values.PIECE_BYTES


def test_small_models_with_sound_dense_tensors_do_without_numpy(tmp_path: Path):
    paths = []
    newest = [each for each in TENSOR_FIXTURES if each.is_valid and each.standard == DEFAULT_STANDARD]
    for fixture in (each for each in newest if "sparse" not in each.text):
        path = tmp_path / f"{fixture.rule}-{fixture.path.stem}.onnx"
        path.write_bytes(serialized_fixture(fixture))
        paths.append(str(path))
    program = (
        "import sys\nfrom onnx_lint import lint\n"
        "for path in sys.stdin.read().split():\n    lint(path)\n"
        "assert 'numpy' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], input="\n".join(paths), text=True, capture_output=True)
    assert (done.returncode, done.stderr) == (0, "")


# --- external data is not judged here
