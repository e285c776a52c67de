# SPDX-License-Identifier: Apache-2.0
"""No file takes up much more memory than it has bytes, and where there is not enough the program says so."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from support.hostile.dense_files import DENSE
from support.hostile.dense_models import DENSE_MODELS
from support.hostile.dense_rows import DENSE_ROWS
from support.hostile.mixed_files import mixture
from support.processes.peak_memory import run
from support.wire import reencode
from support.wire.wire_bytes import BASE, length

from onnx_lint import lint
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.input.source import BytesSource
from onnx_lint.loader.binary.strip_payloads import Skeleton, read_skeleton, whole
from onnx_lint.loader.limits import elements
from onnx_lint.loader.limits.elements import count_elements
from onnx_lint.loader.limits.limit_faults import FREE_BYTES, TooManyElementsError
from onnx_lint.reporters import REPORTERS

MEGABYTE = 1 << 20
FIXED_BYTES = 64 * MEGABYTE
FACTOR = 12
"""So many bytes may be taken up at the peak, and for each byte of the file that is no payload of a tensor."""


def largest(make: Callable[[int], bytes], steps: int = 20) -> bytes:
    """The largest of these files that is judged, of four megabytes at most, to one part in so many."""
    least, most = 1000, MEGABYTE // 8
    while is_counted(make(most)):
        if most >= 4 * MEGABYTE:
            return make(most)
        least, most = most, 2 * most
    while most - least > least // steps:
        middle = (least + most) // 2
        least, most = (middle, most) if is_counted(make(middle)) else (least, middle)
    return make(least)


def is_counted(data: bytes) -> bool:
    skeleton = read_skeleton(BytesSource(data), sys.maxsize, sys.maxsize, whole_bytes=0)
    try:
        count_elements(skeleton, "ModelProto", DEFAULT_LIMITS.element_bytes, shares_forms=True)
    except TooManyElementsError:
        return False
    return True


FILES = {**DENSE, **DENSE_ROWS}

QUICK = (
    "empty attributes",
    "empty nodes",
    "empty tensors of an attribute",
    "numbers of an attribute",
    "packed numbers of an attribute",
    "numbers of an attribute behind its type",
    "empty value infos",
    "dimensions of a shape",
    "external tensors",
    "three undefined names for each node",
    "attributes of their own",
    "nodes with metadata of their own",
)
"""The lists of which not only the long run holds the memory."""


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.heavy) for name in FILES]
)
def test_memory_is_bounded_by_the_file(name: str, tmp_path: Path):
    data = largest(FILES[name])
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    done = run(path)
    assert (done.code in {0, 1}, done.errors) == (True, "")
    assert done.peak_bytes <= FIXED_BYTES + FACTOR * len(data)


MANY_FINDINGS = (
    "external tensors with keys of their own",
    "three undefined names for each node",
    "names of attributes of their own",
    "faulty Constants of their own",
    "overloads of their own",
)
QUICK_FORMS = (("names of attributes of their own", "sarif"), ("three undefined names for each node", "html"))


@pytest.mark.parametrize(
    ("name", "form"),
    [
        pytest.param(name, form, marks=[] if (name, form) in QUICK_FORMS else pytest.mark.heavy)
        for name in MANY_FINDINGS
        for form in REPORTERS
    ],
)
def test_memory_is_bounded_in_every_form_of_report(name: str, form: str, tmp_path: Path):
    data = largest(FILES[name])
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    done = run(path, "--sarif-root", str(tmp_path), form=form)
    assert (done.code, done.errors) == (1, "")
    assert done.peak_bytes <= FIXED_BYTES + FACTOR * len(data)


MIXTURES = (1, 4, 9, 17, 23, 24, 33, 38, 42, 60, 84, 126)
"""The seeds among the first hundred and forty of which the files come nearest to the bound."""


@pytest.mark.heavy
@pytest.mark.parametrize("form", ["text", "json", "sarif", "html"])
@pytest.mark.parametrize("seed", MIXTURES)
def test_memory_is_bounded_where_many_lists_are_long(seed: int, form: str, tmp_path: Path):
    data = largest(mixture(seed), steps=100)
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    done = run(path, "--sarif-root", str(tmp_path), form=form)
    assert (done.code, done.errors) == (1, "")
    assert done.peak_bytes <= FIXED_BYTES + FACTOR * len(data)


@pytest.mark.parametrize("name", ["empty attributes", "empty tensors of an attribute", "empty inputs"])
def test_more_elements_than_are_judged_exceed_a_limit(name: str):
    [found] = lint(DENSE[name](MEGABYTE)).diagnostics
    assert found.rule == "exceeded-limit"
    assert "element_bytes" in found.message


@pytest.mark.heavy
@pytest.mark.parametrize("name", FILES)
def test_the_memory_of_large_files_is_bounded(name: str, tmp_path: Path):
    path = tmp_path / "model.onnx"
    path.write_bytes(FILES[name](20 * MEGABYTE))
    done = run(path)
    assert (done.code in {0, 1}, done.errors) == (True, "")
    assert done.peak_bytes <= FIXED_BYTES + FACTOR * path.stat().st_size


@pytest.mark.parametrize("name", DENSE_MODELS)
def test_models_of_many_small_parts_are_judged(name: str, tmp_path: Path):
    path = tmp_path / "model.onnx"
    path.write_bytes(DENSE_MODELS[name]())
    done = run(path)
    assert (done.code in {0, 1}, done.errors) == (True, "")
    assert "exceeded-limit" not in {found["rule"] for found in done.report["files"][0]["diagnostics"]}
    assert done.peak_bytes <= FIXED_BYTES + FACTOR * path.stat().st_size


def chain(nodes: int) -> bytes:
    """A model that conforms but for what it lacks in documentation: each node takes the value of the one before it."""
    rows = b"".join(
        length(1, length(1, f"value_{i}") + length(2, f"value_{i + 1}") + length(3, f"node_{i}") + length(4, "Relu"))
        for i in range(nodes)
    )
    return BASE + length(7, rows + length(2, "g"))


@pytest.mark.parametrize("megabytes", [32, 40, 48, 56, 64, 72])
def test_a_lack_of_memory_is_said_in_a_sentence(megabytes: int, tmp_path: Path):
    path = tmp_path / "model.onnx"
    path.write_bytes(chain(60_000) + length(6, "x" * 8 * MEGABYTE))
    done = run(path, limit=megabytes * MEGABYTE)
    assert (done.code, done.errors) == (3, f"Error: {path}: there is not enough memory to judge the file\n")


@pytest.mark.parametrize("change", [reencode.packed, reencode.unpacked], ids=["packed", "unpacked"])
def test_elements_are_counted_however_they_are_written(change: Callable[[reencode.Fields], reencode.Fields]):
    """Each way to count gives the same as all others: small pieces, large ones, and one field after the other."""
    plain = reencode.read(DENSE["numbers of an attribute"](300_000) + length(7, length(5, length(1, b"") * 1000)))
    data = reencode.write(change(plain))
    assert len(data) > FREE_BYTES
    skeleton = whole(BytesSource(data))
    counted = fewest_bytes(skeleton)
    bad = data + length(2, b"\xff")  # which is counted field by field
    assert abs(fewest_bytes(whole(BytesSource(bad))) - counted) < 1000


def fewest_bytes(skeleton: Skeleton) -> int:
    """The least limit that the message keeps."""
    least, most = 0, 1 << 40
    while most - least > 1:
        middle = (least + most) // 2
        try:
            count_elements(skeleton, "ModelProto", middle)
            most = middle
        except TooManyElementsError:
            least = middle
    return most


RELU = length(4, "Relu")
OPERANDS = length(1, "x") + length(2, "y")
FURTHER_NODES = {
    "without a name": OPERANDS + RELU,
    "with a name": OPERANDS + length(3, "n") + RELU,
    "with an empty name": OPERANDS + length(3, "") + RELU,
    "with a name that is given twice": OPERANDS + length(3, "n") + length(3, "n") + RELU,
    "with a long name": OPERANDS + length(3, "n" * 300) + RELU,
    "with a long input, in which another node seems to begin": length(1, b"\x0a\x01y" * 50) + length(2, "y") + RELU,
    "with more inputs": length(1, "x") * 5 + length(2, "y") + RELU,
    "with an input that is left out": length(1, "") + length(2, "y") + RELU,
    "with documentation": OPERANDS + length(3, "n") + RELU + length(6, "doc"),
    "with an input at the end": OPERANDS + RELU + length(1, "x"),
    "with an unknown field": OPERANDS + RELU + length(100, "x"),
    "of another operator": OPERANDS + length(4, "Neg"),
    "with nothing": b"",
    "with operands alone": OPERANDS,
}


@pytest.mark.parametrize("further", FURTHER_NODES.values(), ids=FURTHER_NODES)
def test_a_node_of_a_counted_form_counts_as_when_it_is_taken_apart(further: bytes, monkeypatch: pytest.MonkeyPatch):
    data = length(7, length(1, OPERANDS + RELU) + length(1, further) * 100)
    counted = memory_and_elements(data)

    def taken_apart(count: elements._Count, values: Iterable[bytes]) -> list[bytes]:
        found: list[bytes] = []
        for value in values:
            count.distinct_node(value, found)
        return found

    monkeypatch.setattr(elements._Count, "distinct_nodes", taken_apart)
    assert counted == memory_and_elements(data)


def memory_and_elements(data: bytes) -> tuple[int, int]:
    """How many bytes of memory the elements of a model take up, and how many they are."""
    count = elements._Count(1 << 40, shares_forms=True)
    count.add(data, "ModelProto")
    return count.budget.bytes, count.budget.elements
