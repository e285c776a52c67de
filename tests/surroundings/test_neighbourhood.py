# SPDX-License-Identifier: Apache-2.0
"""The nodes around a finding: which are drawn, in graphs of every kind and of any size."""

from __future__ import annotations

import onnx
import onnx.parser
import pytest

from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.report import Diagnostic, Neighbourhood
from onnx_lint.surroundings.neighbourhood import MAX_NODES, MAX_OF_A_NODE, PER_RULE

CHAIN = """
<ir_version: 10, opset_import: ["": 21], producer_name: "a test">
g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> {
  a = Relu(x)
  b = Abs(a)
  c = Add(b, lost)
  d = Add(c, w)
  e = Neg(d)
  y = Sqrt(e)
}"""


def found(model: onnx.ModelProto, rule: str) -> list[Diagnostic]:
    file = lint_source(BytesSource(model.SerializeToString()), "m.onnx", Settings(), pictures=True)
    assert file.internal_errors == ()
    return [item for item in file.diagnostics if item.rule == rule]


def drawn(model: onnx.ModelProto, rule: str = "undefined-name") -> Neighbourhood:
    [item] = found(model, rule)
    assert item.neighbourhood is not None
    return item.neighbourhood


def edges(picture: Neighbourhood) -> set[tuple[str, str, str]]:
    """The edges; the name of a value stands at the edge, or in the box where it begins."""
    nodes = picture.nodes
    return {
        (nodes[each.source].kind, each.name or nodes[each.source].name, nodes[each.target].kind)
        for each in picture.edges
    }


def test_two_hops_around_a_node_are_drawn():
    picture = drawn(onnx.parser.parse_model(CHAIN))
    assert edges(picture) == {
        ("input", "x", "Relu"),
        ("Relu", "a", "Abs"),
        ("Abs", "b", "Add"),
        ("undefined", "lost", "Add"),
        ("Add", "c", "Add"),
        ("Add", "d", "Neg"),
        ("initializer", "w", "Add"),
    }
    assert [node.index for node in picture.nodes if node.is_fault] == [2, None]
    assert [picture.nodes[edge.source].name for edge in picture.edges if edge.is_fault] == ["lost"]
    assert {edge.known for edge in picture.edges if edge.name == "b"} == {"float[2]"}


def test_a_value_of_a_node_that_is_not_drawn_has_its_operator():
    """No box calls a computed value an initializer, and no node seems to have no inputs."""
    chains = " ".join(f"r{n} = Relu(x) v{n} = Abs(r{n})" for n in range(MAX_OF_A_NODE + 2))
    values = ", ".join(f"v{n}" for n in range(MAX_OF_A_NODE + 2))
    text = f"""<ir_version: 10, opset_import: ["": 21], producer_name: "a test">
    g (float[2] x) => (float[2] y) {{ {chains} m = Max({values}, lost) y = Neg(m) }}"""
    picture = drawn(onnx.parser.parse_model(text))
    assert ("computed by Abs", f"v{MAX_OF_A_NODE + 1}", "Max") in edges(picture)
    assert "initializer" not in {node.kind for node in picture.nodes}
    used = {edge.target for edge in picture.edges}
    assert {index for index, node in enumerate(picture.nodes) if node.index is not None} <= used


def test_of_many_inputs_beside_the_finding_a_few_have_boxes():
    names = [f"w{n}" for n in range(9)]
    model = onnx.parser.parse_model(CHAIN.replace("Abs(a)", f"Sum(a, {', '.join(names)})"))
    for name in names:
        model.graph.initializer.append(onnx.helper.make_tensor(name, onnx.TensorProto.FLOAT, [2], [1, 2]))
    into = [edge for edge in edges(drawn(model)) if edge[2] == "Sum"]
    assert sorted(into) == [
        ("...", "", "Sum"), ("Relu", "a", "Sum"), ("initializer", "w0", "Sum"), ("initializer", "w1", "Sum"),
    ]  # fmt: skip


def test_a_picture_that_is_full_says_that_nodes_are_left_out():
    """No node has too many neighbours, but there are more than fit."""
    chains = [f"a{n} = Relu(x) {' '.join(f'b{n}_{m} = Abs(a{n})' for m in range(5))}" for n in range(5)]
    model = onnx.parser.parse_model(
        f"""<ir_version: 10, opset_import: ["": 21], producer_name: "a test">
        g (float[2] x) => (float[2] y) {{ {" ".join(chains)} y = Max(a0, a1, a2, a3, a4, lost) }}"""
    )
    picture = drawn(model)
    assert (sum(node.index is not None for node in picture.nodes), picture.is_cut) == (MAX_NODES, True)
    assert not drawn(onnx.parser.parse_model(CHAIN)).is_cut


def test_nothing_is_drawn_unless_asked_for():
    data = onnx.parser.parse_model(CHAIN).SerializeToString()
    assert {item.neighbourhood for item in lint_source(BytesSource(data), "m.onnx", Settings()).diagnostics} == {None}


def test_a_nested_graph_is_drawn_by_itself():
    inner = onnx.parser.parse_graph("inner () => (float[2] o) { o = Add(a, lost) }")
    model = onnx.parser.parse_model(CHAIN.replace("Add(b, lost)", "Abs(b)"))
    choice = onnx.helper.make_node("If", ["k"], ["i"], then_branch=inner, else_branch=inner)
    model.graph.input.append(onnx.helper.make_tensor_value_info("k", onnx.TensorProto.BOOL, []))
    model.graph.node.append(choice)
    for item in found(model, "undefined-name"):
        assert item.neighbourhood is not None
        assert edges(item.neighbourhood) == {("from outside", "a", "Add"), ("undefined", "lost", "Add")}
        assert {node.name for node in item.neighbourhood.nodes if node.is_fault} == {"", "lost"}


