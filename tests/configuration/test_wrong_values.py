# SPDX-License-Identifier: Apache-2.0
"""A wrong value of any key ends the run with exit code 2, and the message names the file and the key."""

from __future__ import annotations

import functools
import itertools
import json
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from support.models.clean_model import CLEAN
from support.project.checkout import ROOT
from support.project.sampled import one_in

from onnx_lint.cli.application import run
from onnx_lint.cli.plan import Plan
from onnx_lint.configuration import files
from onnx_lint.configuration.errors import RunError
from onnx_lint.configuration.settings import Request, keys
from onnx_lint.engine.option_kinds import OPTION_KINDS
from onnx_lint.engine.registry import registry
from onnx_lint.engine.value_kinds import ValueKind

Output = pytest.CaptureFixture[str]

SAMPLES = (
    *("true", "0", "-1", "1.5", "nan", "inf", "10000000000000000000000"),
    *('""', '" "', '"nonsense"', '"0"', '"99"', '"1..99"', '"1.99"', '"9..1"', '"0 MiB"'),
    *('"flot"', '"tensor(float)"', '"relu"'),
    *('"2030-02-30"', "2030-01-01", "2030-01-01T00:00:00", "12:00:00"),
    *("[]", "[1]", '[""]', '["nonsense"]', '["flot"]', "[[1]]"),
    *("{}", '{ x = [""] }', "{ nonsense = 1 }", '{ nonsense = "x" }'),
)
"""Values as TOML. Each key allows some of them."""

ENTRIES = {"severity": "cycle", "opsets": '"ai.onnx"', "inputs": "x", "outputs": "x", "weight_types": "w"}
"""A name in each table whose names are free."""


def _leaves(path: tuple[str, ...], kind: ValueKind) -> Iterator[tuple[str, ...]]:
    """Yield the table or value at a path, and what is below it."""
    yield path
    if kind.entries is not None and path[-1] in ENTRIES:
        yield from _leaves((*path, ENTRIES[path[-1]]), kind.entries)
    for name, entry in kind.fields.items():
        yield from _leaves((*path, name if re.fullmatch("[A-Za-z0-9_-]+", name) else f'"{name}"'), entry)


def _paths() -> list[tuple[str, ...]]:
    """Return each key, each entry below it, each limit, and each option of a rule."""
    found: list[tuple[str, ...]] = []
    for name, key in keys().items():
        if name != "suppress":
            found += _leaves((name,), key.kind)
    limits: dict[str, Any] = keys()["limits"].kind.schema["properties"]
    found += [("limits", name) for name in limits]
    for rule, entry in registry().items():
        for option in entry.rule.options:
            kind = OPTION_KINDS.get(entry.rule.kinds.get(option, ""))
            found += [("rules", rule, option)] if kind is None else _leaves(("rules", rule, option), kind)
    return found


def _text(path: tuple[str, ...], value: str) -> str:
    return f"{'.'.join(path)} = {value}\n"


SUPPRESSION = {"rule": '"cycle"', "reason": '"x"'}


def _texts() -> Iterator[tuple[str, str]]:
    """Yield configurations with one value, each with the key that a message must name."""
    for path in _paths():
        for value in SAMPLES:
            yield _text(path, value), path[-1].strip('"')
    for name in ("rule", "reason", "place", "file", "until", "nonsense"):
        for value in SAMPLES:
            entry = SUPPRESSION | {name: value}
            yield "[[suppress]]\n" + "".join(f"{key} = {each}\n" for key, each in entry.items()), name
    yield from (("suppress = ['cycle']\n", "suppress"), ("nonsense = 1\n", "nonsense"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "m.textproto").write_text(CLEAN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@functools.cache
def _validator() -> Any:
    schema = json.loads((ROOT / "docs" / "config.schema.json").read_text(encoding="utf-8"))
    return jsonschema.Draft202012Validator(schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)


def _is_wrong(text: str) -> bool:
    """Return whether the published schema rejects a configuration. It has no dates, and no other types of TOML."""
    import tomllib

    document = json.loads(json.dumps(tomllib.loads(text), default=lambda date: f"{date}"))
    return not _validator().is_valid(document)


def _is_told(said: str, name: str) -> bool:
    """Return whether an error is one line that names the file and the key."""
    return "\n" not in said and said.startswith("onnx-lint.toml") and name in said


@one_in(5)
def test_every_wrong_value_of_every_key_is_an_error(step: int, folder: Path, monkeypatch: pytest.MonkeyPatch):
    """The settings are made as for a run, from files that are not written."""
    given: list[bytes] = []
    monkeypatch.setattr(files, "read_regular", lambda path, most: given[-1])
    wrong = 0
    problems = []
    for text, name in itertools.islice(_texts(), 0, None, step):
        given.append(text.encode())
        try:
            Plan(Request(paths=("m.textproto",), config="onnx-lint.toml")).settings_for("m.textproto")
        except RunError as error:
            said = str(error)
        else:
            if not _is_wrong(text):
                continue
            said = ""
        wrong += 1
        if not _is_told(said, name):
            problems.append(f"{text.strip()}: {said[-300:]}")
    assert problems == []
    assert wrong > 1500 // step


@pytest.mark.parametrize(
    "text",
    [
        *(
            "metadata = {}",
            "metadata = []",
            "only-listed = []",
            "domains.forbid = ['x y']",
            "operators.forbid = ['x::']",
        ),
        "inputs.x.shape = [9223372036854775808]",
    ],
)
def test_a_policy_that_no_model_could_break_or_keep_is_an_error(folder: Path, capsys: Output, text: str):
    (folder / "onnx-lint.toml").write_text(f"policy.{text}")
    assert run(["m.textproto"]) == 2
    assert capsys.readouterr().err.startswith(f"Error: onnx-lint.toml: policy.{text.partition(' ')[0]}: requires ")


@pytest.mark.parametrize("option", ["--select=,", "--ignore=,", "--extend-select= , ", "--exclude="])
def test_an_option_that_names_nothing_is_an_error(folder: Path, capsys: Output, option: str):
    assert run(["m.textproto", option]) == 2
    assert option.partition("=")[0] in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('ignore = ["ALL"]', "ignore: the selection leaves no rule of edition 1.23; leave at least one"),
        ('select = ["cycle"]\nignore = ["graph"]', "ignore: the selection leaves no rule"),
        (
            'targets = ["foo.bar=99999999999999999999"]',
            "targets: version 99999999999999999999 of 'foo.bar' does not exist",
        ),
        ('targets = ["com.microsoft=2147483648"]', "targets: version 2147483648 of 'com.microsoft' does not exist"),
    ],
)
def test_a_selection_without_rules_and_an_absurd_version_name_the_key(
    folder: Path, capsys: Output, text: str, said: str
):
    (folder / "onnx-lint.toml").write_text(text)
    assert run(["m.textproto"]) == 2
    out, err = capsys.readouterr()
    assert err.startswith(f"Error: onnx-lint.toml: {said}")
    assert out == ""


