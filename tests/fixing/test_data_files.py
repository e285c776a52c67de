# SPDX-License-Identifier: Apache-2.0
"""The fix that writes the used bytes of a data file to a new file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.fixes.case import Case, graph
from support.fixes.deleting import node

from onnx_lint import Report, fix
from onnx_lint.fixing.rewrite import NotWrittenError
from onnx_lint.input.source import ReadError

HOLE = 1 << 24


def _tensor(name: str, offset: int, *more: str) -> str:
    entries = "".join(
        f'external_data {{ key: "{key}" value: "{value}" }}'
        for key, value in (
            ("location", "w.data"),
            ("offset", str(offset)),
            *(entry.split("=") for entry in more),
        )
    )
    return f'initializer {{ name: "{name}" data_type: 1 dims: 2 data_location: EXTERNAL {entries} }}'


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model whose data file has 16 bytes of tensors, one of which overlaps, between two holes."""
    text = node("Add", "x a", "p") + node("Add", "p b", "q") + node("Add", "q c", "y")
    tensors = _tensor("a", HOLE + 4096, "checksum=0") + _tensor("b", HOLE + 4100) + _tensor("c", 2 * HOLE, "length=8")
    (tmp_path / "model.onnx").write_bytes(Case("", graph(text + tensors), "").models()[0])
    with open(tmp_path / "w.data", "wb") as file:
        file.seek(HOLE + 4096)
        file.write(bytes(range(12)))
        file.seek(2 * HOLE)
        file.write(bytes(range(20, 28)))
        file.truncate(3 * HOLE)
    return tmp_path / "model.onnx"


def _fix(model: Path, *, unsafe: bool = True) -> Report:
    return fix(model, select="dead-external-data", unsafe=unsafe)


def _places(model: Path) -> list[dict[str, str]]:
    from onnx_lint import schema

    found = schema.message("ModelProto").FromString(model.read_bytes())
    return [{entry.key: entry.value for entry in each.external_data} for each in found.graph.initializer]


def test_the_new_file_has_the_used_bytes_where_the_tensors_refer_to(model: Path):
    old = (model.parent / "w.data").read_bytes()
    report = _fix(model)
    assert report.files[0].repair is not None
    assert report.files[0].repair.fixed == (("dead-external-data", 1),)
    assert report.diagnostics == ()
    assert _places(model) == [
        {"location": "w.compact.data", "offset": "0"},
        {"location": "w.compact.data", "offset": "4"},
        {"location": "w.compact.data", "offset": "65536", "length": "8"},
    ]
    new = (model.parent / "w.compact.data").read_bytes()
    assert new == bytes(range(12)) + bytes(65536 - 12) + bytes(range(20, 28))
    assert (model.parent / "w.data").read_bytes() == old


def test_it_is_unsafe_and_needs_a_file(model: Path):
    before = model.read_bytes()
    assert [each.rule for each in _fix(model, unsafe=False).diagnostics] == ["dead-external-data"]
    assert model.read_bytes() == before
    assert os.listdir(model.parent) in (["w.data", "model.onnx"], ["model.onnx", "w.data"])


def test_a_file_of_the_new_name_stays(model: Path):
    before = model.read_bytes()
    (model.parent / "w.compact.data").write_bytes(b"mine")
    repair = _fix(model).files[0].repair
    assert repair is not None
    assert "is there already" in (repair.problem or "")
    assert (model.read_bytes(), (model.parent / "w.compact.data").read_bytes()) == (before, b"mine")


@pytest.mark.parametrize("error", [NotWrittenError("no"), OSError("no"), ReadError("no")])
def test_the_new_file_is_deleted_if_the_model_cannot_be_written(
    model: Path, error: Exception, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("onnx_lint.fixing.files.rewrite", fail)
    before = model.read_bytes()
    _fix(model)
    assert model.read_bytes() == before
    assert sorted(os.listdir(model.parent)) == ["model.onnx", "w.data"]


@pytest.mark.skipif(not hasattr(os, "SEEK_HOLE"), reason="the system knows no holes")
def test_holes_of_a_tensor_stay_holes(tmp_path: Path):
    count = HOLE // 4
    inside = _tensor("a", HOLE).replace("dims: 2", f"dims: {count}")
    data = Case("", graph(node("Add", "x a", "y") + inside), "").models()[0]
    (tmp_path / "model.onnx").write_bytes(data)
    with open(tmp_path / "w.data", "wb") as file:
        file.seek(2 * HOLE - 5)
        file.write(b"12345")
    _fix(tmp_path / "model.onnx")
    new = tmp_path / "w.compact.data"
    assert new.read_bytes() == bytes(HOLE - 5) + b"12345"
    if (tmp_path / "w.data").stat().st_blocks * 512 < HOLE:  # the file system keeps holes
        assert new.stat().st_blocks * 512 < HOLE
