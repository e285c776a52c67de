# SPDX-License-Identifier: Apache-2.0
"""A file is replaced as a whole or not at all, even if the process is interrupted."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from support.processes.peak_memory import run
from support.processes.signals import heed_signals

from onnx_lint.fixing import rewrite as module
from onnx_lint.fixing.rewrite import NotWrittenError, rewrite, write_pieces
from onnx_lint.input.patched_source import PatchedSource, unpatched
from onnx_lint.input.source import BytesSource, open_file

pytestmark = pytest.mark.slow

OLD, NEW = b"old" * 1000, b"old" * 500 + b"new" + b"old" * 500


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(OLD)
    return path


def _source(path: Path) -> PatchedSource:
    return unpatched(open_file(path)).patched([(1500, 1500, [b"new"])])


def _rewrite(path: Path, problem: str | None = None) -> None:
    old = path.stat()
    rewrite(str(path), _source(path), lambda _: problem, old)


def test_the_new_file_takes_the_place_of_the_old_one(path: Path):
    os.chmod(path, 0o640)
    seen = []

    def check(written: str) -> None:
        seen.append(Path(written).read_bytes())
        assert path.read_bytes() == OLD

    rewrite(str(path), _source(path), check, path.stat())
    assert (path.read_bytes(), seen) == (NEW, [NEW])
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(path.parent) == ["model.onnx"]


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="the system has no extended attributes")
def test_extended_attributes_are_kept(path: Path):
    try:
        os.setxattr(path, "user.origin", b"exporter 7")
    except OSError:
        pytest.skip("the file system has no extended attributes")
    _rewrite(path)
    assert path.read_bytes() == NEW
    assert os.getxattr(path, "user.origin") == b"exporter 7"


def test_a_system_that_does_not_copy_by_itself_gets_blocks(path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(*_: object, **__: object) -> int:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "copy_file_range", refuse, raising=False)
    monkeypatch.setattr(module, "_BLOCK_BYTES", 7)
    _rewrite(path)
    assert path.read_bytes() == NEW


@pytest.mark.parametrize("change", ["content", "another file", "gone"])
def test_a_file_that_changed_meanwhile_is_left_alone(path: Path, change: str):
    def meddle(_: str) -> None:
        if change == "content":
            path.write_bytes(b"theirs")
        else:
            path.unlink()
            if change == "another file":
                path.write_bytes(b"theirs")

    with pytest.raises(NotWrittenError, match="has changed meanwhile"):
        rewrite(str(path), _source(path), meddle, path.stat())
    assert os.listdir(path.parent) == ([] if change == "gone" else ["model.onnx"])
    assert change == "gone" or path.read_bytes() == b"theirs"


def test_a_file_that_is_not_as_expected_is_not_put_in_place(path: Path):
    with pytest.raises(NotWrittenError, match="it is worse"):
        _rewrite(path, "it is worse")
    assert path.read_bytes() == OLD
    assert os.listdir(path.parent) == ["model.onnx"]


def test_a_full_disk_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "copy_file_range", fail, raising=False)
    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(OSError, match="No space left"):
        _rewrite(path)
    monkeypatch.undo()
    assert path.read_bytes() == OLD
    assert os.listdir(path.parent) == ["model.onnx"]


def test_an_owner_that_cannot_be_kept_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch):
    def fail(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    old = path.stat()
    foreign = os.stat_result((*old[:4], old.st_uid + 1, *old[5:]), {"st_mtime_ns": old.st_mtime_ns})
    monkeypatch.setattr(os, "fchown", fail)
    with pytest.raises(NotWrittenError, match="owner"):
        rewrite(str(path), _source(path), lambda _: None, foreign)
    assert path.read_bytes() == OLD


def test_a_source_that_became_shorter_is_an_error(path: Path, tmp_path: Path):
    source = _source(path)
    os.truncate(path, 100)
    with (tmp_path / "new").open("wb", buffering=0) as stream, pytest.raises(OSError, match="shorter"):
        write_pieces(source, stream.fileno())


def test_bytes_in_memory_can_be_written(tmp_path: Path):
    source = unpatched(BytesSource(OLD)).patched([(1500, 1500, [b"new"])])
    with (tmp_path / "new").open("wb", buffering=0) as stream:
        write_pieces(source, stream.fileno())
    assert (tmp_path / "new").read_bytes() == NEW


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from onnx_lint.fixing.rewrite import rewrite
from onnx_lint.input.patched_source import unpatched
from onnx_lint.input.source import open_file

path, step, number = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
real = getattr(os, step)

def killed(*arguments, **named):
    if step == "replace" and sys.argv[4] == "after":
        real(*arguments, **named)
    os.kill(os.getpid(), number)
    return real(*arguments, **named)

setattr(os, step, killed)
source = unpatched(open_file(path)).patched([(1500, 1500, [b"new"])])
rewrite(str(path), source, lambda _: None, path.stat())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
@pytest.mark.parametrize(
    ("step", "when"),
    [
        ("copy_file_range", ""),
        ("write", ""),
        ("fsync", ""),
        ("fchmod", ""),
        ("replace", "before"),
        ("replace", "after"),
    ],
)
def test_a_signal_at_any_step_leaves_the_old_file_or_the_new_one(
    path: Path, step: str, when: str, number: signal.Signals
):
    code = KILLED.format(tests=str(path.parent))
    done = subprocess.run(
        [sys.executable, "-c", code, str(path), step, str(int(number)), when],
        capture_output=True,
        check=False,
        preexec_fn=heed_signals,
    )
    assert done.returncode != 0
    assert path.read_bytes() == (NEW if when == "after" else OLD)
    if number == signal.SIGINT:
        assert os.listdir(path.parent) == ["model.onnx"]


COUNTED = """
import os, signal, sys
from pathlib import Path
from onnx_lint.fixing.rewrite import rewrite
from onnx_lint.input.patched_source import unpatched
from onnx_lint.input.source import open_file

