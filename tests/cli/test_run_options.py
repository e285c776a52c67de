# SPDX-License-Identifier: Apache-2.0
"""Paths from a list, the forms that suffixes imply, and the least severity that is reported."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import click
import pytest
from support.models.clean_model import CLEAN, TWICE
from support.processes import stand_ins
from support.project.checkout import ROOT

from onnx_lint.cli.application import application, run

Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "clean.textproto").write_text(CLEAN)
    (tmp_path / "both.textproto").write_text(TWICE.replace('"abs"', '"a b"'))
    (tmp_path / "new\nline.textproto").write_text(CLEAN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def linted(capsys: Output, *arguments: str) -> list[str]:
    """The paths that a run was about."""
    assert run([*arguments, "-f", "json"]) in {0, 1}
    return [file["path"] for file in json.loads(capsys.readouterr().out)["files"]]


@pytest.mark.parametrize(
    ("content", "paths"),
    [
        (b"clean.textproto\nboth.textproto\n", ["clean.textproto", "both.textproto"]),
        (b"clean.textproto\r\n\r\nboth.textproto", ["clean.textproto", "both.textproto"]),
        (b"new\nline.textproto\0clean.textproto\0", ["new\nline.textproto", "clean.textproto"]),
        (b"b*.textproto\n", ["both.textproto"]),
    ],
)
def test_paths_come_from_a_list(
    capsys: Output, monkeypatch: pytest.MonkeyPatch, content: bytes, paths: list[str]
) -> None:
    Path("list").write_bytes(content)
    assert linted(capsys, "--files-from", "list") == paths
    assert linted(capsys, "./clean.textproto", "--files-from", "list")[0] == "./clean.textproto"
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(content)))
    assert linted(capsys, "--files-from", "-") == paths


def test_standard_input_has_the_name_that_it_is_given() -> None:
    content = Path("both.textproto").read_bytes()
    Path("below").mkdir()
    Path("below/onnx-lint.toml").write_text('fail-on = "never"\n')
    for arguments, code, name in (
        (["-"], 1, "<stdin>"),
        (["-", "--stdin-filename", "below/model.onnx", "--ignore", "misnamed-text-form"], 0, "below/model.onnx"),
        (["both.textproto", "--stdin-filename", "below/model.onnx"], 1, "both.textproto"),
    ):
        command = [sys.executable, "-m", "onnx_lint", *arguments, "-f", "text"]
        done = subprocess.run(command, input=content, capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)})
        assert (done.returncode, done.stderr) == (code, b"")
        assert f"\n{name}: " in done.stdout.decode()


def test_a_list_that_is_none_is_told(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("empty").write_bytes(b"\n")
    monkeypatch.setattr(sys, "stdin", None)
    for name, said in (
        ("empty", "--files-from 'empty' names no path; --allow-no-input allows that"),
        ("missing", "missing: No such file or directory"),
        (".", ".: is a directory, not a regular file"),
        ("-", "standard input: cannot be read"),
    ):
        assert run(["--files-from", name]) == 2
        assert capsys.readouterr().err.splitlines()[-1] == f"Error: {said}"


class Endless(io.RawIOBase):
    """A stream of one byte without an end. It counts what was read."""

    def __init__(self, byte: bytes) -> None:
        self._byte = byte
        self.count = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:
        buffer[:] = self._byte * len(buffer)
        self.count += len(buffer)
        return len(buffer)


@pytest.mark.parametrize("byte", [b"\0", b"\n", b"a"])
def test_a_list_without_an_end_is_read_up_to_its_limit(
    capsys: Output, monkeypatch: pytest.MonkeyPatch, byte: bytes
) -> None:
    monkeypatch.setattr("onnx_lint.cli.paths._MAX_LIST", 100_000)
    stream = Endless(byte)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(stream)))
    assert run(["--files-from", "-"]) == 2
    assert capsys.readouterr().err == "Error: standard input: is larger than 100,000 bytes\n"
    assert stream.count < 200_000


def test_a_list_may_have_as_many_bytes_as_the_limit(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("onnx_lint.cli.paths._MAX_LIST", 12)
    for text, said in ((b"missing.onnx", "missing.onnx: "), (b"missing.onnx\n", "standard input: is larger than 12")):
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(text)))
        assert run(["--files-from", "-"]) == 2
        assert capsys.readouterr().err.splitlines()[-1].startswith(f"Error: {said}")


@pytest.mark.parametrize("separator", [b"\n", b"\r\n", b"\0"])
def test_a_list_has_a_limited_number_of_paths(capsys: Output, separator: bytes) -> None:
    """A path of one character takes two bytes of the list, and hundreds in memory."""
    for name, count in (("most", 2_000_000), ("more", 2_000_001)):
        Path(name).write_bytes(b"clean.textproto" + separator * count)
    assert linted(capsys, "--files-from", "most") == ["clean.textproto"]
    assert run(["--files-from", "more"]) == 2
    assert capsys.readouterr().err == "Error: more: lists more than 2,000,000 paths, the most for one run\n"


def test_a_list_may_be_empty_and_may_name_what_is_gone(capsys: Output) -> None:
    Path("[x].onnx").write_bytes(b"")
    Path("empty").write_bytes(b"")
    Path("list").write_bytes(b"\0".join([b"gone.onnx", b"clean.textproto", b"[y].onnx", b"[x].onnx", b"bo*.textproto"]))
    Path("gone").write_bytes(b"gone.onnx\0[y].onnx\0")
    listed = ["--files-from", "list", "-f", "json"]
    assert run([*listed, "--allow-no-input"]) == 2
    capsys.readouterr()
    assert run([*listed, "--skip-missing"]) == 1
    files = json.loads(capsys.readouterr().out)["files"]
    assert [file["path"] for file in files] == ["clean.textproto", "[x].onnx", "both.textproto"]
    assert run(["--files-from", "gone", "--skip-missing"]) == 2
    assert "names no path that exists" in capsys.readouterr().err
    for arguments in (["empty"], ["gone", "--skip-missing"]):
        assert run(["--files-from", *arguments, "--allow-no-input", "-o", "report.json"]) == 0
        assert capsys.readouterr().err == "Nothing to lint: no file is listed.\n"
        assert json.loads(Path("report.json").read_text())["files"] == []


@pytest.mark.parametrize(
    ("arguments", "begins"),
    [
        (["-o", "x.sarif"], '{"$schema"'),
        (["-o", "x.json"], "{\n"),
        (["-o", "x.jsonl"], '{"record"'),
        (["-o", "x.md"], "## onnx-lint"),
        (["-o", "x.XML"], "<?xml"),
        (["-o", "x.txt"], "clean.textproto: conforms"),
        (["-o", "x.sarif", "-f", "json"], "{\n"),
        (["-o", "json=x.sarif"], "{\n"),
        (["-o", "x", "-f", "markdown"], "## onnx-lint"),
    ],
)
def test_the_suffix_implies_the_form(arguments: list[str], begins: str) -> None:
    assert run(["clean.textproto", *arguments]) == 0
    assert Path(arguments[1].rpartition("=")[2]).read_text().startswith(begins)


def test_another_suffix_needs_a_form(capsys: Output) -> None:
    assert run(["clean.textproto", "-o", "report.log"]) == 2
    assert "--output 'report.log' implies no format; the suffixes .sarif, .json," in capsys.readouterr().err
    assert not Path("report.log").exists()
    assert run(["clean.textproto", "-o", os.devnull]) == 0


def test_a_severity_selects_the_clauses_whose_keyword_has_it(capsys: Output) -> None:
    def rules(*arguments: str) -> set[str]:
        run(["both.textproto", "-f", "json", "--pedantic", *arguments])
        return {item["rule"] for item in json.loads(capsys.readouterr().out)["files"][0]["diagnostics"]}

    everything = rules()
    errors, warnings = rules("--select", "error"), rules("--select", "warning")
    assert errors
    assert warnings
    assert errors | warnings == everything
    assert not errors & warnings
    assert rules("--ignore", "error") == warnings


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_a_pipe_is_told_how_to_be_read(capsys: Output) -> None:
    os.mkfifo("pipe")
    assert run(["pipe"]) == 2
    assert "which is - (onnx-lint - < PIPE)" in capsys.readouterr().err


@pytest.mark.slow
def test_the_limits_of_a_model_are_those_of_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where there is one model only. What exceeds a limit is not checked."""
    from onnx_lint.tasks import workers

    monkeypatch.chdir(tmp_path)
    (tmp_path / "clean.textproto").write_text(CLEAN)
    assert run(["clean.textproto", "--time-limit", "300", "--limit", "memory=4GiB", "-q"]) == 0
    monkeypatch.setattr(workers, "prepared", partial(stand_ins.judging, stand_ins.sleeping, tmp_path / "log"))
    assert run(["clean.textproto", "--time-limit", "0.5"]) == 2
    errors = capsys.readouterr().err
    assert errors == "Error: clean.textproto: the model took longer than 0.5 seconds (option --time-limit)\n"


