# SPDX-License-Identifier: Apache-2.0
"""The command line from the user's point of view: exit codes, streams, files, and error messages."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

import onnx.parser
import pytest
from support.models.clean_model import CLEAN, TWICE, binary
from support.processes.signals import heed_signals
from support.project.checkout import ROOT
from support.project.made_rules import registered

from onnx_lint import __version__
from onnx_lint.cli.application import run
from onnx_lint.cli.paths import hint_for_missing
from onnx_lint.cli.standard_streams import OutputError
from onnx_lint.cli.streams import report_file, use_color
from onnx_lint.engine.registry import registry
from onnx_lint.engine.selection import selected_rules
from onnx_lint.engine.settings import Settings
from onnx_lint.reporters import REPORTERS
from onnx_lint.rule import Rule
from onnx_lint.spec.clauses import clauses

ODD_DOMAIN = f'domain: "odd"\n{CLEAN}'

CONCISE_TWICE = (
    "twice.textproto:8:56: graph.node[1].output[0]: error[duplicate-definition] output 0 of node 'abs' (Abs) "
    "defines 'y', which output 0 of node 'relu' (Relu) defines already\n"
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with three models, and no word from the environment about formats and colours."""
    (tmp_path / "clean.textproto").write_text(CLEAN)
    (tmp_path / "twice.textproto").write_text(TWICE)
    (tmp_path / "odd.textproto").write_text(ODD_DOMAIN)
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run the program in a separate process."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **options.pop("env", {})}
    command = [sys.executable, "-m", "onnx_lint", *arguments]
    return subprocess.run(command, capture_output=True, env=environment, timeout=600, check=False, **options)


def _shown(value: Any) -> str:
    return " ".join(value) if isinstance(value, list) else ""


def _names(directory: str = ".") -> list[str]:
    return sorted(path.name for path in Path(directory).iterdir())


# --- exit codes


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["clean.textproto"], 0),
        (["check", "clean.textproto"], 0),
        (["twice.textproto"], 1),
        (["clean.textproto", "twice.textproto"], 1),
        (["twice.textproto", "--fail-on", "never"], 0),
        (["odd.textproto"], 0),
        (["odd.textproto", "--fail-on", "warning"], 1),
        (["odd.textproto", "--fail-on", "note"], 1),
        (["odd.textproto", "--edition", "1.9"], 1),
        (["odd.textproto", "--severity", "unqualified-model-domain=error"], 1),
        (["twice.textproto", "--severity", "duplicate-definition=note"], 0),
        (["twice.textproto", "--ignore", "duplicate-definition"], 0),
        (["twice.textproto", "--ignore", "graph,name"], 0),
        (["twice.textproto", "--select", "name"], 0),
        (["twice.textproto", "--select", "name", "--extend-select", "GRAPH"], 1),
        (["missing.onnx"], 2),
        (["missing.onnx", "--fail-on", "never"], 2),
        (["missing.onnx", "twice.textproto"], 2),
        ([], 2),
        (["check"], 2),
        (["clean.textproto", "--no-such-option"], 2),
        (["clean.textproto", "--format", "xml"], 2),
        (["clean.textproto", "--edition", "1.24"], 2),
        (["clean.textproto", "--select", "no-such-rule"], 2),
        (["clean.textproto", "--severity", "no-such-rule=error"], 2),
        (["clean.textproto", "--severity", "duplicate-definition=bad"], 2),
        (["clean.textproto", "--severity", "duplicate-definition"], 2),
        (["--version"], 0),
        (["--help"], 0),
        (["check", "-h"], 0),
        (["explain", "duplicate-definition"], 0),
        (["explain", "no-such-rule"], 2),
    ],
    ids=_shown,
)
def test_exit_code(arguments: list[str], code: int) -> None:
    assert run(arguments) == code


# --- crashes


def _crash(model: Any) -> Iterator[Any]:
    """A rule that crashes.

    ### Why it matters

    It does not.
    """
    raise ValueError("boom \x1b[31m")
    yield


@pytest.fixture
def crashing_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = registered(Rule("crashing-rule", _crash, ("GRA-1",), "0.1.0"), "graph", "crashing", None)
    rules = MappingProxyType({**registry(), "crashing-rule": entry})
    for module in ("onnx_lint.engine.registry", "onnx_lint.engine.selection", "onnx_lint.reporters.sarif_rules"):
        monkeypatch.setattr(f"{module}.registry", lambda: rules)


@pytest.mark.usefixtures("folder", "crashing_rule")
def test_a_crashed_rule_is_named_and_the_others_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["twice.textproto", "missing.onnx", "-f", "concise", "--fail-on", "never"]) == 3
    captured = capsys.readouterr()
    assert captured.out == CONCISE_TWICE
    verdict, missing, *lines = captured.err.splitlines()
    assert (
        verdict
        == "2 files: 1 does not conform to ONNX 1.23 (1 error), 1 not checked; not judged in full: 1 internal error"
    )
    assert missing == "Error: missing.onnx: No such file or directory"
    assert lines[0] == (
        r"Error: internal error: the rule 'crashing-rule' crashed on twice.textproto: ValueError: boom \x1b[31m"
    )
    assert lines[1] == "  Traceback (most recent call last):"
    assert lines[-2] == (
        "This is a fault in onnx-lint, not in the model. Please report it to the maintainers of onnx-lint."
    )
    assert "--exclude" in lines[-1]


