# SPDX-License-Identifier: Apache-2.0
"""The model: tensors that stay in the source, places and their bytes, graphs and what is visible in them."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Iterator
from pathlib import Path

import oracles
import pytest
from google.protobuf import text_format
from messages import message_of
from wire_bytes import (
    BASE,
    FIXED32,
    GRAPH,
    LEN,
    group,
    is_repeated,
    length,
    number,
    rich_model,
    tag,
    varint,
    wire_type_of,
)

from onnx_lint import schema
from onnx_lint.loader import load, strip_payloads
from onnx_lint.model import FaultKind, Model, Payload, Place, Proto
from onnx_lint.model.places.enclosing_names import EnclosingNames
from onnx_lint.model.places.place import ROOT, Key
from onnx_lint.source import BytesSource, FileSource, open_file


def _load(data: bytes) -> Model:
    return load(BytesSource(data), "model.onnx")


def _from_text(text: str) -> Model:
    return load(BytesSource(f"ir_version: 10 {text}".encode()), "model.textproto")


# --- payloads

RAW = b"0123456789abcdef" * 2
FLOATS = bytes(range(32))
INTS = b"".join(varint(value * 1000) for value in range(20))
TENSOR = {name: field.number for name, field in schema.message("TensorProto").DESCRIPTOR.fields_by_name.items()}


def _number(message: str, field: str) -> int:
    return schema.message(message).DESCRIPTOR.fields_by_name[field].number


LAYOUTS: dict[str, tuple[bytes, bytes, Payload]] = {
    # What stands in the tensor, what stays of it, and the payload with its offset counted from there.
    "raw_data": (length(TENSOR["raw_data"], RAW), length(TENSOR["raw_data"], b""), Payload("raw_data", 2, 32, True)),
    "packed-floats": (length(TENSOR["float_data"], FLOATS), b"", Payload("float_data", 2, 32, True)),
    "packed-ints": (length(TENSOR["int64_data"], INTS), b"", Payload("int64_data", 2, len(INTS), True)),
    "unpacked-floats": (
        b"".join(tag(TENSOR["float_data"], FIXED32) + FLOATS[start : start + 4] for start in range(0, 32, 4)),
        b"",
        Payload("float_data", 0, 40, False),
    ),
    "unpacked-ints": (number(TENSOR["int32_data"], 5) * 20, b"", Payload("int32_data", 0, 40, False)),
    "strings": (length(TENSOR["string_data"], "text") * 5, b"", Payload("string_data", 0, 30, False)),
}

PLACES: dict[str, tuple[tuple[str, int | None], ...]] = {
    "initializer": (("graph", None), ("initializer", 1)),
    "sparse-values": (("graph", None), ("sparse_initializer", 0), ("values", None)),
    "sparse-indices": (("graph", None), ("sparse_initializer", 0), ("indices", None)),
    "attribute": (("graph", None), ("node", 1), ("attribute", 0), ("t", None)),
    "attribute-list": (("graph", None), ("node", 0), ("attribute", 1), ("tensors", 2)),
    "attribute-sparse": (("graph", None), ("node", 0), ("attribute", 0), ("sparse_tensor", None), ("values", None)),
    "attribute-sparse-list": (
        ("graph", None), ("node", 0), ("attribute", 0), ("sparse_tensors", 1), ("indices", None),
    ),
    "nested-graph": (("graph", None), ("node", 0), ("attribute", 0), ("g", None), ("initializer", 0)),
    "nested-graph-list": (("graph", None), ("node", 0), ("attribute", 0), ("graphs", 1), ("initializer", 0)),
    "function": (("functions", 1), ("node", 0), ("attribute", 0), ("t", None)),
    "function-default": (("functions", 0), ("attribute_proto", 0), ("t", None)),
    "initialization": (("training_info", 0), ("initialization", None), ("initializer", 0)),
    "algorithm": (("training_info", 1), ("algorithm", None), ("node", 0), ("attribute", 0), ("t", None)),
}  # fmt: skip


def _wrapped(key: Key, content: bytes) -> tuple[bytes, int]:
    """A model with `content` at `key`, empty messages before it where the index asks for them, and its offset."""
    messages = ["ModelProto"]
    for field, _ in key:
        descriptor = schema.message(messages[-1]).DESCRIPTOR.fields_by_name[field]
        messages.append(descriptor.message_type.full_name.removeprefix("onnx."))
    data, offset = content, 0
    for (field, index), message in reversed(list(zip(key, messages, strict=False))):
        field_number = _number(message, field)
        head = length(field_number, b"") * (index or 0) + tag(field_number, LEN) + varint(len(data))
        data, offset = head + data, offset + len(head)
    return number(1, 10) + data, offset + 2


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file is walked, and every value of 16 bytes or more stays in the source."""
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    monkeypatch.setattr(strip_payloads, "PAYLOAD_BYTES", 16)


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("key", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize(("content", "kept", "payload"), LAYOUTS.values(), ids=LAYOUTS)
def test_payloads_stay_in_the_source(key: Key, content: bytes, kept: bytes, payload: Payload):
    before, after = number(TENSOR["data_type"], 1), length(TENSOR["name"], "w")
    data, offset = _wrapped(key, before + content + after)
    model = _load(data)
    start = offset + len(before)
    expected = Payload(payload.field, start + payload.offset, payload.length, payload.packed)
    assert model.payloads == {key: (expected,)}
    stored = data[expected.offset : expected.offset + expected.length]
    assert content.endswith(stored)
    assert message_of(model) == schema.message("ModelProto").FromString(_wrapped(key, before + kept + after)[0])


@pytest.mark.usefixtures("small_limits")
def test_small_values_and_other_fields_stay_in_the_message():
    tensor = length(TENSOR["raw_data"], b"short") + length(TENSOR["doc_string"], "long " * 50)
    data, _ = _wrapped(PLACES["initializer"], tensor)
    model = _load(data)
    assert model.payloads == {}
    assert message_of(model) == schema.message("ModelProto").FromString(data)


@pytest.mark.usefixtures("small_limits")
def test_two_payloads_of_one_tensor():
    tensor = length(TENSOR["float_data"], FLOATS) + number(TENSOR["dims"], 3) + length(TENSOR["float_data"], FLOATS)
    data, offset = _wrapped(PLACES["initializer"], tensor)
    model = _load(data)
    payloads = (Payload("float_data", offset + 2, 32, True), Payload("float_data", offset + 38, 32, True))
    assert model.payloads == {PLACES["initializer"]: payloads}


@pytest.mark.usefixtures("small_limits")
def test_payloads_of_a_graph_in_two_pieces_are_told_apart():
    """Parsers merge the pieces, so the initializer of the second piece has the index 1."""
    initializer = length(_number("GraphProto", "initializer"), length(TENSOR["raw_data"], RAW))
    data = number(1, 10) + length(7, initializer) * 2
    model = _load(data)
    assert [str(fault.place) for fault in model.faults] == ["graph"]
    first, second = 2 + 2 + 2 + 2, 2 + len(length(7, initializer)) + 2 + 2 + 2
    assert model.payloads == {
        (("graph", None), ("initializer", 0)): (Payload("raw_data", first, 32, True),),
        (("graph", None), ("initializer", 1)): (Payload("raw_data", second, 32, True),),
    }


@pytest.mark.usefixtures("small_limits")
def test_a_group_holds_no_payload():
    """What stands in an unknown group belongs to no message that is known."""
    initializer = length(_number("GraphProto", "initializer"), length(TENSOR["raw_data"], RAW))
    unknown = group(1000, initializer + length(TENSOR["raw_data"], RAW))
    data = number(1, 10) + length(7, unknown + initializer)
    model = _load(data)
    place = (("graph", None), ("initializer", 0))
    assert model.payloads == {place: (Payload("raw_data", len(data) - 32, 32, True),)}
    tensor, _ = _wrapped(PLACES["initializer"], unknown + number(TENSOR["data_type"], 1))
    assert _load(tensor).payloads == {}


def _restored(model: Model, data: bytes) -> Proto:
    """The message with all payloads put back."""
    proto = message_of(model)
    for key, payloads in model.payloads.items():
        tensor = proto
        for name, index in key:
            tensor = getattr(tensor, name) if index is None else getattr(tensor, name)[index]
        for payload in payloads:
            content = data[payload.offset : payload.offset + payload.length]
            tensor.MergeFromString(length(TENSOR[payload.field], content) if payload.packed else content)
    return proto


def _random_tensor(generator: random.Random) -> bytes:
    # Each field at most once: what is put back stands behind what stayed.
    kinds = generator.sample(list(LAYOUTS), generator.randrange(3))
    fields = {LAYOUTS[kind][2].field: LAYOUTS[kind][0] for kind in kinds}
    parts = [*fields.values(), length(TENSOR["name"], "n" * generator.randrange(40)), number(TENSOR["dims"], 300)]
    generator.shuffle(parts)
    return b"".join(parts)


@pytest.mark.parametrize("seed", range(60))
def test_the_skeleton_with_its_payloads_is_the_whole(seed: int, monkeypatch: pytest.MonkeyPatch):
    generator = random.Random(seed)
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    monkeypatch.setattr(strip_payloads, "PAYLOAD_BYTES", generator.choice([2, 8, 16, 33, 64, 4096]))
    initializer = _number("GraphProto", "initializer")

    def graph(depth: int) -> bytes:
        parts = [length(initializer, _random_tensor(generator)) for _ in range(generator.randrange(4))]
        for _ in range(generator.randrange(3)):
            attributes = [length(5, length(5, _random_tensor(generator))) for _ in range(generator.randrange(3))]
            if depth:
                attributes.append(length(5, length(6, graph(depth - 1))))
            generator.shuffle(attributes)
            parts.append(length(1, length(1, "x" * generator.randrange(30)) + b"".join(attributes)))
        parts.append(length(2, "name"))
        generator.shuffle(parts)
        return b"".join(parts)

    node = length(_number("FunctionProto", "node"), length(5, length(5, _random_tensor(generator))))
    training = length(_number("TrainingInfoProto", "algorithm"), graph(1))
    parts = [number(1, 10), length(7, graph(3)), length(25, node), length(20, training), length(8, number(2, 21))]
    generator.shuffle(parts)
    data = b"".join(parts)
    model = _load(data)
    assert model.faults == ()
    assert _restored(model, data) == schema.message("ModelProto").FromString(data)
    size = sum(payload.length for payloads in model.payloads.values() for payload in payloads)
    assert model.proto.ByteSize() <= len(data) - size + 200


class CountingSource(BytesSource):
    """Counts the bytes that are read from a source."""

    __slots__ = ("read", "source")

    def __init__(self, source: FileSource) -> None:
        super().__init__(b"")
        self.source = source
        self.read = 0

    @property
    def size(self) -> int:
        return self.source.size

    def read_at(self, offset: int, length: int) -> bytes:
        data = self.source.read_at(offset, length)
        self.read += len(data)
        return data


def test_a_model_above_two_gibibytes_costs_what_its_graph_costs(tmp_path: Path):
    """The weights are a hole in a sparse file, with the last graph field behind it."""
    size = (1 << 31) + (1 << 28) + 5
    path = tmp_path / "model.onnx"
    head = number(TENSOR["dims"], size) + number(TENSOR["data_type"], 2) + length(TENSOR["name"], "w")
    raw = tag(TENSOR["raw_data"], LEN) + varint(size)
    tensor_size = len(head) + len(raw) + size
    initializer = tag(_number("GraphProto", "initializer"), LEN) + varint(tensor_size)
    doc_string = length(_number("GraphProto", "doc_string"), "behind the weights")
    graph_size = len(GRAPH) + len(initializer) + tensor_size + len(doc_string)
    front = BASE + tag(7, LEN) + varint(graph_size) + GRAPH + initializer + head + raw
    path.write_bytes(front)
    os.truncate(path, len(front) + size)
    with path.open("ab") as file:
        file.write(doc_string)

    source = CountingSource(open_file(path))
    model = load(source, str(path))
    assert (model.loaded, model.faults) == (True, ())
    assert model.payloads == {
        (("graph", None), ("initializer", 0)): (Payload("raw_data", len(front), size, True),),
    }
    assert model.proto.graph.doc_string == "behind the weights"
    assert model.proto.ByteSize() < 1000
    assert source.read < 2_000_000  # some windows at its ends and around the weights, some of them twice
    graph = ROOT.at("graph")
    assert model.byte_range(graph.at("initializer", 0).at("raw_data")) == (len(front) - len(raw), len(front) + size)
    assert model.byte_range(graph.at("doc_string")) == (len(front) + size, path.stat().st_size)
    source.source.close()


@pytest.mark.parametrize("whole_bytes", [0, 1 << 22])
def test_a_file_that_shrank_is_cut_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole_bytes: int):
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", whole_bytes)
    path = tmp_path / "model.onnx"
    path.write_bytes(rich_model())
    source = open_file(path)
    os.truncate(path, 100)
    model = load(source, str(path))
    assert not model.loaded
    assert [fault.kind for fault in model.faults] == [FaultKind.TRUNCATED]
    source.close()


