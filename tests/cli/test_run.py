# SPDX-License-Identifier: Apache-2.0
"""A run of paths alone does without click what the command `check` does, to the byte."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.models.clean_model import clean_proto
from support.project.each_case import each_case

from onnx_lint import __main__
from onnx_lint.cli import application, run
from onnx_lint.cli.failures import print_failures
from onnx_lint.cli.request import COMMANDS, request_of_paths
from onnx_lint.common.exit_status import KILLED
from onnx_lint.configuration.errors import RequestError
from onnx_lint.configuration.settings import Request
from onnx_lint.report.file_report import OWN_ERRORS, FileReport, InternalError

VARIABLES = {name: value for name, value in os.environ.items() if not name.startswith(("ONNX_LINT_", "_ONNX_LINT"))}


def _model(name: str = "g", op_type: str = "Relu") -> bytes:
    model = clean_proto(op_type)
    model.graph.name = name
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
    done = subprocess.run(command, capture_output=True, text=True, env={**VARIABLES, **environment}, check=False)
    return done.returncode, done.stdout, done.stderr


PATHS = (
    ("clean.onnx",),
    (".",),
    ("missing*.onnx", "clean.onnx"),
    ("odd\x1bname.onnx",),
    ("clean.onnx", "check"),
)
WITH_OPTIONS = (
    ("models", "clean.onnx", "--jobs", "2"),
    ("--jobs=2", "models", "./clean.onnx"),
    ("-j", "02", "clean.onnx", "check"),
    ("-j", "7", "clean.onnx", "--jobs", "2"),
    ("models", "--cache"),
    ("--cache", "cache", "-j", "2", "--no-cache"),
    ("--allow-no-input", "clean.onnx", "models"),
    ("clean.onnx", "-q", "-f", "sarif", "--format=json"),
    ("-o", "report.html", "models", "--output=sarif=report.sarif", "--fail-on", "warning"),
    ("--select", "name", "--select=node,graph", "--no-context", "--no-external-data", "clean.onnx"),
    ("--config", "base.toml", "clean.onnx", "--baseline", "baseline.json", "-", "--edition", "1.16"),
)
NOT_PATHS = (
    (),
    ("check",),
    ("check", "--pedantic"),
    ("check", "clean.onnx", "--severity"),
    ("clean.onnx", "-qv"),
    ("clean.onnx", "-fjson"),
    ("clean.onnx", "-f=json"),
    ("clean.onnx", "-f", "jsn"),
    ("clean.onnx", "-f"),
    ("clean.onnx", "--quiet=yes"),
    ("clean.onnx", "-o", "-"),
    ("clean.onnx", "--output="),
    ("clean.onnx", "--time-limit", "1"),
    ("clean.onnx", "--no-such-option"),
    ("fix", "clean.onnx"),
    ("check", "--help"),
    ("--version",),
    ("rules",),
    ("-j", "2"),
    ("clean.onnx", "-j"),
    ("clean.onnx", "-j", "-2"),
    ("clean.onnx", "-j", "1025"),
    ("clean.onnx", "--jobs="),
    ("clean.onnx", "--jobs", "many"),
    ("--jobs", "clean.onnx"),
    ("clean.onnx", "--jobs", "10000"),
    ("clean.onnx", "-j", "--cache"),
    ("--cache",),
    ("clean.onnx", "--cache=yes"),
    ("--", "clean.onnx"),
)


def test_paths_alone_give_what_the_command_gives(folder: Path):
    assert _run(".") == _run("check", ".", "--")


@pytest.mark.parametrize(
    "arguments", [("gone.onnx",), ("models", "--baseline", "clean.onnx"), ("models", "-o", "json=r", "-o", "sarif=r")]
)
def test_errors_are_those_of_the_command(folder: Path, arguments: tuple[str, ...], capfd: pytest.CaptureFixture[str]):
    assert request_of_paths(arguments) is not None
    found = [(of(list(arguments)), *capfd.readouterr()) for of in (__main__._code, application.run)]
    assert found[0] == found[1]
    assert found[0][0] == 2
    assert found[0][2].count("Error: ") == 1


@pytest.mark.parametrize("arguments", [*PATHS, *WITH_OPTIONS])
def test_paths_and_common_options_are_the_request_that_the_command_makes(
    folder: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
):
    seen: list[Request] = []
    with monkeypatch.context() as patch:
        patch.setattr(run, "run", lambda request: seen.append(request) or 0)
        assert application.run(["check", *arguments]) == 0
    assert [request_of_paths(arguments)] == seen == [request_of_paths(["check", *arguments])]


@each_case("arguments", NOT_PATHS)
def test_what_is_more_than_paths_is_left_to_click(folder: Path, arguments: tuple[str, ...]):
    assert request_of_paths(arguments) is None


def test_completion_is_left_to_click(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("_ONNX_LINT_COMPLETE", "bash_source")
    assert request_of_paths(["clean.onnx"]) is None


def test_the_request_tells_which_options_are_set(monkeypatch: pytest.MonkeyPatch):
    seen: list[Request] = []
    monkeypatch.setattr(run, "run", lambda request: seen.append(request) or 0)
    assert application.run(["one", "--select", "graph", "--pedantic"]) == 0
    assert seen == [Request(("one",), frozenset({"select", "pedantic"}), select=("graph",), pedantic=True)]


def test_click_and_json_are_not_imported(folder: Path):
    code = (
        "import sys; from onnx_lint.__main__ import main\n"
        "sys.argv = ['onnx-lint', 'clean.onnx']\n"
        "try: main()\n"
        "except SystemExit as end: print(end.code, sorted({'click', 'inspect', 'json', 'pathlib', 'rich', 'numpy'}"
        " & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", _WITH_SITE + code], capture_output=True, text=True, env=VARIABLES
    )
    assert done.stdout.splitlines()[-1] == "0 []", done.stderr


# Without the `site` module, which imports what the .pth files of this environment ask for.
_WITH_SITE = f"import sys; sys.path[:0] = {[path for path in sys.path if path]!r}\n"


def test_the_commands_are_known():
    assert set(application.application.commands) == COMMANDS


@pytest.mark.skipif(os.name != "posix", reason="the shell closes the stream, and a folder in use can be removed")
@pytest.mark.parametrize("script", ['"$@" models/error.onnx >&-', 'cd models; rm -r ../models; "$@" ../clean.onnx'])
def test_a_closed_stream_and_a_removed_folder_are_no_bugs(folder: Path, script: str):
    words = ["sh", "-c", script, "sh", sys.executable, "-m", "onnx_lint"]
    done = subprocess.run(words, capture_output=True, text=True, env=VARIABLES, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Error: " in done.stderr
    assert "Traceback" not in done.stderr


LACKING = """
import sys
wanted = sys.argv[1]
class Lacking:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == wanted:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Lacking())
sys.argv[:2] = ["onnx-lint"]
from onnx_lint.__main__ import main
main()
"""


@pytest.mark.parametrize(
    ("package", "name", "arguments"),
    [
        ("google", "protobuf", ["clean.onnx"]),
        ("google", "protobuf", ["rules"]),
        ("click", "click", ["rules"]),
    ],
)
def test_a_package_that_is_missing_is_told_in_one_sentence(folder: Path, package: str, name: str, arguments: list[str]):
    words = [sys.executable, "-c", LACKING, package, *arguments]
    done = subprocess.run(words, capture_output=True, text=True, env=VARIABLES, check=False)
    said = rf"Error: onnx-lint needs the package {name}, which is missing or too old here: No module .*'{package}.*'"
    assert (done.returncode, done.stdout) == (3, "")
    assert re.fullmatch(said, done.stderr.strip())


def test_a_crash_is_told_whatever_module_it_came_from(folder: Path):
    """Even one that most others import: what reports the crash needs none of them."""
    crashing = LACKING.replace("ModuleNotFoundError(f", "RuntimeError(f").replace(", name=name", "")
    crashing = crashing.replace('name.partition(".")[0]', "name")
    for module in ("onnx_lint.common.record", "onnx_lint.report", "onnx_lint.wording", "onnx_lint.reporters.escape"):
        words = [sys.executable, "-c", crashing, module, "clean.onnx"]
        done = subprocess.run(words, capture_output=True, text=True, env=VARIABLES, check=False)
        first, *_, last = done.stderr.splitlines()
        assert (done.returncode, done.stdout) == (3, "")
        assert first == f"Error: internal error: onnx-lint crashed: RuntimeError: No module named {module!r}"
        assert last.startswith("This is a fault in onnx-lint, not in the model.")


@pytest.mark.parametrize("module", ["google.protobuf.internal.well_known_types", "onnx_lint.engine.lint"])
@pytest.mark.parametrize("command", [[], ["check"]])
def test_an_interrupt_while_modules_are_imported_ends_quietly(folder: Path, module: str, command: list[str]):
    (folder / "check").unlink()  # beside it the command would be refused
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
    done = subprocess.run(words, capture_output=True, text=True, env=VARIABLES, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "\n")


@pytest.mark.skipif(os.name != "posix", reason="a signal to the process itself")
@pytest.mark.parametrize("module", ["onnx_lint.common.memory", "onnx_lint.cli.standard_streams"])
def test_ctrl_c_before_there_is_anything_to_end_prints_no_traceback(folder: Path, module: str):
    killing = LACKING.replace(
        'raise ModuleNotFoundError(f"No module named {name!r}", name=name)', "os.kill(os.getpid(), 2)"
    )
    killing = killing.replace('name.partition(".")[0]', "name")
    # A process that a shell starts in the background ignores the signal.
    handler = "import os, signal, sys\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    killing = killing.replace("import sys\n", handler, 1)
    done = subprocess.run(
        [sys.executable, "-c", killing, module, "clean.onnx"],
        capture_output=True,
        text=True,
        env=VARIABLES,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, "", "")


def test_a_killed_process_is_no_fault_of_the_program(capsys: pytest.CaptureFixture[str]):
    """The kernel kills a process when memory runs out."""
    error = InternalError(OWN_ERRORS, f"the process that linted the file ended {KILLED}", "")
    print_failures([FileReport("a.onnx", 0, internal_errors=(error,))])
    assert capsys.readouterr().err.splitlines() == [
        "Error: a.onnx: the process that linted the file ended by signal SIGKILL, most likely because the system had "
        "too little memory (fewer --jobs need less)",
    ]


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"fix": True}, "--cluster cannot be combined with --fix"),
        ({"diff": True}, "--cluster cannot be combined with --diff"),
        ({"jobs": 2}, "--cluster cannot be combined with --jobs"),
    ],
)
def test_a_cluster_does_not_fix_and_has_its_own_processes(fields: dict[str, Any], said: str):
    request = Request(paths=("m.onnx",), **{"cluster": "tcp://h:1", **fields})
    with pytest.raises(RequestError, match=f"^{said}"):
        run._check_cluster(request)
