# SPDX-License-Identifier: Apache-2.0
"""The nodes around findings."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
import onnx.parser
import pytest
from onnx.helper import make_graph, make_model, make_node, make_tensor_value_info
from support.project.fixture_files import FIXTURES

from onnx_lint.cache.serialized import SENT, from_bytes, parsed, serialized, to_bytes
from onnx_lint.engine.lint import LintOptions, lint_source, load_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.report import Context
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.pictures import FAULT, RELATED, Picture, PictureBox, places_of
from onnx_lint.spec.target import target_of
from onnx_lint.surroundings.edges import CapturedNames
from onnx_lint.surroundings.pictures import MAX_NODES

HEAD = '<ir_version: 10, opset_import: ["" : 21, "own" : 1]>\n'


def report_of(text: str, *rules: str, context: Context = Context.NODES) -> FileReport:
    data = onnx.parser.parse_model(HEAD + text).SerializeToString()
    return lint_source(BytesSource(data), "m.onnx", Settings(select=rules), LintOptions(context=context))


def pictures_of(text: str, *rules: str) -> list[Picture]:
    """Return the picture of each finding."""
    file = report_of(text, *rules)
    assert not file.internal_errors
    pictures = {picture.about: picture for picture in file.pictures}
    return [pictures[places_of(item)] for item in file.diagnostics]


def arrows(picture: Picture) -> set[str]:
    """Return the arrows as text, those of the fault with an exclamation mark."""
    boxes = picture.boxes
    return {
        f"{boxes[arrow.source].title} -{boxes[arrow.source].values[arrow.value].name}{'!' if arrow.mark else ''}-> "
        f"{boxes[arrow.target].title}"
        for arrow in picture.arrows
    }


def marked(picture: Picture, mark: str) -> list[str]:
    return [box.title for box in picture.boxes if box.mark == mark]


def nodes(picture: Picture) -> Sequence[PictureBox]:
    return [box for box in picture.boxes if box.kind == "node"]


def test_two_steps_each_way():
    [found] = pictures_of(
        "g (float[4] x) => (float[4] y) { a = Relu(x)  b = Tanh(a)  c = Abs(b)  d = Add(c, gone)  e = Neg(d)"
        "  f = Exp(e)  h = Cos(f)  y = Log(h) }",
        "undefined-name",
    )
    assert arrows(found) == {"Tanh -b-> Abs", "Abs -c-> Add", "undefined -gone!-> Add", "Add -d-> Neg", "Neg -e-> Exp"}
    assert marked(found, FAULT) == ["Add"]
    assert [box.index for box in nodes(found)] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("rules", [("duplicate-definition",), ("duplicate-definition", "incompatible-operand-shapes")])
def test_types_are_those_that_rules_have_inferred_or_that_are_declared(rules: Sequence[str]):
    """No type is inferred for the picture alone."""
    text = "g (float[4] x) => (float[4] y) { a = Relu(x)  b = Tanh(a)  b = Abs(a)  y = Add(b, a) }"
    [found] = pictures_of(text, *rules)
    types = {value.name: value.type for box in found.boxes for value in box.values}
    inferred = {"a": "float[4]", "b": "float[4]"} if rules[1:] else {"a": "", "b": ""}
    assert types == {"x": "float[4]", "y": "float[4]"} | inferred


def test_readers_beyond_the_first_few_are_counted():
    readers = "  ".join(f"r{index} = Relu(h)" for index in range(200))
    [found] = pictures_of(f"g (float[4] x) => (float[4] r0) {{ h = Add(x, gone)  {readers} }}", "undefined-name")
    assert [box.title for box in found.boxes if box.kind == "more"] == ["197 more nodes"]
    assert len(nodes(found)) <= MAX_NODES


def test_a_wide_neighbourhood_has_at_most_twelve_nodes_and_lists_the_rest():
    many = ", ".join(f"a{index}" for index in range(30))
    makers = "  ".join(f"a{index} = Add(x, b{index % 7})" for index in range(30))
    middle = "  ".join(f"b{index} = Relu(x)" for index in range(7))
    readers = "  ".join(f"r{index} = Neg(h)  s{index} = Abs(r{index})" for index in range(9))
    [found] = pictures_of(
        f"g (float[4] x) => (float[4] s0) {{ {middle}  {makers}  h = Concat<axis=0>({many}, gone)  {readers} }}",
        "undefined-name",
    )
    assert len(nodes(found)) == MAX_NODES
    concat = next(box for box in found.boxes if box.title == "Concat")
    assert concat.reads[-1].name == "21 more"  # of 30, three are made by drawn nodes, and six are listed
    assert "undefined -gone!-> Concat" in arrows(found)


def test_values_from_outside_of_a_subgraph():
    [found] = pictures_of(
        "g (float[4] x, bool c) => (float[4] y) { h = Relu(x)  y = If(c) <"
        "then_branch = t () => (float[4] o) { o = Add(h, gone) }, else_branch = e () => (float[4] p) { p = Abs(h) }> }",
        "undefined-name",
    )
    assert found.graph == "subgraph 't'"
    assert arrows(found) == {"Relu -h-> Add", "undefined -gone!-> Add", "Add -o-> output"}
    [relu] = [each for each in found.boxes if each.title == "Relu"]
    assert (relu.kind, relu.index, relu.graph) == ("outer", 0, "in the main graph")


def test_what_crosses_a_subgraph_is_drawn_with_its_graph():
    """The value was renamed in the main graph, and both branches use the old name."""
    [found] = pictures_of(
        "g (float[4] x, bool c) => (float[4] y) { h2 = Relu(x)  [if0] y = If(c) <"
        "then_branch = t () => (float[4] o) { o = Neg(h) }, else_branch = e () => (float[4] p) { p = Abs(h) }> }",
        "undefined-name",
    )
    assert arrows(found) == {"undefined -h!-> Neg", "undefined -h-> Abs", "Neg -o-> output"}
    others = {each.title: (each.graph, each.mark, [value.name for value in each.values])
              for each in found.boxes if each.kind == "outer"}  # fmt: skip
    assert others == {
        "Abs": ("in else_branch of 'if0'", "related", []),
        "Relu": ("in the main graph", "related", ["h2"]),
    }


def test_nodes_in_subgraphs_that_read_a_value_at_fault_are_drawn():
    branch = "(float[4] {0}) {{ a{0} = Add(h, x) b{0} = Mul(h, a{0}) {0} = Sub(h, b{0}) }}"
    [found] = pictures_of(
        "g (float[4] x, bool c) => (float[4] y) { h = Add(x, gone)  y = If(c) <then_branch = t () => "
        f"{branch.format('o')}, else_branch = e () => {branch.format('p')}> }}",
        "undefined-name",
    )
    inside = [(each.title, each.index, each.graph) for each in found.boxes if each.kind == "outer"]
    assert inside == [("Add", 0, "in then_branch of If 1"), ("Mul", 1, "in then_branch of If 1")]
    assert {"Add -h-> Add", "Add -h-> Mul", "Add -h-> If"} < arrows(found)


def test_a_node_reads_what_the_graphs_in_it_read():
    [found] = pictures_of(
        "g (float[4] x, bool c) => (float[4] y) { h = Add(x, gone)  y = If(c) <"
        "then_branch = t () => (float[4] o) { q = If(c) <then_branch = u () => (float[4] v) { v = Neg(h) },"
        " else_branch = w () => (float[4] k) { k = Neg(x) }>  o = Neg(q) },"
        " else_branch = e () => (float[4] p) { p = Abs(x) }> }",
        "undefined-name",
    )
    assert "Add -h-> If" in arrows(found)


def test_a_function_body():
    [found] = pictures_of(
        "g (float[4] x) => (float[4] y) { y = own.f(x) }\n"
        '<domain: "own", opset_import: ["" : 21]> f (a) => (b) { c = Relu(a)  b = Add(c, gone) }',
        "undefined-name",
    )
    assert found.graph == "function 'own::f'"
    assert arrows(found) == {"input -a-> Relu", "Relu -c-> Add", "undefined -gone!-> Add", "Add -b-> output"}


def test_the_graphs_of_a_training():
    model = onnx.parser.parse_model(HEAD + "g (float[4] x) => (float[4] y) { y = Relu(x) }")
    algorithm = make_graph([make_node("Add", ["y", "gone"], ["z"])], "step", [], [make_tensor_value_info("z", 1, [4])])
    model.training_info.add().algorithm.CopyFrom(algorithm)
    source = BytesSource(model.SerializeToString())
    [found] = lint_source(
        source, "m", Settings(select=("undefined-name",)), LintOptions(context=Context.NODES)
    ).pictures
    assert arrows(found) == {"Relu -y-> Add", "undefined -gone!-> Add", "Add -z-> output"}


def test_related_places_are_marked_though_no_arrow_leads_there():
    [found] = pictures_of(
        "g (float[4] x) => (float[4] y) { k = Neg(x)  a = Relu(x)  b = Relu(a)  c = Relu(b)  k = Abs(c)  y = Exp(k) }",
        "duplicate-definition",
    )
    assert marked(found, FAULT) == ["Abs"]
    assert marked(found, RELATED) == ["Neg"]
    assert "Neg -k!-> Exp" in arrows(found)


def test_a_value_of_the_graph():
    [found] = pictures_of(
        "g (float[4] x, float[4] x) => (float[4] y, float[4] z) { y = Relu(x)  a = Abs(x)  z = Neg(a) }",
        "duplicate-definition",
    )
    assert arrows(found) == {
        *("input -x!-> Relu", "input -x!-> Abs", "Abs -a-> Neg", "Relu -y-> output", "Neg -z-> output")
    }
    assert marked(found, FAULT) == ["input"]


def test_a_declaration_that_differs():
    [found] = pictures_of("g (float[4] x) => (float[5] y) { y = Relu(x) }", "error")
    [value] = [value for box in found.boxes for value in box.values if value.name == "y"]
    assert (value.type, value.declared, value.mark) == ("float[?]", "float[5]", FAULT)


def test_a_cycle():
    [found] = pictures_of("g (float[4] x) => (float[4] y) { a = Add(x, b)  b = Neg(a)  y = Abs(b) }", "cycle")
    assert {"Add -a-> Neg", "Neg -b-> Add"} <= {each.replace("!", "") for each in arrows(found)}


def test_findings_about_the_model_and_values_that_nothing_uses_have_none():
    text = "g (float[4] x) => (float[4] y) <float[4] unknown> { y = Relu(x) }"
    file = report_of(text, "unknown-value-info-name", "missing-producer")
    assert {item.rule for item in file.diagnostics} == {"unknown-value-info-name", "missing-producer"}
    assert file.pictures == ()


def test_findings_at_the_same_places_share_a_picture():
    file = report_of("g (float[4] x) => (float[4] y) { y = Nothing<a = 1>(x) }", "ALL")
    about = {places_of(item) for item in file.diagnostics}
    assert len(file.pictures) <= len(about)
    assert {picture.about for picture in file.pictures} <= about


@pytest.mark.parametrize("context", [Context.NONE, Context.LINES])
def test_nothing_is_collected_for_reports_that_do_not_show_it(context: Context):
    text = "g (float[4] x) => (float[4] y) { y = Relu(gone) }"
    full, less = report_of(text, "undefined-name"), report_of(text, "undefined-name", context=context)
    assert full.pictures
    assert less.pictures == ()
    assert full.with_context(context) == less


@pytest.mark.parametrize("kinds", [None, SENT])
def test_the_cache_and_a_cluster_keep_pictures(kinds):
    file = report_of("g (float[4] x) => (float[4] y) { y = Relu(gone) }", "undefined-name")
    given = () if kinds is None else (kinds,)
    assert parsed(from_bytes(to_bytes(serialized(file, *given))), *given) == file


def test_the_order_of_nodes_in_the_file_decides_nothing_else():
    """The same picture each time, with whatever seed of hashes: boxes by the index of their nodes."""
    text = "g (float[4] x) => (float[4] y) { a, b, c = Split<num_outputs=3>(x)  d = Sum(c, b, a, gone)  y = Neg(d) }"
    [found] = pictures_of(text, "undefined-name")
    assert [(box.title, box.index) for box in found.boxes] == [
        *(("input", None), ("undefined", None), ("Split", 0), ("Sum", 1), ("Neg", 2), ("output", None))
    ]


def test_names_that_inner_graphs_read_are_looked_for_once():
    graph = make_graph([make_node("Add", ["x", "h8"], ["o"])], "g", [], [make_tensor_value_info("o", 1, [4])])
    for depth in range(7, -1, -1):
        branches = {"then_branch": graph, "else_branch": make_graph([], "e", [], graph.output)}
        made = [make_node("Neg", [f"h{depth}"], [f"h{depth + 1}"]), make_node("If", ["c"], ["o"], **branches)]
        graph = make_graph(made, "g", [], [make_tensor_value_info("o", 1, [4])])
    source = BytesSource(make_model(graph).SerializeToString())
    model = load_source(source, "m", Settings(), is_file=False)
    captured = CapturedNames()
    outermost = model.graphs[0]
    found = [captured.read_by(nested) for nested in outermost.nested]
    assert [set(each) for each in found] == [{"o"}, {"h1", "c", "x"}]
    assert set(captured._names) == set(model.graphs) - {outermost}
    assert captured.read_by(outermost.nested[0]) is found[0]


def test_an_initializer_of_a_wrong_size_has_the_dimensions_that_it_states():
    text = HEAD + "g (float16[4,2] x) => (float16[4,3] y) { y = MatMul(x, w) }"
    model = onnx.parser.parse_model(text)
    model.graph.initializer.add(name="w", dims=[2, 3], data_type=onnx.TensorProto.FLOAT16, raw_data=bytes(24))
    settings = Settings(select=("tensor-size-mismatch",))
    file = lint_source(BytesSource(model.SerializeToString()), "m.onnx", settings, LintOptions(context=Context.NODES))
    (picture,) = file.pictures
    assert {value.name: value.type for box in picture.boxes for value in box.values}["w"] == "float16[2, 3]"


def test_an_input_that_a_name_may_mean_is_drawn_though_nothing_reads_it():
    (picture,) = pictures_of("g (float[2] inp_x) => (float[2] y) { y = Relu(input_x) }", "undefined-name")
    assert [(box.kind, box.values[0].name) for box in picture.boxes if box.mark == RELATED] == [("input", "inp_x")]


def test_an_output_that_nothing_defines_is_drawn():
    (picture,) = pictures_of("g (float[2] x) => (float[2] y, float[2] z) { y = Relu(x) }", "undefined-name")
    assert [box.kind for box in picture.boxes] == ["undefined", "output"]
    assert [arrow.mark for arrow in picture.arrows] == [FAULT]


def test_the_default_graph_of_an_attribute_is_in_no_node():
    fixture = FIXTURES / "undefined-name" / "valid" / "a_default_uses_what_precedes_the_node_that_runs_it.textproto"
    settings = Settings(target=target_of(["ai.onnx=12"]), extend_select=("target",))
    report = lint_source(BytesSource(fixture.read_bytes()), fixture.name, settings, LintOptions(context=Context.NODES))
    assert report.internal_errors == ()
    assert "unsupported-by-target" in {each.rule for each in report.diagnostics}
    assert len(report.pictures) > 0
