# SPDX-License-Identifier: Apache-2.0
"""Configuration files: where they are found, their effects, and the messages about wrong ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, Literal

import jsonschema
import pytest
from support.models.clean_model import CLEAN
from support.project.checkout import ROOT

from onnx_lint.cli.application import run
from onnx_lint.common.option_types import OptionTypeError, as_option, option_types
from onnx_lint.common.record import field_names
from onnx_lint.configuration.settings import Request, keys
from onnx_lint.input.globs import matches
from tools.configuration_schema import configuration_schema, json_schema
from tools.configuration_schema import text as text_of_schema

ODD = CLEAN.replace("opset_import", 'producer_version: "1"\ndomain: "odd"\nopset_import', 1)
"""A model with one warning: a domain that is not a reverse domain name."""

Output = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a model in it, and one in a subfolder."""
    (tmp_path / "zoo").mkdir()
    (tmp_path / "odd.textproto").write_text(ODD)
    (tmp_path / "zoo" / "odd.textproto").write_text(ODD)
    monkeypatch.chdir(tmp_path)
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def found(capsys: Output, *arguments: str) -> list[str]:
    """Path and rule of each finding."""
    run([*arguments, "-f", "json"])
    files = json.loads(capsys.readouterr().out)["files"]
    return [f"{file['path']} {item['rule']}" for file in files for item in file["diagnostics"]]