# --- places and their bytes


def _serialized(proto: Proto) -> tuple[bytes, dict[Key, tuple[int, int]]]:
    """The bytes of a message, written field by field, with the first byte and the byte after each place."""
    data = b""
    ranges: dict[Key, tuple[int, int]] = {}
    for field, value in sorted(proto.ListFields(), key=lambda item: item[0].number):
        repeated = is_repeated(field)
        packed = repeated and field.is_packed
        start = len(data)
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
            for index in range(len(value)):
                ranges[((field.name, index),)] = (start, len(data))
    return data, ranges


def _place(key: Key) -> Place:
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
    model = _load(data)
    assert {key: model.byte_range(_place(key)) for key in ranges} == ranges
    assert model.byte_range(ROOT) == (0, len(data))


@pytest.mark.parametrize(
    "path",
    ["graph.node[9]", "graph.node[0].input[5]", "graph.no_such_field", "functions[0].doc_string", "graph.name.x"],
)
def test_an_absent_place_has_no_bytes(path: str):
    model = _load(rich_model())
    place = ROOT
    for step in path.split("."):
        name, _, index = step.rstrip("]").partition("[")
        place = place.at(name, int(index) if index else None)
    assert str(place) == path
    assert model.byte_range(place) is None


def test_what_is_given_in_pieces_reaches_over_them():
    first, second = length(1, length(1, "x")), length(1, length(1, "y")) + length(2, "late")
    data = number(1, 10) + length(7, first) + length(8, number(2, 21)) + length(7, second)
    model = _load(data)
    graph = ROOT.at("graph")
    start = 2 + len(length(7, first)) + len(length(8, number(2, 21)))
    assert model.byte_range(graph) == (2, len(data))
    assert model.byte_range(graph.at("node", 1)) == (start + 2, start + 2 + 5)
    assert model.byte_range(graph.at("name")) == (start + 7, len(data))


