# SPDX-License-Identifier: Apache-2.0
"""Files of an independent attack that broke promises. Each now has its verdict soon, and in little memory."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.hostile.schema_lists import list_fields, one_list
from support.processes.peak_memory import run
from support.wire.wire_bytes import BASE, LEN, length, number, tag

from onnx_lint import lint
from onnx_lint.input.limits import DEFAULT_LIMITS

pytestmark = pytest.mark.slow

SECONDS = 2
"""Seconds of the processor."""
PEAK_BYTES = 200 * 1000 * 1000

HEAD = "08081201701a01312203642e65"
"""IR version and producer."""
X_AND_Y = "5a0f0a0178120a0a08080112040a020801620f0a0179120a0a08080112040a020801"
"""Input and output of a graph, each a float tensor of one dimension."""


def _made(prefix: str, element: str, count: int, rest: str = "") -> Callable[[], bytes]:
    """Bytes as they were found, in which one element is written many times."""
    return lambda: bytes.fromhex(prefix + element * count + rest)


def _tensor(values: bytes) -> bytes:
    return BASE + length(7, length(2, "g") + length(5, number(1, 3) + number(2, 6) + values + length(8, "t")))


def _duplicates(count: int) -> bytes:
    """Declarations of one value, with another shape each time."""

    def declared(size: int) -> bytes:
        shape = length(1, number(1, size))
        return length(13, length(1, "y") + length(2, length(1, number(1, 1) + length(2, shape))))

    node = length(1, length(1, "x") + length(2, "y") + length(4, "Relu"))
    return BASE + length(7, node + length(2, "g") + bytes.fromhex(X_AND_Y) + b"".join(map(declared, range(count))))


def _inputs_and_initializers(count: int) -> bytes:
    """Inputs and initializers, all of one name, that differ in their shape."""
    rows = [
        length(5, number(1, size) + number(2, 1) + length(8, "w") + length(9, bytes(4 * size)))
        + length(11, length(1, "w") + length(2, length(1, number(1, 1) + length(2, length(1, number(1, size))))))
        for size in range(1, count + 1)
    ]
    return BASE + length(7, length(2, "g") + b"".join(rows))


def _empty(name: str, count: int) -> bytes:
    return one_list(list_fields()[name], count, own=False)


FILES: dict[str, tuple[Callable[[], bytes], str, str]] = {
    "73 bytes": (_made("08083a452a43", "3801", 33, "25"), "truncated-file", ".onnx"),
    "floats": (_made("08083aca020ac7022ac4020a0161", "3d00000000", 64, "3d"), "truncated-file", ".onnx"),
    "integers": (_made("08083a480a462a440a0161", "4001", 32, "40"), "truncated-file", ".onnx"),
    "strings": (_made("08083aca010ac7012ac4010a0161", "4a0161", 64, "4a"), "truncated-file", ".onnx"),
    "an overlong length": (
        lambda: _tensor(tag(9, LEN) + bytes.fromhex("908080808000") + bytes(16)),
        "not-a-model",
        ".onnx",
    ),
    "an overlong length in a large file": (
        lambda: _tensor(tag(9, LEN) + bytes.fromhex("808080828000") + bytes(1 << 22)),
        "not-a-model",
        ".onnx",
    ),
    "a packed number of eleven bytes": (
        lambda: _tensor(length(5, b"\1" * 5_000 + b"\x80" * 10 + b"\0" + bytes(5 << 20))),
        "not-a-model",
        ".onnx",
    ),
    "empty attributes": (lambda: _empty("NodeProto.attribute", 200_000), "exceeded-limit", ".onnx"),
    "empty tensors": (lambda: _empty("AttributeProto.tensors", 45_000), "exceeded-limit", ".onnx"),
    "escaped quotes in text": (lambda: b'producer_name: "' + b'\\"' * 20_000, "malformed-text", ".textproto"),
    "escaped quotes in JSON": (lambda: b'{"producerName": "' + b'\\"' * 20_000, "malformed-text", ".json"),
    "10,000 value infos of one name": (lambda: _duplicates(10_000), "contradictory-value-info", ".onnx"),
    "400 inputs and initializers of one name": (
        lambda: _inputs_and_initializers(400),
        "duplicate-initializer",
        ".onnx",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_the_verdict_is_right(name: str, tmp_path: Path):
    make, rule, suffix = FILES[name]
    path = tmp_path / f"model{suffix}"
    path.write_bytes(make())
    report = lint(path)
    assert report.files[0].internal_errors == ()
    assert rule in {found.rule for found in report.diagnostics}


AS_FOUND = {
    "empty attributes": lambda: _empty("NodeProto.attribute", 2_000_000),
    "empty tensors": lambda: _empty("AttributeProto.tensors", 450_000),
}
"""Files of millions of messages; files of a tenth of their size are judged above. Memory is limited."""


@pytest.mark.timing
@pytest.mark.parametrize("name", FILES)
def test_the_verdict_comes_soon(name: str, tmp_path: Path):
    make, _, suffix = FILES[name]
    path = tmp_path / f"model{suffix}"
    path.write_bytes(AS_FOUND.get(name, make)())
    done = run(path)
    assert (done.code, done.errors) == (1, "")
    if name in AS_FOUND:
        assert done.peak_bytes < DEFAULT_LIMITS.memory
        return
    assert done.seconds < SECONDS
    assert done.peak_bytes < PEAK_BYTES


T3_CANON = bytes.fromhex("0803ca010a5a085a060a0422004a00ca01032a0189")
T3_TWIN = bytes.fromhex("0803ca01115a0f5a0d0a0b22009806054a04eb04ec04ca01032a0189")


def test_twins_that_differ_in_unknown_fields_have_the_same_findings():
    canonical, twin = (
        {(found.rule, found.place) for found in lint(data).diagnostics if found.rule != "unknown-field"}
        for data in (T3_CANON, T3_TWIN)
    )
    assert twin == canonical
    place = "functions[0].attribute_proto[0].graphs[0].node[0].metadata_props"
    assert ("premature-feature", place) in canonical
