# SPDX-License-Identifier: Apache-2.0
"""Where a program may not see a fault, a target does not say that it refuses the model."""

from __future__ import annotations

import onnx
import onnx.checker
import onnx.parser
import pytest

import onnx_lint
from onnx_lint.engine.targets.inferred_shapes import INFERRED, INFERRED_SINCE, InferredShapes
from onnx_lint.ir.operators.kept_nodes import KeptNodes
from onnx_lint.spec.operators import BUILT_IN
from onnx_lint.spec.target import CHECKER, FULL_CHECK

HEAD = '<ir_version: 8, opset_import: ["": 17, "com.acme": 1, "loc": 1%s]>'
FUNCTION = '<domain: "%s", opset_import: ["": %d]> %s (a) => (b) { b = Mish(a) }'


def model(graph: str, *functions: str, opsets: str = "") -> onnx.ModelProto:
    """Return a model of a graph in onnx's textual syntax, such as `(float[4] x) => (float[4] y) { y = Relu(x) }`."""
    return onnx.parser.parse_model("\n".join([HEAD % opsets, f"g {graph}", *functions]))


def with_type(found: onnx.ModelProto, data_type: int) -> onnx.ModelProto:
    found.graph.initializer[0].data_type = data_type
    return found


def state(found: onnx.ModelProto, target: str) -> bool | None:
    """Return whether a program takes a model, by its target. The checks of onnx are asked whether that is untrue."""
    answer = onnx_lint.lint(found, target=target).files[0].targets[0].loads
    if answer is not None and target in (CHECKER, FULL_CHECK):
        try:
            onnx.checker.check_model(found, full_check=target == FULL_CHECK)
            assert answer
        except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
            assert not answer
    return answer


WRONG = "m = Relu(x) y = Identity(m)"
HIDDEN = (
    "(float[4] x) => (float[4] y) <float[5] m, float[4] z> { z = com.acme.Zap(x) m = Relu(x) y = Identity(m) }",
    "(float[4] x) => (float[4] y) <float[5] m> { m = Relu(x) z = com.acme.Zap(x) y = Identity(m) }",
    "(float[2, 3] x) => (float[n, k] y) <int64[2] s = {3, 2}, float[2, 3] m> { m = Reshape(x, s) y = Identity(m) }",
    "(float[2, 3] x) => (float[n, k] y) <int64[2] s = {3, 2}, float[2, 2] m> "
    "{ r = Reshape(x, s) m = Relu(r) y = Identity(m) }",
    "(float[n] x) => (float[k] y) <float[n] w, float[k, 2] m> { m = Relu(x) y = Identity(m) }",
)


@pytest.mark.parametrize("graph", HIDDEN)
def test_a_shape_that_onnx_may_not_infer_is_not_said_to_be_refused(graph: str) -> None:
    report = onnx_lint.lint(model(graph), target=FULL_CHECK)
    assert [item.by_target.answers for item in report.diagnostics if item.clause == "VI-6a"] == [()]
    assert state(model(graph), FULL_CHECK) is None


def test_a_shape_that_onnx_infers_without_contents_is_refused() -> None:
    assert state(model(f"(float[4] x) => (float[4] y) <float[5] m> {{ {WRONG} }}"), FULL_CHECK) is False
    in_branch = (
        "(bool c, float[4] x) => (float[4] y) { y = If(c) <then_branch = t () => (float[4] u) <float[5] m>"
        " { m = Relu(x) u = Identity(m) }, else_branch = e () => (float[4] v) { v = Identity(x) }> }"
    )
    assert state(model(in_branch), FULL_CHECK) is False


SHAPES = {
    **dict.fromkeys(("Conv", "GlobalAveragePool", "GlobalMaxPool"), ([1, 1, 4, 4], [1, 1, 2, 2])),
    **dict.fromkeys(("BatchNormalization", "InstanceNormalization"), ([1, 2, 4], [2])),
    "Gather": ([2, 3], [2]),
    "Gemm": ([2, 2], [2, 2]),
    "LayerNormalization": ([2, 3], [3]),
    "MatMul": ([2, 3], [3, 2]),
}
"""The shape of input 0 and of the others, for operators that do not take any two equal ones."""
ATTRIBUTES = {"Cast": {"to": onnx.TensorProto.FLOAT}, "Concat": {"axis": 0}}
LOGICAL = ("And", "Not", "Or", "Xor")
BOOLEAN = (*LOGICAL, "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual")


