# SPDX-License-Identifier: Apache-2.0
"""Closed and full standard streams, as a shell gives them: exit code 2 and a sentence, never silence or a traceback.

A pipe that nobody reads, or not yet, is not a fault.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.models.clean_model import CLEAN
from support.processes.signals import heed_signals
from support.project.checkout import ROOT

from onnx_lint.cli.application import run
from onnx_lint.reporters import REPORTERS

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full"),
]

CLOSED = "Error: standard output: is closed\n"
FULL = "Error: standard output: No space left on device\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "clean.textproto").write_text(CLEAN)
    (tmp_path / "twice.textproto").write_text(CLEAN.replace('"y" }', '"y" }\n node { op_type: "Abs" }', 1))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def shell(arguments: str) -> tuple[int, str, str]:
    """Exit code, output and errors of the program with arguments and redirections as a shell takes them."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ONNX_LINT_")}
    done = subprocess.run(
        ["sh", "-c", f'"{sys.executable}" -m onnx_lint {arguments}'],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        env={**environment, "PYTHONPATH": str(ROOT)},
        timeout=600,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@contextmanager
def started(
    *arguments: str, blocks: bool = False, joins: bool = False
) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """The program, and the other end of the pipe that it writes to, errors as well where it `joins` them."""
    reading, writing = os.pipe()
    os.set_blocking(writing, blocks)
    errors = writing if joins else subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-m", "onnx_lint", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=writing,
        stderr=errors,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=heed_signals,
    ) as process:
        os.close(writing)
        try:
            yield process, reading
        finally:
            process.kill()
            os.close(reading)


def sleeps(process: subprocess.Popen[bytes]) -> bool:
    """Return whether the process waits for something other than the processor."""
    state = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]
    return state == "S"


def wait_until_it_waits(process: subprocess.Popen[bytes], reading: int) -> None:
    """Wait until the pipe is full, and the program waits for its reader."""
    held = 0
    while held <= 40_000 or not sleeps(process):
        assert process.poll() is None, "the program does not wait for its reader"
        time.sleep(0.02)
        held = int.from_bytes(fcntl.ioctl(reading, termios.FIONREAD, bytes(4)), sys.byteorder)


READERS_LEAVE: list[tuple[list[str], int]] = [
    (["--help"], 0),
    (["--version"], 0),
    (["rules", "-f", "json"], 0),
    (["explain", "duplicate-definition"], 0),
    (["shapes", "clean.textproto"], 0),
    (["clean.textproto", "--show-settings"], 0),
    (["clean.textproto"], 0),
    (["twice.textproto"], 1),
    (["twice.textproto", "-f", "json"], 1),
    (["missing.onnx"], 2),
    (["--no-such-option"], 2),
    (["explain", "no-such-rule"], 2),
    ([], 2),
]


BOTH_WAYS = (["twice.textproto"], ["missing.onnx"], ["--no-such-option"])
"""A report, an error and a wrong usage, each also with a reader of the errors who stays."""


