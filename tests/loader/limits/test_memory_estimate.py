# SPDX-License-Identifier: Apache-2.0
"""The estimate of memory bounds the need of hostile files, and is realistic for honest models."""

from __future__ import annotations

import functools
import math
import sys
from pathlib import Path

import onnx
import pytest
from google.protobuf import json_format, text_format
from support.hostile.dense_files import DENSE
from support.hostile.dense_models import DENSE_MODELS
from support.hostile.dense_rows import DENSE_ROWS
from support.processes.peak_memory import run
from support.project.fixture_files import fixtures
from support.wire import reencode
from support.wire.wire_bytes import BASE, length, number

from onnx_lint.input.source import BytesSource
from onnx_lint.loader.binary import strip_payloads
from onnx_lint.loader.binary.strip_payloads import read_skeleton, whole
from onnx_lint.loader.limits.memory_estimate import SINGLE_FIELDS, needed_memory, needed_memory_of_text
from onnx_lint.loader.limits.not_checked import MOST_OF_BYTE

MEGABYTE = 1 << 20
FIXED_BYTES = 64 * MEGABYTE
"""The program itself, and what a file of any size needs."""
FACTOR = 2

DENSE_FILES = {**DENSE, **DENSE_ROWS}
QUICK = ("three undefined names for each node",)
"""The lists whose memory the default run measures; the heavy tests measure all."""