def with_wrong_rank(name: str, version: int) -> onnx.ModelProto:
    """Return a model with an operator, and a declaration of its output with five dimensions more than any has."""
    operator = BUILT_IN.find("", name, version)
    assert operator is not None
    count = max(operator.min_input, 1 + (name in ("Concat", "Max", "Mean", "Min", "Sum")))
    first, others = SHAPES.get(name, ([2, 3], [2, 3]))
    float_type, int_type, bool_type = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64, onnx.TensorProto.BOOL
    types = [bool_type if name in LOGICAL or (name == "Where" and not index) else float_type for index in range(count)]
    types[1:] = [int_type] if name == "Gather" else types[1:]
    made = bool_type if name in BOOLEAN else int_type if name == "Shape" else float_type
    value = onnx.helper.make_tensor_value_info
    inputs = [value(f"x{index}", kind, others if index else first) for index, kind in enumerate(types)]
    nodes = [
        onnx.helper.make_node(name, [each.name for each in inputs], ["y"], **ATTRIBUTES.get(name, {})),
        onnx.helper.make_node("Size", ["y"], ["z"]),
    ]
    graph = onnx.helper.make_graph(
        nodes, "g", inputs, [value("z", int_type, [])], value_info=[value("y", made, [9] * 9)]
    )
    return onnx.helper.make_model(graph, ir_version=8, opset_imports=[onnx.helper.make_opsetid("", version)])


@pytest.mark.parametrize("name", sorted(INFERRED - {"Constant"}))
def test_onnx_infers_the_outputs_of_the_operators_that_are_listed(name: str) -> None:
    """From shapes alone, in each version. The declared rank is refused, and nothing else."""
    since = {max(each, INFERRED_SINCE) for each in BUILT_IN.versions("", name)}
    for version in since - ({7} if name == "Equal" else set()):  # Equal of floats came later
        wrong = with_wrong_rank(name, version)
        assert state(wrong, FULL_CHECK) is False, version
        wrong.graph.ClearField("value_info")
        onnx.checker.check_model(wrong, full_check=True)


def test_a_constant_has_a_shape_that_onnx_infers() -> None:
    constant = "k = Constant<value = float[4] {1, 2, 3, 4}>()"
    graph = f"(float[4] x) => (float[4] y) <float[5] m> {{ {constant} m = Add(x, k) y = Identity(m) }}"
    assert state(model(graph), FULL_CHECK) is False


BRANCHES = (
    "(bool c, float[4] x) => (float[4] y) { %s y = If(c) <then_branch = t () => (float[4] u, float[4] w)"
    " { u = Relu(x) w = Relu(x) }, else_branch = e () => (float[4] v) { v = Identity(x) }> }"
)


@pytest.mark.parametrize(("before", "expected"), [("", False), ("z = com.acme.Zap(x)", None)])
def test_a_signature_of_a_branch_is_not_judged_beside_operators_that_onnx_does_not_know(
    before: str, expected: bool | None
) -> None:
    report = onnx_lint.lint(model(BRANCHES % before))
    assert "SUB-7a" in {item.clause for item in report.diagnostics}
    assert state(model(BRANCHES % before), FULL_CHECK) is expected


@pytest.mark.parametrize(
    ("node", "data_type", "expected"),
    [
        ("y = Relu(x)", 99, None),
        ("y = Add(x, w)", 99, False),
        ("y = Relu(x)", onnx.TensorProto.UNDEFINED, False),
        ("z = com.acme.Zap(x) y = Add(x, w)", 99, None),
    ],
)
def test_an_unknown_type_of_a_tensor_is_seen_where_a_node_reads_it(
    node: str, data_type: int, expected: bool | None
) -> None:
    found = model(f"(float[1] x) => (float[1] y) <float[1] w = {{1}}> {{ {node} }}")
    assert state(with_type(found, data_type), FULL_CHECK) is expected


@pytest.mark.parametrize("target", ["onnx.checker", "onnx.full_check", "onnxruntime=1.17.3", "onnxruntime=1.32"])
@pytest.mark.parametrize(("name", "expected"), [("ATen", None), ("Crop", None), ("Foo", False)])
def test_a_function_may_have_the_name_of_a_removed_experimental_operator(
    target: str, name: str, expected: bool | None
) -> None:
    function = f'<domain: "", opset_import: ["": 17]> {name} (a) => (b) {{ b = Relu(a) }}'
    found = model(f"(float[4] x) => (float[4] y) {{ y = {name}(x) }}", function)
    found.functions[0].domain = ""
    assert "FUN-24a" in {item.clause for item in onnx_lint.lint(found).diagnostics}
    assert state(found, target) is expected


