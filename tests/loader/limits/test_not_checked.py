# SPDX-License-Identifier: Apache-2.0
"""A file beyond a limit is not checked, and the sentence that says so names the value that would do."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format, text_format
from onnx import TensorProto, helper

from onnx_lint import lint
from onnx_lint.cli.application import run
from onnx_lint.common.record import replace
from onnx_lint.input.limits import DEFAULT_LIMITS, LimitError, Limits
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.loader.limits.not_checked import NotCheckedError
from onnx_lint.reporters import REPORTERS

_TENSOR = TensorProto(name="t", data_type=TensorProto.INT64, dims=[3], int64_data=[1, 2, 3])
_VALUES = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [2, 3, 4, 5]) for name in "xy"]
_NODE = helper.make_node("Relu", ["x"], ["y"])
_MODEL = helper.make_model(helper.make_graph([_NODE], "g", _VALUES[:1], _VALUES[1:]))
_ODD = _MODEL.SerializeToString() + b"\x12\x01\xff"
"""The same with a byte that is not UTF-8, so that the walk over fields looks at it."""


def _refusal(data: bytes, proto: str | None, limits: Limits, name: str = "") -> str:
    with pytest.raises(NotCheckedError) as error:
        load(BytesSource(data), name, limits=limits, proto=proto)
    return str(error.value)


FILES = {
    "binary": _MODEL.SerializeToString(),
    "text": text_format.MessageToString(_MODEL).encode(),
    "JSON": json_format.MessageToJson(_MODEL).encode(),
}


@pytest.mark.parametrize("form", FILES)
def test_a_model_that_needs_more_memory_than_the_limit_is_not_checked(form: str):
    message = _refusal(FILES[form], None, replace(DEFAULT_LIMITS, memory=100))
    found = re.fullmatch(
        r"the model needs about [\d.]+ KiB of memory, more than the limit memory of 100 "
        r"\(--limit (memory=\d+KiB) would do\)",
        message,
    )
    assert found is not None, message
    if form == "binary":  # a text is estimated once more when it is parsed
        name, _, value = found[1].partition("=")
        assert load(BytesSource(FILES[form]), limits=DEFAULT_LIMITS.with_values({name: value})).loaded


@pytest.mark.parametrize(
    ("data", "proto", "limit", "message"),
    [
        (
            _TENSOR.SerializeToString(),
            "TensorProto",
            "file_bytes",
            "the file has 12 bytes, more than the limit file_bytes of 1 (--limit file_bytes=12 would do)",
        ),
        (
            b'name: "s" values { name: "v" }',
            "SparseTensorProto",
            "text_bytes",
            "the file has 30 bytes of text, more than the limit text_bytes of 1 (--limit text_bytes=30 would do)",
        ),
        (
            _ODD,
            None,
            "fields",
            f"the file has too many fields to read one by one, more than the limit fields of 1 "
            f"(--limit fields={len(_ODD)} would do)",
        ),
    ],
)
def test_the_sentence_names_the_value_that_would_do(data: bytes, proto: str | None, limit: str, message: str):
    assert _refusal(data, proto, replace(DEFAULT_LIMITS, **{limit: 1})) == message


def test_of_standard_input_nobody_knows_how_much_there_is():
    message = _refusal(b"\x08\x0a", None, replace(DEFAULT_LIMITS, file_bytes=1), "-")
    assert message == "the file has at least 2 bytes, more than the limit file_bytes of 1 (option --limit file_bytes)"


@pytest.mark.parametrize("form", REPORTERS)
def test_each_form_of_report_says_that_the_file_is_not_checked(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "m.onnx"
    path.write_bytes(FILES["binary"])
    assert run([str(path), "--limit", "memory=1KiB", "-f", form]) == 2
    assert re.search(r"more than the limit memory of 1 KiB \(--limit memory=\d+KiB would do\)", capsys.readouterr().err)


def test_the_library_says_it_too():
    report = lint(FILES["binary"], limits={"memory": "1KiB"})
    assert not report.conforms
    (file,) = report.files
    assert (file.diagnostics, file.not_judged) == ((), None)
    assert "more than the limit memory of 1 KiB" in (file.unreadable or "")


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
            "4TiB",
            "the limit 'memory' requires a whole number, or one with a unit such as 4GiB, of at least 1",
        ),
        ("memory", "-1", "the limit 'memory' requires a whole number, or one with a unit such as 4GiB, of at least 1"),
        ("memory", "0", "the limit 'memory' requires a whole number, or one with a unit such as 4GiB, of at least 1"),
        ("findings", "4KB", "the limit 'findings' requires a whole number of at least 1, not '4KB'"),
        ("element_bytes", "1", "the limit 'element_bytes' is replaced by 'memory', the memory that a model may need"),
        ("memroy", "1", "unknown limit 'memroy'"),
    ],
)
def test_other_values_are_refused(name: str, value: str, message: str):
    with pytest.raises(LimitError, match=f"^{re.escape(message)}"):
        DEFAULT_LIMITS.with_values({name: value})


def test_the_configuration_takes_units(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "onnx-lint.toml").write_text("[limits]\nmemory = '1KiB'\n")
    (tmp_path / "m.onnx").write_bytes(FILES["binary"])
    assert run([str(tmp_path / "m.onnx"), "--config", str(tmp_path / "onnx-lint.toml"), "-f", "json"]) == 2
    told = capsys.readouterr()
    assert "more than the limit memory of 1 KiB" in json.loads(told.out)["files"][0]["unreadable"]
