# SPDX-License-Identifier: Apache-2.0
"""The settings of each file, with their sources."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path
from typing import Any

import pytest

from onnx_lint.cli.application import run
from onnx_lint.cli.plan import Plan
from onnx_lint.configuration.settings import Request, keys
from onnx_lint.engine.settings import Settings


def test_each_setting_has_the_source_of_its_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    Path("m.onnx").write_bytes(b"")
    Path("onnx-lint.toml").write_text('ignore = ["cycle"]\nextend-select = ["hygiene"]\nfail-on = "error"\n')
    assert run(["m.onnx", "--show-settings", "--fail-on", "note", "--extend-select", "policy"]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == "# m.onnx"
    found = [tuple(part.strip() for part in line.rsplit("  # ", 1)) for line in lines]
    by_key = {key: [each for each in found if each[0].removeprefix("# ").startswith(f"{key} ")] for key in KEYS}
    assert by_key == KEYS


def test_the_settings_of_a_path_without_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    Path("onnx-lint.toml").write_text('ignore = ["cycle"]\n')
    assert run(["later.onnx", "--show-settings"]) == 0
    first, *lines = capsys.readouterr().out.splitlines()
    assert first == "# later.onnx"
    assert any(line.startswith('ignore = ["cycle"]') for line in lines)


KEYS = {
    "ignore": [('ignore = ["cycle"]', "onnx-lint.toml")],
    "extend-select": [('extend-select = ["hygiene", "policy"]', "onnx-lint.toml, command line")],
    "fail-on": [('fail-on = "note"', "command line")],
    "select": [("select = []", "default")],
}


CONFIGURATION = """
ignore = ["cycle"]
extend-select = ["hygiene"]
[severity]
cycle = "warning"
[limits]
memory = "4GiB"
[policy]
max-nodes = 7
[policy.operators]
forbid = ["Loop"]
"""


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ([], {"ignore", "extend-select", "severity.cycle", "limits.memory", "policy.max-nodes", "policy.operators"}),
        (["--select", "name"], {"severity.cycle", "limits.memory"}),
        (["--select", "oversized-model"], {"severity.cycle", "limits.memory", "policy.max-nodes"}),
        (
            ["--severity", "cycle=note", "--limit", "memory=5GiB"],
            {"ignore", "extend-select", "policy.max-nodes", "policy.operators"},
        ),
    ],
)
def test_what_the_command_line_replaces_is_not_listed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    shown: set[str],
):
    monkeypatch.chdir(tmp_path)
    Path("m.onnx").write_bytes(b"")
    Path("onnx-lint.toml").write_text(CONFIGURATION)
    assert run(["m.onnx", "--show-settings", *arguments]) == 0
    lines = [line.rsplit("  # ", 1) for line in capsys.readouterr().out.splitlines()[1:]]
    entries = [text.partition(" =")[0].removesuffix(".forbid") for text, origin in lines if origin == "onnx-lint.toml"]
    assert sorted(entries) == sorted(shown)
    names = [text.partition(" =")[0].strip("# ") for text, _ in lines]
    assert len(names) == len(set(names))


def test_keys_of_the_run_in_a_nested_configuration_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.chdir(tmp_path)
    Path("zoo/deep").mkdir(parents=True)
    for name in ("zoo/a.onnx", "zoo/b.onnx", "zoo/deep/c.onnx", "d.onnx"):
        Path(name).write_bytes(b"")
    Path("onnx-lint.toml").write_text('cache = false\nexclude = ["*.txt"]\n')
    Path("zoo/onnx-lint.toml").write_text('exclude = ["*.onnx"]\njobs = 2\nformat = "json"\ncache = false\n')
    Path("zoo/deep/onnx-lint.toml").write_text('extend = "../../onnx-lint.toml"\ncontext = false\n')
    run(["zoo", "d.onnx", "--show-settings"])
    first, second = Path("zoo/onnx-lint.toml"), Path("zoo/deep/onnx-lint.toml")
    only = "read only from the configuration of the working directory"
    assert sorted(capsys.readouterr().err.splitlines()) == sorted(
        [
            f"Warning: {first}: ignored: exclude, jobs, format, cache, which are {only}",
            f"Warning: {second}: ignored: context, which is {only}",
        ]
    )
    run(["zoo", "d.onnx", "--show-settings", "--config", "onnx-lint.toml"])
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("exclude", "first"), [([], "# ./a.onnx and 2 more"), (["b*"], "# ./a.onnx"), (["*"], "# ./a.onnx and 2 more")]
)
def test_files_that_are_excluded_are_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], exclude: list[str], first: str
):
    monkeypatch.chdir(tmp_path)
    for name in ("a.onnx", "b.onnx", "b2.onnx"):
        Path(name).write_bytes(b"")
    Path("onnx-lint.toml").write_text(f"exclude = {exclude}\n")
    assert run([".", "--show-settings"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == first


SCHEMA_FILE = '{"format": 1, "domain": "com.other", "operators": [{"name": "F", "since_version": 1}]}'
VALUES = """
select = ["name", "hygiene"]
extend-select = ["unused-opset-import"]
ignore = ["cycle", "non-c90-name"]
pedantic = true
edition = "1.16"
fail-on = "warning"
format = "json"
jobs = 2
cache = false
targets = ["onnxruntime=1.32", "ai.onnx=17"]
target-gate = "refused"
exclude = ["a b ::x", "\\"quoted\\"", "back\\\\slash", "\\u007f\\u00ad\\u200b", "caf\u00e9", "##[group]"]
proto = "ModelProto"
external-data = false
external-data-roots = ["roots"]
follow-links = true
context = false
baseline = "2024"
opset-schemas = ["1.json"]
registered = ["com.acme"]
suppress = [
    { rule = "cycle", reason = "a \\"reason\\" \\\\ of \u00e9", place = "graph.*", file = "x/**", until = 2099-12-31 },
    { rule = "non-c90-name", reason = "2024" },
]
[severity]
cycle = "note"
undefined-name = "warning"
[limits]
memory = "4GiB"
findings = "1_000"
fields = 7
[rules.oversized-message]
max_bytes = 7
[rules.outdated-operator-set]
release = "1.14"
[rules.missing-metadata-entry]
metadata = { licence = ["MIT", "Apache"], "a key" = ["x"] }
[policy]
max-nodes = 7
max-size = "1GiB"
only-listed = ["inputs"]
[policy.operators]
forbid = ["Loop", "com.microsoft::*"]
[policy.opsets]
"ai.onnx" = "17..21"
"com.acme" = 1
[policy.metadata]
"a \\"key\\"" = ["*"]
[policy.inputs."x.y z"]
type = "float"
shape = ["N", 3, "..."]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("m.onnx").write_bytes(b"")
    Path("roots").mkdir()
    Path("1.json").write_text(SCHEMA_FILE)
    Path("2024").write_text('{"version": 1, "tool": "onnx-lint", "findings": []}')
    return tmp_path


