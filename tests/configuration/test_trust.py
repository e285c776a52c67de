# SPDX-License-Identifier: Apache-2.0
"""Who could have written a file, by its owner, its modes and the folders and links on the way."""

from __future__ import annotations

import os
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
