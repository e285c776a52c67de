# SPDX-License-Identifier: Apache-2.0
"""The memos of the forms of nodes in the inference."""

from __future__ import annotations

import pytest

from onnx_lint import schema
from onnx_lint.inference.flow import frames, subgraph_walk
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model, Proto

BOOL, FLOAT, DOUBLE, INT8, INT16, BFLOAT16 = 9, 1, 11, 3, 5, 16


def _add_if(graph: Proto, output: str, then_branch: str, else_branch: str) -> Proto:
    """A node that returns one of two values."""
    node = graph.node.add(op_type="If", input=["condition"], output=[output])
    for name, value in (("then_branch", then_branch), ("else_branch", else_branch)):
        branch = node.attribute.add(name=name, type=5).g
        branch.name = f"{name}_of_{output}"
        branch.node.add(op_type="Neg", input=[value], output=[f"{name}_{output}"])
        branch.output.add(name=f"{name}_{output}")
    return node


def _graph() -> tuple[Proto, Proto]:
    model = schema.message("ModelProto")(ir_version=10)
    model.opset_import.add(domain="", version=21)
    model.graph.name = "g"
    for name, code in (("condition", BOOL), ("x", FLOAT), ("w", DOUBLE)):
        model.graph.input.add(name=name).type.tensor_type.elem_type = code
    return model, model.graph


def _load(proto: Proto) -> Model:
    return load(BytesSource(proto.SerializeToString()), "model.onnx")


def test_an_if_with_branches_like_those_of_another_has_its_own_findings():
    proto, graph = _graph()
    for output, then_branch, else_branch in (("a", "x", "w"), ("b", "x", "x"), ("c", "x", "w"), ("d", "x", "x")):
        _add_if(graph, output, then_branch, else_branch)
    found = _load(proto).value_flow
    assert [conflict.node.outputs for conflict in found.subgraphs] == [("a",), ("c",)]
    assert [found.types.get(name) for name in "abcd"] == [None, "tensor(float)", None, "tensor(float)"]


def test_a_function_with_another_operator_set_shares_no_memo_with_the_graph():
    proto, graph = _graph()
    graph.input[1].type.tensor_type.elem_type = BFLOAT16
    body = proto.functions.add(domain="l", name="F", input=["x"], output=["y"])
    body.opset_import.add(domain="", version=15)  # LeakyRelu takes bfloat16 from operator set 16 on
    proto.opset_import.add(domain="l", version=1)
    for nodes, output in ((graph.node, "a"), (body.node, "y")):
        nodes.add(op_type="LeakyRelu", input=["x"], output=[output]).attribute.add(name="alpha", type=1, f=0.5)
    graph.node.add(op_type="F", domain="l", input=["x"], output=["b"])
    found = _load(proto).value_flow
    assert [each.node.outputs for each in found.operands] == [("y",)]