def failure(capsys: Output, *arguments: str) -> str:
    """Return what the program says when it ends with exit code 2."""
    assert run([*arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.strip().splitlines()[-1]


BOTH = ["odd.textproto unqualified-model-domain", "zoo/odd.textproto unqualified-model-domain"]


# --- where the file lies


@pytest.mark.parametrize("name", ["onnx-lint.toml", ".onnx-lint.toml", "pyproject.toml"])
def test_the_nearest_file_counts_for_each_input(folder: Path, capsys: Output, name: str) -> None:
    head = "[tool.onnx-lint]\n" if name == "pyproject.toml" else ""
    (folder / "zoo" / name).write_text(f'{head}ignore = ["model"]\n')
    assert found(capsys, "odd.textproto", "zoo") == BOTH[:1]


def test_a_nearer_file_hides_one_further_up(folder: Path, capsys: Output) -> None:
    (folder / "onnx-lint.toml").write_text('ignore = ["model"]\n')
    assert found(capsys, ".") == []
    (folder / "zoo" / "onnx-lint.toml").write_text("")
    assert found(capsys, "odd.textproto", "zoo") == BOTH[1:]


def test_the_files_of_one_folder_have_an_order(folder: Path, capsys: Output) -> None:
    (folder / "pyproject.toml").write_text('[tool.onnx-lint]\nignore = ["model"]\n')
    assert found(capsys, "odd.textproto") == []
    (folder / ".onnx-lint.toml").write_text("")
    assert found(capsys, "odd.textproto") == BOTH[:1]
    (folder / "onnx-lint.toml").write_text('ignore = ["model"]\n')
    assert found(capsys, "odd.textproto") == []


@pytest.mark.parametrize(
    "text",
    [
        '[tool.onnx-lint]\nignore = ["model"]',
        '[ tool . "onnx-lint" ]\nignore = ["model"]',
        '["tool"."onnx-lint"]\nignore = ["model"]',
        '[tool]\nonnx-lint = { ignore = ["model"] }',
        '[tool]\n  onnx-lint.ignore = ["model"]',
        'tool.onnx-lint.ignore = ["model"]',
        "[tool.onnx-lint.policy]\n[tool.onnx-lint]\nignore = ['model']",
    ],
)
def test_the_table_of_a_pyproject_is_found_however_it_is_written(folder: Path, capsys: Output, text: str) -> None:
    (folder / "pyproject.toml").write_text(f"{text}\n")
    assert found(capsys, "odd.textproto") == []


def test_a_pyproject_without_the_table_is_passed_by(folder: Path, capsys: Output) -> None:
    (folder / "onnx-lint.toml").write_text('ignore = ["model"]\n')
    (folder / "zoo" / "pyproject.toml").write_text('[project]\nname = "zoo"\ndependencies = ["onnx-lint"]\n')
    assert found(capsys, "zoo") == []
    (folder / "zoo" / "pyproject.toml").write_text("no TOML, and none of our business")
    assert found(capsys, "zoo") == []


def test_standard_input_goes_by_the_working_directory(folder: Path) -> None:
    (folder / "onnx-lint.toml").write_text('fail-on = "warning"\n')
    command = [sys.executable, "-m", "onnx_lint", "-", "-f", "concise", "-q"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, input=ODD.encode(), capture_output=True, env=environment, timeout=600, check=False, cwd=folder
    )
    assert (done.returncode, done.stderr) == (1, b"")


def test_without_a_file_nothing_is_imported_for_it(folder: Path) -> None:
    code = (
        "import sys; from onnx_lint.__main__ import _code; _code(['odd.textproto']); "
        "print([name for name in sys.modules if name.startswith('onnx_lint.configuration.') or name == 'tomllib'])"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env=environment,
        timeout=600,
        check=True,
        cwd=folder,
    )
    imported = [name for name in json.loads(done.stdout.splitlines()[-1].replace("'", '"')) if "globs" not in name]
    known = ("discovery", "errors", "file_names", "settings")
    assert sorted(imported) == [f"onnx_lint.configuration.{name}" for name in known]


# --- extend


def test_extend_adds_to_another_file(folder: Path, capsys: Output) -> None:
    (folder / "onnx-lint.toml").write_text(
        'ignore = ["model"]\nfail-on = "note"\n[severity]\nunqualified-model-domain = "note"\n'
    )
    (folder / "zoo" / "onnx-lint.toml").write_text(
        'extend = "../onnx-lint.toml"\nignore = []\n[severity]\ncycle = "note"\n'
    )
    assert run(["zoo", "-f", "concise"]) == 1
    assert capsys.readouterr().out.split(": ")[2].startswith("note[unqualified-model-domain]")


def test_extend_leads_to_a_pyproject(folder: Path, capsys: Output) -> None:
    (folder / "pyproject.toml").write_text('[tool.onnx-lint]\nignore = ["model"]\n')
    (folder / "zoo" / "onnx-lint.toml").write_text('extend = "../pyproject.toml"\n')
    assert found(capsys, "zoo") == []


def test_extend_in_a_circle_is_told(folder: Path, capsys: Output) -> None:
    (folder / "onnx-lint.toml").write_text('extend = "zoo/onnx-lint.toml"\n')
    (folder / "zoo" / "onnx-lint.toml").write_text('extend = "../onnx-lint.toml"\n')
    zoo = str(Path("zoo", "onnx-lint.toml"))
    assert failure(capsys, "odd.textproto") == (
        f"Error: {zoo}: extend: forms a cycle: onnx-lint.toml -> {zoo} -> onnx-lint.toml"
    )


def test_extend_to_nothing_is_told(folder: Path, capsys: Output) -> None:
    (folder / "onnx-lint.toml").write_text('extend = "base.toml"\n')
    relative = "paths are relative to the folder of the configuration file"
    said = f"Error: onnx-lint.toml: extend: there is no file 'base.toml'; {relative}"
    assert failure(capsys, "odd.textproto") == said


def test_extend_to_a_folder_is_told(folder: Path, capsys: Output) -> None:
    (folder / "base").mkdir()
    (folder / "onnx-lint.toml").write_text('extend = "base"\n')
    said = "Error: onnx-lint.toml: extend: base: is a directory, not a regular file"
    assert failure(capsys, "odd.textproto") == said


# --- what is wrong with a file


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('ignroe = ["model"]', "unknown key 'ignroe'; did you mean 'ignore'?"),
        ("suppressions = []", "unknown key 'suppressions'; did you mean 'suppress'?"),
        (
            'ignore = "name"',
            "ignore: requires a list of rule ids, chapters, 'error', 'warning', 'note' or 'ALL', not 'name'; write",
        ),
        ('ignore = ["nmae"]', "ignore: unknown rule 'nmae'; did you mean 'name'?"),
        ('select = ["non-c90-nam"]', "select: unknown rule 'non-c90-nam'; did you mean 'non-c90-name'?"),
        ('edition = "1.24"', "edition: requires one of 1.9, 1.16, 1.21, 1.23, not '1.24'"),
        ("edition = 1.9", 'edition: requires one of 1.9, 1.16, 1.21, 1.23, not 1.9; write "1.9", with quotes'),
        ("pedantic = 1", "pedantic: requires true or false, not 1"),
        ("edition = 1.22", "edition: requires one of 1.9, 1.16, 1.21, 1.23, not 1.22"),
        ('baseline = "."', "baseline: .: is a directory, not a regular file"),
        ('opset-schemas = ["zoo"]', "opset-schemas: zoo: is a directory, not a regular file"),
        ('fail-on = "off"', "fail-on: requires one of error, warning, note, never, not 'off'"),
        ('severity = "error"', "severity: requires a table, not 'error'"),
        (
            '[severity]\nunqualified-model-domain = "bad"',
            "severity.unqualified-model-domain: requires one of error, warning, note, not 'bad'",
        ),
        (
            '[rules.disallowed-operator]\nforbid = ["Reluu"]',
            "rules.disallowed-operator.forbid: ai.onnx has no operator 'Reluu'; did you mean 'Relu'?",
        ),
        (
            '[rules.disallowed-domain]\nforbid = ["ai.onnx.mll"]',
            "rules.disallowed-domain.forbid: unknown domain 'ai.onnx.mll'; did you mean 'ai.onnx.ml'?",
        ),
        (
            '[policy.operators]\nforbid = ["ai.onnx::Fooo*"]',
            "policy.operators.forbid: ai.onnx has no operator that matches 'Fooo*'",
        ),
        ('exclude = ["a\\u0000b"]', "exclude: requires a list of patterns for names or paths, such as 'old-*'"),
        ("exclude = ['zoo/[ab/*']", "exclude: requires a list of patterns for names or paths, such as 'old-*'"),
        ("exclude = ['[!]']", "exclude: requires a list of patterns for names or paths, such as 'old-*'"),
        ("select = [' , ']", "select: requires a list of rule ids, chapters, 'error', 'warning', 'note' or 'ALL', not"),
        ("[rules.cycel]", "rules.cycel: unknown rule 'cycel'; did you mean 'cycle'?"),
        ("registered = ['com.microsft']", "registered: unknown domain 'com.microsft'; did you mean 'com.microsoft'?"),
        ("registered = ['com.acme::*']", "registered: requires a list of whole names of domains, such as 'com.acme'"),
        ("registered = ['ai.onnx']", "registered: 'ai.onnx' is a domain of ONNX, whose operators need no registration"),
        (
            "select = ['cycle']\nselect = ['name']",
            "select: is not TOML: Cannot overwrite a value (at line 2, column 18); the file has the key before",
        ),
        (
            "[tool.onnx-lint]\nselect = ['name']",
            "unknown key 'tool'; write the keys without [tool.onnx-lint], which only",
        ),
        (
            "[[suppress]]\nrule = 'cycle'\nreason = 'r'\nfile = 'a/'",
            "suppress[0].file: requires a pattern for the path of a",
        ),
        ("plugins = ['none.py']", "plugins: there is no file 'none.py'; paths are relative to the folder of"),
        ("edition = 1.2.3", "edition: is not TOML: Expected newline or end of document after a statement (at line 1"),
        ("policy.max-nodes = 1k", "max-nodes: is not TOML: Expected newline or end of document after a statement (at"),
        (
            '[policy.outputs]\ny = { type = "seq(tensor(float))", shape = [1] }',
            "policy.outputs.y.shape: requires a tensor, but 'type' is 'seq(tensor(float))', which has no shape",
        ),
        ('[severity]\ncycel = "note"', "severity: unknown rule 'cycel'; did you mean 'cycle'?"),
        ("[limits]\nfeilds = 3", "limits: unknown key 'feilds'; did you mean 'fields'?"),
        ("jobs = 1025", "jobs: requires a whole number from 0 to 1024, not 1025"),
        ("registered = ['a b']", "registered: requires a list of whole names of domains, such as 'com.acme', without"),
        ("[policy.opsets]\n' ' = 1", "policy.opsets.\" \": requires a domain without spaces as its key, not ' '"),
        ("[limits]\nfields = 0", "limits.fields: requires a whole number from 1 to 2^63 - 1, not 0"),
        ("[limits]\nfields = -1", "limits.fields: requires a whole number from 1 to 2^63 - 1, not -1"),
        (
            "[limits]\nprocessor_seconds = 0.5",
            "limits.processor_seconds: requires a whole number from 0 to 100000000, not 0.5",
        ),
        (
            "[limits]\nprocessor_seconds = -1",
            "limits.processor_seconds: requires a whole number from 0 to 100000000, not -1",
        ),
        (
            "[limits]\nprocessor_seconds = 99999999999999999",
            "limits.processor_seconds: requires a whole number from 0 to 100000000, not 99999999999999999",
        ),
        (
            "[limits]\nfindings = 9223372036854775808",
            "limits.findings: requires a whole number from 1 to 2^63 - 1, not 9223372036854775808",
        ),
        (
            "[limits]\nfields = true",
            "limits.fields: requires a whole number from 1 to 2^63 - 1, not true",
        ),
        ('targets = ["ir=99"]', "targets: IR version 99 does not exist; the versions are 1 to 14"),
        (
            'targets = ["ai.onnx.ml=99"]',
            "targets: version 99 of 'ai.onnx.ml' does not exist; the versions are 1 to 5",
        ),
        ("[rules.cycel]\na = 1", "rules.cycel: unknown rule 'cycel'; did you mean 'cycle'?"),
        (
            "[rules.oversized-message]\nmax_byts = 1",
            "rules.oversized-message: rule 'oversized-message' has no option 'max_byts'; did you mean 'max_bytes'?",
        ),
        (
            "[rules.oversized-message]\nmax_bytes = true",
            "rules.oversized-message.max_bytes: requires a whole number of at least 1, not true",
        ),
        ("rules.cycle = 1", "rules.cycle: requires a table of options, not 1"),
        ("a = ", "is not TOML: Invalid value (at line 1, column 5)"),
        ("a = " + "[" * 5000, "is nested too deeply"),
        ("a = " + "9" * 5000, "is not TOML: Exceeds the limit (4300 digits) for integer string conversion"),
    ],
    ids=lambda text: text[:30] if text else "",
)
def test_what_is_wrong_is_told_with_file_and_key(folder: Path, capsys: Output, text: str, said: str) -> None:
    (folder / "onnx-lint.toml").write_text(text + "\n")
    assert failure(capsys, "odd.textproto").startswith(f"Error: onnx-lint.toml: {said}")


