# SPDX-License-Identifier: Apache-2.0
"""Generated models: their content, the oracles with a fault for each, and the run."""

from __future__ import annotations

import os
import time
from collections import Counter
from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnx.parser
import pytest
from onnx import ModelProto
from support.project.checkout import ROOT

from fuzz.models import oracle, worker
from fuzz.models.builder import Generated
from fuzz.models.explained import (
    EXPLAINED,
    FALSE_ALARM,
    FAULTS_OF_ONNX,
    MISSED,
    OTHER_ELEMENTS,
    OTHER_SHAPE,
    OTHER_TYPE,
)
from fuzz.models.generator import model_of
from fuzz.models.moved import moved_forms
from fuzz.models.operators import CONTROL_FLOW, cases_of, last_version, schemas
from fuzz.models.oracle import CRASH, MOVED, Judged, judge
from fuzz.models.run import Run
from fuzz.models.runtimes import cause, run_reference, with_all_values
from fuzz.models.signature import signature
from fuzz.models.tensors import array_of, dtype_of
from fuzz.models.values import difference
from onnx_lint.inference.shapes.fact import fact
from onnx_lint.spec.element_types import ELEMENT_TYPE_NAMES

pytestmark = pytest.mark.slow

SEED = 0


# --- the models


def test_the_seed_and_the_number_make_the_model():
    made = [[model_of(SEED, number).model.SerializeToString(deterministic=True) for number in range(40)] for _ in "ab"]
    assert made[0] == made[1]
    assert len(set(made[0])) == 40
    assert model_of(SEED + 1, 0).model != model_of(SEED, 0).model


def test_each_operator_of_each_version_has_nodes_that_fit():
    assert [schema.name for schema in schemas() if not cases_of(schema) and schema.name not in CONTROL_FLOW] == []
    assert {schema.domain for schema in schemas()} >= {"", "ai.onnx.ml", "ai.onnx.preview.training"}
    assert all(schema.since_version <= last_version(schema) for schema in schemas())


def test_models_are_small_and_have_all_that_models_have():
    models = [model_of(SEED, number) for number in range(350)]
    nodes = [node for made in models for node in made.model.graph.node]
    assert max(len(made.model.graph.node) for made in models) < 25
    assert len({node.op_type for node in nodes}) > 100
    assert len({made.model.opset_import[0].version for made in models}) > 15
    seen: Counter[str] = Counter()
    for made in models:
        graph = made.model.graph
        seen["functions"] += len(made.model.functions)
        seen["parameters"] += sum(len(each.attribute) for each in made.model.functions)
        seen["defaults"] += sum(len(each.attribute_proto) for each in made.model.functions)
        seen["initializers"] += len(graph.initializer)
        seen["value_info"] += len(graph.value_info)
        seen["inputs"] += len(graph.input)
        seen["variables"] += len(made.symbols)
    seen.update(node.op_type for node in nodes)
    names = "functions parameters defaults initializers value_info inputs variables Constant If Loop Scan"
    assert [name for name in names.split() if not seen[name]] == []
    assert seen["SequenceConstruct"] + seen["Optional"] > 0


@pytest.mark.parametrize("name", ELEMENT_TYPE_NAMES)
def test_elements_of_each_type_are_made(name):
    array = array_of(Random(0), name, (2, 3))
    assert (array.shape, array.dtype) == ((2, 3), dtype_of(name))


# --- a run


def test_a_worker_that_ends_or_hangs_is_replaced(monkeypatch: pytest.MonkeyPatch):
    def judged(seed: int, number: int, at: Any) -> tuple[str, Judged]:
        if number == 3:
            at(2)
            os._exit(9)
        if number == 5:
            at(1)
            time.sleep(3600)
        found = Judged()
        if number == 8:
            found.note(MISSED, "Relu: 17 is wrong")
        found.counts["seen"] += 1
        return "about", found

    def is_stuck(self: worker.Worker) -> bool:
        """Return whether the worker sleeps. A worker that another program holds up is not stuck."""
        self.is_given_up = tuple(self.current) == (5, 1)
        return self.is_given_up

    monkeypatch.setattr(worker, "judged", judged)
    monkeypatch.setattr(worker.Worker, "is_stuck", is_stuck)
    monkeypatch.setattr(worker, "_BATCH", 1)
    run = Run(SEED, 0, 12, jobs=2)
    run.go()
    assert {kind: group.numbers for (kind, _), group in run.groups.items()} == {
        "onnx crashes": [3],
        CRASH: [5],
        MISSED: [8],
    }
    assert {kind for kind, _ in run.failures} == {CRASH, MISSED}
    assert run.counts["seen"] == 10


