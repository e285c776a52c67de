# SPDX-License-Identifier: Apache-2.0
"""The flow of shapes: declarations, initializers, functions, control flow, and the cost of hostile models."""

from __future__ import annotations

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import TensorProto, helper, numpy_helper

from onnx_lint.inference.shapes.dims import Shape
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model

HEAD = '<ir_version: 10, opset_import: ["" : 21, "d" : 1]>'
OPSETS = [helper.make_opsetid("", 21), helper.make_opsetid("d", 1)]


def _load(proto: onnx.ModelProto) -> Model:
    return load(BytesSource(proto.SerializeToString()), "model.onnx")


def _parsed(text: str) -> Model:
    return _load(onnx.parser.parse_model(HEAD + text))


# --- two things said of one value


def test_a_declaration_is_knowledge_and_a_wrong_one_leads_to_one_finding():
    model = _parsed("""
        g (float[2, N] x) => (float[2, 5] y) <float[2, 5] h, float[7, 7] o> {
            h = Relu(x)
            y = Relu(h)
            o = d.Own(x)
        }
    """)
    assert (model.shape_of("h"), model.shape_of("y"), model.shape_of("o")) == ((2, 5), (2, 5), (7, 7))
    assert not model.value_flow.has_shape_conflicts
    model = _parsed("g (float[2, 3] x) => (float[2, 5] y) <float[2, 5] h> { h = Relu(x) y = Relu(h) }")
    [conflict] = model.value_flow.declared_shapes
    assert (conflict.field, conflict.subject) == ("value_info", "h")
    # What both agree on goes on, so that the output has no finding of its own.
    assert model.shape_of("h") == (2, None)


def test_shapes_of_values_of_inner_graphs_and_functions():
    model = _parsed("""
        g (float[2, 3] x, bool c) => (float[a, b] y) {
            h = Transpose (x)
            y = If (c) <then_branch = t () => (float[a, b] o) { i = Relu(h) o = d.Twice(i) },
                        else_branch = e () => (float[a, b] o) { o = Identity(h) }>
        }
        <domain: "d", opset_import: ["": 21]> Twice (a) => (b) { f = Concat <axis = 0> (a, a) b = Relu(f) }
    """)
    then_branch = model.nested_graphs[0]
    body = model.functions[0].body
    names = ("x", "h", "i", "o", "f", "nothing")
    assert [model.shape_of(name) for name in names] == [(2, 3), (3, 2), None, None, None, None]
    assert [model.shape_of(name, then_branch) for name in names] == [(2, 3), (3, 2), (3, 2), (6, 2), None, None]
    assert [model.shape_of(name, body) for name in ("a", "f", "b", "x")] == [(3, 2), (6, 2), (6, 2), None]


def test_the_shape_of_an_input_counts_before_that_of_its_initializer():
    proto = onnx.parser.parse_model(HEAD + "g (float[N, 3] x) => (float[a, b] y) { y = Relu(x) }")
    proto.graph.initializer.append(numpy_helper.from_array(np.zeros((2, 3), np.float32), "x"))
    assert _load(proto).shape_of("y") == ("a", 3)
    proto.graph.output[0].type.tensor_type.shape.ClearField("dim")
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    assert _load(proto).shape_of("y") == ("N", 3)


# --- functions


def test_a_function_has_the_shapes_of_each_call_and_the_attributes_of_each_call():
    model = _parsed("""
        g (float[2, 3] x) => (float[a] y, float[b] z) {
            y = d.Turn<perm = [1, 0]>(x)
            z = d.Turn<perm = [0, 1]>(x)
        }
        <domain: "d", opset_import: ["" : 21]>
        Turn <perm> (a) => (b) { b = Transpose<perm: ints = @perm>(a) }
    """)
    found = model.value_flow.declared_shapes
    assert [conflict.inferred.shape for conflict in found] == [(3, 2), (2, 3)]


