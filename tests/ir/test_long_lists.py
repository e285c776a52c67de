# SPDX-License-Identifier: Apache-2.0
"""Long lists of attributes stay in the file, and every rule has the same findings as with parsed lists."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format
from support.project.fixture_files import Fixture, fixtures
from support.project.fixture_files import lint as lint_of
from support.project.sampled import one_in
from support.wire.reencode import Widths, packed, read, reordered, split, unpacked, write
from support.wire.wire_bytes import BASE, length

from onnx_lint import lint, schema
from onnx_lint.input.source import BytesSource, Source
from onnx_lint.ir import long_lists
from onnx_lint.ir.left_in_file import AttributeInFile
from onnx_lint.ir.long_lists import LongList, numbers_of, pieces_of, repeated_in
from onnx_lint.ir.operators import tree_ensembles
from onnx_lint.ir.payload import Payload
from onnx_lint.ir.tensors import wire_values
from onnx_lint.loader import load
from onnx_lint.loader.binary import strip_payloads
from onnx_lint.model import Model
from onnx_lint.report.findings import Diagnostic

CHANCE = random.Random(24)
LISTS: Mapping[str, list[Any]] = {
    "ints": [0, 1, -1, 127, 128, 2**31 - 1, -(2**31), *(CHANCE.randint(0, 300) for _ in range(200))],
    "wide ints": [0, 2**63 - 1, -(2**63), 2**31, 5],
    "floats": [0.5, -0.0, float("inf"), *(CHANCE.randint(0, 99) / 8 for _ in range(200))],
    "strings": [
        b"",
        b"LEAF",
        b"\xc3\xbf",
        b"J" * 126,
        b"K" * 127,
        b"L" * 128,
        b"M" * 5000,
        *[b"JJ"] * 300,
        b"J\1",
    ],
}
"""Each ends with what looks like the beginning of another record, where it may be mistaken for one."""


@pytest.fixture
def leaves_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have each list left in the file, and read in pieces of a few bytes."""
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    monkeypatch.setattr(strip_payloads, "PAYLOAD_BYTES", 1)
    monkeypatch.setattr(strip_payloads, "INTEGER_BYTES", 1)
    monkeypatch.setattr(strip_payloads, "LONG_LIST_BYTES", 1)
    monkeypatch.setattr(wire_values, "PIECE_BYTES", 20)
    monkeypatch.setattr(wire_values, "VARINT_PIECE_BYTES", 24)
    monkeypatch.setattr(long_lists, "_STRING_PIECE_BYTES", 300)
    monkeypatch.setattr(tree_ensembles, "_PIECE", 2)


def _model(**lists: list[Any]) -> bytes:
    """A model with a node that has an attribute with each of the lists."""
    node = schema.message("NodeProto")(op_type="Op", domain="d", output=["y"])
    for name, values in lists.items():
        attribute = node.attribute.add(
            name=name, type=schema.message("AttributeProto").AttributeType.Value(name.upper())
        )
        getattr(attribute, name).extend(values)
    return BASE + length(7, length(2, b"g") + length(1, node.SerializeToString()))


def _attribute(data: bytes | Source) -> AttributeInFile:
    model = load(BytesSource(data) if isinstance(data, bytes) else data)
    assert model.faults == ()
    [attribute] = model.main_graph.nodes[0].attribute_protos
    assert isinstance(attribute, AttributeInFile)
    return attribute