def test_a_worker_is_stuck_that_stays_at_one_stage(monkeypatch: pytest.MonkeyPatch):
    now = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    current = [-1, 0]
    looked_at = worker.Worker(Any, Any, current)
    found = []
    for seconds, stage in ((0, 0), (30, 0), (30, 1), (30, 1), (1, 1)):
        now += seconds
        current[:] = 0, stage
        found.append(looked_at.is_stuck())
    assert found == [False, False, False, False, True]


# --- that contradictions are found


def _made(text: str, **feeds: np.ndarray) -> Generated:
    return Generated(1, "made", onnx.parser.parse_model(text), feeds, {"N": 2})


GOOD = """<ir_version: 8, opset_import: ["" : 17], producer_name: "p">
g (float[N, 3] x) => (float[N, 3] y) { a = Relu (x) y = Neg (a) }"""

X = np.ones((2, 3), np.float32)


def _found(made: Generated) -> set[tuple[str, bool]]:
    return {(each.kind, each.explained is not None) for each in judge(made, lambda stage: None).contradictions}


def test_nothing_is_found_about_a_good_model():
    assert _found(_made(GOOD, x=X)) == set()


def test_a_crash_is_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(oracle, "lint_model", lambda *_: 1 / 0)
    assert _found(_made(GOOD, x=X)) == {(CRASH, False)}


def test_what_onnx_alone_refuses_is_found(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(oracle, "errors_of", lambda _: [])
    assert _found(_made(GOOD.replace("Neg (a)", "Concat <axis = 7> (x)"), x=X)) == {(MISSED, False)}


def test_what_runs_and_has_an_error_is_found(monkeypatch: pytest.MonkeyPatch):
    finding = SimpleNamespace(rule="made-up", operator="Relu", message="is wrong", place="graph.node[0]")
    monkeypatch.setattr(oracle, "errors_of", lambda _: [finding])
    assert _found(_made(GOOD, x=X)) == {(FALSE_ALARM, False)}


def test_another_verdict_in_another_form_is_found(monkeypatch: pytest.MonkeyPatch):
    finding = SimpleNamespace(rule="made-up", operator="Relu", message="is wrong", place="graph.node[1]")
    real = oracle.linted

    def linted(data: bytes, name: str = "model.onnx") -> Any:
        model, _ = real(data, name)
        return model, [finding] if model.main_graph.nodes and len(model.main_graph.nodes) == 1 else []

    monkeypatch.setattr(oracle, "linted", linted)
    monkeypatch.setattr(oracle, "errors_of", lambda verdict: verdict)
    monkeypatch.setattr(oracle, "Verdict", list)
    judged = Judged()
    oracle._other_forms(_made(GOOD, x=X), _made(GOOD).model.SerializeToString(), [], judged)
    assert [(each.kind, each.line.split(":")[0]) for each in judged.contradictions] == [
        (MOVED, "If"),
        (MOVED, "function"),
    ]


FLOAT23 = np.zeros((2, 3), np.float32)


@pytest.mark.parametrize(
    ("known", "value", "what"),
    [
        (fact("tensor(float)", (2, 3)), FLOAT23, None),
        (fact("tensor(float)", ("N", None)), FLOAT23, None),
        (fact("tensor(float)", ("other", 3)), FLOAT23, None),
        (fact(None, None), FLOAT23, None),
        (fact("tensor(float)", ("N", "N")), FLOAT23, "shape"),
        (fact("tensor(float)", (2, 4)), FLOAT23, "shape"),
        (fact("tensor(float)", (2,)), FLOAT23, "shape"),
        (fact("tensor(double)", (2, 3)), FLOAT23, "type"),
        (fact("tensor(int64)", (2,), (3, None)), np.array([3, 4]), None),
        (fact("tensor(int64)", (2,), ("N", 4)), np.array([2, 4]), None),
        (fact("tensor(int64)", (2,), ("N", 4)), np.array([3, 4]), "elements"),
        (fact("seq(tensor(float))", None, (1,), fact("tensor(float)", (2, 3))), [FLOAT23], None),
        (fact("seq(tensor(float))", None, (2,), fact("tensor(float)", (2, 3))), [FLOAT23], "elements"),
        (fact("seq(tensor(float))", None, None, fact("tensor(float)", (2, 2))), [FLOAT23], "shape"),
        (fact("tensor(float)", (2, 3)), [FLOAT23], "type"),
        (fact("optional(tensor(float))", None, None, fact("tensor(float)", (2, 2))), FLOAT23, "shape"),
        (fact("optional(tensor(float))", None, None, fact("tensor(float)", (2, 3))), None, None),
    ],
)
def test_values_are_held_against_what_is_known_of_them(known, value, what):
    found = difference(known, value, {"N": 2})
    assert (found and found[0]) == what


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (fact("tensor(float)", (3, 3)), OTHER_SHAPE),
        (fact("tensor(int64)", ("N", 3)), OTHER_TYPE),
        (fact("tensor(float)", ("N", 3), (7,) * 6), OTHER_ELEMENTS),
    ],
)
def test_what_is_inferred_wrongly_is_found(monkeypatch: pytest.MonkeyPatch, wrong, kind):
    monkeypatch.setattr(oracle, "facts_of", lambda model: {"a": wrong})
    assert {found for found, _ in _found(_made(GOOD, x=X))} == {kind}