def test_the_last_of_a_singular_value_counts():
    data = number(1, 8) + length(7, GRAPH) + number(1, 10)
    model = _load(data)
    assert model.ir_version == 10
    assert model.byte_range(ROOT.at("ir_version")) == (len(data) - 2, len(data))


def test_a_group_does_not_shift_places():
    """Fields inside an unknown group are not the message's own."""
    inside = group(1000, length(1, length(1, "no node")))
    data = number(1, 10) + length(7, inside + GRAPH)
    model = _load(data)
    start = 2 + 2 + len(inside)
    assert model.byte_range(ROOT.at("graph").at("node", 0)) == (start, start + 14)


def test_bytes_of_fields_in_any_order():
    generator = random.Random(2)
    parts = {"input": length(1, "a"), "output": length(2, "b"), "op_type": length(4, "Relu"), "name": length(3, "n")}
    for order in itertools.islice(itertools.permutations(parts), generator.randrange(24), None):
        node = b"".join(parts[name] for name in order)
        data = number(1, 10) + length(7, length(1, node))
        model = _load(data)
        position = 6
        for name in order:
            place = ROOT.at("graph").at("node", 0).at(name, 0 if name in {"input", "output"} else None)
            assert model.byte_range(place) == (position, position + len(parts[name]))
            position += len(parts[name])