left = int(sys.argv[2])

def counting(real):
    def call(*arguments, **named):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **named)
    return call

path = Path(sys.argv[1])
source = unpatched(open_file(path)).patched([(1500, 1500, [b"new"])])
old = path.stat()
for name in ("open", "write", "copy_file_range", "fstat", "fsync", "chmod", "stat", "lstat", "replace", "close"):
    if hasattr(os, name):
        setattr(os, name, counting(getattr(os, name)))
rewrite(str(path), source, lambda _: None, old)
"""


def test_a_kill_before_any_call_of_the_system_leaves_the_old_file_or_the_new_one(path: Path):
    seen = []
    for number in range(100):
        path.write_bytes(OLD)
        done = subprocess.run([sys.executable, "-c", COUNTED, str(path), str(number)], capture_output=True, check=False)
        seen.append(path.read_bytes())
        for left in set(os.listdir(path.parent)) - {"model.onnx"}:
            assert left.startswith(".model.onnx.")
            assert left.endswith(".onnx-lint.tmp")
            (path.parent / left).unlink()
        if done.returncode == 0:
            break
    assert len(seen) > 8
    assert done.returncode == 0
    first = seen.index(NEW)
    assert seen == [OLD] * first + [NEW] * (len(seen) - first)


@pytest.mark.heavy
def test_a_model_with_ten_gib_of_external_data_is_mended_in_little_memory(tmp_path: Path):
    """Nodes out of order, and a sparse data file, which is neither read nor changed."""
    from support.wire.wire_bytes import length, number

    size = 10 << 30
    with (tmp_path / "w.bin").open("wb") as stream:
        stream.truncate(size)
    before = (tmp_path / "w.bin").stat()
    nodes = [length(1, length(1, one) + length(2, other) + length(4, "Relu")) for one, other in ("by", "ab", "wa")]
    entries = length(13, length(1, "location") + length(2, "w.bin"))
    tensor = number(1, size // 4) + number(2, 1) + length(8, "w") + entries + number(14, 1)
    end = length(12, length(1, "y") + length(2, length(1, number(1, 1) + length(2, length(1, number(1, size // 4))))))
    graph = b"".join(nodes) + length(2, "g") + length(5, tensor) + end
    path = tmp_path / "model.onnx"
    path.write_bytes(number(1, 10) + length(2, "p") + length(3, "1") + length(8, number(2, 21)) + length(7, graph))
    found = run(path, "--fix", "--ignore", "missing-model-domain")
    assert (found.code, found.errors) == (0, "")
    assert found.peak_bytes < 100 << 20
    assert path.read_bytes().index(b"\x0a\x01w\x12\x01a") < path.read_bytes().index(b"\x0a\x01a\x12\x01b")
    after = (tmp_path / "w.bin").stat()
    assert (after.st_mtime_ns, after.st_ino, after.st_blocks) == (before.st_mtime_ns, before.st_ino, before.st_blocks)


@pytest.mark.heavy
def test_a_file_of_three_gib_is_mended_in_little_memory(tmp_path: Path):
    """Nodes out of order before a sparse tensor of 3 GiB: only the graph is read, and the rest is copied."""
    from support.wire.wire_bytes import length, number, tag, varint

    size = 3 << 30
    nodes = [length(1, length(1, one) + length(2, other) + length(4, "Relu")) for one, other in ("by", "ab", "xa")]
    shape = length(2, length(1, number(1, size)))
    value = length(2, length(1, number(1, 2) + shape))
    tensor = number(1, size) + number(2, 2) + length(8, "w") + tag(9, 2) + varint(size)
    ends = length(11, length(1, "x") + value) + length(12, length(1, "y") + value)
    head = b"".join(nodes) + length(2, "g") + tag(5, 2) + varint(len(tensor) + size) + tensor
    path = tmp_path / "large.onnx"
    with path.open("wb") as stream:
        stream.write(number(1, 10) + length(2, "p") + length(3, "1") + length(8, number(2, 21)))
        stream.write(tag(7, 2) + varint(len(head) + size + len(ends)) + head)
        stream.seek(size, os.SEEK_CUR)
        stream.write(ends)
    found = run(path, "--fix", "--select", "unordered-nodes")
    assert (found.code, found.errors) == (0, "")
    assert found.peak_bytes < 100 << 20
    mended = run(path, "--select", "unordered-nodes")
    assert mended.code == 0
    assert path.stat().st_size > size