def test_all_values_of_the_main_graph_are_asked_for():
    made = _made(GOOD, x=X)
    assert [output.name for output in with_all_values(made.model).graph.output] == ["y", "a"]
    assert run_reference(made).values.keys() == {"y", "a"}


def test_nodes_are_moved_and_nothing_else_changes():
    made = _made(GOOD, x=X)
    moved = dict(moved_forms(made.model))
    assert moved.keys() == {"If", "function"}
    for model in moved.values():
        assert len(model.graph.node) == 1
        found = run_reference(Generated(0, "moved", model, made.feeds, {})).values["y"]
        assert found.tolist() == (-X).tolist()
    assert moved["function"] == ModelProto.FromString(moved["function"].SerializeToString())


# --- how they are reported


def test_contradictions_are_grouped():
    one = (
        "incompatible-operand-shapes Add: input 0 'v1' [2, 3] of unnamed node 1 (Add) of the main graph is 2 "
        "[onnxruntime]"
    )
    other = (
        "incompatible-operand-shapes Add: input 1 'x7' [9] of unnamed node 4 (Add) of function 'F' is 12 [onnxruntime]"
    )
    assert signature(one) == signature(other)
    assert signature(one) != signature(one.replace("Add", "Sub"))
    assert signature(one) != signature(one.replace("onnxruntime", "reference evaluator"))


def test_the_first_refusal_is_the_cause():
    refused = (
        "[ShapeInferenceError] Inference error(s): (op_type:If): [ShapeInferenceError] (op_type:Mod): "
        "[TypeInferenceError] wrong type. (op_type:Neg): [TypeInferenceError] Input 0 expected to have type but "
        "instead is null"
    )
    assert cause(refused) == "Mod: [TypeInferenceError] wrong type"
    assert cause("Field 'x' is missing") == "Field 'x' is missing"


def test_each_explanation_says_what_it_explains():
    assert len({(each.kind, each.pattern) for each in EXPLAINED}) == len(EXPLAINED)
    assert {each.kind for each in EXPLAINED} <= {MISSED, FALSE_ALARM, OTHER_TYPE, OTHER_SHAPE, OTHER_ELEMENTS}
    assert all(len(each.reason) > 20 for each in EXPLAINED)
    headings = (ROOT / "docs" / "faults_of_onnx.md").read_text(encoding="utf-8").splitlines()
    assert [heading for heading in FAULTS_OF_ONNX if f"## {heading}" not in headings] == []
