# SPDX-License-Identifier: Apache-2.0
"""The lines of a model around a finding, as reports get them."""

from __future__ import annotations

import io
import json
import random
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper
from onnx.helper import make_node, make_tensor_value_info
from support.models.places import place_at
from support.project.fixture_files import fixture_paths, read_fixture
from support.project.sampled import one_in
from support.reports.wording_faults import BRACKETS

from onnx_lint import lint
from onnx_lint.cli.application import run
from onnx_lint.common.record import replace
from onnx_lint.engine.lint import LintOptions, lint_source
from onnx_lint.engine.registry import registry
from onnx_lint.engine.rule_runs import lint_model
from onnx_lint.engine.selection import report_of
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.report import Context
from onnx_lint.report.findings import ContextLine, Diagnostic
from onnx_lint.reporters import Options, write_report
from onnx_lint.surroundings.line_writer import cut_around
from onnx_lint.surroundings.of_findings import surroundings, with_surroundings

WITHOUT = {
    "ir_version",
    "magic",
    "opset_import",
    "opset_version",
    "domain",
    "producer_name",
    "producer_version",
    "configuration",
    "functions",
    "training_info",
    "initialization",
    "graph",
    "model",
}
"""Places of what is missing altogether, or is said of the whole file: there is no line of them."""


def chain_of(count: int = 20) -> onnx.ModelProto:
    """A chain of Relu nodes, and a Gemm whose weights have a misspelt name."""
    nodes = [make_node("Relu", [f"h{i}"], [f"h{i + 1}"]) for i in range(count)]
    nodes.append(make_node("Gemm", [f"h{count}", "w_2", "b2"], ["y"], name="fc2", transB=1))
    weights = [
        helper.make_tensor("b2", TensorProto.FLOAT, [10], [0.0] * 10),
        helper.make_tensor("w2", TensorProto.FLOAT, [10, 64], [0.0] * 640),
    ]
    x, y = (make_tensor_value_info(name, TensorProto.FLOAT, ["N", size]) for name, size in (("h0", 64), ("y", 10)))
    graph = helper.make_graph(nodes, "graph", [x], [y], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10, producer_name="a test")


def found(model: onnx.ModelProto | bytes, rule: str) -> Diagnostic:
    (diagnostic, *_) = lint(model).of_rule(rule)
    return diagnostic


def marked(line: ContextLine) -> str | None:
    return None if line.mark is None else line.text[slice(*line.mark)]


def test_the_node_before_and_the_name_that_was_meant():
    assert found(chain_of(), "undefined-name").context == (
        ContextLine("19", "h20 = Relu (h19)"),
        ContextLine("20", "y = Gemm <transB=1> (h20, w_2, b2)", (26, 29)),
        ContextLine("1", "initializer float[10, 64] w2 = {...}"),
    )


def test_of_two_nodes_side_by_side_that_share_a_name_both_names_are_shown():
    model = chain_of(3)
    for index in (1, 2):
        model.graph.node[index].name = "twice"
    model.graph.node[0].name = "once"
    context = found(model, "duplicate-node-name").context
    assert [line.text for line in context] == ["[twice] h2 = Relu (h1)", "[twice] h3 = Relu (h2)"]
    model.graph.node[2].name, model.graph.node[3].name = "other", "twice"
    before, *_ = found(model, "duplicate-node-name").context
    assert before.text == "h3 = Relu (h2)", "the node before has another name, which is not shown"


def test_types_are_shown_where_they_are_what_is_wrong():
    model = chain_of()
    model.graph.node[-1].input[1] = "w2"
    model.graph.initializer[1].dims[:] = [64, 10]
    context = found(model, "incompatible-operand-shapes").context
    assert context[-2:] == (
        ContextLine("20", "y = Gemm <transB=1> (h20, w2, b2)", (26, 28)),
        ContextLine("", "# (float[N, 64], float[64, 10], float[10])"),
    ), "the line of types says what a line of the initializer would say"


