# SPDX-License-Identifier: Apache-2.0
"""Sources of all kinds return bytes by position, and reject endless streams."""

from __future__ import annotations

import errno
import io
import os
import random
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
from support.project.checkout import ROOT

from onnx_lint.engine.lint import lint_file
from onnx_lint.engine.selection import report_of
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import (
    READ_AT_ONCE_BYTES,
    WINDOW_BYTES,
    BytesSource,
    FileSource,
    Source,
    SourceError,
    open_file,
    source_of,
)

DATA = random.Random(7).randbytes(READ_AT_ONCE_BYTES + 17)

MODEL = b"\x08\x0a\x42\x04\x0a\x00\x10\x15\x3a\x02\x12\x00"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "data"
    path.write_bytes(DATA)
    return path


@pytest.fixture(params=["bytes", "file"])
def source(request: pytest.FixtureRequest, path: Path) -> Source:
    return BytesSource(DATA) if request.param == "bytes" else open_file(path)


def test_reads_are_slices(source: Source):
    generator = random.Random(1)
    assert source.size == len(DATA)
    for _ in range(300):
        offset = generator.randrange(len(DATA) + 10)
        length = generator.choice([0, 1, 7, 100, WINDOW_BYTES - 1, WINDOW_BYTES, WINDOW_BYTES + 1, len(DATA)])
        assert source.read_at(offset, length) == DATA[offset : offset + length]
    source.close()


def test_reading_past_the_end_gives_fewer_bytes(source: Source):
    assert source.read_at(len(DATA) - 3, 10) == DATA[-3:]
    assert source.read_at(len(DATA), 10) == b""
    assert source.read_at(len(DATA) + 5, 10) == b""
    source.close()


def test_a_file_that_shrinks_while_it_is_read(path: Path):
    source = open_file(path)
    assert source.read_at(0, 10) == DATA[:10]
    os.truncate(path, WINDOW_BYTES + 5)
    assert source.size == len(DATA)
    assert source.read_at(WINDOW_BYTES, 100) == DATA[WINDOW_BYTES : WINDOW_BYTES + 5]
    assert source.read_at(0, len(DATA)) == DATA[: WINDOW_BYTES + 5]
    assert source.read_at(2 * WINDOW_BYTES, 10) == b""
    source.close()


def test_a_file_that_grows_keeps_its_size(path: Path):
    source = open_file(path)
    with path.open("ab") as file:
        file.write(b"more")
    assert source.read_at(len(DATA) - 2, 10) == DATA[-2:]
    source.close()


def test_a_closed_file_is_not_read_again(path: Path):
    source = open_file(path)
    source.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        source.read_at(0, WINDOW_BYTES)
    source.close()


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: path.mkdir(), "is a directory, not a regular file"),
        (lambda path: os.mkfifo(path), "is a pipe, not a regular file"),
        (lambda path: path.symlink_to("/dev/zero"), "is a character device, not a regular file"),
        (lambda path: None, "No such file or directory"),
        (lambda path: path.symlink_to(path.name), "Too many levels of symbolic links"),
    ],
    ids=["directory", "pipe", "device", "nothing", "link-to-itself"],
)
def test_what_is_no_regular_file_is_refused(tmp_path: Path, make, reason: str):
    path = tmp_path / "thing"
    make(path)
    with pytest.raises(SourceError) as error:
        open_file(path)
    assert str(error.value) == f"{path}: {reason}"


def test_a_name_with_a_nul_byte_is_refused():
    with pytest.raises(SourceError, match="embedded null"):
        open_file("a\0b")


def test_a_file_without_permission_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "open", refuse)  # the tests may run as root, whom no permission stops
    with pytest.raises(SourceError) as error:
        open_file(path)
    assert str(error.value) == f"{path}: Permission denied"


def test_a_link_to_a_file_is_followed(path: Path, tmp_path: Path):
    link = tmp_path / "link"
    link.symlink_to(path)
    source = source_of(link)
    assert source.read_at(0, 5) == DATA[:5]
    source.close()


def test_an_unreadable_path_is_a_report_without_a_verdict(tmp_path: Path):
    file = lint_file(str(tmp_path), Settings())
    report = report_of([file], Settings())
    assert (file.diagnostics, file.unreadable) == ((), f"{tmp_path}: is a directory, not a regular file")
    assert not report.conforms


READ = (
    "from onnx_lint.input.source import open_standard_input; import zlib; source = open_standard_input(); "
    "print(source.size, type(source).__name__, zlib.crc32(source.read_at(0, source.size)))"
)


def _read_standard_input(**keywords) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", READ]
    return subprocess.run(command, cwd=ROOT, capture_output=True, check=False, timeout=600, **keywords)


@pytest.mark.parametrize("size", [0, 1, len(DATA), 3_000_000])
def test_standard_input_from_a_pipe_is_spooled(size: int):
    data = (DATA * 20)[:size]
    done = _read_standard_input(input=data)
    assert (done.stdout.decode().split(), done.stderr) == ([str(size), "FileSource", str(zlib.crc32(data))], b"")


def test_standard_input_from_a_file_is_read_by_position(path: Path):
    with path.open("rb") as file:
        done = _read_standard_input(stdin=file)
    assert (done.stdout.decode().split(), done.stderr) == ([str(len(DATA)), "FileSource", str(zlib.crc32(DATA))], b"")


def test_standard_input_that_never_ends_is_refused():
    with Path("/dev/zero").open("rb") as file:
        done = _read_standard_input(stdin=file)
    assert b"SourceError: standard input is a character device, which may never end" in done.stderr


def test_a_model_comes_through_standard_input():
    command = [sys.executable, "-m", "onnx_lint", "-", "-q", "--format", "concise"]
    done = subprocess.run(command, cwd=ROOT, input=MODEL, capture_output=True, check=False, timeout=600)
    assert done.returncode in {0, 1}
    assert done.stderr == b""


def test_a_standard_input_without_a_descriptor(monkeypatch: pytest.MonkeyPatch):
    class Replaced:
        buffer = io.BytesIO(MODEL)

    monkeypatch.setattr(sys, "stdin", Replaced())
    with pytest.raises(SourceError, match="standard input"):
        source_of("-")


def test_a_large_file_is_read_through_a_small_window(path: Path):
    source = open_file(path)
    assert isinstance(source, FileSource)
    source.read_at(0, 1)
    assert len(source._window) == WINDOW_BYTES
    source.read_at(WINDOW_BYTES, 1)
    assert len(source._window) == WINDOW_BYTES, "the next bytes"
    source.read_at(3 * WINDOW_BYTES, 1)
    assert len(source._window) < WINDOW_BYTES, "few bytes after a gap"
    source.read_at(0, len(DATA))
    assert len(source._window) < WINDOW_BYTES, "a large read does not stay in memory"
    source.close()


def test_a_small_file_is_read_once(path: Path, monkeypatch: pytest.MonkeyPatch):
    path.write_bytes(DATA[:READ_AT_ONCE_BYTES])
    source = open_file(path)
    assert source.read_at(5, 1) == DATA[5:6]
    monkeypatch.setattr("onnx_lint.input.source._read_positioned", None)
    assert source.read_at(WINDOW_BYTES, READ_AT_ONCE_BYTES) == DATA[WINDOW_BYTES:READ_AT_ONCE_BYTES]
    assert source.read_at(0, READ_AT_ONCE_BYTES) == DATA[:READ_AT_ONCE_BYTES]
    source.close()