def _memos(model: Model) -> list[object]:
    walked = model.value_flow.walks.of(model.main_graph, None)
    assert walked is not None
    return [walked.memos[form] for form in model.main_graph.forms]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operators of the memos that are made from now on; no earlier memo is kept."""
    found: list[str] = []
    original = frames._made_memo

    def counted(operator, form, *arguments, **options):
        found.append(form.op_type)
        return original(operator, form, *arguments, **options)

    monkeypatch.setattr(frames, "_made_memo", counted)
    frames._kept.clear()
    return found


# --- memos of earlier models


def _with_import(domain: str) -> Model:
    proto, graph = _graph()
    proto.opset_import.add(domain=domain, version=1)
    graph.node.add(op_type="Neg", input=["x"], output=["a"])
    graph.node.add(op_type="LeakyRelu", input=["a"], output=["b"]).attribute.add(name="alpha", type=1, f=0.25)
    return _load(proto)


def test_a_later_model_with_another_import_makes_no_new_memo(made: list[str]):
    for domain in ("com.example", "com.example.other"):
        assert _with_import(domain).value_flow.types["b"] == "tensor(float)"
    assert made == ["Neg", "LeakyRelu"]


@pytest.mark.parametrize(
    ("op_type", "versions", "later"),
    [("LeakyRelu", (15, 16), 16), ("LeakyRelu", (16, 15), 16), ("Neg", (12, 13), 13), ("Neg", (13, 12), 13)],
)
def test_a_later_model_with_another_operator_version_has_its_own_findings(
    op_type: str, versions: tuple[int, int], later: int
):
    frames._kept.clear()
    for version in versions:
        proto, graph = _graph()
        proto.opset_import[0].version = version
        graph.input[1].type.tensor_type.elem_type = BFLOAT16  # which only the later version takes
        node = graph.node.add(op_type=op_type, input=["x"], output=["a"])
        if op_type == "LeakyRelu":
            node.attribute.add(name="alpha", type=1, f=0.25)
        found = _load(proto).value_flow.operands
        assert [each.node.outputs for each in found] == ([] if version == later else [("a",)])


# --- nodes that differ in floating-point numbers


def _add_constants(graph: Proto, count: int) -> None:
    """Add Constants of their own, each added to the value before."""
    for index in range(count):
        value = graph.node.add(op_type="Constant", output=[f"k{index}"]).attribute.add(name="value", type=4)
        value.t.MergeFrom(schema.message("TensorProto")(data_type=FLOAT, dims=[1], float_data=[index + 0.5]))
        before = f"s{index - 1}" if index else "x"
        graph.node.add(op_type="Add", input=[before, f"k{index}"], output=[f"s{index}"])


def _constants_made(model: Model) -> int:
    memos = _memos(model)
    return len(
        {id(memo) for memo, form in zip(memos, model.main_graph.forms, strict=True) if form.op_type == "Constant"}
    )


def test_constants_that_decide_nothing_share_a_memo():
    proto, graph = _graph()
    _add_constants(graph, 40)
    model = _load(proto)
    assert _constants_made(model) == frames._FEW_CONSTANTS + 1
    assert model.value_flow.fact_of("k39").content is None


@pytest.mark.parametrize(
    "nodes",
    [
        [("Cast", "c", "d", 7), ("Reshape", "x c", "y", 0)],
        [("Sqrt", "k39", "d", 0)],
        [("Less", "k38 k39", "d", 0)],
        [("Range", "k37 k38 k39", "d", 0)],
        [("SequenceConstruct", "k39", "d", 0)],
    ],
    ids=["cast", "computed", "compared", "range", "sequence"],
)
def test_the_elements_of_constants_that_a_node_reads_are_followed(nodes: list[tuple[str, str, str, int]]):
    proto, graph = _graph()
    _add_constants(graph, 40)
    for op_type, inputs, output, to in nodes:
        node = graph.node.add(op_type=op_type, input=inputs.replace("c", "k39").split(), output=[output])
        if to:
            node.attribute.add(name="to", type=2, i=to)
    assert _load(proto).value_flow.fact_of("k39").content == (39.5,)


def test_the_elements_of_constants_behind_their_users_are_followed():
    proto, graph = _graph()
    graph.node.add(op_type="Sqrt", input=["k39"], output=["root"])
    _add_constants(graph, 40)
    graph.node[-2].attribute[0].t.float_data[0] = 4
    assert _load(proto).value_flow.fact_of("root").content == (2.0,)


def test_all_elements_are_followed_if_they_are_shown():
    proto, graph = _graph()
    _add_constants(graph, 40)
    [walk] = _load(proto).provenance.walks()
    assert walk.fact("k39").content == (39.5,)


def test_constants_of_other_shapes_and_types_share_no_memo():
    proto, graph = _graph()
    _add_constants(graph, 40)
    for index, (code, dims) in enumerate(((FLOAT, [2]), (FLOAT, [2, 1]), (DOUBLE, [1]), (BFLOAT16, [1]))):
        value = graph.node.add(op_type="Constant", output=[f"o{index}"]).attribute.add(name="value", type=4)
        value.t.MergeFrom(schema.message("TensorProto")(data_type=code, dims=dims, raw_data=bytes(8)))
    found = _load(proto).value_flow
    assert [found.shape_of(f"o{index}") for index in range(4)] == [(2,), (2, 1), (1,), (1,)]
    assert [found.types[f"o{index}"] for index in (2, 3)] == ["tensor(double)", "tensor(bfloat16)"]


def test_attributes_that_decide_nothing_share_a_memo():
    proto, graph = _graph()
    for index, alpha in enumerate((0.1, 0.2, 0.3)):
        node = graph.node.add(op_type="LeakyRelu", input=["x"], output=[f"r{index}"])
        node.attribute.add(name="alpha", type=1, f=alpha)
    for index in range(3):
        node = graph.node.add(op_type="Celu", input=["x"], output=[f"c{index}"])
        node.attribute.add(name="alpha", type=1, f=0.5)
        node.attribute.add(name="other", type=2, i=index)
    memos = _memos(_load(proto))
    assert len(set(map(id, memos[:3]))) == 1
    assert len(set(map(id, memos[3:]))) == 3


def test_attributes_that_decide_a_shape_share_none():
    proto, graph = _graph()
    proto.opset_import[0].version = 1
    for size in (1, 3, 4, 4):
        graph.input[1].type.tensor_type.shape.dim.add(dim_value=size)
    for index, scale in enumerate((1.0, 2.0)):
        node = graph.node.add(op_type="Upsample", input=["x"], output=[f"u{index}"])
        node.attribute.add(name="height_scale", type=1, f=scale)
        node.attribute.add(name="width_scale", type=1, f=scale)
    found = _load(proto).value_flow
    assert [found.shape_of("u0"), found.shape_of("u1")] == [(1, 3, 4, 4), (1, 3, 8, 8)]


# --- nodes that differ in subgraphs


def test_nodes_with_other_graphs_share_a_memo_and_no_values():
    proto, graph = _graph()
    _add_if(graph, "a", "x", "x")
    _add_if(graph, "b", "w", "w")
    _add_if(graph, "c", "x", "w")
    model = _load(proto)
    found = model.value_flow
    assert [found.types["a"], found.types["b"]] == ["tensor(float)", "tensor(double)"]
    assert [conflict.node.outputs for conflict in found.subgraphs] == [("c",)]
    first, second, third = _memos(model)
    assert first is second is third


def test_nodes_that_differ_in_more_than_graphs_share_none():
    proto, graph = _graph()
    _add_if(graph, "a", "x", "x")
    _add_if(graph, "b", "x", "x").attribute.add(name="number", type=2, i=1)
    _add_if(graph, "c", "x", "x").output.append("d")
    _add_if(graph, "e", "x", "x").attribute[1].name = "branch"
    _add_if(graph, "f", "x", "x").domain = "com.example"
    _add_if(graph, "g", "x", "x").attribute[1].type = 4
    memos = _memos(_load(proto))
    assert len(set(map(id, memos))) == len(memos)


def test_equal_outputs_of_branches_are_judged_once(monkeypatch: pytest.MonkeyPatch):
    frames._kept.clear()
    asked: list[object] = []
    outputs_of = subgraph_walk.outputs_of
    monkeypatch.setattr(
        subgraph_walk, "outputs_of", lambda subgraphs, found: asked.append(found) or outputs_of(subgraphs, found)
    )
    proto, graph = _graph()
    for value, code in ((graph.input[1], INT8), (graph.input[2], INT16)):
        value.type.tensor_type.elem_type = code
    for output, name in zip("abcd", "xwxw", strict=True):
        _add_if(graph, output, name, name)
    assert _load(proto).value_flow.types["d"] == "tensor(int16)"
    assert len(asked) == 2


def test_a_loop_without_outputs_is_judged_each_time():
    proto, graph = _graph()
    for output in "ab":
        node = graph.node.add(op_type="Loop", input=["", "condition", "x"], output=[])
        body = node.attribute.add(name="body", type=5).g
        body.name = f"body_{output}"
        for name in (f"i{output}", f"c{output}", f"v{output}"):
            body.input.add(name=name)
        body.node.add(op_type="Neg", input=["x"], output=[f"n{output}"])
        body.output.add(name=f"n{output}")
        other = node.attribute.add(name="else_branch", type=5).g
        other.name = f"other_{output}"
    assert [each.node.index for each in _load(proto).value_flow.subgraphs] == [0, 1]


def _memos(model: Model) -> list[object]:
    walked = model.value_flow.walks.of(model.main_graph, None)
    assert walked is not None
    return [walked.memos[form] for form in model.main_graph.forms]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The operators of the memos that are made from now on; no earlier memo is kept."""
    found: list[str] = []
    original = frames._made_memo

    def counted(operator, form, *arguments, **options):
        found.append(form.op_type)
        return original(operator, form, *arguments, **options)

    monkeypatch.setattr(frames, "_made_memo", counted)
    frames._kept.clear()
    return found


