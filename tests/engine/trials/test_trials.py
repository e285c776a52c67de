# SPDX-License-Identifier: Apache-2.0
"""Proposed changes are tried on the whole model, within bounds."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable
from pathlib import Path

import onnx.parser
import pytest
from google.protobuf import text_format

from onnx_lint import lint
from onnx_lint.cli.application import run
from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.plugins import files_in_use
from onnx_lint.engine.registry import registry
from onnx_lint.engine.settings import Settings
from onnx_lint.engine.trials import budget, changed_models, compared_findings, consequences, trials
from onnx_lint.engine.trials.compared_findings import FindingKey
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.spec.clauses import clauses

HEAD = '<ir_version: 10, opset_import: ["": 21], producer_name: "me"> '
NEXT = "g (float[2,3] x, float[2,3] w, float[{}] v) => (float[A,B] y) {{ h = Gemm(x, w) y = MatMul(v, h) }}"


def _report(data: bytes, name: str = "m.onnx"):
    report = lint_source(BytesSource(data), name, Settings())
    assert report.internal_errors == ()
    return report


def _hint(text: str) -> str | None:
    return _report(onnx.parser.parse_model(HEAD + text).SerializeToString()).diagnostics[0].hint


@pytest.mark.parametrize(
    ("size", "hint"),
    [
        ("5,2", "with transB=1 the shapes fit"),
        ("5,3", "with transA=1 the shapes fit"),
        ("5,N", "with transA=1 or transB=1 the shapes fit"),
        ("5,7", None),
    ],
)
def test_a_change_must_fit_the_nodes_behind(size: str, hint: str | None):
    assert _hint(NEXT.format(size)) == hint


def test_a_name_of_another_type_or_shape_is_not_suggested():
    text = "g (float[4] x, {} hidden) => (float[4] y) {{ z = Identity(hidden) y = Add(x, hiden) }}"
    messages = [lint(onnx.parser.parse_model(HEAD + text.format(each))).diagnostics[0].message
                for each in ("float[4]", "int64[4]", "float[3]")]  # fmt: skip
    assert ["did you mean" in each for each in messages] == [True, False, False]


def test_a_change_in_a_function_must_fit_each_call():
    text = """
    <ir_version: 10, opset_import: ["": 21, "com.l": 1], producer_name: "me">
    g (float[2,3] x, float[4,3] w, float[3,4] v) => (float[2,4] y, float[2,4] z) {{ y = com.l.F(x, w) z = com.l.F({}) }}
    <domain: "com.l", opset_import: ["": 21]> F (a, b) => (c) {{ c = Gemm(a, b) }}"""
    hints = [lint(onnx.parser.parse_model(text.format(each))).diagnostics[0].hint for each in ("x, w", "x, v")]
    assert hints == ["with transB=1 the shapes fit", None]


PLUGIN = """
from onnx_lint.model import ROOT
from onnx_lint.rule import Finding, own_clause, rule

@rule(clause=own_clause("HOUSE-1", "A model is praised."), since="1.0")
def unpraised(model):
    "The model is not praised."
    yield Finding(ROOT, "nobody praised the model", allowed="praise")
