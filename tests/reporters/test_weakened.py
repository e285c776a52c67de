# SPDX-License-Identifier: Apache-2.0
"""A configuration file beside a model that weakens the verdict is named in every form of report that has a place."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from support.models.clean_model import TWICE

from onnx_lint.cli.application import run
from onnx_lint.engine.registry import registry
from onnx_lint.reporters import REPORTERS

Output = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stranger's model that breaks a rule, and the configuration that came with it."""
    (tmp_path / "stranger").mkdir()
    (tmp_path / "stranger" / "model.textproto").write_text(TWICE)
    (tmp_path / "known.json").write_text('{"version": 1, "files": {}}')
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def configure(text: str, path: str = "stranger/onnx-lint.toml") -> None:
    Path(path).write_text(text)


def weakened(capsys: Output, *arguments: str) -> object:
    """Return what the JSON report of the stranger's model says."""
    run(["stranger", "-f", "json", *arguments])
    return json.loads(capsys.readouterr().out)["summary"].get("weakened", [])


IGNORING = 'ignore = ["duplicate-definition"]\n'
RAISED = "stranger/onnx-lint.toml changes the verdict: limits.memory = 1000000000000"
LINE = 'stranger/onnx-lint.toml weakens the verdict: ignore = ["duplicate-definition"]'


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        (IGNORING, {"ignore": ["duplicate-definition"]}),
        ('select = ["name"]', {"select": ["name"]}),
        ('[severity]\nduplicate-definition = "note"', {"severity.duplicate-definition": "note"}),
        ('fail-on = "never"', {"fail-on": "never"}),
        ('edition = "1.9"', {"edition": "1.9"}),
        ('targets = ["onnxruntime=1.32"]', {"targets": ["onnxruntime=1.32"]}),
        ('baseline = "../known.json"', {"baseline": "../known.json"}),
        ("external-data = false", {"external-data": False}),
        ('proto = "ModelProto"', {"proto": "ModelProto"}),
        ("[limits]\ngraph_nesting = 1000", {"limits.graph_nesting": 1000}),
        ("[limits]\nfindings_per_rule = 1", {"limits.findings_per_rule": 1}),
        (
            "[rules.oversized-message]\nmax_bytes = 104857600",
            {"rules.oversized-message.max_bytes": 104857600},
        ),
        (
            '[[suppress]]\nrule = "duplicate-definition"\nplace = "y*"\nreason = "known"',
            {'suppress."stranger/onnx-lint.toml: suppress[0]".rule': "duplicate-definition"},
        ),
    ],
)
def test_what_turns_something_off_is_named(capsys: Output, text: str, settings: dict[str, object]) -> None:
    configure(text)
    assert weakened(capsys) == [{"file": "stranger/onnx-lint.toml", "settings": settings}]
    assert weakened(capsys, "--no-config") == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ignore = []\nselect = []",
        'extend-select = ["ALL"]\npedantic = true',
        'fail-on = "note"',
        '[severity]\nnon-c90-name = "error"\nduplicate-definition = "error"',
        "[limits]\ngraph_nesting = 10",
        'targets = ["onnx"]',
        "[rules.unaligned-external-offset]\nalignment = 4096",
        'format = "json"\njobs = 1\nexternal-data = true\nexclude = ["*"]',
    ],
)
def test_what_turns_nothing_off_is_not(capsys: Output, text: str) -> None:
    configure(text)
    assert weakened(capsys) == []


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (IGNORING, ["--select", "error"]),
        ('fail-on = "never"', ["--fail-on", "error"]),
        ('edition = "1.9"', ["--edition", "1.23"]),
        ('[severity]\nduplicate-definition = "note"', ["--severity", "duplicate-definition=error"]),
        ("[limits]\ngraph_nesting = 1000", ["--limit", "graph_nesting=20"]),
        ('baseline = "../known.json"', ["--baseline", "known.json"]),
    ],
)
def test_what_the_command_line_puts_aside_is_not(capsys: Output, text: str, arguments: list[str]) -> None:
    configure(text)
    assert weakened(capsys, *arguments) == []


def test_what_the_command_line_itself_says_is_not(capsys: Output) -> None:
    assert weakened(capsys, "--ignore", "error", "--fail-on", "never", "--edition", "1.9") == []


def test_each_file_is_named_by_itself(capsys: Output) -> None:
    configure('extend = "../base.toml"\nfail-on = "never"')
    configure(IGNORING + 'exclude = ["nothing"]', "base.toml")
    configure('exclude = ["stranger/other.onnx"]', "onnx-lint.toml")
    assert weakened(capsys) == [
        {"file": "onnx-lint.toml", "settings": {"exclude": ["stranger/other.onnx"]}},
        {"file": "base.toml", "settings": {"ignore": ["duplicate-definition"]}},
        {"file": "stranger/onnx-lint.toml", "settings": {"fail-on": "never"}},
    ]