def estimated(data: bytes) -> int:
    """The least limit that lets the file through."""
    skeleton = read_skeleton(BytesSource(data), sys.maxsize, sys.maxsize)
    least, most = 1, MOST_OF_BYTE * len(data)
    while most - least > max(least // 20, 1):
        middle = math.isqrt(least * most)
        least, most = (middle, most) if needed_memory(skeleton, "ModelProto", middle) else (least, middle)
    return most


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.heavy) for name in DENSE_FILES]
)
def test_a_dense_file_needs_at_most_twice_the_estimate(name: str, tmp_path: Path):
    data = DENSE_FILES[name](MEGABYTE // 4 if name in DENSE else MEGABYTE // 2)
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    needed = estimated(data)
    done = run(path, "--limit", f"memory={needed}")
    assert (done.code in {0, 1}, done.errors) == (True, "")
    assert done.peak_bytes <= FIXED_BYTES + FACTOR * needed


HONEST = ("functions",)
"""The models whose memory the default run measures; the heavy tests measure all."""


@pytest.mark.parametrize(
    "name", [name if name in HONEST else pytest.param(name, marks=pytest.mark.heavy) for name in DENSE_MODELS]
)
def test_an_honest_model_is_estimated_at_no_more_than_four_times_its_need(name: str, tmp_path: Path):
    data = DENSE_MODELS[name]()
    path = tmp_path / "model.onnx"
    path.write_bytes(data)
    empty = tmp_path / "empty.onnx"
    empty.write_bytes(BASE + length(7, b""))
    needed = estimated(data)
    assert needed <= 4 * (run(path).peak_bytes - run(empty).peak_bytes) + 8 * MEGABYTE


@pytest.mark.parametrize(
    ("values", "each"),
    [
        (length(8, b"\1" * MEGABYTE), 8),
        (number(8, 1) * (MEGABYTE // 2), 3),
        (length(7, bytes(MEGABYTE)), 3),
        (length(9, b"abcdef") * (MEGABYTE // 8), 3),
    ],
    ids=["packed integers", "integers", "packed floats", "strings"],
)
def test_long_lists_of_attributes_count_by_their_bytes(values: bytes, each: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    attribute = length(1, "a") + values
    data = BASE + length(7, length(1, length(4, "Op") + length(5, attribute)))
    skeleton = read_skeleton(BytesSource(data), sys.maxsize, sys.maxsize)
    needed = needed_memory(skeleton, "ModelProto", 1)
    assert needed is not None
    assert each * MEGABYTE <= needed < each * MEGABYTE + 20_000


@pytest.mark.parametrize("change", [reencode.packed, reencode.unpacked], ids=["packed", "unpacked"])
def test_elements_count_however_they_are_written(change):
    """Each way to count gives the same as all others: small pieces, large ones, and one field after the other."""
    plain = reencode.read(DENSE["numbers of an attribute"](100_000) + length(7, length(5, length(1, b"") * 1000)))
    data = reencode.write(change(plain))
    counted = needed_memory(whole(BytesSource(data)), "ModelProto", 1)
    bad = data + length(2, b"\xff")  # which is counted field by field
    assert counted is not None
    assert abs((needed_memory(whole(BytesSource(bad)), "ModelProto", 1) or 0) - counted) < 1000


def test_no_byte_counts_for_more_than_the_cheap_bound():
    graphs = length(7, length(1, length(5, length(11, b"") * 1000)))
    needed = needed_memory(whole(BytesSource(graphs)), "ModelProto", 1)
    assert needed is not None
    assert needed <= MOST_OF_BYTE * len(graphs)


def test_nodes_that_differ_in_names_alone_are_read_once():
    def nodes(count: int, more: bytes = b"") -> bytes:
        rest = length(4, "Conv") + b"".join(length(5, length(1, f"a{index}") + more) for index in range(20))
        return length(7, b"".join(length(1, length(2, f"v{index}") + rest) for index in range(count)))

    def each(more: bytes) -> float:
        few, many = (needed_memory(whole(BytesSource(nodes(count, more))), "ModelProto", 1) for count in (100, 1100))
        assert few is not None
        assert many is not None
        return (many - few) / 1000

    assert each(b"") < 2_000
    assert each(length(6, b"")) > 20 * 5_000  # but for the graphs in them


@functools.cache
def _of_each_kind() -> dict[str, onnx.GraphProto]:
    """Graphs of a thousand things of one kind each."""
    values = [onnx.helper.make_tensor_value_info(f"v{index}", 1, [1, "N"]) for index in range(1_001)]
    relus = [onnx.helper.make_node("Relu", [f"v{index}"], [f"v{index + 1}"]) for index in range(1_000)]
    pads = [
        onnx.helper.make_node("Pad", [f"v{index}"], ["y"], pads=[0, 1, 0, 1], mode="edge") for index in range(1_000)
    ]
    numbers = onnx.helper.make_tensor("w", 1, [20_000], [0.5] * 20_000)
    whole_numbers = onnx.helper.make_tensor("w", 7, [20_000], list(range(20_000)))
    small = [
        onnx.numpy_helper.from_array(onnx.numpy_helper.to_array(numbers)[:4], f"w{index}") for index in range(1_000)
    ]
    body = onnx.helper.make_graph([relus[0]], "body", [], values[1:2])
    branches = [onnx.helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=body) for _ in range(1_000)]
    return {
        "nodes with value_info": onnx.helper.make_graph(relus, "g", values[:1], values[-1:], value_info=values[1:-1]),
        "attributes": onnx.helper.make_graph(pads, "g", values[:1], []),
        "numbers": onnx.helper.make_graph([], "g", [], [], [numbers]),
        "whole numbers": onnx.helper.make_graph([], "g", [], [], [whole_numbers]),
        "initializers": onnx.helper.make_graph(relus, "g", values[:1], [], small),
        "branches": onnx.helper.make_graph(branches, "g", [], []),
        "text": onnx.helper.make_graph([], "g", [], [], doc_string='A "sentence" of words, long and shört. ' * 10_000),
    }


TEXTS = {
    "json": lambda model: json_format.MessageToJson(model, indent=2),
    "json in one line": lambda model: json_format.MessageToJson(model, indent=None),
    "text": text_format.MessageToString,
    "text in one line": lambda model: text_format.MessageToString(model, as_one_line=True),
}


@pytest.mark.parametrize(
    "form", [pytest.param(form, marks=pytest.mark.heavy) if "one line" in form else form for form in TEXTS]
)
@pytest.mark.parametrize("name", [*_of_each_kind(), "functions"])
def test_the_value_for_a_text_suffices_and_is_at_most_twice_the_need(name: str, form: str):
    """Four times the need for equal nodes in text: after the parse they are counted once."""
    graph = _of_each_kind().get(name, onnx.GraphProto())
    model = onnx.helper.make_model(graph)
    if name == "functions":
        nodes, opset = [onnx.helper.make_node("Relu", ["a"], ["b"])], onnx.helper.make_opsetid("", 21)
        model.functions.extend(
            onnx.helper.make_function("d", f"f{index}", ["a"], ["b"], nodes, [opset]) for index in range(1_000)
        )
    text = TEXTS[form](model)
    value = needed_memory_of_text(text, 1)
    assert value is not None
    assert needed_memory_of_text(text, value) is None
    assert needed_memory(whole(BytesSource(model.SerializeToString())), "ModelProto", value) is None
    half = value // (4 if name == "attributes" and form.startswith("text") else 2)
    is_refused = needed_memory_of_text(text, half) is not None
    assert is_refused or needed_memory(whole(BytesSource(model.SerializeToString())), "ModelProto", half) is not None


@pytest.mark.parametrize("path", [each.path for each in fixtures()[::80]], ids=lambda path: path.stem)
def test_the_value_for_a_text_suffices_for_any_model(path: Path):
    try:
        model = text_format.Parse(path.read_text(), onnx.ModelProto())
    except (ValueError, text_format.ParseError):
        pytest.skip("not a model in text form")
    needed = needed_memory(whole(BytesSource(model.SerializeToString())), "ModelProto", 1) or 0
    for text in (
        json_format.MessageToJson(model),
        json_format.MessageToJson(model, indent=None),
        json_format.MessageToJson(model, preserving_proto_field_name=True),
        text_format.MessageToString(model),
        text_format.MessageToString(model, as_one_line=True, use_short_repeated_primitives=True),
    ):
        value = needed_memory_of_text(text, 1)
        assert value is not None
        assert value >= needed


def test_a_name_of_a_field_may_be_escaped():
    text = '{"\\u0067raph": {"node": [' + ", ".join(['{"attribute": [{"g": {}}]}'] * 100) + "]}}"
    escaped = text.replace('"g"', '"\\u0067"')
    data = length(7, length(1, length(5, length(6, b""))) * 100)
    needed = needed_memory(whole(BytesSource(data)), "ModelProto", 1)
    assert needed is not None
    for each in (text, escaped):
        assert (needed_memory_of_text(each, 1) or 0) >= needed


def test_fields_that_count_as_single_are_never_repeated():
    repeated = {
        field.name
        for message in onnx.onnx_ml_pb2.DESCRIPTOR.message_types_by_name.values()
        for each in (message, *message.nested_types)
        for field in each.fields
        if field.is_repeated
    }
    assert sorted(repeated & SINGLE_FIELDS) == []
