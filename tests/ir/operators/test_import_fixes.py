# SPDX-License-Identifier: Apache-2.0
"""The version of an import that is added is the newest one that all nodes allow."""

from __future__ import annotations

import pytest

from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.operators.import_fixes import ImportFixes
from onnx_lint.loader import load
from onnx_lint.model import Model
from onnx_lint.model.import_proposals import other_version

RELU = 'node { op_type: "Relu" input: "x" output: "y" }'
UPSAMPLE = 'node { op_type: "Upsample" input: "x" input: "s" output: "z" }'
SCALER = 'node { op_type: "Scaler" domain: "ai.onnx.ml" input: "x" output: "y" }'


def _fix(text: str, domains: list[str], ir_version: int = 10, *, is_of_function: bool = False) -> str | None:
    model: Model = load(BytesSource(f"ir_version: {ir_version} {text}".encode()), "model.textproto")
    fixes = ImportFixes(model.graphs, model.operators, model.imports, model.effective_ir_version)
    fix = fixes.importing(domains, model.functions[0] if is_of_function else None)
    assert isinstance(fix, str) or len(fix.edits) == len(domains)
    return None if isinstance(fix, str) else fix.message


@pytest.mark.parametrize(
    ("ir_version", "nodes", "expected"),
    [
        (10, RELU, "22"),
        (9, RELU, "20"),
        (14, RELU, "28"),
        (99, RELU, "28"),
        (3, RELU, "8"),
        (10, f"{RELU} {UPSAMPLE}", "9"),
        (10, "", "22"),
        (10, RELU.replace("Relu", "Nothing"), None),
    ],
)
def test_the_newest_version_of_onnx(ir_version: int, nodes: str, expected: str | None):
    found = _fix(f"graph {{ {nodes} }}", [""], ir_version)
    assert found == (None if expected is None else f"import 'ai.onnx' {expected}")


def test_all_domains_or_none():
    assert _fix(f"graph {{ {RELU} {SCALER} }}", ["", "ai.onnx.ml"]) == "import 'ai.onnx' 22 and 'ai.onnx.ml' 5"
    odd = RELU.replace('"Relu"', '"Relu" domain: "odd"')
    assert _fix(f"graph {{ {SCALER} {odd} }}", ["ai.onnx.ml", "odd"]) is None


@pytest.mark.parametrize(("stated", "expected"), [(13, "13"), (9, "9"), (20, "20")])
def test_a_function_gets_the_version_of_the_model(stated: int, expected: str):
    text = f'opset_import {{ version: {stated} }} functions {{ name: "F" domain: "f" {RELU} }}'
    assert _fix(text, [""], is_of_function=True) == f"import 'ai.onnx' {expected}"


def test_a_function_whose_nodes_do_not_allow_it_gets_none():
    text = f'opset_import {{ version: 13 }} functions {{ name: "F" domain: "f" {UPSAMPLE} }}'
    assert _fix(text, [""], is_of_function=True) is None


@pytest.mark.parametrize(("versions", "expected"), [((3, 3), "3"), ((3, 4), "7")])
def test_the_domain_of_a_function_gets_the_version_of_the_others(versions: tuple[int, int], expected: str):
    text = "".join(
        f'functions {{ name: "F" domain: "{domain}" opset_import {{ domain: "c" version: 7 }} }}' for domain in "abc"
    )
    text += "".join(
        f' opset_import {{ domain: "{domain}" version: {version} }}'
        for domain, version in zip("ab", versions, strict=True)
    )
    assert _fix(text, ["c"]) == f"import 'c' {expected}"


def test_no_other_domain_is_suggested_for_one_of_the_own_functions():
    functions = "".join(
        f'functions {{ name: "F" domain: "{domain}" input: "a" output: "b" opset_import {{ version: 21 }} '
        'node { op_type: "Relu" input: "a" output: "b" } }'
        for domain in ("my.f2", "my.f3")
    )
    text = f"""ir_version: 10 opset_import {{ version: 21 }} opset_import {{ domain: "my.f2" version: 1 }} {functions}
        graph {{ name: "g" node {{ op_type: "F" domain: "my.f3" output: "y" }} }}"""
    found = lint_source(BytesSource(text.encode()), "model.textproto", Settings()).diagnostics
    messages = [each.message for each in found if each.rule == "missing-opset-import"]
    assert ["did you mean" in each for each in messages] == [False]


SQUEEZE = 'node { op_type: "Squeeze" input: "x" input: "a" output: "s" }'
OLD_SQUEEZE = 'node { op_type: "Squeeze" input: "x" output: "o" attribute { name: "axes" ints: 0 type: INTS } }'
OLD_SPLIT = 'node { op_type: "Split" input: "x" output: "p" attribute { name: "split" ints: 1 type: INTS } }'
SOFTMAX = 'node { op_type: "Softmax" input: "x" output: "q" AXIS }'
MEAN = 'node { op_type: "ReduceMean" input: "x" output: "m" attribute { name: "axes" ints: 0 type: INTS } }'
FUNCTION = 'functions { name: "F" domain: "f" node { op_type: "Relu" input: "x" output: "y" } IMPORT }'


def _axis(axis: int) -> str:
    return SOFTMAX.replace("AXIS", f'attribute {{ name: "axis" i: {axis} type: INT }}')


@pytest.mark.parametrize(
    ("imported", "nodes", "version"),
    [
        (12, SQUEEZE, 13),
        (13, SQUEEZE, None),  # all fit
        (3, SQUEEZE, 13),
        (12, f'{SQUEEZE} node {{ op_type: "Gelu" input: "x" output: "g" }}', 20),
        (12, f'{SQUEEZE} {MEAN} node {{ op_type: "Gelu" input: "x" output: "g" }}', None),
        (12, SQUEEZE + SOFTMAX.replace("AXIS", ""), 13),  # of rank 2, as below
        (12, SQUEEZE + _axis(-1), 13),
        (12, SQUEEZE + _axis(1), 13),
        (12, SQUEEZE + _axis(0), None),
        (12, SQUEEZE + 'node { op_type: "Nothing" input: "x" output: "n" }', 13),
        (13, OLD_SQUEEZE, None),  # a single operator
        (13, OLD_SQUEEZE + OLD_SPLIT, 12),
        (13, OLD_SQUEEZE + OLD_SPLIT + SQUEEZE, None),
        (6, 'node { op_type: "Upsample" input: "x" output: "y" attribute { name: "mode" s: "a" type: STRING } }', None),
    ],
)
def test_the_version_in_place_of_an_imported_one(imported: int, nodes: str, version: int | None):
    x = 'input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 3 } } } } }'
    text = f"ir_version: 10 opset_import {{ version: {imported} }} graph {{ {x} {nodes} }}"
    model: Model = load(BytesSource(text.encode()), "model.textproto")
    other = other_version(model, "")
    assert (None if other is None else other.version) == version


@pytest.mark.parametrize(("imported", "version"), [(12, None), (13, 13), (14, None)])
def test_functions_must_import_the_same_version(imported: int, version: int | None):
    function = FUNCTION.replace("IMPORT", f"opset_import {{ version: {imported} }}")
    text = f"ir_version: 10 opset_import {{ version: 12 }} graph {{ {SQUEEZE} }} {function}"
    model: Model = load(BytesSource(text.encode()), "model.textproto")
    other = other_version(model, "")
    assert (None if other is None else other.version) == version
