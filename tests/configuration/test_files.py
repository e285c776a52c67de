# SPDX-License-Identifier: Apache-2.0
"""A configuration beside an untrusted model may make the program read only regular files of bounded size."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.models.clean_model import CLEAN
from support.project.checkout import ROOT

from onnx_lint.configuration import file_names
from onnx_lint.configuration.baselines import file as baseline_file
from onnx_lint.configuration.errors import ConfigurationError
from onnx_lint.configuration.files import read_file
from onnx_lint.input.regular_file import open_regular, read_regular
from onnx_lint.spec.operators import schema_file

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes, devices and links of POSIX")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "model.textproto").write_text(CLEAN)
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lint(*arguments: str) -> tuple[int, str]:
    command = [sys.executable, "-m", "onnx_lint", "model.textproto", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
    return done.returncode, done.stderr


KINDS = {
    "pipe": "is a pipe, not a regular file",
    "/dev/zero": "is a character device, not a regular file",
    "folder": "is a directory, not a regular file",
    "large": "is larger than {:,} bytes",
}
LINES = {
    "extend": ('extend = "{}"', file_names.MAX_CONFIGURATION_BYTES),
    "baseline": ('baseline = "{}"', baseline_file.MAX_BYTES),
    "opset-schemas": ('opset-schemas = ["{}"]', schema_file.MAX_BYTES),
}


@pytest.mark.parametrize("path", KINDS)
@pytest.mark.parametrize("key", LINES)
def test_a_configuration_names_regular_files_of_bounded_size(folder: Path, key: str, path: str) -> None:
    line, most = LINES[key]
    with (folder / "large").open("wb") as stream:
        stream.truncate(most + 1)
    (folder / "onnx-lint.toml").write_text(line.format(path))
    code, error = lint()
    assert code == 2
    assert error.startswith(f"Error: onnx-lint.toml: {key}: ")
    assert f"{path}: {KINDS[path].format(most)}" in error


@pytest.mark.parametrize("options", [["--baseline", "pipe"], ["--opset-schema", "pipe"], ["--config", "pipe"]])
def test_so_does_the_command_line(folder: Path, options: list[str]) -> None:
    assert lint(*options) == (2, f"Error: pipe: {KINDS['pipe']}\n")


def test_links_are_followed(folder: Path) -> None:
    (folder / "link").symlink_to("model.textproto")
    assert read_regular("link", 1 << 20) == CLEAN.encode()


def test_what_takes_the_place_of_a_file_before_it_is_opened_is_looked_at(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between `stat` and `open`, the file may be replaced by a pipe that nobody writes to."""
    before = os.stat("model.textproto")
    monkeypatch.setattr(os, "stat", lambda *_, **__: before)
    with pytest.raises(OSError, match=KINDS["pipe"]):
        open_regular("pipe")


HOSTILE = {
    "key of many parts": "a" + ".a" * 500_000 + " = 1",
    "quoted parts": '"".' * 300_000 + "a = 1",
    "escaped quotes in parts": '"\\"".' * 150_000 + "a = 1",
    "many such keys": "".join("a." * 5000 + f"b{n} = 1\n" for n in range(100)),
    "unclosed string of escaped quotes": "a = " + '"\\"' * 300_000,
    "unclosed string of several lines": 'a = """' + '\\"' * 400_000,
    "unclosed literal": "a = '" + "." * 900_000,
    "headers of many parts": "".join("[" + "a." * 99 + f"b{n}]\n" for n in range(4800)),
    "names that are known, again and again": "ignore = [" + '"error",' * 125_000 + "]",
}


@pytest.mark.timing
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_configurations_take_no_longer_than_others(folder: Path, text: str) -> None:
    (folder / "onnx-lint.toml").write_text(text)
    start = time.process_time()
    try:
        read_file("onnx-lint.toml")
    except ConfigurationError:
        pass
    else:
        assert text.startswith("ignore")
    assert time.process_time() - start < 5


def test_strings_may_have_many_dots(folder: Path) -> None:
    text = f"ignore = []\nselect = [\"{'.' * 500}\"]\n# {'a.' * 500}\n[policy.inputs.'{'a.' * 500}']\n"
    (folder / "onnx-lint.toml").write_text(text)
    assert len(read_file("onnx-lint.toml")) == 3
