# SPDX-License-Identifier: Apache-2.0
"""The shapes of ONNX Runtime's operators, by its documentation, and by ONNX Runtime itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import helper
from support.models.runtime_nodes import NODES, RuntimeNode
from support.models.shape_samples import SCHEMAS
from support.project.each_case import each_case

from onnx_lint.inference.shapes.fact import ABSENT, fact
from onnx_lint.inference.shapes.operands import Operands
from onnx_lint.inference.shapes.problem import Element
from onnx_lint.inference.shapes.rules import has_shape_rule, shape_rule
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.spec.operators.records import families

DOMAIN = "com.microsoft"
KINDS = {np.dtype(np.float32): "tensor(float)", np.dtype(np.int64): "tensor(int64)"}


def _schema(name: str) -> OperatorSchema:
    found = SCHEMAS.find(DOMAIN, name, 1)
    assert found is not None, f"no operator {name}"
    return found


def _shapes(example: RuntimeNode, shapes: list[tuple[int | str | None, ...] | None]) -> tuple[object, list[object]]:
    """Return what the rule makes of the inputs with these shapes: the outputs' shapes, and problems."""
    schema = _schema(example.operator)
    rule = shape_rule(schema)
    assert rule is not None
    facts = []
    for index, (value, shape) in enumerate(zip(example.inputs, shapes, strict=True)):
        if value is None:
            facts.append(ABSENT)
            continue
        is_read = index in rule.reads and value.ndim < 2 and shape == value.shape
        content = tuple(value.reshape(-1).tolist()) if is_read else None
        facts.append(fact(KINDS.get(value.dtype), shape, content))
    attributes = {
        name: tuple(value) if isinstance(value, list) else value for name, value in example.attributes.items()
    }
    node = Operands(schema, attributes, tuple(facts), len(example.outputs))
    return node.finished(rule.infer(node)), [*node.problems]


@each_case("example", NODES, ids=str)
def test_the_shapes_are_those_of_the_documentation(example):
    assert _shapes(example, [None if each is None else each.shape for each in example.inputs]) == (example.outputs, [])


@each_case("example", NODES, ids=str)
def test_what_is_not_known_of_the_inputs_contradicts_nothing(example):
    """With an unknown input, fewer facts about the outputs are inferred, and no different ones."""
    known = [None if each is None else each.shape for each in example.inputs]
    for index, shape in enumerate(known):
        if shape is None:
            continue
        for less in (None, *[(*shape[:axis], None, *shape[axis + 1 :]) for axis in range(len(shape))]):
            shapes, problems = _shapes(example, [*known[:index], less, *known[index + 1 :]])
            assert problems == []
            for found, whole in zip(shapes, example.outputs, strict=True):
                if found is not None:
                    assert whole is not None
                    assert len(found) == len(whole)
                    assert all(a is None or b is None or a == b for a, b in zip(found, whole, strict=True))


def _changed(value: object) -> list[object]:
    """Other values of an attribute."""
    if isinstance(value, int):
        return [-9, -1, 0, 1, 2, 1_000]
    if isinstance(value, list) and all(isinstance(each, int) for each in value):
        return [[], value[:-1], [*value, 1], *[[*value[:at], -9, *value[at + 1 :]] for at in range(len(value))]]
    return []


@each_case("example", NODES, ids=str, one_in=4)
def test_whatever_stands_there_no_size_is_negative(example):
    known = [None if each is None else each.shape for each in example.inputs]
    nodes = [example]
    for name, value in example.attributes.items():
        nodes += [replace(example, attributes={**example.attributes, name: other}) for other in _changed(value)]
        nodes.append(
            replace(example, attributes={key: each for key, each in example.attributes.items() if key != name})
        )
    shapes: list[list[tuple[int | str | None, ...] | None]] = [known]
    for index, shape in enumerate(known):
        others = [(), (0,), (3,), (2, 3), (2, 0, 3), (1, 2, 3, 4), (1, 2, 3, 4, 5)] if shape is not None else []
        shapes += [[*known[:index], other, *known[index + 1 :]] for other in others]
    for changed in nodes:
        for inputs in shapes:
            found, _ = _shapes(changed, inputs)
            assert not any(isinstance(dim, int) and dim < 0 for shape in found for dim in shape or ())


def _with_rules() -> list[str]:
    return [name for name in families() if has_shape_rule(_schema(name))]


def test_each_operator_with_a_rule_has_an_example():
    assert sorted(_with_rules()) == sorted({example.operator for example in NODES})


