# SPDX-License-Identifier: Apache-2.0
"""Inferred contents, compared with the reference implementation of onnx, and contents that must stay unknown."""

from __future__ import annotations

import math
import random

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from support.project.each_case import each_case

from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.shapes.computed_elements import FUNCTIONS
from onnx_lint.inference.shapes.contents import CONTENT_RULES
from onnx_lint.inference.shapes.rules import shape_rule
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.spec.operators import OperatorSchemas

INT64, BOOL = np.int64, np.bool_


def flow_of(model: onnx.ModelProto) -> ValueFlow:
    return load(BytesSource(model.SerializeToString()), "model.onnx").value_flow


def model_of(node: onnx.NodeProto, inputs: dict[str, np.ndarray], version: int = 25) -> onnx.ModelProto:
    tensors = [numpy_helper.from_array(value, name) for name, value in inputs.items()]
    outputs = [onnx.ValueInfoProto(name=name) for name in node.output]
    graph = helper.make_graph([node], "g", [], outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=onnx.IR_VERSION)


def _numbers(seed: random.Random, size: int | None) -> np.ndarray:
    found = np.array([seed.choice((-7, -1, 0, 1, 2, 3, 5, 64)) for _ in range(size or 1)], INT64)
    return found if size is not None else found.reshape(())


def _elementwise(seed: random.Random, operator: str) -> dict[str, np.ndarray]:
    count = seed.choice((2, 3)) if operator in ("Max", "Min") else CONTENT_RULES[operator].reads
    sizes = [seed.choice((None, 1, 3)) for _ in range(count)]
    values = [_numbers(seed, size) for size in sizes]
    if operator in ("And", "Or", "Not"):
        values = [value > 0 for value in values]
    if operator == "Where":
        values[0] = values[0] > 0
    if operator in ("Div",):
        values[1] = np.where(values[1] == 0, 4, values[1])
    return {f"x{index}": value for index, value in enumerate(values)}


ELEMENTWISE = {
    *("Abs", "Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Min"),
    *("Mul", "Neg", "Not", "Or", "Sub", "Where"),
}


def _of_rank_2(seed: random.Random, operator: str) -> tuple[dict[str, np.ndarray], dict[str, object]]:
    data, axis = _numbers(seed, 6).reshape(3, 2), seed.choice((0, 1, -1))
    if operator == "Concat":
        return {"x": data, "y": _numbers(seed, 6).reshape(3, 2)}, {"axis": axis}
    if operator == "Gather":
        return {"x": data, "i": np.array([[1, 0], [0, -1]], INT64)}, {"axis": axis}
    # As PyTorch turns pads around.
    lists = ([-1], [-(2**63)], [0], [-1]), ([1, 0], [9, 1], [0, 1], [1, 1])
    return {"x": data} | {
        name: np.array(each, INT64) for name, each in zip("seat", seed.choice(lists), strict=True)
    }, {}


def _reduction(seed: random.Random) -> dict[str, object]:
    """The attribute of a scatter."""
    reduction = seed.choice(("", "add", "mul", "max", "min"))
    return {"reduction": reduction} if reduction else {}


