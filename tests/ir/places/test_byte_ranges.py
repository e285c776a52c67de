# SPDX-License-Identifier: Apache-2.0
"""Places, and their byte ranges."""

from __future__ import annotations

import itertools
import random

import pytest
from support.models.model_samples import loaded
from support.wire.wire_bytes import (
    GRAPH,
    LEN,
    group,
    is_repeated,
    length,
    number,
    rich_model,
    tag,
    varint,
)

from onnx_lint import schema
from onnx_lint.ir.places.place import ROOT, PlaceKey
from onnx_lint.model import Place, Proto


def _serialized(proto: Proto) -> tuple[bytes, dict[PlaceKey, tuple[int, int]]]:
    """The bytes of a message, written field by field, with the first byte and the byte after each place."""
    data = b""
    ranges: dict[PlaceKey, tuple[int, int]] = {}
    for field, value in sorted(proto.ListFields(), key=lambda item: item[0].number):
        repeated = is_repeated(field)
        packed = repeated and field.is_packed
        for index, element in enumerate(value if repeated else [value]):
            if field.message_type is not None:
                content, inner = _serialized(element)
                head = tag(field.number, LEN) + varint(len(content))
                step = (field.name, index if repeated else None)
                begin = len(data) + len(head)
                ranges[(step,)] = (len(data), begin + len(content))
                for key, (first, last) in inner.items():
                    ranges[(step, *key)] = (begin + first, begin + last)
                data += head + content
            elif not packed:
                one = type(proto)()
                getattr(one, field.name).append(element) if repeated else setattr(one, field.name, element)
                content = one.SerializePartialToString()
                ranges[((field.name, index if repeated else None),)] = (len(data), len(data) + len(content))
                data += content
        if packed:
            one = type(proto)()
            getattr(one, field.name).extend(value)
            data += one.SerializePartialToString()
            end = len(data)
            for index in reversed(range(len(value))):
                single = type(proto)()
                getattr(single, field.name).append(value[index])
                begin = end - (single.ByteSize() - len(tag(field.number, LEN)) - 1)
                ranges[((field.name, index),)] = (begin, end)
                end = begin
    return data, ranges


def _place(key: PlaceKey) -> Place:
    place = ROOT
    for name, index in key:
        place = place.at(name, index)
    return place


def test_each_place_has_its_bytes():
    data = rich_model()
    proto = schema.message("ModelProto").FromString(data)
    written, ranges = _serialized(proto)
    assert written == data, "the reference writes what protobuf writes"
    assert len(ranges) > 60
    model = loaded(data)
    assert {key: model.places.byte_range(_place(key)) for key in ranges} == ranges
    assert model.places.byte_range(ROOT) == (0, len(data))


@pytest.mark.parametrize(
    "path",
    ["graph.node[9]", "graph.node[0].input[5]", "graph.no_such_field", "functions[0].doc_string", "graph.name.x"],
)
def test_an_absent_place_has_no_bytes(path: str):
    model = loaded(rich_model())
    place = ROOT
    for step in path.split("."):
        name, _, index = step.rstrip("]").partition("[")
        place = place.at(name, int(index) if index else None)
    assert str(place) == path
    assert model.places.byte_range(place) is None


def test_what_is_given_in_pieces_reaches_over_them():
    first, second = length(1, length(1, "x")), length(1, length(1, "y")) + length(2, "late")
    data = number(1, 10) + length(7, first) + length(8, number(2, 21)) + length(7, second)
    model = loaded(data)
    graph = ROOT.at("graph")
    start = 2 + len(length(7, first)) + len(length(8, number(2, 21)))
    assert model.places.byte_range(graph) == (2, len(data))
    assert model.places.byte_range(graph.at("node", 1)) == (start + 2, start + 2 + 5)
    assert model.places.byte_range(graph.at("name")) == (start + 7, len(data))


def test_the_last_of_a_singular_value_counts():
    data = number(1, 8) + length(7, GRAPH) + number(1, 10)
    model = loaded(data)
    assert model.ir_version == 10
    assert model.places.byte_range(ROOT.at("ir_version")) == (len(data) - 2, len(data))


def test_a_group_does_not_shift_places():
    """Fields inside an unknown group are not the message's own."""
    inside = group(1000, length(1, length(1, "no node")))
    data = number(1, 10) + length(7, inside + GRAPH)
    model = loaded(data)
    start = 2 + 2 + len(inside)
    assert model.places.byte_range(ROOT.at("graph").at("node", 0)) == (start, start + 14)


def test_bytes_of_fields_in_any_order():
    generator = random.Random(2)
    parts = {"input": length(1, "a"), "output": length(2, "b"), "op_type": length(4, "Relu"), "name": length(3, "n")}
    for order in itertools.islice(itertools.permutations(parts), generator.randrange(24), None):
        node = b"".join(parts[name] for name in order)
        data = number(1, 10) + length(7, length(1, node))
        model = loaded(data)
        position = 6
        for name in order:
            place = ROOT.at("graph").at("node", 0).at(name, 0 if name in {"input", "output"} else None)
            assert model.places.byte_range(place) == (position, position + len(parts[name]))
            position += len(parts[name])
