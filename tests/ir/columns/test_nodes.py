# SPDX-License-Identifier: Apache-2.0
"""Nodes read from their bytes: what Protocol Buffers reads of them one by one is what the table has in columns."""

from __future__ import annotations

import random
from typing import Any

import pytest
from google.protobuf.message import DecodeError
from support.models.messages import message_of
from support.project.each_case import each_case
from support.wire.wire_bytes import length, number

from onnx_lint import schema
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.attributes import kinds_of
from onnx_lint.ir.columns import nodes as module
from onnx_lint.ir.columns.attribute_kinds import attribute_kind
from onnx_lint.ir.columns.nodes import _MAX_FORMS, _MAX_PLAIN_BYTES, MAX_SHARED_BYTES, NodeTable, _forms, node_table
from onnx_lint.ir.fault import FaultKind
from onnx_lint.loader import load

NODE = schema.message("NodeProto")
FIELDS = {field.name: field.number for field in NODE.DESCRIPTOR.fields}
LENGTHS = (0, 1, 5, 127, 128, 300, 16_383, 16_384, 20_000)


def _string(chance: random.Random) -> str:
    size = chance.choice(LENGTHS if chance.random() < 0.1 else LENGTHS[:4])
    return "".join(chance.choice("ab/é漢\x12\x1a\n*") for _ in range(size))


def _random_node(chance: random.Random) -> Any:
    node = NODE()
    node.input.extend(_string(chance) for _ in range(chance.randrange(4)))
    node.output.extend(_string(chance) for _ in range(chance.randrange(3)))
    for field in ("name", "op_type", "domain", "overload", "doc_string"):
        if chance.random() < 0.6:
            setattr(node, field, _string(chance))
    for _ in range(chance.randrange(3)):
        attribute = node.attribute.add(name=_string(chance), type=chance.randrange(15))
        if chance.random() < 0.3:
            attribute.ints.extend(range(chance.choice((1, 50))))
        if chance.random() < 0.1:
            attribute.g.node.add(op_type=_string(chance), input=[_string(chance)])
        if chance.random() < 0.1:
            attribute.tp.sequence_type.elem_type.tensor_type.elem_type = 1
    for _ in range(chance.randrange(2)):
        node.metadata_props.add(key=_string(chance), value=_string(chance))
    if chance.random() < 0.1:
        node.device_configurations.add(configuration_id="c")
    return node


def _rows(table: NodeTable) -> list[tuple[object, ...]]:
    columns = zip(table.inputs, table.outputs, table.names, table.forms, strict=True)
    return [
        (
            inputs,
            outputs,
            name,
            form.op_type,
            form.domain,
            form.overload,
            [attribute.SerializeToString() for attribute in form.attributes],
            form.inputs,
            form.outputs,
        )
        for inputs, outputs, name, form in columns
    ]


def _expected(node: Any) -> tuple[object, ...]:
    return (
        tuple(node.input),
        tuple(node.output),
        node.name,
        node.op_type,
        node.domain,
        node.overload,
        [attribute.SerializeToString() for attribute in node.attribute],
        tuple(name != "" for name in node.input),
        tuple(name != "" for name in node.output),
    )


def _has_repeated_keys(node: Any) -> bool:
    keys = [entry.key for entry in node.metadata_props]
    return len(set(keys)) < len(keys)