def test_a_table_of_a_pyproject_is_checked_too(folder: Path, capsys: Output) -> None:
    (folder / "pyproject.toml").write_text("[tool.onnx-lint]\npedantc = true\n")
    assert failure(capsys, "odd.textproto") == "Error: pyproject.toml: unknown key 'pedantc'; did you mean 'pedantic'?"


def test_what_is_no_text_file_is_told(folder: Path, capsys: Output) -> None:
    path = folder / "onnx-lint.toml"
    path.write_bytes(b'ignore = ["\xff"]')
    assert failure(capsys, "odd.textproto") == "Error: onnx-lint.toml: is not UTF-8 (byte 11)"
    path.write_bytes(b"#" * ((1 << 20) + 1))
    assert failure(capsys, "odd.textproto") == ("Error: onnx-lint.toml: is larger than 1,048,576 bytes")
    path.unlink()
    path.mkdir()
    assert failure(capsys, "odd.textproto") == "Error: onnx-lint.toml: is a directory, not a regular file"
    assert failure(capsys, "odd.textproto", "--config", "onnx-lint.toml") == (
        "Error: onnx-lint.toml: is a directory, not a regular file"
    )
    path.rmdir()
    if hasattr(os, "mkfifo"):
        os.mkfifo(path)
        assert failure(capsys, "odd.textproto") == "Error: onnx-lint.toml: is a pipe, not a regular file"


