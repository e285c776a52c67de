# SPDX-License-Identifier: Apache-2.0
"""External data on a real file system: links, special files, and models that have no folder."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from support.models.clean_model import clean_proto
from support.project.sampled import one_in

from onnx_lint import lint, schema


def model_with(location: str) -> bytes:
    """A model whose initializer `w` of four floats is in the file at `location`."""
    return bytes(clean_proto("Add", size=4, location=location).SerializeToString())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "model"
    inside.mkdir()
    (tmp_path / "secret.bin").write_bytes(bytes(16))
    return inside


def verdict(folder: Path, location: str, **options: bool) -> list[tuple[str, str]]:
    path = folder / "model.onnx"
    path.write_bytes(model_with(location))
    return [(diagnostic.rule, diagnostic.message) for diagnostic in lint(path, options).diagnostics]


PREFIX = "the external data of tensor 'w' of main graph 'graph'"


def test_a_link_that_leads_nowhere_is_a_link(folder: Path):
    (folder / "w.bin").symlink_to(folder / "gone.bin")
    expected = [("linked-external-file", f"{PREFIX} is reached through a link: 'w.bin' is a symbolic link")]
    assert verdict(folder, "w.bin") == expected


def test_a_linked_parent_folder_is_not_followed(folder: Path):
    (folder / "sub").symlink_to(folder.parent)
    expected = [("linked-external-file", f"{PREFIX} is reached through a link: 'sub' is a symbolic link")]
    assert verdict(folder, "sub/secret.bin") == expected


def test_the_folder_of_the_model_may_itself_be_reached_through_a_link(folder: Path):
    (folder / "w.bin").write_bytes(bytes(16))
    (folder.parent / "alias").symlink_to(folder)
    assert verdict(folder.parent / "alias", "w.bin") == []


def test_a_hard_link_is_told(folder: Path):
    os.link(folder.parent / "secret.bin", folder / "w.bin")
    expected = [("linked-external-file", f"{PREFIX} is reached through a link: 'w.bin' has 2 hard links")]
    assert verdict(folder, "w.bin") == expected


def test_a_pipe_is_no_regular_file(folder: Path):
    os.mkfifo(folder / "w.bin")
    expected = [("missing-external-file", f"{PREFIX} cannot be read: 'w.bin' is not a regular file")]
    assert verdict(folder, "w.bin") == expected


def test_a_name_that_is_too_long_for_the_file_system(folder: Path):
    ((rule, message),) = verdict(folder, "w" * 5000)
    assert rule == "missing-external-file"
    assert message.startswith(f"{PREFIX} cannot be read: 'www")
    assert len(message) < 300


def test_the_whole_location_is_in_the_message(folder: Path):
    (_, message), *_ = verdict(folder, "weights/w.bin")
    assert message == f"{PREFIX} cannot be read from 'weights/w.bin': 'weights': no such file or directory"
    (folder / "weights").mkdir()
    (_, message), *_ = verdict(folder, "weights/w.bin")
    assert message == f"{PREFIX} cannot be read: 'weights/w.bin': no such file or directory"


def test_a_folder_that_may_not_be_entered(folder: Path):
    closed = folder / "closed"
    closed.mkdir(mode=0)
    if os.access(closed, os.X_OK):  # the superuser may enter any folder
        closed.rmdir()
    found = verdict(folder, "closed/w.bin")
    closed.exists() and closed.chmod(stat.S_IRWXU)
    assert [rule for rule, _ in found] == ["missing-external-file"]


def test_a_model_without_a_folder_is_not_looked_up():
    report = lint(model_with("gone.bin"))
    assert report.diagnostics == ()


def test_the_file_system_is_left_alone_on_demand(folder: Path):
    assert verdict(folder, "gone.bin", external_data=False) == []


def test_no_unsafe_location_is_looked_up(folder: Path, monkeypatch: pytest.MonkeyPatch):
    def looked_up(path: str) -> os.stat_result:
        assert Path(path).parent == folder, f"{path} was looked up"  # a fix may name a file beside the model
        return lstat(path)

    lstat = os.lstat
    monkeypatch.setattr(os, "lstat", looked_up)
    for location in ("/etc/passwd", "../secret.bin", "a/../../secret.bin", "a\\..\\b", "C:\\x", "w\0.bin"):
        rules = {rule for rule, _ in verdict(folder, location)}
        assert rules <= {"non-relative-location", "parent-directory-location"}
        assert rules


def test_every_security_rule_names_what_it_guards_against():
    from onnx_lint.engine.registry import registry

    guarded = {name: entry.rule.security for name, entry in registry().items() if entry.rule.security}
    assert {"non-relative-location", "parent-directory-location", "linked-external-file"} <= guarded.keys()
    assert all(reference.startswith(("CVE-", "CWE-", "GHSA-")) for ids in guarded.values() for reference in ids)


@one_in(5)
@pytest.mark.parametrize("part", ["a/", "./", "../", "a\\", "..", "."])
def test_a_location_longer_than_any_path_is_judged_at_once(folder: Path, part: str, step: int):
    location = part * (2_000_000 // step // len(part))
    rules = {rule for rule, _ in verdict(folder, location)}
    assert "non-relative-location" in rules
    assert ("parent-directory-location" in rules) is (part == "../")


def hint(folder: Path, location: str) -> str | None:
    path = folder / "model.onnx"
    path.write_bytes(model_with(location))
    (found,) = lint(path).diagnostics
    assert found.advice.no_fix
    return found.hint


@pytest.mark.parametrize(
    ("location", "there", "expected"),
    [
        ("Weights.bin", ["weights.bin"], "'weights.bin' lies beside the model"),
        ("data/model_data", ["other.data", "model.data"], "'model.data' lies beside the model"),
        ("gone", ["model.onnx_data"], "'model.onnx_data' is the only data file beside the model"),
        ("gone", ["one.data", "two.data"], None),
        ("gone", ["notes.txt"], None),
        ("gone", [], None),
    ],
)
def test_the_data_file_that_is_probably_meant(folder: Path, location: str, there: list[str], expected: str | None):
    for name in there:
        (folder / name).write_bytes(bytes(4))
    assert hint(folder, location) == expected


def test_a_link_or_a_file_of_another_tensor_is_not_what_is_meant(folder: Path):
    (folder / "linked.data").symlink_to(folder.parent / "secret.bin")
    assert hint(folder, "gone") is None
    (folder / "w.data").write_bytes(bytes(16))
    model = schema.message("ModelProto")()
    model.ParseFromString(model_with("gone"))
    other = model.graph.initializer.add()
    other.CopyFrom(model.graph.initializer[0])
    other.name, other.external_data[0].value = "other", "./w.data"
    path = folder / "model.onnx"
    path.write_bytes(model.SerializeToString())
    (found,) = lint(path).of_rule("missing-external-file")
    assert (found.hint, found.advice.no_fix is not None) == (None, True)


def test_backslashes_are_named_as_slashes(folder: Path):
    def found(location: str) -> tuple[str | None, str | None]:
        path = folder / "model.onnx"
        path.write_bytes(model_with(location))
        (diagnostic,) = lint(path).of_rule("non-relative-location")
        return diagnostic.allowed, diagnostic.fix.message if diagnostic.fix is not None else None

    allowed = "a POSIX path relative to the model's folder"
    assert found("sub\\w.bin") == (f"'sub/w.bin', {allowed}", None)
    assert found("..\\w.bin") == (allowed, None)
    (folder / "sub").mkdir()
    (folder / "sub" / "w.bin").write_bytes(bytes(15))
    assert found("sub\\w.bin") == (f"'sub/w.bin', {allowed}", None), "too short for the values"
    (folder / "sub" / "w.bin").write_bytes(bytes(16))
    assert found("sub\\w.bin") == (f"'sub/w.bin', {allowed}", "take the values from 'sub/w.bin'")