@pytest.mark.parametrize("seconds", ["nan", "1e400", "100000001"])
def test_a_time_limit_is_a_number_that_timers_accept(capsys: Output, seconds: str) -> None:
    assert run(["clean.textproto", "--time-limit", seconds]) == 2
    assert "Invalid value for '--time-limit'" in capsys.readouterr().err


def test_help_has_few_options_and_all_on_request(capsys: Output) -> None:
    def shown(command: str, option: str) -> set[str]:
        assert run([command, option]) == 0
        return set(re.findall(r"^  (?:-\w, )?(--[a-z-]+)", capsys.readouterr().out, re.MULTILINE))

    few, everything = shown("check", "--help"), shown("check", "--help-all")
    assert len(few) <= 32
    declared = {each.opts[-1] for each in application.commands["check"].params if isinstance(each, click.Option)}
    assert few < everything == declared | {"--help", "--help-all"}
    fixing = {"--diff", "--unsafe-fixes"}
    assert not fixing & few
    assert fixing <= shown("fix", "--help")


@pytest.mark.parametrize(
    ("arguments", "instead"),
    [
        (["--select", "MUST"], "'error' selects"),
        (["--ignore", "should"], "'warning' selects"),
    ],
)
def test_a_name_of_the_specification_is_refused_with_that_of_onnx_lint(
    arguments: list[str], instead: str, capsys: Output
) -> None:
    assert run(["clean.textproto", *arguments]) == 2
    assert instead in capsys.readouterr().err