def test_a_byte_order_mark_and_windows_line_ends_are_no_fault(folder: Path, capsys: Output) -> None:
    (folder / "onnx-lint.toml").write_bytes(b'\xef\xbb\xbfignore = ["model"]\r\npedantic = false\r\n')
    assert found(capsys, "odd.textproto") == []


@pytest.mark.parametrize("form", ["text", "json", "sarif", "settings"])
def test_no_password_of_an_address_in_a_pattern_is_shown(folder: Path, capsys: Output, form: str) -> None:
    (folder / "onnx-lint.toml").write_text(
        'exclude = ["https://user:secret@host/**"]\n[[suppress]]\nrule = "cycle"\nreason = "x"\n'
        'file = "s3://key:secret@bucket/**"\n'
    )
    run(["odd.textproto", *(["--show-settings"] if form == "settings" else ["-f", form])])
    shown = capsys.readouterr().out
    assert "https://host/**" in shown
    assert "secret" not in shown
    (folder / "onnx-lint.toml").write_text('exclude = "https://user:secret@host/**"\n')
    assert "secret" not in failure(capsys, "odd.textproto")


# --- the command line


@pytest.mark.parametrize("text", ["99", "0", "ai.onnx=99", "ai.onnx.ml=6", "com.acme=0"])
def test_an_import_and_a_target_of_no_version_are_told_alike(folder: Path, capsys: Output, text: str) -> None:
    name = text if "=" in text else f"ai.onnx={text}"
    domain, _, version = name.partition("=")
    said = failure(capsys, "odd.textproto", "--opset-import", text)
    assert said.startswith(f"Error: version {version} of '{domain}' does not exist; the versions are ")
    (folder / "onnx-lint.toml").write_text(f'targets = ["{name}"]\n')
    assert failure(capsys, "odd.textproto") == said.replace("Error: ", "Error: onnx-lint.toml: targets: ")


