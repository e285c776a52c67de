# SPDX-License-Identifier: Apache-2.0
"""A run without options does without click what the command `check` does, to the byte."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from onnx_lint import schema
from onnx_lint.cli import plain
from onnx_lint.cli.application import application
from onnx_lint.cli.plain import COMMANDS

ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("ONNX_LINT_", "_ONNX_LINT"))}


def _model(name: str = "", op_type: str = "Relu") -> bytes:
    model = schema.message("ModelProto")(ir_version=10, producer_name="test")
    model.opset_import.add(version=21)
    model.graph.name = name or "g"
    for values, value in ((model.graph.input, "x"), (model.graph.output, "y")):
        tensor = values.add(name=value).type.tensor_type
        tensor.elem_type = 1
        tensor.shape.dim.add(dim_value=2)
    model.graph.node.add(op_type=op_type, input=["x"], output=["y"])
    return bytes(model.SerializeToString())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "models").mkdir()
    (tmp_path / "clean.onnx").write_bytes(_model())
    (tmp_path / "models" / "warning.onnx").write_bytes(_model("not a name"))
    (tmp_path / "models" / "error.onnx").write_bytes(_model(op_type="Rleu"))
    (tmp_path / "cut.onnx").write_bytes(_model()[:-3])
    (tmp_path / "empty.onnx").write_bytes(b"")
    (tmp_path / "check").write_bytes(_model("named like a command"))
    (tmp_path / "odd\x1bname.onnx").write_bytes(_model("odd"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _run(*arguments: str, **environment: str) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "onnx_lint", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env={**ENVIRONMENT, **environment}, check=False)
    return done.returncode, done.stdout, done.stderr


PLAIN = (
    ("clean.onnx",),
    ("clean.onnx", "./clean.onnx", "models/error.onnx"),
    ("models",),
    (".",),
    ("models/*.onnx",),
    ("cut.onnx", "clean.onnx"),
    ("empty.onnx",),
    ("odd\x1bname.onnx",),
    ("clean.onnx", "check"),
    ("gone.onnx",),
    ("expain", "clean.onnx"),
)
LEFT_TO_CLICK = ((), ("check",), ("missing*.onnx",), ("-",), ("--version",), ("rules",))


@pytest.mark.parametrize("arguments", PLAIN)
def test_a_plain_run_gives_what_the_command_gives(folder: Path, arguments: tuple[str, ...]):
    assert _run(*arguments) == _run("check", *arguments)


@pytest.mark.parametrize("arguments", PLAIN)
def test_a_plain_run_is_taken_as_one(folder: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch):
    seen: list[list[str]] = []
    monkeypatch.setattr(plain, "_lint", lambda paths: seen.append(list(paths)) or 0)
    assert plain.run(arguments) == 0
    assert seen


@pytest.mark.parametrize("arguments", LEFT_TO_CLICK)
def test_what_is_not_plain_is_left_to_the_command_line(folder: Path, arguments: tuple[str, ...]):
    assert plain.run(arguments) is None


def test_a_configuration_is_left_to_the_command_line(folder: Path):
    (folder / "models" / "onnx-lint.toml").write_text('ignore = ["ALL"]\nselect = ["unknown-operator"]\n')
    assert plain.run(["models"]) is None
    assert plain.run(["clean.onnx", "models/error.onnx"]) is None
    (folder / "onnx-lint.toml").write_text("no toml")
    assert plain.run(["clean.onnx"]) is None
    assert _run("clean.onnx") == _run("check", "clean.onnx")


def test_variables_that_set_options_are_left_to_the_command_line(folder: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("ONNX_LINT_DOCUMENTATION_URL", "_ONNX_LINT_COMPLETE"):
        with monkeypatch.context() as patch:
            patch.setenv(name, "x")
            assert plain.run(["clean.onnx"]) is None


@pytest.mark.parametrize("color", [{"FORCE_COLOR": "1"}, {"NO_COLOR": "1"}, {"PYTHONIOENCODING": "ascii"}])
def test_the_environment_counts_alike(folder: Path, color: dict[str, str]):
    assert _run("models", "odd\x1bname.onnx", **color) == _run("check", "models", "odd\x1bname.onnx", **color)


def test_output_that_cannot_be_written_is_told_alike(folder: Path):
    if not Path("/dev/full").exists():
        pytest.skip("no device that is always full")
    found = []
    for arguments in (["models"], ["check", "models"]):
        with Path("/dev/full").open("w") as full:
            command = [sys.executable, "-m", "onnx_lint", *arguments]
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=ENVIRONMENT, check=False)
        found.append((done.returncode, done.stderr))
    assert found[0] == found[1]
    assert found[0][0] == 2


def test_click_is_not_imported(folder: Path):
    code = (
        "import sys; from onnx_lint.__main__ import main\n"
        "sys.argv = ['onnx-lint', 'clean.onnx']\n"
        "try: main()\n"
        "except SystemExit as end: print(end.code, sorted({'click', 'inspect', 'pathlib', 'rich', 'numpy'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", _WITH_SITE + code], capture_output=True, text=True, env=ENVIRONMENT
    )
    assert done.stdout.splitlines()[-1] == "0 []", done.stderr


# Without the `site` module, which imports what the .pth files of this environment ask for.
_WITH_SITE = f"import sys; sys.path[:0] = {[path for path in sys.path if path]!r}\n"


def test_the_commands_are_known():
    assert set(application.commands) == COMMANDS


@pytest.mark.skipif(os.name != "posix", reason="the shell closes the stream, and a folder in use can be removed")
@pytest.mark.parametrize(
    ("script", "code"),
    [
        ('"$@" models/error.onnx >&-', 2),
        ('"$@" gone.onnx 2>&-', 2),
        ('"$@" models/error.onnx >&- 2>&-', 2),
        ('cd models; rm -r ../models; "$@" ../clean.onnx', 2),
    ],
)
def test_a_closed_stream_and_a_removed_folder_are_no_bugs(folder: Path, script: str, code: int):
    found = []
    for command in ((), ("check",)):
        (folder / "models").mkdir(exist_ok=True)
        (folder / "models" / "error.onnx").write_bytes(_model(op_type="Rleu"))
        words = ["sh", "-c", script, "sh", sys.executable, "-m", "onnx_lint", *command]
        found.append(subprocess.run(words, capture_output=True, text=True, env=ENVIRONMENT, check=False))
    first, second = found
    assert (first.returncode, first.stdout, first.stderr) == (second.returncode, second.stdout, second.stderr)
    assert first.returncode == code
    assert "Traceback" not in first.stderr


@pytest.mark.parametrize("module", ["google.protobuf.internal.well_known_types", "onnx_lint.engine"])
@pytest.mark.parametrize("command", [[], ["check"]])
def test_an_interrupt_while_modules_are_imported_ends_quietly(folder: Path, module: str, command: list[str]):
    interrupting = (
        "import sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name == {module!r}:\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from onnx_lint.__main__ import main\n"
        "main()\n"
    )
    words = [sys.executable, "-c", interrupting, *command, "clean.onnx"]
    done = subprocess.run(words, capture_output=True, text=True, env=ENVIRONMENT, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\n")
