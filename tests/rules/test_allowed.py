# SPDX-License-Identifier: Apache-2.0
"""The text after `allowed` adds something to the message. The test of fixtures checks all of their findings."""

from __future__ import annotations

import pytest
from support.project.fixture_files import FIXTURES
from support.reports.made_up_report import error
from support.reports.wording_faults import wording_faults

from onnx_lint.cli.application import run
from onnx_lint.reporters.wording import allowed_unless_said


def test_faults_of_wording_are_found():
    message = "input 0 'x' of node 'n' is of rank 1"
    assert list(wording_faults([error(message=message, allowed="at least two dimensions there")])) == []
    for text, allowed in (("the value is None", "3"), (message, "['a', 'b']"), (message, None)):
        assert list(wording_faults([error(message=text, allowed=allowed)])) != []


@pytest.mark.parametrize(
    ("message", "allowed", "shown"),
    [
        ("input 0 'x' of node 'n' (CumSum) is [], but CumSum needs at least 1 dimension", "at least 1 dimension", None),
        ("attribute 'axis' of node 'n' (Softmax) is 3, but the axes are from -3 to 2", "-3 to 2", None),
        ("dimension 0 of input 1 'b' is 4, but must be 3", "3", "3"),
        ("input 0 is [13 to 21]", "3 to 2", "3 to 2"),
        ("output 'y' has no type", None, None),
    ],
)
def test_the_allowed_line_is_left_out_where_the_message_says_it(message: str, allowed: str | None, shown: str | None):
    assert allowed_unless_said(error(message=message, allowed=allowed)) == shown


@pytest.mark.parametrize("form", ["text", "github", "html", "json", "jsonl", "sarif"])
def test_the_reports_show_the_change_with_which_the_shapes_fit(form: str, capsys: pytest.CaptureFixture[str]):
    run(
        [str(FIXTURES / "incompatible-operand-shapes/invalid/a_matrix_that_has_to_be_transposed.textproto"), "-f", form]
    )
    assert "with transB=1 the shapes fit" in capsys.readouterr().out
