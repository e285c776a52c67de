# SPDX-License-Identifier: Apache-2.0
"""Data files that a fix writes: the used bytes of one, and the copies that go with the model to another folder."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from support.fixes.case import Case, graph
from support.fixes.deleting import node

from onnx_lint import Report, fix
from onnx_lint.cli.application import run
from onnx_lint.common.whole_file import NotWrittenError
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


def _fix(model: Path, *, unsafe: bool = True, folder: Path | None = None) -> Report:
    return fix(model, select="dead-external-data", unsafe=unsafe, folder=folder)


def _below(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def _with_locations(path: Path, *locations: str) -> Path:
    """Write a model whose tensors are in files at these locations."""
    tensors = "".join(_tensor(f"t{at}", 0).replace("w.data", each) for at, each in enumerate(locations))
    path.write_bytes(Case("", graph(node("Relu", "x", "y") + tensors), "").models()[0])
    return path


def _places(model: Path) -> list[dict[str, str]]:
    from onnx_lint import schema

    found = schema.message("ModelProto").FromString(model.read_bytes())
    return [{entry.key: entry.value for entry in each.external_data} for each in found.graph.initializer]


def test_the_new_file_has_the_used_bytes_where_the_tensors_refer_to(model: Path):
    old = (model.parent / "w.data").read_bytes()
    report = _fix(model)
    assert report.files[0].repair is not None
    assert report.files[0].repair.fixed == (("dead-external-data", 1),)
    assert report.files[0].repair.written == ((str(model.parent / "w.compact.data"), 65544),)
    assert report.diagnostics == ()
    assert _places(model) == [
        {"location": "w.compact.data", "offset": "0"},
        {"location": "w.compact.data", "offset": "4"},
        {"location": "w.compact.data", "offset": "65536", "length": "8"},
    ]
    new = (model.parent / "w.compact.data").read_bytes()
    assert new == bytes(range(12)) + bytes(65536 - 12) + bytes(range(20, 28))
    assert (model.parent / "w.data").read_bytes() == old


@pytest.mark.parametrize("to_another_folder", [False, True])
def test_the_difference_has_the_new_file_and_what_refers_to_it(
    model: Path, capsys: pytest.CaptureFixture[str], *, to_another_folder: bool
):
    where = ["--output", str(model.parent / "out")] if to_another_folder else []
    assert run(["fix", "--diff", "--unsafe-fixes", "--select", "dead-external-data", str(model), *where]) == 1
    lines = capsys.readouterr().out.splitlines()
    name = "w.data" if to_another_folder else "w.compact.data"
    digest = hashlib.sha256(bytes(range(12)) + bytes(65536 - 12) + bytes(range(20, 28))).hexdigest()
    assert lines[2:5] == [
        f"@@ new data file '{name}': 65,544 bytes (SHA-256 {digest}) @@",
        f"+      | bytes {HOLE + 4096:,} to {HOLE + 4108:,} of 'w.data', at 0",
        f"+      | bytes {2 * HOLE:,} to {2 * HOLE + 8:,} of 'w.data', at 65,536",
    ]
    changed = [line.partition("graph.")[2].replace("initializer", "") for line in lines[6:]]
    moves = [
        f"[{at}].external_data[1].value: {value!r}".replace("'", '"')
        for at, values in enumerate(((HOLE + 4096, 0), (HOLE + 4100, 4), (2 * HOLE, 65536)))
        for value in map(str, values)
    ]
    moves.insert(2, '[0].external_data[2]: {key: "checksum", value: "0"}')
    assert [line for line in changed if "w." not in line] == moves
    assert sum(f'"{name}"' in line for line in changed) == (0 if to_another_folder else 3)
    assert _below(model.parent) == ["model.onnx", "w.data"]


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
    assert "already exists" in (repair.problem or "")
    assert (model.read_bytes(), (model.parent / "w.compact.data").read_bytes()) == (before, b"mine")


@pytest.mark.parametrize("error", [NotWrittenError("no"), OSError("no"), ReadError("no")])
def test_the_new_file_is_deleted_if_the_model_cannot_be_written(
    model: Path, error: Exception, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("onnx_lint.fixing.files._write_checked", fail)
    before = model.read_bytes()
    for folder in (None, model.parent / "new" / "deep"):
        _fix(model, folder=folder)
        assert model.read_bytes() == before
        assert _below(model.parent) == ["model.onnx", "w.data"]


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


def test_in_another_folder_the_file_keeps_its_name(model: Path):
    before = model.read_bytes(), (model.parent / "w.data").read_bytes()
    out = model.parent / "out"
    report = _fix(model, folder=out)
    assert report.diagnostics == ()
    assert report.files[0].repair is not None
    assert (report.files[0].repair.fixed, report.files[0].repair.not_made) == ((("dead-external-data", 1),), ())
    assert [(each["location"], each["offset"]) for each in _places(out / "model.onnx")] == [
        ("w.data", "0"),
        ("w.data", "4"),
        ("w.data", "65536"),
    ]
    assert (out / "w.data").read_bytes() == bytes(range(12)) + bytes(65536 - 12) + bytes(range(20, 28))
    assert (model.read_bytes(), (model.parent / "w.data").read_bytes()) == before
    assert _below(out) == ["model.onnx", "w.data"]
    sizes = (str(out / "model.onnx"), (out / "model.onnx").stat().st_size), (str(out / "w.data"), 65544)
    assert report.files[0].repair.written == sizes


def test_the_other_files_are_copied_as_they_are(model: Path):
    out = model.parent / "out"
    report = _fix(model, unsafe=False, folder=out)
    assert [each.rule for each in report.diagnostics] == ["dead-external-data"]
    old, new = model.parent / "w.data", out / "w.data"
    assert new.read_bytes() == old.read_bytes()
    assert (out / "model.onnx").read_bytes() == model.read_bytes()
    if old.stat().st_blocks * 512 < HOLE:  # the file system keeps holes
        assert new.stat().st_blocks * 512 < HOLE


def test_files_that_are_not_of_the_folder_are_left_and_named(tmp_path: Path):
    (tmp_path / "in" / "deep" / "er").mkdir(parents=True)
    (tmp_path / "in" / "deep" / "er" / "a.bin").write_bytes(bytes(8))
    (tmp_path / "secret").write_bytes(b"12345678")
    (tmp_path / "in" / "link").symlink_to("../secret")
    (tmp_path / "in" / "near").symlink_to("deep/er/a.bin")
    locations = ("deep//er/a.bin", "../secret", "link", "near", "none", "deep/er/a.bin")
    model = _with_locations(tmp_path / "in" / "m.onnx", *locations)
    report = fix(model, select="external-data", folder=tmp_path / "out")
    assert _below(tmp_path / "out") == ["deep", "deep/er", "deep/er/a.bin", "m.onnx"]
    assert report.files[0].repair is not None
    assert report.files[0].repair.not_made == (
        "'../secret' was not copied: it is not below the folder of the model",
        "'link' was not copied: 'link' is a symbolic link",
        "'near' was not copied: 'near' is a symbolic link",
        "'none' was not copied: 'none': no such file or directory",
    )
    found = sorted(each.rule for each in report.diagnostics)
    assert found == ["missing-external-file"] * 3 + ["parent-directory-location"]
    fix(model, {"follow_links": True}, select="external-data", folder=tmp_path / "copy")
    assert _below(tmp_path / "copy") == ["deep", "deep/er", "deep/er/a.bin", "m.onnx", "near"]  # "link" leads out
    assert not (tmp_path / "copy" / "near").is_symlink()


def test_models_may_share_a_file_but_none_overwrites_one(tmp_path: Path):
    for name, data in (("one", bytes(8)), ("other", bytes(7) + b"x")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "w.data").write_bytes(data)
        for model in ("a", "b"):
            _with_locations(tmp_path / name / f"{name}-{model}.onnx", "w.data")
    out = tmp_path / "out"
    one, other = (sorted(map(str, (tmp_path / name).glob("*.onnx"))) for name in ("one", "other"))
    assert run(["fix", *one, "--output", str(out), "-j", "2"]) == 0
    before = {path: path.read_bytes() for path in out.iterdir()}
    assert len(before) == 3
    assert run(["fix", *other, "--output", str(out)]) == 2
    assert {path: path.read_bytes() for path in out.iterdir()} == before


def test_no_link_in_the_other_folder_is_followed(tmp_path: Path):
    for name in ("in/sub", "out", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "in/sub/w.data").write_bytes(bytes(8))
    model = _with_locations(tmp_path / "in" / "m.onnx", "sub/w.data")
    (tmp_path / "out" / "sub").symlink_to("../elsewhere")
    repair = fix(model, folder=tmp_path / "out").files[0].repair
    assert repair is not None
    assert "because of a link" in (repair.problem or "")
    assert (_below(tmp_path / "out"), _below(tmp_path / "elsewhere")) == (["sub"], [])