def test_auto_is_a_number_of_jobs() -> None:
    seen: list[int] = []
    for value in ("auto", "0", "3"):
        command = application.commands["check"]
        context = command.make_context("check", ["m.onnx", "--jobs", value])
        seen.append(context.params["jobs"])
    assert seen == [0, 0, 3]


@pytest.mark.parametrize(
    ("arguments", "total"),
    [
        (["warning.textproto"], "2 models conform to ONNX 1.23; 1 warning in 1 of them"),
        (["missing.onnx"], "2 files: 1 conforms to ONNX 1.23, 1 not checked"),
    ],
)
def test_the_total_says_what_is_hidden_and_what_is_no_model(arguments: list[str], total: str, capsys: Output) -> None:
    Path("warning.textproto").write_text(CLEAN.replace("producer_name:", 'domain: "plain" producer_name:'))
    run(["clean.textproto", *arguments])
    assert capsys.readouterr().out.splitlines()[-1] == total


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-f", "json", "-o", "r.html"], "Warning: r.html gets the format json, not html as its suffix says\n"),
        (["-f", "gitlab", "-o", "r.json"], ""),
        (["-o", "json=r.html"], ""),
        (["-o", "r.html"], ""),
    ],
)
def test_a_suffix_of_another_format_is_told(arguments: list[str], said: str, capsys: Output) -> None:
    assert run(["clean.textproto", *arguments]) == 0
    assert capsys.readouterr().err == said