def test_text_has_an_order_and_no_bytes():
    model = _from_text('graph { node { op_type: "B" name: "n" } name: "g" node { op_type: "A" } }')
    node = ROOT.at("graph").at("node", 1)
    assert model.byte_range(node) is None
    order = [model.extent(ROOT.at("graph").at("node", index))[0] for index in (0, 1)]
    assert order == sorted(order)
    assert model.extent(node.at("input", 3)) == model.extent(node), "of what is absent, what is around it counts"


def test_the_surroundings_of_places_in_one_node_take_one_look_at_it(monkeypatch: pytest.MonkeyPatch):
    body = 'name: "body" node { op_type: "Abs" output: "y" } node { domain: "d" op_type: "Relu" name: "r" } '
    outer = f'name: "l" op_type: "Loop" attribute {{ name: "body" g {{ {body} }} }}'
    model = _from_text(f'graph {{ name: "g" node {{ {outer} }} }}')
    parsed: list[str] = []
    outline = schema.outline

    def counted(message: str) -> type[Proto]:
        parsed.append(message)
        return outline(message)

    monkeypatch.setattr(schema, "outline", counted)
    node = ROOT.at("graph").at("node", 0)
    graph = node.at("attribute", 0).at("g")
    inside = ("g", "l", "body", "body")
    expected = {
        ROOT: EnclosingNames(),
        ROOT.at("graph").at("node"): EnclosingNames(graph="g", scope=("g",)),
        ROOT.at("graph").at("node", 1): EnclosingNames(graph="g", scope=("g",)),
        node.at("output", 0): EnclosingNames("l", "Loop", "g", ("g", "l")),
        node.at("attribute", 0).at("name"): EnclosingNames("l", "Loop", "g", ("g", "l", "body")),
        graph.at("name"): EnclosingNames(None, None, "body", inside),
        graph.at("node", 0): EnclosingNames("", "Abs", "body", (*inside, "Abs y")),
        graph.at("node", 1).at("no_such_field"): EnclosingNames("r", "d::Relu", "body", (*inside, "r")),
    }
    assert {place: model.enclosing_names(place) for place in expected} == expected
    assert parsed == ["NodeProto"] * 3


