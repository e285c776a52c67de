# SPDX-License-Identifier: Apache-2.0
"""The first things that a demanding user tries, with the command as it is installed.

Exit codes are those of the README: 2 for whatever could not be linted, 3 for a fault of a rule.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from support.models.clean_model import CLEAN, TWICE
from support.processes.harmful import PLUGIN
from support.processes.signals import heed_signals
from support.project.checkout import ROOT

from onnx_lint import __main__
from onnx_lint.reporters import REPORTERS

UNWANTED = {"NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS"}
"""Variables that change what is printed."""

PATIENCE_SECONDS = 600
"""A command that takes longer than this counts as hanging, even on a loaded machine."""

FOUND = (
    "8:56: graph.node[1].output[0]: error[duplicate-definition] output 0 of node 'abs' (Abs) defines 'y', "
    "which output 0 of node 'relu' (Relu) defines already"
)


def command() -> list[str]:
    """The console script, or the package where none is installed beside the interpreter."""
    script = Path(sys.executable).with_name("onnx-lint")
    return [str(script)] if script.exists() else [sys.executable, "-m", "onnx_lint"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working directory with two models, outside any repository and without a configuration."""
    (tmp_path / "clean.textproto").write_text(CLEAN)
    (tmp_path / "twice.textproto").write_text(TWICE)
    return tmp_path


@pytest.fixture
def plugin(folder: Path) -> list[str]:
    """The options for a plugin whose rule does what the producer's name says, and finds nothing."""
    (folder / "plugin.py").write_text(PLUGIN.replace('yield Finding(ROOT, "WORDS")', "yield from ()"))
    return ["--plugin", "plugin.py"]


def _environment(**variables: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in UNWANTED}
    return {**kept, "PYTHONPATH": str(ROOT), **variables}


def lint(folder: Path, *arguments: str | bytes, **variables: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*command(), *arguments],
        cwd=folder,
        env=_environment(**variables),
        capture_output=True,
        stdin=subprocess.DEVNULL,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


Here = Callable[..., subprocess.CompletedProcess[bytes]]


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Here:
    """`lint` in this process, for what does not depend on a process of its own."""
    monkeypatch.chdir(folder)
    for name in UNWANTED:
        monkeypatch.delenv(name, raising=False)

    def call(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        code = __main__._code(list(arguments))
        return subprocess.CompletedProcess(arguments, code, *capfdbinary.readouterr())

    return call


def acting(folder: Path, name: str, act: str) -> str:
    (folder / name).write_text(CLEAN.replace("a test", act))
    return name


def rows(document: str | bytes) -> Any:
    """The path and whether there is a finding, for each file of a JSON report."""
    return [(file["path"], [item["rule"] for item in file["diagnostics"]]) for file in json.loads(document)["files"]]


# --- usage


def test_nothing_left_to_lint_is_a_mistake_unless_allowed(folder: Path, here: Here) -> None:
    done = here("twice.textproto", "--exclude", "twice.*", "-f", "concise")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"1 file: not checked\nError: twice.textproto: every file is excluded\n"
    done = here("twice.textproto", "--exclude", "twice.*", "--allow-no-input", "-f", "concise", "-o", "json=r")
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr == b"Nothing to lint: every file is excluded.\n"
    assert rows((folder / "r").read_text()) == []
    done = here("missing", "--allow-no-input", "-f", "concise")
    assert (done.returncode, done.stdout) == (2, b"")
    (folder / "empty").mkdir()
    assert here("empty", "--allow-no-input").returncode == 2


def test_no_selection_leaves_a_run_without_rules(here: Here) -> None:
    for selection in (["--ignore", "ALL"], ["--select", "duplicate-device-group", "--edition", "1.9"]):
        done = here("clean.textproto", *selection)
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"Error: the selection leaves no rule of edition 1." in done.stderr


def test_a_schema_file_that_is_not_json(folder: Path, here: Here) -> None:
    (folder / "bad.json").write_text("{")
    done = here("clean.textproto", "--opset-schema", "bad.json")
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"Error: bad.json: line 1, column 2: not JSON")


# --- reports


@pytest.mark.slow
def test_two_runs_give_the_same_bytes(folder: Path) -> None:
    """Every report format is tested with a file; the next test compares standard output with the file."""
    (folder / "none.onnx").touch()
    runs = []
    for jobs in ("1", "2"):
        reports = folder.parent / f"reports{jobs}"
        reports.mkdir()
        outputs = [argument for name in REPORTERS for argument in ("-o", f"{name}={reports / name}")]
        done = lint(folder, ".", "missing", "--statistics", "-j", jobs, *outputs, PYTHONHASHSEED=jobs)
        assert done.returncode == 2
        texts = {name: (reports / name).read_bytes() for name in REPORTERS}
        texts["html"], count = re.subn(rb"<br>[^<]* UTC: onnx-lint [^<]*", b"", texts["html"])  # the time and -j
        assert count == 1
        runs.append(texts | {"stderr": done.stderr})
    first, second = runs
    assert all(first.values())
    assert [name for name in first if first[name] != second[name]] == []


