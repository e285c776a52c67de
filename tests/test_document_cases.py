# SPDX-License-Identifier: Apache-2.0
"""Documents that are no models, made to mislead: tests/data/documents.txt holds them."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest
from google.protobuf import json_format, text_format

from onnx_lint import lint, schema
from onnx_lint.cli.application import run
from onnx_lint.engine import Settings, lint_source
from onnx_lint.reporters import REPORTERS
from onnx_lint.source import BytesSource

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


@pytest.mark.parametrize("part", range(4))
def test_no_damage_makes_a_rule_crash(part: int):
    """Whatever is in the file, there is a verdict, and what is not judged is a finding."""
    generator = random.Random(part)
    kinds = list({kind for kind, *_ in CASES})
    for _ in range(150):
        kind, _, _, text = generator.choice(CASES)
        proto = text_format.Parse(text, schema.message(kind)(), descriptor_pool=schema.pool())
        data = bytearray(proto.SerializeToString() * generator.choice((1, 1, 1, 2)))
        for _ in range(generator.choice((1, 1, 2, 4))):
            position = generator.randrange(len(data) + 1)
            end = position + generator.randrange(3)
            data[position:end] = bytes(generator.choice((0, 1, 8, 10, 18, 127, 128, 255)) for _ in range(2))
        said = generator.choice((kind, kind, None, generator.choice(kinds)))
        file = lint_source(BytesSource(bytes(data)), "input_0.pb", Settings(proto=said))
        assert file.internal_errors == ()
        assert file.not_judged is None or file.diagnostics, bytes(data)


def test_a_name_that_looks_like_a_place_stays_as_it_is():
    text = 'name: "graph.node[0]" node { op_type: "Relu" input: "the model" output: "graph.output[0]" }'
    graph = text_format.Parse(text, schema.message("GraphProto")(), descriptor_pool=schema.pool())
    report = lint(graph.SerializeToString(), proto="GraphProto", select="undefined-name", opset_imports={"": 17})
    assert [(item.place, item.message) for item in report.diagnostics] == [
        ("node[0].input[0]", "unnamed node 0 (Relu) uses 'the model', which nothing defines")
    ]


@pytest.mark.parametrize("format_name", REPORTERS)
def test_every_format_tells_of_an_operator_set(format_name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "set.onnxopset"
    path.write_text(FAULTY["an operator of a later version"][1], encoding="utf-8")
    assert run([str(tmp_path), "--format", format_name, "--no-config"]) == 1
    out = capsys.readouterr().out
    assert "invalid-since-version" in out
    assert "operator[0].since_version" in out.replace("\\", "")
