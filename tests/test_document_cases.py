# SPDX-License-Identifier: Apache-2.0
"""Documents that are no models, made to mislead: tests/data/documents.txt holds them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from google.protobuf import json_format, text_format

from onnx_lint import lint, schema

CASES = re.findall(
    r"^\[(\w+)\] (.+?)(?: -> (.+))?\n((?:[^\[#\n].*\n)*)",
    (Path(__file__).parent / "data" / "documents.txt").read_text(encoding="utf-8"),
    re.MULTILINE,
)
CONFORMING = {what: (kind, text) for kind, what, rules, text in CASES if not rules}
FAULTY = {what: (kind, text, set(rules.split(", "))) for kind, what, rules, text in CASES if rules}


def _rules(kind: str, text: str, edition: str) -> list[str]:
    """The rules that report something about the document in its three forms, which have to agree.

    No text is an empty document in binary form alone.
    """
    proto = text_format.Parse(text, schema.message(kind)(), descriptor_pool=schema.pool())
    forms = [proto.SerializeToString()]
    if text:
        forms += [text.encode(), json_format.MessageToJson(proto).encode()]
    reports = [lint(data, proto=kind, edition=edition) for data in forms]
    assert [report.files[0].internal_errors for report in reports] == [()] * len(forms)
    rules = [[item.rule for item in report.diagnostics] for report in reports]
    assert rules == rules[:1] * len(forms)
    return rules[0]


@pytest.mark.parametrize("edition", ["1.9", "1.16", "1.21", "1.23"])
@pytest.mark.parametrize(("kind", "text"), CONFORMING.values(), ids=CONFORMING)
def test_an_odd_document_conforms(kind: str, text: str, edition: str):
    assert _rules(kind, text, edition) == []


@pytest.mark.parametrize(("kind", "text", "rules"), FAULTY.values(), ids=FAULTY)
def test_a_faulty_document_is_found_out(kind: str, text: str, rules: set[str]):
    assert set(_rules(kind, text, "1.23")) == rules


def test_no_case_is_lost():
    assert (len(CONFORMING), len(FAULTY)) == (53, 63)
