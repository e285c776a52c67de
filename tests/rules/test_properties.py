# SPDX-License-Identifier: Apache-2.0
"""Properties of every model: changes that mean nothing change no verdict, and each single fault is found."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

from support.project.each_case import each_case
from support.project.fixture_files import Fixture, fixtures, lint

from onnx_lint import schema
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.loader.text.read_text import parse_textproto
from onnx_lint.model import Fault

# --- valid models stay valid


ABOUT_THE_FILE = {"oversized-message", "exceeded-limit", "unexpected-interface"}
"""Rules whose fixtures are about the size or form of the file, or about the names of its inputs."""

ABOUT_EVERY_NODE = {"disallowed-operator", "missing-documentation", "stray-float64"}
"""Rules that require something of each node, or compare it with the others."""


def _candidates() -> list[Fixture]:
    """Return two valid models in text form for each rule."""
    taken: dict[str, list[Fixture]] = {}
    for fixture in fixtures():
        if fixture.is_valid and fixture.is_text and not fixture.proto and fixture.rule not in ABOUT_THE_FILE:
            taken.setdefault(fixture.rule, []).append(fixture)
    return [fixture for found in taken.values() for fixture in found[:2]]


each_valid_model = each_case("fixture", _candidates(), ids=lambda fixture: fixture.id)


def _proto(fixture: Fixture) -> Any:
    parsed = parse_textproto(BytesSource(fixture.data))
    assert not isinstance(parsed, Fault)
    return parsed


def _verdict(proto: Any, fixture: Fixture) -> list[str]:
    model = load(BytesSource(proto.SerializeToString()), "model.onnx", fixture.standard, fixture.directory)
    return [f"{item.rule} {item.place}: {item.message}" for item in lint(model, fixture.settings)]


def _messages(message: Any) -> Iterator[Any]:
    """The message and every message in it."""
    yield message
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        for inner in [value] if hasattr(value, "DESCRIPTOR") else value:
            yield from _messages(inner)


@each_valid_model
def test_writing_a_model_again_changes_nothing(fixture: Fixture):
    again = schema.message("ModelProto").FromString(_proto(fixture).SerializeToString())
    assert _verdict(again, fixture) == []


def _defined(graph: Any) -> set[str]:
    return {name for message in _messages(graph) for name in _names_in(message)}


def _names_in(message: Any) -> Iterator[str]:
    kind = message.DESCRIPTOR.name
    if kind == "NodeProto":
        yield from message.input
        yield from message.output
    elif kind in {"ValueInfoProto", "TensorProto"}:
        yield message.name


def _shuffled(nodes: list[Any], rng: random.Random) -> list[Any]:
    """The nodes in another order in which each two that have a name in common, at any depth, stay as they are."""
    produced = [set(node.output) - {""} for node in nodes]
    touched = [_defined(node) - {""} for node in nodes]
    waiting = [
        {other for other in range(index) if produced[other] & touched[index] or produced[index] & touched[other]}
        for index in range(len(nodes))
    ]
    order: list[int] = []
    while len(order) < len(nodes):
        free = [index for index in range(len(nodes)) if index not in order and waiting[index] <= set(order)]
        order.append(rng.choice(free))
    return [nodes[index] for index in order]


@each_valid_model
def test_the_order_of_independent_nodes_means_nothing(fixture: Fixture):
    rng = random.Random(fixture.id)
    proto = _proto(fixture)
    for message in _messages(proto):
        if message.DESCRIPTOR.name in {"GraphProto", "FunctionProto"}:
            nodes = [schema.message("NodeProto").FromString(node.SerializeToString()) for node in message.node]
            del message.node[:]
            message.node.extend(_shuffled(nodes, rng))
    assert _verdict(proto, fixture) == []


VALUE_NAMES = {
    "NodeProto": ("input", "output"),
    "FunctionProto": ("input", "output"),
    "ValueInfoProto": ("name",),
    "TensorProto": ("name",),
    "TensorAnnotation": ("tensor_name",),
    "ShardingSpecProto": ("tensor_name",),
}
"""The fields that hold names of values, by message."""


def _renamed(name: str) -> str:
    return f"r_{name}" if name else ""


def _rename_field(message: Any, field: str) -> None:
    value = getattr(message, field)
    if isinstance(value, str):
        setattr(message, field, _renamed(value))
    else:
        value[:] = [_renamed(name) for name in value]


@each_valid_model
def test_the_names_of_values_mean_nothing(fixture: Fixture):
    proto = _proto(fixture)
    for message in list(_messages(proto)):
        kind = message.DESCRIPTOR.name
        for field in VALUE_NAMES.get(kind, ()):
            _rename_field(message, field)
        if kind == "TensorAnnotation":
            for entry in message.quant_parameter_tensor_names:
                _rename_field(entry, "value")
        if kind == "TrainingInfoProto":
            for entry in (*message.initialization_binding, *message.update_binding):
                _rename_field(entry, "key")
                _rename_field(entry, "value")
    assert _verdict(proto, fixture) == []


@each_valid_model
def test_an_unrelated_node_means_nothing(fixture: Fixture):
    proto = _proto(fixture)
    imported = {entry.domain for entry in proto.opset_import}
    if fixture.rule in ABOUT_EVERY_NODE or not proto.HasField("graph") or not imported & {"", "ai.onnx"}:
        return
    node = proto.graph.node.add(op_type="Constant", name="unrelated_node", output=["unrelated"])
    attribute = node.attribute.add(name="value", type=4)
    attribute.t.MergeFrom(schema.message("TensorProto")(data_type=1, float_data=[1.0]))
    output = proto.graph.output.add(name="unrelated")
    output.type.tensor_type.elem_type = 1
    output.type.tensor_type.shape.SetInParent()
    assert _verdict(proto, fixture) == []


# --- single faults are found

_VALUE = "type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 3 } } } }"

BASE = f"""
ir_version: 11
producer_name: "test"
domain: "com.example"
opset_import {{ domain: "" version: 21 }}
opset_import {{ domain: "com.example" version: 1 }}
metadata_props {{ key: "com.example.key" value: "value" }}
graph {{
  name: "graph"
  input {{ name: "x" {_VALUE} }}
  input {{ name: "c" type {{ tensor_type {{ elem_type: 9 shape {{ }} }} }} }}
  output {{ name: "y" {_VALUE} }}
  output {{
    name: "z"
    type {{ tensor_type {{ elem_type: 7 shape {{ dim {{ dim_value: 4 }} dim {{ dim_value: 3 }} }} }} }}
  }}
  output {{ name: "q" type {{ tensor_type {{ elem_type: 1 shape {{ dim {{ dim_value: 4 }} }} }} }} }}
  output {{ name: "e" type {{ tensor_type {{ elem_type: 1 shape {{ dim {{ dim_value: 2 }} }} }} }} }}
  value_info {{ name: "a" {_VALUE} }}
  initializer {{ name: "w" data_type: 1 dims: 2 dims: 3 float_data: [1, 2, 3, 4, 5, 6] }}
  initializer {{
    name: "d" data_type: 1 dims: 2 data_location: EXTERNAL
    external_data {{ key: "location" value: "weights.bin" }}
    external_data {{ key: "offset" value: "4096" }}
    external_data {{ key: "length" value: "8" }}
  }}
  sparse_initializer {{
    values {{ name: "s" data_type: 1 dims: 2 float_data: [1, 2] }}
    indices {{ data_type: 7 dims: 2 int64_data: [1, 3] }}
    dims: 4
  }}
  node {{ name: "add" op_type: "Add" input: "x" input: "w" output: "a" }}
  node {{
    name: "if" op_type: "If" input: "c" output: "b"
    attribute {{
      name: "then_branch" type: GRAPH
      g {{ name: "then" node {{ op_type: "Neg" input: "a" output: "t" }} output {{ name: "t" {_VALUE} }} }}
    }}
    attribute {{
      name: "else_branch" type: GRAPH
      g {{ name: "else" node {{ op_type: "Abs" input: "a" output: "f" }} output {{ name: "f" {_VALUE} }} }}
    }}
  }}
  node {{
    name: "call" op_type: "F" domain: "com.example" input: "b" output: "y"
    attribute {{ name: "slope" type: FLOAT f: 0.5 }}
  }}
  node {{
    name: "concat" op_type: "Concat" input: "y" input: "x" output: "k"
    attribute {{ name: "axis" type: INT i: 0 }}
  }}
  node {{ name: "cast" op_type: "Cast" input: "k" output: "z" attribute {{ name: "to" type: INT i: 7 }} }}
  node {{ name: "sparse" op_type: "Identity" input: "s" output: "q" }}
  node {{ name: "outside" op_type: "Identity" input: "d" output: "e" }}
}}
functions {{
  name: "F" domain: "com.example" input: "p" output: "r" attribute: "slope"
  opset_import {{ domain: "" version: 21 }}
  node {{
    op_type: "LeakyRelu" input: "p" output: "r"
    attribute {{ name: "alpha" type: FLOAT ref_attr_name: "slope" }}
  }}
}}
"""


def _base() -> Any:
    parsed = parse_textproto(BytesSource(BASE.encode()))
    assert not isinstance(parsed, Fault), parsed
    return parsed


def _rules_of(data: bytes, *further: str) -> set[str]:
    """The rules that find something: those that are on by default, and `further` ones."""
    model = load(BytesSource(data), "model.onnx")
    return {item.rule for item in lint(model, Settings(extend_select=further))}


ADD, IF, CALL, CONCAT, CAST, SPARSE, OUTSIDE = range(7)

Change = Callable[[Any], Any]


def _node(index: int, **values: Any) -> Change:
    """Set fields of a node of the main graph."""

    def change(model: Any) -> None:
        for name, value in values.items():
            if isinstance(value, list):
                getattr(model.graph.node[index], name)[:] = value
            else:
                setattr(model.graph.node[index], name, value)

    return change


def _attribute(index: int, **values: Any) -> Change:
    def change(model: Any) -> None:
        model.graph.node[index].attribute.add(**values)

    return change


def _initializer(index: int, **values: Any) -> Change:
    """Set fields of an initializer."""

    def change(model: Any) -> None:
        for name, value in values.items():
            if isinstance(value, list):
                getattr(model.graph.initializer[index], name)[:] = value
            else:
                setattr(model.graph.initializer[index], name, value)

    return change


def _location(value: str) -> Change:
    return lambda model: setattr(model.graph.initializer[1].external_data[0], "value", value)


def _entry(index: int, value: str) -> Change:
    return lambda model: setattr(model.graph.initializer[1].external_data[index], "value", value)


def _swap(model: Any) -> None:
    nodes = [node.SerializeToString() for node in model.graph.node]
    nodes[CONCAT], nodes[CAST] = nodes[CAST], nodes[CONCAT]
    del model.graph.node[:]
    model.graph.node.extend(map(schema.message("NodeProto").FromString, nodes))


def _branch(model: Any) -> Any:
    return model.graph.node[IF].attribute[0].g


def _shadow(model: Any) -> None:
    branch = _branch(model)
    branch.node[0].output[0] = branch.output[0].name = "a"
    branch.node[0].input[0] = "x"


def _function(**values: Any) -> Change:
    def change(model: Any) -> None:
        model.functions.add(name="G", domain="com.example", **values)

    return change


def _recursion(model: Any) -> None:
    model.functions[0].opset_import.add(domain="com.example", version=1)
    node = model.functions[0].node[0]
    node.op_type, node.domain = "F", "com.example"
    node.attribute[0].name = "slope"


FAULTS: tuple[tuple[str, str, Change], ...] = (
    # The model
    ("missing-ir-version", "no IR version", lambda model: model.ClearField("ir_version")),
    ("unknown-ir-version", "an IR version of the future", lambda model: setattr(model, "ir_version", 999)),
    ("premature-feature", "functions before they were there", lambda model: setattr(model, "ir_version", 7)),
    ("missing-graph", "no graph", lambda model: model.ClearField("graph")),
    ("missing-opset-import", "an import is missing", lambda model: model.opset_import.pop(1)),
    ("duplicate-opset-import", "an import is there twice", lambda model: model.opset_import.add(domain="", version=21)),
    ("unknown-opset-version", "a version of the future", lambda model: setattr(model.opset_import[0], "version", 999)),
    (
        "unused-opset-import",
        "an import of nothing",
        lambda model: model.opset_import.add(domain="com.unused", version=1),
    ),
    ("duplicate-metadata-key", "a key twice", lambda model: model.metadata_props.add(key="com.example.key", value="2")),
    # Graphs
    ("missing-graph-name", "no name", lambda model: model.graph.ClearField("name")),
    ("duplicate-definition", "a name is defined twice", _node(CAST, output=["a"])),
    ("undefined-name", "a name that nothing defines", _node(ADD, input=["nothing", "w"])),
    (
        "undefined-name",
        "an output that nothing defines",
        lambda model: setattr(model.graph.output[0], "name", "nothing"),
    ),
    ("unordered-nodes", "a node before the one that it needs", _swap),
    ("cycle", "two nodes that need one another", _node(ADD, input=["x", "y"])),
    ("non-c90-name", "a name with a space", lambda model: setattr(model.graph, "name", "the graph")),
    ("duplicate-graph-output", "an output twice", lambda model: setattr(model.graph.output[1], "name", "y")),
    ("shadowed-name", "a name of the outer graph again", _shadow),
    ("duplicate-node-name", "two nodes of one name", _node(CALL, name="add")),
    # Nodes
    ("missing-op-type", "no operator", _node(ADD, op_type="")),
    ("node-without-outputs", "no outputs", _node(SPARSE, output=[])),
    ("unknown-operator", "no such operator", _node(ADD, op_type="Addd")),
    ("operator-arity", "three inputs for two", _node(ADD, input=["x", "w", "x"])),
    ("unknown-operator-attribute", "no such attribute", _attribute(ADD, name="axis", type=2, i=1)),
    ("missing-operator-attribute", "no axis", lambda model: model.graph.node[CONCAT].attribute.pop()),
    ("duplicate-attribute", "an attribute twice", _attribute(CONCAT, name="axis", type=2, i=0)),
    (
        "wrong-operator-attribute-type",
        "a float for a whole number",
        lambda model: (
            model.graph.node[CONCAT].attribute[0].CopyFrom(schema.message("AttributeProto")(name="axis", type=1, f=1.0))
        ),
    ),
    # Functions
    ("unknown-function", "no such function", _node(CALL, op_type="G")),
    ("function-call-arity", "two inputs for one", _node(CALL, input=["b", "x"])),
    ("unknown-call-attribute", "no such parameter", _attribute(CALL, name="nothing", type=1, f=1.0)),
    ("duplicate-function", "a function twice", lambda model: model.functions.append(model.functions[0])),
    ("recursive-function", "a function calls itself", _recursion),
    ("empty-function", "a function without nodes", _function(output=["o"])),
    (
        "undeclared-attribute-reference",
        "a reference to no parameter",
        lambda model: setattr(model.functions[0].node[0].attribute[0], "ref_attr_name", "nothing"),
    ),
    # Types
    (
        "unknown-element-type",
        "no such type",
        lambda model: setattr(model.graph.value_info[0].type.tensor_type, "elem_type", 99),
    ),
    (
        "negative-dimension",
        "a dimension of -1",
        lambda model: setattr(model.graph.input[0].type.tensor_type.shape.dim[0], "dim_value", -1),
    ),
    # Tensors
    ("tensor-size-mismatch", "a value is missing", _initializer(0, float_data=[1.0, 2.0, 3.0, 4.0, 5.0])),
    ("tensor-size-mismatch", "a value too many", _initializer(0, float_data=[1.0] * 7)),
    ("unknown-tensor-element-type", "no such type", _initializer(0, data_type=99)),
    ("invalid-tensor-shape", "a dimension of -2", _initializer(0, dims=[-2, 3])),
    ("ambiguous-tensor-data", "values in two fields", _initializer(0, raw_data=bytes(24))),
    ("misplaced-tensor-data", "values in the wrong field", _initializer(0, float_data=[], int32_data=[1] * 6)),
    # Sparse tensors
    (
        "sparse-index-out-of-range",
        "an index beyond the dimension",
        lambda model: model.graph.sparse_initializer[0].indices.int64_data.__setitem__(1, 9),
    ),
    (
        "unordered-sparse-indices",
        "indices that descend",
        lambda model: model.graph.sparse_initializer[0].indices.int64_data.__setitem__(1, 0),
    ),
    (
        "malformed-sparse-indices",
        "indices of another type",
        lambda model: setattr(model.graph.sparse_initializer[0].indices, "data_type", 6),
    ),
    # External data
    ("parent-directory-location", "a way up", _location("../weights.bin")),
    ("non-relative-location", "an absolute path", _location("/weights.bin")),
    ("missing-external-location", "no location", lambda model: model.graph.initializer[1].external_data.pop(0)),
    ("malformed-external-range", "an offset that is not a number", _entry(1, "-1")),
    ("unaligned-external-offset", "an offset within a page", _entry(1, "4100")),
    ("external-length-mismatch", "a length that is not that of the tensor", _entry(2, "12")),
    ("data-beside-external-data", "values inside and outside", _initializer(1, raw_data=bytes(8))),
    ("unmarked-external-data", "a location without the mark", _initializer(1, data_location=0)),
    ("unknown-data-location", "no such place", _initializer(1, data_location=7)),
    (
        "duplicate-external-key",
        "a key twice",
        lambda model: model.graph.initializer[1].external_data.add(key="offset", value="0"),
    ),
    (
        "unknown-external-key",
        "no such key",
        lambda model: model.graph.initializer[1].external_data.add(key="nothing", value="0"),
    ),
)


def test_the_model_that_is_changed_is_valid():
    assert _rules_of(_base().SerializeToString()) == set()


@each_case("rule, what, change", FAULTS, ids=lambda case: f"{case[0]}: {case[1]}")
def test_a_single_fault_is_found_by_its_rule(rule: str, what: str, change: Change):
    model = _base()
    change(model)
    assert rule in _rules_of(model.SerializePartialToString(), rule)


OF_BYTES: tuple[tuple[str, str, Callable[[bytes], bytes]], ...] = (
    ("truncated-file", "the last byte is missing", lambda data: data[:-1]),
    ("unknown-field", "a field of number 1000", lambda data: data + b"\xc0\x3e\x01"),
    ("wrong-wire-type", "the version of the model as a string", lambda data: data + b"\x2a\x01a"),
    ("repeated-singular-field", "a second producer", lambda data: data + b"\x12\x01a"),
    ("invalid-utf8", "a producer in Latin-1", lambda data: data.replace(b"test", b"t\xe4st")),
    ("not-a-model", "a wire type that does not exist", lambda data: data + b"\x07"),
    ("excessive-nesting", "groups without end", lambda data: data + b"\xc3\x3e" * 200),
    ("not-a-model", "nothing at all", lambda data: b""),
)


@each_case("rule, what, change", OF_BYTES, ids=lambda case: f"{case[0]}: {case[1]}")
def test_a_single_fault_of_bytes_is_found_by_its_rule(rule: str, what: str, change: Callable[[bytes], bytes]):
    assert rule in _rules_of(change(_base().SerializeToString()))
