# SPDX-License-Identifier: Apache-2.0
"""Links to files of external data: reported and not followed, or followed inside folders that the user trusts."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest
from support.models.clean_model import clean_proto

from onnx_lint import lint
from onnx_lint.cli.application import run
from onnx_lint.ir.tensors import data_folder
from onnx_lint.report.file_report import FileReport

DATA = bytes(16)
NOT_EXAMINED = "the external data 'w.bin' was not examined: 'w.bin' is a symbolic link"
HOW = " (options --follow-links and --external-data-root)"


def model_bytes(location: str, floats: int = 4) -> bytes:
    return bytes(clean_proto("Add", size=floats, location=location).SerializeToString())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a model with data in `w.bin`, beside a folder `store`."""
    inside = tmp_path / "model"
    inside.mkdir()
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "blob").write_bytes(DATA)
    (inside / "m.onnx").write_bytes(model_bytes("w.bin"))
    return inside


def linted(folder: Path, **options: object) -> FileReport:
    (file,) = lint(folder / "m.onnx", options).files  # type: ignore[arg-type]  # any of the options
    assert not file.internal_errors
    return file


def rules(file: FileReport) -> list[str]:
    return [item.rule for item in file.diagnostics]


def test_a_link_is_not_followed_and_what_it_leads_to_is_told_as_not_verified(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    (folder / "w.bin").symlink_to("../store/blob")
    file = linted(folder)
    assert (rules(file), file.incomplete) == (["linked-external-file"], (NOT_EXAMINED + HOW,))
    # So it is when nobody asks for the rule.
    assert linted(folder, ignore=["external-data"]).incomplete == (NOT_EXAMINED + HOW,)
    assert run([str(folder / "m.onnx"), "--no-config", "--ignore", "external-data"]) == 0
    assert f"not verified: {NOT_EXAMINED}" in " ".join(capsys.readouterr().out.split())


def test_nothing_is_opened_through_a_link_without_the_options(folder: Path, monkeypatch: pytest.MonkeyPatch):
    (folder / "w.bin").symlink_to("../store/blob")
    opened: list[str] = []
    original = os.open

    def watched(path: str, *rest: int, **more: int | None) -> int:
        opened.append(os.fspath(path))
        return original(path, *rest, **more)  # type: ignore[arg-type]  # as it was called

    monkeypatch.setattr(os, "open", watched)
    linted(folder, options={"checksum-mismatch": {"verify": True}})
    assert opened == [str(folder / "m.onnx")]


@pytest.mark.parametrize("floats", [4, 5])
def test_a_link_into_a_root_is_followed_with_all_checks(folder: Path, floats: int):
    (folder / "m.onnx").write_bytes(model_bytes("w.bin", floats))
    (folder / "w.bin").symlink_to("../store/blob")
    file = linted(folder, external_data_roots=[folder.parent / "store"])
    assert (rules(file), file.incomplete) == ([] if floats == 4 else ["external-range-beyond-file"], ())


def test_a_link_out_of_every_root_is_not_followed(folder: Path):
    (folder / "w.bin").symlink_to("../store/blob")
    for options in ({"follow_links": True}, {"external_data_roots": [folder]}):
        file = linted(folder, **options)
        why = f"{NOT_EXAMINED} that leads out of the trusted folders{HOW}"
        assert (rules(file), file.incomplete) == (["linked-external-file"], (why,))


def test_a_root_that_begins_like_the_place_of_the_file_is_none_around_it(folder: Path):
    (folder.parent / "sto").mkdir()
    (folder / "w.bin").symlink_to("../store/blob")
    assert rules(linted(folder, external_data_roots=[folder.parent / "sto"])) == ["linked-external-file"]


def test_a_link_that_stays_in_the_folder_of_the_model_needs_no_root(folder: Path):
    (folder / "data").mkdir()
    (folder / "data" / "real").write_bytes(DATA)
    (folder / "sub").symlink_to("data")
    (folder / "w.bin").symlink_to("sub/real")
    file = linted(folder, follow_links=True)
    assert (rules(file), file.incomplete) == ([], ())
    assert rules(linted(folder)) == ["linked-external-file"]


@pytest.mark.parametrize("target", ["gone", "blob/below", "w.bin", "../model/w.bin", "folder"])
def test_a_link_to_nothing_is_an_error(folder: Path, target: str):
    store = folder.parent / "store"
    (store / "folder").mkdir()
    (store / "w.bin").symlink_to("w.bin")
    (folder / "w.bin").symlink_to(f"../store/{target}")
    file = linted(folder, external_data_roots=[folder.parent])
    assert rules(file) == ["missing-external-file"]
    assert not lint(folder / "m.onnx", {"external_data_roots": [folder.parent]}).conforms
    assert file.diagnostics[0].message.startswith(
        "the external data of tensor 'w' of main graph 'graph' cannot be read: 'w.bin' is a symbolic link "
    )


def test_a_location_with_a_slash_at_its_end_names_no_file_through_a_link_either(folder: Path):
    (folder / "m.onnx").write_bytes(model_bytes("w.bin/"))
    (folder / "w.bin").symlink_to("../store/blob")
    assert rules(linted(folder, external_data_roots=[folder.parent])) == ["missing-external-file"]


def test_a_chain_of_links_longer_than_the_system_follows_ends(folder: Path):
    for number in range(2_000):
        (folder / f"link{number}").symlink_to(f"link{number + 1}")
    (folder / "link2000").write_bytes(DATA)
    (folder / "w.bin").symlink_to("link0")
    assert rules(linted(folder, follow_links=True)) == ["missing-external-file"]


def test_hard_links_are_trusted_where_links_are(folder: Path):
    os.link(folder.parent / "store" / "blob", folder / "w.bin")
    assert rules(linted(folder)) == ["linked-external-file"]
    assert rules(linted(folder, follow_links=True)) == []
    assert rules(linted(folder, external_data_roots=[folder.parent / "store"])) == ["linked-external-file"]


def test_a_root_that_is_no_folder_is_a_mistake(folder: Path, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(NotADirectoryError):
        linted(folder, external_data_roots=[folder / "m.onnx"])
    gone = str(folder / "gone")
    assert run([str(folder / "m.onnx"), "--no-config", "--external-data-root", gone]) == 2
    assert f"Directory '{gone}' does not exist" in " ".join(capsys.readouterr().err.split())


def test_the_cache_of_a_model_hub_gets_a_full_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The layout: snapshots/REVISION/FILE leads to ../../blobs/HASH, for the model and its data alike."""
    cache = tmp_path / "hub"
    repository = cache / "models--example--small"
    snapshot, blobs = repository / "snapshots" / "0123abcd" / "onnx", repository / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("0123abcd")
    (blobs / "aaaa").write_bytes(model_bytes("model.onnx_data"))
    (blobs / "bbbb").write_bytes(DATA)
    (snapshot / "model.onnx").symlink_to("../../../blobs/aaaa")
    (snapshot / "model.onnx_data").symlink_to("../../../blobs/bbbb")
    path = str(snapshot / "model.onnx")
    said = lint(path).files[0]
    assert rules(said) == ["linked-external-file"]
    assert said.incomplete
    full = lint(path, {"external_data_roots": [cache]})
    assert (full.conforms, full.diagnostics, full.files[0].incomplete) == (True, (), ())
    # The same by the command line, and by a configuration whose path is relative to itself.
    output = tmp_path / "report.json"
    assert run([path, "--no-config", "--external-data-root", str(cache), "-f", "json", "-o", f"{output}"]) == 0
    assert json.loads(output.read_text())["files"][0]["incomplete"] == []
    (tmp_path / "onnx-lint.toml").write_text('external-data-roots = ["hub"]\n')
    monkeypatch.chdir(blobs)
    assert run([path, "-f", "json", "-o", f"{output}"]) == 0
    assert json.loads(output.read_text())["files"][0]["incomplete"] == []
    (blobs / "bbbb").unlink()
    dangling = lint(path, {"external_data_roots": [cache]})
    assert ([item.rule for item in dangling.diagnostics], dangling.conforms) == (["missing-external-file"], False)


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_takes_the_place_of_a_followed_file_is_not_opened(folder: Path, what: str):
    """The attacker wins the race each time: between the look at the link and the opening."""
    secret = folder.parent / "secret"
    secret.mkdir()
    (secret / "blob").write_bytes(b"secret")
    store = folder.parent / "store"
    (folder / "w.bin").symlink_to("../store/blob")
    beside = data_folder.DataFolder(str(folder), [str(folder.parent / "store")])
    if what == "folder":
        (store / "deep").mkdir()
        (store / "deep" / "blob").write_bytes(DATA)
        (folder / "w.bin").unlink()
        (folder / "w.bin").symlink_to("../store/deep/blob")
    assert beside.file("w.bin").state is data_folder.FileState.REGULAR
    descriptor, _ = beside.open("w.bin")
    os.close(descriptor)
    if what == "folder":
        (store / "deep" / "blob").unlink()
        (store / "deep").rmdir()
        (store / "deep").symlink_to(secret)
    else:
        (store / "blob").unlink()
        (store / "blob").symlink_to(secret / "blob")
    with pytest.raises(OSError, match=r"symbolic links|[Nn]ot a directory"):
        beside.open("w.bin")


@pytest.mark.parametrize("swapped", ["w.bin", "store"])
@pytest.mark.parametrize("options", [[], ["--cache"]])
def test_a_link_that_disappears_is_not_checked(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], swapped: str, options: list[str]
):
    """Another program removes it between the look at it and the reading of where it leads to."""
    store = folder.parent / "store"
    store.rename(folder.parent / "real")
    store.symlink_to("real")
    (folder / "w.bin").symlink_to("../store/blob")
    monkeypatch.setenv("ONNX_LINT_CACHE_DIR", str(folder.parent / "cache"))
    command = [str(folder / "m.onnx"), "--no-config", "--external-data-root", str(store), *options]
    assert run(command) == 0
    capsys.readouterr()
    real = os.readlink

    def readlink(path: str) -> str:
        if os.path.basename(path) == swapped:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", path)
        return real(path)

    monkeypatch.setattr(os, "readlink", readlink)
    assert run(command) == 2
    output = capsys.readouterr()
    assert "changed while its links were followed: No such file or directory" in output.err
    assert "Traceback" not in output.err
    monkeypatch.undo()
    assert run([*command[:4]]) == 0
