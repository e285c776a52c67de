# SPDX-License-Identifier: Apache-2.0
"""Text and JSON."""

from __future__ import annotations

import random
from contextlib import nullcontext

import pytest
from google.protobuf import json_format, text_format
from support.models.loader_samples import loaded
from support.models.messages import message_of
from support.processes.time_limit import time_limit
from support.project.each_case import each_case
from support.wire.wire_bytes import (
    BASE,
    GRAPH,
    LEN,
    number,
    rich_model,
    tag,
    varint,
)

from onnx_lint import schema
from onnx_lint.model import FaultKind

TEXT = """
ir_version: 10
opset_import { version: 21 }
graph { name: "graph" node { op_type: "Relu" input: "x" output: "y" } }
"""


@pytest.mark.parametrize(
    ("text", "position", "offset"),
    [
        ("ir_version: eight", "line 1, column 13", 12),
        ("ir_version: 8\ngraph { name: 'ä' nodes { } }", "line 2, column 19", 33),
        ("ir_version: 8\ngraph {\n", "line 2, column 7", 20),
        ("ir_version: 8 ir_version: 9", "line 1, column 27", 26),
        ('graph { name: "a', "line 1, column 15", 14),
        ('producer_name: "' + 80 * "\\" + '" nodes: 1', "line 1, column 99", 98),
        ('graph { name: "' + 80 * "\\", "line 1, column 15", 14),
        ('producer_name: "' + 1000 * "\\na" + '" nodes: 1', "line 1, column 3019", 3018),
        ('producer_name: "' + 1000 * "\\\\" + "\\n" * 700 + '" nodes: 1', "line 1, column 3419", 3418),
        ('# "' + 1000 * "\\n" + '"\nnodes: 1', "line 2, column 1", 2005),
    ],
)
def test_a_fault_of_text_is_placed(text: str, position: str, offset: int):
    model = loaded(text.encode(), "model.textproto")
    assert not model.loaded
    (fault,) = model.faults
    assert fault.kind is FaultKind.TEXT
    assert fault.message.startswith(f"the text is not a model in protobuf text format: {position}: ")
    assert fault.offset == offset


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ('{\n  "ir_version": 8\n  "graph": {}\n}', "line 3, column 3"),
        ('{"graph": {"node": [{"op_type": 5}]}}', "graph.node.op_type: "),
        ('{"graph": 5}', "graph: "),
        ('{"graph": [1]}', "graph"),
        ('{"graph": {"node": {"op_type": "a"}}}', "graph.node: "),
        ('{"ir_version": 1.5}', "ir_version: "),
        ('{"ir_version": 1, "ir_version": 2}', "duplicate key ir_version"),
        ('{"opset": 1, "graph": {}}', '"opset"'),
        ("{} {}", "line 1, column 4"),
        ("[" * 100_000, ""),
        ('{"graph": {"name": "\\ud800"}}', "graph.name: "),
    ],
)
def test_a_fault_of_json_is_placed(text: str, detail: str):
    model = loaded(text.encode(), "model.json")
    assert not model.loaded
    (fault,) = model.faults
    assert fault.kind is FaultKind.TEXT
    assert fault.message.startswith("the text is not a model in protobuf JSON: ")
    assert detail in fault.message
    assert "Available" not in fault.message


@pytest.mark.parametrize("sign", [1, -1])
def test_the_greatest_float_as_protobuf_writes_it(sign: int):
    """Its printer for JSON rounds the number up, and its parser then finds it too great."""
    greatest = sign * (2 - 2**-23) * 2.0**127
    proto = schema.message("ModelProto")(ir_version=8)
    node = proto.graph.node.add(op_type="Clip", doc_string="[3.4028235e+38]")
    node.attribute.add(name="max", f=greatest, floats=[greatest, 1.0])
    model = loaded(json_format.MessageToJson(proto).encode(), "model.json")
    assert model.proto.SerializeToString() == proto.SerializeToString()


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ('{"name": "a package", "version": "1.0"}', "its keys are 'name', 'version'"),
        ("[1, 2]", "it is not an object"),
        ("3", "it is not an object"),
    ],
)
def test_json_of_something_else_is_called_that(text: str, detail: str):
    model = loaded(text.encode(), "model.json")
    assert not model.loaded
    (fault,) = model.faults
    assert fault.kind is FaultKind.NOT_A_MODEL
    assert fault.message == f"the file is JSON, but not a model: {detail}"


@pytest.mark.parametrize("text", ["nodes: " + "a" * 100_000, "ir_version: '" + "a" * 100_000])
def test_a_fault_of_text_has_a_short_message(text: str):
    (fault,) = loaded(text.encode(), "model.textproto").faults
    assert len(fault.message) < 400


def _nested_text(depth: int, bracket: str = "{}") -> str:
    names = ["graph", *(["node", "attribute", "g"] * depth)][:depth]
    return "".join(f"{name} {bracket[0]} " for name in names) + bracket[1] * depth


