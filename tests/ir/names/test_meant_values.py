# SPDX-License-Identifier: Apache-2.0
"""The values that an undefined name may mean."""

from __future__ import annotations

import onnx.parser
import pytest

from onnx_lint.input.source import BytesSource
from onnx_lint.ir.names.meant_values import (
    MAX_ALIKE,
    MAX_NAMES,
    MAX_UNUSED,
    Candidates,
    MeantValues,
    WantedValue,
    is_weight,
)
from onnx_lint.loader import load

LOST = frozenset({"lost", "q", "v"})

TEXT = """
<ir_version: 10, opset_import: ["": 21]>
g (float[4] x, int64[4] ids, bool c) => (float[4] y) {{
    spare = Relu(x)
    y = If(c) <then_branch = t () => (float[4] a) {{ own = Neg(x) a = Neg(lost) }},
               else_branch = e () => (float[4] b) {{ b = Abs(x) }}>
    {late}
}}"""


def _values(late: str = ""):
    text = TEXT.format(late=late)
    model = load(BytesSource(onnx.parser.parse_model(text).SerializeToString()))
    values = MeantValues(model.uses, lambda name, graph: model.value_flow.fact_of(name, graph).kind)
    return values, model.main_graph, model.main_graph.nested[0]


def test_a_branch_sees_the_unused_values_before_it():
    values, _, branch = _values("late = Relu(x)")
    assert values.candidates_for("lost", branch, WantedValue(), LOST) == Candidates(None, ("own", "ids", "spare"))
    assert values.candidates_for("lost", branch, WantedValue(frozenset({"tensor(int64)"})), LOST) == Candidates(
        None, ("ids",)
    )
    assert values.candidates_for("lost", branch, WantedValue(frozenset({"tensor(float)"})), LOST) == Candidates(
        None, ("own", "spare")
    )


def test_many_unused_values_are_unused_on_purpose():
    values, main, _ = _values(" ".join(f"u{index} = Relu(x)" for index in range(MAX_ALIKE)))
    assert values.candidates_for("lost", main, WantedValue(frozenset({"tensor(float)"})), LOST) == Candidates()
    assert values.candidates_for("lost", main, WantedValue(frozenset({"tensor(int64)"})), LOST) == Candidates(
        None, ("ids",)
    )
    values, main, _ = _values(" ".join(f"u{index} = Relu(x)" for index in range(MAX_UNUSED)))
    assert values.candidates_for("lost", main, WantedValue(frozenset({"tensor(int64)"})), LOST) == Candidates()


def test_the_nearest_name_is_an_unused_one():
    values, _, branch = _values("sparee = Relu(x) z = Relu(sparee)")
    assert values.candidates_for("spar", branch, WantedValue(frozenset({"tensor(float)"})), LOST) == Candidates(
        "spare", ("own",)
    )


def test_the_search_is_made_for_a_few_names():
    values, _, branch = _values()
    found = [values.candidates_for("spar", branch, WantedValue(), LOST).misspelt for _ in range(MAX_NAMES + 1)]
    assert found == [*["spare"] * MAX_NAMES, None]


def test_names_of_several_graphs_may_lack_one_prefix():
    values, main, branch = _values()
    affix = values.renaming([("pare", main), ("ds", branch)])
    assert affix is None
    affix = values.renaming([("re", main), ("wn", branch)])
    assert affix is None
    affix = values.renaming([("model/spare", main), ("model/ids", branch)])
    assert affix is not None
    assert affix.describe(2) == "2 names have the prefix 'model/' too much"
    assert values.renaming([("model/spare", main)]) is None


WEIGHTS = """
<ir_version: 10, opset_import: ["": 21]>
g (float[4] x) => (float[4] y) <float[4] w = {1, 2, 3, 4}, int64[1] four = {4}> {
    passed = Identity(w)
    cast = Cast<to = 1>(passed)
    filled = ConstantOfShape(four)
    constant = Constant<value = float {1}>()
    z = Add(x, w)
    y = Relu(z)
}"""


def test_what_passes_an_initializer_is_a_weight():
    graph = load(BytesSource(onnx.parser.parse_model(WEIGHTS).SerializeToString())).main_graph
    names = ["w", "passed", "cast", "filled", "constant", "z", "x", "unknown"]
    assert [is_weight(name, graph) for name in names] == [True] * 5 + [False] * 3


def test_the_names_that_all_searches_look_at_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("onnx_lint.ir.names.meant_values.MAX_COMPARED", 3)
    values, main, _ = _values()
    found = [values.candidates_for("lost", main, WantedValue(), LOST) for _ in range(3)]
    assert found == [Candidates(None, ("ids", "spare"))] * 2 + [Candidates()]