def test_functions_are_drawn():
    model = onnx.parser.parse_model(CHAIN.replace("Add(b, lost)", "Abs(b)"))
    nodes = [onnx.helper.make_node("Abs", ["p"], ["m"]), onnx.helper.make_node("Add", ["m", "lost"], ["q"])]
    model.functions.append(onnx.helper.make_function("d", "F", ["p"], ["q"], nodes, [onnx.helper.make_opsetid("", 21)]))
    model.opset_import.append(onnx.helper.make_opsetid("d", 1))
    assert edges(drawn(model)) == {("Abs", "m", "Add"), ("undefined", "lost", "Add"), ("input", "p", "Abs")}


def test_a_value_is_drawn_with_who_makes_and_who_uses_it():
    model = onnx.parser.parse_model(CHAIN.replace("Add(b, lost)", "Abs(b)"))
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 7
    [item] = found(model, "contradictory-declared-shape")
    assert item.neighbourhood is not None
    assert ("Neg", "e", "Sqrt") in edges(item.neighbourhood)
    # No node uses it, so that its own box is marked.
    [box] = [node for node in item.neighbourhood.nodes if node.is_fault]
    assert (box.kind, box.name, box.index) == ("output", "y", None)
    assert [edge.is_fault for edge in item.neighbourhood.edges if item.neighbourhood.nodes[edge.target] is box] == [
        True
    ]


def test_a_value_that_many_nodes_use_is_named_once():
    picture = drawn(
        onnx.parser.parse_model(
            CHAIN.replace("Add(b, lost)", "Sum(b, b, lost)").replace("Abs(a)", "Abs(a) o = Add(b, b)")
        )
    )
    assert [edge.name for edge in picture.edges].count("b") == 1
    assert [picture.nodes[edge.target].kind for edge in picture.edges if edge.name == "b"] == ["Sum"]


def test_both_nodes_that_define_a_value_lead_to_its_users():
    picture = drawn(onnx.parser.parse_model(CHAIN.replace("Add(b, lost)", "Abs(b) b = Neg(x)")), "duplicate-definition")
    user = next(edge.target for edge in picture.edges if edge.name == "b")
    into = {(picture.nodes[edge.source].kind, edge.is_fault) for edge in picture.edges if edge.target == user}
    assert into == {("Abs", False), ("Neg", True)}, "only the edge of the later definition is red"


def test_what_is_about_the_model_has_no_picture():
    model = onnx.parser.parse_model(CHAIN.replace(', producer_name: "a test"', ""))
    assert [item.neighbourhood for item in found(model, "missing-producer")] == [None]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["users of one value", "inputs of one node", "chain"])
def test_a_large_graph_costs_a_look_and_gives_a_small_picture(form: str):
    count = 20_000
    if form == "users of one value":
        nodes = [onnx.helper.make_node("Relu", ["x"], [f"v{n}"]) for n in range(count)]
    elif form == "inputs of one node":
        nodes = [onnx.helper.make_node("Relu", ["x"], [f"v{n}"]) for n in range(count)]
        nodes.append(onnx.helper.make_node("Sum", [f"v{n}" for n in range(count)], ["s"]))
    else:
        nodes = [onnx.helper.make_node("Relu", [f"v{n}"], [f"v{n + 1}"]) for n in range(count)]
    nodes += [onnx.helper.make_node("Add", ["x", f"lost{n}"], [f"a{n}"]) for n in range(50)]
    value = onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2])
    model = onnx.helper.make_model(onnx.helper.make_graph(nodes, "g", [value], []))
    items = found(model, "undefined-name")
    pictures = [item.neighbourhood for item in items if item.neighbourhood is not None]
    assert 1 <= len(pictures) <= PER_RULE
    for picture in pictures:
        assert len(picture.nodes) <= MAX_NODES * (MAX_NODES + 1)
        assert sum(node.index is not None for node in picture.nodes) <= MAX_NODES
    assert MAX_OF_A_NODE < MAX_NODES


def test_a_fault_in_drawing_takes_no_finding_away(monkeypatch: pytest.MonkeyPatch):
    def crash(diagnostics: object, model: object) -> object:
        raise ValueError("as asked for")

    monkeypatch.setattr("onnx_lint.surroundings.neighbourhood.with_neighbourhoods", crash)
    data = onnx.parser.parse_model(CHAIN).SerializeToString()
    file = lint_source(BytesSource(data), "m.onnx", Settings(), pictures=True)
    assert [item.rule for item in file.diagnostics] == ["undefined-name"]
    assert [error.exception for error in file.internal_errors] == ["ValueError: as asked for"]


def test_of_a_value_with_two_users_only_the_edge_to_the_faulty_one_is_red():
    text = CHAIN.replace("Add(b, lost)", "MatMul(b, s)").replace("e = Neg(d)", "e = Add(d, s)")
    text = text.replace("{1, 2}>", "{1, 2}, float s = {1}>").replace("a = Relu(x)", "a = Relu(x) ")
    picture = drawn(onnx.parser.parse_model(text), "incompatible-operand-shapes")
    assert [picture.nodes[edge.target].kind for edge in picture.edges if edge.is_fault] == ["MatMul"]