def test_types_are_known_where_the_budget_for_shapes_is_used_up(monkeypatch: pytest.MonkeyPatch):
    from onnx_lint.inference.flow import walk_budget

    monkeypatch.setattr(walk_budget, "REPEATED_WALK_BUDGET", 10)
    inputs = [helper.make_tensor_value_info(f"x{index}", TensorProto.FLOAT, [index]) for index in range(50)]
    nodes = [helper.make_node("F", [f"x{index}"], [f"y{index}"], domain="d") for index in range(50)]
    function = helper.make_function("d", "F", ["a"], ["b"], [helper.make_node("Relu", ["a"], ["b"])], OPSETS[:1])
    graph = helper.make_graph(nodes, "g", inputs, [onnx.ValueInfoProto(name="y0")])
    flow = _load(helper.make_model(graph, opset_imports=OPSETS, functions=[function])).value_flow
    assert flow.shape_of("y0") == (0,)
    assert flow.shape_of("y49") is None
    assert flow.types["y49"] == "tensor(float)"


# --- control flow


def test_an_if_has_what_its_branches_have_in_common():
    model = _parsed("""
        g (bool c, float[2, N, 3] x, float[2, N, 4] w) => (float[] y) {
            y = If (c) <
                then_branch = t () => (float[] p) { p = Relu(x) },
                else_branch = e () => (float[] q) { q = Relu(w) }
            >
        }
    """)
    assert model.shape_of("y") == (2, "N", None)
    assert not model.value_flow.has_shape_conflicts


def test_scan_outputs_of_a_loop_have_one_axis_more_and_carried_values_the_shape_that_runs_keep():
    model = _parsed("""
        g (int64 n, bool c, float[2, 3] x) => (float[] y, float[] s) {
            y, s = Loop (n, c, x) <body = b (int64 i, bool go, float[] v) => (bool on, float[] w, float[] r) {
                on = Identity(go)
                w = Relu(v)
                r = Relu(x)
            }>
        }
    """)
    assert (model.shape_of("y"), model.shape_of("s")) == ((2, 3), (None, 2, 3))
    assert not model.value_flow.has_shape_conflicts


@pytest.mark.parametrize(("declared", "expected"), [("float[]", None), ("float[a, 3]", (0, None, 3))])
def test_a_scan_output_of_a_loop_without_runs_has_only_its_declared_shape(declared: str, expected: Shape):
    model = _parsed(f"""
        g (float[2, 3] x, int64[2] d) => (float[] y, float[] s) {{
            n = Constant <value_int = 0> () c = Constant <value = bool {{1}}> ()
            y, s = Loop (n, c, x) <body = b (int64 i, bool go, float[] v) => (bool on, float[] w, {declared} r) {{
                on = Identity(go) w = Relu(v) r = Reshape(x, d)
            }}>
        }}
    """)
    assert (model.shape_of("y"), model.shape_of("s")) == ((2, 3), expected)
    assert not model.value_flow.has_shape_conflicts


def test_a_loop_of_one_run_returns_what_this_run_makes_whatever_its_condition():
    model = _parsed("""
        g (float[2, 3] x) => (float[] y, float[] s) {
            n = Constant <value_int = 1> () c = Constant <value = bool {1}> ()
            y, s = Loop (n, c, x) <body = b (int64 i, bool go, float[] v) => (bool on, float[] w, float[] r) {
                m = ReduceSum <keepdims = 0> (v) z = Constant <value_float = 0.0> () on = Greater(m, z)
                w = Concat <axis = 0> (v, x) r = Relu(v)
            }>
        }
    """)
    assert (model.shape_of("y"), model.shape_of("s")) == ((4, 3), (1, 2, 3))


def test_a_value_that_a_loop_carries_has_what_all_its_runs_have_in_common():
    model = _parsed("""
        g (int64 n, bool c, float[2, 3] x, float[7, 3] w, seq(float[2, 3]) q) => (float[] y, seq(float[]) s) {
            y, s = Loop (n, c, x, q) <
                body = b (int64 i, bool go, float[] v, seq(float[]) r) => (bool on, float[] u, seq(float[]) t) {
                    on = Identity(go)
                    u = Relu(w)
                    t = SequenceConstruct(x, w)
                }
            >
        }
    """)
    assert model.shape_of("y") == (None, 3)
    inside = model.value_flow.facts["s"].inside
    assert inside is not None
    assert inside.shape == (None, 3)
    assert not model.value_flow.has_shape_conflicts


