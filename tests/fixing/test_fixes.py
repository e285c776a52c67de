# SPDX-License-Identifier: Apache-2.0
"""Each fix of the built-in rules: the model before and after, and what stays as it is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from google.protobuf import text_format
from support.project.checkout import ROOT

from onnx_lint import schema
from onnx_lint.engine.settings import Settings
from onnx_lint.fixing.files import Mending, fix_file

X = 'input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }'
Y = X.replace("input", "output").replace('"x"', '"y"')
PRODUCER = 'node { name: "r" op_type: "Relu" input: "x" output: "a" }'
USER = 'node { name: "s" op_type: "Abs" input: "a" output: "y" }'
RELU = f"{PRODUCER} {USER}"
FLOATS = "type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } }"
INTS = FLOATS.replace("elem_type: 1", "elem_type: 7")
THREES = FLOATS.replace("value: 2", "value: 3")


def graph(parts: str, opening: str = "") -> str:
    return f'{opening} graph {{ name: "g" {X} {Y} {parts} }}'


@dataclass(frozen=True)
class Case:
    rule: str
    before: str
    after: str
    """The same as `before` where there is nothing to fix."""
    safe: bool = True
    id: str = ""
    versions: tuple[int, int] = (10, 10)
    """The IR version before and after."""


def info(name: str, declared: str = FLOATS) -> str:
    return f'value_info {{ name: "{name}" {declared} }}'


def entry(key: str, value: str = "v") -> str:
    return f'metadata_props {{ key: "{key}" value: "{value}" }}'


def imports(*pairs: tuple[str, int]) -> str:
    return " ".join(f'opset_import {{ domain: "{domain}" version: {version} }}' for domain, version in pairs)


def function(*pairs: tuple[str, int]) -> str:
    body = 'input: "i" output: "o" node { op_type: "Abs" input: "i" output: "o" }'
    return f'functions {{ name: "F" domain: "com.f" {body} {imports(("", 21), *pairs)} }}'


CYCLE = graph('node { op_type: "Abs" input: "b" output: "y" } node { op_type: "Add" input: "b" output: "b" }')
OTHER = info("a").replace("type", 'doc_string: "d" type', 1)
DIFFERING = graph(f"{RELU} {info('a')} {info('a', INTS)} {OTHER}")
OF_OUTPUT = graph(RELU).replace(Y, f'output {{ name: "y" {INTS} }}')
VERSIONS = graph(RELU, imports(("ai.onnx", 21), ("com.a", 1), ("com.a", 2)))
VALUES = graph(RELU, f"{entry('k')} {entry('k', 'w')}")

NEGATIVE = graph(f"{RELU} {info('a')}").replace("dim_value: 2", "dim_value: -1")

CASES = [
    Case("unordered-nodes", graph(f"{USER} {PRODUCER}"), graph(RELU)),
    Case("unordered-nodes", CYCLE, CYCLE, id="a cycle"),
    Case(
        "duplicate-value-info",
        graph(f"{RELU} {info('a')} {info('a')} {info('y')} {info('a')}"),
        graph(f"{RELU} {info('a')} {info('y')}"),
    ),
    Case("duplicate-value-info", DIFFERING, DIFFERING, id="entries that differ"),
    Case(
        "unknown-value-info-name",
        graph(f"{RELU} {info('gone')} {info('a')} {info('left', INTS)}"),
        graph(f"{RELU} {info('a')}"),
    ),
    Case("contradictory-value-info", graph(f"{RELU} {info('y', INTS)} {info('a')}"), graph(f"{RELU} {info('a')}")),
    Case("contradictory-declared-type", graph(f"{RELU} {info('a', INTS)}"), graph(RELU)),
    Case("contradictory-declared-type", OF_OUTPUT, OF_OUTPUT, id="the output of a graph"),
    Case(
        "contradictory-declared-shape",
        graph(f"{RELU} {info('a', THREES)}"),
        graph(RELU),
    ),
    Case(
        "duplicate-opset-import",
        graph(RELU, imports(("com.example", 1), ("com.example", 1))),
        graph(RELU, imports(("com.example", 1))),
    ),
    Case("duplicate-opset-import", VERSIONS, VERSIONS, id="another spelling, another version"),
    Case(
        "duplicate-metadata-key",
        graph(RELU, f"{entry('k')} {entry('l')} {entry('k')}"),
        graph(RELU, f"{entry('k')} {entry('l')}"),
    ),
    Case("duplicate-metadata-key", VALUES, VALUES, id="another value"),
    Case("unused-opset-import", graph(RELU, function(("com.b", 1))), graph(RELU, function())),
    Case("unused-opset-import", graph(RELU, imports(("com.b", 1))), graph(RELU), safe=False),
    Case("negative-dimension", NEGATIVE, NEGATIVE.replace("dim_value: -1", ""), safe=False),
    Case("outdated-ir-version", graph(RELU), graph(RELU), safe=False, versions=(8, 10)),
]
"""Parts of models in text form, to which IR version, producer and an import are added."""


def _model(text: str, version: int) -> bytes:
    proto = text_format.Parse(
        f'ir_version: {version} producer_name: "p" producer_version: "1" '
        f'opset_import {{ domain: "" version: 21 }} {text}',
        schema.message("ModelProto")(),
        descriptor_pool=schema.pool(),
    )
    data: bytes = proto.SerializePartialToString(deterministic=True)
    return data


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}{': ' if case.id else ''}{case.id}")
def test_a_fix_makes_the_bytes_of_a_model_without_the_fault(case: Case, tmp_path: Path):
    path = tmp_path / "model.onnx"
    old, new = (_model(text, version) for text, version in zip((case.before, case.after), case.versions, strict=True))
    path.write_bytes(old)
    settings = Settings(select=(case.rule,))
    report = fix_file(str(path), settings, Mending())
    assert path.read_bytes() == (new if case.safe else old)
    if not case.safe:
        assert [item.rule for item in report.diagnostics] == [case.rule]
        report = fix_file(str(path), settings, Mending(unsafe=True))
        assert path.read_bytes() == new
    assert report.repair is not None
    if old != new:
        assert report.diagnostics == ()
        assert [rule for rule, _ in report.repair.fixed] == [case.rule]
    again = fix_file(str(path), settings, Mending(unsafe=True))
    assert again.repair is not None
    assert again.repair.count == 0


def test_each_rule_with_a_fix_has_a_case_and_says_so_in_its_documentation():
    rules = {path.stem.replace("_", "-"): path.read_text(encoding="utf-8") for path in (ROOT / "rules").rglob("*.py")}
    with_fix = {rule for rule, source in rules.items() if "fix=" in source}
    assert with_fix == {
        case.rule for case in CASES if (case.before, case.versions[0]) != (case.after, case.versions[1])
    }
    for rule in with_fix:
        assert "`onnx-lint fix" in rules[rule], rule
        assert ("(safe)" in rules[rule]) or ("(unsafe" in rules[rule]), rule
    told = {rule for rule, source in rules.items() if "`onnx-lint fix" in source}
    assert told == with_fix
