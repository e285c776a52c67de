# SPDX-License-Identifier: Apache-2.0
"""What the reason of a fix that is not made tells the user to do leads to the fix."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import onnx
import pytest
from support.fixes.case import PRODUCER, USER, Case, graph
from support.fixes.fixed import fixed_model
from support.fixes.fixtures import faulty_files
from support.fixes.safe import CHOICE

from onnx_lint.cli.application import run
from onnx_lint.common.record import replace
from onnx_lint.engine.settings import Settings
from onnx_lint.fixing.rounds import TEXT_IS_NOT_FIXED
from onnx_lint.input.source import BytesSource

Output = pytest.CaptureFixture[str]

CAUSES = re.compile(
    r"(?P<rule>[\w-]+): the fix was not made: it would cause a new finding of '(?P<other>[\w-]+)'(?: \(.*\))?"
    r"(?:; --select (?P<select>\S+)(?P<unsafe> --unsafe-fixes)? makes the fix nevertheless)?"
)
WITHOUT_ADVICE = re.compile(
    r"[\w-]+: (the fix was not made: (the finding would still be there|a name would mean another value, or none)"
    r"|the fix cannot be made: .*|the file could not be checked afterwards)"
)
UNORDERED = Case("", graph(USER + PRODUCER), "").models()[0]


def _check(name: str, data: bytes, settings: Settings, *, unsafe: bool) -> int:
    """Check the advice of each fix that is not made in a model, and return the number of those with advice."""
    count = 0
    for reason in fixed_model(BytesSource(data), settings, unsafe=unsafe).repair.not_made:
        found = CAUSES.fullmatch(reason)
        assert found is not None or WITHOUT_ADVICE.fullmatch(reason), (name, reason)
        if found is None or found["select"] is None:
            continue
        count += 1
        assert unsafe or not found["unsafe"]
        chosen = replace(settings, select=(found["select"],), extend_select=())
        outcome = fixed_model(BytesSource(data), chosen, unsafe=bool(found["unsafe"]))
        assert found["rule"] in dict(outcome.repair.fixed), (name, reason, outcome.repair)
    return count


def _check_fixtures(**chosen: Any) -> int:
    return sum(
        _check(name, data, settings, unsafe=unsafe)
        for name, data, settings in faulty_files(**chosen)
        for unsafe in (False, True)
    )


def test_the_advice_leads_to_the_fix():
    _check_fixtures(one_in=12)
    assert _check_fixtures(rules=("training-mode",)) >= 1


@pytest.mark.slow
def test_the_advice_leads_to_the_fix_in_any_fixture():
    assert _check_fixtures(of_all_rules=True) >= 17


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "model.onnx"
    path.write_bytes(UNORDERED)
    return path


def _repair(capsys: Output, *arguments: str) -> dict[str, Any]:
    run(["fix", "-f", "json", *arguments])
    (file,) = json.loads(capsys.readouterr().out)["files"]
    repair: dict[str, Any] = file["repair"]
    return repair


def test_the_advice_is_a_command(model: Path, capsys: Output):
    """The fix of Dropout leaves an initializer without users."""
    proto = onnx.load(model)
    proto.graph.node[1].CopyFrom(onnx.helper.make_node("Dropout", ["x", "", "t"], ["a"]))
    proto.graph.initializer.append(onnx.numpy_helper.from_array(onnx.numpy_helper.np.array(True), "t"))
    onnx.save(proto, model)
    (reason,) = _repair(capsys, "--unsafe-fixes", "--extend-select", "hygiene", "model.onnx")["not_made"]
    found = CAUSES.fullmatch(reason)
    assert found is not None
    repair = _repair(capsys, "--select", found["select"], "--unsafe-fixes", "model.onnx")
    assert [each["rule"] for each in repair["fixed"]] == ["training-mode"]


@pytest.mark.parametrize("name", ["model.textproto", "model.json"])
def test_a_text_that_is_converted_is_fixed(model: Path, capsys: Output, name: str):
    onnx.save(onnx.load(model), name)
    assert _repair(capsys, name)["not_made"] == [TEXT_IS_NOT_FIXED]
    assert "convert this text with onnx.load and onnx.save" in TEXT_IS_NOT_FIXED
    onnx.save(onnx.load(name), "new.onnx")
    assert _repair(capsys, "new.onnx")["fixed"] == [{"rule": "unordered-nodes", "count": 1}]


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no links")
def test_a_link_is_followed_with_the_option_that_the_reason_names(model: Path, capsys: Output):
    os.symlink("model.onnx", "link.onnx")
    repair = _repair(capsys, "link.onnx")
    assert "--follow-links changes the file that the link leads to" in repair["problem"]
    assert model.read_bytes() == UNORDERED
    assert _repair(capsys, "--follow-links", "link.onnx")["problem"] is None
    assert model.read_bytes() != UNORDERED
    assert os.path.islink("link.onnx")


def test_a_branch_before_the_node_whose_value_it_returns_is_fixed_in_one_run():
    """The node moves before the branch, and the branch then returns the value of an outer graph."""
    user = 'node { op_type: "Abs" input: "a" output: "u" }'
    data = Case("", graph(CHOICE.format("", "y", user, "a") + PRODUCER), "").models()[0]
    outcome = fixed_model(BytesSource(data), Settings(), unsafe=False)
    assert dict(outcome.repair.fixed) == {"undefined-name": 1, "outer-scope-output": 1, "unordered-nodes": 1}
    assert outcome.repair.not_made == ()
    assert outcome.report.diagnostics == ()


def test_a_value_that_a_branch_alone_returns_is_made_before_the_branch_in_one_run():
    """No node of the branch uses it, so the fault is an output that nothing defines."""
    data = Case("", graph(CHOICE.format("", "y", "", "a") + PRODUCER), "").models()[0]
    outcome = fixed_model(BytesSource(data), Settings(), unsafe=False)
    assert dict(outcome.repair.fixed) == {"undefined-name": 1, "outer-scope-output": 1}
    assert outcome.repair.not_made == ()
    assert outcome.report.diagnostics == ()


def test_a_branch_that_returns_what_its_own_node_makes_is_not_moved():
    data = Case("", graph(CHOICE.format("", "y", "", "y")), "").models()[0]
    outcome = fixed_model(BytesSource(data), Settings(), unsafe=True)
    assert "undefined-name" in {each.rule for each in outcome.report.diagnostics}
    assert outcome.repair.fixed == ()


def test_an_import_of_another_domain_brings_that_of_the_default_domain():
    """An import of a domain alone would leave the warning that nothing imports the default domain."""
    node = 'node { op_type: "Binarizer" domain: "ai.onnx.ml" input: "x" output: "y" }'
    data = Case("", graph(node), "", opset=0).models()[0]
    outcome = fixed_model(BytesSource(data), Settings(), unsafe=True)
    assert dict(outcome.repair.fixed) == {"missing-opset-import": 1}
    assert outcome.report.diagnostics == ()
