# SPDX-License-Identifier: Apache-2.0
"""Splices make the same of the bytes as edits of the message, and leave all other bytes alone."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from support.project.sampled import one_in
from support.wire.wire_bytes import LEN, VARINT, is_repeated, length, number, rich_model, tag, varint

from onnx_lint import schema
from onnx_lint.input.patched_source import unpatched
from onnx_lint.input.source import BytesSource
from onnx_lint.ir.places.edits import Assign, Delete, Edit, Insert, Move
from onnx_lint.ir.places.place import ROOT, Place
from onnx_lint.ir.places.splices import EditError, Splicer
from onnx_lint.schema import Proto

GRAPH = ROOT.at("graph")


def edited(data: bytes, *edits: Edit) -> bytes:
    source = unpatched(BytesSource(data))
    splicer = Splicer(source, "ModelProto")
    after = source.patched(splice.patch for splice in splicer.with_lengths(splicer.splices_of(edits)))
    return after.read_at(0, after.size)


def _parsed(data: bytes) -> Proto:
    return schema.message("ModelProto").FromString(data)


def _written(proto: Proto) -> bytes:
    return proto.SerializePartialToString(deterministic=True)


def _messages(proto: Proto, place: Place) -> Iterator[tuple[Proto, Place]]:
    """Every message in a message, with its place."""
    yield proto, place
    for field, value in proto.ListFields():
        if field.message_type is not None:
            for index, inner in enumerate(value if is_repeated(field) else [value]):
                yield from _messages(inner, place.at(field.name, index if is_repeated(field) else None))


def _random_edit(proto: Proto, choose: random.Random) -> Edit:
    """Make one edit of the message, and return it."""
    while True:
        message, place = choose.choice(list(_messages(proto, ROOT)))
        field = choose.choice(message.DESCRIPTOR.fields)
        if field.containing_oneof is not None or field.type in (field.TYPE_FLOAT, field.TYPE_BYTES, field.TYPE_DOUBLE):
            continue
        if is_repeated(field):
            items = getattr(message, field.name)
            kind = choose.randrange(3)
            if field.message_type is None and field.type != field.TYPE_STRING:
                continue
            if kind == 0:
                index = choose.randrange(len(items) + 1)
                new = "new" if field.message_type is None else schema.message(_kind(field))()
                items.insert(index, new)
                return Insert(place.at(field.name, index), new)
            if items and kind == 1:
                index = choose.randrange(len(items))
                del items[index]
                return Delete(place.at(field.name, index))
            if items:
                index, before = choose.randrange(len(items)), choose.randrange(len(items) + 1)
                moved = items[index]
                if field.message_type is not None:
                    moved = type(moved).FromString(moved.SerializePartialToString())
                del items[index]
                items.insert(before - (index < before), moved)
                return Move(place.at(field.name, index), before)
        elif message.HasField(field.name) and choose.random() < 0.5:
            message.ClearField(field.name)
            return Delete(place.at(field.name))
        elif field.message_type is None:
            value = (
                choose.randrange(-(2**30), 2**30) if field.type != field.TYPE_STRING else "v" * choose.randrange(200)
            )
            if field.type == field.TYPE_ENUM:
                value = 1
            setattr(message, field.name, value)
            return Assign(place.at(field.name), value)


def _kind(field: object) -> str:
    return field.message_type.full_name.removeprefix("onnx.")  # type: ignore[attr-defined]


@one_in(3)
def test_an_edit_makes_the_bytes_that_protocol_buffers_would_write(step: int):
    choose = random.Random(30)
    kinds: set[type] = set()
    for _ in range(600 // step):
        data = rich_model()
        for _ in range(choose.randrange(1, 4)):
            proto = _parsed(data)
            edit = _random_edit(proto, choose)
            kinds.add(type(edit))
            data = edited(data, edit)
            assert data == _written(proto), edit
    assert kinds == {Assign, Delete, Insert, Move}


def test_edits_at_once_have_the_places_before_all_of_them():
    nodes = [length(1, length(3, name)) for name in "abcde"]
    data = number(1, 10) + length(7, b"".join(nodes))
    a, b, c, d, e = nodes
    moves = (Move(GRAPH.at("node", 4), 0), Move(GRAPH.at("node", 3), 0), Delete(GRAPH.at("node", 1)))
    assert edited(data, *moves) == number(1, 10) + length(7, e + d + a + c)
    added = schema.message("NodeProto")(name="f")
    last = (Insert(GRAPH.at("node", 5), added), Move(GRAPH.at("node", 0), 5))
    assert edited(data, *last) == number(1, 10) + length(7, b + c + d + e + length(1, length(3, "f")) + a)


def test_all_other_bytes_stay_as_they_are():
    """Unknown fields, numbers in more bytes than they need, and fields between the elements of a list."""
    odd = tag(100, VARINT) + b"\x81\x00"
    nodes = [length(1, length(3, name)) for name in "ab"]
    graph = odd + nodes[0] + length(2, "name") + nodes[1]
    long_length = tag(7, LEN) + bytes([len(graph) | 0x80, 0])
    data = odd + long_length + graph + number(1, 10)
    after = edited(data, Move(GRAPH.at("node", 1), 0))
    # The length is the same, and so are its bytes.
    assert after == odd + long_length + odd + nodes[1] + nodes[0] + length(2, "name") + number(1, 10)
    after = edited(data, Delete(GRAPH.at("node", 0)))
    assert after == odd + length(7, odd + length(2, "name") + nodes[1]) + number(1, 10)


def test_a_message_that_is_given_twice_grows_where_the_edit_is():
    first, second = length(1, length(3, "a")), length(1, length(3, "b")) + length(2, "name")
    data = length(7, first) + number(1, 10) + length(7, second)
    after = edited(data, Delete(GRAPH.at("node", 1)))
    assert after == length(7, first) + number(1, 10) + length(7, length(2, "name"))
    assert edited(data, Delete(GRAPH)) == number(1, 10)


def test_lengths_of_all_messages_around_grow_as_far_as_they_have_to():
    """From 127 to 128 bytes the length itself takes one byte more, which counts in the message around it."""
    inner = length(1, length(6, "x" * 117))
    data = length(7, inner)
    assert data[1] == len(inner) < 128
    after = edited(data, Assign(GRAPH.at("node", 0).at("name"), "long name"))
    node = length(3, "long name") + length(6, "x" * 117)
    assert after == length(7, length(1, node))
    assert after[1:3] == varint(len(length(1, node)))


@pytest.mark.parametrize(
    "edits",
    [
        (Delete(GRAPH.at("node", 7)),),
        (Insert(GRAPH.at("node", 7), "x"),),
        (Delete(GRAPH.at("node", 0)), Delete(GRAPH.at("node", 0).at("input", 0))),
        (Delete(GRAPH.at("initializer", 0).at("dims", 0)),),
    ],
    ids=["nothing there", "behind the end", "the same bytes", "a list of numbers"],
)
def test_what_cannot_be_edited_is_refused(edits: tuple[Edit, ...]):
    with pytest.raises(EditError):
        edited(rich_model(), *edits)


def test_a_value_that_is_given_more_than_once():
    version, twice = ROOT.at("ir_version"), number(1, 7) + number(1, 8) + number(1, 9) + length(2, "p")
    assert edited(twice, Delete(version)) == length(2, "p")
    assert edited(twice, Delete(version, keeps_last=True)) == number(1, 9) + length(2, "p")
    assert edited(twice, Assign(version, 10)) == number(1, 10) + length(2, "p")


@pytest.mark.parametrize("packed", [False, True])
def test_a_whole_list_of_numbers_is_deleted(packed: bool):
    dims = length(1, varint(2) + varint(3)) if packed else number(1, 2) + number(1, 3)
    tensor = dims + length(8, "w") + number(1, 4)
    model = length(7, length(5, tensor))
    after = edited(model, Delete(GRAPH.at("initializer", 0).at("dims")))
    assert after == length(7, length(5, length(8, "w")))