def test_sequences_and_optionals_out_of_branches_hold_what_both_have_in_common():
    model = _parsed("""
        g (bool c, float[2, N, 3] x, float[2, N, 4] w) => (float[] y) {
            s = If (c) <
                then_branch = t () => (seq(float[]) p) { p = SequenceConstruct(x) },
                else_branch = e () => (seq(float[]) q) { q = SequenceConstruct(w, w) }
            >
            o = Optional(s)
            r = OptionalGetElement(o)
            y = ConcatFromSequence <axis = -1> (r)
        }
    """)
    assert model.shape_of("y") == (2, "N", None)
    assert not model.value_flow.has_shape_conflicts


def test_a_map_takes_what_was_inserted_at_unknown_places_for_any_element():
    model = _parsed("""
        g (float[2] a, float[4] b, seq(float[?]) q) => (float[] y) {
            s = SequenceConstruct(a, b)
            w = SequenceInsert(q, a)
            v = SequenceInsert(w, b)
            t = SequenceMap(s, v) <body = m (float[] one, float[] other) => (float[] r) { r = Relu(other) }>
            zero = Constant<value_int = 0>()
            y = SequenceAt(t, zero)
        }
    """)
    assert model.shape_of("y") == (None,)


def _loops(depth: int) -> str:
    """Return a graph with Loops in Loops whose innermost body doubles an axis in each run."""
    body = "o = Concat<axis = 0>(v, v)"
    for level in range(depth):
        loop = f"b{level} (int64 i, bool go, float[] v) => (bool on, float[] o)"
        body = f"o = Loop (n, c, v) <body = {loop} {{ on = Identity(go) {body} }}>"
    return f"g (int64 n, bool c, float[2, 3] v) => (float[] o) {{ {body} }}"


def test_loops_in_loops_keep_what_their_runs_keep():
    assert _parsed(_loops(3)).shape_of("o") == (None, 3)


@pytest.mark.slow
def test_trials_of_loops_in_loops_are_bounded():
    # Each depth multiplies the trials by up to five.
    flow = _parsed(_loops(14)).value_flow
    assert not flow.trials.has_budget
    assert flow.shape_of("o") is None


# --- hostile models


def test_functions_that_call_each_other_with_ever_more_dimensions_end():
    functions = []
    for index in range(32):
        nodes = [helper.make_node("Relu", ["a"], ["b"])]
        if index < 31:
            nodes = [
                helper.make_node("Unsqueeze", ["a", "z"], ["u"]),
                helper.make_node(f"F{index + 1}", ["a", "z"], ["p"], domain="d"),
                helper.make_node(f"F{index + 1}", ["u", "z"], ["b"], domain="d"),
            ]
        functions.append(helper.make_function("d", f"F{index}", ["a", "z"], ["b"], nodes, OPSETS))
    graph = helper.make_graph(
        [helper.make_node("F0", ["x", "z"], ["y"], domain="d")],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [onnx.ValueInfoProto(name="y")],
        [numpy_helper.from_array(np.array([0], np.int64), "z")],
    )
    model = _load(helper.make_model(graph, opset_imports=OPSETS, functions=functions))
    assert model.shape_of("y") == (1,) * 31 + (2,)


def test_what_grows_with_each_node_ends():
    nodes = [helper.make_node("Concat", [f"v{index}"] * 64, [f"v{index + 1}"], axis=0) for index in range(40)]
    nodes += [helper.make_node("Mul", [f"m{index}"] * 2, [f"m{index + 1}"]) for index in range(200)]
    nodes += [helper.make_node("Unsqueeze", [f"u{index}", "z"], [f"u{index + 1}"]) for index in range(300)]
    names = ("v0", "m0", "u0", "z")
    initializers = [numpy_helper.from_array(np.array([0 if name == "z" else 3], np.int64), name) for name in names]
    outputs = [onnx.ValueInfoProto(name=name) for name in ("v40", "m200", "u300")]
    graph = helper.make_graph(nodes, "g", [], outputs, initializers)
    model = _load(helper.make_model(graph, opset_imports=OPSETS))
    flow = model.value_flow
    # The sizes of 64 ** 11 and more are beyond an int64, and so are numbers squared six times.
    assert flow.shape_of("v10") == (64**10,)
    assert flow.shape_of("v11") is None
    assert (flow.facts["m5"].content, flow.facts["m6"].content) == ((3**32,), None)
    assert flow.shape_of("u300") is None
    assert [conflict.node.outputs for conflict in flow.shapes] == [("v11",)]
