# SPDX-License-Identifier: Apache-2.0
"""Places of a text have the line and column of a mark in the test, or of the value that was printed there."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf import text_format
from google.protobuf.descriptor import FieldDescriptor
from support.models.places import place_at
from support.processes.time_limit import time_limit
from support.project.each_case import each_case
from support.wire.wire_bytes import is_repeated

from onnx_lint import schema
from onnx_lint.ir.places.place import PlaceKey
from onnx_lint.loader.text.text_positions import Position, positions_at, text_positions

MARK = re.compile("«([^»]*)»")
"""The place of what follows it; the text that is read is without it."""

TEXT = """\
ir_version: «ir_version»8 producer_name: «producer_name»'a' "b"  # ir_version: 9
«opset_import[0]»opset_import { version: «opset_import[0].version»-5 }
«opset_import[1]»opset_import: < version: «opset_import[1].version»0x11, domain: «opset_import[1].domain»"}" >;
opset_import: [ ]
«graph»graph {
\tname: «graph.name»"\\"{ é" "g" , doc_string:
      # "none"
      «graph.doc_string»"graph {";
  «graph.node[0]»node { «graph.node[0].input»input: «graph.node[0].input[0]»"x" input: [ ]
    input: [«graph.node[0].input[1]»"y" # , "no"
       "z", «graph.node[0].input[2]»'w' ] input : «graph.node[0].input[3]»"v"
  } ,
  node: [ «graph.node[1]»{ op_type: «graph.node[1].op_type»"é" 'u', name: «graph.node[1].name»"n" },
   «graph.node[2]»< name: «graph.node[2].name»"n" > ]
  «graph.node[3]»node { attribute [ «graph.node[3].attribute[0]»{
       ints: [«graph.node[3].attribute[0].ints[0]»1,«graph.node[3].attribute[0].ints[1]»-2 ,
         «graph.node[3].attribute[0].ints[2]»3
         # between, two
         , «graph.node[3].attribute[0].ints[3]»4, «graph.node[3].attribute[0].ints[4]»0x5]
       floats: «graph.node[3].attribute[0].floats[0]»-inf floats: [«graph.node[3].attribute[0].floats[1]»1.5f,
         «graph.node[3].attribute[0].floats[2]»1e+3]
       type: «graph.node[3].attribute[0].type»INTS «graph.node[3].attribute[0].g»g <> } ] }
}
«metadata_props[0]»metadata_props { key: «metadata_props[0].key»"k" value: «metadata_props[0].value»"v" }
"""


def key_of(path: str) -> PlaceKey:
    return place_at(path).key


def unmarked(text: str) -> tuple[str, dict[PlaceKey, Position]]:
    """The text without its marks, and the place that each of them gives."""
    found = {}
    lines = text.split("\n")
    for number, line in enumerate(lines):
        while mark := MARK.search(line):
            found[key_of(mark[1])] = (number + 1, mark.start() + 1)
            line = line[: mark.start()] + line[mark.end() :]
        lines[number] = line
    return "\n".join(lines), found


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_places_stand_where_they_are_marked(line_end: str):
    text, expected = unmarked(TEXT)
    text = text.replace("\n", line_end)
    text_format.Parse(text, schema.message("ModelProto")())
    assert len(expected) == TEXT.count("«") > 20
    assert text_positions(text, "ModelProto", expected) == expected
    for key, position in expected.items():  # by itself too
        assert text_positions(text, "ModelProto", [key]) == {key: position}


@pytest.mark.parametrize(
    ("path", "around"),
    [
        ("graph.node[1].attribute[0].t.dims[3]", "graph.node[1]"),
        ("graph.node[0].input[9]", "graph.node[0]"),
        ("graph.node[0].no_such_field", "graph.node[0]"),
        ("graph.node[0].input[0].name", "graph.node[0].input[0]"),
        ("graph.node[99]", "graph"),
    ],
)
def test_what_is_not_there_stands_where_the_message_around_it_does(path: str, around: str):
    text, expected = unmarked(TEXT)
    assert text_positions(text, "ModelProto", [key_of(path)]) == {key_of(path): expected[key_of(around)]}


def test_what_is_not_in_the_root_stands_at_the_beginning():
    text, _ = unmarked(TEXT)
    keys = [(), (("training_info", 0),), (("domain", None),)]
    assert text_positions(text, "ModelProto", keys) == dict.fromkeys(keys, (1, 1))


@pytest.mark.parametrize("text", ["", "}", "]}>", "graph", "[[[{", '{"graph": [[', ": : [1,", "1,2,"])
def test_what_is_no_message_has_positions_as_well(text: str):
    assert set(text_positions(text, "ModelProto", [key_of("graph.node[0]")]).values()) == {(1, 1)}


def test_lines_and_columns_of_characters():
    text = "é\t\U0001f600x\r\n\n  y"
    assert positions_at(text, [3, 0, 4, 6, 9]) == {0: (1, 1), 3: (1, 4), 4: (1, 5), 6: (2, 1), 9: (3, 3)}


# --- models that are printed


def random_message(kind: str, rng: random.Random, numbers: Iterator[int], depth: int = 0) -> Any:
    """Return a message with random fields. No two values are the same, except values of enums."""
    message = schema.message(kind)()
    oneofs = set()
    for field in message.DESCRIPTOR.fields:
        if field.containing_oneof is not None and field.containing_oneof.name in oneofs:
            continue
        if rng.random() > (0.9 if depth < 2 else 0.4):
            continue
        if field.containing_oneof is not None:
            oneofs.add(field.containing_oneof.name)
        count = rng.randrange(1, 4)
        if field.message_type is not None:
            if depth >= 5:
                continue
            # A field of a nested message is named `Outer.Inner`.
            inner = field.message_type.full_name.removeprefix(f"{schema.PACKAGE}.")
            for _ in range(count if is_repeated(field) else 1):
                made = random_message(inner, rng, numbers, depth + 1)
                target = getattr(message, field.name)
                target.add().CopyFrom(made) if is_repeated(field) else target.CopyFrom(made)
                if not is_repeated(field):
                    target.SetInParent()
        elif is_repeated(field):
            getattr(message, field.name).extend(_value(field, rng, numbers) for _ in range(count))
        else:
            setattr(message, field.name, _value(field, rng, numbers))
    return message


def _value(field: FieldDescriptor, rng: random.Random, numbers: Iterator[int]) -> Any:
    number = next(numbers)
    if field.enum_type is not None:
        return rng.choice(field.enum_type.values).number
    if field.type == field.TYPE_BYTES:
        return b"bytes %d" % number
    if field.type == field.TYPE_STRING:
        return rng.choice(("s%d {", "é%d", "#%d,", "%d]", "[%d")) % number
    return number + 0.5 if field.type in {field.TYPE_FLOAT, field.TYPE_DOUBLE} else number


def scalars(message: Any, way: PlaceKey = ()) -> Iterator[tuple[PlaceKey, FieldDescriptor, Any]]:
    """All values that are no messages, with their places."""
    for field, value in message.ListFields():
        for index, item in enumerate(value) if is_repeated(field) else [(None, value)]:
            key = (*way, (field.name, index))
            if field.message_type is not None:
                yield from scalars(item, key)
            else:
                yield key, field, item


def as_text(field: FieldDescriptor, value: Any) -> str:
    if field.enum_type is not None:
        return str(field.enum_type.values_by_number[value].name)
    if isinstance(value, str | bytes):
        return '"' + (value if isinstance(value, str) else value.decode()) + '"'
    return str(value)


STYLES: list[dict[str, Any]] = [
    {},
    {"as_one_line": True},
    {"use_short_repeated_primitives": True},
    {"pointy_brackets": True, "use_short_repeated_primitives": True, "as_one_line": True},
]


@pytest.mark.parametrize("style", range(len(STYLES)))
@each_case("seed", range(3))
def test_each_value_of_a_printed_message_is_found(seed: int, style: int):
    rng = random.Random(seed)
    message = random_message(rng.choice(("ModelProto", "FunctionProto")), rng, itertools.count(1000))
    text = text_format.MessageToString(message, as_utf8=True, **STYLES[style])
    expected = list(scalars(message))
    assert len(expected) > 100
    found = text_positions(text, message.DESCRIPTOR.name, [key for key, _, _ in expected])
    lines = text.split("\n")
    for key, field, value in expected:
        line, column = found[key]
        token = as_text(field, value)
        assert re.match(re.escape(token) + r"(?!\w)", lines[line - 1][column - 1 :]), key
    assert len(set(found.values())) == len(expected)
    for key, _, _ in rng.sample(expected, 20):  # what else is asked for is passed over as a whole
        assert text_positions(text, message.DESCRIPTOR.name, [key]) == {key: found[key]}


@pytest.mark.timing
def test_the_time_is_linear_in_the_text_and_the_places():
    nodes = [f'node {{ input: ["a{index}", "b"] name: "n{index}" }}' for index in range(20_000)]
    text = f"graph {{ {' '.join(nodes)} }}"
    keys = [key_of(f"graph.node[{index}].input[1]") for index in range(20_000)]
    with time_limit(10):
        found = text_positions(text, "ModelProto", keys)
    assert all(text[column - 1 : column + 2] == '"b"' for _, column in found.values())