def test_places_are_written_as_paths_and_pointers():
    place = ROOT.at("graph").at("node", 3).at("attribute", 0).at("g").at("input", 1)
    assert str(place) == "graph.node[3].attribute[0].g.input[1]"
    assert place.pointer() == "/graph/node/3/attribute/0/g/input/1"
    assert (str(ROOT), ROOT.pointer(), ROOT.key) == ("model", "", ())
    assert [str(ancestor) for ancestor in place.ancestors()][-2:] == ["graph", "model"]
    assert place == _place(place.key)


# --- graphs

GRAPHS = """
graph {
  name: "main"
  node { name: "abs" op_type: "Abs" input: "x" output: "a" }
  node { name: "if" op_type: "If" input: "c" output: "b"
    attribute { name: "then_branch" type: GRAPH g { name: "then"
      node { op_type: "Loop" output: "t" attribute { name: "body" type: GRAPH g { name: "body"
        node { op_type: "Add" input: "a" input: "w" output: "deep" } } } } } }
    attribute { name: "else_branch" type: GRAPH g { name: "else" initializer { name: "e" } } } }
  node { name: "relu" op_type: "Relu" input: "b" output: "y" output: "" }
  initializer { name: "w" } sparse_initializer { values { name: "s" } }
  input { name: "x" } input { name: "c" } input { name: "w" } output { name: "y" }
}
functions { name: "F" domain: "f" input: "u" output: "v" attribute_proto { name: "d" type: GRAPH g { name: "default" } }
  node { op_type: "If" output: "v" attribute { name: "then_branch" type: GRAPH g { name: "in function" } } } }
training_info { initialization { name: "start" } algorithm { name: "step"
  node { op_type: "Sub" input: "y" input: "w" output: "loss" } } }
"""


def _graphs(model: Model) -> dict[str, tuple[str, str]]:
    return {graph.name: (graph.kind.value, str(graph.place)) for graph in model.graphs}


def test_every_graph_is_found_in_order():
    branch = "graph.node[1].attribute"
    assert list(_graphs(_from_text(GRAPHS)).items()) == [
        ("main", ("main graph", "graph")),
        ("then", ("subgraph", f"{branch}[0].g")),
        ("body", ("subgraph", f"{branch}[0].g.node[0].attribute[0].g")),
        ("else", ("subgraph", f"{branch}[1].g")),
        ("F", ("function body", "functions[0]")),
        ("in function", ("subgraph", "functions[0].node[0].attribute[0].g")),
        ("default", ("subgraph", "functions[0].attribute_proto[0].g")),
        ("start", ("initialization graph", "training_info[0].initialization")),
        ("step", ("training algorithm", "training_info[0].algorithm")),
    ]


def _graph(model: Model, name: str):
    return next(graph for graph in model.graphs if graph.name == name)