def _shown_as_toml(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(["m.onnx", "--show-settings", *arguments]) == 0, capsys.readouterr().err
    return tomllib.loads(capsys.readouterr().out)


def _settings() -> tuple[Request, Settings]:
    plan = Plan(Request(("m.onnx",)))
    return plan.request_for("m.onnx"), plan.settings_for("m.onnx")


def test_what_is_shown_of_any_configuration_is_that_configuration(folder: Path, capsys: pytest.CaptureFixture[str]):
    """Of each key alone, of several, and of all."""
    document = tomllib.loads(VALUES)
    generator = random.Random(106)
    some = [generator.sample([*document], count) for count in range(2, len(document))]
    assert document.keys() >= keys().keys() - _LEFT_OUT
    for names in [*([name] for name in document), *some, list(document)]:
        Path("onnx-lint.toml").write_text(_text_of({name: document[name] for name in names}))
        made = _settings()
        shown = _shown_as_toml(capsys)
        assert shown.keys() >= set(names)
        Path("onnx-lint.toml").write_text(_text_of(shown))
        assert _settings() == made


_LEFT_OUT = frozenset({"extend", "plugins", "rules", "policy", "severity", "limits", "suppress"})


def _text_of(document: dict[str, Any]) -> str:
    return "".join(f"{name} = {_toml(value)}\n" for name, value in document.items())


def _toml(value: Any) -> str:
    """Return a value as TOML, without the code that is tested."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_toml(name)} = {_toml(item)}" for name, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + "".join(f"\\U{ord(each):08x}" for each in value) + '"'
    return str(value)


@pytest.mark.parametrize(
    ("arguments", "key", "value"),
    [
        (["--baseline", "2024"], "baseline", "2024"),
        (["--limit", "fields=7,memory=4GiB"], "limits", {"fields": "7", "memory": "4GiB"}),
        (["--severity", "cycle=note"], "severity", {"cycle": "note"}),
        (["--exclude", "17"], "exclude", ["17"]),
        (["-j", "2"], "jobs", 2),
        (["--no-external-data"], "external-data", False),
    ],
)
def test_what_is_shown_of_the_command_line_is_toml(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], key: str, value: object
):
    assert _shown_as_toml(capsys, *arguments)[key] == value


def test_a_table_that_another_file_fills_is_shown_once(folder: Path, capsys: pytest.CaptureFixture[str]):
    Path("base.toml").write_text("[rules.oversized-message]\n")
    Path("onnx-lint.toml").write_text('extend = "base.toml"\nrules.oversized-message.max_bytes = 7\n')
    assert _shown_as_toml(capsys)["rules"] == {"oversized-message": {"max_bytes": 7}}