def test_the_name_of_a_file_may_be_a_bracket(folder: Path, capsys: Output) -> None:
    (folder / "[").write_text(ODD)
    (folder / "onnx-lint.toml").write_text('exclude = ["[[]"]\n')
    assert found(capsys, "odd.textproto", "[") == BOTH[:1]


def test_the_folder_of_a_pattern_may_have_a_bracket(
    folder: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "a[1]" / "b").mkdir(parents=True)
    for name in ("odd.textproto", "b/odd.textproto"):
        (folder / "a[1]" / name).write_text(ODD)
    monkeypatch.chdir(folder / "a[1]")
    Path("onnx-lint.toml").write_text('exclude = ["b/*"]\n')
    assert found(capsys, "odd.textproto", "b/odd.textproto") == BOTH[:1]


def test_config_names_a_file_for_everything(folder: Path, capsys: Output) -> None:
    (folder / "other.toml").write_text('ignore = ["model"]\n')
    (folder / "zoo" / "onnx-lint.toml").write_text("")
    assert found(capsys, ".", "--config", "other.toml") == []


def test_no_config_looks_for_none(folder: Path, capsys: Output) -> None:
    (folder / "onnx-lint.toml").write_text("is wrong")
    assert found(capsys, "odd.textproto", "--no-config") == BOTH[:1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--config", "none.toml"], "none.toml: No such file or directory"),
        (["--config", "odd.toml", "--no-config"], "--config and --no-config cannot be combined"),
        (["--cluster", " "], "--cluster requires a non-empty string, not ' '"),
        (["--exclude", "[a"], "--exclude requires patterns for names or paths, such as 'old-*' or 'folder/**'"),
        (["--write-baseline", ""], "--write-baseline requires a path, not an empty text"),
        (["--select", ","], "--select requires rule ids, chapters, 'error', 'warning', 'note' or 'ALL', not ','"),
        (["--cluster", "tcp://h:1", "-j", "2"], "--cluster cannot be combined with --jobs"),
        (["--cluster", "tcp://h:1", "--fix", "--no-cache"], "--cluster cannot be combined with --fix"),
        (["--cluster", "tcp://h:1", "--diff", "--no-cache"], "--cluster cannot be combined with --diff"),
    ],
    ids=lambda value: value[-1] if isinstance(value, list) else "",
)
def test_a_wrong_config_option_is_told(folder: Path, capsys: Output, arguments: list[str], said: str) -> None:
    (folder / "odd.toml").write_text("")
    assert failure(capsys, "odd.textproto", *arguments).startswith(f"Error: {said}")


