# SPDX-License-Identifier: Apache-2.0
"""Inferred elements behind rarer operators, compared with the reference implementation of onnx and ONNX Runtime."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

import numpy as np
import onnx
import onnx.parser
import pytest
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator
from support.project.each_case import each_case

from onnx_lint.inference.flow.value_flow import ValueFlow
from onnx_lint.inference.shapes.computed_elements import FUNCTIONS
from onnx_lint.inference.shapes.contents import CONTENT_RULES
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load

Inputs = Mapping[str, np.ndarray]


def numbers(seed: random.Random, *shape: int, least: int = -3, most: int = 5) -> np.ndarray:
    count = int(np.prod(shape))
    return np.array([seed.randint(least, most) for _ in range(count)], np.int64).reshape(shape)


def ints(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def model_of(text: str, inputs: Inputs, version: int = 21) -> onnx.ModelProto:
    graph = onnx.parser.parse_graph(f"g () => () {{ {text} }}")
    for name, value in inputs.items():
        graph.initializer.append(numpy_helper.from_array(value, name))
    graph.output.append(onnx.ValueInfoProto(name="y"))
    opset = onnx.helper.make_opsetid("", version)
    return onnx.helper.make_model(graph, opset_imports=[opset], ir_version=10)


def flow_of(model: onnx.ModelProto) -> ValueFlow:
    loaded = load(BytesSource(model.SerializeToString()), "model.onnx")
    assert not loaded.crashes
    return loaded.value_flow


def _cases(seed: random.Random) -> dict[str, tuple[str, Inputs]]:
    """A node for each operator, with random operands."""
    axis, keeps, square = seed.choice((0, 1, -1)), seed.choice((0, 1)), numbers(seed, 3, 4)
    row, signs = numbers(seed, 4), numbers(seed, 4)
    reduced = {"x": square, "axes": seed.choice((ints(0), ints(1), ints(-1), ints(0, 1)))}
    cases: dict[str, tuple[str, Inputs]] = {
        "ArgMax": (
            f"y = ArgMax <axis = {axis}, keepdims = {keeps}, select_last_index = {seed.choice((0, 1))}> (x)",
            {},
        ),
        "ArgMin": (f"y = ArgMin <axis = {axis}, select_last_index = {seed.choice((0, 1))}> (x)", {}),
        "BitwiseNot": ("y = BitwiseNot (x)", {}),
        "Sign": ("y = Sign (x)", {}),
        "Unique": (
            f"n, f, i, c = Unique <sorted = {seed.choice((0, 1))}> (x)  y = Concat <axis = 0> (n, f, i, c)",
            {"x": row},
        ),
        "EyeLike": (f"y = EyeLike <k = {seed.choice((-1, 0, 2))}> (x)", {}),
        "CumSum": (
            f"y = CumSum <exclusive = {keeps}, reverse = {seed.choice((0, 1))}> (x, a)",
            {"a": np.array(axis, np.int64)},
        ),
        "MatMul": seed.choice(
            [
                ("y = MatMul (x, w)", {"w": numbers(seed, 4, 2)}),
                ("y = MatMul (x, r)", {"r": row}),
                ("y = MatMul (r, w)", {"r": row, "w": numbers(seed, 4, 2)}),
                ("f = Cast <to = 1> (x)  g = Cast <to = 1> (r)  m = MatMul (f, g)  y = Cast <to = 7> (m)", {"r": row}),
            ]
        ),
        "Einsum": seed.choice(
            [
                ('y = Einsum <equation = "i, i -> i"> (w, r)', {"w": row, "r": signs}),
                ('y = Einsum <equation = "ij,j"> (x, r)', {"r": row}),
                ('y = Einsum <equation = "ij,kj->ki"> (x, w)', {"w": numbers(seed, 2, 4)}),
                ('y = Einsum <equation = "ij->ji"> (x)', {}),
                ('y = Einsum <equation = "ii->i"> (w)', {"w": numbers(seed, 3, 3)}),
                ('y = Einsum <equation = "i,j,i->"> (r, w, r)', {"r": row, "w": ints(2, 3)}),
            ]
        ),
        "Mod": seed.choice(
            [
                (f"y = Mod <fmod = {keeps}> (x, w)", {"w": np.where(signs == 0, 4, signs)}),
                (
                    "f = Cast <to = 1> (x)  g = Cast <to = 1> (w)  m = Mod <fmod = 1> (f, g)  y = Cast <to = 7> (m)",
                    {"w": np.where(signs == 0, 4, signs)},
                ),
            ]
        ),
        "Pow": ("y = Pow (x, w)", {"w": numbers(seed, 4, least=0)}),
        "Xor": ("a = Greater (x, z)  b = Greater (w, z)  y = Xor (a, b)", {"w": row, "z": ints(1)}),
        "Clip": seed.choice(
            [
                ("y = Clip (x, l, m)", {"l": np.array(-1), "m": np.array(seed.choice((-2, 3)))}),
                ("y = Clip (x, , m)", {"m": np.array(2)}),
                ("y = Clip (x, l)", {"l": np.array(2)}),
            ]
        ),
        "OneHot": (
            f"y = OneHot <axis = {axis}> (x, d, v)",
            {"x": numbers(seed, 4, least=-4, most=4), "d": np.array(4), "v": ints(7, 9)},
        ),
        "ConcatFromSequence": seed.choice(
            [
                (
                    f"s = SequenceConstruct (x, w)  y = ConcatFromSequence <axis = {axis}> (s)",
                    {"w": numbers(seed, 3, 4)},
                ),
                (
                    f"s = SplitToSequence <axis = {axis}> (x, p)  y = ConcatFromSequence <axis = 1> (s)",
                    {"p": np.array(2)},
                )
                if axis
                else (
                    "s = SplitToSequence <axis = 0> (x, p)  y = ConcatFromSequence <axis = 0> (s)",
                    {"p": ints(1, 2)},
                ),
                (
                    "s = SequenceConstruct (r, w)  y = ConcatFromSequence <axis = 1, new_axis = 1> (s)",
                    {"r": row, "w": signs},
                ),
            ]
        ),
        "OptionalGetElement": ("o = Optional (x)  y = OptionalGetElement (o)", {}),
        "SequenceAt": seed.choice(
            [
                (
                    "s = SplitToSequence <keepdims = 0> (x)  y = SequenceAt (s, i)",
                    {"i": np.array(seed.choice((1, -1)))},
                ),
                (
                    "s = SequenceEmpty <dtype = 7> ()  t = SequenceInsert (s, x)  u = SequenceInsert (t, w, i)"
                    "  v = SequenceInsert (u, r)  e = SequenceErase (v, i)  y = SequenceAt (e, i)",
                    {"i": np.array(0), "w": row, "r": signs},
                ),
            ]
        ),
        "Split": (
            f"a, b = Split <axis = {axis}> (x, p)  y = Concat <axis = {axis}> (b, a)",
            {"p": ints(1, 2) if axis == 0 else ints(1, 3)},
        ),
        "Compress": seed.choice(
            [
                (f"y = Compress <axis = {axis}> (x, c)", {"c": np.array([True, False, True])}),
                ("y = Compress (x, c)", {"c": np.array([False, True, True, False, False, True])}),
            ]
        ),
        "GatherElements": (
            f"y = GatherElements <axis = {axis}> (x, i)",
            {"i": numbers(seed, *((2, 4) if axis == 0 else (3, 2)), most=2)},
        ),
        "GatherND": seed.choice(
            [
                ("y = GatherND (x, i)", {"i": numbers(seed, 3, 2, least=-3, most=2)}),
                ("y = GatherND (x, i)", {"i": numbers(seed, 2, 1, least=0, most=2)}),
                ("y = GatherND <batch_dims = 1> (x, i)", {"i": numbers(seed, 3, 1, least=0, most=3)}),
            ]
        ),
        "Trilu": (f"y = Trilu <upper = {keeps}> (x, k)", {"k": np.array(seed.choice((-1, 0, 2)))}),
        "Pad": seed.choice(
            [
                ("y = Pad (x, p)", {"p": ints(1, 0, 0, 2)}),
                ("y = Pad (x, p, v)", {"p": ints(0, 1, -1, 0), "v": np.array(9)}),
                ("y = Pad (x, p, , a)", {"p": ints(1, 2), "a": ints(-1)}),
                *[
                    (f'y = Pad <mode = "{mode}"> (x, p)', {"p": ints(2, 1, 0, 3)})
                    for mode in ("edge", "reflect", "wrap")
                ],
            ]
        ),
    }
    for name in ("And", "Or", "Xor"):
        cases[f"Bitwise{name}"] = f"y = Bitwise{name} (x, w)", {"w": row}
    cases["TopK"] = seed.choice(
        [
            (f"y, i = TopK <axis = {axis}, largest = {keeps}> (x, k)", {"k": ints(2)}),
            (f"v, y = TopK <axis = {axis}, largest = {keeps}> (x, k)", {"k": ints(2)}),
        ]
    )
    for name in ("L1", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare"):
        cases[f"Reduce{name}"] = seed.choice(
            [
                (f"y = Reduce{name} <keepdims = {keeps}> (x, axes)", reduced),
                (f"y = Reduce{name} <keepdims = {keeps}, noop_with_empty_axes = 1> (x)", {}),
                (f"f = Cast <to = 1> (x)  y = Reduce{name} <keepdims = {keeps}> (f, axes)", reduced),
            ]
        )
    cases.update(_of_small_integers(seed))
    return {name: (text, {"x": square} | dict(inputs)) for name, (text, inputs) in cases.items()}


def _of_small_integers(seed: random.Random) -> dict[str, tuple[str, Inputs]]:
    """Nodes with operands of types that are narrower than those of sizes, and nodes that move or test elements."""
    axis, keeps, square = seed.choice((0, 1, -1)), seed.choice((0, 1)), numbers(seed, 3, 4)
    kind = seed.choice((np.uint8, np.int8))
    zero = np.array(seed.randint(0, 20), kind)
    scale = np.array(seed.choice((0.5, 2, 0.3, 3)), np.float32)
    small = numbers(seed, 3, 4, least=0, most=9).astype(kind)
    real = (numbers(seed, 6, least=-400, most=900) / 2).astype(np.float32)
    bits = seed.choice((np.uint8, np.uint32, np.uint64))
    cast = f"y = Cast <to = {seed.choice((6, 7))}> (b)"
    block = seed.choice(("blocksize = 2", 'blocksize = 2, mode = "CRD"'))
    return {
        "BitShift": (
            f'b = BitShift <direction = "{seed.choice(("LEFT", "RIGHT"))}"> (x, w)  y = Cast <to = 7> (b)',
            {
                "x": numbers(seed, 4, least=0, most=255).astype(bits),
                "w": numbers(seed, 4, least=0, most=7).astype(bits),
            },
        ),
        "MatMulInteger": seed.choice(
            [
                (f"b = MatMulInteger (x, w)  {cast}", {"x": small, "w": small.T.copy()}),
                (f"b = MatMulInteger (x, w, z, z)  {cast}", {"x": small, "w": small.T.copy(), "z": zero}),
            ]
        ),
        "QuantizeLinear": seed.choice(
            [
                (f"b = QuantizeLinear (x, s, z)  {cast}", {"x": real, "s": scale, "z": zero}),
                (f"b = QuantizeLinear (x, s)  {cast}", {"x": real, "s": scale}),
                (f"b = QuantizeLinear <output_dtype = 3> (x, s)  {cast}", {"x": real, "s": scale}),
            ]
        ),
        "DequantizeLinear": (f"b = DequantizeLinear (x, s, z)  {cast}", {"x": small, "s": scale, "z": zero}),
        "Hardmax": (f"f = Cast <to = 1> (x)  y = Hardmax <axis = {axis}> (f)", {}),
        "IsInf": ("f = Cast <to = 1> (x)  b = IsInf (f)  y = Cast <to = 7> (b)", {}),
        "IsNaN": ("f = Cast <to = 1> (x)  b = IsNaN (f)  y = Cast <to = 7> (b)", {}),
        "ReverseSequence": (
            f"y = ReverseSequence <batch_axis = {keeps}, time_axis = {1 - keeps}> (x, l)",
            {"x": square, "l": numbers(seed, 4, least=1, most=3) if keeps else numbers(seed, 3, least=1, most=4)},
        ),
        "DepthToSpace": (
            f"f = Cast <to = 1> (x)  y = DepthToSpace <{block}> (f)",
            {"x": numbers(seed, 1, 8, 2, 1)},
        ),
        "SpaceToDepth": (
            "f = Cast <to = 1> (x)  y = SpaceToDepth <blocksize = 2> (f)",
            {"x": numbers(seed, 1, 2, 4, 2)},
        ),
    }


def _reference(model: onnx.ModelProto) -> np.ndarray:
    return ReferenceEvaluator(model).run(["y"], {})[0]


def _onnx_runtime(model: onnx.ModelProto) -> np.ndarray:
    onnxruntime = pytest.importorskip("onnxruntime")
    onnxruntime.set_default_logger_severity(4)
    model = onnx.shape_inference.infer_shapes(model)
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(["y"], {})[0]


WITHOUT_RUN = {"OptionalGetElement"}
"""The reference implementation returns a list for these."""


def test_each_operator_has_a_case() -> None:
    assert _cases(random.Random(0)).keys() == FUNCTIONS.keys()
    assert FUNCTIONS.keys() <= CONTENT_RULES.keys()


@pytest.mark.parametrize("run", [_reference, pytest.param(_onnx_runtime, marks=pytest.mark.consumers)])
@pytest.mark.parametrize("operator", sorted(FUNCTIONS))
def test_the_elements_are_those_of_a_run(operator: str, run: Callable[[onnx.ModelProto], np.ndarray]) -> None:
    seed = random.Random(operator)
    known = 0
    for _ in range(25):
        text, inputs = _cases(seed)[operator]
        if run is _reference and operator in WITHOUT_RUN:
            continue
        model = model_of(text, inputs)
        found = flow_of(model).facts["y"]
        try:
            expected = np.array(run(model))
        except Exception:
            continue
        if found.shape is not None:
            assert all(
                not isinstance(dim, int) or dim == size for dim, size in zip(found.shape, expected.shape, strict=True)
            )
        if found.content is not None:
            known += 1
            pairs = zip(found.content, expected.reshape(-1).tolist(), strict=True)
            assert all(element is None or element == real for element, real in pairs), (text, found, expected)
    assert known or operator in WITHOUT_RUN, "no content is known"


def _known(text: str) -> ValueFlow:
    model = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        g (float[n, m] x) => (int64[a] y)
        <int64[1] zero = {{0}}, int64[1] one = {{1}}, int64[1] two = {{2}}, int64 k = {{2}}>
        {{ s = Shape (x)  {text} }}
    """)
    return flow_of(model)