def _cases(seed: random.Random, operator: str) -> tuple[dict[str, np.ndarray], dict[str, object]]:
    if operator in ELEMENTWISE:
        return _elementwise(seed, operator), {}
    data = _numbers(seed, seed.choice((1, 3, 5)))
    size = len(data)

    def ints(*numbers: int) -> np.ndarray:
        return np.array(numbers, INT64)

    match operator:
        case "Identity" | "Size" | "Shape" | "Flatten":
            return {"x": data}, {}
        case "CastLike":
            return {"x": data, "like": np.zeros(1, seed.choice((np.int32, np.float16)))}, {}
        case "Transpose":
            return {"x": _numbers(seed, 6).reshape(2, 3)}, {"perm": [1, 0]} if seed.random() < 0.5 else {}
        case "Tile":
            return {"x": _numbers(seed, 6).reshape(3, 2), "r": ints(seed.choice((1, 2)), 3)}, {}
        case "NonZero":
            return {"x": seed.choice((data, _numbers(seed, 6).reshape(3, 2)))}, {}
        case "ScatterElements":
            places = ints(*seed.choice(((0,), (-1,), (0, -1), (0, 0))))
            return {"x": np.resize(data, 2), "i": places, "u": _numbers(seed, len(places))}, _reduction(seed)
        case "ScatterND":
            x = _numbers(seed, 6).reshape(3, 2)
            indices = [ints(2, 0).reshape(2, 1), ints(2, 1, -1, 0).reshape(2, 2)]
            return seed.choice(
                [
                    {"x": x, "i": indices[0], "u": _numbers(seed, 4).reshape(2, 2)},
                    {"x": x, "i": indices[1], "u": _numbers(seed, 2)},
                    {"x": x, "i": ints(1, 1).reshape(2, 1), "u": _numbers(seed, 4).reshape(2, 2)},
                ]
            ), _reduction(seed)
        case "Cast":
            return {"x": data}, {"to": seed.choice((6, 7))}
        case "Squeeze":
            return {"x": data[:1], "a": ints(0)}, {}
        case "Unsqueeze":
            return {"x": data[0].reshape(()), "a": ints(seed.choice((0, -1)))}, {}
        case "Reshape":
            return {"x": data[:1], "s": seed.choice((ints(), ints(-1)))}, {}
        case "Gather" | "Slice" | "Concat" if seed.random() < 0.5:
            return _of_rank_2(seed, operator)
        case "Gather":
            index = seed.choice((np.array(size - 1, INT64), ints(0, -1)))
            return {"x": data, "i": index}, {}
        case "Slice":
            bounds = [seed.choice((-9, -2, -1, 0, 1, 2, 9)) for _ in range(2)]
            return {
                "x": data,
                "s": ints(bounds[0]),
                "e": ints(bounds[1]),
                "a": ints(0),
                "t": ints(seed.choice((-2, -1, 1, 2))),
            }, {}
        case "Concat":
            return {"x": data, "y": _numbers(seed, 2)}, {"axis": 0}
        case "Expand":
            return {"x": data[:1], "s": ints(3)}, {}
        case "ConstantOfShape":
            return {"x": ints(3)}, {"value": numpy_helper.from_array(ints(seed.choice((0, 5))))}
        case "Range":
            start, limit, delta = (np.array(seed.choice((-3, 0, 4, 9)), INT64), np.array(7, INT64), np.array(2, INT64))
            return {"x": start, "y": limit, "d": delta}, {}
        case "Constant":
            return {}, {"value_ints": data.tolist()}
    raise AssertionError(operator)


ON_SEQUENCES = {"OptionalHasElement", "SequenceLength"}
"""Operators that are tested elsewhere, in `test_computed_elements.py` and `tests/inference/flow/test_counts.py`."""


def _followed() -> list[str]:
    """The operators through which contents are followed, of those that have a shape rule."""
    schemas = {name: OperatorSchemas().find("", name, 25) for name in CONTENT_RULES}
    ruled = {name for name, schema in schemas.items() if schema is not None and shape_rule(schema) is not None}
    return sorted(ruled - ON_SEQUENCES - FUNCTIONS.keys() - {"Ceil", "Floor", "Mean", "Relu", "Round", "Sqrt", "Sum"})


@each_case("operator", _followed())
def test_the_content_is_that_of_the_reference_implementation(operator: str):
    seed = random.Random(operator)
    known = 0
    for _ in range(25):
        inputs, attributes = _cases(seed, operator)
        node = helper.make_node(operator, list(inputs), ["y"], **attributes)
        model = model_of(node, inputs)
        found = flow_of(model).facts["y"]
        expected = ReferenceEvaluator(model).run(None, {})[0]
        if found.shape is not None:
            assert len(found.shape) == expected.ndim
        if found.content is not None:
            known += 1
            assert len(found.content) == expected.size
            pairs = zip(found.content, expected.reshape(-1).tolist(), strict=True)
            assert all(element is None or element == real for element, real in pairs)
    assert known, "no content is known"