def test_a_selection_of_the_command_line_names_no_file(folder: Path, capsys: Output):
    (folder / "onnx-lint.toml").write_text("jobs = 1")
    assert run(["m.textproto", "--ignore", "ALL"]) == 2
    assert "Error: the selection leaves no rule of edition 1.23\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('baseline = "m.textproto"', "baseline: {}: is not a baseline: it is not JSON; requires a file that "),
        ('baseline = "x.json"', "baseline: {}: is not a baseline of onnx-lint, or is damaged; requires a file that "),
        ('opset-schemas = ["x.json"]', "opset-schemas: {}: unknown key 'a'; requires schema files, which "),
        ('extend = "x.json"', "extend: x.json: is not TOML: "),
        ('plugins = ["m.textproto"]', "plugins: plugin {}: SyntaxError: "),
        ('plugins = ["*.json"]', "plugins: plugin {} has no rule; requires Python files with rules"),
    ],
)
def test_a_file_with_other_content_is_an_error_that_names_the_key(folder: Path, capsys: Output, text: str, said: str):
    (folder / "x.json").write_text('{"a": 1}')
    (folder / "onnx-lint.toml").write_text(text)
    assert run(["m.textproto", "--config", "onnx-lint.toml"]) == 2
    path = folder / ("m.textproto" if "m.textproto" in text else "x.json")
    assert capsys.readouterr().err.startswith(f"Error: onnx-lint.toml: {said.format(path)}")


def test_the_key_is_named_also_for_a_plugin_file_whose_name_is_escaped(folder: Path, capsys: Output):
    (folder / "a\x07.py").write_text("")
    (folder / "onnx-lint.toml").write_text(r'plugins = ["a\u0007.py"]')
    assert run(["m.textproto", "--config", "onnx-lint.toml"]) == 2
    said = rf"plugin {folder}/a\x07.py has no rule; requires Python files with rules"
    assert capsys.readouterr().err.startswith(f"Error: onnx-lint.toml: plugins: {said}")


def test_the_key_is_not_named_if_the_command_line_names_the_file(folder: Path, capsys: Output):
    (folder / "x.json").write_text('{"a": 1}')
    (folder / "y.json").write_text("")
    for key, option, said in (
        ('baseline = "y.json"', "--baseline", "x.json: is not a baseline of onnx-lint, or is damaged"),
        ('opset-schemas = ["y.json"]', "--opset-schema", "x.json: unknown key 'a'"),
        ('plugins = ["x.json"]', "--plugin", f"plugin {folder}/x.json has no rule"),
    ):
        (folder / "own.toml").write_text(key)
        assert run(["m.textproto", option, "x.json", "--config", "own.toml"]) == 2
        assert capsys.readouterr().err == f"Error: {said}\n"


def _run_ends_with_the_error(folder: Path, capsys: Output, texts: Iterable[tuple[str, str]]) -> int:
    """Return how many of the configurations are wrong."""
    wrong = 0
    problems = []
    for text, name in texts:
        (folder / "onnx-lint.toml").write_text(text)
        code = run(["m.textproto", "--show-settings"])
        said = capsys.readouterr().err.strip()
        if code == 0 and not _is_wrong(text):
            continue
        wrong += 1
        if code != 2 or not said.startswith("Error: ") or not _is_told(said.removeprefix("Error: "), name):
            problems.append(f"{text.strip()}: {code}: {said[-300:]}")
    assert problems == []
    return wrong


def test_an_error_in_a_setting_ends_the_run(folder: Path, capsys: Output):
    assert _run_ends_with_the_error(folder, capsys, random.Random(69).sample([*_texts()], 60)) > 30


@pytest.mark.slow
def test_every_wrong_value_of_every_key_ends_the_run(folder: Path, capsys: Output):
    assert _run_ends_with_the_error(folder, capsys, _texts()) > 1500