@pytest.mark.parametrize(("form", "stream"), [("text", "out"), ("concise", "err"), ("github", "out")])
def test_it_is_the_last_line(capsys: Output, form: str, stream: str) -> None:
    configure(IGNORING)

    def said(*options: str) -> str:
        assert run(["stranger", "-f", form, *options]) == 0
        printed = capsys.readouterr()
        assert printed.out == "" if form == "concise" else printed.err == ""
        return str(getattr(printed, stream))

    assert said("--statistics").splitlines()[-1].removeprefix("onnx-lint: ") == LINE
    assert said("-q").removeprefix("onnx-lint: ") == f"{LINE}\n"  # a model may come with one
    assert said("-q", "--config", "stranger/onnx-lint.toml") == ""


RAISING = "[limits]\nmemory = 1000000000000"


@pytest.mark.parametrize("form", REPORTERS)
@pytest.mark.parametrize("options", [[], ["-q"]])
def test_no_form_keeps_silent_on_a_limit_that_a_found_file_raises(
    capsys: Output, form: str, options: list[str]
) -> None:
    configure(RAISING)
    run(["stranger", "-f", form, *options])
    said = capsys.readouterr()
    if form == "gitlab":  # which has no place for it
        assert said.err == f"Warning: {RAISED}\n"
    elif form == "concise":
        assert said.err.splitlines()[-1] == RAISED
        assert "memory" not in said.out
    else:
        assert "memory" in said.out.replace("\\", "")
        assert said.err == ""


def test_a_base_that_a_found_file_extends_is_found_too(capsys: Output) -> None:
    configure('extend = "../base.toml"')
    configure(RAISING, "base.toml")
    run(["stranger", "--select", "name", "-q"])
    assert capsys.readouterr().out == "base.toml changes the verdict: limits.memory = 1000000000000\n"


@pytest.mark.parametrize(
    ("settings", "lines"),
    [
        ('edition = "1.16"', ['changes the verdict: edition = "1.16"']),
        (
            'edition = "1.16"\nignore = ["cycle"]',
            ['weakens the verdict: ignore = ["cycle"]', 'changes the verdict: edition = "1.16"'],
        ),
        ("limits.memory = '8GiB'", ['changes the verdict: limits.memory = "8GiB"']),
        ("limits.processor_seconds = 0", ["changes the verdict: limits.processor_seconds = 0"]),
        ("limits.findings = 100_000", ["changes the verdict: limits.findings = 100000"]),
        ("limits.findings = 1", ["weakens the verdict: limits.findings = 1"]),
        ("limits.external_bytes = '1KiB'", ['weakens the verdict: limits.external_bytes = "1KiB"']),
    ],
)
def test_a_setting_by_which_it_may_be_stricter_changes_the_verdict(
    settings: str, lines: list[str], capsys: Output
) -> None:
    configure(settings)
    run(["stranger", "-q"])
    shown = [f"stranger/onnx-lint.toml {line}" for line in lines]
    assert capsys.readouterr().out.splitlines()[-len(shown) :] == shown


def test_another_command_warns(capsys: Output) -> None:
    configure(RAISING)
    arguments = ["shapes", "stranger/model.textproto"]
    run(arguments)
    assert f"Warning: {RAISED}\n" in capsys.readouterr().err
    run([*arguments, "--config", "stranger/onnx-lint.toml"])
    assert "Warning" not in capsys.readouterr().err


def test_it_stands_in_the_other_forms(capsys: Output) -> None:
    configure(IGNORING)
    said = {}
    for form in ("jsonl", "sarif", "markdown", "junit"):
        run(["stranger", "-f", form])
        said[form] = capsys.readouterr().out
    summary = json.loads(said["jsonl"].splitlines()[-1])
    assert summary["weakened"] == [
        {"file": "stranger/onnx-lint.toml", "settings": {"ignore": ["duplicate-definition"]}}
    ]
    (sarif,) = json.loads(said["sarif"])["runs"]
    (notification,) = sarif["invocations"][0]["toolConfigurationNotifications"]
    assert (notification["descriptor"]["id"], notification["message"]["text"]) == ("weakened-verdict", f"{LINE}.")
    assert sarif["tool"]["driver"]["notifications"][notification["descriptor"]["index"]]["id"] == "weakened-verdict"
    assert "weakens the verdict: ignore =" in said["markdown"].splitlines()[2]
    root = ElementTree.fromstring(said["junit"].partition("\n")[2])
    assert [item.get("value") for item in root.iter("property") if item.get("name") == "configuration"] == [LINE]


def test_a_hostile_setting_forges_no_line_and_fills_no_screen(capsys: Output) -> None:
    severities = "".join(f'{rule} = "note"\n' for rule in registry())
    configure(f'registered = ["{"x" * 300}other:conforms\\u001bJ"]\n[severity]\n{severities}')
    run(["stranger"])
    last = capsys.readouterr().out.splitlines()[-1]
    assert last.startswith('stranger/onnx-lint.toml weakens the verdict: registered = ["x')
    assert last.endswith(" more")
    assert "\x1b" not in last
    assert len(last) < 5000
