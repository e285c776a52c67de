# SPDX-License-Identifier: Apache-2.0
"""Rules judge values in the file beside the model as they judge those in it, within limits; beyond, it is reported."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

import pytest

from onnx_lint import lint, schema
from onnx_lint.ir.tensors import data_folder
from onnx_lint.report.file_report import FileReport
from onnx_lint.schema import Proto

BOOL, INT64, FLOAT, UINT4, INT4, FLOAT4, UINT2, FLOAT6 = 9, 7, 1, 21, 22, 23, 25, 27
JUDGED = ("non-boolean-byte", "nonzero-padding", "sparse-tensor", "external-data")
UNREAD = "the contents of 'w.bin' were not verified: "
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 4096\n"


def outside(tensor: Proto, element_type: int, dims: list[int], offset: int = 0, **entries: str) -> None:
    """Say of a tensor that its values are in `w.bin`."""
    tensor.name, tensor.data_type, tensor.data_location = "w", element_type, 1
    tensor.dims.extend(dims)
    for key, value in {"location": "w.bin", "offset": str(offset), **entries}.items():
        tensor.external_data.add(key=key, value=value)


def linted(folder: Path, model: Proto, **options: Any) -> FileReport:
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    (file,) = lint(folder / "m.onnx", options, select=JUDGED, ignore=["unaligned-external-offset"]).files
    assert not file.internal_errors
    return file


def dense(folder: Path, data: bytes, element_type: int, dims: list[int], **options: Any) -> FileReport:
    """Return the findings for a model with one tensor, whose file holds the data at offset 3."""
    (folder / "w.bin").write_bytes(b"\xff\xff\xff" + data + b"\xff")
    model = schema.message("ModelProto")(ir_version=14)
    outside(model.graph.initializer.add(), element_type, dims, 3)
    return linted(folder, model, **options)


def found(file: FileReport) -> list[tuple[str, str, str]]:
    return [(item.rule, item.place, item.message) for item in file.diagnostics]


ENTRY = "graph.initializer[0].external_data[0]"


def test_a_boolean_other_than_0_and_1(tmp_path: Path):
    message = "byte 2 of the external data of tensor 'w' of main graph is 2, which is not a bool (1 more like it)"
    file = dense(tmp_path, b"\0\1\2\7", BOOL, [4])
    assert found(file) == [("non-boolean-byte", ENTRY, message)]
    assert found(dense(tmp_path, b"\0\1\1\0", BOOL, [4])) == []


@pytest.mark.parametrize(
    ("element_type", "elements", "right", "wrong"),
    [
        (UINT4, 3, b"\xff\x0f", b"\xff\x1f"),
        (INT4, 3, b"\xff\x0f", b"\xff\xff"),
        (FLOAT4, 1, b"\x0f", b"\x80"),
        (UINT2, 5, b"\xff\x03", b"\xff\x04"),
        (FLOAT6, 1, b"\x3f", b"\x40"),
    ],
)
def test_padding_that_is_not_zero(tmp_path: Path, element_type: int, elements: int, right: bytes, wrong: bytes):
    assert found(dense(tmp_path, right, element_type, [elements])) == []
    ((rule, place, said),) = found(dense(tmp_path, wrong, element_type, [elements]))
    assert (rule, place) == ("nonzero-padding", ENTRY)
    assert said.startswith("the last byte of the external data of tensor 'w'")


def sparse_model(place: str) -> tuple[Proto, Proto]:
    """A model and the sparse tensor in it: an initializer, or the value of an attribute."""
    model = schema.message("ModelProto")(ir_version=14)
    if place == "initializer":
        return model, model.graph.sparse_initializer.add()
    attribute = model.graph.node.add(op_type="Constant", output=["c"]).attribute.add(name="sparse_value", type=11)
    return model, attribute.sparse_tensor


@pytest.mark.parametrize("place", ["initializer", "attribute"])
@pytest.mark.parametrize(
    ("indices", "rule"),
    [
        ((0, 2, 5), None),
        ((0, 2, 6), "sparse-index-out-of-range"),
        ((-1, 2, 5), "sparse-index-out-of-range"),
        ((2, 0, 5), "unordered-sparse-indices"),
        ((2, 2, 5), "unordered-sparse-indices"),
    ],
)
def test_sparse_indices(tmp_path: Path, place: str, indices: tuple[int, ...], rule: str | None):
    (tmp_path / "w.bin").write_bytes(bytes(8) + struct.pack("<3q", *indices))
    model, sparse = sparse_model(place)
    sparse.dims.append(6)
    sparse.values.CopyFrom(schema.message("TensorProto")(name="s", data_type=FLOAT, dims=[3], float_data=[1, 2, 3]))
    outside(sparse.indices, INT64, [3], 8)
    file = linted(tmp_path, model)
    assert [item.rule for item in file.diagnostics] == ([rule] if rule else [])
    assert file.incomplete == ()


@pytest.mark.parametrize(("values", "rules"), [((1, 2), []), ((1, 0), ["explicit-default-value"])])
def test_values_of_a_sparse_tensor(tmp_path: Path, values: tuple[float, ...], rules: list[str]):
    (tmp_path / "w.bin").write_bytes(struct.pack("<2f", *values))
    model, sparse = sparse_model("initializer")
    sparse.dims.append(6)
    outside(sparse.values, FLOAT, [2])
    sparse.indices.CopyFrom(schema.message("TensorProto")(data_type=INT64, dims=[2], int64_data=[0, 1]))
    file = linted(tmp_path, model)
    assert [item.rule for item in file.diagnostics] == rules
    assert all(item.place == "graph.sparse_initializer[0].values.external_data[0]" for item in file.diagnostics)


def test_no_more_is_read_than_the_limit_and_what_is_left_is_told(tmp_path: Path):
    file = dense(tmp_path, b"\2" * 10, BOOL, [10], limits={"external_bytes": 9})
    why = "its 10 bytes are more than the limit external_bytes leaves (option --limit external_bytes=N)"
    assert (found(file), file.incomplete) == ([], (UNREAD + why,))
    assert len(found(dense(tmp_path, b"\2" * 10, BOOL, [10], limits={"external_bytes": 10}))) == 1


def test_values_of_types_that_no_rule_judges_are_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(directory: str, location: str) -> int:
        raise AssertionError(location)

    monkeypatch.setattr(data_folder, "open_below", refuse)
    assert found(dense(tmp_path, bytes(4096), FLOAT, [1024])) == []


def test_a_file_that_cannot_be_opened_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(directory: str, location: str) -> int:
        raise PermissionError(13, "Permission denied", location)

    monkeypatch.setattr(data_folder, "open_below", refuse)
    file = dense(tmp_path, b"\2", BOOL, [1])
    assert (found(file), file.incomplete) == ([], (UNREAD + "permission denied",))


def test_a_file_that_shrinks_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    original = data_folder.open_below

    def shrink(directory: str, location: str) -> int:
        os.truncate(tmp_path / "w.bin", 4)
        return original(directory, location)

    monkeypatch.setattr(data_folder, "open_below", shrink)
    assert dense(tmp_path, b"\1" * 4096, BOOL, [4096]).incomplete == (UNREAD + "it became shorter",)


def test_contents_behind_hard_links_are_told_as_not_verified(tmp_path: Path):
    model = schema.message("ModelProto")(ir_version=14)
    outside(model.graph.initializer.add(), BOOL, [1])
    (tmp_path / "other").write_bytes(b"\2")
    os.link(tmp_path / "other", tmp_path / "w.bin")
    file = linted(tmp_path, model)
    assert [item.rule for item in file.diagnostics] == ["linked-external-file"]
    assert file.incomplete == (UNREAD + "it is not a regular file, or has further hard links",)
    assert [item.rule for item in linted(tmp_path, model, follow_links=True).diagnostics] == ["non-boolean-byte"]


@pytest.mark.parametrize(
    ("element_type", "dims"), [(FLOAT, [1024]), (FLOAT, [2]), (BOOL, [4]), (INT64, [0]), (UINT4, [3])]
)
def test_a_git_lfs_pointer_is_called_that_however_small_the_tensor(tmp_path: Path, element_type: int, dims: list[int]):
    model = schema.message("ModelProto")(ir_version=14)
    outside(model.graph.initializer.add(), element_type, dims)
    (tmp_path / "w.bin").write_bytes(POINTER)
    file = linted(tmp_path, model)
    ((rule, _, said),) = found(file)
    assert rule == "missing-external-file"
    assert said.endswith("'w.bin' is a Git LFS pointer: 'git lfs pull' has not fetched the file")
    assert (file.diagnostics[0].hint or "").startswith("run 'git lfs pull'")
    assert file.incomplete == ()


def test_data_that_only_begin_like_a_pointer_are_data(tmp_path: Path):
    model = schema.message("ModelProto")(ir_version=14)
    outside(model.graph.initializer.add(), 2, [100])
    for data in (POINTER[:43] + bytes(57), POINTER + bytes(2000)):
        (tmp_path / "w.bin").write_bytes(data)
        assert found(linted(tmp_path, model)) == []
