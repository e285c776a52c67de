# SPDX-License-Identifier: Apache-2.0
"""Suppressions in the metadata of a model: covered findings, permission, and their limits."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from onnx_lint import lint, schema
from onnx_lint.cli.application import run
from onnx_lint.engine.suppressions import MOST_IN_MODEL, Suppression

ALLOWED = "suppressions-in-models = true\n"


def _model(**metadata: str) -> Any:
    """Return a model with two unknown operators. The keys of its metadata have `_` for `-`, and `__` for a dot."""
    model = schema.message("ModelProto")(ir_version=10, producer_name="p")
    model.opset_import.add(version=21)
    model.graph.name = "g"
    model.graph.node.add(op_type="Unknown", name="first", output=["a"])
    model.graph.node.add(op_type="Unknown2", name="second", output=["b"])
    for key, value in metadata.items():
        model.metadata_props.add(key=f"onnx-lint.suppress.{key.replace('__', '.').replace('_', '-')}", value=value)
    return model


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "onnx-lint.toml").write_text(ALLOWED)
    return tmp_path


def _lint(folder: Path, model: Any, **arguments: Any) -> Any:
    return lint(model.SerializeToString(), config=folder / "onnx-lint.toml", select="unknown-operator", **arguments)


def test_a_model_suppresses_nothing_unless_the_user_allows_it(folder: Path) -> None:
    model = _model(unknown_operator="ours")
    assert not lint(model.SerializeToString(), select="unknown-operator").suppressed
    (folder / "onnx-lint.toml").write_text("")
    assert not _lint(folder, model).suppressed
    (folder / "onnx-lint.toml").write_text(ALLOWED)
    report = _lint(folder, model)
    assert not report.diagnostics
    assert not report.conforms
    assert report.passes
    assert {each.suppressed_by for each in report.suppressed} == {"metadata_props[0]: ours"}
    assert "2 suppressed by the model" in str(report)
    assert report.files[0].suppression_problems == ()


def test_a_place_in_the_key_restricts_it(folder: Path) -> None:
    report = _lint(folder, _model(unknown_operator__second="ours"))
    assert [each.node for each in report.diagnostics] == ["first"]
    assert [each.node for each in report.suppressed] == ["second"]


@pytest.mark.parametrize(
    ("key", "value", "problem"),
    [
        ("unknown_operatr", "ours", "the suppression names an unknown rule 'unknown-operatr'; did you mean"),
        ("unknown_operator", "", "the suppression of unknown-operator requires a reason as its value"),
        ("unknown_operator__third", "ours", "the suppression of unknown-operator matches no finding"),
        ("exceeded_limit", "ours", "a model cannot suppress exceeded-limit"),
        ("unknown_operator__" + "*" * 11, "ours", "the place of a suppression has at most 1,000 characters and 10"),
        ("unknown_operator__" + "n" * 1001, "ours", "the place of a suppression has at most 1,000 characters and 10"),
    ],
)
def test_a_suppression_that_is_wrong_or_unused_is_reported(
    folder: Path, key: str, value: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    model = _model(**{key: value})
    [found] = _lint(folder, model).files[0].suppression_problems
    assert found.startswith(f"metadata_props[0]: {problem}")
    (folder / "m.onnx").write_bytes(model.SerializeToString())
    assert run(["m.onnx", "--select", "unknown-operator"]) == 1
    assert f"Warning: m.onnx: {found}" in capsys.readouterr().err


def test_a_suppression_of_a_rule_that_did_not_run_is_not_reported(folder: Path) -> None:
    assert _lint(folder, _model(cycle="ours")).files[0].suppression_problems == ()


def test_a_model_cannot_suppress_that_findings_were_left_out(folder: Path) -> None:
    model = _model(exceeded_limit="ours", unknown_operator__nowhere="ours")
    report = lint(
        model.SerializeToString(),
        config=folder / "onnx-lint.toml",
        select=["unknown-operator", "exceeded-limit"],
        limits={"findings_per_rule": 1},
    )
    assert [each.rule for each in report.diagnostics] == ["exceeded-limit", "unknown-operator"]


def test_a_configuration_beside_the_models_cannot_allow_it(folder: Path) -> None:
    """It is read from the configuration of the working directory, as all that concerns the run."""
    (folder / "onnx-lint.toml").write_text("")
    (folder / "models").mkdir()
    (folder / "models" / "onnx-lint.toml").write_text(ALLOWED)
    (folder / "models" / "m.onnx").write_bytes(_model(unknown_operator="ours").SerializeToString())
    assert run(["models", "--select", "unknown-operator"]) == 1
    assert run(["models", "--select", "unknown-operator", "--config", "suppressions-in-models=true"]) == 0


def test_a_configuration_that_was_found_and_allows_it_is_named(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "m.onnx").write_bytes(_model(unknown_operator="ours").SerializeToString())
    run(["m.onnx", "-f", "json", "--select", "unknown-operator"])
    assert json.loads(capsys.readouterr().out)["summary"]["weakened"] == [
        {"file": "onnx-lint.toml", "settings": {"suppressions-in-models": True}}
    ]


def test_sarif_says_that_the_suppression_is_in_the_model(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "m.onnx").write_bytes(_model(unknown_operator__first="ours").SerializeToString())
    run(["m.onnx", "-f", "sarif", "--show-suppressed", "--select", "unknown-operator"])
    results = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert [each["suppressions"][0]["kind"] for each in results if "suppressions" in each] == ["inSource"]


def test_very_many_suppressions_are_not_all_read(folder: Path) -> None:
    model = _model(**{f"unknown_operator__n{index}": "ours" for index in range(MOST_IN_MODEL)}, unknown_operator="x")
    report = _lint(folder, model)
    assert len(report.diagnostics) == 2
    assert f"only the first {MOST_IN_MODEL} of {MOST_IN_MODEL + 1} suppressions" in str(
        report.files[0].suppression_problems
    )


def test_metadata_that_is_no_utf8_crashes_nothing(folder: Path) -> None:
    data = _model(unknown_operator="ours").SerializeToString()
    for old, new, left in ((b"unknown-operator", b"unknown\xffoperator", 2), (b"ours", b"\xff\xfe\xfd\xfc", 0)):
        report = lint(data.replace(old, new), config=folder / "onnx-lint.toml", select="unknown-operator")
        assert not report.files[0].internal_errors
        assert len(report.diagnostics) == left


def test_a_reason_from_a_model_is_cut(folder: Path) -> None:
    [found] = _lint(folder, _model(unknown_operator__first="x" * 100_000)).suppressed
    assert len(found.suppressed_by) < 2_000


@pytest.mark.parametrize("pattern", ["*", "a*", "*b", "a*b", "*x*y*", "ab*ab", "**", "abab", "", "a*a*b*b", "x*"])
def test_a_pattern_matches_what_the_regular_expression_does(pattern: str) -> None:
    expression = ".*".join(map(re.escape, pattern.split("*")))
    for text in ("", "ab", "abab", "axyb", "aabb", "ba", "aab", "xy\n", "abxab"):
        expected = not pattern or re.fullmatch(expression, text, re.DOTALL) is not None
        [diagnostic] = lint(b"", select="not-a-model").diagnostics[:1]
        entry = Suppression("w", diagnostic.rule, "r", pattern)
        named = type(diagnostic)(**{**_fields(diagnostic), "place": text, "node": None, "subject": None})
        assert entry.covers(named) == expected, (pattern, text)


def _fields(record: Any) -> dict[str, Any]:
    from onnx_lint.common.record import field_names

    return {name: getattr(record, name) for name in field_names(type(record))}