def test_variables_go_through_what_exporters_write():
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        g (float[batch, 12, 64] x) => (float[a, b, c] y)
        <int64[1] zero = {0}, int64 first = {0}, int64[2] rest = {3, 256}>
        {
            s = Shape(x)
            b = Gather(s, first)
            u = Unsqueeze(b, zero)
            t = Concat<axis = 0>(u, rest)
            y = Reshape(x, t)
        }
    """)
    flow = flow_of(model)
    assert flow.shape_of("y") == ("a", 3, 256)
    assert flow.facts["t"].content == ("batch", 3, 256)


@each_case(
    ("text", "expected"),
    [
        ("y = Equal(n, minus)", (0,)),
        ("y = Equal(n, n)", (1,)),
        ("y = Equal(n, two)", None),
        ("y = Sub(n, n)", (0,)),
        ("y = Mul(n, one)", ("N",)),
        ("y = Mul(n, two)", ("2*N",)),
        ("y = Add(n, two)", ("N + 2",)),
        ("y = Add(n, minus)", None),
        ("y = Sub(n, one)", None),
        ("a = Add(n, two)  y = Sub(a, one)", ("N + 1",)),
        ("a = Add(n, two)  y = Equal(a, minus)", (0,)),
        ("y = Div(n, two)", ("(N//2)",)),
        ("y = Div(n, minus)", None),
        ("a = Mul(n, two)  y = Div(a, two)", ("N",)),
        ("a = Mul(n, n)  y = Div(a, n)", ("N",)),
        ("y = Div(n, one)", ("N",)),
        ("y = Max(n, two)", ("max(N, 2)",)),
        ("y = Min(n, two)", ("min(N, 2)",)),
        ("y = Max(n, minus)", ("N",)),
        ("y = Min(n, minus)", (-1,)),
    ],
)
def test_what_is_known_of_a_variable(text: str, expected: tuple[object, ...] | None):
    model = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        g (float[N] x) => (int64[1] y)
        <int64[1] minus = {{-1}}, int64[1] one = {{1}}, int64[1] two = {{2}}>
        {{ n = Shape(x)  {text} }}
    """)
    assert flow_of(model).facts["y"].content == expected


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ("kernel_shape = [2], strides = [2]", "max(((L - 2)//2) + 1, 1)"),
        ("kernel_shape = [2]", "L - 1"),
        ("kernel_shape = [3], strides = [2], pads = [1, 1]", "((L - 1)//2) + 1"),
        ("kernel_shape = [3], strides = [2]", None),
        ('kernel_shape = [3], auto_pad = "SAME_UPPER"', "L"),
        ('kernel_shape = [3], auto_pad = "SAME_UPPER", dilations = [2]', None),
        ('kernel_shape = [1], auto_pad = "SAME_LOWER", dilations = [2]', "L"),
    ],
    ids=[
        "a window may stick out",
        "one step at a time",
        "padding has room for the window",
        "there may be no number",
        "the padding follows",
        "ONNX Runtime pads without the dilation",
        "one element has no dilation",
    ],
)
def test_a_pool_accepts_a_window_larger_than_its_input(attributes: str, size: str | None):
    model = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        g (float[1, 1, L] x) => (float[1, 1, M] y) {{ p = MaxPool <{attributes}> (x)  y = Relu (p) }}
    """)
    shape = flow_of(model).facts["p"].shape
    assert shape == (1, 1, size)
    if size is not None and size.startswith("max"):  # ONNX Runtime divides towards zero
        assert [eval(size, {"L": length, "max": max}) for length in (1, 2, 3, 4)] == [1, 1, 1, 2]


@pytest.mark.parametrize(("then", "expected"), [("p", None), ("p + s", "'p + s'")])
def test_an_if_with_two_sizes_has_none_of_a_name_that_reads_as_an_expression(then: str, expected: str | None):
    model = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        g (float[p] a0, float["p + s"] b0, bool c) => (float["p + s"] y) {{
          y = If (c) <then_branch = t () => (float["{then}"] v) {{ v = Relu ({"b0" if " " in then else "a0"}) }},
                      else_branch = e () => (float["p + s"] w) {{ w = Relu (b0) }}> }}
    """)
    assert flow_of(model).facts["y"].shape == (expected,)


