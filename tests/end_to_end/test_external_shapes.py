# SPDX-License-Identifier: Apache-2.0
"""Numbers that decide shapes and lie in a file beside the model: read by the rules of external data, or not known."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from onnx_lint import lint
from onnx_lint.engine.lint import load_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import source_of


def _model(shape: np.ndarray, **entries: str) -> onnx.ModelProto:
    """A Reshape of six elements by a shape that lies in `data.bin`."""
    initializer = numpy_helper.from_array(shape, "shape")
    initializer.ClearField("raw_data")
    initializer.data_location = TensorProto.EXTERNAL
    for key, value in {"location": "data.bin", **entries}.items():
        initializer.external_data.add(key=key, value=value)
    values = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])]
    outputs = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, None])]
    graph = helper.make_graph([helper.make_node("Reshape", ["x", "shape"], ["y"])], "g", values, outputs, [initializer])
    imports = [helper.make_opsetid("", 21)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10, producer_name="test")


def _shape(path: Path, **settings: Any) -> object:
    source = source_of(str(path))
    try:
        return load_source(source, str(path), Settings(**settings), is_file=True).shape_of("y")
    finally:
        source.close()


def _written(folder: Path, shape: np.ndarray, data: bytes, **entries: str) -> Path:
    (folder / "data.bin").write_bytes(data)
    (folder / "m.onnx").write_bytes(_model(shape, **entries).SerializeToString())
    return folder / "m.onnx"


SHAPE = np.array([3, -1], np.int64)
BYTES = SHAPE.astype("<i8").tobytes()


@pytest.mark.parametrize(
    ("data", "entries"),
    [
        (BYTES, {}),
        (BYTES, {"offset": "0", "length": "16"}),
        (b"\xff" * 64 + BYTES + b"\xff", {"offset": "64", "length": "16"}),
        (b"\xff" * 64 + BYTES + b"\xff", {"offset": "64"}),
    ],
)
def test_a_shape_in_a_file_is_read(tmp_path: Path, data: bytes, entries: dict[str, str]) -> None:
    assert _shape(_written(tmp_path, SHAPE, data, **entries)) == (3, 2)


@pytest.mark.parametrize(
    ("data", "entries"),
    [
        (BYTES[:-1], {}),
        (BYTES, {"offset": "8"}),
        (BYTES, {"length": "8"}),
        (BYTES * 2, {"length": "32"}),
        (BYTES, {"offset": "-1"}),
        (BYTES, {"offset": "1" * 40}),
        (BYTES, {"location": "../data.bin"}),
        (BYTES, {"location": "/data.bin"}),
        (BYTES, {"location": "missing.bin"}),
        (BYTES, {"location": ""}),
    ],
)
def test_what_is_not_there_is_not_known(tmp_path: Path, data: bytes, entries: dict[str, str]) -> None:
    assert _shape(_written(tmp_path, SHAPE, data, **entries)) == (None, None)


def test_a_link_is_followed_where_it_is_allowed(tmp_path: Path) -> None:
    path = _written(tmp_path, SHAPE, b"")
    (tmp_path / "data.bin").rename(tmp_path / "there.bin")
    (tmp_path / "there.bin").write_bytes(BYTES)
    os.symlink("there.bin", tmp_path / "data.bin")
    assert _shape(path) == (None, None)
    assert _shape(path, follow_links=True) == (3, 2)
    assert _shape(path, external_data=False) == (None, None)


def test_a_wrong_shape_in_a_file_is_found(tmp_path: Path) -> None:
    shape = np.array([4, -1], np.int64)
    path = _written(tmp_path, shape, shape.astype("<i8").tobytes())
    [file] = lint(path).files
    assert [(found.rule, found.place) for found in file.diagnostics] == [
        ("unsupported-operand-value", "graph.initializer[0]")
    ]
    [file] = lint(path, {"external_data": False}).files
    assert (file.diagnostics, file.incomplete) == (
        (),
        ("the files of external data were not examined, because external data is switched off",),
    )


@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else False, reason="root may read any file")
def test_what_may_not_be_read_is_told(tmp_path: Path) -> None:
    path = _written(tmp_path, SHAPE, BYTES)
    (tmp_path / "data.bin").chmod(0)
    [file] = lint(path).files
    assert file.incomplete == ("the contents of 'data.bin' were not verified: permission denied",)


def test_what_the_limit_leaves_out_is_told(tmp_path: Path) -> None:
    path = _written(tmp_path, SHAPE, BYTES)
    [file] = lint(path, {"limits": {"external_bytes": 8}}).files
    why = "its 16 bytes are more than the limit external_bytes leaves (option --limit external_bytes=N)"
    assert file.incomplete == (f"the contents of 'data.bin' were not verified: {why}",)


def test_a_scale_in_a_file_is_read(tmp_path: Path) -> None:
    model = _model(np.array([2.0, 0.5], np.float32))
    model.graph.node[0].op_type = "Resize"
    model.graph.node[0].input[:] = ["x", "", "shape"]
    (tmp_path / "m.onnx").write_bytes(model.SerializeToString())
    (tmp_path / "data.bin").write_bytes(np.array([2.0, 0.5], "<f4").tobytes())
    assert _shape(tmp_path / "m.onnx") == (4, 1)
