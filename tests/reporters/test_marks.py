# SPDX-License-Identifier: Apache-2.0
"""The mark under a line of a model, and the types of its values."""

from __future__ import annotations

import io

import onnx
import pytest
from onnx import TensorProto, helper

from onnx_lint import lint
from onnx_lint.report import ContextLine
from onnx_lint.reporters import Options, write_report
from onnx_lint.reporters.marks import rows_under
from onnx_lint.reporters.paint import painter, plain

SCOPE = "/model/layers.0/self_attn/"


def rows(line: ContextLine, room: int = 60) -> list[str]:
    return ["".join(text for text, _ in row) for row in rows_under(line, room)]


def line_with(text: str, mark: str, **types: str) -> ContextLine:
    """Return a line that contains each name once."""
    parts = {name: (text.index(name), text.index(name) + len(name)) for name in [mark, *types]}
    return ContextLine("1", text, parts[mark], tuple((*parts[name], kind) for name, kind in types.items()))


def test_the_type_of_the_marked_operand_is_behind_its_mark():
    assert rows(line_with("y = Add (left, right)", "right", right="float[4]")) == ["               ^^^^^ float[4]"]


def test_without_room_it_is_below():
    line = line_with("y = Add (left, right)", "right", right="float[4]")
    assert rows(line, 25) == ["               ^^^^^", "               float[4]"]
    assert rows(line, 20) == ["               ^^^^^", "            float[4]"]
    assert rows(line, 7) == ["               ^^^^^", "floa..."]


def test_the_types_of_other_operands_are_under_them_if_they_fit():
    types = {"condition": "bool[4]", "left": "float[4]", "right": "int8[4]"}
    line = line_with("y = Where (condition, left, right)", "left", **types)
    assert rows(line) == ["           bool[4]    ^^^^ float[4]"], "the type of 'left' is where that of 'right' would be"
    line = line_with("y = Where (condition, left, right)", "right", **types)
    assert rows(line) == ["           bool[4]          ^^^^^ int8[4]"], "float[4] would reach under 'right'"
    line = line_with("y = Where (condition, left, right)", "right", **{**types, "left": "b[4]"})
    assert rows(line) == ["           bool[4]    b[4]  ^^^^^ int8[4]"]


def test_nothing_is_under_a_line_without_a_mark():
    assert rows(ContextLine("0", "y = Relu (x)")) == []


@pytest.mark.parametrize("count", [2, 5])
@pytest.mark.parametrize("width", [70, 80, 100, 120, None])
def test_the_type_of_the_marked_operand_is_in_sight(width: int | None, count: int):
    """With the names that torch writes, and wherever the line is cut."""
    names = [f"{SCOPE}rotary_embedding/Constant_{index}_output_0" for index in range(count)]
    shapes: list[list[int | str]] = [["batch", 2, "seq", 8] for _ in names]
    shapes[count // 2] = ["batch", 2, "seq", 7]
    report = written(model_of(helper.make_node("Concat", names, ["y"], axis=0), names, shapes), width)
    lines = report.splitlines()
    (at,) = (index for index, line in enumerate(lines) if "^^^" in line)
    begin, end = lines[at].index("^"), lines[at].rindex("^") + 1
    assert names[count // 2][-15:-3] in lines[at - 1][begin:end]
    shape = "float[batch,2,seq,7]"
    if shape in lines[at]:
        assert lines[at].index(shape) == end + 1
    else:
        assert lines[at + 1].index(shape) <= begin < lines[at + 1].index(shape) + len(shape)
    words = [word for line in lines for word in line.split()]
    assert width is None or max(map(len, lines)) <= max(width, *(len(word) + 6 for word in words))


def test_name_and_shape_stand_in_the_headline_and_at_the_mark_only():
    names = [f"{SCOPE}left", f"{SCOPE}right"]
    model = model_of(helper.make_node("MatMul", names, ["y"]), names, [["N", 8], [16, 4]])
    report = written(model, None)
    assert report.count(names[0]) == report.count(names[1]) == 2
    assert report.count("[16, 4]") + report.count("[16,4]") == 2
    assert ": defines input 1" in report


@pytest.mark.parametrize("width", range(30, 60))
def test_no_line_ends_between_a_count_and_what_is_counted(width: int):
    stream = io.StringIO()
    painter(stream, color=False, width=width)(
        plain("a/model.onnx: 1,672 errors, 3 warnings; 2 nodes in 1 graph; input 0 'x'")
    )
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert not any(line.endswith(("1,672", "3", "2", "1")) for line in lines)


def model_of(node: onnx.NodeProto, names: list[str], shapes: list[list[int | str]]) -> onnx.ModelProto:
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in zip(names, shapes, strict=True)
    ]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [None] * len(shapes[0]))
    graph = helper.make_graph([node], "graph", values, [y])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10, producer_name="a test")


def written(model: onnx.ModelProto, width: int | None) -> str:
    stream = io.StringIO()
    write_report("text", lint(model, select="incompatible-operand-shapes"), stream, Options(width=width))
    return stream.getvalue()


def test_wide_characters_need_two_columns():
    line = line_with("y = Add (左辺, 右辺)", "右辺", 左辺="f[2]", 右辺="f[批]")
    assert rows(line) == ["         f[2]  ^^^^ f[批]"]
    assert rows(line, 25) == ["         f[2]  ^^^^ f[批]"]
    assert rows(line, 24) == ["         f[2]  ^^^^", "               f[批]"]