@each_case(
    ("text", "expected"),
    [
        ("a, b = Split <num_outputs = 2> (s)  y = Identity (b)", ("m",)),
        (
            "a, b = Split <num_outputs = 2> (s)  q = SequenceConstruct (b, a)  y = ConcatFromSequence <axis = 0> (q)",
            ("m", "n"),
        ),
        ("y = ReduceProd <keepdims = 1> (s)", ("m*n",)),
        ("y = CumSum (s, zero)", ("n", "m + n")),
        ("y = Pow (s, two)", ("n*n", "m*m")),
        ("y = Mod (s, one)", (0, 0)),
        ("y = Mod (s, two)", ("n - 2*(n//2)", "m - 2*(m//2)")),
        ("d = Mul (s, two)  y = Mod (d, two)", (0, 0)),
        ("y = Clip (s, k)", None),
        ("y = Sign (s)", None),
        ("o = Optional (s)  y = OptionalGetElement (o)", ("n", "m")),
        ("z = Concat <axis = 0> (zero, two)  y = Mul (s, z)", (0, "2*m")),
        ("z = Concat <axis = 0> (zero, one)  c = Unsqueeze (z, one)  y = MatMul (s, c)", ("m",)),
        ('z = Concat <axis = 0> (zero, two)  y = Einsum <equation = "i,i->i"> (s, z)', (0, "2*m")),
        ('c = Unsqueeze (s, one)  y = Einsum <equation = "i,ij->j"> (s, c)', ("m*m + n*n",)),
        ("c = Greater (two, one)  y = Compress (s, c)", ("n",)),
    ],
)
def test_what_is_known_of_variables(text: str, expected: tuple[object, ...] | None) -> None:
    assert _known(text).facts["y"].content == expected


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        ("y = ArgMax <axis = 0> (f)", (2,)),
        ("y = ArgMin <axis = 0> (f)", (1,)),
        ("v, y = TopK <axis = 0> (f, k)", (2, 0)),
    ],
)
def test_places_among_floating_point_numbers_are_known(node: str, expected: tuple[int, ...]) -> None:
    values = np.array([0.5, -1.5, 2.5], np.float32)
    flow = flow_of(
        model_of(f"{node}  t = Constant <value_float = 1.0> ()  z = Expand (t, y)", {"f": values, "k": ints(2)})
    )
    assert flow.facts["y"].content == expected