@pytest.mark.usefixtures("folder", "crashing_rule")
def test_a_crash_is_in_the_reports(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["clean.textproto", "-o", "json=r.json", "-o", "sarif=r.sarif"]) == 3
    assert capsys.readouterr().out == (
        "clean.textproto: no findings; not judged in full: 1 internal error; IR version 10; ai.onnx 21; "
        "1 node in 1 graph; producer a test\n"
        "   = internal error: the rule crashing-rule crashed: ValueError: boom \\x1b[31m\n"
    )
    (error,) = json.loads(Path("r.json").read_text())["files"][0]["internal_errors"]
    assert (error["rule"], error["exception"]) == ("crashing-rule", "ValueError: boom \x1b[31m")
    (invocation,) = json.loads(Path("r.sarif").read_text())["runs"][0]["invocations"]
    assert invocation["executionSuccessful"] is False
    (notification,) = invocation["toolExecutionNotifications"]
    assert notification["associatedRule"]["id"] == "crashing-rule"
    assert notification["message"]["text"] == r"The rule crashing-rule crashed: ValueError: boom \x1b[31m."


@pytest.mark.usefixtures("folder")
def test_a_hook_says_how_to_fix_and_names_no_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """pre-commit sets PRE_COMMIT, and installs the program in a separate environment."""
    run(["twice.textproto"])
    assert "   = help: onnx-lint explain duplicate-definition\n" in capsys.readouterr().out
    monkeypatch.setenv("PRE_COMMIT", "1")
    run(["twice.textproto"])
    out = capsys.readouterr().out
    assert "   = help: Rename the second value, and use the new name where you mean that value.\n" in out
    assert "onnx-lint explain" not in out


