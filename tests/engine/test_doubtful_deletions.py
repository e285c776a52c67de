# SPDX-License-Identifier: Apache-2.0
"""An entry of value_info that contradicts a value is not deleted if the value follows from another fault."""

from __future__ import annotations

import onnx.parser
import pytest

from onnx_lint import Settings, lint

HEAD = '<ir_version: 10, opset_import: ["": 21], producer_name: "me"> '
INNER = """g (float[2,4] x, bool c) => (float[2,4] y) { %s y = If(c)
<then_branch = t () => (float[2,4] t) <float[9,4] r> { r = Relu(%s) t = Neg(r) }, else_branch = e () => (float[2,4] e)
{ e = Identity(x) }> }"""


def _fixes(text: str) -> list[str | None]:
    found = lint(onnx.parser.parse_model(HEAD + text)).diagnostics
    return [None if each.fix is None else each.fix.message for each in found if "declared as" in each.message]


@pytest.mark.parametrize(
    ("nodes", "has_fix"),
    [
        ("h = Relu(x) y = Neg(h)", True),
        ("k = Cast<to = 99>(x) h = Relu(k) y = Neg(h)", False),  # two nodes before the value
        ("h = Cast<to = 99>(x) y = Neg(h)", False),
        ("h = Relu(x) k = Cast<to = 99>(x) y = Neg(h)", True),  # beside it
        ("h = Relu(x) y = Cast<to = 99>(h)", True),  # behind it
    ],
)
def test_a_fault_that_the_value_follows_from_withdraws_the_fix(nodes: str, has_fix: bool):
    text = f"g (float[2,4] x) => (float[2,4] y) <float[9,4] h> {{ {nodes} }}"
    assert [each is not None for each in _fixes(text)] == [has_fix]


@pytest.mark.parametrize(
    ("node", "name", "has_fix"), [("k = Relu(x)", "k", True), ("k = Cast<to = 99>(x)", "k", False)]
)
def test_a_fault_outside_of_a_subgraph_withdraws_the_fix_in_it(node: str, name: str, has_fix: bool):
    assert [each is not None for each in _fixes(INNER % (node, name))] == [has_fix]


def test_an_initializer_at_fault_withdraws_the_fix():
    model = onnx.parser.parse_model(HEAD + "g (float[2,4] x) => (float[2,4] y) <float16[4] w> { y = Mul(x, w) }")
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("w", onnx.TensorProto.FLOAT16, [4]))
    for size, has_fix in ((16, True), (12, False)):
        del model.graph.initializer[:]
        model.graph.initializer.add(name="w", dims=[4], data_type=onnx.TensorProto.FLOAT, raw_data=bytes(size))
        found = {each.rule: each.fix for each in lint(model).diagnostics}
        assert (found["contradictory-value-info"] is not None) == has_fix


def test_a_negative_dimension_in_a_branch_withdraws_no_fix():
    """It is a fault of the declaration, and says nothing of the value."""
    model = onnx.parser.parse_model(HEAD + INNER % ("k = Relu(x)", "k"))
    del model.graph.node[1].attribute[0].g.value_info[:]
    model.graph.node[1].attribute[0].g.output[0].type.tensor_type.shape.dim[0].dim_value = -1
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("k", onnx.TensorProto.FLOAT, [9, 4]))
    model.graph.node.append(onnx.helper.make_node("Neg", ["y"], ["z"]))
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("z", onnx.TensorProto.INT32, [2, 4]))
    found = {each.rule: each.fix for each in lint(model).diagnostics if each.subject in ("z", None)}
    assert "negative-dimension" in found
    assert found["contradictory-declared-type"] is not None


def test_several_entries_beside_one_fault():
    """One without a fault on the way to its value keeps its fix."""
    nodes = "k = Cast<to = 99>(x) h = Relu(k) i = Neg(x) y = Add(h, i)"
    text = f"g (float[2,4] x) => (float[2,4] y) <float[9,4] h, float[9,4] i> {{ {nodes} }}"
    assert [each for each in _fixes(text) if each is not None] == ["delete value info 'i' of main graph 'g'"]


CONSTANT_AT_FAULT = "w = Constant<value = float[2,4] {1, 2, 3}>()"


