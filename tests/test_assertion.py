# SPDX-License-Identifier: Apache-2.0
"""assert_conforms and the pytest plugin: a model that breaks the specification fails a test with the report."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType

import pytest
from support.models.clean_model import CLEAN
from support.project.checkout import ROOT
from support.project.made_rules import registered

from onnx_lint import assert_conforms, lint
from onnx_lint.engine import selection
from onnx_lint.engine.registry import registry
from onnx_lint.rule import Finding, Rule

pytest_plugins = ["pytester"]


PLAIN_DOMAIN = CLEAN.replace("producer_name:", 'domain: "plain" producer_name:')
UNDEFINED = CLEAN.replace('input: "x" output', 'input: "z" output')


def _message(model: bytes | str | Path, **options: object) -> str:
    with pytest.raises(AssertionError) as caught:
        assert_conforms(model, options)  # type: ignore[arg-type]  # options are whatever a test needs
    return str(caught.value)


def test_a_model_that_conforms_passes_and_gives_the_report():
    assert assert_conforms(CLEAN.encode()) == lint(CLEAN.encode())


def test_the_message_is_the_text_report():
    lines = _message(UNDEFINED.encode()).splitlines()
    assert lines[0].startswith("error[undefined-name]: ")
    assert lines[1] == "  --> <memory>:7:46: graph.node[0].input[0]"
    assert lines[-1].startswith("<memory>: 1 error; IR version 10; ai.onnx 21; 1 node in 1 graph")


def test_a_path_is_named(tmp_path: Path):
    path = tmp_path / "model.textproto"
    path.write_text(UNDEFINED)
    assert f"  --> {path}:7:46: graph.node[0].input[0]" in _message(path).splitlines()


def test_fail_on_says_what_fails():
    data = PLAIN_DOMAIN.encode()
    assert [diagnostic.severity.label for diagnostic in assert_conforms(data).diagnostics] == ["warning"]
    assert _message(data, fail_on="warning").startswith("warning[unqualified-model-domain]: ")
    assert _message(data, fail_on="note").startswith("warning[unqualified-model-domain]: ")


def test_options_are_those_of_lint():
    data = UNDEFINED.encode()
    assert assert_conforms(data, ignore=["undefined-name"]) == lint(data, ignore=["undefined-name"])
    with pytest.raises(ValueError, match=r"unknown rule 'undefined-nam'; did you mean 'undefined-name'\?"):
        assert_conforms(data, ignore=["undefined-nam"])


def test_a_selection_may_be_a_text_and_has_to_leave_a_rule():
    model = UNDEFINED.encode()
    assert lint(model, select="graph, name") == lint(model, select=["graph", "name"])
    with pytest.raises(ValueError, match=r"the selection leaves no rule of edition 1\.23"):
        assert_conforms(model, ignore="ALL")
    with pytest.raises(ValueError, match=r"the selection leaves no rule of edition 1\.9"):
        assert_conforms(model, {"edition": "1.9"}, select=["duplicate-device-group"])


@pytest.mark.parametrize("wrong", ["eror", ""])
def test_an_unknown_severity_is_no_silent_pass(wrong: str):
    with pytest.raises(ValueError, match=f"fail_on is one of error, warning, note, never, not {wrong!r}"):
        assert_conforms(CLEAN.encode(), fail_on=wrong)


def test_an_assertion_that_cannot_fail_is_an_error(tmp_path: Path):
    """Whether the keyword, a setting or a configuration says so."""
    (tmp_path / "onnx-lint.toml").write_text('fail-on = "never"\n')
    (tmp_path / "m.textproto").write_text(UNDEFINED)
    for model in (UNDEFINED.encode(), CLEAN.encode()):
        for given in (
            {"fail_on": "never"},
            {"settings": {"fail_on": "never"}},
            {"config": tmp_path / "onnx-lint.toml"},
            {"config": True, "filename": tmp_path / "m.textproto"},
        ):
            with pytest.raises(ValueError, match=r"^fail_on is 'never'"):
                assert_conforms(model, **given)  # type: ignore[arg-type]
    assert assert_conforms(CLEAN.encode(), fail_on="error", config=tmp_path / "onnx-lint.toml").passes


def test_what_is_no_model_fails(tmp_path: Path):
    assert _message(b"").startswith("error[not-a-model]: ")
    with pytest.raises(FileNotFoundError):
        assert_conforms(tmp_path / "missing.onnx")
    # The rule that would say so is not selected, and yet there is no verdict.
    assert "not judged" in _message(b"", select=["cycle"])


def test_a_rule_that_crashes_fails(monkeypatch: pytest.MonkeyPatch):
    def crash(model: object) -> Iterator[Finding]:
        raise RuntimeError("the rule is broken")
        yield

    broken = registered(Rule("cycle", crash, ("GRA-1",), "0.1.0"), "graph", "broken", None)
    rules = MappingProxyType({**registry(), "cycle": broken})
    monkeypatch.setattr(selection, "registry", lambda: rules)
    message = _message(CLEAN.encode())
    assert message.splitlines()[-1] == "   = the rule cycle crashed: RuntimeError: the rule is broken"


# --- the plugin


def test_the_plugin_is_declared_for_pytest():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert '[project.entry-points.pytest11]\nonnx_lint = "onnx_lint.pytest_plugin"\n' in text
