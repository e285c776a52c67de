# SPDX-License-Identifier: Apache-2.0
"""Targets: what a consumer that knows only so much would not understand. The fixtures hold the single cases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.project.each_case import each_case

from onnx_lint import lint
from onnx_lint.cli.application import run
from onnx_lint.spec.element_types import ELEMENT_TYPES
from onnx_lint.spec.operators import operator_names, versions
from onnx_lint.spec.releases import NEWEST_IR_VERSION, NEWEST_OPSET
from onnx_lint.spec.target import known_targets

RULE = "unsupported-by-target"

GELU = """
ir_version: 10
producer_name: "example"
producer_version: "1"
opset_import { domain: "" version: 20 }
opset_import { domain: "ai.onnx.ml" version: 3 }
graph {
  name: "graph"
  node { name: "gelu" op_type: "Gelu" input: "x" output: "h" }
  node { name: "relu" op_type: "Relu" input: "h" output: "y" }
  input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
  output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
}
"""

IR = "the model states IR version 10, but the target supports only IR version 9"
IMPORT = "the model imports version 20 of 'ai.onnx', but the target supports only version 19"
OPERATOR = (
    "node 'gelu' (Gelu): operator 'Gelu' came with version 20 of 'ai.onnx', but the target supports only version 19"
)
ML = "the model imports version 3 of 'ai.onnx.ml', but the target supports only version 2"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.textproto").write_text(GELU)
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        ([], []),
        (["--target", "ir=10"], []),
        (["--target", "ir=9"], [IR]),
        (["--target", "ai.onnx=20"], []),
        (["--target", "ai.onnx=19"], [IMPORT, OPERATOR]),
        (["--target", "ai.onnx=19", "--target", "ai.onnx=20"], [IMPORT, OPERATOR]),
        (["--target", "ai.onnx.ml=2"], [ML]),
        (["--target", "com.example=1", "--target", "com.acme=2", "--target", "ai.onnx.contrib=1"], []),
        (["--target", "ir=9", "--target", "ai.onnx=19", "--target", "ai.onnx.ml=2"], [IR, IMPORT, OPERATOR, ML]),
        (["--config", "old.toml"], [IR, OPERATOR, IMPORT]),
        (["--config", "old.toml", "--target", "ir=10"], []),
    ],
    ids=" ".join,
)
def test_the_command_line_and_the_configuration_name_the_target(
    capsys: pytest.CaptureFixture[str], arguments: list[str], messages: list[str]
) -> None:
    Path("old.toml").write_text('targets = ["ir=9", "ai.onnx=19"]')
    code = run(["m.textproto", "-f", "json", *arguments])
    (file,) = json.loads(capsys.readouterr().out)["files"]
    found = sorted(item["message"] for item in file["diagnostics"] if item["rule"] == RULE)
    assert (code, found) == (1 if messages else 0, sorted(messages))


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("target", "said"),
    [
        *[
            (f"ir={version}", f"IR version {version} does not exist; the versions are 1 to {NEWEST_IR_VERSION}")
            for version in (0, NEWEST_IR_VERSION + 1)
        ],
        *[
            (
                f"ai.onnx={version}",
                f"version {version} of 'ai.onnx' does not exist; the versions are 1 to {NEWEST_OPSET['']}",
            )
            for version in (0, NEWEST_OPSET[""] + 1)
        ],
        ("com.example=0", "version 0 of 'com.example' does not exist; the versions are 1 to 2147483647"),
        *[
            (name, f"unknown target '{name}'; the targets are {known_targets()}")
            for name in ("17", "=17", "ai.onnx:19", "ir=x")
        ],
        *[
            (f"{name}=9", f"unknown target '{name}=9'; write {meant}=9; the targets are {known_targets()}")
            for name, meant in [
                ("opset", "ai.onnx"),
                ("target-opset", "ai.onnx"),
                ("IR", "ir"),
                ("AI.ONNX", "ai.onnx"),
                ("ai.onnx.m1", "ai.onnx.ml"),
                ("com.microsft", "com.microsoft"),
            ]
        ],
        (
            "onnx.checker=1.16",
            "target 'onnx.checker=1.16': write onnx.checker; it stands for onnx 1.23",
        ),
        *[
            (name, f"unknown target '{name}'{said}; the targets are {known_targets()}")
            for name, said in [
                ("ort=1", "; write onnxruntime=1"),
                ("ort=1.32", "; write onnxruntime=1.32"),
                ("trt", "; write tensorrt=VERSION"),
                ("trt=1", "; write tensorrt=1"),
                ("acme=2", ""),
            ]
        ],
        (
            "onnx.cheker",
            f"unknown target 'onnx.cheker'; did you mean 'onnx.checker'? The targets are {known_targets()}",
        ),
    ],
)
def test_a_target_that_is_none_is_told(capsys: pytest.CaptureFixture[str], target: str, said: str) -> None:
    assert run(["m.textproto", "--target", target]) == 2
    captured = capsys.readouterr()
    assert (captured.out, captured.err.splitlines()[-1]) == ("", f"Error: {said}")


def test_a_target_is_checked_before_anything_is_linted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "inner").mkdir()
    (folder / "inner" / "m.textproto").write_text(GELU)
    (folder / "inner" / "onnx-lint.toml").write_text('targets = ["ort=1"]')
    assert run(["m.textproto", "inner"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "unknown target 'ort=1'; write onnxruntime=1; the targets are onnx, " in captured.err
    with pytest.raises(ValueError, match="unknown target 'trt'; write tensorrt=VERSION; the targets are onnx, "):
        _messages(GELU, "trt")


@pytest.mark.usefixtures("folder")
def test_a_domain_that_no_model_of_the_run_imports_is_a_line_on_standard_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("other.textproto").write_text(GELU.replace("ai.onnx.ml", "com.acme"))
    domains = [option for domain in ("ai.onnx", "ai.onnx.ml", "com.acme") for option in ("--target", f"{domain}=99")]
    known = [option.replace("ai.onnx.ml=99", "ai.onnx.ml=3").replace("ai.onnx=99", "ai.onnx=22") for option in domains]
    said = "Warning: target 'com.acme': no model of this run imports the domain\n"
    for files, expected in ((["m.textproto"], said), (["m.textproto", "other.textproto"], ""), (["gone.onnx"], "")):
        run([*files, *known])
        assert [line for line in capsys.readouterr().err.splitlines(keepends=True) if "target" in line] == (
            [expected] if expected else []
        ), files


def _messages(text: str, *target: str) -> list[str]:
    return [item.message for item in lint(text.encode(), select=[RULE], target=target).diagnostics]


def test_the_library_takes_a_target() -> None:
    assert _messages(GELU) == []
    assert _messages(GELU, "ir=9", "ai.onnx=19") == [IR, OPERATOR, IMPORT]
    with pytest.raises(ValueError, match=f"IR version {NEWEST_IR_VERSION + 1} does not exist"):
        _messages(GELU, f"ir={NEWEST_IR_VERSION + 1}")


LATER = {element.name.upper(): element for element in ELEMENT_TYPES.values() if element.since.ir_version > 1}


@each_case("name", LATER)
def test_each_element_type_is_known_from_its_ir_version_on(name: str) -> None:
    from onnx_lint import schema

    since = LATER[name].since.ir_version
    number = schema.message("TensorProto").DataType.Value(name)
    text = GELU.replace("elem_type: 1 ", f"elem_type: {number} ").replace("ir_version: 10", "ir_version: 1")
    said = (
        f"element type '{name.lower()}' of input 'x' of main graph 'graph' came with IR version {since}, "
        f"but the target supports only IR version {since - 1} "
        "(2 occurrences)"
    )
    own = [message for message in _messages(text, f"ir={since - 1}") if message.startswith("element type")]
    assert own == [said]
    assert [message for message in _messages(text, f"ir={since}") if message.startswith("element type")] == []


def test_the_newest_target_understands_everything() -> None:
    nodes = "".join(f'node {{ op_type: "{name}" output: "o{name}" }}\n' for name in operator_names(""))
    text = f"ir_version: {NEWEST_IR_VERSION} opset_import {{ version: {NEWEST_OPSET['']} }} graph {{ {nodes} }}"
    assert (
        _messages(
            text, f"ir={NEWEST_IR_VERSION}", *(f"{domain or 'ai.onnx'}={n}" for domain, n in NEWEST_OPSET.items())
        )
        == []
    )


VERSIONS = [
    pytest.param(version, marks=[pytest.mark.slow] if (NEWEST_OPSET[""] - version) % 5 else [])
    for version in range(1, NEWEST_OPSET[""] + 1)
]
"""The default run has the newest version and each fifth one before it."""


@pytest.mark.parametrize("known", VERSIONS)
def test_operators_are_told_by_the_version_of_their_signature(known: int) -> None:
    newest = NEWEST_OPSET[""]
    names = operator_names("")
    nodes = "".join(f'node {{ name: "{name}" op_type: "{name}" output: "o{name}" }}\n' for name in names)
    text = f"ir_version: 10 opset_import {{ version: {newest} }} graph {{ {nodes} }}"
    expected = []
    for name in names:
        since = max(versions("", name))
        if since > known:
            how = "was changed in" if min(versions("", name)) <= known else "came with"
            expected.append(
                f"node '{name}' ({name}): operator '{name}' {how} version {since} of 'ai.onnx', "
                f"but the target supports only version {known}"
            )
    found = [message for message in _messages(text, f"ai.onnx={known}") if message.startswith("node ")]
    assert sorted(found) == sorted(expected)
