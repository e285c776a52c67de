# SPDX-License-Identifier: Apache-2.0
"""Checksums: each data file is read once, in pieces, within a limit, and nothing that a link leads to."""

from __future__ import annotations

import hashlib
import os
import resource
from pathlib import Path

import pytest
from support.project.sampled import one_in

from onnx_lint import schema
from onnx_lint.common.cached import Memory
from onnx_lint.engine.lint import lint_file
from onnx_lint.engine.settings import Settings
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.ir.tensors import checksum, data_folder
from onnx_lint.ir.tensors.checksum import Digests
from onnx_lint.ir.tensors.data_folder import DataFolder
from onnx_lint.report.file_report import FileReport

POSIX = pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
DATA = bytes(range(256)) * 32
DIGEST = hashlib.sha1(DATA).hexdigest()


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "w.bin").write_bytes(DATA)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(checksum, "_known", Memory(1))
    return tmp_path


def model(*locations: str, digest: str = DIGEST, name: str = "model.onnx") -> str:
    proto = schema.message("ModelProto")(ir_version=10)
    proto.graph.name = "g"
    for number, location in enumerate(locations):
        tensor = proto.graph.initializer.add(name=f"w{number}", data_type=2, dims=[len(DATA)], data_location=1)
        tensor.external_data.add(key="location", value=location)
        tensor.external_data.add(key="checksum", value=digest)
    Path(name).write_bytes(proto.SerializeToString())
    return name


def lint(path: str, **limits: int) -> FileReport:
    settings = Settings(
        select=("checksum-mismatch",),
        options={"checksum-mismatch": {"verify": True}},
        limits=DEFAULT_LIMITS.with_values(limits),
    )
    return lint_file(path, settings)


def test_a_file_is_read_once_however_often_and_in_whatever_spelling_it_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[int] = []
    original = os.read

    def counted(descriptor: int, length: int) -> bytes:
        piece = original(descriptor, length)
        read.append(len(piece))
        return piece

    path = model("sub/w.bin", "./sub/w.bin", "sub//w.bin", "sub/././w.bin", *["sub/w.bin"] * 50, digest="0" * 40)
    other = model("sub/w.bin", digest="0" * 40, name="other.onnx")
    monkeypatch.setattr(os, "read", counted)
    assert len(lint(path).diagnostics) == 54
    assert len(lint(other).diagnostics) == 1
    assert sum(read) == len(DATA)
    (Path("sub") / "w.bin").write_bytes(b"changed")
    assert lint(model("sub/w.bin")).diagnostics[0].message.endswith(hashlib.sha1(b"changed").hexdigest())


def test_unasked_a_few_megabytes_are_read() -> None:
    (Path("sub") / "large.bin").write_bytes(bytes((16 << 20) - len(DATA)))
    (Path("sub") / "one.bin").write_bytes(bytes(1))
    path = model("sub/w.bin", "sub/large.bin", "sub/one.bin", digest="0" * 40)
    report = lint_file(path, Settings(select=("checksum-mismatch",)))
    assert [item.place for item in report.diagnostics] == [
        "graph.initializer[0].external_data[1]",
        "graph.initializer[1].external_data[1]",
    ]
    assert report.incomplete == (
        "the checksum of 'sub/one.bin' was not verified: its 1 byte would only be read on request"
        " (option --verify-checksums)",
    )


def test_what_is_only_read_on_request_is_read_when_it_is_requested() -> None:
    size = (16 << 20) + 1
    (Path("sub") / "large.bin").write_bytes(bytes(size))
    digests = Digests(DataFolder(".", (), size))
    assert digests.digest_of("sub/large.bin", is_asked=False) is None
    assert "only be read on request" in digests.unread["sub/large.bin"]
    assert digests.digest_of("sub/large.bin", is_asked=True) == hashlib.sha1(bytes(size)).hexdigest()
    assert digests.unread == {}


def test_the_right_digest_is_no_finding() -> None:
    report = lint(model("sub/w.bin", digest=DIGEST.upper()))
    assert (report.diagnostics, report.incomplete) == ((), ())


def test_no_more_is_read_than_the_limit_and_what_is_left_is_told() -> None:
    (Path("sub") / "more.bin").write_bytes(DATA)
    report = lint(model("sub/w.bin", "sub/more.bin", digest="0" * 40), external_bytes=len(DATA) + 1)
    assert [item.place for item in report.diagnostics] == ["graph.initializer[0].external_data[1]"]
    (said,) = report.incomplete
    assert said == (
        "the checksum of 'sub/more.bin' was not verified: its 8,192 bytes are more than the limit external_bytes leaves"
        " (option --limit external_bytes=N)"
    )


def test_a_file_of_many_terabytes_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("huge").open("wb") as stream:
        try:
            stream.truncate(8 << 40)
        except OSError:
            pytest.skip("the file system has no sparse files of that size")
    report = lint(model("huge"))
    assert report.diagnostics == ()
    assert "8,796,093,022,208 bytes are more than the limit" in report.incomplete[0]


@one_in(3)
def test_pieces_are_bounded(step: int) -> None:
    with Path("large").open("wb") as stream:
        stream.truncate((288 << 20) // step)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert len(lint(model("large")).diagnostics) == 1
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 32 << 10  # KiB


def test_a_file_that_grows_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    original = os.read

    def growing(descriptor: int, length: int) -> bytes:
        with Path("sub/w.bin").open("ab") as stream:
            stream.write(bytes(length))
        return original(descriptor, length)

    path = model("sub/w.bin")
    monkeypatch.setattr(os, "read", growing)
    assert lint(path).diagnostics == ()


@POSIX
@pytest.mark.parametrize("what", ["file", "folder", "pipe", "hard link"])
def test_what_takes_the_place_of_a_file_after_the_look_is_not_read(
    folder: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """A race, which the attacker wins here each time: between the look at the path and the opening."""
    path = model("sub/w.bin")
    secret = folder / "secret"
    secret.mkdir()
    (secret / "w.bin").write_bytes(b"secret")
    original = data_folder.examine

    def examine(directory: str, location: str) -> data_folder.ExternalFile:
        found = original(directory, location)
        target = folder / "sub" / "w.bin"
        target.unlink()
        if what == "folder":
            target.parent.rmdir()
            target.parent.symlink_to(secret)
        elif what == "file":
            target.symlink_to(secret / "w.bin")
        elif what == "pipe":
            os.mkfifo(target)
        else:
            os.link(secret / "w.bin", target)
        return found

    monkeypatch.setattr(data_folder, "examine", examine)
    report = lint(path)
    assert report.diagnostics == ()
    assert report.incomplete[0].startswith("the checksum of 'sub/w.bin' was not verified: ")


@POSIX
def test_a_file_that_cannot_be_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(directory: str, location: str) -> int:
        raise PermissionError(13, "Permission denied", location)

    monkeypatch.setattr(data_folder, "open_below", refuse)  # root, as whom tests may run, reads every file
    report = lint(model("sub/w.bin"))
    assert report.incomplete == ("the checksum of 'sub/w.bin' was not verified: permission denied",)