def test_a_type_that_is_unknown_or_a_scalar_is_said_in_words():
    model = chain_of(0)
    model.graph.node[-1].input[:] = ["h0", "s", "", "u", *["h0"] * 5]
    model.graph.input.append(make_tensor_value_info("s", TensorProto.FLOAT, []))
    model.graph.input.append(make_tensor_value_info("u", TensorProto.FLOAT, None))
    diagnostic = replace(found(chain_of(), "undefined-name"), rule="impossible-operator-extent", related=())
    loaded = load(BytesSource(model.SerializeToString()))
    assert surroundings(replace(diagnostic, at=place_at("graph.node[0]")), loaded)[-1].text.startswith("y = Gemm")
    loaded.value_flow  # noqa: B018 - nothing is inferred for the sake of a report
    types = "float[N, 64], float (a scalar), -, float (of unknown rank), " + "float[N, 64], " * 4
    context = surroundings(replace(diagnostic, at=place_at("graph.node[0]")), loaded)
    assert context[-1] == ContextLine("", f"# ({types}...)")


@one_in(24, slow=8)
def test_every_finding_of_the_fixtures_has_lines_that_fit_it(step: int):
    """Unless it is about bytes, or about what is not there; the marked text is a part of the line."""
    bare, seen = set(), 0
    for path in sorted(fixture_paths())[::step]:
        fixture = read_fixture(path)
        model = fixture.model()
        for diagnostic in lint_model(model, fixture.settings).diagnostics:
            if registry()[diagnostic.rule].chapter == "file":
                of_bytes = {diagnostic.rule}
                assert with_surroundings([diagnostic], model, of_bytes)[0].context == ()
                continue
            context = surroundings(diagnostic, model)
            seen += 1
            if not context:
                bare.add(diagnostic.place.rpartition(".")[2])
            assert all(line.text.isprintable() or not line.text.isascii() for line in context)
            assert not any(BRACKETS.search(line.text) for line in context)
            assert all(line.mark is None or 0 <= line.mark[0] < line.mark[1] <= len(line.text) for line in context)
            assert sum(line.mark is not None for line in context) <= 1
    assert bare <= WITHOUT
    assert seen > 1_200 // step


def test_marks_of_the_places_in_a_node():
    node = make_node("Foo", ["a", "", "b"], ["c", "d"], name="n", domain="my.own", x=1, y=[1.5, 2.0], z="s")
    places = {
        "op_type": "Foo",
        "domain": "my.own",
        "name": "n",
        "input[2]": "b",
        "input[1]": '""',
        "output[1]": "d",
        "attribute[0]": "x=1",
        "attribute[1].name": "y",
        "attribute[1].floats[1]": "2.0",
        "attribute[1].floats": "1.5, 2.0",
        "attribute[1].type": "floats",
        "attribute[2].s": '"s"',
        "overload": "my.own.Foo",
        "model": "my.own.Foo",
    }
    model = load(BytesSource(node.SerializeToString()), "n.pb", proto="NodeProto")
    template = found(chain_of(), "undefined-name")
    for place, text in places.items():
        (line,) = surroundings(replace(template, at=place_at(place), related=()), model)
        assert (place, marked(line)) == (place, text)


@pytest.mark.slow
def test_hostile_models_are_written_in_bounded_time_and_length():
    model = chain_of(2)
    graph = model.graph
    graph.node[0].input[:] = [f"i{number}" for number in range(60_000)]
    graph.node[1].output.extend(["o" * 3_000_000])
    graph.node[2].attribute.extend(helper.make_attribute(f"a{n}", list(range(100))) for n in range(5_000))
    graph.node[2].attribute.append(helper.make_attribute("last", "s" * 2_000_000))
    deep = helper.make_tensor_type_proto(1, [1])
    for _ in range(25):
        deep = helper.make_sequence_type_proto(deep)
    graph.input.append(helper.make_value_info("deep", deep))
    loaded = load(BytesSource(model.SerializeToString()))
    template = found(chain_of(), "undefined-name")
    places = [
        "graph.node[0].input[50000]",
        "graph.node[1].output[1]",
        "graph.node[2].attribute[5001].s",
        "graph.node[2].attribute[777].ints[50]",
        "graph.input[1].type",
        "graph.input[1].name",
        "graph",
    ]
    lines = [surroundings(replace(template, at=place_at(place), related=()), loaded) for place in places]
    assert all(len(line.text) <= 1_000 for context in lines for line in context)
    marks = [marked(line) for context in lines for line in context if line.mark is not None]
    assert marks[0] == "i50000"
    assert marks[3] == "50"
    assert marks[5] == "deep"
    assert len(marks) == len(places)