@pytest.mark.parametrize(
    ("graph", "visible", "hidden"),
    [
        ("main", "", "a b x w s y"),
        ("then", "x c w s a", "b y t deep e"),
        ("body", "x c w s a", "b y t deep"),
        ("else", "x c w s a", "b y t"),
        ("F", "", "x a u v"),
        ("in function", "u", "v x a w"),
        ("start", "", "x a w"),
        ("step", "x c w s a b y", "t deep e u loss"),
    ],
)
def test_a_graph_sees_what_is_defined_before_its_node(graph: str, visible: str, hidden: str):
    found = _graph(_from_text(GRAPHS), graph)
    names = {name: found.sees(name) for name in (*visible.split(), *hidden.split())}
    assert names == dict.fromkeys(visible.split(), True) | dict.fromkeys(hidden.split(), False)
    assert {name for name in names if found.outer_definition(name) is not None} == set(visible.split())


def test_definitions_come_with_their_places():
    main = _graph(_from_text(GRAPHS), "main")
    assert [(name, str(definition.place), definition.describe()) for name, definition in main.definitions()] == [
        ("x", "graph.input[0]", "input 0 of main graph 'main'"),
        ("c", "graph.input[1]", "input 1 of main graph 'main'"),
        ("w", "graph.input[2]", "input 2 of main graph 'main'"),
        ("w", "graph.initializer[0]", "initializer 0 of main graph 'main'"),
        ("s", "graph.sparse_initializer[0]", "sparse initializer 0 of main graph 'main'"),
        ("a", "graph.node[0].output[0]", "output 0 of node 'abs' (Abs)"),
        ("b", "graph.node[1].output[0]", "output 0 of node 'if' (If)"),
        ("y", "graph.node[2].output[0]", "output 0 of node 'relu' (Relu)"),
    ]
    assert main.positions == {"x": -1, "c": -1, "w": -1, "s": -1, "a": 0, "b": 1, "y": 2}
    assert {name: [(node.index, index) for node, index in uses] for name, uses in oracles.uses(main).items()} == {
        "x": [(0, 0)],
        "c": [(1, 0)],
        "b": [(2, 0)],
    }


def _everything(model: Model) -> Iterator[tuple[str, list[str]]]:
    yield "nodes", [str(node.place) for node in model.nodes()]
    yield "attributes", [str(attribute.place) for attribute in model.attributes()]
    yield "types", [str(found.place) for found in model.types()]
    yield "shapes", list(map(str, oracles.shapes(model)))
    for name in ("value_infos", "tensors", "sparse_tensors"):
        yield name, [str(item.place) for item in getattr(oracles, name)(model)]
    yield "metadata", [f"{item.place}.{item.field}" for item in model.metadata()]


def _all_of(proto: Proto, names: set[str], place: Place = ROOT) -> Iterator[tuple[str, str]]:
    """Each message with one of `names`, found by walking the whole message: its name and its place."""
    for field, value in proto.ListFields():
        if field.message_type is None:
            continue
        for index, element in enumerate(value if is_repeated(field) else [value]):
            inner = place.at(field.name, index if is_repeated(field) else None)
            name = field.message_type.name
            if name in names:
                yield name, str(inner)
            yield from _all_of(element, names, inner)


MESSAGES = {
    "NodeProto": "nodes",
    "AttributeProto": "attributes",
    "ValueInfoProto": "value_infos",
    "TypeProto": "types",
    "TensorShapeProto": "shapes",
    "TensorProto": "tensors",
    "SparseTensorProto": "sparse_tensors",
}


def _populated() -> Model:
    """A model in which each message that can hold another one does, three levels deep."""

    def fill(proto: Proto, depth: int) -> None:
        for field in proto.DESCRIPTOR.fields:
            inner = field.message_type
            # Optional messages of the wrong place (a type in the middle of a tensor) do not exist, so all is filled.
            if inner is None or (depth == 0 and inner.name in {"GraphProto", "AttributeProto", "NodeProto"}):
                continue
            if field.containing_oneof is not None and proto.WhichOneof(field.containing_oneof.name):
                continue
            if depth < -6:
                continue
            value = getattr(proto, field.name)
            for element in (
                [value.add(), value.add()]
                if is_repeated(field) and depth > 0
                else [value.add() if is_repeated(field) else value]
            ):
                element.SetInParent()
                fill(element, depth - 1)

    proto = schema.message("ModelProto")()
    fill(proto, 3)
    return _load(proto.SerializePartialToString())