@pytest.mark.parametrize(("arguments", "code"), READERS_LEAVE)
def test_a_reader_that_is_gone_changes_no_exit_code(arguments: list[str], code: int) -> None:
    for joins in (False, True) if arguments in BOTH_WAYS else (True,):
        reading, writing = os.pipe()
        os.close(reading)
        done = subprocess.run(
            [sys.executable, "-m", "onnx_lint", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=writing,
            stderr=writing if joins else subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            timeout=600,
            check=False,
        )
        os.close(writing)
        assert done.returncode == code
        assert b"Traceback" not in (done.stderr or b"")


def test_a_slow_reader_of_a_pipe_that_does_not_block_gets_everything() -> None:
    with started("rules", "-f", "json") as (process, reading):
        wait_until_it_waits(process, reading)
        with open(reading, "rb", closefd=False) as stream:
            read = stream.read()
        assert process.wait(600) == 0
    assert read.decode() == shell("rules -f json")[1]
    assert len(read) > 1 << 16  # more than a pipe holds


def test_a_slow_reader_may_leave() -> None:
    for joins in (False, True):
        with started("rules", "-f", "json", joins=joins) as (process, reading):
            wait_until_it_waits(process, reading)
            nowhere = os.open(os.devnull, os.O_RDONLY)
            os.dup2(nowhere, reading)
            os.close(nowhere)
            assert process.wait(600) == 0


@pytest.mark.parametrize("blocks", [False, True])
def test_an_interrupt_ends_the_wait_for_a_reader(blocks: bool) -> None:
    with started("rules", "-f", "json", blocks=blocks) as (process, reading):
        wait_until_it_waits(process, reading)
        process.send_signal(signal.SIGINT)
        assert process.wait(600) == 130


def test_closed_standard_input_is_said() -> None:
    assert shell("- <&-") == (2, "<stdin>: not checked\n", "Error: standard input is closed\n")


QUICK = ("text", "jsonl", "sarif")
"""The forms that the default run writes to a full standard output: as they come, for each file, and as a whole."""


@pytest.mark.parametrize(
    "form", [name if name in QUICK else pytest.param(name, marks=pytest.mark.heavy) for name in REPORTERS]
)
def test_no_form_of_report_is_lost_silently(form: str) -> None:
    assert shell(f"twice.textproto -q -f {form} >/dev/full") == (2, "", FULL)


@pytest.mark.parametrize("form", REPORTERS)
def test_no_form_of_report_is_lost_silently_in_a_file(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["twice.textproto", "-q", "-f", form, "-o", "/dev/full"]) == 2
    assert capsys.readouterr() == ("", "Error: /dev/full: No space left on device\n")


@pytest.mark.parametrize(
    "arguments",
    [
        "clean.textproto",
        "clean.textproto missing.onnx -j 2",
        "--help",
        "check --help",
        "rules",
        "clean.textproto --show-settings",
    ],
)
def test_whatever_is_written_to_standard_output_is_not_lost_silently(arguments: str) -> None:
    more = "Error: missing.onnx: No such file or directory\n" if "missing" in arguments else ""
    assert shell(f"{arguments} >&-") == (2, "", CLOSED + more)
    assert shell(f"{arguments} >/dev/full") == (2, "", FULL + more)


def test_closed_standard_output_is_no_fault_where_nothing_goes_there(folder: Path) -> None:
    assert shell("clean.textproto -q -f concise -o report.txt >&-") == (0, "", "")
    assert (folder / "report.txt").read_text() == ""
    assert shell("clean.textproto -f concise -q >&-") == (0, "", "")


def test_closed_standard_output_by_its_other_name_is_a_fault() -> None:
    code, out, error = shell("clean.textproto -f json -o /dev/stdout >&-")
    assert (code, out) == (2, "")
    assert error.startswith("Error: /dev/stdout: ")


def test_a_pipe_by_its_other_name_is_written_to() -> None:
    code, out, error = shell("clean.textproto -f json -o /dev/stdout | cat")
    assert (code, error) == (0, "")
    assert out.startswith("{\n")


@pytest.mark.parametrize("arguments", ["missing.onnx", "--no-such-option", "explain no-such-rule", ""])
def test_a_message_that_is_lost_fails_the_run(arguments: str) -> None:
    code, _, error = shell(f"{arguments} 2>/dev/full")
    assert (code, error) == (2, "")


def test_a_report_is_written_though_the_message_before_it_is_lost(folder: Path) -> None:
    """The warning about a model outside the repository, for code scanning."""
    (folder / "below").mkdir()
    assert shell("clean.textproto -f sarif -o below/x.sarif --sarif-root below 2>/dev/full") == (2, "", "")
    assert (folder / "below" / "x.sarif").stat().st_size > 1000


def test_standard_error_that_nothing_is_written_to_may_be_full_or_closed() -> None:
    expected = shell("clean.textproto")
    assert expected[0] == 0
    for where in ("2>/dev/full", "2>&-"):
        assert shell(f"clean.textproto {where}") == expected
    assert shell("missing.onnx 2>&-")[0] == 2


def test_models_get_no_number_of_a_closed_stream(folder: Path) -> None:
    """A model that is opened for reading as descriptor 1 or 2 would be written to, were it not read-only."""
    before = (folder / "clean.textproto").read_bytes()
    assert shell("clean.textproto missing.onnx <&- >&- 2>&-") == (2, "", "")
    assert (folder / "clean.textproto").read_bytes() == before
