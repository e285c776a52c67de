# SPDX-License-Identifier: Apache-2.0
"""A file is written whole or not at all, and keeps what it should of the one that it replaces."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.processes.signals import heed_signals

from onnx_lint.common.whole_file import NotWrittenError, OpenFile, Replaceable, Replaced, whole_file

OLD, NEW = b"old" * 1000, b"old" * 500 + b"new" + b"old" * 500

on_posix = pytest.mark.skipif(os.name != "posix", reason="modes and links of POSIX")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "model.onnx"
    path.write_bytes(OLD)
    return path


def _opened(path: Path) -> OpenFile:
    """The file as `fix` has opened it; its descriptor is left to the end of the tests."""
    descriptor = os.open(path, os.O_RDONLY)
    return OpenFile(descriptor, os.fstat(descriptor))


def _write(path: Path, replaces: Replaced = Replaceable.ANY_FILE, meddle: Callable[[], object] = lambda: None) -> None:
    with whole_file(str(path), replaces) as (descriptor, _):
        os.write(descriptor, NEW)
        meddle()


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _refuse(*_: object, **__: object) -> None:
    raise PermissionError(1, "Operation not permitted")


@pytest.mark.parametrize("kind", [OpenFile, *Replaceable])
def test_the_new_file_appears_when_all_of_it_is_written(path: Path, kind: Replaceable | type[OpenFile]):
    if kind is Replaceable.NO_FILE:
        path.unlink()
    seen = []
    replaces: Replaced = kind if isinstance(kind, Replaceable) else _opened(path)
    _write(path, replaces, lambda: seen.append(path.read_bytes() if path.exists() else None))
    assert seen == [None if kind is Replaceable.NO_FILE else OLD]
    assert path.read_bytes() == NEW
    assert os.listdir(path.parent) == ["model.onnx"]


def test_a_relative_path_and_the_longest_name_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    for name in ("m" * 255, "\N{CJK UNIFIED IDEOGRAPH-6A21}" * 85, "\N{ROBOT FACE}" * 63):
        _write(Path(name))
        assert Path(name).read_bytes() == NEW


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
def test_a_full_disk_leaves_the_old_file(path: Path, monkeypatch: pytest.MonkeyPatch, step: str):
    def fail(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, step, fail)
        with pytest.raises(OSError, match="No space left"):
            _write(path)
    assert path.read_bytes() == OLD
    assert os.listdir(path.parent) == ["model.onnx"]


@pytest.mark.parametrize("error", [NotWrittenError("it is worse"), KeyboardInterrupt()])
def test_a_block_that_raises_leaves_the_old_file(path: Path, error: BaseException):
    def fail() -> None:
        raise error

    with pytest.raises(type(error)):
        _write(path, meddle=fail)
    assert path.read_bytes() == OLD
    assert os.listdir(path.parent) == ["model.onnx"]


@on_posix
def test_the_content_is_on_the_disk_before_the_path_leads_to_it(path: Path, monkeypatch: pytest.MonkeyPatch):
    """What a crash of the system leaves is the old file or the new one, and not an empty one."""
    steps = []

    def recording(name: str) -> Callable[..., object]:
        real = getattr(os, name)

        def call(first: int | str, *others: object) -> object:
            is_folder = isinstance(first, int) and stat.S_ISDIR(os.fstat(first).st_mode)
            steps.append(f"{name} folder" if is_folder else name)
            return real(first, *others)

        return call

    for name in ("write", "fchmod", "fsync", "replace"):
        monkeypatch.setattr(os, name, recording(name))
    _write(path)
    assert steps == ["write", "fchmod", "fsync", "replace", "fsync folder"]


@on_posix
@pytest.mark.parametrize(("before", "after"), [(0o6755, 0o755), (0o1640, 0o640), (0o600, 0o600)])
@pytest.mark.parametrize("is_open", [False, True], ids=["any file", "open file"])
def test_only_permissions_are_carried_over(path: Path, before: int, after: int, is_open: bool) -> None:
    path.chmod(before)
    _write(path, _opened(path) if is_open else Replaceable.ANY_FILE)
    assert (path.read_bytes(), _mode(path)) == (NEW, after)


@on_posix
@pytest.mark.parametrize("replaces", Replaceable)
def test_a_file_that_was_not_there_gets_the_permissions_of_any_new_file(tmp_path: Path, replaces: Replaced):
    mask = os.umask(0o027)
    try:
        _write(tmp_path / "report", replaces)
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(mask)
    assert _mode(tmp_path / "report") == 0o640


def _of_another_user(path: Path) -> os.stat_result:
    old = path.stat()
    return os.stat_result((*old[:4], old.st_uid + 1, *old[5:]), {"st_mtime_ns": old.st_mtime_ns})


@on_posix
@pytest.mark.parametrize("is_open", [False, True], ids=["any file", "open file"])
def test_the_owner_is_kept(path: Path, monkeypatch: pytest.MonkeyPatch, is_open: bool):
    foreign, given = _of_another_user(path), []
    monkeypatch.setattr(os, "fchown", lambda descriptor, *owner: given.append(owner))
    if is_open:
        with pytest.raises(NotWrittenError, match="has changed meanwhile"):  # not really of another user
            _write(path, _opened(path)._replace(status=foreign))
    else:
        monkeypatch.setattr(os, "stat", lambda _: foreign)
        _write(path)
    assert given == [(foreign.st_uid, foreign.st_gid)]


@on_posix
def test_an_owner_that_cannot_be_kept_leaves_a_model_and_not_a_report(path: Path, monkeypatch: pytest.MonkeyPatch):
    foreign = _of_another_user(path)
    monkeypatch.setattr(os, "fchown", _refuse)
    with pytest.raises(NotWrittenError, match="the owner of the file cannot be kept: Operation not permitted"):
        _write(path, _opened(path)._replace(status=foreign))
    assert path.read_bytes() == OLD
    with monkeypatch.context() as patched:
        patched.setattr(os, "stat", lambda _: foreign)
        _write(path)
    assert path.read_bytes() == NEW


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="the system has no extended attributes")
def test_extended_attributes_are_kept(path: Path, monkeypatch: pytest.MonkeyPatch):
    try:
        os.setxattr(path, "user.origin", b"exporter 7")
    except OSError:
        pytest.skip("the file system has no extended attributes")
    _write(path, _opened(path))
    assert path.read_bytes() == NEW
    assert os.getxattr(path, "user.origin") == b"exporter 7"
    monkeypatch.setattr(os, "setxattr", _refuse)
    _write(path, _opened(path))
    assert os.listxattr(path) == []


def test_an_attribute_that_needs_more_space_than_there_is_leaves_the_old_file(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "listxattr", lambda _: ["user.origin"], raising=False)
    monkeypatch.setattr(os, "getxattr", lambda *_: b"", raising=False)
    monkeypatch.setattr(os, "setxattr", fail, raising=False)
    with pytest.raises(OSError, match="No space left"):
        _write(path, _opened(path))
    assert path.read_bytes() == OLD


def test_a_system_without_owners_and_attributes_gets_a_file_that_is_closed(path: Path, monkeypatch: pytest.MonkeyPatch):
    """As on Windows, which renames no open file."""
    for name in ("fchmod", "fchown", "listxattr", "O_DIRECTORY"):
        monkeypatch.delattr(os, name, raising=False)
    path.chmod(0o444)
    mode, real = _mode(path), os.replace
    with whole_file(str(path), _opened(path)) as (descriptor, _):

        def renamed(one: str, other: str) -> None:
            with pytest.raises(OSError, match="descriptor"):
                os.fstat(descriptor)
            real(one, other)

        monkeypatch.setattr(os, "replace", renamed)
        os.write(descriptor, NEW)
    assert (path.read_bytes(), _mode(path)) == (NEW, mode)


@on_posix
def test_other_hard_links_lead_to_the_old_file(path: Path):
    os.link(path, path.with_name("other"))
    _write(path)
    assert (path.read_bytes(), path.with_name("other").read_bytes()) == (NEW, OLD)


@pytest.mark.parametrize("change", ["content", "another file", "gone"])
def test_a_file_that_changed_meanwhile_is_left_alone(path: Path, change: str):
    def meddle() -> None:
        if change == "content":
            path.write_bytes(b"theirs")
        else:
            path.unlink()
            if change == "another file":
                path.write_bytes(b"theirs")

    with pytest.raises(NotWrittenError, match="has changed meanwhile"):
        _write(path, _opened(path), meddle)
    assert os.listdir(path.parent) == ([] if change == "gone" else ["model.onnx"])
    assert change == "gone" or path.read_bytes() == b"theirs"


@on_posix
@pytest.mark.parametrize("what", ["file", "link"])
def test_what_appeared_meanwhile_is_left_alone(tmp_path: Path, what: str):
    path = tmp_path / "w.bin"

    def meddle() -> None:
        if what == "file":
            path.write_bytes(b"theirs")
        else:
            path.symlink_to("nowhere")

    with pytest.raises(NotWrittenError, match=r"another program has written .*w\.bin meanwhile"):
        _write(path, Replaceable.NO_FILE, meddle)
    assert os.listdir(tmp_path) == ["w.bin"]
    assert path.is_symlink() if what == "link" else path.read_bytes() == b"theirs"


@on_posix
@pytest.mark.parametrize("place", ["link", "file"])
def test_a_file_that_another_program_put_in_place_of_the_new_one_is_not_used(tmp_path: Path, place: str) -> None:
    """The owner of the folder can do that at any moment before the renaming."""
    victim, report = tmp_path / "victim", tmp_path / "folder" / "report"
    report.parent.mkdir()
    for path, mode in ((victim, 0o600), (report, 0o4777)):
        path.write_bytes(b"old")
        path.chmod(mode)

    def write_and_swap() -> None:
        with whole_file(str(report)) as (descriptor, temporary):
            os.write(descriptor, b"new")
            os.unlink(temporary)
            if place == "link":
                os.symlink(victim, temporary)
            else:
                Path(temporary).write_bytes(b"theirs")

    with pytest.raises(OSError, match="another program replaced the new file"):
        write_and_swap()
    assert (victim.read_bytes(), _mode(victim)) == (b"old", 0o600)
    assert report.read_bytes() == b"old"
    assert os.listdir(report.parent) == ["report"]


WRITING = """
import os, signal, sys
from pathlib import Path
from onnx_lint.common.whole_file import OpenFile, Replaceable, whole_file
from onnx_lint.input.copying import copy_all
from onnx_lint.input.patched_source import unpatched
from onnx_lint.input.source import open_file