def test_no_name_steers_the_terminal():
    model = chain_of()
    model.graph.node[-1].input[1] = "w\x1b[2J\u202e\n2"
    context = found(model, "undefined-name").context
    assert '"w\\x1b[2J\\u202e\\n2"' in context[1].text
    assert "\x1b" not in str(lint(model))


def test_a_cut_keeps_the_mark():
    draw = random.Random(17)
    for _ in range(3_000):
        text = "".join(draw.choices("abcdefgh", k=draw.randrange(1, 300)))
        start = draw.randrange(len(text))
        mark = start, draw.randrange(start + 1, len(text) + 1)
        most = draw.randrange(20, 200)
        line = cut_around(ContextLine("", text, mark), most)
        cut, kept = line.text, line.mark
        assert len(cut) <= most
        assert kept is not None
        assert kept[0] < kept[1]
        word = text[slice(*mark)]
        if len(word) <= most - 6:
            assert cut[slice(*kept)] == word
        else:
            assert word.startswith(cut[slice(*kept)].partition("...")[0])


class TestReports:
    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        path = tmp_path / "model.onnx"
        onnx.save(chain_of(), path)
        return path

    def test_the_text_report_marks_the_operand(self, path: Path, capsys: pytest.CaptureFixture[str]):
        run([str(path), "--select", "undefined-name"])
        lines = capsys.readouterr().out.splitlines()
        assert lines[2:6] == [
            "   19 |  h20 = Relu (h19)",
            "   20 |  y = Gemm <transB=1> (h20, w_2, b2)",
            "      |                            ^^^",
            "    1 |  initializer float[10, 64] w2 = {...}",
        ]

    def test_it_can_be_turned_off(self, path: Path, capsys: pytest.CaptureFixture[str]):
        run([str(path), "--select", "undefined-name", "--no-context"])
        assert " |  " not in capsys.readouterr().out

    def test_the_width_cuts_around_the_mark(self):
        model = chain_of()
        model.graph.node[-1].output[0] = "y" * 45
        model.graph.output[0].name = "y" * 45
        source = BytesSource(model.SerializeToString())
        file = lint_source(source, "m.onnx", Settings(select=("undefined-name",)), LintOptions(context=Context.LINES))
        stream = io.StringIO()
        write_report("text", report_of([file], Settings()), stream, Options(width=60))
        lines = [line for line in stream.getvalue().splitlines() if line[6:9] == "|  "]
        assert all(len(line) <= 60 for line in lines)
        assert lines[1][lines[2].index("^") :].startswith("w_2")

    def test_sarif_has_the_lines_as_the_snippet(self, path: Path, capsys: pytest.CaptureFixture[str]):
        run([str(path), "--select", "undefined-name", "-f", "sarif"])
        (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
        snippet = result["locations"][0]["physicalLocation"]["region"]["snippet"]["text"]
        assert snippet.splitlines()[1:3] == [
            "  20 |  y = Gemm <transB=1> (h20, w_2, b2)",
            "     |                            ^^^",
        ]

    @pytest.mark.parametrize(
        ("form", "expected"),
        [
            ("text", "|                            ^^\n      |  # (float[N, 64], float[64, 10], float[10])\n"),
            ("sarif", "|                            ^^\\n     |  # (float[N, 64], float[64, 10], float[10])"),
            ("html", "(h20, <mark>w2</mark>, b2)\n"),
        ],
    )
    def test_each_form_marks_the_operand_and_has_the_types(
        self, form: str, expected: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ):
        model = chain_of()
        model.graph.node[-1].input[1] = "w2"
        model.graph.initializer[1].dims[:] = [64, 10]
        onnx.save(model, tmp_path / "m.onnx")
        run([str(tmp_path / "m.onnx"), "--select", "incompatible-operand-shapes", "-f", form])
        written = capsys.readouterr().out
        assert expected in written
        assert "# (float[N, 64], float[64, 10], float[10])" in written

    def test_the_first_of_each_rule_have_lines(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr("onnx_lint.surroundings.of_findings.PER_RULE", 3)
        model = chain_of()
        for node in model.graph.node:
            node.input[0] = f"missing_{node.output[0]}"
        file = lint_source(
            BytesSource(model.SerializeToString()),
            "m",
            Settings(select=("undefined-name",)),
            LintOptions(context=Context.LINES),
        )
        assert [bool(each.context) for each in file.diagnostics].count(True) == 3
        assert len(file.diagnostics) > 20