@pytest.mark.parametrize(
    ("number", "to", "found"),
    [(2**40 + 7, 6, 7), (2**31, 6, -(2**31)), (200, 3, -56), (-1, 2, 255), (-1, 4, 2**16 - 1), (-2, 9, 1), (-5, 3, -5)],
)
def test_a_cast_between_integers_keeps_the_lower_bits(number: int, to: int, found: int):
    nodes = [helper.make_node("Cast", ["x"], ["z"], to=to), helper.make_node("Cast", ["z"], ["y"], to=7)]
    graph = helper.make_graph(nodes, "g", [], [onnx.ValueInfoProto(name="y")], [])
    graph.initializer.append(onnx.numpy_helper.from_array(np.array([number, 3], INT64), "x"))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    assert ReferenceEvaluator(model).run(["y"], {})[0].tolist() == [found, 1 if to == 9 else 3]
    assert flow_of(model).facts["y"].content == (found, 1 if to == 9 else 3)


def test_what_an_element_type_cannot_hold_is_unknown():
    x = np.array([2**40, 3], np.float32)
    model = model_of(helper.make_node("Cast", ["x"], ["y"], to=6), {"x": x})
    assert flow_of(model).facts["y"].content == (None, 3)
    x = np.array([2**40, 3], INT64)
    model = model_of(helper.make_node("Mul", ["x", "x"], ["y"]), {"x": x})
    assert flow_of(model).facts["y"].content == (None, 9)


@pytest.mark.parametrize(
    ("number", "to", "back"),
    [
        (7, 1, 7),
        (2**24 + 1, 1, 2**24),
        (2**24 + 1, 11, 2**24 + 1),
        (2**11, 10, 2**11),
        (2**11 + 1, 10, 2**11),
        (70_000, 10, None),
        (2**53 + 1, 1, None),
        (7, 8, None),
    ],
)
def test_integers_are_rounded_to_a_floating_point_type(number: int, to: int, back: int | None):
    nodes = [helper.make_node("Cast", ["x"], ["f"], to=to), helper.make_node("Cast", ["f"], ["y"], to=7)]
    graph = helper.make_graph(nodes, "g", [], [], [numpy_helper.from_array(np.array([number, -1], INT64), "x")])
    found = flow_of(helper.make_model(graph)).facts["y"].content
    assert found == (None if to == 8 else (back, -1))


FLOATING = (
    "Abs",
    "Add",
    "Ceil",
    "Concat",
    "Div",
    "Floor",
    "Gather",
    "Max",
    "Mean",
    "Min",
    "Mul",
    "Neg",
    "ReduceMax",
    "ReduceMean",
)
FLOATING += ("ReduceMin", "ReduceProd", "ReduceSum", "Relu", "Round", "Sqrt", "Sub", "Sum", "Where")


@pytest.mark.slow
@each_case("dtype", [np.float16, np.float32, np.float64])
@each_case("operator", FLOATING)
def test_floating_point_numbers_are_those_of_numpy(operator: str, dtype: type[np.floating]):
    seed, known = random.Random(f"{operator} {dtype}"), 0
    count = {"Where": 3, "Concat": 2, "Gather": 1}.get(operator) or CONTENT_RULES[operator].reads
    count = 1 if operator.startswith("Reduce") else count
    for _ in range(20):
        numbers = seed.choice((NUMBERS, NUMBERS[-4:]))
        values = [np.array([seed.choice(numbers) for _ in range(4)], dtype) for _ in range(min(count, 3))]
        inputs = {f"x{index}": value for index, value in enumerate(values)}
        inputs |= {"x0": values[0] > 1} if operator == "Where" else {}
        inputs |= {"i": np.array([2, -3], INT64)} if operator == "Gather" else {}
        attributes = {"axis": 0} if operator in ("Concat", "Gather") else {}
        model = model_of(helper.make_node(operator, list(inputs), ["y"], **attributes), inputs)
        # The numbers are read if they may become sizes.
        model.graph.node.append(helper.make_node("Cast", ["y"], ["z"], to=7))
        found = flow_of(model).facts["y"].content
        with np.errstate(all="ignore"):
            [expected] = ReferenceEvaluator(model).run(["y"], {})
        if found is not None:
            pairs = [
                (element, real)
                for element, real in zip(found, expected.ravel().tolist(), strict=True)
                if element is not None
            ]
            known += len(pairs)
            assert all(element == real for element, real in pairs)
    assert known, "no content is known"


