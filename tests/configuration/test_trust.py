# SPDX-License-Identifier: Apache-2.0
"""Who could have written a file, by its owner, its modes and the folders and links on the way."""

from __future__ import annotations

import errno
import os
import struct
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from onnx_lint.configuration.trust import _is_private_group, dangers, user_file


def test_the_place_of_the_configuration_of_the_user_is_that_of_platformdirs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("XDG_CONFIG_HOME", "/elsewhere")
    assert user_file() == "/elsewhere/onnx-lint.toml"
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    assert user_file() == "/home/me/.config/onnx-lint.toml"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert user_file() == "/home/me/Library/Application Support/onnx-lint.toml"
    monkeypatch.setattr(sys, "platform", "win32")
    assert user_file() == "/home/me/AppData/Local/onnx-lint.toml"
    monkeypatch.setenv("LOCALAPPDATA", "/local")
    assert user_file() == "/local/onnx-lint.toml"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no owners here")
def test_every_link_on_the_way_counts(tmp_path: Path):
    folder = tmp_path
    (folder / "rules.py").touch()
    (folder / "open").mkdir()
    (folder / "open" / "second").symlink_to(folder / "rules.py")
    (folder / "first.py").symlink_to("open/second")
    assert list(dangers(str(folder / "first.py"))) == []
    (folder / "open").chmod(0o777)
    assert {found.text for found in dangers(str(folder / "first.py"))} == {f"everybody can write to {folder / 'open'}"}
    (folder / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="too many links"):
        list(dangers(str(folder / "loop")))


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no groups here")
def test_a_group_is_private_if_nobody_else_is_in_it(monkeypatch: pytest.MonkeyPatch):
    """Debian and Fedora give each user such a group, and umask 002: their files are safe."""
    import grp
    import pwd

    users = [("me", os.geteuid(), 100), ("you", 4242, 200)]
    members = {100: [], 101: ["me"], 102: ["me", "you"], 200: []}
    names = ("pw_name", "pw_uid", "pw_gid")
    monkeypatch.setattr(
        pwd, "getpwall", lambda: [SimpleNamespace(**dict(zip(names, user, strict=True))) for user in users]
    )
    monkeypatch.setattr(grp, "getgrgid", lambda group: SimpleNamespace(gr_mem=members[group]))
    assert [_is_private_group(each, {0, os.geteuid()}) for each in (100, 101, 102, 200)] == [True, True, False, False]


# --- access control lists

OWNER, USER, FILE_GROUP, GROUP, MASK, OTHER = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
NOBODY = 0xFFFFFFFF
Entry = tuple[int, int] | tuple[int, int, int]
STRANGER = 4242


def _list(*entries: Entry) -> bytes:
    """Return an access control list as Linux stores it. An entry is a tag, permissions, and the id if it has one."""
    packed = [struct.pack("<HHI", tag, permissions, *(number or [NOBODY])) for tag, permissions, *number in entries]
    return struct.pack("<I", 2) + b"".join(packed)


def _with_list(path: Path, content: bytes | OSError, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a file have this access control list; no other file has any."""

    def getxattr(name: str, attribute: str, *, follow_symlinks: bool) -> bytes:
        assert (attribute, follow_symlinks) == ("system.posix_acl_access", False)
        if Path(name) != path:
            raise OSError(errno.ENODATA, "No data available")
        if isinstance(content, OSError):
            raise content
        return content

    monkeypatch.setattr(os, "getxattr", getxattr, raising=False)


def _dangers(path: Path) -> list[str]:
    return [found.text for found in dangers(str(path))]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no owners here")
@pytest.mark.parametrize("name", ["rules.py", ""], ids=["file", "folder"])
def test_an_access_control_list_says_who_can_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    """The bits of the group are then the mask of the list. The group of the file itself is private here."""
    monkeypatch.setattr("onnx_lint.configuration.trust._is_private_group", lambda group, _: group != STRANGER)
    folder = tmp_path / "plugins"
    folder.mkdir()
    (folder / "rules.py").touch()
    place = folder / name
    place.chmod(0o775)
    rest: list[Entry] = [(OWNER, 7), (FILE_GROUP, 7), (MASK, 7), (OTHER, 5)]
    for added, who in [
        ((USER, 6, STRANGER), f"user {STRANGER}"),
        ((USER, 2, STRANGER), f"user {STRANGER}"),
        ((USER, 5, STRANGER), None),
        ((USER, 7, os.geteuid()), None),
        ((USER, 7, 0), None),
        ((USER, 7, NOBODY), f"user {NOBODY}"),  # of another user namespace
        ((GROUP, 6, STRANGER), f"group {STRANGER}"),
        ((GROUP, 5, STRANGER), None),
        ((GROUP, 6, 77), None),
    ]:
        _with_list(place, _list(*rest, added), monkeypatch)
        assert _dangers(folder / "rules.py") == ([f"{who} can write to {place}"] if who is not None else []), added
    _with_list(place, _list((OWNER, 7), (USER, 6, STRANGER), (FILE_GROUP, 7), (MASK, 5), (OTHER, 5)), monkeypatch)
    place.chmod(0o755)
    assert _dangers(folder / "rules.py") == [], "the mask takes the permission away"


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no owners here")
def test_the_group_of_a_file_with_a_list_is_asked_for_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("onnx_lint.configuration.trust._is_private_group", lambda *_: False)
    path = tmp_path / "rules.py"
    path.touch()
    path.chmod(0o664)
    may_write, may_read = ([(OWNER, 6), (USER, 4, 1), (FILE_GROUP, each), (MASK, 6), (OTHER, 4)] for each in (6, 4))
    _with_list(path, _list(*may_write), monkeypatch)
    assert _dangers(path) == [f"group {path.stat().st_gid} can write to {path}"]
    _with_list(path, _list(*may_read), monkeypatch)
    assert _dangers(path) == []


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no owners here")
@pytest.mark.parametrize(
    ("content", "is_danger"),
    [
        (OSError(errno.ENOTSUP, "not supported"), False),
        (OSError(errno.EIO, "an error"), True),
        (b"", True),
        (_list((OWNER, 7))[:-1], True),
        (b"\3" + _list((OWNER, 7))[1:], True),
    ],
    ids=["none here", "error", "empty", "cut", "version"],
)
def test_a_list_that_cannot_be_read_may_allow_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | OSError, is_danger: bool
):
    monkeypatch.setattr("onnx_lint.configuration.trust._is_private_group", lambda *_: True)
    path = tmp_path / "rules.py"
    path.touch()
    path.chmod(0o664)
    _with_list(path, content, monkeypatch)
    said = f"the access control list of {path} cannot be read"
    assert _dangers(path) == ([said] if is_danger else [])


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="Python reads no access control lists here")
def test_a_list_that_the_system_keeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A default list of a folder says what new files get, and nothing about those that are there."""
    monkeypatch.setattr("onnx_lint.configuration.trust._is_private_group", lambda *_: True)
    path = tmp_path / "rules.py"
    path.touch()
    with_stranger = _list((OWNER, 7), (USER, 6, STRANGER), (FILE_GROUP, 4), (MASK, 7), (OTHER, 0))
    try:
        os.setxattr(tmp_path, "system.posix_acl_default", with_stranger)
        assert _dangers(path) == []
        os.setxattr(path, "system.posix_acl_access", with_stranger)
    except OSError:
        pytest.skip("the file system has no access control lists")
    assert _dangers(path) == [f"user {STRANGER} can write to {path}"]
    path.chmod(0o755)
    assert _dangers(path) == []