@pytest.mark.parametrize(
    ("text", "arguments", "count"),
    [
        ('ignore = ["model"]', [], 0),
        ('ignore = ["warning"]', [], 0),
        ('ignore = ["model"]', ["--select", "unqualified-model-domain"], 1),
        ('ignore = ["model"]', ["--extend-select", "unqualified-model-domain"], 1),
        ('ignore = ["warning"]', ["--extend-select", "unqualified-model-domain"], 1),
        ('ignore = ["model"]', ["--extend-select", "model", "--ignore", "unqualified-model-domain"], 0),
        ('ignore = ["graph"]', ["--ignore", "unqualified-model-domain"], 0),
        ('select = ["type"]', [], 0),
        ('select = ["type"]', ["--select", "model"], 1),
        ('select = ["type"]\nextend-select = ["model"]', [], 1),
        ('extend-select = ["model"]', ["--select", "type"], 0),
    ],
)
def test_the_command_line_beats_the_file(
    folder: Path, capsys: Output, text: str, arguments: list[str], count: int
) -> None:
    (folder / "onnx-lint.toml").write_text(text)
    assert found(capsys, "odd.textproto", *arguments) == BOTH[:count]


def test_the_file_beats_the_default_and_the_command_line_the_file(folder: Path, capsys: Output) -> None:
    (folder / "onnx-lint.toml").write_text('format = "concise"\n')
    line = "odd.textproto:5:9: domain: warning[unqualified-model-domain] "
    run(["odd.textproto"])
    assert capsys.readouterr().out.startswith(line)
    run(["odd.textproto", "-f", "json"])
    assert json.loads(capsys.readouterr().out)["version"] == 1