def test_the_views_find_every_message_there_is():
    for model in (_from_text(GRAPHS), _load(rich_model()), _populated()):
        expected: dict[str, list[str]] = {name: [] for name in MESSAGES.values()}
        for message, place in _all_of(message_of(model), set(MESSAGES)):
            expected[MESSAGES[message]].append(place)
        found = dict(_everything(model))
        for name, places in expected.items():
            assert sorted(found[name]) == sorted(places), name


def test_a_model_that_was_not_read_is_empty():
    model = _load(b"")
    assert not model.loaded
    assert (model.graphs, model.functions, list(model.nodes()), list(oracles.tensors(model))) == ([], [], [], [])
    assert (list(model.main_graph.nodes), model.ir_version) == ([], 0)


def _names(text: str) -> dict[str, list[str]]:
    resolution = _from_text(text).resolution
    return {
        "undefined": [f"{use.place} {use.name}" for use in resolution.undefined],
        "unordered": [f"{late.use.place} {late.use.name} {late.producer.index}" for late in resolution.unordered],
        "cycles": [" ".join(cycle.values) for cycle in resolution.cycles],
    }


@pytest.mark.parametrize(
    ("nodes", "undefined", "unordered", "cycles"),
    [
        ('node { input: "x" output: "a" } node { input: "a" output: "b" }', [], [], []),
        ('node { input: "z" output: "a" }', ["graph.node[0].input[0] z"], [], []),
        ('node { input: "b" output: "a" } node { input: "x" output: "b" }', [], ["graph.node[0].input[0] b 1"], []),
        ('node { input: "b" output: "a" } node { input: "a" output: "b" }', [], [], ["a b"]),
        ('node { input: "a" output: "a" }', [], [], ["a"]),
        (
            'node { input: "d" output: "a" } node { input: "c" output: "b" } node { input: "b" output: "c" } '
            'node { input: "x" output: "d" }',
            [],
            ["graph.node[0].input[0] d 3"],
            ["b c"],
        ),
        ('node { input: "" output: "" } node { input: "x" input: "" output: "a" }', [], [], []),
    ],
)
def test_names_resolve(nodes: str, undefined: list[str], unordered: list[str], cycles: list[str]):
    text = f'graph {{ input {{ name: "x" }} {nodes} }}'
    assert _names(text) == {"undefined": undefined, "unordered": unordered, "cycles": cycles}


def test_a_long_cycle_is_named_whole_and_quickly():
    count = 20_000
    nodes = "".join(f'node {{ input: "v{(index - 1) % count}" output: "v{index}" }}\n' for index in range(count))
    resolution = _from_text(f"graph {{ {nodes} }}").resolution
    (cycle,) = resolution.cycles
    assert cycle.values == tuple(f"v{index}" for index in range(count))
    assert (resolution.undefined, resolution.unordered) == ([], [])


def test_wire_types_of_the_reference_are_those_of_the_schema():
    """What the hand-written bytes rest on: the schema packs no number that ONNX writes one by one."""
    packed = {
        f"{message}.{field.name}"
        for message in ("TensorProto", "AttributeProto", "SparseTensorProto", "NodeProto")
        for field in schema.message(message).DESCRIPTOR.fields
        if is_repeated(field) and wire_type_of(field) != LEN and field.is_packed
    }
    names = ("double_data", "float_data", "int32_data", "int64_data", "uint64_data")
    assert packed == {f"TensorProto.{name}" for name in names}


def test_the_message_is_read_as_text_writes_it():
    model = _load(rich_model())
    again = load(BytesSource(text_format.MessageToString(message_of(model)).encode()), "model.textproto")
    assert message_of(again) == message_of(model)


def test_an_occurrence_of_another_wire_type_does_not_count():
    """The parser leaves it aside, so the node behind it is the first one."""
    data = number(1, 10) + length(7, number(1, 5) + GRAPH)
    model = _load(data)
    assert len(model.proto.graph.node) == 1
    assert model.byte_range(ROOT.at("graph").at("node", 0)) == (6, 20)


@pytest.mark.usefixtures("small_limits")
def test_a_small_piece_of_a_graph_counts():
    small = length(_number("GraphProto", "initializer"), length(TENSOR["name"], "s"))
    large = length(_number("GraphProto", "initializer"), length(TENSOR["raw_data"], RAW))
    model = _load(number(1, 10) + length(7, small) + length(7, large))
    assert list(model.payloads) == [(("graph", None), ("initializer", 1))]
    assert model.main_graph.initializer_names == ["s", ""]
