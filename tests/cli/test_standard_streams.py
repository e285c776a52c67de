# SPDX-License-Identifier: Apache-2.0
"""Closed and full standard streams, as a shell gives them: exit code 2 and a sentence, never silence or a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import ROOT
from clean_model import CLEAN

from onnx_lint.reporters import REPORTERS

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")

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
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_closed_standard_input_is_said() -> None:
    assert shell("- <&-") == (2, "<stdin>: not checked\n", "Error: standard input: is closed\n")


@pytest.mark.parametrize("form", REPORTERS)
def test_no_form_of_report_is_lost_silently(form: str) -> None:
    assert shell(f"twice.textproto -f {form} >/dev/full") == (2, "", FULL)
    assert shell(f"twice.textproto -f {form} -o /dev/full") == (2, "", "Error: /dev/full: No space left on device\n")


@pytest.mark.parametrize(
    "arguments",
    [
        "clean.textproto",
        "clean.textproto missing.onnx -j 2",
        "--help",
        "check --help",
        "rules",
        "config --schema",
        "clean.textproto --show-settings",
    ],
)
def test_whatever_is_written_to_standard_output_is_not_lost_silently(arguments: str) -> None:
    more = "Error: missing.onnx: No such file or directory\n" if "missing" in arguments else ""
    assert shell(f"{arguments} >&-") == (2, "", CLOSED + more)
    assert shell(f"{arguments} >/dev/full") == (2, "", FULL + more)


def test_closed_standard_output_is_no_fault_where_nothing_goes_there(folder: Path) -> None:
    assert shell("clean.textproto -f concise -o report.txt >&-") == (0, "", "")
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


@pytest.mark.parametrize(
    "arguments", ["missing.onnx", "--no-such-option", "clean.textproto --timings", "explain no-such-rule", ""]
)
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