@pytest.mark.parametrize(
    ("nodes", "body", "has_fix"),
    [
        ("h = f.F(x) y = Neg(h)", f"{CONSTANT_AT_FAULT} b = Add(a, w)", False),
        ("h = f.F(x) y = Neg(h)", "b = Relu(a)", True),
        ("h = Relu(x) y = f.F(h)", f"{CONSTANT_AT_FAULT} b = Add(a, w)", True),  # behind it
    ],
)
def test_a_fault_in_a_function_withdraws_the_fix_of_its_caller(nodes: str, body: str, has_fix: bool):
    model = onnx.parser.parse_model(
        HEAD.replace('"": 21]', '"": 21, "f": 1]')
        + f"g (float[2,4] x) => (float[2,4] y) <float[9,4] h> {{ {nodes} }} "
        + f'<domain: "f", opset_import: ["": 21]> F (a) => (b) {{ {body} }}'
    )
    assert _has_fix(model) == has_fix


@pytest.mark.parametrize(("node", "has_fix"), [(CONSTANT_AT_FAULT, False), ("w = Identity(x)", True)])
@pytest.mark.parametrize(
    "reader",
    [
        "h = If(c) <then_branch = t () => (float[2,4] t) { t = Add(x, w) }, "
        "else_branch = e () => (float[2,4] e) { e = Identity(x) }>",
        "k = Constant<value_int = 3>() h = Loop(k, c, x) <body = b (int64 i, bool d, float[2,4] p) => "
        "(bool o, float[2,4] q) { o = Identity(d) q = Add(p, w) }>",
    ],
)
def test_a_fault_that_a_body_captures_withdraws_the_fix(node: str, reader: str, has_fix: bool):
    text = f"g (float[2,4] x, bool c) => (float[2,4] y) <float[9,4] h> {{ {node} {reader} y = Neg(h) }}"
    assert _has_fix(onnx.parser.parse_model(HEAD + text)) == has_fix


@pytest.mark.parametrize(
    "settings",
    [
        Settings(ignore=["tensor-size-mismatch"]),
        Settings(select=["contradictory-declared-shape"]),
        Settings(severity={"tensor-size-mismatch": "warning"}),
    ],
)
def test_the_selection_of_rules_does_not_decide_whether_a_fix_is_made(settings: Settings):
    text = f"g (float[2,4] x) => (float[2,4] y) <float[9,4] h> {{ {CONSTANT_AT_FAULT} h = Add(x, w) y = Neg(h) }}"
    assert _has_fix(onnx.parser.parse_model(HEAD + text), settings) is False
    right = "g (float[2,4] x) => (float[2,4] y) <float[9,4] h> { h = Relu(x) y = Neg(h) }"
    assert _has_fix(onnx.parser.parse_model(HEAD + right), settings) is True


def test_an_operand_that_may_be_wrong_keeps_its_entry():
    """The hint converts the initializer to the type that the entry has."""
    model = onnx.parser.parse_model(
        HEAD + "g (float16[2,4] x) => (float16[2,4] y) <float[4] w = {1, 2, 3, 4}> { y = Mul(x, w) }"
    )
    model.graph.value_info.append(onnx.helper.make_tensor_value_info("w", onnx.TensorProto.FLOAT16, [4]))
    (found,) = lint(model).diagnostics
    assert "initializer 'w' converted to FLOAT16" in (found.hint or "")
    assert all(each.fix is None for each in (found, *found.folding.members))


def _has_fix(model: onnx.ModelProto, settings: Settings | None = None) -> bool:
    """Return whether the only finding on a declaration in value_info has a fix."""
    (found,) = [
        each
        for item in lint(model, settings).diagnostics
        for each in (item.folding.members or (item,))
        if "declared as" in each.message
    ]
    return found.fix is not None


@pytest.mark.parametrize(("used", "deleted"), [("lost", ["spare"]), ("x", ["lost", "spare"])])
@pytest.mark.parametrize("is_function", [False, True])
def test_the_entry_of_a_name_that_a_node_uses_is_not_deleted(used: str, deleted: list[str], *, is_function: bool):
    """It is right once the value has its name back."""
    head = '<ir_version: 10, opset_import: ["": 21, "f": 1]>'
    if is_function:
        text = f"{head} g (float[2] x) => (float[2] y) {{ y = f.F(x) }}"
        model = onnx.parser.parse_model(
            f'{text} <domain: "f", opset_import: ["": 21]> F (x) => (y) {{ y = Abs({used}) }}'
        )
    else:
        model = onnx.parser.parse_model(f"{head} g (float[2] x) => (float[2] y) {{ y = Abs({used}) }}")
    entries = (model.functions[0] if is_function else model.graph).value_info
    for name in ("lost", "spare"):
        entries.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [2]))
    found = lint(model, select=["unknown-value-info-name"]).diagnostics
    edits = [edit for each in found if each.fix for edit in each.fix.edits]
    assert [entries[edit.at.index].name for edit in edits] == deleted
