# SPDX-License-Identifier: Apache-2.0
"""What is advised of standard operators, each tried with a model that ONNX Runtime runs, or refuses.

A warning is a warning: only a text forbids the model, or only consumers do. Which of the two, and thereby what the
message says of consumers, is what the newest release does with it.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

import onnx.parser
import pytest
from support.processes.runtime_process import RuntimeProcess
from support.project.checkout import ROOT

from onnx_lint import lint

_RUNS, _REFUSED = "runs", "refused"
_WEIGHTS: Final = "float[1,1,2] x, float[1,{0},2] w, float[1,{0},2] r"

REMARKS: Final = [
    (
        "compare_empty",
        "agraph (float[3,4] x, float[M] u) => (float[3,n] y) <int64[1] zero = {0}, int64[1] one = {1}> "
        "{ m = Shape(u) c = Min(m, zero) d = Concat<axis=0>(one, c) e = ConstantOfShape(d) y = Concat<axis=1>(e, x) }",
        _RUNS,
    ),
    ("divide_all", "agraph (int32[2] x) => (int32[2] y) <int32[2] z = {1, 0}> { y = Div(x, z) }", _REFUSED),
    ("divide_all", "agraph (int32[2] x) => (int32[2] y) <int32[2] z = {1, 0}> { y = Mod(x, z) }", _REFUSED),
    ("divide_all", "agraph (int64[2] x) => (int64[2] y) <int64 z = {0}> { y = Mod<fmod=1>(x, z) }", _REFUSED),
    ("bernoulli", "agraph () => (float[2] y) <float[2] z = {0.5, 2}> { y = Bernoulli(z) }", _RUNS),
    ("mean_variance", "agraph (float[2,3,4] x) => (float[2,3,4] y) { y = MeanVarianceNormalization(x) }", _RUNS),
    (
        "_check_region_of_crop",
        "agraph (float[1,1,2,2] x) => (float[1,1,4,4] y) <float[4] s = {1,1,2,2}> "
        '{ y = Resize<coordinate_transformation_mode="tf_crop_and_resize">(x, , s) }',
        _RUNS,
    ),
    (
        "_check_distinct_places",
        "agraph (float[3] x, float[2] u) => (float[3] y) <int64[2] i = {1, 1}> { y = ScatterElements(x, i, u) }",
        _RUNS,
    ),
    (
        "_check_distinct_places",
        "agraph (float[3] x, float[2] u) => (float[3] y) <int64[2,1] i = {1, 1}> { y = ScatterND(x, i, u) }",
        _RUNS,
    ),
    (
        "vectorizer",
        "agraph (float[2,3,4] x) => (float[2,12] y) { y = ai.onnx.ml.FeatureVectorizer<inputdimensions=[12]>(x) }",
        _RUNS,
    ),
    (
        "_below",
        f"agraph ({_WEIGHTS.format(8)}) => (float[1,1,1,2] y) {{ y = LSTM<hidden_size=2, clip=0.0>(x, w, r) }}",
        _REFUSED,
    ),
    (
        "_below",
        f"agraph ({_WEIGHTS.format(6)}) => (float[1,1,1,2] y) {{ y = GRU<hidden_size=2, clip=0.0>(x, w, r) }}",
        _REFUSED,
    ),
    (
        "_missized",
        "agraph () => (float[2] y) <int64[1] s = {2}> { y = ConstantOfShape<value=float c {1}>(s) }",
        _REFUSED,
    ),
    ("multinomial", "agraph (float[1,3] x) => (int32[1,n] y) { y = Multinomial<sample_size=0>(x) }", _REFUSED),
    (
        "_check_replaced_value",
        "agraph (int32[2,3] x) => (int32[2,3] y) "
        "{ y = ai.onnx.ml.Imputer<imputed_value_int64s=[1], replaced_value_int64=4294967296>(x) }",
        _REFUSED,
    ),
    (
        "_check_replaced_value",
        "agraph (int64[2,3] x) => (int64[2,3] y) "
        "{ y = ai.onnx.ml.Imputer<imputed_value_int64s=[1], replaced_value_float=2.0>(x) }",
        _RUNS,
    ),
    (
        "_are_concatenated",
        "agraph (float[2,0] a, float[3,4] b) => (float[n,m] y) "
        "{ s = SequenceConstruct(a, b) y = ConcatFromSequence<axis=1>(s) }",
        _RUNS,
    ),
    (
        "_compare_mirrored",
        'agraph (float[3,4] x) => (float[n,m] y) <int64[4] p = {0,0,3,0}> { y = Pad<mode="reflect">(x, p) }',
        _REFUSED,
    ),
    (
        "_compare_pads",
        "agraph (float[1,1,4] x) => (float[1,1,n] y) { y = MaxPool<kernel_shape=[2], pads=[2, 0]>(x) }",
        _REFUSED,
    ),
    ("_equation", 'agraph (float[2,3] x) => (float[3] y) { y = Einsum<equation="...i->i">(x) }', _REFUSED),
]
"""The function that makes a warning, a model with it, and what ONNX Runtime does with the model."""


def _makers(path: Path) -> set[str]:
    """Return the functions of a module that make warnings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = set()
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            calls = [each for each in ast.walk(function) if isinstance(each, ast.Call)]
            words = {word.arg for each in calls for word in each.keywords if isinstance(word.value, ast.Constant)}
            names = {each.func.id for each in calls if isinstance(each.func, ast.Name)}
            if "Warned" in names or words & {"is_allowed", "is_taken"}:
                found.add(function.name)
    return found


def test_each_remark_on_a_standard_operator_is_tried() -> None:
    rules = ROOT / "onnx_lint" / "inference" / "shapes" / "rules"
    paths = [each for each in rules.glob("*.py") if not each.name.startswith("contrib_")]
    makers = set[str]().union(*map(_makers, [*paths, ROOT / "onnx_lint" / "ir" / "operators" / "attribute_faults.py"]))
    assert makers == {maker for maker, _, _ in REMARKS}


@pytest.mark.differential
def test_onnx_runtime_does_what_is_said_of_it(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="no part of the development packages")
    path = tmp_path / "model.onnx"
    wrong = []
    with RuntimeProcess() as runtime:
        for maker, graph, expected in REMARKS:
            imports = '"" : 18, "ai.onnx.ml" : 3'
            model = onnx.parser.parse_model(f"<ir_version: 9, opset_import: [{imports}]>\n{graph}")
            path.write_bytes(model.SerializeToString())
            found = [each for each in lint(path).diagnostics if each.rule != "unused-opset-import"]
            answer = "".join(runtime.answer(path) or ("crash",))
            if [each.severity.label for each in found] != ["warning"] or (_REFUSED if answer else _RUNS) != expected:
                wrong.append(f"{maker} {graph}: {[each.message for each in found]}, {answer.strip()[-200:] or _RUNS}")
            says_refused = any(words in each.message for each in found for words in ("refuse", "has no result"))
            if says_refused and not answer:
                wrong.append(f"{maker}: {found[0].message}")
    assert wrong == []