def _nested_json(depth: int) -> str:
    names = ["graph", *(["node", "attribute", "g"] * depth)][:depth]
    opened, closed = "{", "}"
    for name in names:
        repeated = name in {"node", "attribute"}
        opened += f'"{name}": ' + ("[{" if repeated else "{")
        closed = ("}]" if repeated else "}") + closed
    return opened + closed


@pytest.mark.parametrize("depth", [50, 99, 100, 101, 150, 20_000])
def test_nesting_in_text_has_the_limit_of_the_binary_form(depth: int):
    for text, name in (
        (_nested_text(depth), "model.textproto"),
        (_nested_text(depth, "<>"), "model.textproto"),
        (_nested_json(depth), "model.json"),
    ):
        model = loaded(text.encode(), name)
        assert model.loaded == (depth <= 100)
        assert [fault.kind for fault in model.faults] == ([] if depth <= 100 else [FaultKind.NESTING])


def test_lists_in_text_add_no_depth():
    text = "".join(
        f"{name} {'{' if name in ('graph', 'g') else '[ {'} " for name in ["graph", *["node", "attribute", "g"] * 33]
    )
    closed = "".join("}" if name in ("graph", "g") else "} ]" for name in [*["g", "attribute", "node"] * 33, "graph"])
    assert loaded((text + closed).encode(), "model.textproto").loaded


def test_braces_in_strings_and_comments_add_no_depth():
    strings = "".join('doc_string: "{{{{" # {{{{ \'\n' if index == 0 else "# {{{{{{{{{{\n" for index in range(100))
    assert loaded((TEXT + strings).encode(), "model.textproto").loaded


@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 34, 35, pytest.param(30_000, marks=pytest.mark.timing)])
def test_rows_of_backslashes_are_read_soon_and_right(count: int):
    """The parser of Protocol Buffers takes the square of their number for them."""
    escaped = "\\" * (count * 2)
    with time_limit(10) if count > 1000 else nullcontext():
        model = loaded(f'producer_name: "{escaped}\\x4{escaped}\\"" graph {{}}'.encode(), "model.textproto")
    backslashes = "\\" * count
    assert message_of(model).producer_name == f'{backslashes}\4{backslashes}"'


def test_text_that_is_not_utf8_is_placed():
    data = TEXT.encode() + b"# " + b"a" * 5000 + b"\n#\xff\n"
    (fault,) = loaded(data).faults
    assert (fault.kind, fault.offset) == (FaultKind.TEXT, len(data) - 2)


def test_damaged_text_never_raises():
    proto = schema.message("ModelProto").FromString(rich_model())
    texts = [text_format.MessageToString(proto), json_format.MessageToJson(proto)]
    generator = random.Random(5)
    for _ in range(400):
        text = list(generator.choice(texts))
        for _ in range(generator.choice([1, 2, 4])):
            position = generator.randrange(len(text))
            text[position : position + generator.randrange(3)] = generator.choice('{}[]":,\\0a\n<>#-é')
        model = loaded("".join(text).encode(), "model.textproto")
        assert model.loaded == (not model.faults)


def test_long_lengths_allocate_nothing():
    for size in (1 << 31, 1 << 40, (1 << 64) - 1):
        data = BASE + tag(7, LEN) + varint(size) + GRAPH
        model = loaded(data)
        assert not model.loaded
        assert {fault.kind for fault in model.faults} == {FaultKind.TRUNCATED}


def test_a_number_where_the_graph_should_be_is_no_other_message():
    """The fields could be those of a tensor, which would have no element type: a model was meant."""
    (fault,) = loaded(BASE + number(7, 1)).faults
    assert (fault.kind, str(fault.place)) == (FaultKind.WIRE_TYPE, "graph")


@each_case("quote", ["'", '"'])
@each_case("escape", [r"\n", r"\001", r"\x4", r"\xc3\xa9", r"\u00e9", r"\'\"", r"\\ "])
def test_strings_of_many_escapes_say_what_their_escapes_say(escape: str, quote: str):
    """They are parsed in pieces: the parser takes memory for each escape up to the end of a string."""

    def said(text: str) -> str:
        return str(message_of(loaded(f"graph {{}} doc_string: {text} # '".encode(), "model.textproto")).doc_string)

    once = said(f"{quote}{escape}{quote}")
    for count in (128, 255, 256, 257, 1000):
        assert said(f"{quote}ä{escape * count}{quote}") == "ä" + once * count


def test_a_string_of_many_escapes_that_is_not_closed_is_a_fault():
    for count in (255, 256, 257, 512, 1000):
        text = 'doc_string: "' + r"\n" * count + '\nproducer_name: "x"'
        (fault,) = loaded(text.encode(), "model.textproto").faults
        assert fault.message.startswith("the text is not a model in protobuf text format: line 1, column ")
        assert "missing ending quote" in fault.message
