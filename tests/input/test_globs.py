# SPDX-License-Identifier: Apache-2.0
"""Patterns for paths: the matches, the time, and links in a circle, which are not followed forever."""

from __future__ import annotations

import glob
import os
import random
import re
import time
from pathlib import Path

import pytest
from support.project.each_case import each_case
from support.project.sampled import one_in

from onnx_lint.cli.paths import expanded, find_inputs
from onnx_lint.input.globs import MAX_CHARACTERS, matches_text

POSIX = pytest.mark.skipif(os.name != "posix", reason="links, and permissions of POSIX")

HOSTILE = (
    "*a" * 2000 + "b",
    "**a" * 1300 + "b",
    "**/a/" * 800 + "b",
    "/**" * 1300 + "/b",
    "[a-" * 1300 + "]b",
    "[" * MAX_CHARACTERS,
    "[!b]*" * 800 + "b",
    "?" * MAX_CHARACTERS,
    "?*" * 2000 + "b",
)


def _as_expression(pattern: str) -> str:
    """Return the pattern as an equivalent regular expression."""
    fixed = {"/**/": "/(?:.*/)?", "**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    tokens = re.findall(r"/\*\*/|^\*\*/|/\*\*$|\*\*|\*|\?|\[[^\]]*\]|.", pattern)
    return "".join(fixed.get(token) or (token if len(token) > 1 else re.escape(token)) for token in tokens)


@one_in(4)
def test_patterns_mean_what_their_regular_expressions_mean(step: int) -> None:
    chance = random.Random(5)
    parts = ("a", "b", ".", "/", "*", "?", "**", "/**/", "[ab]", "[^b/]", "[a-c]")
    both = {True: 0, False: 0}
    for _ in range(20_000 // step):
        pattern = "".join(chance.choices(parts, k=chance.randint(1, 6)))
        if "**/**" in pattern or any("**" in part != "**" for part in pattern.split("/")):
            continue
        text = "".join(chance.choices("abc/.", k=chance.randint(0, 8)))
        expected = re.fullmatch(_as_expression(pattern), text) is not None
        assert matches_text(pattern.replace("[^b/]", "[!b]"), text) == expected, (pattern, text)
        both[expected] += 1
    assert min(both.values()) > 500 // step


@each_case(
    ("pattern", "text", "expected"),
    [
        ("**/**/x", "x", True),
        ("**/**/x", "a/b/x", True),
        ("a/**/**/x", "a/x", True),
        ("[]", "[]", True),
        ("[]a]", "]", True),
        ("[z-a]", "m", False),
        ("[a-]", "-", True),
        ("[!a]", "/", False),
        ("[", "[", True),
        ("***", "a", True),
        ("a**b", "a.b", True),
        ("a**b", "a/b", False),
        ("**", "a/b", True),
        ("a/**", "a", False),
        ("a/**", "a/b/c", True),
        ("x" * (MAX_CHARACTERS + 1), "x" * (MAX_CHARACTERS + 1), False),
    ],
)
def test_odd_patterns(pattern: str, text: str, expected: bool) -> None:
    assert matches_text(pattern, text) == expected


@pytest.mark.timing
@pytest.mark.parametrize("pattern", HOSTILE, ids=lambda pattern: pattern[:8])
def test_hostile_patterns_take_no_longer_than_others(pattern: str) -> None:
    start = time.process_time()
    assert not matches_text(pattern, "a" * 4000)
    assert not matches_text(pattern, "/a" * 2000)
    assert time.process_time() - start < 1


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("m.onnx", "a/b/m.onnx", "a/.hidden/m.onnx", "a/.m.onnx", "c/n.onnx", "c/b/[n].onnx"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "pattern",
    [
        "*.onnx", "*", "*/*", "a/*", "./a/*", "**/*.onnx", "**/b/*.onnx", "a/**/*.onnx", "**/b/**/*.onnx", "*/b/../m*",
        "*/.*", "a/.h*/*", "[ac]/b", "*/", "a?b", "**/nothing", "nothing/**/*.onnx", "c/b/[[]n].onnx", "a//b/*.onnx",
    ],
)  # fmt: skip
def test_globs_mean_what_those_of_the_library_mean(pattern: str) -> None:
    known = {os.path.normpath(path) for path in glob.glob(pattern, recursive=True)}
    assert {os.path.normpath(path) for path in expanded(pattern)[0]} == known


@POSIX
@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("**", ["loops/m.onnx", "m.onnx"]),
        ("loops/**", ["loops/m.onnx"]),
        ("**/*.onnx", ["loops/m.onnx", "m.onnx"]),
        ("**/*", ["itself", "loops/m.onnx", "m.onnx"]),
        ("loops", ["loops/m.onnx"]),
        ("loops/*/*.onnx", ["loops/x/m.onnx", "loops/y/m.onnx"]),
    ],
)
def test_two_links_to_their_own_folder_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pattern: str, names: list[str]
) -> None:
    loops = tmp_path / "loops"
    loops.mkdir()
    (loops / "m.onnx").touch()
    (tmp_path / "m.onnx").touch()
    for name in "xy":
        (loops / name).symlink_to(".")
    (tmp_path / "itself").symlink_to("itself")
    monkeypatch.chdir(tmp_path)
    found = find_inputs([pattern])
    assert [item.path for item in found] == names
    assert [item.problem for item in found] == [None] * len(names)


@POSIX
def test_links_to_models_are_models(folder: Path) -> None:
    (folder / "c" / "linked.onnx").symlink_to(folder / "m.onnx")
    assert [item.path for item in find_inputs(["c/**"])] == ["c/b/[n].onnx", "c/linked.onnx", "c/n.onnx"]


@pytest.mark.usefixtures("folder")
def test_a_folder_that_cannot_be_looked_into_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    scandir = os.scandir

    def refuse(path: str) -> object:
        if path.startswith("c/b"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)  # root, as whom tests may run, looks into every folder
    found = [(item.path, item.problem) for item in find_inputs(["c/**/*.onnx"])]
    assert found == [("c/n.onnx", None), ("c/b", "c/b: Permission denied")]
    assert [item.problem for item in find_inputs(["*/*/[[]n].onnx"])] == ["*/*/[[]n].onnx: no model matches"]