@each_case(
    ("operator", "inputs", "attributes", "problem"),
    [
        (
            "FusedMatMul",
            [(2, 3), (3, 4)],
            {"transA": 1},
            "Unequal(place=InputDimension(operand=1, axis=0, size=3), expected=2",
        ),
        ("FusedMatMul", [(2, 3, 4), (5, 4, 6)], {}, "NotBroadcast("),
        ("DynamicQuantizeMatMul", [(2, 3), (4, 5), ()], {}, "Unequal(place=InputDimension(operand=1, axis=0, size=4)"),
        ("QGemm", [(2, 3), (), (), (4, 5), (), ()], {}, "Unequal(place=InputDimension(operand=3, axis=0, size=4)"),
        ("FusedGemm", [(2, 3), (3, 5), (4,)], {}, "Unequal(place=InputDimension(operand=2, axis=0, size=4)"),
        (
            "MatMulNBits",
            [(2, 31)],
            {"K": 32, "N": 5},
            "Unequal(place=InputDimension(operand=0, axis=1, size=31), expected=32",
        ),
        ("FusedConv", [(1, 4, 9, 9), (6, 3, 3, 3)], {}, "Unequal("),
        ("QLinearAdd", [(2, 3), (), (), (4,), (), (), (), ()], {}, "NotBroadcast("),
        (
            "QLinearWhere",
            [(2, 3), (3,), (), (), (4,), (), (), (), ()],
            {},
            "NotBroadcast(one=InputDimension(operand=0, axis=1, size=3), other=InputDimension(operand=4, ",
        ),
        *[
            (
                "QLinearAdd",
                [(2, 3), *[(1,) if index == each else () for index in (1, 2)], (3,)]
                + [(1,) if index == each else () for index in (4, 5, 6, 7)],
                {},
                f"WrongRank(operand={each}, rank=1, least=0, greatest=0",
            )
            for each in (1, 2, 4, 5, 6, 7)
        ],
        ("QLinearConcat", [(), (), (2, 3), (), (), (4, 4), (), ()], {"axis": 1}, "Unequal("),
        ("QLinearConcat", [(), (), (2, 3), (), ()], {"axis": 2}, "AxisOutOfRange("),
        ("QLinearConcat", [(), (), (2, 3), (0,), ()], {"axis": 1}, "NotOneElement(operand=3"),
        ("QLinearAveragePool", [(1, 0, 8, 4), (), (), (), ()], {"kernel_shape": (3, 3)}, "Unequal("),
        (
            "QLinearAveragePool",
            [(1, 8, 8, 4), (), (), (), ()],
            {"kernel_shape": (9, 3), "channels_last": 1},
            "Unequal(",
        ),
        ("QLinearAveragePool", [(1, 2, 2, 2, 2, 2), (), (), (), ()], {"kernel_shape": (1,) * 4}, "WrongRank("),
        ("WordConvEmbedding", [(2, 6), (8, 1, 7, 5), (8,), (20, 5)], {}, "Unequal("),
        ("WordConvEmbedding", [(2, 6), (8, 1, 3, 5), (8,), (20, 5)], {"embedding_size": 9}, "Unequal("),
        ("WordConvEmbedding", [(2, 6), (8, 1, 3, 5), (8,), (20, 5)], {"embedding_size": -2}, "WrongValue("),
        ("CDist", [(3, 5), (4, 6)], {}, "Unequal("),
        ("SwiGLU", [(2, 5)], {}, "Indivisible(place=InputDimension(operand=0, axis=1, size=5), divisor=2"),
        ("SwiGLU", [()], {}, "WrongRank(operand=0, rank=0, least=1"),
        ("ReduceSumInteger", [(2, 3)], {"axes": (2,), "keepdims": 1}, "AxisOutOfRange("),
    ],
)
def test_operands_that_do_not_fit(operator, inputs, attributes, problem):
    schema = _schema(operator)
    rule = shape_rule(schema)
    assert rule is not None
    node = Operands(schema, attributes, tuple(fact("tensor(float)", shape) for shape in inputs), 1)
    assert node.finished(rule.infer(node)) == (None,)
    assert [repr(each)[: len(problem)] for each in node.problems] == [problem]


_DATA = fact("tensor(float)", (2, 3, 8))
_WEIGHTS = fact("tensor(float)", (8, 24)), fact("tensor(float)", (24,))


