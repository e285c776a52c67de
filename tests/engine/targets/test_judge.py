# SPDX-License-Identifier: Apache-2.0
"""Targets change severities, and say what programs do. They never change whether a model conforms to ONNX."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import onnx.parser
import pytest
from support.project.each_case import each_case
from support.project.fixture_files import FIXTURES, Fixture, fixtures

import onnx_lint
from onnx_lint.cli.application import run
from onnx_lint.common.record import replace
from onnx_lint.engine.lint import LintOptions, lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.reporters import REPORTERS
from onnx_lint.spec.target import TARGET_GATES, target_of

TARGETS = (
    ["onnx"],
    ["onnx.checker"],
    ["onnxruntime=1.17"],
    ["onnxruntime=1.18"],
    ["onnxruntime=1.25"],
    ["onnxruntime=1.32"],
    ["openvino=2026.4"],
    ["tensorrt=10.15"],
    ["ir=8"],
    ["ai.onnx=12", "ai.onnx.ml=2"],
    ["onnx", "onnxruntime=1.32"],
    ["onnxruntime=1.32", "onnx.checker", "openvino=2023.3"],
    ["ir=7", "ai.onnx=9", "onnxruntime=1.17", "tensorrt=10.15"],
)
"""Targets that are no variant of the specification, alone and in lists."""


def conforms(fixture: Fixture, target: list[str], gate: str = "violations") -> bool | None:
    """Return the verdict on a fixture for a target."""
    name = next((value for key, value in fixture.headers if key == "name"), fixture.path.name)
    path = name if fixture.directory is None else str(fixture.directory / name)
    found = target_of(target)
    selected = (*fixture.settings.extend_select, *(("target",) if found.releases else ()))
    settings: Settings = replace(
        fixture.settings, target=found, target_gate=gate, extend_select=selected, proto=fixture.proto
    )
    file = lint_source(BytesSource(fixture.data), path, settings, LintOptions(is_file=fixture.directory is not None))
    return file.conformity.conforms


def changed(step: int, spread: int) -> list[tuple[str, list[str]]]:
    """Return the fixtures, one in `step`, whose verdict a target changes; each is tried with one target in `spread`."""
    found = []
    for number, fixture in enumerate(plain_fixtures()[::step]):
        gate, bare = TARGET_GATES[number % len(TARGET_GATES)], conforms(fixture, [])
        tried = TARGETS[number % spread :: spread]
        found += [(fixture.id, target) for target in tried if conforms(fixture, target, gate) is not bare]
    return found


@cache
def plain_fixtures() -> list[Fixture]:
    """Return the fixtures that need no target."""
    return [each for each in fixtures() if not any(key == "target" for key, _ in each.headers)]


def test_no_target_changes_whether_a_model_conforms() -> None:
    assert changed(step=93, spread=len(TARGETS)) == []


@pytest.mark.slow
def test_no_target_changes_whether_a_fixture_conforms() -> None:
    """ONNX_LINT_ALL_TARGETS=1 tries each fixture with each target."""
    assert changed(step=1, spread=1 if os.environ.get("ONNX_LINT_ALL_TARGETS") else 4) == []


@each_case("target", TARGETS, ids=" ".join)
def test_no_target_decides_whether_a_model_conforms_whose_missing_imports_are_ignored(target: list[str]) -> None:
    """A runtime assumes imports, and with a target its nodes are judged by them."""
    files = sorted((FIXTURES / "missing-opset-import" / "invalid").glob("*.textproto"))
    assert len(files) > 5
    for file in files[TARGETS.index(target) % 3 :: 3]:
        bare, report = (onnx_lint.lint(file, target=each, ignore=["missing-opset-import"]) for each in ([], target))
        assert report.files[0].internal_errors == (), file
        assert report.conforms is bare.conforms is not True, file
        programs = [each for each in report.files[0].targets if each.verb != "support"]
        assert [each for each in programs if each.loads] == [], file


def verdicts_of_forms(files: Sequence[Path], target: Sequence[str], folder: Path) -> dict[str, Any]:
    """Return what each form of a report says of which models conform."""
    options = [option for name in target for option in ("--target", name)]
    outputs = [f"--output={name}={folder / f'report.{name}'}" for name in REPORTERS]
    run([*map(str, files), "--no-config", *options, *outputs])
    texts = {name: (folder / f"report.{name}").read_text(encoding="utf-8") for name in REPORTERS}
    records = [json.loads(line) for line in texts["jsonl"].splitlines()]
    suites = ElementTree.fromstring(texts["junit"]).iter("property")
    found = {
        "json": [each["conforms"] for each in json.loads(texts["json"])["files"]],
        "jsonl": [each["conforms"] for each in records if each["record"] == "file"],
        "sarif": json.loads(texts["sarif"])["runs"][0]["properties"]["conforms"],
        "junit": [each.get("value") for each in suites if each.get("name") == "conforms"],
    }
    counted = re.compile(r"(\d+) conform to ONNX|(\d+) do not")
    return found | {name: set(counted.findall(texts[name])) for name in ("text", "markdown", "html")}


def same_in_all_forms(step: int, folder: Path) -> None:
    """Assert that no target changes in any form of a report which fixtures conform, one in `step`."""
    files = [each.path for each in plain_fixtures()[::step] if each.is_text]
    bare = verdicts_of_forms(files, [], folder)
    assert {True, False} <= set(bare["json"])
    assert bare["sarif"] is False
    assert [name for name, said in bare.items() if name != "sarif" and not said] == []
    for target in TARGETS:
        assert verdicts_of_forms(files, target, folder) == bare, target
        reports = [onnx_lint.lint(each, target=target).conforms for each in files]
        assert reports == bare["json"], target


@pytest.mark.slow
def test_no_target_changes_in_any_form_whether_a_model_conforms(tmp_path: Path) -> None:
    same_in_all_forms(431, tmp_path)


@pytest.mark.slow
def test_no_target_changes_in_any_form_whether_a_fixture_conforms(tmp_path: Path) -> None:
    same_in_all_forms(23, tmp_path)


OF_RUNTIME = FIXTURES / "unknown-operator" / "invalid" / "an_operator_of_the_target_in_the_default_domain.textproto"


@pytest.mark.parametrize("target", TARGETS, ids=" ".join)
def test_an_operator_that_only_a_runtime_defines_conforms_in_no_form_and_for_no_target(
    target: list[str], tmp_path: Path
) -> None:
    options = [option for name in target for option in ("--target", name)]
    run([str(OF_RUNTIME), *options, *(f"--output={name}={tmp_path / f'report.{name}'}" for name in REPORTERS)])
    texts = {name: (tmp_path / f"report.{name}").read_text(encoding="utf-8") for name in REPORTERS}
    assert [name for name, text in texts.items() if "conforms to ONNX" in text] == []
    assert json.loads(texts["json"])["files"][0]["conforms"] is False
    assert json.loads(texts["sarif"])["runs"][0]["properties"]["conforms"] is False
    records: list[dict[str, Any]] = [json.loads(line) for line in texts["jsonl"].splitlines()]
    assert {each["conforms"] for each in records if "conforms" in each} == {False}
    properties = ElementTree.fromstring(texts["junit"]).iter("property")
    assert [each.get("value") for each in properties if each.get("name") == "conforms"] == ["false"]
    assert onnx_lint.lint(OF_RUNTIME, target=target).conforms is False


def test_more_findings_about_a_program_than_a_report_lists_leave_the_verdict_as_it_is() -> None:
    operators = "".join(
        f'node {{ op_type: "New{i}" domain: "com.microsoft" input: "x" output: "v{i}" }}' for i in range(9)
    )
    model = (MODEL % ("com.microsoft", "Gelu", "com.microsoft")).replace("input {", f"{operators} input {{", 1).encode()
    limited = onnx_lint.lint(model, {"limits": {"findings_per_rule": 2}}, target="onnxruntime=1.32")
    assert sorted({item.rule for item in limited.diagnostics}) == ["exceeded-limit", "unsupported-by-product"]
    assert (limited.conforms, onnx_lint.lint(model).conforms, limited.passes) == (True, True, False)


MODEL = """ir_version: 8 producer_name: "p" producer_version: "1" opset_import { version: 16 }
    opset_import { domain: "%s" version: 1 }
    graph { name: "g" node { name: "n" op_type: "%s" domain: "%s" input: "x" output: "y" }
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } } }"""


def of_domain(domain: str, op_type: str) -> bytes:
    return (MODEL % (domain, op_type, domain)).encode()


RELU = of_domain("com.acme", "Op").replace(b'domain: "com.acme" input', b"input").replace(b'"Op"', b'"Relu"')
BINARIZER = of_domain("ai.onnx.ml", "Binarizer")
ACME = of_domain("com.acme", "Op")
NEWER = RELU.replace(b"ir_version: 8", b"ir_version: 10").replace(b"version: 16", b"version: 21")
SPARSE = RELU.replace(
    b"input {",
    b'sparse_initializer { values { name: "w" data_type: 1 dims: 0 } indices { data_type: 7 dims: 0 }'
    b" dims: 2 } input {",
)
WITHOUT_AXES = RELU.replace(b"Relu", b"MeanVarianceNormalization").replace(b"dim {", b"dim { } dim { } dim { } dim {")
NORMALIZED = WITHOUT_AXES.replace(
    b'output: "y" }', b'output: "y" attribute { name: "axes" type: INTS ints: 0 ints: 2 ints: 3 } }'
)
DECLARED = b'value_info { name: "t" type { tensor_type { elem_type: 1 shape { dim { dim_value: %d } } } } } '
CHAIN = RELU.replace(b'output: "y" }', b'output: "t" } node { name: "m" op_type: "Neg" input: "t" output: "y" }', 1)
TWICE = CHAIN.replace(b"input { ", DECLARED % 2 + DECLARED % 5 + b"input { ", 1)
UNDEFINED = RELU.replace(b"elem_type: 1", b"elem_type: 0", 1)
LOOSE = RELU.replace(b"ir_version: 8", b"ir_version: 99")


@each_case(
    ("model", "target", "loads", "said"),
    [
        (RELU, "onnxruntime=1.32", True, "loads, as far as its data say"),
        (RELU, "onnxruntime=1.18", True, "1.17.3 and 1.20.1 load it, as far as their data say"),
        (RELU, "openvino=2026.4", True, "loads, as far as its data say"),
        (RELU, "tensorrt=10.15", True, "loads, by onnx-tensorrt's page of 2026-11-25"),
        (RELU, "onnx.full_check", True, "accepts it, as far as its data say"),
        (
            RELU,
            "onnx.checker",
            True,
            "accepts it, as far as its data say; the target onnx.full_check is about full_check=True",
        ),
        (BINARIZER, "onnxruntime=1.32", True, "loads, as far as its data say"),
        (BINARIZER, "openvino=2026.4", False, "refuses it: 1 cause"),
        (BINARIZER, "tensorrt=10.15", None, "not judged: 1 node of ai.onnx.ml"),
        (ACME, "tensorrt=10.15", None, "not judged: 1 node of com.acme"),
        (ACME, "openvino=2026.4", None, "not judged: 1 node of com.acme"),
        (ACME, "onnxruntime=1.32", False, "refuses it: 1 cause"),
        (ACME, "onnxruntime=1.25", False, "1.23.2 and 1.32.0 refuse it"),
        (ACME, "onnx.full_check", True, "accepts it, as far as its data say"),
        (NEWER, "onnxruntime=1.18", None, "1.17.3 refuses it: 2 causes; 1.20.1 loads, as far as its data say"),
        (NEWER, "onnxruntime=1.20", True, "loads, as far as its data say"),
        (NORMALIZED, "onnx.full_check", True, "accepts it, as far as its data say"),
        (
            NORMALIZED.replace(b"elem_type: 1", b"elem_type: 11"),
            "onnx.full_check",
            None,
            "not judged: 1 node of MeanVarianceNormalization without axes, or of another type than float",
        ),
        (
            WITHOUT_AXES,
            "onnx.full_check",
            None,
            "not judged: 1 node of MeanVarianceNormalization without axes, or of another type than float",
        ),
        (
            WITHOUT_AXES.replace(b"MeanVarianceNormalization", b"LRN").replace(
                b'output: "y" }', b'output: "y" attribute { name: "size" type: INT i: 4 } }'
            ),
            "onnxruntime=1.32",
            None,
            "not judged: 1 node of LRN with attributes that the kernel may refuse",
        ),
        (
            RELU.replace(b'"Relu"', b'"EyeLike"')
            .replace(b'output: "y" }', b'output: "y" attribute { name: "dtype" type: INT i: 10 } }')
            .replace(b"dim {", b"dim { } dim {")
            .replace(
                b'output { name: "y" type { tensor_type { elem_type: 1',
                b'output { name: "y" type { tensor_type { elem_type: 10',
            ),
            "onnxruntime=1.32",
            None,
            "not judged: 1 node of EyeLike with attributes that the kernel may refuse",
        ),
        (
            RELU.replace(b"input {", b'input { name: "z" type { tensor_type { elem_type: 14 } } } input {', 1),
            "onnxruntime=1.32",
            None,
            "not judged: 1 input of a type that the release may not have",
        ),
        (TWICE, "onnx.full_check", None, "not proven to accept it: 1 violation of ONNX"),
        (UNDEFINED, "onnx.full_check", None, "not proven to accept it: 1 violation of ONNX"),
        (SPARSE, "openvino=2026.4", None, "not judged: 1 sparse initializer"),
        (SPARSE, "onnxruntime=1.32", True, "loads, as far as its data say"),
        (LOOSE, "openvino=2026.4", None, "not proven to load it: 1 violation of ONNX"),
        (LOOSE, "onnxruntime=1.18", False, "1.17.3 and 1.20.1 refuse it"),
    ],
)
def test_a_program_loads_refuses_or_was_not_judged(model: bytes, target: str, loads: bool | None, said: str) -> None:
    (verdict,) = onnx_lint.lint(model, target=target).files[0].targets
    assert (verdict.loads, verdict.text) == (loads, said)


@pytest.mark.parametrize(
    ("sizes", "target", "loads"),
    [
        ("4,2,8 4,3", "1.20", True),
        ("4,2,8 4,3", "1.23", None),
        ("4,2,9 4,2", "1.17", True),
        ("4,2,8 4,2", "1.32", True),
    ],
)
def test_a_release_runs_what_only_later_ones_compare(sizes: str, target: str, loads: bool | None) -> None:
    """MatMulNBits compares weights and scales with its blocks from 1.23 on."""
    weights, scales = sizes.split()
    model = f"""<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]>
        g (float[3, 32] x, uint8[{weights}] w, float[{scales}] s) => (float[3, 4] y)
        {{ y = com.microsoft.MatMulNBits<K=32, N=4, block_size=16, bits=4>(x, w, s) }}"""
    found = onnx_lint.lint(onnx.parser.parse_model(model), target=f"onnxruntime={target}", ignore="hygiene").files[0]
    assert found.targets[0].loads is loads


@pytest.mark.parametrize(("bits", "target", "loads"), [(4, "1.20", True), (8, "1.20", False), (8, "1.23", True)])
def test_a_release_refuses_a_value_that_only_later_ones_have(bits: int, target: str, loads: bool) -> None:
    model = f"""<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]>
        g (float[3, 32] x, uint8[4,1,{4 * bits}] w, float[4] s) => (float[3, 4] y)
        {{ y = com.microsoft.MatMulNBits<K=32, N=4, block_size=32, bits={bits}>(x, w, s) }}"""
    found = onnx_lint.lint(onnx.parser.parse_model(model), target=f"onnxruntime={target}", ignore="hygiene").files[0]
    assert found.targets[0].loads is loads


@pytest.mark.parametrize(("target", "warnings"), [("1.23", 1), ("1.32", 0)])
def test_a_release_loads_what_it_refuses_at_each_run(target: str, warnings: int) -> None:
    """Attention without a bias ends the process of a run before 1.32. A node in a branch may not run."""
    node = "y = com.microsoft.Attention<num_heads=2>(x, w)"
    for body, expected in (
        (node, warnings),
        (f"z = If (c) <then_branch = a () => (y) {{ {node} }}, else_branch = b () => (y) {{ y = Identity (x) }}>", 0),
    ):
        model = f"""<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]>
            g (float[2, 3, 16] x, float[16, 48] w, bool c) => (float[2, 3, 16] {body[0]}) {{ {body} }}"""
        found = onnx_lint.lint(onnx.parser.parse_model(model), target=f"onnxruntime={target}", ignore="hygiene").files[
            0
        ]
        assert [each.severity.label for each in found.diagnostics if each.clause == "PRD-7"] == ["warning"] * expected
        assert found.targets[0].loads is True


@pytest.mark.parametrize(
    ("attributes", "clause"),
    [("N = 4, bits = 4, block_size = 16", "NOD-7"), ("K = 32, N = 4, bits = 3, block_size = 16", "NOD-7b")],
)
@pytest.mark.parametrize("place", ["main", "function"])
def test_the_checks_of_onnx_accept_signatures_that_they_do_not_know(attributes: str, clause: str, place: str) -> None:
    node = f"y = com.microsoft.MatMulNBits<{attributes}>(x, w, s)"
    body, function = (node, "") if place == "main" else ("y = acme.F(x, w, s)", FUNCTION % node)
    model = f"""<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1, "acme": 1]>
        g (float[3, 32] x, uint8[4, 2, 8] w, float[4, 2] s) => (float[3, 4] y) {{ {body} }} {function}"""
    report = onnx_lint.lint(onnx.parser.parse_model(model), target=["onnx.checker", "onnx.full_check"])
    assert clause in {each.clause for each in report.diagnostics}
    assert [each.loads for each in report.files[0].targets] == [True, True]


FUNCTION = '<domain: "acme", opset_import: ["": 17, "com.microsoft": 1]> F (x, w, s) => (y) { %s }'


ATTENTION = """<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]>
    g (float[2, 3, 16] x, float[16, 48] w, float[48] b, int32[2, 1, 8, 8] m) => (float[2, 3, 16] y) { %s }"""


def runs(text: str, target: str) -> list[str]:
    """Return the messages about runs that fail in a release of ONNX Runtime, without the node."""
    found = onnx_lint.lint(onnx.parser.parse_model(text), target=f"onnxruntime={target}", ignore="hygiene")
    return [each.message.partition(" has ")[2] for each in found.diagnostics if each.clause == "PRD-7"]


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ("1.18", "onnxruntime 1.20.1 on CPUs fails; each run of 1.17.3 fails as well"),
        ("1.30", "onnxruntime 1.23.2 on CPUs fails; 1.32.0 runs it, and onnxruntime 1.30 is between them"),
    ],
)
def test_runs_that_fail_in_two_neighbours_or_in_one(target: str, expected: str) -> None:
    found = runs(ATTENTION % "y = com.microsoft.Attention<num_heads = 2>(x, w)", target)
    assert found == [f"no input 'bias', with which each run of {expected}"]


@pytest.mark.parametrize("first", ["", 'a = com.microsoft.MoE<k = 1, activation_type = "silu">(x, r, f,, g)'])
def test_a_neighbour_refuses_a_node_whose_runs_fail_in_the_other(first: str) -> None:
    """ONNX Runtime 1.20.1 has no kernel for MoE on CPUs."""
    text = f"""<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]>
        g (float[2, 4] x, float[2, 3] r, float[3, 8, 4] f, float[3, 4, 8] g, float[3, 8, 4] h) => (float[2, 4] y)
        {{ {first} y = com.microsoft.MoE<k = 1, activation_type = "silu">({"a" if first else "x"}, r, f,, g,, h) }}"""
    (run,) = runs(text, "1.22")
    assert run.endswith("onnxruntime 1.23.2 on CPUs fails; 1.20.1 refuses it, and onnxruntime 1.22 is between them")
    report = onnx_lint.lint(onnx.parser.parse_model(text), target="onnxruntime=1.22")
    (refusal,) = [each.message for each in report.diagnostics if each.clause == "PRD-5"]
    does = "does not refuse it" if first else "each run of 1.23.2 fails"
    assert does in refusal
    assert report.files[0].targets[0].text.startswith("1.20.1 refuses it: 1 cause; 1.23.2 loads")
    assert not runs(text, "1.20")


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [("2, 3", " fails"), ("2, n", " fails if input 0 has elements"), ("0, 3", ""), ("2, 0", "")],
)
def test_a_run_that_computes_nothing_may_not_fail(sizes: str, expected: str) -> None:
    """ONNX Runtime but for 1.23 ignores a mask of 4 dimensions if there are no elements."""
    text = ATTENTION.replace("2, 3", sizes) % "y = com.microsoft.Attention<num_heads = 2>(x, w, b, m)"
    found = runs(text, "1.32")
    start = "input 'mask_index' with 4 dimensions, with which each run of onnxruntime 1.32.0 on CPUs"
    assert found == ([start + expected] if expected else [])
    text = ATTENTION.replace("2, 3", sizes) % "y = com.microsoft.Attention<num_heads = 2, do_rotary = 1>(x, w, b)"
    assert [each.endswith("on CPUs fails") for each in runs(text, "1.32")] == [True]


def test_nodes_that_nothing_reads_run() -> None:
    node = "z = com.microsoft.Attention<num_heads = 2, do_rotary = 1>(x, w, b)"
    assert len(runs(ATTENTION % f"{node} y = Relu(x)", "1.32")) == 1
    assert not runs(ATTENTION % f"{node} s = Shape(z) y = Reshape(x, s)", "1.32")  # Shape is computed before


@pytest.mark.parametrize(
    ("batch", "reader", "count"),
    [
        ("2", "s = Shape(z)", 0),
        ("b", "s = Shape(z)", 1),
        ("b", "q = Shape(z) s = Shape(q)", 0),
        ("2", "n = Size(z) s = Unsqueeze(n, i)", 1),
        ("b", "s = acme.Shape(z)", 1),
        ("b", "q = Identity(z) s = Shape(q)", 1),
        ("2", "q = Identity(z) s = Shape(q)", 0),
        ("2", "q = Relu(z) r = Neg(q) n = Size(r) s = Unsqueeze(n, i)", 1),
        ("2", "q = Relu(z) s = Identity(i)", 1),
        ("2", "q = Shape(z) s = Identity(i)", 0),
        ("2", "n = Size(z) s = Shape(n)", 0),
        ("2", "s = acme.F(z)", 0),
    ],
)
def test_nodes_whose_shape_only_the_run_knows_run(batch: str, reader: str, count: int) -> None:
    """A run with each of these was tried in the known releases, but for those with nodes of acme."""
    text = f"""<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1, "acme": 1]>
        g (float[{batch}, 3, 16] x, float[16, 48] w, float[48] b, int64[1] i) => (int64[k] t)
        {{ z = com.microsoft.Attention<num_heads = 2, do_rotary = 1>(x, w, b) {reader} t = Neg(s) }}
        <domain: "acme", opset_import: ["": 17]> F (z) => (s) {{ s = Shape(z) }}"""
    assert len(runs(text, "1.32")) == count


@pytest.mark.parametrize(("declared", "count"), [("", 1), ("float[2, 3, 16] z", 0)])
def test_the_shape_of_attention_without_a_bias_is_known_if_it_is_stated(declared: str, count: int) -> None:
    """ONNX Runtime infers none, so that it runs the Shape."""
    stated = f"<{declared}>" if declared else ""
    text = f"""<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]>
        g (float[2, 3, 16] x, float[16, 48] w) => (int64[3] y) {stated}
        {{ z = com.microsoft.Attention<num_heads = 2>(x, w) y = Shape(z) }}"""
    assert len(runs(text, "1.23")) == count


@pytest.mark.parametrize(("sizes", "count"), [("2, 3", 1), ("0, 3", 1), ("2, 0", 0), ("0, 0", 0), ("n, 3", 1)])
def test_quantized_attention_with_a_mask_fails_for_no_batch_as_well(sizes: str, count: int) -> None:
    text = f"""<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]>
        g (uint8[{sizes}, 8] x, uint8[8, 24] w, float[24] b, float s, float t, int32[n, 1, 3, 3] m) =>
        (float[i, j, k] y)
        {{ y = com.microsoft.QAttention<num_heads = 2>(x, w, b, s, t, m) }}"""
    assert [each.endswith("on CPUs fails") for each in runs(text, "1.32")] == [True] * count


def test_what_is_said_of_runs_has_a_source_of_its_own() -> None:
    text = ATTENTION % "y = com.microsoft.Attention<num_heads = 2, do_rotary = 1>(x, w, b)"
    found = onnx_lint.lint(onnx.parser.parse_model(text), target="onnxruntime=1.32").diagnostics
    (run,) = [each for each in found if each.clause == "PRD-7"]
    assert run.anchor.startswith("runs of the package onnxruntime")
    assert run.allowed == "a node that onnxruntime 1.32.0 runs on CPUs"


def test_one_of_two_neighbours_refuses_with_a_warning_that_names_both() -> None:
    report = onnx_lint.lint(NEWER, target="onnxruntime=1.18")
    assert [(item.clause, item.severity.label) for item in report.diagnostics] == [("PRD-5", "warning")] * 2
    assert report.diagnostics[0].message == (
        "the model states IR version 10, which onnxruntime 1.17.3 does not read; "
        "1.20.1 does not refuse it, and onnxruntime 1.18 is between them"
    )
    (both, *_) = onnx_lint.lint(ACME, target="onnxruntime=1.25").errors
    assert both.message.endswith("; 1.23.2 refuses it as well")


REFUSED_TWICE = (
    RELU.replace(b"ir_version: 8", b"ir_version: 9")
    .replace(b"version: 16", b"version: 21")
    .replace(b"Relu", b"Elu")
    .replace(b"elem_type: 1", b"elem_type: 11")
)
"""1.17.3 does not have the operator set, and 1.20.1 has no kernel. 1.18.1 refuses it as well."""


def test_what_both_neighbours_refuse_for_other_causes_is_an_error() -> None:
    report = onnx_lint.lint(REFUSED_TWICE, target="onnxruntime=1.18")
    assert report.files[0].targets[0].text == "1.17.3 and 1.20.1 refuse it"
    assert [(item.clause, item.severity.label) for item in report.diagnostics] == [("PRD-5", "error")] * 2
    assert {item.message.split("; ")[1].partition(",")[0] for item in report.diagnostics} == {
        "1.20.1 refuses the model for another cause",
        "1.17.3 refuses the model for another cause",
    }
    weak = onnx_lint.lint(REFUSED_TWICE, {"severity": {RULE: "warning"}}, target="onnxruntime=1.18")
    assert {item.severity.label for item in weak.diagnostics} == {"warning"}


RULE = "unsupported-by-product"


def test_a_file_that_was_not_examined_leaves_the_question_open() -> None:
    weight = b"""initializer { name: "w" data_type: 1 dims: 2 data_location: EXTERNAL
        external_data { key: "location" value: "w.bin" } } input { name: "x" """
    model = RELU.replace(b'input { name: "x" ', weight, 1)
    (verdict,) = onnx_lint.lint(model, target="onnxruntime=1.32", ignore="hygiene").files[0].targets
    assert verdict.loads is None
    assert verdict.text.startswith("not judged: the files of external data were not examined")


def test_of_many_domains_the_first_are_named() -> None:
    domains = [f"com.acme{index}" for index in range(9)]
    nodes = "".join(f'node {{ op_type: "Op" domain: "{each}" input: "x" output: "v{each}" }}' for each in domains)
    imports = "".join(f'opset_import {{ domain: "{each}" version: 1 }}' for each in domains)
    model = imports.encode() + RELU.replace(b"node {", f"{nodes} node {{".encode(), 1)
    (verdict,) = onnx_lint.lint(model, target="tensorrt=10.15").files[0].targets
    assert verdict.text == "not judged: " + "".join(f"1 node of com.acme{index}; " for index in range(5)) + "4 more"


@pytest.mark.parametrize(
    ("model", "target", "codes"),
    [
        (RELU, ["tensorrt=10.15"], (0, 0, 0)),
        (ACME, ["tensorrt=10.15"], (0, 0, 1)),
        (LOOSE, ["openvino=2026.4"], (0, 1, 1)),
        (LOOSE, ["openvino=2026.4", "onnx"], (1, 1, 1)),
        (ACME, ["onnxruntime=1.32"], (1, 1, 1)),
        (NEWER, ["onnxruntime=1.18"], (0, 0, 1)),
        (REFUSED_TWICE, ["onnxruntime=1.18"], (1, 1, 1)),
    ],
)
def test_a_gate_is_red_for_a_refusal_a_violation_or_anything_that_is_not_proven(
    model: bytes, target: list[str], codes: tuple[int, int, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.textproto").write_bytes(model)
    options = [option for name in target for option in ("--target", name)]
    for gate, code in zip(TARGET_GATES, codes, strict=True):
        assert run([str(tmp_path / "m.textproto"), *options, "--target-gate", gate]) == code
        report = onnx_lint.lint(model, {"target_gate": gate}, target=target)  # type: ignore[typeddict-item]  # one of them
        assert report.passes is (code == 0)
        assert report.conforms is onnx_lint.lint(model).conforms
    assert run([str(tmp_path / "m.textproto"), *options, "--target-gate", "unproven", "--fail-on", "never"]) == 0
    capsys.readouterr()


def test_the_weakest_gate_is_red_for_a_file_that_is_no_model_and_for_missing_data(tmp_path: Path) -> None:
    (tmp_path / "broken.onnx").write_bytes(b"\x08\x08\x3a\x7f\x0a")
    weight = b"""initializer { name: "w" data_type: 1 dims: 2 data_location: EXTERNAL
        external_data { key: "location" value: "gone" } } input { name: "x" """
    (tmp_path / "m.textproto").write_bytes(RELU.replace(b'input { name: "x" ', weight, 1))
    for name in ("broken.onnx", "m.textproto"):
        assert run([str(tmp_path / name), "--target", "openvino=2026.4", "--target-gate", "refused"]) > 0, name


def test_each_form_and_standard_error_say_why_the_gate_is_red(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.textproto").write_bytes(ACME)
    command = [str(tmp_path / "m.textproto"), "--target", "tensorrt=10.15", "--target-gate", "unproven"]
    said = "1 node of com.acme"
    for name in REPORTERS:
        assert run([*command, "-f", name]) == 1
        captured = capsys.readouterr()
        out = captured.out.replace("&#46;", ".")
        assert (said in out, name) == (name != "concise", name)
        assert (f"tensorrt 10.15: not judged: {said}" in captured.err) == (name != "text"), name


VERSIONS = ("--target", "ir=10", "--target", "ai.onnx=20")


@pytest.mark.parametrize(
    ("targets", "code", "lines"),
    [
        (VERSIONS, 0, [
            "IR version 10: supports all fields and types that the model uses",
            "ai.onnx 20: supports all operators that the model uses",
        ]),
        (("--target", "ir=7", "--target", "ai.onnx=12"), 1, [
            "IR version 7: does not support the model: 1 cause",
            "ai.onnx 12: does not support the model: 1 cause",
        ]),
        (("--target", "com.acme=1"), 0, ["com.acme 1: not judged: 1 node with an unknown operator"]),
        (("--target", "com.acme=1", "--target-gate", "unproven"), 1, [
            "com.acme 1: not judged: 1 node with an unknown operator",
        ]),
        ((*VERSIONS, "--ignore", "target"), 0, [
            "IR version 10: not judged: the rule unsupported-by-target did not run",
            "ai.onnx 20: not judged: the rule unsupported-by-target did not run",
        ]),
    ],
)  # fmt: skip
def test_each_version_has_a_line(
    targets: Sequence[str], code: int, lines: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.textproto").write_bytes(ACME)
    assert run([str(tmp_path / "m.textproto"), *targets]) == code
    out = capsys.readouterr().out
    said = re.findall(r"^   = ((?:IR version|ai\.onnx|com\.acme) \d+: .*)", out, re.MULTILINE)
    assert said == lines


def test_a_version_of_several_files_has_a_line_and_what_could_not_be_read_is_not_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.textproto").write_bytes(ACME)
    Path("b.textproto").write_bytes(ACME.replace(b"ir_version: 8", b"ir_version: 11"))
    Path("cut.onnx").write_bytes(b"\x08\x08\x3a\x7f\x0a")
    assert run(["-q", "a.textproto", "b.textproto", "cut.onnx", "--target", "ir=10"]) == 1
    assert (
        "   = IR version 10: supports 1; does not support 1 (b.textproto); "
        "not proven to support 1 (cut.onnx): not judged: the model could not be read\n"
    ) in capsys.readouterr().out


def test_each_form_says_of_a_green_run_what_a_program_did_not_judge(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.textproto").write_bytes(ACME)
    for name in REPORTERS:
        assert run([str(tmp_path / "m.textproto"), "--target", "tensorrt=10.15", "-f", name]) == 0
        captured = capsys.readouterr()
        said = captured.out.replace("&#46;", ".").count("not judged: 1 node of com.acme")
        if name == "concise":  # its report has nothing but findings
            said += captured.err.count("not judged: 1 node of com.acme")
        assert said == 1, name
        assert ("tensorrt" in captured.err) == (name == "concise"), name


@each_case("program", ["onnxruntime=1.32", "openvino=2026", "onnx.checker", "onnx.full_check"])
def test_a_sparse_tensor_in_a_file_of_its_own_has_a_verdict(program: str) -> None:
    """It has no graph around it."""
    path = FIXTURES / "sparse-index-out-of-range/valid/the_last_index_of_a_sparse_tensor_by_itself.textproto"
    report = onnx_lint.lint(path, {"proto": "SparseTensorProto"}, target=program)
    assert report.files[0].internal_errors == ()
    assert report.conforms
