# SPDX-License-Identifier: Apache-2.0
"""A file beyond a limit is not checked, and the sentence that says so names the value that suffices."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format, text_format
from onnx import FunctionProto, ModelProto, TensorProto, helper

from onnx_lint.cli.application import run
from onnx_lint.common.record import replace
from onnx_lint.input.limits import DEFAULT_LIMITS, LimitError, Limits
from onnx_lint.input.source import BytesSource, FileSource
from onnx_lint.loader import load
from onnx_lint.loader.binary import strip_payloads
from onnx_lint.loader.limits.not_checked import NotCheckedError, check_size

_TENSOR = TensorProto(name="t", data_type=TensorProto.INT64, dims=[3], int64_data=[1, 2, 3])
_VALUES = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3, 4, 5]) for name in "xy"]
_NODE = helper.make_node("Relu", ["x"], ["y"])
_MODEL = helper.make_model(helper.make_graph([_NODE], "g", _VALUES[:1], _VALUES[1:]))
_ODD = _MODEL.SerializeToString() + b"\x12\x01\xff"
"""The same with a byte that is not UTF-8, so that the walk over fields looks at it."""


def _refusal(data: bytes, proto: str | None, limits: Limits) -> str:
    with pytest.raises(NotCheckedError) as error:
        load(BytesSource(data), limits=limits, proto=proto)
    return str(error.value)


FILES = {
    "binary": _MODEL.SerializeToString(),
    "text": text_format.MessageToString(_MODEL).encode(),
    "JSON": json_format.MessageToJson(_MODEL).encode(),
}


def test_a_model_that_needs_more_memory_than_the_limit_is_not_checked():
    message = _refusal(FILES["binary"], None, replace(DEFAULT_LIMITS, memory=100))
    found = re.fullmatch(
        r"the model needs about [\d.]+ KiB of memory, more than the limit memory of 100 "
        r"\(--limit (memory=\d+KiB) suffices\)",
        message,
    )
    assert found is not None, message
    name, _, value = found[1].partition("=")
    assert load(BytesSource(FILES["binary"]), limits=DEFAULT_LIMITS.with_values({name: value})).loaded


@pytest.mark.parametrize("form", ["text", "JSON"])
def test_the_memory_of_a_text_is_only_bounded_before_it_is_parsed(form: str):
    message = _refusal(FILES[form], None, replace(DEFAULT_LIMITS, memory=100))
    assert re.fullmatch(
        r"the model needs at least [\d.]+ KiB of memory, more than the limit memory of 100 \(option --limit memory\)",
        message,
    )


@pytest.mark.parametrize(
    ("data", "proto", "limit", "message"),
    [
        (
            _TENSOR.SerializeToString(),
            "TensorProto",
            "file_bytes",
            "the file has 12 bytes, more than the limit file_bytes of 1 (--limit file_bytes=12 suffices)",
        ),
        (
            b'name: "s" values { name: "v" }',
            "SparseTensorProto",
            "text_bytes",
            "the file has 30 bytes of text, more than the limit text_bytes of 1 (--limit text_bytes=30 suffices)",
        ),
        (
            _ODD,
            None,
            "fields",
            "the file has too many fields to read one by one, more than the limit fields of 1 (option --limit fields)",
        ),
    ],
)
def test_the_sentence_names_the_value_that_would_do(data: bytes, proto: str | None, limit: str, message: str):
    assert _refusal(data, proto, replace(DEFAULT_LIMITS, **{limit: 1})) == message


def _functions() -> ModelProto:
    return ModelProto(ir_version=10, functions=[FunctionProto() for _ in range(50)])


def _lists() -> ModelProto:
    model = ModelProto(ir_version=10)
    model.graph.node.add(op_type="A").attribute.add(name="floats", type=6, floats=[0.0] * 3000)
    model.graph.initializer.add(name="w", data_type=11, dims=[3000], double_data=[0.0] * 3000)
    return model


REFUSED = {
    "memory": ("memory", FILES["binary"]),
    "memory, functions": ("memory", _functions().SerializeToString()),
    "memory, lists": ("memory", _lists().SerializeToString()),
    **{f"file_bytes, {form}": ("file_bytes", data) for form, data in FILES.items()},
    **{f"text_bytes, {form}": ("text_bytes", FILES[form]) for form in ("text", "JSON")},
}
"""A file, and the limit beyond which it is."""


def _retried(limit: str, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*arguments, "--limit", f"{limit}=1"]) == 2
    said = re.findall(r"\(--limit (\w+=\w+) suffices\)", capsys.readouterr().err)
    assert [option.partition("=")[0] for option in said] == [limit]
    code = run([*arguments, "--limit", said[0]])
    assert (code in {0, 1}, capsys.readouterr().err) == (True, "")


@pytest.mark.parametrize("is_split", [False, True], ids=["parsed whole", "split"])
@pytest.mark.parametrize("name", REFUSED)
def test_whoever_follows_the_sentence_gets_a_verdict(
    name: str, is_split: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    limit, data = REFUSED[name]
    if is_split:
        for size in ("WHOLE_BYTES", "PAYLOAD_BYTES", "INTEGER_BYTES", "LONG_LIST_BYTES"):
            monkeypatch.setattr(strip_payloads, size, 16)
    path = tmp_path / "model"
    path.write_bytes(data)
    _retried(limit, [str(path)], capsys)


def test_of_a_stream_that_was_cut_no_value_is_named():
    of_stream = FileSource(-1, 2, owner=io.BytesIO())
    with pytest.raises(NotCheckedError, match=r"has at least 2 bytes, .* \(option --limit file_bytes\)$"):
        check_size(of_stream, replace(DEFAULT_LIMITS, file_bytes=1), is_text=False)


# --- values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1000", 1000),
        ("1_000", 1000),
        ("2KB", 2000),
        ("2KiB", 2048),
        ("3 MB", 3_000_000),
        ("3mib", 3 << 20),
        ("4GB", 4 * 10**9),
        ("4GiB", 4 << 30),
        (7, 7),
    ],
)
def test_limits_in_bytes_take_units(text: Any, value: int):
    assert DEFAULT_LIMITS.with_values({"memory": text}).memory == value


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (
            "memory",
            "4EiB",
            "the limit 'memory' requires a whole number, or one with a unit such as 4GiB, from 1 to 2^63 - 1",
        ),
        (
            "memory",
            "-1",
            "the limit 'memory' requires a whole number, or one with a unit such as 4GiB, from 1 to 2^63 - 1",
        ),
        (
            "memory",
            "0",
            "the limit 'memory' requires a whole number, or one with a unit such as 4GiB, from 1 to 2^63 - 1",
        ),
        ("findings", "4KB", "the limit 'findings' requires a whole number from 1 to 2^63 - 1, not '4KB'"),
        ("findings", True, "the limit 'findings' requires a whole number from 1 to 2^63 - 1, not True"),
        ("findings", 1.5, "the limit 'findings' requires a whole number from 1 to 2^63 - 1, not 1.5"),
        ("memroy", "1", "unknown limit 'memroy'"),
    ],
)
def test_other_values_are_refused(name: str, value: Any, message: str):
    with pytest.raises(LimitError, match=f"^{re.escape(message)}"):
        DEFAULT_LIMITS.with_values({name: value})