@pytest.mark.usefixtures("folder", "crashing_rule")
def test_a_rule_without_a_sentence_on_fixes_has_the_command_even_in_a_hook(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRE_COMMIT", "1")
    monkeypatch.setattr("onnx_lint.reporters.text.registry", dict)
    run(["twice.textproto"])
    assert "   = help: onnx-lint explain duplicate-definition\n" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
def test_the_statistics_have_a_heading_and_count_files(capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("twice.textproto").read_text()
    Path("more.textproto").write_text(text)
    run(["twice.textproto", "more.textproto", "-q", "-f", "concise", "--statistics"])
    captured = capsys.readouterr()
    assert captured.out.count("\n") == 2
    assert captured.err.splitlines()[-4:] == [
        "findings  files  severity  rule",
        "       2      2  error     duplicate-definition",
        "models  findings  errors  producer",
        "     2         2       2  a test",
    ]


# --- paths


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("claen.textproto", "claen.textproto: No such file or directory; did you mean 'clean.textproto'?"),
        ("./twice.textprot", "./twice.textprot: No such file or directory; did you mean './twice.textproto'?"),
        ("expalin", "expalin: No such file or directory; did you mean the command 'explain'?"),
        (
            "fix",
            "fix: No such file or directory; a command stands before all options: onnx-lint fix [OPTIONS] PATH...",
        ),
        ("rule", "rule: No such file or directory; did you mean the command 'rules'?"),
        ("nowhere/m.onnx", "nowhere/m.onnx: No such file or directory"),
        ("a\nb\x1b.onnx", r"a\nb\x1b.onnx: No such file or directory"),
        (
            "empty",
            "empty: no model in this directory; looked for *.onnx, *.onnxopset, *.textproto, *.txtpb, *.pbtxt, "
            "and for *.prototxt and *.onnxtxt that begin like a model",
        ),
    ],
)
def test_a_path_without_a_model_is_told(path: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("empty").mkdir()
    assert run(["-q", path]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", f"Error: {said}\n")


@pytest.mark.usefixtures("folder")
def test_reports_suggest_the_path_that_was_meant(capsys: pytest.CaptureFixture[str]) -> None:
    said = "claen.textproto: No such file or directory; did you mean 'clean.textproto'?"
    assert run(["claen.textproto", "-f", "json", "-o", "sarif=r.sarif"]) == 2
    captured = capsys.readouterr()
    assert json.loads(captured.out)["files"][0]["unreadable"] == said
    assert captured.err == f"Error: {said}\n"
    (invocation,) = json.loads(Path("r.sarif").read_text())["runs"][0]["invocations"]
    assert [each["message"]["text"] for each in invocation["toolExecutionNotifications"]] == [said]


@pytest.mark.usefixtures("folder")
def test_where_nothing_was_checked_there_is_no_word_of_findings(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["expalin", "cycle"]) == 2
    assert capsys.readouterr().out.splitlines()[-1] == "2 files: none checked"
    assert run(["expalin", "clean.textproto"]) == 2
    assert capsys.readouterr().out.splitlines()[-1] == "2 files: 1 conforms to ONNX 1.23, 1 not checked"


@pytest.mark.usefixtures("folder")
def test_directories_are_searched_and_each_file_is_linted_once(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("models/b/z.onnx", "models/b/a.PBTXT", "models/a.txtpb", "models/m.json", "models/.git/x.onnx"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(CLEAN)
    assert (
        run(["twice.textproto", "models", "./models/b/z.onnx", "models/m.json", "-f", "json", "--fail-on", "never"])
        == 0
    )
    files = json.loads(capsys.readouterr().out)["files"]
    assert [file["path"] for file in files] == [
        "twice.textproto",
        "models/a.txtpb",
        "models/b/a.PBTXT",
        "models/b/z.onnx",
        "models/m.json",
    ]


CAFFE = """name: "LeNet"
input: "data"
input_dim: 64
layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1" }
"""
PARSER_SYNTAX = '<ir_version: 10, opset_import: ["" : 21]>\nmain (float[N] x) => (float[N] y) { y = Relu (x) }\n'


@pytest.mark.usefixtures("folder")
def test_of_names_that_other_programs_use_only_models_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    texts = {
        "a.prototxt": f"# a license\n{CLEAN}",
        "b.PROTOTXT": "\ufeff" + CLEAN,
        "caffe.prototxt": CAFFE,
        "solver.prototxt": 'net: "train.prototxt"\nbase_lr: 0.01\n',
        "labels.prototxt": 'item { id: 1 name: "cat" }\n',
        "empty.prototxt": "",
        "c.onnxtxt": CLEAN,
        "d.onnxtxt": PARSER_SYNTAX,
        "e.onnxtxt": "notes: no model\n",
    }
    Path("zoo").mkdir()
    for name, text in texts.items():
        Path("zoo", name).write_text(text)
    Path("zoo/binary.prototxt").write_bytes(bytes(range(256)))
    found = ["zoo/a.prototxt", "zoo/b.PROTOTXT", "zoo/c.onnxtxt", "zoo/d.onnxtxt"]
    for path in ("zoo", "zoo/**"):
        assert run([path, "-f", "json"]) == 1
        files = json.loads(capsys.readouterr().out)["files"]
        assert [file["path"] for file in files] == found
        assert [file["summary"]["errors"] for file in files] == [0, 0, 0, 1]
    assert "onnx.parser" in files[3]["diagnostics"][0]["message"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("rules", ["check", "rules"]),
        ("explain", ["./explain"]),
        ("check", ["check", "check"]),
        ("-x.onnx", ["check", "--", "-x.onnx"]),
        ("-x.onnx", ["--", "-x.onnx"]),
        ("--version", ["check", "--", "--version"]),
    ],
    ids=_shown,
)
def test_a_file_may_have_the_name_of_a_command_or_an_option(
    name: str, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    Path(name).write_bytes(binary(TWICE))
    assert run(arguments) == 1
    assert f"\n  --> {arguments[-1]}: graph.node[1].output[0]" in capsys.readouterr().out


def test_standard_input_is_linted(folder: Path) -> None:
    piped = process("-", "-q", "-f", "concise", input=binary(TWICE), cwd=folder)
    assert (piped.returncode, piped.stderr) == (1, b"")
    assert piped.stdout.decode() == CONCISE_TWICE.replace("twice.textproto:8:56", "<stdin>")  # no text, so no lines
    with Path("twice.textproto").open("rb") as stream:
        redirected = process("check", "-", "-f", "concise", stdin=stream, cwd=folder)
    assert redirected.returncode == 1
    assert redirected.stdout.decode() == CONCISE_TWICE.replace("twice.textproto", "<stdin>")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_file_name_may_be_no_text(folder: Path) -> None:
    name = b"odd \xff\n.onnx"
    Path(os.fsdecode(name)).write_bytes(binary(TWICE))
    for format_name, shown in (("concise", rb"odd \xff\n.onnx: "), ("sarif", b'"odd%20%FF%0A.onnx"')):
        done = process(os.fsdecode(name), "-q", "-f", format_name, cwd=folder)
        assert (done.returncode, done.stderr) == (1, b"")
        assert shown in done.stdout
        assert done.stdout.count(b"\n") == 1


@pytest.mark.usefixtures("folder")
def test_hint_for_missing_survives_odd_folders() -> None:
    assert hint_for_missing("no/such/folder.onnx", ["explain"]) == ""
    assert hint_for_missing("a\0b/c.onnx", ["explain"]) == ""
    assert hint_for_missing("", ["explain"]) == ""


def test_a_file_that_may_not_be_read_does_not_keep_others_from_being_linted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The administrator may read everything, so permissions are made up here.
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    assert run(["check", str(folder / "clean.textproto")]) == 0


def test_no_report_can_be_written_where_there_is_no_folder_any_more(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> str:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(os, "getcwd", gone)
    with pytest.raises(OutputError, match=r"^report\.json: No such file or directory$"), report_file("report.json"):
        pass


# --- selection


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--select", "duplicate-defintion"],
            "unknown rule 'duplicate-defintion'; did you mean 'duplicate-definition'?",
        ),
        (["--ignore", "name,grph"], "unknown rule 'grph'; did you mean 'graph'?"),
        (["--select", "errors"], "unknown rule 'errors'; did you mean 'error'?"),
        (["--extend-select", "SHOULD"], "unknown rule 'SHOULD'; it is a keyword, whose clauses 'warning' selects"),
        (["--severity", "cylce=error"], "unknown rule 'cylce'; did you mean 'cycle'?"),
        (["--severity", "cycle=eror"], "unknown severity 'eror'; the severities are error, warning, note"),
        (["--severity", "cycle"], "--severity expects RULE=LEVEL, not 'cycle'"),
        (["--limit", "fields"], "--limit expects NAME=VALUE, not 'fields'"),
        (["--limit", "feilds=1"], "unknown limit 'feilds'; did you mean 'fields'?"),
        (["--output", "sarf=x"], "unknown format 'sarf' in --output 'sarf=x'; did you mean 'sarif'?"),
        (["--output", "sarif="], "--output 'sarif=' names no file"),
        (
            ["--output", "text=./clean.textproto"],
            "the report would overwrite './clean.textproto', which the run itself uses",
        ),
        (["-o", "json=r", "-o", "sarif=r"], "two reports go to 'r'"),
        (["-o", "json=-", "-o", "sarif=-"], "two reports go to standard output"),
    ],
    ids=_shown,
)
def test_wrong_usage_is_told_with_a_suggestion(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = _names()
    assert run(["clean.textproto", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.endswith(f"\nError: {said}\n")
    assert _names() == before


@pytest.mark.usefixtures("folder")
def test_the_report_names_the_rules_of_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    run(["clean.textproto", "-f", "json", "--select", "cycle", "--extend-select", " Duplicate-Definition ,"])
    tool = json.loads(capsys.readouterr().out)["tool"]
    assert tool["rules"] == ["cycle", "duplicate-definition"]
    assert tool["specification"] == {"edition": "1.23", "variant": "onnx-ml"}


EXTERNAL = CLEAN.replace(
    "  input {",
    """  initializer {
    name: "w"
    data_type: 1
    dims: 2
    data_location: EXTERNAL
    external_data { key: "location" value: "gone.bin" }
  }
  input {""",
)


@pytest.mark.usefixtures("folder")
def test_external_data_is_looked_up_unless_told_otherwise(capsys: pytest.CaptureFixture[str]) -> None:
    Path("external.textproto").write_text(EXTERNAL)
    assert run(["external.textproto", "-f", "concise", "--select", "external-data"]) == 1
    assert capsys.readouterr().out.startswith("external.textproto:13:5: graph.initializer[0]")
    assert run(["external.textproto", "-f", "concise", "--select", "external-data", "--no-external-data"]) == 0
    captured = capsys.readouterr()
    assert captured.out == ""
    assert (
        "not verified: the files of external data were not examined, because external data is switched off\n"
        in captured.err
    )
    assert run(["clean.textproto", "-f", "concise", "--no-external-data"]) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "1 model conforms to ONNX 1.23\n")


# --- output


@pytest.mark.usefixtures("folder")
def test_a_plain_output_path_takes_the_report_away_from_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["twice.textproto", "-f", "concise", "-o", "./a=b.txt"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.endswith("1 error; the report is in ./a=b.txt\n")
    assert Path("a=b.txt").read_text() == CONCISE_TWICE


@pytest.mark.usefixtures("folder")
def test_a_report_that_cannot_be_written_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["clean.textproto", "-q", "-o", "json=no/such/folder/r.json", "-o", "sarif=r.sarif"]) == 2
    assert capsys.readouterr().err == "Error: no/such/folder/r.json: No such file or directory\n"
    assert json.loads(Path("r.sarif").read_text())["version"] == "2.1.0"


@pytest.mark.usefixtures("folder")
def test_a_report_file_is_written_whole_or_not_at_all() -> None:
    Path("reports").mkdir()
    target = Path("reports/r.txt")
    with report_file(str(target)) as stream:
        stream.write("old")
        assert not target.exists()
    with pytest.raises(TypeError), report_file(str(target)) as stream:
        stream.writelines(["half of the new", None])
    assert target.read_text() == "old"
    assert _names("reports") == ["r.txt"]


@pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")
@pytest.mark.usefixtures("folder")
def test_a_report_file_keeps_permissions_and_links() -> None:
    mask = os.umask(0o022)
    try:
        with report_file("new.txt") as stream:
            stream.write("new")
    finally:
        os.umask(mask)
    assert stat.S_IMODE(Path("new.txt").stat().st_mode) == 0o644
    Path("new.txt").chmod(0o600)
    Path("link.txt").symlink_to("new.txt")
    with report_file("link.txt") as stream:
        stream.write("newer")
    assert Path("link.txt").is_symlink()
    assert Path("new.txt").read_text() == "newer"
    assert stat.S_IMODE(Path("new.txt").stat().st_mode) == 0o600


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
@pytest.mark.usefixtures("folder")
def test_devices_are_written_to_and_a_full_one_is_told() -> None:
    assert run(["clean.textproto", "-q", "-o", "json=/dev/null"]) == 0
    assert Path("/dev/null").is_char_device()
    with pytest.raises(OutputError, match="No space left on device"), report_file("/dev/full") as stream:
        stream.write("x")


def test_an_encoding_that_lacks_a_character_does_not_end_the_run(folder: Path) -> None:
    Path("\u00e9.textproto").write_text(TWICE)
    done = process("\u00e9.textproto", "-f", "concise", cwd=folder, env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 1
    assert done.stdout.startswith(rb"\xe9.textproto:8:56: graph.node[1]")


# --- pipes and signals


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_an_interrupt_ends_quietly(folder: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "onnx_lint", "-"]
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env=environment,
        cwd=folder,
        preexec_fn=heed_signals,
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        assert running.stderr is not None
        # More than a pipe holds: when it is written, the program is past its start and reads.
        running.stdin.write(bytes(1 << 20))
        running.stdin.flush()
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=600) == 130
        assert running.stdout.read() == b""
        assert running.stderr.read().strip() == b""


# --- terminals


def _on_a_terminal(folder: Path, arguments: list[str], **environment: str) -> bytes:
    pty = pytest.importorskip("pty", reason="the system has no pseudo-terminals")
    leader, follower = pty.openpty()
    clean = {key: value for key, value in os.environ.items() if key not in {"NO_COLOR", "FORCE_COLOR"}}
    command = [sys.executable, "-m", "onnx_lint", *arguments]
    variables = {**clean, "PYTHONPATH": str(ROOT), "TERM": "xterm", "COLUMNS": "40", **environment}
    with subprocess.Popen(command, stdout=follower, stderr=follower, env=variables, cwd=folder):
        os.close(follower)
        pieces: list[bytes] = []
        try:
            while piece := os.read(leader, 1 << 16):
                pieces.append(piece)
        except OSError:
            # Linux ends a pseudo-terminal that nobody writes to any more with an error.
            pass
        finally:
            os.close(leader)
    return b"".join(pieces).replace(b"\r\n", b"\n")


def test_a_terminal_gets_colours_unless_told_otherwise(folder: Path) -> None:
    colored = _on_a_terminal(folder, ["twice.textproto"])
    assert colored.startswith(b"\x1b[1;31merror[duplicate-definition]\x1b[0m")
    assert b"\x1b" not in _on_a_terminal(folder, ["twice.textproto"], NO_COLOR="1")
    assert b"\x1b" not in _on_a_terminal(folder, ["twice.textproto", "-f", "concise"])


def test_a_table_fits_a_narrow_terminal(folder: Path) -> None:
    shown = _on_a_terminal(folder, ["rules"], COLUMNS="60")
    assert shown.split() == process("rules", cwd=folder).stdout.split()
    assert max(map(len, shown.splitlines())) <= 60


def test_explain_is_rendered_on_a_terminal(folder: Path) -> None:
    rendered = _on_a_terminal(folder, ["explain", "duplicate-definition"], NO_COLOR="1")
    assert b"duplicate-definition" in rendered
    assert b"###" not in rendered


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"CLICOLOR_FORCE": "1"}, True),
        ({"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, False),
        ({"FORCE_COLOR": ""}, False),
        ({"FORCE_COLOR": "0"}, False),
        ({"NO_COLOR": "", "FORCE_COLOR": "1"}, True),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
    ],
)
@pytest.mark.usefixtures("folder")
def test_use_color(
    environment: dict[str, str], expected: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with (tmp_path / "stream").open("w") as stream:
        assert use_color(stream) is expected


# --- start-up


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == (
        f"onnx-lint {__version__} (ONNX 1.23, IR version 14, ai.onnx 28, ai.onnx.ml 5)\n"
    )


# --- explain, rules, clauses


def test_explain_prints_markdown_off_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", "duplicate-definition"]) == 0
    page = capsys.readouterr().out
    rule = registry()["duplicate-definition"].rule
    assert page.startswith(
        "# duplicate-definition\n\n*error in edition 1.23; chapter graph; since onnx-lint 0.1.0*\n\n"
    )
    assert rule.documentation in page
    for name in rule.clauses:
        assert f"- **{name}** ({clauses()[name].anchor}; " in page


@pytest.mark.parametrize("name", ["GRA-5", "gra-5"])
def test_explain_knows_clauses(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", name]) == 0
    page = capsys.readouterr().out
    assert page.startswith("# GRA-5\n\n*IR.md#graphs; chapter graph; from IR version 1 on*\n\n")
    assert "- edition 1.9: MUST (error)\n" in page
    assert f"- `duplicate-definition`: {registry()['duplicate-definition'].rule.summary}\n" in page


def test_explain_can_print_every_rule_and_clause(capsys: pytest.CaptureFixture[str]) -> None:
    for name in (*registry(), *clauses()):
        assert run(["explain", name]) == 0, name
    capsys.readouterr()


@pytest.mark.parametrize(
    ("name", "nearest"), [("duplicate-defintion", "duplicate-definition"), ("GRA5", "GRA-5"), ("Cylce", "cycle")]
)
def test_explain_suggests(name: str, nearest: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", name]) == 2
    assert capsys.readouterr().err.endswith(
        f"\nError: no rule, clause or operator {name!r}; did you mean {nearest!r}?\n"
    )


def test_rules_lists_every_rule_whole(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert run(["rules"]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split() == ["RULE", "SEVERITY", "DEFAULT", "CHAPTER", "WHAT", "IS", "WRONG"]
    default = selected_rules(Settings())
    for line, entry in zip(lines, registry().values(), strict=True):
        name, level, state, chapter, *_ = line.split()
        assert (name, chapter, state) == (entry.id, entry.chapter, "on" if entry.id in default else "off")
        assert level in {"error", "warning", "note", "-"}
        assert line.endswith(f"  {entry.rule.summary}")


def test_rules_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rules", "-f", "json", "--edition", "1.9"]) == 0
    document = json.loads(capsys.readouterr().out)
    by_id = {rule["id"]: rule for rule in document["rules"]}
    assert list(by_id) == sorted(registry())
    assert by_id["non-c90-name"]["severity"] == "error"
    assert by_id["non-c90-name"]["documentation"] == registry()["non-c90-name"].rule.documentation


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("named", ["report.json", "json=report", "model.onnx", "json=w.bin"])
@pytest.mark.parametrize("linked", [True, False])
def test_a_report_never_replaces_a_model(named: str, linked: bool, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither by its name nor by a link that a checkout brings."""
    path = Path(named.rpartition("=")[2])
    data = b"\x08\x0a\x12\x01p\x3a\x07\x0a\x05\x0a\x01z\x22\x00"
    there = Path("elsewhere") if linked else path
    there.write_bytes(data)
    if linked:
        path.symlink_to("elsewhere")
    assert run(["clean.textproto", "-o", named if "=" in named or path.suffix == ".json" else f"json={named}"]) == 2
    assert "the report would overwrite" in capsys.readouterr().err
    assert there.read_bytes() == data
    assert path.is_symlink() == linked


BODY = " => (float y) { y = Abs (x) }"
IN_PARSER_SYNTAX = (
    '<\n# licence\nir_version: 8, opset_import: ["": 17]>\ng (float x)' + BODY,
    '<ir_version # c\n: 8, opset_import: ["": 17]>\ng (float x)' + BODY,
    '<producer_name: "a#b", ir_version: 8, opset_import: ["": 17]>\ng (float x)' + BODY,
    '<metadata_props: ["a": "b"]>\ng (float x)' + BODY,
    "g (seq(optional(float[1])) x)" + BODY,
    'g (float[")"] x)' + BODY,
    '"a\n#g" # ") =>\n (float[1] x) # c\n' + BODY,
    "<" + "# c\n" * 30_000 + "ir_version #" + "c" * 200_000 + "\n: 8>\ng (float x)" + BODY,
)


@pytest.mark.parametrize("text", IN_PARSER_SYNTAX, ids=lambda text: text[:30])
def test_onnx_parser_reads_them(text: str) -> None:
    assert len(onnx.parser.parse_model(text).graph.node) == 1


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("text", IN_PARSER_SYNTAX[:-1], ids=lambda text: text[:30])
def test_a_file_for_onnx_parser_is_called_so(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("t.onnxtxt").write_text(text)
    assert run(["t.onnxtxt"]) == 1
    assert "syntax of onnx.parser" in " ".join(capsys.readouterr().out.split())


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "text",
    [
        '{"irVersion": "8", "graph": {}}',
        '{\n  "ir_version": "8"\n}',
        "# a model\nir_version: 8\ngraph { }",
        'graph { name: "g" }',
        "opset_import {\n version: 1 }",
        "<ir_version: 10, opset_import: []>\ng (float x) => (float y) { y = Abs (x) }",
        'name: "g"\nnode { op_type: "Abs" }\ninput { name: "x" }',
        'name: "t"\ndims: 1\ndata_type: 1\nraw_data: "' + "A" * 5_000,
        '{"dims": ["4"], "dataType": 1, "rawData": "' + "A" * 5_000,
        '{"node": [{"opType": "Abs", "version": 1, "tool": 2}], "name": "g"}',
        '{"name": "k", "typo": 1, "keyType": 7, "stringKeys": [], "values": {}}',
        "tensor_type { elem_type: 1 }",
        "# a license\n" * 5_000 + "ir_version: 8\ngraph { }",
        "# a license\n" * 50_000 + "ir_version: 8\ngraph { }",
        "#" + "-" * 200_000 + "\n\n" + " " * 200_000 + "\n  # of \n" * 9 + "ir_version: 8\ngraph { }",
        "\n" * 70_000 + 'graph { name: "g" }',
        "\n \t" * 70_000 + "# a comment\n" * 70_000 + "<ir_version: 10>\ng (float x) => (float y) { y = Abs (x) }",
        " " * 70_000 + "{" + "\n" * 70_000 + '"irVersion"' + "\n" * 70_000 + ': "8", "graph": {}}',
        "\ufeff" + " " * 70_000 + '{"irVersion": "8"}',
        r'{"ir\u0056ersion": "8", "graph": {"name": "g"}}',
        r'{"\u0067raph": {"name": "g"}}',
        'graph # c\n# d\n{ name: "g" }',
        "graph #" + "c" * 200_000 + '\n{ name: "g" }',
        'graph # it is 5" long\n# d\n< name: "g" >',
        *IN_PARSER_SYNTAX,
    ],
    ids=lambda text: text[:30],
)
def test_nor_a_model_in_text_form(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("old.json").write_text(text)
    assert run(["clean.textproto", "-o", "old.json"]) == 2
    assert "'old.json', which is a model, or a part of one, in text form" in capsys.readouterr().err
    assert Path("old.json").read_text() == text


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "a note",
        "name: ci\non: push\njobs:\n  lint:\n    steps: []\n",
        '{"name": "package", "version": "1.0", "private": true, "scripts": {}}',
        '{"$schema": "x", "version": "2.1.0", "runs": []}',
        '[{"name": "a", "type": "b"}]',
        "model.onnx: graph.node[0]: error[cycle] a value: x",
        "{}",
        "\ufeffa note",
        "# a note\n" * 20_000,
        " " * 200_000,
        "a note of \u00e9\u20ac\U0001f600 in some bytes" * 20_000,
        "x" * 65_535 + "\u20ac" + "y" * 65_536,
    ],
    ids=lambda text: text[:30],
)
def test_ordinary_files_are_replaced(text: str) -> None:
    Path("old.json").write_text(text)
    assert run(["clean.textproto", "-o", "old.json"]) == 0
    assert json.loads(Path("old.json").read_text())["version"] == 1


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "content",
    [
        *(b"a" * size + b"\0" + b"a" * after for size in (4_095, 4_096, 65_535, 65_536, 300_000) for after in (0, 9)),
        b"a" * 4_096 + bytes(range(256)),
        b"a note\n" * 30_000 + "\u20ac".encode()[:2],
        b"a" * 65_535 + b"\xe2" + b"a" * 70_000,
        "a note in another form".encode("utf-16"),
        "a note in another form".encode("utf-16-le"),
        b"a note in another form: \xe9",
        b"\x1b[31ma note in colour",
        b"%PDF-1.4\n% all of it is text\n" + b"0 0 m\n" * 1_000,
        b"%PDF-1.4\n" + b"a" * 5_000 + bytes(range(256)),
        b"PK\x05\x06" + bytes(18),
        b"\x1f\x8b\x08",
        b"\x89PNG\r\n\x1a\n",
        b"GIF89a" + bytes(9),
        b"SQLite format 3\0",
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
    ],
    ids=lambda content: f"{content[:9]!r} {len(content)}",
)
def test_nor_anything_that_is_no_text_to_its_end(content: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    Path("old.json").write_bytes(content)
    assert run(["clean.textproto", "-o", "old.json"]) == 2
    assert "the report would overwrite 'old.json', which " in capsys.readouterr().err
    assert Path("old.json").read_bytes() == content


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("linked", [True, False])
@pytest.mark.parametrize(
    "options", [[], ["-j", "2"], ["--cache"], ["--select", "cycle"], ["--fix"], ["--no-external-data"]]
)
def test_nor_external_data_that_looks_like_text(
    options: list[str],
    linked: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path.parent / f"cache-{tmp_path.name}"))
    Path("external.textproto").write_text(EXTERNAL.replace("gone.bin", "./data/w"))
    Path("data").mkdir()
    Path("data/w").write_bytes(b"AAAABBBB")
    Path("link").symlink_to("data/w")
    name = "link" if linked else "data/w"
    said = f"Error: {name}: is external data of external.textproto; it was not changed\n"
    for _ in range(2 if "--cache" in options else 1):
        arguments = ["external.textproto", "clean.textproto", *options, "-q"]
        assert run([*arguments, "-o", f"./{name}", "-f", "json"]) == 2
        out, err = capsys.readouterr()
        assert (out, said.replace(name, f"./{name}", 1) in err) == ("", True)
        assert run([*arguments, "-o", f"sarif={name}", "-o", "json=-"]) == 2
        out, err = capsys.readouterr()
        assert json.loads(out)["files"][0]["data_files"] == ["./data/w"]
        assert said in err
    assert Path("data/w").read_bytes() == b"AAAABBBB"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="nothing is unreadable for root")
@pytest.mark.usefixtures("folder")
def test_nor_a_file_that_cannot_be_read(capsys: pytest.CaptureFixture[str]) -> None:
    Path("secret").write_text("ir_version: 8")
    Path("secret").chmod(0)
    assert run(["clean.textproto", "-o", "json=secret"]) == 2
    assert "cannot be read, so it may be a model" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_nor_what_the_run_itself_uses(capsys: pytest.CaptureFixture[str]) -> None:
    Path("onnx-lint.toml").write_text("pedantic = true\n")
    Path("list").write_text("clean.textproto\n")
    Path("other.toml").write_text("pedantic = true\n")
    assert run(["clean.textproto", "--write-baseline", "known.json"]) == 0
    for used, options in {
        "onnx-lint.toml": [],
        "list": ["--files-from", "list"],
        "other.toml": ["--config", "other.toml"],
        "known.json": ["--baseline", "known.json"],
    }.items():
        before = Path(used).read_bytes()
        Path("link").symlink_to(used)
        for output in (used, "link"):
            assert run(["clean.textproto", *options, "-o", f"json={output}"]) == 2, used
            assert f"the report would overwrite {output!r}, which the run itself uses" in capsys.readouterr().err
        assert Path(used).read_bytes() == before
        Path("link").unlink()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("form", REPORTERS)
def test_every_report_replaces_the_one_before(form: str) -> None:
    """A link to it stays a link."""
    assert run(["clean.textproto", "-o", f"{form}=report"]) == 0
    Path("link").symlink_to("report")
    Path("report").write_bytes(Path("report").read_bytes() * 3)
    assert run(["clean.textproto", "-o", f"{form}=link"]) == 0
    assert Path("link").is_symlink()
    first = _without_time(Path("report").read_bytes())
    assert run(["clean.textproto", "-o", f"{form}=link"]) == 0
    assert _without_time(Path("report").read_bytes()) == first


def _without_time(report: bytes) -> bytes:
    """The HTML page names the minute of the run."""
    return re.sub(rb"\d\d:\d\d UTC", b"", report)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("option", [["-o", "json=link"], ["-o", "json=chain"], ["--write-baseline", "link"]])
def test_no_link_out_of_the_folder_is_followed(
    tmp_path: Path, option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside"
    assert run(["odd.textproto", "--write-baseline", str(outside)]) == 0
    before = outside.read_bytes()
    Path("link").symlink_to(f"../{outside.name}")
    Path("chain").symlink_to("link")
    assert run(["clean.textproto", *option]) == 2
    assert f"is a link out of its folder, to {outside.resolve()}" in capsys.readouterr().err
    assert outside.read_bytes() == before
    outside.unlink()
    assert run(["clean.textproto", *option]) == 2
    assert not outside.exists()


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system has no /proc")
def test_open_files_are_written_to_by_their_numbers(folder: Path, tmp_path: Path) -> None:
    """A link may come from a stranger, so it leads to no open file."""
    (folder / "link").symlink_to("/dev/stdout")
    (folder / "stranger").symlink_to("/proc/self/fd/3")
    target = tmp_path.parent / f"{tmp_path.name}-out.json"
    for named, number in (("/dev/stdout", 1), ("/dev/fd/3", 3), ("/dev/fd/1", 1), ("link", 1), ("stranger", 3)):
        command = f'"$0" -m onnx_lint clean.textproto -q -o json={named} {number}> "$1"'
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            ["sh", "-c", command, sys.executable, str(target)], env=environment, cwd=folder, capture_output=True
        )
        refused = not named.startswith("/dev")
        assert (done.returncode, b"link out of its folder" in done.stderr) == (2 * refused, refused), named
        assert refused or json.loads(target.read_text())["version"] == 1, named
        assert refused <= (not target.read_text())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
@pytest.mark.usefixtures("folder")
def test_a_pipe_that_became_a_link_is_not_written_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The owner of the folder can swap them between the look at the file and its opening."""
    victim = tmp_path.parent / f"{tmp_path.name}-victim"
    victim.write_text("old")
    os.mkfifo("report.json")
    real = os.open

    def swap(path: str, *arguments: Any, **named: Any) -> int:
        if str(path).endswith("report.json"):
            os.unlink("report.json")
            os.symlink(victim, "report.json")
        return real(path, *arguments, **named)

    monkeypatch.setattr(os, "open", swap)
    with pytest.raises(OutputError), report_file("report.json") as stream:
        stream.write("new")
    assert victim.read_text() == "old"


@pytest.mark.usefixtures("folder")
def test_a_link_to_a_file_beside_it_is_written_to() -> None:
    Path("nowhere").symlink_to("new.json")
    assert run(["clean.textproto", "-o", "json=nowhere"]) == 0
    assert Path("new.json").stat().st_size