@pytest.mark.parametrize("target", ["onnx.checker", "onnxruntime=1.17.3", "onnxruntime=1.32"])
@pytest.mark.parametrize("node", ["y = Relu(x)", "y = loc.f(x)"])
def test_onnx_runtime_does_not_judge_a_function_that_nothing_calls(target: str, node: str) -> None:
    found = model(f"(float[4] x) => (float[4] y) {{ {node} }}", FUNCTION % ("loc", 18, "f"))
    assert "FUN-14a" in {item.clause for item in onnx_lint.lint(found).diagnostics}
    is_seen = "loc" in node or target == "onnx.checker"
    assert state(found, target) is not is_seen


@pytest.mark.parametrize(("inputs", "expected"), [("int32[4] x", False), ("int32[4] x, int32[4] k", None)])
def test_a_divisor_that_an_input_may_replace_is_no_constant(inputs: str, expected: bool | None) -> None:
    found = model(f"({inputs}) => (int32[4] y) <int32[4] k = {{1, 0, 1, 1}}> {{ y = Div(x, k) }}")
    assert "NOD-8f" in {item.clause for item in onnx_lint.lint(found).diagnostics}
    assert state(found, "onnxruntime=1.32") is expected


IF = (
    "{condition}y = If(c) <then_branch = t () => (float[1, 1, 1, 2] u) {{ u = {node} }},"
    " else_branch = e () => (float[1, 1, 1, 2] v) {{ v = Identity(o) }}>"
)


@pytest.mark.parametrize("call", ["LSTM(x, w, r)", "loc.f(x, w, r)"])
@pytest.mark.parametrize(("condition", "expected"), [("c = Constant<value = bool {0}>() ", None), ("", False)])
def test_a_branch_that_is_dropped_needs_no_kernel(call: str, condition: str, expected: bool | None) -> None:
    inputs = "float[1, 1, 3] x, float[1, 8, 3] w, float[1, 8, 2] r, float[1, 1, 1, 2] o" + (
        ", bool c" if not condition else ""
    )
    function = '<domain: "loc", opset_import: ["": 17]> f (a, b, d) => (e) { e = LSTM(a, b, d) }'
    graph = f"({inputs}) => (float[1, 1, 1, 2] y) {{ {IF.format(condition=condition, node=call)} }}"
    found = model(graph, *([function] if "loc" in call else []))
    assert "NOD-7g" in {item.clause for item in onnx_lint.lint(found).diagnostics}
    assert state(found, "onnxruntime=1.32") is expected


@pytest.mark.parametrize("node", ["Relu(x)", "com.acme.Zap(x)"])
@pytest.mark.parametrize("target", [CHECKER, FULL_CHECK])
def test_a_node_without_outputs_in_a_branch_is_not_said_to_be_accepted(target: str, node: str) -> None:
    """The checks look at the signatures of operators that they know."""
    found = model((BRANCHES % "").replace(", float[4] w", "").replace("w = Relu(x)", f"w = {node}"))
    del found.graph.node[0].attribute[0].g.node[1].output[:]
    assert "NOD-1" in {item.clause for item in onnx_lint.lint(found).diagnostics}
    assert state(found, target) is None


def calls_of(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> list[None]:
    """Return a list that gets an entry with each call of a method."""
    calls: list[None] = []
    original = getattr(owner, name)

    def counted(*arguments: object) -> object:
        calls.append(None)
        return original(*arguments)

    monkeypatch.setattr(owner, name, counted)
    return calls


def test_many_wrong_shapes_look_at_each_node_before_them_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = calls_of(monkeypatch, InferredShapes, "_needs_only_shapes")
    before = "".join(f" v{index + 1} = Relu(v{index})" for index in range(20))
    wrong = "".join(f" w{index} = Relu(v20)" for index in range(20))
    declared = ", ".join(f"float[{index + 5}] w{index}" for index in range(20))
    found = model(f"(float[4] v0) => (float[4] v20) <{declared}> {{{before}{wrong} }}")
    report = onnx_lint.lint(found, target=FULL_CHECK)
    assert sum(item.count for item in report.diagnostics if item.clause == "VI-6a") == 20
    assert 20 <= len(calls) <= 50  # the findings and the line about the target look once


def test_many_nodes_without_a_required_attribute_need_the_kept_nodes_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = calls_of(monkeypatch, KeptNodes, "__init__")
    nodes = "".join(f" y{index} = LSTM(x, w, r)" for index in range(20))
    outputs = ", ".join(f"float[5, 1, 2, 3] y{index}" for index in range(20))
    found = model(f"(float[5, 2, 4] x, float[1, 12, 4] w, float[1, 12, 3] r) => ({outputs}) {{{nodes} }}")
    report = onnx_lint.lint(found, target="onnxruntime=1.32")
    assert sum(item.count for item in report.diagnostics if item.clause == "NOD-7g") == 20
    assert 1 <= len(calls) <= 3