# --- rules that crash, processes that end


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGKILL"])
def test_no_process_is_left_behind(folder: Path, plugin: list[str], name: str) -> None:
    """Neither one that sleeps, nor one that works, nor one that waits for a file."""
    names = [acting(folder, "sleep.textproto", "sleep"), acting(folder, "work.textproto", "work"), "clean.textproto"]
    with _until(["held", "working"], folder, *plugin, *names, "-j", "3") as process:
        # The signal is for the program alone, as that of a CI server or of the kernel without memory is.
        process.send_signal(signal.Signals[name])
        # Each process holds the ends of both pipes that it may write to.
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert err == b""
    if name == "SIGTERM":
        assert process.returncode == 130
        assert re.search(rb"interrupted: [01] of 3 files (was|were) linted\n$", out)
    else:
        assert (process.returncode, out) == (-signal.Signals[name], b"")


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("form", "jobs"), [("text", "1"), ("text", "2"), ("concise", "1"), ("jsonl", "2"), ("github", "1")]
)
def test_files_are_written_as_they_are_done(folder: Path, plugin: list[str], form: str, jobs: str) -> None:
    """The report on an earlier file is written before the later files are done."""
    with _until_asleep(folder, plugin, "-j", jobs, "-f", form) as process:
        assert process.stdout is not None
        seen = b""
        while b"duplicate-definition" not in seen:
            piece = process.stdout.readline()
            assert piece, seen
            seen += piece
        assert process.poll() is None


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize(("form", "name"), [("text", "SIGINT"), ("json", "SIGINT"), ("sarif", "SIGTERM")])
def test_an_interrupted_run_reports_what_it_has(folder: Path, plugin: list[str], form: str, name: str) -> None:
    """The file that was linted is in each report, and that the run has not come to its end."""
    outputs = [argument for each in REPORTERS for argument in ("-o", f"{each}=report.{each}")]
    with _until_asleep(folder, plugin, "-f", form, *outputs) as process:
        process.send_signal(signal.Signals[name])
        out, err = process.communicate(timeout=PATIENCE_SECONDS)
    assert (process.returncode, err) == (130, b"")
    reports = {each: (folder / f"report.{each}").read_text() for each in REPORTERS}
    assert out.decode() == reports[form]
    assert [each for each, report in reports.items() if "duplicate-definition" not in report] == []
    summary = json.loads(reports.pop("json"))["summary"]
    assert (summary["not_linted"], summary["conforms"]) == (2, False)
    (invocation,) = json.loads(reports.pop("sarif"))["runs"][0]["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (False, 130)
    assert json.loads(reports.pop("jsonl").splitlines()[-1])["not_linted"] == 2
    del reports["concise"]  # which has nothing but findings
    assert [each for each, report in reports.items() if "interrupted: 1 of 3 files was linted" not in report] == []


def _until_asleep(folder: Path, plugin: list[str], *options: str) -> AbstractContextManager[subprocess.Popen[bytes]]:
    """A run that has linted the first file and sleeps over the second one."""
    names = ["twice.textproto", acting(folder, "sleep.textproto", "sleep"), "clean.textproto"]
    return _until(["held"], folder, *plugin, *names, *options)


@contextlib.contextmanager
def _until(made: list[str], folder: Path, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """A run that has made these files. All of its processes are ended afterwards."""
    with subprocess.Popen(
        [*command(), *arguments],
        cwd=folder,
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=heed_signals,
    ) as process:
        try:
            _wait_for(lambda: all((folder / name).exists() for name in made))
            yield process
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _wait_for(condition: Any) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_closed_pipe_is_quiet(folder: Path) -> None:
    for index in range(400):
        (folder / f"{index}.textproto").write_text(TWICE)
    with subprocess.Popen(
        [*command(), ".", "-j", "2"], cwd=folder, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"error[duplicate-definition]")
        process.stdout.close()
        assert process.stderr.read() == b""
    # Nobody reads on, so that the run has ended; it has no verdict on what it did not come to.
    assert process.returncode == 130


# --- odd files


@pytest.mark.slow
def test_a_file_that_is_deleted_meanwhile(folder: Path, plugin: list[str]) -> None:
    first = acting(folder, "first.textproto", "delete clean.textproto")
    done = lint(folder, first, "clean.textproto", "twice.textproto", "-f", "concise", *plugin)
    assert (done.returncode, done.stdout.decode()) == (2, f"twice.textproto:{FOUND}\n")
    assert b"Error: clean.textproto: No such file or directory" in done.stderr


@pytest.mark.slow
def test_a_folder_that_cannot_be_written_to(folder: Path) -> None:
    before = sorted(folder.iterdir())
    folder.chmod(0o555)
    try:
        done = lint(folder, "twice.textproto", "-q", "-f", "concise", "-j", "2")
        assert (done.returncode, done.stdout.decode(), done.stderr) == (1, f"twice.textproto:{FOUND}\n", b"")
    finally:
        folder.chmod(0o755)
    # Permissions do not hold root back, so what counts is that nothing was written.
    assert sorted(folder.iterdir()) == before