"""


def test_the_plugins_of_a_run_stay_in_use(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    plugin = tmp_path / "zz_house.py"
    plugin.write_text(PLUGIN)
    model = onnx.parser.parse_model(HEAD + NEXT.format("5,2"))
    for name in ("a.onnx", "b.onnx"):
        (tmp_path / name).write_bytes(model.SerializeToString())
    assert run([str(tmp_path), "--no-config", "--plugin", str(plugin), "-j", "1", "-f", "concise"]) == 1
    assert capsys.readouterr().out.count("[unpraised]") == 2
    assert files_in_use() == (str(plugin.resolve()),)


def test_the_text_and_the_binary_form_have_the_same_hint():
    model = onnx.parser.parse_model(HEAD + NEXT.format("5,2"))
    report = _report(text_format.MessageToString(model).encode(), "m.textproto")
    assert (report.form, report.diagnostics[0].hint) == ("textproto", "with transB=1 the shapes fit")


def test_the_hint_does_not_depend_on_the_selected_rules():
    model = onnx.parser.parse_model(HEAD + NEXT.format("5,2"))
    for select in (["incompatible-operand-shapes"], ["ALL"]):
        found = [each for each in lint(model, select=select).diagnostics if each.rule == "incompatible-operand-shapes"]
        assert [each.hint for each in found] == ["with transB=1 the shapes fit"]


def _many(count: int, *, same: bool = False) -> str:
    """A graph with that many nodes, each with a fault of a cause of its own, or with one cause."""
    sizes = [4 if same else 4 + index for index in range(count)]
    nodes = " ".join(f"h{index} = Gemm(x, w{index})" for index in range(count))
    inputs = ", ".join(f"float[{size},3] w{index}" for index, size in enumerate(sizes))
    outputs = ", ".join(f"float[A{index},B{index}] h{index}" for index in range(count))
    return f"g (float[2,3] x, {inputs}) => ({outputs}) {{ {nodes} }}"


def _many_of_two_rules(count: int) -> str:
    """A graph with a misspelt name in front of nodes with faults."""
    text = _many(count).replace("{ ", "{ t = Relu(mispelt) ", 1)
    return text.replace("(float[2,3] x,", "(float[2,3] misspelt, float[2,3] x,")


PARTS = 10 + 11
"""The parts of a graph with ten such nodes: these, and their inputs."""


def _hints(text: str) -> int:
    """Return the number of faults with a hint."""
    model = onnx.parser.parse_model(HEAD + text)
    return sum(each.hint is not None for item in lint(model).diagnostics for each in item.folding.members or (item,))


def test_trials_are_bounded_by_their_number_the_nodes_and_the_faults(monkeypatch: pytest.MonkeyPatch):
    made = []
    after = changed_models.ChangedModels._changed_model
    monkeypatch.setattr(
        changed_models.ChangedModels, "_changed_model", lambda self, each: made.append(each) or after(self, each)
    )
    counts = []
    for module, attribute, value in (
        (budget, "START_COST", 4 * PARTS),
        (budget, "START_COST", 0),
        (budget, "MAX_PARTS", PARTS - 1),
        (compared_findings, "TOO_MANY_CAUSES", 7),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(budget, "TRIAL_COST", 0)
            patch.setattr(budget, "FINDING_COST", 0)
            patch.setattr(module, attribute, value)
            counts.append((_hints(_many(10)), len(made)))
            made.clear()
    assert counts == [(4, 4), (1, 1), (0, 0), (0, 0)]


def test_a_model_of_many_faults_has_fewer_trials(monkeypatch: pytest.MonkeyPatch):
    given = []
    most = budget.most_trials
    monkeypatch.setattr(changed_models, "most_trials", lambda *each: given.append(each[1]) or most(*each))
    text = HEAD + _many(40)
    lint(onnx.parser.parse_model(text))
    assert given == [40]
    model = load(BytesSource(onnx.parser.parse_model(text).SerializeToString()))
    assert most(model, 1) == budget.MAX_TRIALS
    counts = [most(model, number) for number in (40, 60, 90, 190)]
    assert counts == sorted(set(counts), reverse=True)
    assert counts[0] > 2 * counts[3] > 4


@pytest.mark.parametrize("length", [0, 5_000, 40_000])
def test_trials_check_no_more_parts_than_the_first_pass_or_the_start(length: int):
    chain = " ".join(f"r{index + 1} = Relu(r{index})" for index in range(length))
    text = f"{_many(40)[:-1]} {chain} }}".replace("float[2,3] x,", "float[2,3] x, float[2] r0,")
    model = load(BytesSource(onnx.parser.parse_model(HEAD + text).SerializeToString()))
    parts = length + 40 + 42
    most = budget.most_trials(model)
    assert 1 <= most <= budget.MAX_TRIALS
    assert most * parts <= max(parts, budget.START_COST)


def test_the_rules_of_a_model_share_its_trials(monkeypatch: pytest.MonkeyPatch):
    made = []
    after = changed_models.ChangedModels._changed_model
    monkeypatch.setattr(
        changed_models.ChangedModels, "_changed_model", lambda self, each: made.append(each) or after(self, each)
    )
    monkeypatch.setattr(changed_models, "most_trials", lambda *_: 4)
    found = lint(onnx.parser.parse_model(HEAD + _many_of_two_rules(10))).diagnostics
    mended = [each.rule for each in found if each.hint or "did you mean" in each.message]
    assert sorted(mended) == [*["incompatible-operand-shapes"] * 2, "undefined-name"]
    assert len(made) == 3


def test_findings_of_one_cause_are_tried_once(monkeypatch: pytest.MonkeyPatch):
    made = []
    after = changed_models.ChangedModels._changed_model
    monkeypatch.setattr(
        changed_models.ChangedModels, "_changed_model", lambda self, each: made.append(each) or after(self, each)
    )
    assert _hints(_many(10, same=True)) == 1
    assert len(made) == 1


def test_the_time_of_all_trials_is_counted(monkeypatch: pytest.MonkeyPatch):
    """Also of those that pass, and of the search for the changes."""
    given = []
    limit = budget.SubDeadline
    monkeypatch.setattr(budget, "SubDeadline", lambda seconds: given.append(seconds) or limit(seconds))
    assert _hints(_many(4)) == 4
    assert given[0] == budget.MIN_SECONDS
    assert len(given) == 2 * 4
    assert given == sorted(given, reverse=True)
    assert given[-1] < given[0]


def test_trials_that_take_long_end_and_the_report_is_whole(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(budget, "MIN_SECONDS", 0)
    monkeypatch.setattr(budget, "MAX_TIME_FACTOR", 0)
    report = lint(onnx.parser.parse_model(HEAD + NEXT.format("5,2")))
    assert [(each.rule, each.hint) for each in report.diagnostics] == [("incompatible-operand-shapes", None)]


def test_trials_may_take_as_long_as_two_first_passes(monkeypatch: pytest.MonkeyPatch):
    given = []
    limit = budget.SubDeadline
    monkeypatch.setattr(budget, "SubDeadline", lambda seconds: given.append(seconds) or limit(seconds))
    monkeypatch.setattr(budget, "seconds_used", lambda: 7.0)
    assert _hints(_many(1)) == 1
    assert given[0] == 14.0


@pytest.mark.parametrize(("count", "hint"), [(1, "with transA=1 or transB=1 the shapes fit"), (6_000, None)])
def test_a_change_is_not_reported_if_no_trial_is_left_for_the_others(count: int, hint: str | None):
    """A large model has one trial."""
    chain = " ".join(f"r{index + 1} = Relu(r{index})" for index in range(count))
    text = f"g (float[2,3] r0, float[2,3] w) => (float[A,B] y) {{ {chain} y = Gemm(r{count}, w) }}"
    assert _hint(text) == hint


@pytest.mark.parametrize(("shape", "meant"), [("4,5", "did you mean 'b_key_w'"), ("4,4", "nothing uses 'b_key_w' or")])
def test_of_several_values_that_a_name_may_mean_none_is_proposed(shape: str, meant: str):
    text = f"""g (float[2,4] x, float[{shape}] b_key_w, float[4,4] b_query_w) => (float[2,4] h, float[2,A] y)
    {{ h = MatMul(x, query_kernel) y = MatMul(x, key_kernel) }}"""
    model = onnx.parser.parse_model(HEAD + text)
    model.graph.output[1].type.tensor_type.shape.dim[1].dim_value = int(shape[-1])
    assert meant in [each.message for each in lint(model).diagnostics][-1]


def test_no_trial_is_made_if_they_are_too_few(monkeypatch: pytest.MonkeyPatch):
    made = []
    monkeypatch.setattr(changed_models, "reloaded", lambda *_: made.append(1))
    for most in (1, 2):
        monkeypatch.setattr(changed_models, "most_trials", lambda *_, most=most: most)
        assert _hint(NEXT.format("5,N")) is None
    assert len(made) == 2


def test_a_clean_model_tries_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(trials, "Trials", None)
    assert lint(onnx.parser.parse_model(HEAD + "g (float[2] x) => (float[2] y) { y = Relu(x) }")).conforms


def test_of_two_changes_that_show_a_fault_behind_them_none_is_known_to_be_right():
    text = "g (float[2,3] x, float[2,3] w, float[9,7] z) => (float[A,B] y) { h = Gemm(x, w) y = MatMul(h, z) }"
    assert _hint(text) is None


def test_of_a_chain_of_faults_each_shown_one_has_its_hint():
    text = """g (float[2,3] x, float[4,3] w, float[5,4] v) => (float[2,5] y)
    { h = MatMul(x, w) r = Relu(h) y = MatMul(r, v) }"""
    assert _hint(text) == "with a Transpose of input 1 'w' with perm=[1, 0] the shapes fit"


def test_a_fault_behind_the_first_one_may_be_in_an_initializer():
    text = """g (float[2,4] x, float[2,3] w) => (float[2,5] y) <int64[2] s = {2, 5}>
    { h = Concat<axis = 0>(x, w) r = Relu(h) y = Reshape(r, s) }"""
    assert _hint(text) == "with axis=1 the shapes fit"


def test_a_cast_of_a_computed_value_hides_nothing():
    """It would fit the Clip, and leave a fault behind it."""
    text = """g (float[2] x) => (float[2] y) <double lo = {0.5}, double hi = {6.0}>
    { h = Relu(x) c = Clip(h, lo, hi) y = Add(c, x) }"""
    assert _hint(text) is None


def test_a_fault_that_an_earlier_change_mends_has_its_cause():
    text = """g (float[9,4] table, int64[2] ids) => (float[2,4] y) { h = Gather(ids, table) y = Sigmoid(h) }"""
    found = lint(onnx.parser.parse_model(HEAD + text)).diagnostics
    hint = "with inputs 0 'ids' and 1 'table' of unnamed node 0 (Gather) of the main graph exchanged the types fit"
    assert [each.hint for each in found] == [hint]
    assert found[0].message.endswith("; 1 more fault has this cause")
    assert [each.hint for each in found[0].folding.members] == [hint, None]


def test_each_rule_has_its_own_trials():
    model = onnx.parser.parse_model(HEAD + _many_of_two_rules(30))
    whole = lint(model).diagnostics
    for rule in ("undefined-name", "incompatible-operand-shapes"):
        alone = lint(model, select=[rule]).diagnostics
        assert alone
        assert [(each.message, each.hint) for each in alone] == [
            (each.message, each.hint) for each in whole if each.rule == rule
        ]


def test_many_faults_of_one_cause_are_one():
    nodes = " ".join(f"h{index} = Gemm(x, w)" for index in range(compared_findings.TOO_MANY_CAUSES + 1))
    outputs = ", ".join(f"float[A,B] h{index}" for index in range(compared_findings.TOO_MANY_CAUSES + 1))
    assert _hint(f"g (float[2,3] x, float[4,3] w) => ({outputs}) {{ {nodes} }}") == "with transB=1 the shapes fit"


@pytest.mark.parametrize(("body", "is_repeated"), [("c = Relu(a)", False), ("c = Concat<axis = 0>(a, a)", True)])
def test_nodes_of_functions_count_as_often_as_they_are_inferred(
    body: str, monkeypatch: pytest.MonkeyPatch, *, is_repeated: bool
):
    """Each Concat gets another argument."""
    bodies = [f"F0 (a) => (c) {{ {body} }}"]
    for index in range(1, 6):
        bodies.append(f"F{index} (a) => (c) {{ b = com.l.F{index - 1}(a) c = com.l.F{index - 1}(b) }}")
    imports = 'opset_import: ["": 21, "com.l": 1]'
    text = f"<ir_version: 10, {imports}> g (float[2] x) => (float[A] y) {{ y = com.l.F5(x) }}"
    text += "".join(f' <domain: "com.l", {imports}> {each}' for each in bodies)
    model = load(BytesSource(onnx.parser.parse_model(text).SerializeToString()))
    assert model.calls.expanded_nodes() == 32
    again = model.value_flow.nodes_walked_again
    assert again == (31 + 2 * 26 if is_repeated else 0)
    monkeypatch.setattr(budget, "MAX_TRIALS", budget.START_COST)
    assert budget.most_trials(model) == budget.START_COST // (budget.TRIAL_COST + 13 + again)


CHAIN = " ".join(f"r{index + 1} = Relu(r{index})" for index in range(6_000))


def _in_a_large_model(node: str, imports: str = "") -> str:
    head = HEAD.replace('"": 21', f'"": 21{imports}')
    text = f"g (float[4] r0, float[4,4] w) => (float[4] y) {{ {CHAIN} {node} }}"
    report = _report(onnx.parser.parse_model(head + text).SerializeToString())
    return f"{report.diagnostics[0].message} | {report.diagnostics[0].hint}"


SURE = [
    ("y = RELU(r0)", "", "did you mean 'Relu'?"),
    ("y = Mat_mul(r0, w)", "", "did you mean 'MatMul'?"),
    ("y = Gemm<trans_b = 1>(r0, w)", "", "did you mean 'transB'?"),
    ("y = Scaler(r0)", ', "ai.onnx.ml": 3', "write domain='ai.onnx.ml' on the node"),
]


@pytest.mark.parametrize(("node", "imports", "words"), SURE)
def test_what_signatures_prove_needs_no_trial(node: str, imports: str, words: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(budget, "MAX_PARTS", 0)
    monkeypatch.setattr(changed_models, "compared_findings", None)
    assert words in _in_a_large_model(node, imports)


@pytest.mark.parametrize("node", ["y = RELU(r0, w)", "y = Gemm<trans_b = 1.0>(r0, w)", "y = Relo(r0)"])
def test_a_node_that_does_not_fit_the_meant_signature_is_tried(node: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(budget, "MAX_PARTS", 0)
    found = _in_a_large_model(node)
    assert "did you mean" not in found


def test_the_hints_without_a_trial_are_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(budget, "MAX_PARTS", 0)
    monkeypatch.setattr(trials, "MAX_WITHOUT_TRIAL", 2)
    text = "g (float[4] x) => (float[4] a, float[4] b, float[4] c) { a = RELU(x) b = TANH(x) c = EXP(x) }"
    found = lint(onnx.parser.parse_model(HEAD + text)).diagnostics
    assert ["did you mean" in each.message for each in found] == [True, True, False]


SHARED_HALF = """g (float[2,4] x) => (float[2,4] y) <float16[4] w = {1, 1, 1, 1}, float[4] b = {1, 1, 1, 1}>
{ c = Identity(w) h = LayerNormalization(x, w, b) r = Relu(h) i = LayerNormalization(r, c, b) y = Mul(i, b) }"""


def test_an_initializer_of_a_wrong_type_is_one_finding():
    (found,) = lint(onnx.parser.parse_model(HEAD + SHARED_HALF)).diagnostics
    assert (found.count, found.hint) == (2, "with initializer 'w' converted to FLOAT the types fit")


def _relabelled(nodes: str, code: int, *, declared: bool = False, numbers: int = 4) -> onnx.ModelProto:
    """Return a model whose initializer `w` has raw data of float, and says that it has another type."""
    model = onnx.parser.parse_model(HEAD + f"g (float[2,4] x) => (float[2,4] y) {{ {nodes} }}")
    model.graph.initializer.add(name="w", dims=[4], data_type=code, raw_data=bytes(4 * numbers))
    if declared:
        model.graph.value_info.append(onnx.helper.make_tensor_value_info("w", onnx.TensorProto.FLOAT, [4]))
    return model


SIZE, OPERAND, INFO = "tensor-size-mismatch", "mismatched-operand-type", "contradictory-value-info"


@pytest.mark.parametrize(
    ("nodes", "code", "options", "rules"),
    [
        ("y = Mul(x, w)", onnx.TensorProto.FLOAT16, {}, [[OPERAND, SIZE]]),
        ("h = Mul(x, w) y = Mul(x, w)", onnx.TensorProto.DOUBLE, {}, [[OPERAND, OPERAND, SIZE]]),
        ("y = Mul(x, w)", onnx.TensorProto.FLOAT16, {"declared": True}, [[OPERAND, SIZE, INFO]]),
        # a size that is not that of the other type is another mistake, and so is a type that no reader asks for
        ("y = Mul(x, w)", onnx.TensorProto.FLOAT16, {"numbers": 3}, [[OPERAND], [SIZE]]),
        ("h = Mul(x, w) y = Mul(x, w)", onnx.TensorProto.FLOAT16, {"numbers": 3}, [[OPERAND, OPERAND], [SIZE]]),
        ("y = Mul(x, w) z = Reshape(x, w)", onnx.TensorProto.FLOAT16, {}, [[OPERAND], [OPERAND], [SIZE]]),
    ],
)
def test_the_size_of_a_relabelled_initializer_has_the_cause_of_its_type(
    nodes: str, code: int, options: dict[str, int], rules: list[list[str]]
):
    found = lint(_relabelled(nodes, code, **options)).diagnostics
    assert sorted([each.rule for each in one.folding.members or (one,)] for one in found) == sorted(rules)
    words = [one.hint or "" for one in found if SIZE in [each.rule for each in one.folding.members]]
    assert ["data_type=1 (FLOAT) of initializer 'w'" in each for each in words] == [True] * len(words)


LOOP = """g (float[2,3] x, bool c) => (float[2,3] y) { y = Loop(, c, x) <body = b (int64 i, bool d, float[2,3] v)
=> (bool e, float[2,3] w) { e = Identity(d) w = Relu(v) }> }"""


def _without_condition() -> onnx.ModelProto:
    """A Loop without its condition, and without the empty name in place of it."""
    model = onnx.parser.parse_model(HEAD + LOOP)
    del model.graph.node[0].input[1]
    return model


RULES_OF_LOOP = ["contradictory-declared-shape", "mismatched-operand-type", "mismatched-subgraph-signature"]


def test_what_the_change_fixes_belongs_to_its_cause():
    (found,) = lint(_without_condition()).diagnostics
    assert (found.rule, found.count) == ("mismatched-operand-type", 3)
    assert (
        found.hint == "with an empty name before input 1 'x' of unnamed node 0 (Loop) of the main graph the types fit"
    )
    assert sorted(each.rule for each in found.folding.members) == RULES_OF_LOOP


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "m.onnx").write_bytes(_without_condition().SerializeToString())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _json(folder: Path, *options: str) -> list[tuple[str, int]]:
    run(["m.onnx", "-q", "-f", "json", "-o", "r.json", *options])
    (file,) = json.loads((folder / "r.json").read_text())["files"]
    return [(each["rule"], each.get("count", 1)) for each in file["diagnostics"]]


def test_json_and_sarif_have_one_finding_as_text(folder: Path):
    assert _json(folder) == [("mismatched-operand-type", 3)]
    run(["m.onnx", "-q", "-f", "sarif", "-o", "r.sarif"])
    (result,) = json.loads((folder / "r.sarif").read_text())["runs"][0]["results"]
    assert result["ruleId"] == "mismatched-operand-type"


@pytest.mark.parametrize(("rule", "left"), [(None, 0), *zip(RULES_OF_LOOP, [1, 1, 1], strict=True)])
def test_a_baseline_of_findings_apart_knows_each_of_them(folder: Path, rule: str | None, left: int):
    """Each rule run alone lists its finding as it did before there was one cause."""
    chosen = RULES_OF_LOOP if rule is None else [each for each in RULES_OF_LOOP if each != rule]
    for number, each in enumerate(chosen):
        run(["m.onnx", "-q", "-o", "none.txt", "--select", each, "--write-baseline", f"{number}.json"])
    entries = [json.loads((folder / f"{number}.json").read_text()) for number in range(len(chosen))]
    whole = entries[0] | {"files": {"m.onnx": [item for each in entries for item in each["files"]["m.onnx"]]}}
    (folder / "b.json").write_text(json.dumps(whole))
    assert sum(count for _, count in _json(folder, "--baseline", "b.json")) == left


def test_a_suppression_of_one_finding_leaves_the_others_of_its_cause(folder: Path):
    (folder / "onnx-lint.toml").write_text('[[suppress]]\nrule = "mismatched-operand-type"\nreason = "known"\n')
    assert sum(count for _, count in _json(folder)) == 2


def test_a_member_of_another_rule_is_in_each_report(folder: Path):
    """With its own rule, clause, message and place, and counted under its rule."""
    options = ["m.onnx", "-q", "--statistics"]
    for form in ("json", "jsonl", "sarif", "gitlab", "junit", "html"):
        options += ["-o", f"{form}=r.{form}"]
    run(options)
    (file,) = json.loads((folder / "r.json").read_text())["files"]
    members = file["diagnostics"][0]["members"]
    others = [each for each in RULES_OF_LOOP if each != "mismatched-operand-type"]
    assert sorted(each["rule"] for each in members) == others
    assert all(each["message"] and each["place"].startswith("graph.") and each["clause"] for each in members)
    lines = [json.loads(line) for line in (folder / "r.jsonl").read_text().splitlines()]
    assert [each["members"] for each in lines if each["record"] == "finding"] == [members]
    (result,) = json.loads((folder / "r.sarif").read_text())["runs"][0]["results"]
    texts = [each["message"]["text"] for each in result["relatedLocations"]]
    assert [sum(text.startswith(f"{rule}: ") for text in texts) for rule in others] == [1, 1]
    assert sorted(each["check_name"] for each in json.loads((folder / "r.gitlab").read_text())) == RULES_OF_LOOP
    junit, page = (folder / "r.junit").read_text(), (folder / "r.html").read_text()
    assert [f'name="{rule}' in junit for rule in RULES_OF_LOOP] == [True] * 3
    assert f'data-rule="{" ".join(["mismatched-operand-type", *(each["rule"] for each in members)])}"' in page


def test_findings_are_counted_under_each_rule_of_their_cause(folder: Path):
    run(["m.onnx", "-q", "-o", "r.json"])
    report = json.loads((folder / "r.json").read_text())
    assert sorted((each["rule"], each["count"]) for each in report["summary"]["statistics"]) == [
        (rule, 1) for rule in RULES_OF_LOOP
    ]
    assert report["summary"]["errors"] == 1


LOST = """g (bool c, float[2] x) => (float[2] y) {{ h2 = Relu(x) y = If(c)<then_branch = t () => (float[2] t)
{{ t = Neg(hh) }}, else_branch = e () => (float[2] e) {{ e = Abs(hh) }}> {} }}"""


@pytest.mark.parametrize(("use", "new"), [("", 0), ("z = Neg(hh)", 1)])
def test_a_baseline_of_one_part_knows_each_use_of_a_name(folder: Path, use: str, new: int):
    """As versions wrote it that had the uses in all subgraphs as one finding. A further use is new."""
    options = ["m.onnx", "-q", "--select", "undefined-name", "-f", "json", "-o", "r.json"]
    for node in ("", use):
        (folder / "m.onnx").write_bytes(onnx.parser.parse_model(HEAD + LOST.format(node)).SerializeToString())
        if not (folder / "b.json").exists():
            run([*options, "--write-baseline", "b.json"])
            entries = json.loads((folder / "b.json").read_text())
            (entry,) = entries["files"]["m.onnx"]
            assert (entry["count"], len(entry["parts"].split())) == (2, 2)
            entry["parts"] = entry["parts"].split()[0]
            (folder / "b.json").write_text(json.dumps(entries))
    assert len(_json(folder, "--select", "undefined-name", "--baseline", "b.json")) == new


def test_a_value_that_another_name_means_is_not_suggested():
    text = "g (float[2] x) => (float[2] k, float[2] out_1, float[2] out2) { k = Neg(x) out1 = Abs(x) }"
    found = lint(onnx.parser.parse_model(HEAD + text)).diagnostics
    assert [("did you mean 'out1'" in each.message) for each in found if each.rule == "undefined-name"] == [True, False]


def test_a_fault_of_a_cause_that_has_a_suggestion_says_nothing_else():
    (found,) = lint(onnx.parser.parse_model(HEAD + LOST.format(""))).diagnostics
    messages = [each.message for each in found.folding.members]
    assert [("did you mean 'h2'?" in each, "nothing uses" in each) for each in messages] == [
        (True, False),
        (False, False),
    ]


def test_a_finding_whose_cause_has_a_suggestion_does_not_say_that_a_node_is_missing():
    """Its cause was tried for an earlier finding, with a change that passed."""
    (found,) = lint(onnx.parser.parse_model(HEAD + LOST.format(""))).diagnostics
    assert [each.hint for each in found.folding.members] == [None, None]


def test_entries_of_one_finding_are_counted(folder: Path, capsys: pytest.CaptureFixture[str]):
    run(["m.onnx", "-q", "-o", "none.txt", "--write-baseline", "b.json"])
    assert capsys.readouterr().err == "Wrote 1 finding as 3 entries to b.json\n"


@pytest.mark.parametrize("node", ["y = relu<foo = 1>(x)", "y = LEAKYRELU<Alpha = 1.0>(x)", "y = relu(x, x)"])
def test_a_respelt_operator_is_suggested_though_its_node_has_another_fault(node: str):
    (found,) = lint(onnx.parser.parse_model(HEAD + f"g (float[2] x) => (float[2] y) {{ {node} }}")).diagnostics
    assert "did you mean '" in found.message


def test_a_respelt_operator_that_contradicts_what_is_known_elsewhere_is_not_suggested():
    text = "g (float[2] x, int64[2] i) => (float[2] y) { h = relo(i) y = Add(h, x) }"
    found = lint(onnx.parser.parse_model(HEAD + text)).diagnostics
    assert ["did you mean" in each.message for each in found] == [False]


@pytest.mark.parametrize(
    ("nodes", "hint"),
    [
        ("h = Squeeze<axes = [0]>(x) y = Squeeze(x, a)", "write axes=[0] in place of input 1 'a'"),
        ("h = Squeeze<axes = [0]>(x) y = Squeeze(x, b)", None),  # axis 5
        ("h = Squeeze<axes = [0]>(x) y = Squeeze(x, c)", None),  # unknown
        ("h = Relu(x) y = Squeeze(x, a)", "import version 13 of 'ai.onnx', which all its nodes fit"),
    ],
)
def test_an_input_of_a_later_version_that_was_an_attribute(nodes: str, hint: str | None):
    text = """<ir_version: 10, opset_import: ["": 12], producer_name: "me">
    g (float[1,4] x, int64[1] c) => (float[4] y) <int64[1] a = {0}, int64[1] b = {5}>"""
    found = lint(onnx.parser.parse_model(f"{text} {{ {nodes} }}")).diagnostics
    assert [each.hint for each in found if each.rule == "operator-arity"] == [hint]


def test_rules_that_report_only_notes_do_not_run_in_trials_and_propose_nothing():
    model = load(BytesSource(onnx.parser.parse_model(HEAD + NEXT.format("5,2")).SerializeToString()))
    usual = Settings()
    compared = {entry.id for entry in compared_findings._rules(model, usual)}
    assert "incompatible-operand-shapes" in compared
    assert compared.isdisjoint({"fixed-dimension-variable", "non-c90-name"})
    for entry in registry().values():
        levels = [compared_findings._is_compared(entry, clauses()[clause], usual) for clause in entry.clauses]
        if entry.plugin is None and not any(levels):
            assert "proposals=" not in inspect.getsource(inspect.unwrap(entry.rule.check)), entry.id


def test_a_large_model_of_many_findings_has_one_trial():
    """Its first pass takes at least as long."""
    chain = " ".join(f"r{index + 1} = Relu(r{index})" for index in range(13_000))
    text = f"{_many(3)[:-1]} {chain} }}".replace("float[2,3] x,", "float[2,3] x, float[2] r0,")
    model = load(BytesSource(onnx.parser.parse_model(HEAD + text).SerializeToString()))
    assert budget.most_trials(model, 10_000) == 1


def test_the_findings_that_an_import_fixes_are_noted_once(monkeypatch: pytest.MonkeyPatch):
    """And not for each finding with the import, which would take long for many."""
    noted = []

    class CountedConsequences(consequences.Consequences):
        def add(self, fixed: Iterable[FindingKey], origin: FindingKey) -> None:
            known = tuple(fixed)
            noted.extend(known)
            super().add(known, origin)

    monkeypatch.setattr(trials, "Consequences", CountedConsequences)
    nodes = " ".join(f"h{index} = Squeeze(x, axes)" for index in range(20))
    outputs = ", ".join(f"float[2] h{index}" for index in range(20))
    text = f"g (float[2,1] x) => ({outputs}) <int64[1] axes = {{1}}> {{ {nodes} }}"
    found = lint(onnx.parser.parse_model(HEAD.replace('"": 21', '"": 11') + text)).diagnostics
    assert "import version 13" in str(found[0].hint)
    assert 0 < len(noted) <= 20