WRITTEN = {
    "unpacked": lambda fields: write(unpacked(fields)),
    "packed": lambda fields: write(packed(fields)),
    "long tags": lambda fields: write(unpacked(fields), Widths(tags=5)),
    "long values": lambda fields: write(packed(fields), Widths(values=10)),
    "all of that": lambda fields: write(reordered(packed(fields), random.Random(3)), Widths(3, 3, 3)),
}


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("name", LISTS)
def test_a_list_in_the_file_is_that_of_the_parser(name: str, written: str, leaves_lists: None):
    field, values = name.split()[-1], LISTS[name]
    attribute = _attribute(WRITTEN[written](read(_model(**{field: values}))))
    found = getattr(attribute, field)
    parsed = list(getattr(schema.message("AttributeProto")(**{field: values}), field))
    assert isinstance(found, LongList)
    assert list(found) == parsed
    assert len(found) == len(parsed)
    assert found[3] == parsed[3]
    assert found[-2:] == parsed[-2:]
    assert found[len(found) // 2] == parsed[len(found) // 2]
    assert [each for piece in pieces_of(found) for each in piece] == parsed
    assert [each.name for each, _ in attribute.ListFields()] == ["name", field, "type"]
    with pytest.raises(IndexError):
        found[len(parsed)]


def test_an_index_before_the_first_element_is_an_error(leaves_lists: None):
    for name in ("ints", "floats", "strings"):
        found = getattr(_attribute(_model(**{name: LISTS[name]})), name)
        assert found[-len(found)] == LISTS[name][0]
        for index in (-len(found) - 1, -2 * len(found), len(found)):
            with pytest.raises(IndexError):
                found[index]


def test_numbers_have_32_bits_where_that_is_enough(leaves_lists: None):
    for name, dtype in (("ints", np.int32), ("wide ints", np.int64)):
        found = numbers_of(_attribute(_model(ints=LISTS[name])).ints)
        assert (found.dtype, found.tolist()) == (dtype, LISTS[name])


def test_the_numbers_that_are_there_before(leaves_lists: None):
    for values, wanted in (([4, 7, 1, 7, 4, 7], [3, 4, 5]), ([3, 2, 1], []), ([5, 5], [1])):
        assert repeated_in(_attribute(_model(ints=values)).ints) == wanted
        assert repeated_in(values) == wanted


def test_a_file_that_becomes_shorter_has_fewer_elements(leaves_lists: None):
    data = _model(strings=[b"abc"] * 100)
    start = data.index(b"abc") - 2
    for kept in (0, 3, 52):
        found = LongList(BytesSource(data[: start + kept]), (Payload("strings", start, 500, packed=False),))
        assert list(found) == [b"abc"] * (kept // 5)


def test_attributes_that_differ_in_what_is_in_the_file_have_other_bytes(leaves_lists: None):
    one, other = (_attribute(_model(ints=values)) for values in ([1, 2], [1, 2, 3]))
    assert one.SerializePartialToString() != other.SerializePartialToString()


def test_nodes_that_differ_in_a_list_alone_have_forms_of_their_own(leaves_lists: None):
    node = _model(ints=[1, 2])[len(BASE) + 2 + 3 :]
    other = _model(ints=[1, 3])[len(BASE) + 2 + 3 :]
    model = load(BytesSource(BASE + length(7, length(2, b"g") + node + other)))
    assert [list(form.attributes[0].ints) for form in model.main_graph.forms] == [[1, 2], [1, 3]]


def _ensemble(node: Any, *modes: bytes) -> Any:
    node.op_type, node.domain = "TreeEnsembleRegressor", "ai.onnx.ml"
    node.output.append("y")
    node.attribute.add(name="nodes_modes", type=8, strings=modes)
    return node


def _holders() -> dict[str, tuple[str, Any]]:
    """A node that lost a list, in each place where a node can be: the kind of document, and the document."""
    model = {name: schema.message("ModelProto")(ir_version=10) for name in ("function", "subgraph", "training")}
    for name in ("one", "another"):
        _ensemble(model["function"].functions.add(name=name, domain="d").node.add(), name.encode() + b"\xff")
    branch = model["subgraph"].graph.node.add(op_type="If").attribute.add(name="then_branch", type=5)
    branch.g.node.add(op_type="Relu")
    _ensemble(branch.g.node.add(), b"odd\xff")
    training = model["training"].training_info.add()
    _ensemble(training.initialization.node.add(), b"odd\xff")
    _ensemble(training.algorithm.node.add(), b"even\xff")
    documents = {
        "GraphProto": schema.message("GraphProto")(name="g"),
        "FunctionProto": schema.message("FunctionProto")(name="f", domain="d"),
        "NodeProto": schema.message("NodeProto")(),
    }
    for kind, document in documents.items():
        _ensemble(document if kind == "NodeProto" else document.node.add(), b"odd\xff")
    functions = schema.message("OperatorSetProto")(domain="d", magic="ONNXOPSET")
    _ensemble(functions.functions.add(name="f").node.add(), b"odd\xff")
    return {
        **{name: ("ModelProto", each) for name, each in model.items()},
        **{kind: (kind, each) for kind, each in documents.items()},
        "OperatorSetProto": ("OperatorSetProto", functions),
    }


@pytest.mark.parametrize("name", _holders())
def test_lists_are_found_wherever_a_node_can_be(name: str, monkeypatch: pytest.MonkeyPatch):
    def found() -> list[tuple[str, str, str]]:
        report = lint(document.SerializeToString(), {"proto": kind}, select=["non-utf8-attribute"])
        return [(each.place, each.message, "".join(line.text for line in each.context)) for each in report.diagnostics]

    kind, document = _holders()[name]
    plain = found()
    assert len(plain) == (2 if name in {"function", "training"} else 1)
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    monkeypatch.setattr(strip_payloads, "PAYLOAD_BYTES", 1)
    monkeypatch.setattr(strip_payloads, "INTEGER_BYTES", 1)
    monkeypatch.setattr(strip_payloads, "LONG_LIST_BYTES", 1)
    assert load(BytesSource(document.SerializeToString()), proto=kind).left_in_file is not None
    assert found() == plain


def test_a_list_in_many_parts_or_beside_a_tensor_is_parsed(leaves_lists: None, monkeypatch: pytest.MonkeyPatch):
    data = _model(ints=LISTS["ints"])
    monkeypatch.setattr(strip_payloads, "_MAX_PARTS", 2)
    in_parts = load(BytesSource(write(split(packed(read(data)), random.Random(1)))))
    assert in_parts.left_in_file is None or list(in_parts.main_graph.nodes[0].attribute_protos[0].ints) == LISTS["ints"]
    node = schema.message("NodeProto")(op_type="Op", output=["y"])
    node.attribute.add(name="a", ints=[1, 2, 3], type=7).t.data_type = 1
    model = load(BytesSource(BASE + length(7, length(2, b"g") + length(1, node.SerializeToString()))))
    assert model.main_graph.nodes[0].attribute_protos[0].ints[:] == [1, 2, 3]


# --- the same findings


def _holds_lists(fixture: Fixture) -> bool:
    return fixture.is_text and any(f"{name}:" in fixture.text for name in ("ints", "floats", "strings"))


def _loaded(fixture: Fixture, data: bytes) -> Model:
    settings = fixture.settings
    return load(
        BytesSource(data), "model.onnx", settings.standard, None, settings.limits, fixture.proto, target=settings.target
    )


def _binary(fixture: Fixture) -> bytes | None:
    message = schema.message(fixture.proto or "ModelProto")()
    try:
        text_format.Parse(fixture.text, message)
    except text_format.ParseError:
        return None
    data: bytes = message.SerializePartialToString()
    return data


@one_in(16, slow=4, heavy=1)
@pytest.mark.parametrize("are_tensors_left", [False, True], ids=["lists", "lists and tensors"])
def test_rules_find_in_lists_in_the_file_what_they_find_in_others(
    are_tensors_left: bool, step: int, monkeypatch: pytest.MonkeyPatch
):
    def found() -> dict[str, tuple[Diagnostic, ...]]:
        models = {name: (fixture, _loaded(fixture, data)) for name, (fixture, data) in written.items()}
        return {name: lint_of(model, fixture.settings) for name, (fixture, model) in models.items()}

    # Small tensors that determine shapes are always read into memory; those of trees are read from the file.
    chosen = [each for each in fixtures() if _holds_lists(each) and ("ai.onnx.ml" in each.text or not are_tensors_left)]
    written = {fixture.id: (fixture, data) for fixture in chosen[::step] if (data := _binary(fixture)) is not None}
    plain = found()
    for module, name, value in (
        (strip_payloads, "WHOLE_BYTES", 0),
        (strip_payloads, "PAYLOAD_BYTES", 1),
        (strip_payloads, "INTEGER_BYTES", 1),
        (strip_payloads, "LONG_LIST_BYTES", 1),
        (strip_payloads, "_VALUE_FIELDS", strip_payloads._VALUE_FIELDS if are_tensors_left else frozenset()),
        (tree_ensembles, "_PIECE", 2),
    ):
        monkeypatch.setattr(module, name, value)
    left = sum(_loaded(*each).left_in_file is not None for each in written.values())
    assert left > 50 // step
    assert {name: (plain[name], other) for name, other in found().items() if other != plain[name]} == {}


def test_the_line_of_a_finding_shows_the_list(leaves_lists: None):
    modes = [b"BRANCH_LEQ", *[b"LEAF"] * 30, b"\xff"]
    node = schema.message("NodeProto")(op_type="TreeEnsembleRegressor", domain="ai.onnx.ml", input=["x"], output=["y"])
    node.attribute.add(name="nodes_modes", type=8, strings=modes)
    report = lint(BASE + length(7, length(2, b"g") + length(1, node.SerializeToString())))
    [found] = [each for each in report.diagnostics if each.rule == "non-utf8-attribute"]
    assert found.place.endswith("strings[31]")
    assert 'nodes_modes=[..., "LEAF", "LEAF", "LEAF", "LEAF", "\\\\xff"]' in found.context[-1].text
