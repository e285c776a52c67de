# SPDX-License-Identifier: Apache-2.0
"""The pages about the words of a report."""

from __future__ import annotations

import pytest

from onnx_lint.cli.catalogue import explain_command
from onnx_lint.reporters.terms import operator_page, operators_called
from onnx_lint.spec.operators import known_domains, operator_names


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("error[cycle]", "# cycle\n"),
        ("warning[non-c90-name]:", "# non-c90-name\n"),
        ("graph", "- `cycle` (error): Nodes depend on one another in a circle."),
        ("MUST", "of the severity error"),
        ("practice", "consumers reject the model or disagree on its meaning"),
        ("warning", "*SHOULD*"),
        ("not verified", "`--opset-schema` describes such a domain"),
        ("conv", "- attribute `pads`, INTS; at least 0\n"),
        ("com.microsoft::Attention", "### Version 1 (ContribOperators.md#com.microsoft.Attention)\n"),
        ("Upsample", "- deprecated: a node of it is an error\n"),
    ],
)
def test_explain_knows_what_a_report_prints(name: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    explain_command.main([name], standalone_mode=False)
    assert said in capsys.readouterr().out


def test_every_operator_has_a_page_with_a_section_for_each_version() -> None:
    for domain in known_domains():
        for name in operator_names(domain):
            assert (domain, name) in operators_called(f"{domain}::{name}")
            assert "\n### Version " in operator_page(domain, name)