@each_case("seed", range(8))
@each_case("most", [3, 4_096])
def test_the_table_has_what_the_nodes_have(seed: int, most: int, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(module, "_MAX_FORMS", most)
    chance = random.Random(seed)
    kinds = [_random_node(chance) for _ in range(10)]
    nodes = []
    for _ in range(60):
        node = NODE()
        node.CopyFrom(chance.choice(kinds))
        if chance.random() < 0.7:
            node.name = _string(chance)
        nodes.append(node)
    table = node_table([node.SerializeToString() for node in nodes])
    assert _rows(table) == list(map(_expected, nodes))
    for field in ("doc_string", "metadata_props", "device_configurations"):
        annotated = [index for index, node in enumerate(nodes) if getattr(node, field)]
        found = table.annotated.get(field, [])  # a text that is there but empty may be among them
        assert [index for index in found if getattr(nodes[index], field)] == annotated
    repeating = [index for index, node in enumerate(nodes) if _has_repeated_keys(node)]
    assert set(table.repeated_keys) >= set(repeating)
    names = [name for node in nodes for name in (node.name, *node.input, *node.output)]
    assert table.longest == max(127, *(len(name.encode()) for name in names))
    long_types = [
        a for node in nodes for a in node.attribute if a.HasField("tp") and node.ByteSize() > _MAX_PLAIN_BYTES
    ]
    assert table.is_canonical or long_types


def test_names_are_found_where_they_are_defined_and_stand_there_once():
    rows = [
        (["x", "w"], ["a"]),
        (["a", "late", ""], ["b", "c"]),
        (["b", "\u00e9" * 200], ["late", "a"]),
        (["a"], ["", "x"]),
    ]
    table = node_table([NODE(input=i, output=o, op_type="Op").SerializeToString() for i, o in rows], ["x", "w"])
    assert table.positions == {"x": -1, "w": -1, "a": 0, "b": 1, "c": 1, "late": 2}
    assert (table.early_uses, table.has_redefinitions) == ([1, 2], True)
    assert table.inputs[1][0] is table.inputs[3][0] is table.outputs[0][0]
    table = node_table([NODE(input=i, output=o, op_type="Op").SerializeToString() for i, o in rows[:1]], ["x", "w"])
    assert (table.early_uses, table.has_redefinitions) == ([], False)


def test_nodes_that_do_the_same_share_a_form():
    texts = [("x", "y", "a"), ("long" * 100, "z", ""), ("", "y", "c"), ("é", "y", "d")]
    nodes = [NODE(input=[i], output=[o], name=n, op_type="Relu") for i, o, n in texts]
    nodes[3].doc_string = "says something"
    first, second, third, fourth = node_table([node.SerializeToString() for node in nodes]).forms
    assert first is second is fourth
    assert third is not first, "its input is left out"


def _constant(content: bytes) -> bytes:
    attribute = schema.message("AttributeProto")(name="value", type=4)
    attribute.t.MergeFrom(schema.message("TensorProto")(data_type=2, dims=[len(content)], raw_data=content))
    return NODE(output=["y"], op_type="Constant", attribute=[attribute]).SerializeToString()


def test_small_constants_are_read_once_and_never_more_than_the_memory_holds():
    first, second = node_table([_constant(bytes(256)) for _ in range(2)]).forms
    assert first is second
    node_table(_constant(each.to_bytes(2) * 400) for each in range(_MAX_FORMS + 100))
    assert len(_forms) <= _MAX_FORMS
    assert max(len(key[0]) for key in _forms) <= MAX_SHARED_BYTES, "a bound of 4 MB for all keys"
    first, second = node_table([_constant(bytes(MAX_SHARED_BYTES)) for _ in range(2)]).forms
    assert first is not second


def _field(name: str, content: bytes | str) -> bytes:
    return length(FIELDS[name], content)


WELL = _field("input", "x") + _field("output", "y") + _field("name", "n") + _field("op_type", "Relu")
ODD = {
    "name before outputs": _field("name", "n") + _field("output", "y") + _field("op_type", "Relu"),
    "operator first": _field("op_type", "Relu") + _field("input", "x"),
    "input last": WELL + _field("input", "z"),
    "two names": _field("name", "n") + _field("name", "m") + _field("op_type", "Relu"),
    "two operators": WELL + _field("op_type", "Relu"),
    "domain before attribute": WELL + _field("domain", "d") + _field("attribute", b""),
    "documentation behind the domain": WELL + _field("domain", "d") + _field("doc_string", "d"),
    "unknown field": WELL + number(99, 1),
    "unknown field in an attribute": WELL + _field("attribute", number(99, 1)),
    "unknown field in metadata": WELL + _field("metadata_props", number(99, 1)),
    "operator as a number": _field("name", "n") + number(FIELDS["op_type"], 1),
    "length in more bytes than it takes": b"\x0a\x81\x00x" + WELL,
    "operator with a length in more bytes than it takes": b"\x1a\x01n\x22\x81\x00R",
    "attribute with a length in more bytes than it takes": WELL + b"\x2a\x80\x00",
    "overload before domain": WELL + _field("overload", "o") + _field("domain", "d"),
}
BROKEN = {
    "not UTF-8 in an input": _field("input", b"\xff") + _field("op_type", "Relu"),
    "not UTF-8 in an operator": _field("op_type", b"\xff"),
    "not UTF-8 in an attribute": WELL + _field("attribute", length(1, b"\xff")),
    "a string beyond the end": b"\x0a\x05x",
    "a name beyond the end": b"\x1a\x05x",
    "an operator beyond the end": b"\x22\x05x",
    "a tag alone": b"\x0a",
    "half a length": b"\x0a\x80",
    "an attribute beyond the end": WELL + b"\x2a\x05x",
}


@each_case("name", [*ODD, *BROKEN])
def test_what_is_written_in_another_way_is_noted(name: str):
    data = {**ODD, **BROKEN}[name]
    table = node_table([WELL, data, WELL])
    assert not table.is_canonical
    assert len(table.forms) == 3
    assert table.forms[0] is table.forms[2]
    assert len(_rows(table)) == 3
    if "unknown" in name:
        expected = NODE.FromString(data)
        expected.DiscardUnknownFields()
        assert _rows(table)[1] == _expected(expected)


@pytest.mark.parametrize("name", [name for name in (*ODD, *BROKEN) if "attribute" in name])
def test_odd_attributes_cost_no_other_form_its_own(name: str):
    written = [WELL + _field("attribute", length(1, f"{name} {index}") + number(20, 2)) for index in range(3)]
    table = node_table([*written[:2], {**ODD, **BROKEN}[name], written[2]])
    assert not table.is_canonical
    right = [table.forms[index] for index in (0, 1, 3)]
    assert [form.attribute_types for form in right] == [((f"{name} {index}", 2),) for index in range(3)]
    again = node_table(written)
    assert again.is_canonical
    assert not {*table.forms[2:]} & {*again.forms}  # from the odd node on, forms are not kept for other tables
    assert all(form.is_shared for form in again.forms)


@pytest.mark.parametrize("data", [b"", WELL, _field("input", "") + _field("output", ""), _field("name", ""), WELL[6:]])
def test_what_is_missing_is_nothing_odd(data: bytes):
    table = node_table([data])
    assert table.is_canonical
    assert _rows(table) == [_expected(NODE.FromString(data))]


@each_case("name", [*ODD, *BROKEN])
@each_case("is_nested", [False, True])
def test_odd_nodes_of_a_file_are_found_by_the_slow_walk(name: str, is_nested: bool):
    node = {**ODD, **BROKEN}[name]
    graph = length(1, node)
    if is_nested:
        graph = length(1, WELL + _field("attribute", length(1, "body") + length(6, graph)))
    model = load(BytesSource(number(1, 8) + length(7, graph)), "model.onnx")
    kinds = {fault.kind for fault in model.faults}
    if name in BROKEN:
        assert kinds & {FaultKind.UTF8, FaultKind.TRUNCATED}
    elif "unknown" in name or "number" in name:
        assert kinds == {FaultKind.UNKNOWN_FIELD} or FaultKind.WIRE_TYPE in kinds
    elif "two" in name:
        assert kinds == {FaultKind.REPEATED}
    else:
        assert kinds == set()
        whole = schema.message("ModelProto").FromString(number(1, 8) + length(7, graph))
        assert message_of(model) == whole


def test_types_that_nest_too_deep_for_the_whole_file_are_left_to_the_slow_walk():
    held = b""
    for _ in range(49):
        held = length(4, length(1, held))  # the type of a sequence, which has an element type
    node = WELL + _field("attribute", length(1, "type") + length(14, held))
    NODE.FromString(node)
    data = number(1, 8) + length(7, length(1, node))
    with pytest.raises(DecodeError):
        schema.message("ModelProto").FromString(data)
    assert [fault.kind for fault in load(BytesSource(data), "model.onnx").faults] == [FaultKind.NESTING]


@pytest.mark.parametrize("field", ["g", "graphs"])
def test_a_field_that_is_unknown_in_an_initializer_of_a_nested_graph_is_noticed(field: str):
    """The outline alone does not show it: initializers are bytes there."""
    fields = {each.name: each.number for each in schema.message("AttributeProto").DESCRIPTOR.fields}
    for initializer, is_canonical in ((length(8, b"w"), True), (length(8, b"w") + number(900, 1), False)):
        attribute = length(fields[field], length(5, initializer))
        table = node_table([length(FIELDS["op_type"], b"If") + length(FIELDS["attribute"], attribute)])
        assert table.is_canonical == is_canonical


def _annotated_nodes(count: int) -> list[bytes]:
    nodes = []
    for index in range(count):
        node = NODE(op_type="Relu", input=[f"x{index}"], output=[f"y{index}"], name=f"n{index}")
        node.metadata_props.add(key="pkg.torch.onnx.fx_node", value=f"value {index}")
        node.metadata_props.add(key="namespace", value=f"layer {index}")
        nodes.append(node)
    return [node.SerializeToString() for node in nodes]


def test_nodes_with_metadata_share_a_form():
    table = node_table(_annotated_nodes(250))
    assert len(set(table.forms)) == 1
    assert table.annotated == {"metadata_props": list(range(250))}
    assert table.repeated_keys == []
    assert table.is_canonical


@pytest.mark.parametrize("index", [0, 99, 100, 249])
def test_a_repeated_key_is_found_among_many_nodes(index: int):
    nodes = _annotated_nodes(250)
    nodes[index] += NODE(metadata_props=[{"key": "namespace", "value": "again"}]).SerializeToString()
    assert node_table(nodes).repeated_keys == [index]


@each_case(
    "wrong",
    [b"\x4a\x20\x0a\x01k", b"\x4a\x03\x0a\x01\xff", b"\x4a\x85\x00\x0a\x01k\x12\x00", b"\x4a\x02\x50\x01"],
    ids=["cut off", "no UTF-8", "a longer length than needed", "an unknown field"],
)
@each_case("index", [0, 99, 100, 249])
def test_metadata_that_are_not_written_canonically_are_noticed(index: int, wrong: bytes):
    nodes = _annotated_nodes(250)
    nodes[index] += wrong
    assert not node_table(nodes).is_canonical


def test_the_metadata_of_many_nodes_is_parsed_at_once_unless_it_is_long(monkeypatch: pytest.MonkeyPatch):
    parsed: list[int] = []
    original = module._known_part

    def known_part(node: Any, data: bytes, table: NodeTable) -> Any:
        parsed.append(len(data))
        return original(node, data, table)

    monkeypatch.setattr(module, "_known_part", known_part)
    table = node_table(_annotated_nodes(600))
    assert len(parsed) <= 4  # the form, and three times 256 nodes
    assert table.unread == []
    nodes = _annotated_nodes(100)
    for index in range(100):
        nodes[index] += NODE(metadata_props=[{"key": "long", "value": "v" * 100_000}]).SerializeToString()
    parsed.clear()
    node_table(nodes)
    assert len(parsed) >= 100
    assert max(parsed) < 101_000


@pytest.mark.parametrize("size", [126, 127, 128, 300])
def test_repeated_keys_of_any_length_are_found(size: int):
    nodes = _annotated_nodes(3)
    entries = [{"key": "k" * size, "value": "1"}, {"key": "k" * size, "value": "2"}]
    nodes[1] += NODE(metadata_props=entries).SerializeToString()
    assert 1 in node_table(nodes).repeated_keys


def _node_with_floats(chance: random.Random) -> Any:
    node = NODE(input=["x"], output=["y"], op_type="A")
    for name in ("alpha", "", "b"):
        kind = chance.choice(("float", "float", "none", "text", "documented", "typeless", "two values"))
        if kind == "none":
            continue
        odd = chance.choice((0.0, -0.0, 1e-45, 3e38, float("nan"), float("inf")))
        attribute = node.attribute.add(name=name, f=odd if chance.random() < 0.1 else chance.uniform(-9, 9))
        if kind != "typeless":
            attribute.type = 1
        if kind == "documented":
            attribute.doc_string = "d"
        elif kind == "two values":
            attribute.i = 5
        elif kind == "text":
            attribute.ClearField("f")
            attribute.type = 3
            attribute.s = b"\x15" + chance.randbytes(4) + b"\xa0\x01\x01"
    return node


def test_forms_that_differ_only_in_floats_have_their_own_attributes():
    chance = random.Random(7)
    written = [_node_with_floats(chance) for _ in range(3_000)]
    table = node_table([node.SerializeToString() for node in written])
    for node, form in zip(written, table.forms, strict=True):
        assert [each.SerializeToString() for each in form.attributes] == [
            each.SerializeToString() for each in node.attribute
        ]
        assert form.attribute_types == tuple((each.name, each.type) for each in node.attribute)
        assert kinds_of(form) == tuple(attribute_kind(each) for each in node.attribute)
    assert sum(form.differs_from is not None for form in table.forms) > 100


def _leaky(alpha: float) -> bytes:
    return NODE(op_type="LeakyRelu", attribute=[{"name": "alpha", "f": alpha, "type": 1}]).SerializeToString()


def test_forms_that_differ_only_in_floats_are_parsed_once(monkeypatch):
    node_table([_leaky(0.25)])
    parsed: list[bytes] = []
    monkeypatch.setattr(module, "_parsed_form", lambda core, *given: parsed.append(core))
    forms = node_table([_leaky(alpha) for alpha in range(1, 100)]).forms
    assert parsed == []
    assert [form.attributes[0].f for form in forms] == list(range(1, 100))


@pytest.mark.parametrize("damage", [number(99, 1), length(4, "B"), length(5, b"\xff")], ids=["field", "again", "bytes"])
def test_what_follows_a_float_is_not_taken_for_an_earlier_form(damage: bytes):
    node_table([_leaky(0.25)])
    assert not node_table([_leaky(0.75) + damage]).is_canonical
    assert not node_table([_leaky(0.75)[:-1]]).is_canonical


def test_many_operands_have_a_salted_hash():
    """Long tuples of Booleans may be chosen to have one hash; those of bytes may not."""
    given = tuple(index % 3 > 0 for index in range(100))
    form, few = module.NodeForm("A", "", given, given), module.NodeForm("A", "", given[:16], ())
    assert form.inputs == form.outputs == given
    assert hash(form.inputs) == hash(form.outputs) == hash(bytes(given))
    assert hash(few.inputs) == hash(given[:16])


def test_the_metadata_of_many_nodes_is_parsed_at_once_unless_it_is_long(monkeypatch: pytest.MonkeyPatch):
    parsed: list[int] = []
    original = module._nodeless
    monkeypatch.setattr(module, "_nodeless", lambda data, table: parsed.append(len(data)) or original(data, table))
    table = node_table(_annotated_nodes(600))
    assert len(parsed) <= 4  # the form, and three times 256 nodes
    assert table.unread == []
    nodes = _annotated_nodes(100)
    for index in range(100):
        nodes[index] += NODE(metadata_props=[{"key": "long", "value": "v" * 100_000}]).SerializeToString()
    parsed.clear()
    node_table(nodes)
    assert len(parsed) >= 100
    assert max(parsed) < 101_000


@pytest.mark.parametrize("size", [126, 127, 128, 300])
def test_repeated_keys_of_any_length_are_found(size: int):
    nodes = _annotated_nodes(3)
    entries = [{"key": "k" * size, "value": "1"}, {"key": "k" * size, "value": "2"}]
    nodes[1] += NODE(metadata_props=entries).SerializeToString()
    assert 1 in node_table(nodes).repeated_keys