# --- memos of earlier models


def _with_import(domain: str) -> Model:
    proto, graph = _graph()
    proto.opset_import.add(domain=domain, version=1)
    graph.node.add(op_type="Neg", input=["x"], output=["a"])
    graph.node.add(op_type="LeakyRelu", input=["a"], output=["b"]).attribute.add(name="alpha", type=1, f=0.25)
    return _load(proto)


def test_a_later_model_with_another_import_makes_no_new_memo(made: list[str]):
    for domain in ("com.example", "com.example.other"):
        assert _with_import(domain).value_flow.types["b"] == "tensor(float)"
    assert made == ["Neg", "LeakyRelu"]


@pytest.mark.parametrize("versions", [(15, 16), (16, 15)])
def test_a_later_model_with_another_operator_version_has_its_own_findings(versions: tuple[int, int]):
    found = {}
    for version in versions:
        proto, graph = _graph()
        proto.opset_import[0].version = version
        graph.input[1].type.tensor_type.elem_type = BFLOAT16  # which LeakyRelu takes from operator set 16 on
        graph.node.add(op_type="LeakyRelu", input=["x"], output=["a"]).attribute.add(name="alpha", type=1, f=0.25)
        found[version] = [each.node.outputs for each in _load(proto).value_flow.operands]
    assert found == {15: [("a",)], 16: []}