def test_zero_times_an_unknown_number_is_not_zero() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        g (float[1] x) => (int64[a] o) <float[1] zero = {0}>
        { l = Concat <axis = 0> (x, zero)  q = Mul (l, zero)  y = Cast <to = 7> (q)  o = Identity (y) }
    """)
    assert flow_of(model).facts["y"].content == (None, 0)


@each_case("start", [-3, -1, 0, 1, 2, 2**63 - 1])
@each_case("end", [-(2**63) + 1, -2, -1, 0, 2, 3, 2**63 - 1])
@each_case("step", [-2, -1, 1, 2])
def test_the_length_of_a_slice_is_that_of_numpy(start: int, end: int, step: int) -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21]>
        g (float[n] x) => (float[a] y) { y = Slice (x, s, e, z, t) }
    """)
    for name, number in (("s", start), ("e", end), ("z", 0), ("t", step)):
        model.graph.initializer.append(numpy_helper.from_array(ints(number), name))
    del model.graph.output[:]
    model.graph.output.append(onnx.ValueInfoProto(name="y"))
    [size] = flow_of(model).shape_of("y") or ()
    lengths = [len(np.zeros(n)[start:end:step]) for n in range(8)]
    if size is not None:
        assert [eval(str(size), {"min": min, "max": max, "n": n}) for n in range(8)] == lengths
    else:
        assert step < 0 or start < 0 <= end


