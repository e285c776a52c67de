# SPDX-License-Identifier: Apache-2.0
"""The settings of each file, with their sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from onnx_lint.cli.application import run


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