# --- nodes that differ in floating-point numbers


def _add_constants(graph: Proto, count: int) -> None:
    """Add Constants of their own, each added to the value before."""
    for index in range(count):
        value = graph.node.add(op_type="Constant", output=[f"k{index}"]).attribute.add(name="value", type=4)
        value.t.MergeFrom(schema.message("TensorProto")(data_type=FLOAT, dims=[1], float_data=[index + 0.5]))
        before = f"s{index - 1}" if index else "x"
        graph.node.add(op_type="Add", input=[before, f"k{index}"], output=[f"s{index}"])


def _constants_made(model: Model) -> int:
    memos = _memos(model)
    return len({id(memo) for memo, form in zip(memos, model.main_graph.forms, strict=True) if form.op_type == "Constant"})


def test_constants_that_decide_nothing_share_a_memo():
    proto, graph = _graph()
    _add_constants(graph, 40)
    model = _load(proto)
    assert _constants_made(model) == frames._FEW_CONSTANTS + 1
    assert model.value_flow.fact_of("k39").content is None


@pytest.mark.parametrize(
    "nodes",
    [
        [("Cast", "c", "d", 7), ("Reshape", "x c", "y", 0)],
        [("Sqrt", "k39", "d", 0)],
        [("Less", "k38 k39", "d", 0)],
        [("Range", "k37 k38 k39", "d", 0)],
        [("SequenceConstruct", "k39", "d", 0)],
    ],
    ids=["cast", "computed", "compared", "range", "sequence"],
)
def test_the_elements_of_constants_that_a_node_reads_are_followed(nodes: list[tuple[str, str, str, int]]):
    proto, graph = _graph()
    _add_constants(graph, 40)
    for op_type, inputs, output, to in nodes:
        node = graph.node.add(op_type=op_type, input=inputs.replace("c", "k39").split(), output=[output])
        if to:
            node.attribute.add(name="to", type=2, i=to)
    assert _load(proto).value_flow.fact_of("k39").content == (39.5,)


def test_the_elements_of_constants_behind_their_users_are_followed():
    proto, graph = _graph()
    graph.node.add(op_type="Sqrt", input=["k39"], output=["root"])
    _add_constants(graph, 40)
    graph.node[-2].attribute[0].t.float_data[0] = 4
    assert _load(proto).value_flow.fact_of("root").content == (2.0,)


def test_all_elements_are_followed_if_they_are_shown():
    proto, graph = _graph()
    _add_constants(graph, 40)
    [walk] = _load(proto).provenance.walks()
    assert walk.fact("k39").content == (39.5,)