def test_each_file_is_held_against_its_own_edition_and_gate(folder: Path, capsys: Output) -> None:
    (folder / "zoo" / "onnx-lint.toml").write_text('edition = "1.9"\nfail-on = "never"\nselect = ["model"]\n')
    assert run(["odd.textproto", "zoo", "-f", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["tool"]["specification"] == {"edition": "1.23", "variant": "onnx-ml"}
    first, second = report["files"]
    assert [item["severity"] for item in first["diagnostics"]] == ["warning"]
    assert [item["severity"] for item in second["diagnostics"]] == ["error"]
    assert "specification" not in first
    assert second["specification"] == {"edition": "1.9", "variant": "onnx-ml"}
    assert "unqualified-model-domain" in second["rules"]
    assert "cycle" not in second["rules"]


def test_rule_options_reach_the_rule(folder: Path, capsys: Output) -> None:
    (folder / "m.onnx").write_bytes(b"\x08\x0a\x3a\x00")
    (folder / "onnx-lint.toml").write_text('select = ["oversized-message"]\n[rules.oversized-message]\nmax_bytes = 3\n')
    assert found(capsys, "m.onnx") == ["m.onnx oversized-message"]


def test_excluded_files_are_relative_to_the_configuration(folder: Path, capsys: Output) -> None:
    (folder / "onnx-lint.toml").write_text('exclude = ["zoo/**"]\n')
    assert found(capsys, ".") == ["./odd.textproto unqualified-model-domain"]


@pytest.mark.parametrize("pattern", ["./zoo/**", "./zoo", "../*/zoo/**"])
def test_excluded_files_may_be_named_from_the_folder_of_the_configuration(
    folder: Path, capsys: Output, pattern: str
) -> None:
    (folder / "onnx-lint.toml").write_text(f'exclude = ["{pattern}"]\n')
    assert found(capsys, ".") == ["./odd.textproto unqualified-model-domain"]


# --- --show-settings


def test_show_settings_tells_the_origin_of_each(folder: Path, capsys: Output) -> None:
    (folder / "onnx-lint.toml").write_text(
        'ignore = ["model"]\nedition = "1.16"\n[rules.oversized-message]\nmax_bytes = 7\n'
    )
    arguments = ["--show-settings", "odd.textproto", "zoo", "--ignore", "graph", "--pedantic"]
    assert run([*arguments, "--fail-on", "note", "--target", "ai.onnx=17", "--severity", "cycle=note"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "# odd.textproto and 1 more"
    shown = [tuple(part.strip() for part in line.rsplit("  # ", 1)) for line in lines[1:]]
    assert sorted(entry for entry in shown if entry[1] != "default") == [
        ('edition = "1.16"', "onnx-lint.toml"),
        ('fail-on = "note"', "command line"),
        ('ignore = ["model", "graph"]', "onnx-lint.toml, command line"),
        ("pedantic = true", "command line"),
        ("rules.oversized-message.max_bytes = 7", "onnx-lint.toml"),
        ('severity.cycle = "note"', "command line"),
        ('targets = ["ai.onnx=17"]', "command line"),
    ]
    defaults = {entry for entry, origin in shown if origin == "default"}
    assert defaults >= {"select = []", "# proto is not set", "external-data = true", 'format = "text"', "limits = {}"}
    assert {entry.removeprefix("# ").split()[0].split(".")[0] for entry, _ in shown} == keys().keys() - {"extend"}


# --- the documentation


def test_the_examples_of_the_documentation_are_right(folder: Path, capsys: Output) -> None:
    shown = [key.shown for key in keys().values()]
    examples = "\n".join(sorted(shown, key=lambda text: text.startswith("[")))  # tables come last
    document = tomllib.loads(examples)
    assert sorted(document) == sorted(keys())
    jsonschema.validate(document, configuration_schema())
    (folder / "onnx-lint.toml").write_text(
        "\n".join(
            line
            for line in examples.splitlines()
            if line.partition(" ")[0] not in {"extend", "external-data-roots", "opset-schemas", "plugins", "baseline"}
        )
    )
    assert run(["odd.textproto"]) in {0, 1}
    capsys.readouterr()


def test_every_key_has_a_field_of_the_request() -> None:
    assert {key.field for key in keys().values() if key.key != "extend"} <= set(field_names(Request))


def test_the_published_schema_is_current() -> None:
    published = (ROOT / "docs" / "config.schema.json").read_text(encoding="utf-8")
    assert published == text_of_schema(), "run python -m tools"
    schema = json.loads(published)
    jsonschema.Draft202012Validator.check_schema(schema)
    for wrong in (
        {"ignroe": []},
        {"ignore": "name"},
        {"limits": {"nods": 1}},
        {"rules": {"oversized-message": {"a": 1}}},
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema)


# --- patterns and types


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.onnx", "deep/er/a.onnx", True),
        ("zoo/*.onnx", "zoo/a.onnx", True),
        ("./zoo/*.onnx", "zoo/a.onnx", True),
        ("zoo/*.onnx", "x/zoo/a.onnx", False),
        ("zoo/**", "zoo/b/a.onnx", True),
        ("**/a.onnx", "a.onnx", True),
        ("../other/*", "../other/a.onnx", True),
        ("/**/a.onnx", "zoo/a.onnx", True),
    ],
)
def test_patterns(pattern: str, path: str, expected: bool, folder: Path) -> None:
    assert matches(pattern, str(folder / path), str(folder)) is expected


@pytest.mark.parametrize(
    ("value", "wanted", "result"),
    [
        (True, bool, True),
        (3, int, 3),
        (3, float, 3),
        ("a", str, "a"),
        (["a"], tuple[str, ...], ("a",)),
        (["a"], frozenset[str], frozenset({"a"})),
        ([1], list[int], [1]),
        ({"a": 1}, dict[str, int], {"a": 1}),
        (3, int | None, 3),
        ("a", Literal["a", "b"], "a"),
    ],
)
def test_values_are_made_to_fit_the_type_of_an_option(value: Any, wanted: Any, result: Any) -> None:
    assert as_option(value, wanted) == result
    jsonschema.validate(value, json_schema(wanted))


@pytest.mark.parametrize(
    ("value", "wanted", "said"),
    [
        (1, bool, "requires true or false, not 1"),
        (True, int, "requires a whole number, not true"),
        ("3", float, "requires a number, not '3'"),
        (["a", 1], tuple[str, ...], "requires a list of strings, not ['a', 1]"),
        ("a", tuple[str, ...], "requires a list of strings, not 'a'"),
        ([], dict[str, int], "requires a table, not []"),
        ("c", Literal["a", "b"], "requires one of 'a', 'b', not 'c'"),
    ],
)
def test_values_that_do_not_fit_are_told(value: Any, wanted: Any, said: str) -> None:
    with pytest.raises(OptionTypeError) as caught:
        as_option(value, wanted)
    assert str(caught.value) == said


def test_the_default_tells_the_type_where_annotations_cannot_be_read() -> None:
    def check(model: NoSuchName, *, most: int = 3) -> None:  # noqa: F821 - what a plugin may have
        """A rule."""

    assert option_types(check, {"most": 3}) == {"most": int}


def test_no_configuration_names_a_cluster() -> None:
    """Whoever runs its scheduler runs code here."""
    assert not [name for name in keys() if "cluster" in name]