def write(path, kind):
    source = unpatched(open_file(path)).patched([(1500, 1500, [b"new"])])
    is_open = kind == "open file"
    replaces = OpenFile(source.base.descriptor, path.stat()) if is_open else Replaceable.ANY_FILE
    with whole_file(str(path), replaces) as new:
        copy_all(source, new[0])
"""

KILLED = f"""{WRITING}
path, kind, step, number = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
real = getattr(os, step)

def killed(*arguments, **named):
    if step == "replace" and sys.argv[5] == "after":
        real(*arguments, **named)
    os.kill(os.getpid(), number)
    return real(*arguments, **named)

setattr(os, step, killed)
write(path, kind)
"""


@pytest.mark.slow
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
@pytest.mark.parametrize("kind", ["any file", "open file"])
def test_a_signal_at_any_step_leaves_the_old_file_or_the_new_one(
    path: Path, kind: str, step: str, when: str, number: signal.Signals
):
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(path), kind, step, str(int(number)), when],
        capture_output=True,
        check=False,
        preexec_fn=heed_signals,
    )
    assert done.returncode != 0
    assert path.read_bytes() == (NEW if when == "after" else OLD)
    if number == signal.SIGINT:
        assert os.listdir(path.parent) == ["model.onnx"]


COUNTED = f"""{WRITING}
left = int(sys.argv[3])

def counting(real):
    def call(*arguments, **named):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments, **named)
    return call

for name in ("open", "write", "copy_file_range", "fstat", "fsync", "fchmod", "stat", "lstat", "replace", "close"):
    if hasattr(os, name):
        setattr(os, name, counting(getattr(os, name)))
write(Path(sys.argv[1]), sys.argv[2])
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["any file", "open file"])
def test_a_kill_before_any_call_of_the_system_leaves_the_old_file_or_the_new_one(path: Path, kind: str):
    seen = []
    for number in range(100):
        path.write_bytes(OLD)
        command = [sys.executable, "-c", COUNTED, str(path), kind, str(number)]
        done = subprocess.run(command, capture_output=True, check=False)
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