NUMBERS = (-2.5, 0.1, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 7.0, 13.0, 1000.0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("y = Cast <to = 7> (f)", ("N",)),
        ("a = Mul (f, two)  b = Floor (a)  y = Cast <to = 7> (b)", ("2*N",)),
        ("a = Mul (f, half)  y = Cast <to = 7> (a)", None),
        ("a = Div (f, two)  b = Floor (a)  y = Cast <to = 7> (b)", None),
        ("a = Mul (f, two)  b = Div (a, two)  y = Cast <to = 7> (b)", ("N",)),
        ("y = CastLike (f, n)", ("N",)),
        ("b = Cast <to = 9> (f)  y = Cast <to = 7> (b)", None),
    ],
)
def test_variables_go_through_floating_point_numbers(text: str, expected: tuple[object, ...] | None):
    model = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        g (float[N] x) => (int64[1] y)
        <float[1] two = {{2}}, float half = {{0.5}}>
        {{ n = Shape(x)  f = Cast <to = 1> (n)  {text} }}
    """)
    assert flow_of(model).facts["y"].content == expected


@pytest.mark.parametrize(("to", "expected"), [(7, (None, None, 2)), (9, (1, 1, 1)), (1, (None, None, 2.5))])
def test_nan_and_infinity_become_no_integer(to: int, expected: tuple[object, ...]):
    inputs = {"x": np.array([math.nan, -math.inf, 2.5], np.float32)}
    model = model_of(helper.make_node("Cast", ["x"], ["y"], to=to), inputs)
    loaded = load(BytesSource(model.SerializeToString()), "model.onnx")
    assert loaded.value_flow.facts["y"].content == expected
    assert not loaded.crashes


def test_the_chains_of_exporters_give_known_sizes():
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        g (float[1, 3, 7, 9] x) => (float[a, b, c, d] y, float[e, f, g, h] z)
        <int64[2] pads = {1, 2}, int64[1] least = {4}, int64[2] rows = {-1, 2}, int64[1] flat = {-1},
         int64[1] zero = {0}, int64[1] last = {-1}, int64[1] begin = {-9223372036854775807},
         float[2] scales = {1.5, 0.7}, int64[1] two = {2}>
        {
            rest = ConstantOfShape <value = int64[1] {0}> (least)
            all = Concat <axis = 0> (pads, rest, pads)
            pairs = Reshape (all, rows)
            turned = Slice (pairs, last, begin, zero, last)
            columns = Transpose <perm = [1, 0]> (turned)
            list = Reshape (columns, flat)
            wide = Cast <to = 7> (list)
            y = Pad (x, wide)
            s = Shape (x)
            n = Slice (s, zero, two, zero)
            i = Slice (s, two, least, zero)
            f = Cast <to = 1> (i)
            m = Mul (f, scales)
            r = Floor (m)
            t = Cast <to = 7> (r)
            sizes = Concat <axis = 0> (n, t)
            z = Resize (x, , , sizes)
        }
    """)
    flow = flow_of(model)
    # The pads come in pairs, from the last axis on.
    assert (flow.shape_of("y"), flow.shape_of("z")) == ((4, 3, 7, 12), (1, 3, 10, 6))


def test_a_declared_name_that_reads_as_an_expression_is_a_name():
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        g (float[N] a, float["N + 1"] b, float[1] c) => (float["N + 1"] y, float[M] z, float["2*K"] w) {
          y = Concat <axis = 0> (a, c)
          z = Concat <axis = 0> (b, c)
          w = Concat <axis = 0> (b, b)
        }
    """)
    facts = flow_of(model).facts
    assert [facts[name].shape for name in "byzw"] == [("'N + 1'",), ("N + 1",), ("M",), ("2*'N + 1'",)]
