# SPDX-License-Identifier: Apache-2.0
"""No name in a model, and no name of a file, becomes a command of the CI server in whose log it is shown."""

from __future__ import annotations

import re
import sys
from itertools import cycle
from pathlib import Path

import pytest

from onnx_lint.__main__ import _code
from onnx_lint.cli import standard_streams
from onnx_lint.cli.application import run
from onnx_lint.common.visible import message_without_commands, visible
from onnx_lint.reporters import REPORTERS

COMMANDS = (
    "##[add-mask]x",
    "###[error]x",
    "##vso[task.complete result=Succeeded;]x",
    "##teamcity[buildStatus text='x']",
    "::error::x",
    " ::add-mask::x",
    "\u3000::stop-commands::x",
    "\n##[group]x",
)
OWN = re.compile(r"::(error|warning|notice|group|endgroup)[ :]")
"""The commands in the format `github`. The content of a command is data."""


def commands_in(text: str, *, own: bool = False) -> list[str]:
    """The lines that a runner of GitHub, an agent of Azure Pipelines or TeamCity takes for a command.

    Sources: `ActionCommand.cs` of actions/runner, `Command.cs` of the agent, the service messages of TeamCity.
    """
    found = []
    for line in text.splitlines():
        if own and OWN.match(line):
            line = line.partition("::")[2].partition("::")[2]
            found += [line] if re.search(r"##\w*\[", line) else []
        elif re.search(r"##\w*\[", line) or (line.lstrip().startswith("::") and not line.lstrip().startswith(":::")):
            found.append(line)
    return found


def _model(name: str) -> str:
    """A model in text form whose every name is the command, with several findings."""
    text = "".join(f"\\{byte:03o}" for byte in name.encode())
    return f"""
        ir_version: 8 producer_name: "{text}" producer_version: "{text}" domain: "{text}" doc_string: "{text}"
        opset_import {{ version: 17 }} opset_import {{ domain: "{text}" version: 1 }}
        metadata_props {{ key: "{text}" value: "{text}" }} metadata_props {{ key: "{text}" value: "{text}" }}
        graph {{
          name: "{text}"
          node {{ op_type: "Relu" name: "{text}" input: "{text}" output: "{text}" }}
          node {{ op_type: "{text}" name: "{text}" domain: "{text}" input: "no{text}" output: "{text}" }}
          node {{ op_type: "Abs" name: "{text}" input: "{text}" output: "y" attribute {{ name: "{text}" type: INT }} }}
          output {{ name: "y" type {{ tensor_type {{ elem_type: 1 shape {{ dim {{ dim_param: "{text}" }} }} }} }} }}
        }}"""


@pytest.fixture(params=COMMANDS, ids=range(len(COMMANDS)))
def command(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    name: str = request.param
    Path(f"{name}.textproto").write_text(_model(name))
    return name


def test_no_form_of_report_has_a_command_in_it(command: str) -> None:
    """The path comes first on the command line, as a shell expands `*`."""
    options = [word for form in REPORTERS for word in ("--output", f"{form}={form}.report")]
    shown = ["--pedantic", "--statistics", "--show-suppressed", "--verbose"]
    assert run(["check", f"{command}.textproto", *options, *shown]) == 1
    texts = {form: Path(f"{form}.report").read_text() for form in REPORTERS}
    assert all(texts.values())
    assert {form: found for form, text in texts.items() if (found := commands_in(text, own=form == "github"))} == {}


@pytest.mark.parametrize("options", [[], ["--format", "json"]])
def test_nor_have_the_shapes(options: list[str], command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["shapes", f"{command}.textproto", *options]) == 0
    assert commands_in(capsys.readouterr().out) == []


WRONG_USAGE = (
    "{0}.none",
    "--{0}",
    "check --select {0} {0}.textproto",
    "explain {0}",
    "shapes {0}.none",
    "fix {0}.none",
    "check -o {0}/x.json {0}.textproto",
    "check --baseline {0}.none {0}.textproto",
)
"""Files that are not there, and options and rules that are unknown, all named by a stranger."""


def _prepare(patch: pytest.MonkeyPatch) -> None:
    """Prepare the streams as the program does when it starts."""
    patch.setattr(sys, "stdout", sys.stdout)
    patch.setattr(sys, "stderr", sys.stderr)
    standard_streams.prepare()


@pytest.mark.parametrize(("command", "words"), list(zip(COMMANDS, WRONG_USAGE, strict=True)), indirect=["command"])
def test_nor_has_standard_error(
    command: str, words: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = [word.format(command) for word in words.split()]
    with monkeypatch.context() as patch:
        _prepare(patch)
        assert _code(arguments) == 2
    errors = capfd.readouterr().err
    assert errors
    assert commands_in(errors) == []


@pytest.mark.parametrize(("command", "color"), list(zip(COMMANDS, cycle(["0", "1"]))), indirect=["command"])
def test_nor_has_a_report_on_standard_error_and_its_own_mark_stays(
    command: str, color: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with Path(f"{command}.textproto").open() as model, monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", model)
        patch.setenv("FORCE_COLOR", color)
        _prepare(patch)
        assert _code(["fix", "-"]) == 1
    text = capfd.readouterr().err
    assert re.search(r"^(\x1b\[[\d;]*m)?  ::: ", text, re.MULTILINE)
    assert r"\x3a:: " not in text
    assert commands_in(text) == []


@pytest.mark.parametrize("name", [":::error::x", "  :::x::", "  :: error::x", "::::error::x", "\n  ::error::x"])
def test_no_name_passes_for_the_mark(name: str) -> None:
    shown = message_without_commands(f"{visible(name)}\n{name}\n  ::: {name}\n")
    assert commands_in(shown) == []
    lines = shown.splitlines()
    assert [line for line in lines if line.startswith("  :::")] == [line for line in lines if line.startswith("  ::: ")]
    assert not any(line.lstrip().startswith("::") for line in lines if not line.startswith("  ::: "))


def test_what_is_broken_up_can_still_be_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "m.textproto"
    path.write_text(_model("##vso[x]"))
    assert run(["check", "--format", "concise", str(path)]) == 1
    assert r"'#\x23vso[x]'" in capsys.readouterr().out
    assert run(["check", "--format", "jsonl", str(path)]) == 1
    assert r'"node":"#\u0023vso[x]"' in capsys.readouterr().out
