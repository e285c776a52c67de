# SPDX-License-Identifier: Apache-2.0
"""Models with awkward types: right ones that get no error, and wrong ones with the place and rule of each finding."""

from __future__ import annotations

import re

import onnx.parser
from support.project.checkout import TESTS
from support.project.each_case import each_case

from onnx_lint import lint
from onnx_lint.spec.clauses import Severity

MODELS = TESTS / "typed_models"

UNPUBLISHED = "opset 99"
"""Models of an operator set that does not exist yet, so its types are unknown. Another chapter reports that."""


def _models(file: str) -> dict[str, str]:
    """The models of a file by the line that each begins with."""
    blocks = re.split(r"^== ", (MODELS / file).read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {head: text for head, _, text in (block.partition("\n") for block in blocks)}


def _errors(text: str) -> list[str]:
    [report] = lint(onnx.parser.parse_model(text)).files
    assert not report.internal_errors
    return [f"{found.place} {found.rule}" for found in report.diagnostics if found.severity is Severity.ERROR]


RIGHT = _models("right.txt")
WRONG = _models("wrong.txt")


@each_case(("name", "text"), RIGHT.items(), ids=RIGHT)
def test_a_right_model_has_no_error(name: str, text: str):
    expected = ["opset_import[0].version unknown-opset-version"] if name == UNPUBLISHED else []
    assert _errors(text) == expected


@each_case(("head", "text"), WRONG.items(), ids=[head.partition(":")[0] for head in WRONG])
def test_a_wrong_model_has_its_errors_and_no_others(head: str, text: str):
    assert _errors(text) == head.partition(": ")[2].split(", ")