@pytest.mark.parametrize("version", [13, 18])
def test_two_parts_of_a_variable_are_the_whole(version: int) -> None:
    count = ", num_outputs = 2" if version == 18 else ""
    model = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : {version}]>
        g (float[n] x) => (float[a] o)
        {{ o = Identity (x)  p, q = Split <axis = 0{count}> (x)  y = Concat <axis = 0> (p, q)
           s = SplitToSequence <axis = 0> (x, k)  z = ConcatFromSequence <axis = 0> (s) }}
    """)
    model.graph.initializer.append(numpy_helper.from_array(np.array(2), "k"))
    flow = flow_of(model)
    assert flow.shape_of("z") == ("n",)
    assert flow.shape_of("y") == (("n",) if version == 18 else ("2*(n//2)",))


@each_case(
    ("node", "expected"),
    [
        (
            "y = Loop (m, , k) <body = b (int64 i, bool c, v) => (bool d, w) { d = Identity (c)  w = Identity (v) }>",
            (4, 7),
        ),
        (
            "y = Loop (three, , k) <body = b (int64 i, bool c, v) => (bool d, w) { d = Identity (c)  w = Add (v, i) }>",
            (7, 10),
        ),
        ("y = Loop (m, , k) <body = b (int64 i, bool c, v) => (bool d, w) { d = Identity (c)  w = Add (v, i) }>", None),
        (
            "y = Loop (three, , k) <body = b (int64 i, bool c, v) => (bool d, w) { d = Less (i, i)  w = Add (v, i) }>",
            (4, 7),
        ),
        (
            "y = Loop (, t, k) <body = b (int64 i, bool c, v) => (bool d, w) { d = Less (i, three)  w = Add (v, i) }>",
            (10, 13),
        ),
        (
            "y = Loop (, t, k) <body = b (int64 i, bool c, v) => (bool d, w) { d = Less (i, m)  w = Add (v, i) }>",
            None,
        ),
        ("y = Loop (, t, k) <body = b (int64 i, bool c, v) => (bool d, w) { d = Identity (c)  w = Add (v, i) }>", None),
        (
            "s = SequenceConstruct (k, u, three)  m = SequenceMap (s, three) <body = b (p, q) => (r) "
            "{ r = Add (p, q) }>  i = Constant <value_int = 0> ()  y = SequenceAt (m, i)",
            (7, 10),
        ),
        (
            "y = Loop (zero, , k) <body = b (int64 i, bool c, v) => (bool d, w) { d = Identity (c)  w = Neg (v) }>",
            (4, 7),
        ),
        (
            "y = Loop (m, no, k) <body = b (int64 i, bool c, v) => (bool d, w) { d = Identity (c)  w = Neg (v) }>",
            (4, 7),
        ),
        ("y = Scan (k) <num_scan_inputs = 1, body = b (p) => (q) { q = Neg (p) }>", (-4, -7)),
        (
            "y = Scan (k) <num_scan_inputs = 1, scan_output_directions = [1], body = b (p) => (q) { q = Neg (p) }>",
            (-7, -4),
        ),
        (
            "f, y = Scan (three, k) <num_scan_inputs = 1, body = b (s, p) => (t, q) "
            "{ t = Add (s, p)  q = Identity (t) }>",
            (7, 14),
        ),
        (
            "f, y = Scan (three, k) <num_scan_inputs = 1, scan_input_directions = [1], body = b (s, p) => (t, q) "
            "{ t = Add (s, p)  q = Identity (t) }>",
            (10, 14),
        ),
        ("y = Scan (k, u) <num_scan_inputs = 2, body = b (p, r) => (q) { q = Add (p, r) }>", None),
        (
            "y = If (t) <then_branch = a () => (v) { v = Identity (k) }, else_branch = e () => (w) { w = Neg (k) }>",
            (4, 7),
        ),
        (
            "y = If (c) <then_branch = a () => (v) { v = Abs (k) }, else_branch = e () => (w) { w = Identity (k) }>",
            (4, 7),
        ),
        (
            "y = If (c) <then_branch = a () => (v) { v = Identity (k) }, else_branch = e () => (w) { w = Neg (k) }>",
            None,
        ),
    ],
)
def test_numbers_go_through_loops_and_branches(node: str, expected: tuple[int, ...] | None) -> None:
    model = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        g (int64 m, bool c, int64[2] u) => (int64[a] y)
        <int64[2] k = {{4, 7}}, int64 three = {{3}}, int64 zero = {{0}}, bool t = {{1}}, bool no = {{0}}>
        {{ {node} }}
    """)
    assert flow_of(model).facts["y"].content == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("o = Optional (x)", (1,)),
        ("o = Optional <type = float[2]> ()", (0,)),
        ("o = Identity (x)", (1,)),
        ("o = Identity (p)", None),
    ],
)
def test_whether_there_is_an_element(made: str, expected: tuple[int, ...] | None) -> None:
    """Of an optional, or of a tensor, which is its own element."""
    model = onnx.parser.parse_model(f"""
        <ir_version: 10, opset_import: ["" : 21]>
        g (float[2] x, optional(float[2]) p) => (bool y) {{ {made}  y = OptionalHasElement (o) }}
    """)
    assert flow_of(model).facts["y"].content == expected


def test_an_input_that_a_call_omits_is_no_element() -> None:
    model = onnx.parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 21, "f" : 1]>
        g (float[2] x) => (bool y, bool z) { y = f.Has (x, x)  z = f.Has (x) }
        <domain: "f", opset_import: ["" : 21]> Has (a, b) => (c) { c = OptionalHasElement (b) }
    """)
    facts = flow_of(model).facts
    assert (facts["y"].content, facts["z"].content) == ((1,), (0,))
