# SPDX-License-Identifier: Apache-2.0
"""The pages about the words of a report."""

from __future__ import annotations

import pytest

from onnx_lint.cli.catalogue import explain_command
from onnx_lint.reporters import record_page
from onnx_lint.reporters.terms import operator_page, operators_called
from onnx_lint.spec.operators import known_domains, operator_names
from onnx_lint.spec.operators.records import families, record_of
from onnx_lint.spec.operators.records.grammar import parse_all


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
        ("com.microsoft::MoE", "- `fused` stands for `[2*inner]` if `activation_type` is swiglu and the node has "),
        ("com.microsoft::MoE", "- input `router_probs`: `[tokens experts]` if the kind is flat; "),
        ("com.microsoft::MoE", "- no kernel for CPUs of any release if `swiglu_fusion` is 0 and "),
        ("com.microsoft::MatMulNBits", "- needs ONNX Runtime 1.23.2: `bits` is 8\n"),
        ("com.microsoft::MatMulNBits", "- attribute `block_size`: a power of 2, at least 16\n"),
        ("com.microsoft::BeamSearch", "#### `model_type` 1: `encoder` with 3 inputs\n"),
        ("com.microsoft::QLinearConcat", "- no input may be left out between others\n"),
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


def test_the_page_of_an_operator_says_all_that_its_record_has() -> None:
    """Each name of a record is somewhere on the page, and each text that lists dimensions."""
    for name in families():
        record, page = record_of(name), operator_page("com.microsoft", name)
        assert record is not None
        for field in ("attributes", "sizes", "contents", "inputs", "outputs", "where", "advised"):
            for key, value in getattr(record, field).items():
                assert f"`{key}`" in page or value is None
                is_form = field in ("inputs", "outputs") and isinstance(value, str)
                assert not is_form or value.strip("-") in page
        for key, value in record.since.items():
            assert key.partition("=")[0].removeprefix("!") in page
            assert value in page
        for key, value in (*record.until.items(), *record.failing.items()):
            assert all(record_page._in_words(condition) in page for condition in parse_all(key))
            assert value in page