def test_constants_of_other_shapes_and_types_share_no_memo():
    proto, graph = _graph()
    _add_constants(graph, 40)
    for index, (code, dims) in enumerate(((FLOAT, [2]), (FLOAT, [2, 1]), (DOUBLE, [1]), (BFLOAT16, [1]))):
        value = graph.node.add(op_type="Constant", output=[f"o{index}"]).attribute.add(name="value", type=4)
        value.t.MergeFrom(schema.message("TensorProto")(data_type=code, dims=dims, raw_data=bytes(8)))
    found = _load(proto).value_flow
    assert [found.shape_of(f"o{index}") for index in range(4)] == [(2,), (2, 1), (1,), (1,)]
    assert [found.types[f"o{index}"] for index in (2, 3)] == ["tensor(double)", "tensor(bfloat16)"]


def test_attributes_that_decide_nothing_share_a_memo_and_faults_share_none():
    proto, graph = _graph()
    for index, alpha in enumerate((0.1, 0.2, 0.3)):
        graph.node.add(op_type="LeakyRelu", input=["x"], output=[f"r{index}"]).attribute.add(name="alpha", type=1, f=alpha)
    for index, clip in enumerate((0.5, -1.0, 0.5)):
        node = graph.node.add(op_type="Celu", input=["x"], output=[f"c{index}"])
        node.attribute.add(name="alpha", type=1, f=clip)
        node.attribute.add(name="other", type=2, i=index)
    memos = _memos(_load(proto))
    assert len(set(map(id, memos[:3]))) == 1
    assert len(set(map(id, memos[3:]))) == 3


# --- nodes that differ in subgraphs


def test_nodes_with_other_graphs_share_a_memo_and_no_values():
    proto, graph = _graph()
    _add_if(graph, "a", "x", "x")
    _add_if(graph, "b", "w", "w")
    _add_if(graph, "c", "x", "w")
    model = _load(proto)
    found = model.value_flow
    assert [found.types["a"], found.types["b"]] == ["tensor(float)", "tensor(double)"]
    assert [conflict.node.outputs for conflict in found.subgraphs] == [("c",)]
    first, second, third = _memos(model)
    assert first is second is third


def test_nodes_that_differ_in_more_than_graphs_share_none():
    proto, graph = _graph()
    _add_if(graph, "a", "x", "x")
    _add_if(graph, "b", "x", "x").attribute.add(name="number", type=2, i=1)
    _add_if(graph, "c", "x", "x").output.append("d")
    _add_if(graph, "e", "x", "x").attribute[1].name = "branch"
    _add_if(graph, "f", "x", "x").domain = "com.example"
    _add_if(graph, "g", "x", "x").attribute[1].type = 4
    memos = _memos(_load(proto))
    assert len(set(map(id, memos))) == len(memos)


def test_equal_outputs_of_branches_are_judged_once(monkeypatch: pytest.MonkeyPatch):
    frames._kept.clear()
    asked: list[object] = []
    outputs_of = subgraph_walk.outputs_of
    monkeypatch.setattr(
        subgraph_walk, "outputs_of", lambda subgraphs, found: asked.append(found) or outputs_of(subgraphs, found)
    )
    proto, graph = _graph()
    for value, code in ((graph.input[1], INT8), (graph.input[2], INT16)):
        value.type.tensor_type.elem_type = code
    for output, name in zip("abcd", "xwxw", strict=True):
        _add_if(graph, output, name, name)
    assert _load(proto).value_flow.types["d"] == "tensor(int16)"
    assert len(asked) == 2


def test_a_loop_without_outputs_is_judged_each_time():
    proto, graph = _graph()
    for output in "ab":
        node = graph.node.add(op_type="Loop", input=["", "condition", "x"], output=[])
        body = node.attribute.add(name="body", type=5).g
        body.name = f"body_{output}"
        for name in (f"i{output}", f"c{output}", f"v{output}"):
            body.input.add(name=name)
        body.node.add(op_type="Neg", input=["x"], output=[f"n{output}"])
        body.output.add(name=f"n{output}")
        other = node.attribute.add(name="else_branch", type=5).g
        other.name = f"other_{output}"
    assert [each.node.index for each in _load(proto).value_flow.subgraphs] == [0, 1]