@each_case(
    ("operator", "inputs", "ends", "wrong"),
    [
        ("Attention", (_DATA, *_WEIGHTS), (3, 3), None),
        ("Attention", (_DATA, *_WEIGHTS), (3, -1), 1),
        ("Attention", (_DATA, *_WEIGHTS), (3, 3, -1, 0), None),
        ("QAttention", (_DATA, *_WEIGHTS, ABSENT, ABSENT), (-1, 3), 0),
        # ONNX Runtime takes any numbers.
        ("MultiHeadAttention", (_DATA, _DATA, _DATA, ABSENT), (-1, 3), None),
    ],
)
def test_texts_of_attention_do_not_end_before_their_begin(operator, inputs, ends, wrong):
    schema = _schema(operator)
    rule = shape_rule(schema)
    assert rule is not None
    mask = fact("tensor(int32)", (len(ends),), ends)
    node = Operands(schema, {"num_heads": 2}, (*inputs, mask), 1)
    node.finished(rule.infer(node))
    expected = [] if wrong is None else [Element(len(inputs), ends[wrong], wrong)]
    assert [getattr(each, "place", each) for each in node.problems] == expected


def _concatenated(numbers, shapes=((),) * 4, kinds=("tensor(uint8)",) * 3):
    """Return the problems and the number of warnings of a QLinearConcat: scales and zero points, and their shapes."""
    schema = _schema("QLinearConcat")
    rule = shape_rule(schema)
    assert rule is not None
    scale, zero, own, own_zero = (
        fact(kind, shape, None if number is None else (number,) * (shape[0] if shape else 1))
        for kind, shape, number in zip(
            ("tensor(float)", kinds[0], "tensor(float)", kinds[2]), shapes, numbers, strict=True
        )
    )
    node = Operands(schema, {"axis": 0}, (scale, zero, fact(kinds[1], (2, 3)), own, own_zero), 1)
    outputs = rule.infer(node)
    return [repr(each) for each in node.problems], len(node.warnings), node.finished(outputs)


def test_scales_of_several_numbers_are_refused_where_they_differ_from_those_of_the_result():
    of_three = ((), (), (3,), ())
    assert _concatenated((0.5, 3, 0.5, 3), of_three) == ([], 0, ((2, 3),))
    assert _concatenated((0.5, 3, None, 3), of_three) == ([], 1, ((2, 3),))
    problems, warnings, outputs = _concatenated((0.5, 3, 0.25, 3), of_three)
    assert (problems[0][:24], warnings, outputs) == ("NotOneElement(operand=3,", 0, (None,))
    problems, _, _ = _concatenated((0.5, 3, 0.5, 4), ((), (), (), (1, 1)))
    assert problems[0].startswith("WrongRank(operand=4, rank=2, least=0, greatest=1")
    assert _concatenated((0.5, 3, 0.25, 4), ((1,), (1,), (), ())) == ([], 0, ((2, 3),))


def test_concatenated_tensors_have_the_type_of_the_zero_point_of_the_result():
    for kinds, operand in ((("tensor(uint8)", "tensor(int8)", "tensor(uint8)"), 2),
                           (("tensor(uint8)", "tensor(uint8)", "tensor(int8)"), 4)):  # fmt: skip
        problems, _, _ = _concatenated((0.5, 3, 0.5, 3), kinds=kinds)
        assert problems[0].startswith(f"WrongValue(place=Element(source={operand}, value='tensor(int8)'")


@pytest.mark.consumers
@pytest.mark.parametrize("example", [each for each in NODES if each.runs], ids=str)
def test_onnx_runtime_gives_these_shapes(example):
    runtime = pytest.importorskip("onnxruntime", reason="no part of the development packages: pip install onnxruntime")
    made = helper.make_node(
        example.operator,
        ["" if each is None else f"x{index}" for index, each in enumerate(example.inputs)],
        [f"y{index}" for index in range(len(example.outputs))],
        domain=DOMAIN,
        **example.attributes,
    )
    inputs = {f"x{index}": each for index, each in enumerate(example.inputs) if each is not None}
    values = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in inputs.items()
    ]
    outputs = [onnx.ValueInfoProto(name=name) for name in made.output]
    graph = helper.make_graph([made], "g", values, outputs)
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid(DOMAIN, 1)], ir_version=8
    )
    found = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, inputs)
    for real, shape in zip(found, example.outputs, strict=True):
        if shape is not None:
            assert len(real.shape) == len(shape)
            assert all(size is None or size == given for size, given in zip(shape, real.shape, strict=True))
