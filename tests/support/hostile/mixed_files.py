# SPDX-License-Identifier: Apache-2.0
"""Files of several lists at once, chosen at random: each takes up memory of its own, and so do the rules for each."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from onnx_lint.schema import wire
from support.wire.wire_bytes import BASE, length, number

Row = Callable[[str, int], tuple[bytes, bytes]]
"""What a name and its number bring: fields of the graph, and of the model."""

OPERATORS = ("Relu", "Identity", "Add", "Concat", "Reshape", "Cast", "Gemm", "Split", "Foo", "LSTM", "Gather", "Range")
_NUMBERS = {kind: {name: field.number for name, field in wire.fields_by_name(kind).items()} for kind in (
    "ModelProto", "GraphProto", "NodeProto", "TensorProto", "ValueInfoProto", "FunctionProto", "AttributeProto",
    "TypeProto", "SparseTensorProto", "TensorAnnotation", "NodeDeviceConfigurationProto", "ShardingSpecProto",
)}  # fmt: skip


def of(kind: str, /, **fields: bytes | str | int | list[bytes] | list[str]) -> bytes:
    """A message with these fields, in the order of the schema."""
    numbers = _NUMBERS[kind]
    pieces: list[bytes] = []
    for name, value in sorted(fields.items(), key=lambda item: numbers[item[0]]):
        for each in value if isinstance(value, list) else [value]:
            pieces.append(number(numbers[name], each) if isinstance(each, int) else length(numbers[name], each))
    return b"".join(pieces)


def in_graph(**fields: bytes | str | int | list[bytes] | list[str]) -> bytes:
    return of("GraphProto", **fields)


def in_model(**fields: bytes | str | int | list[bytes] | list[str]) -> bytes:
    return of("ModelProto", **fields)


def entry(key: str, value: str) -> bytes:
    return length(1, key) + length(2, value)


def _type(random: Random) -> Callable[[str, int], bytes]:
    element = random.choice([1, 1, 7, 9, 99, 0])
    extent = random.randrange(4)

    def tensor(*dims: bytes) -> bytes:
        shape = length(2, b"".join(length(1, dim) for dim in dims)) if dims else b""
        return length(1, number(1, element) + shape)

    return random.choice(
        [
            lambda name, index: b"",
            lambda name, index: tensor(),
            lambda name, index: tensor(),
            lambda name, index: tensor(number(1, extent)),
            lambda name, index: tensor(number(1, index + 1)),
            lambda name, index: tensor(length(2, f"d{name}")),
            lambda name, index: length(1, number(1, index)),
            lambda name, index: length(6, name),
            lambda name, index: length(4, length(1, tensor())),
            lambda name, index: length(8, number(1, element)),
            lambda name, index: length(5, number(1, element)),
        ]
    )


def _some(random: Random, chance: float, **fields: bytes | str | int) -> dict[str, bytes | str | int]:
    return fields if random.random() < chance else {}


def value(random: Random) -> Row:
    field = random.choice(["input", "output", "value_info"])
    kind = _type(random)
    further = {**_some(random, 0.2, doc_string="d"), **_some(random, 0.2, metadata_props=entry("k", "v"))}
    return lambda name, index: (
        in_graph(**{field: of("ValueInfoProto", name=name, type=kind(name, index), **further)}),
        b"",
    )


def initializer(random: Random) -> Row:
    further = {
        **_some(random, 0.8, data_type=random.choice([1, 7, 9, 99, 0])),
        **_some(random, 0.5, dims=random.randrange(4)),
        **_some(random, 0.2, doc_string="d"),
        **_some(random, 0.2, data_location=1),
        **random.choice([{}, {"int32_data": 1}, {"raw_data": b"ab"}]),
    }
    is_external, has_metadata = random.random() < 0.2, random.random() < 0.1

    def row(name: str, index: int) -> tuple[bytes, bytes]:
        own = {
            **({"external_data": entry("location", name)} if is_external else {}),
            **({"metadata_props": entry(name, name)} if has_metadata else {}),
        }
        return in_graph(initializer=of("TensorProto", name=name, **further, **own)), b""

    return row


def sparse_initializer(random: Random) -> Row:
    kind = random.choice([1, 7, 99, 0])
    indices = _some(random, 0.5, indices=of("TensorProto", data_type=7, dims=1), dims=5)
    return lambda name, index: (
        in_graph(
            sparse_initializer=of(
                "SparseTensorProto", values=of("TensorProto", name=name, data_type=kind, dims=1), **indices
            )
        ),
        b"",
    )


def annotation(random: Random) -> Row:
    key, target, has_entry = random.choice(["SCALE_TENSOR", None]), random.choice(["z", None]), random.random() < 0.7

    def row(name: str, index: int) -> tuple[bytes, bytes]:
        found = {"quant_parameter_tensor_names": entry(key or name, target or name)} if has_entry else {}
        return in_graph(quantization_annotation=of("TensorAnnotation", tensor_name=name, **found)), b""

    return row


def _operands(random: Random) -> Callable[[str, int], dict[str, list[str]]]:
    before = random.random() < 0.4
    given = random.choice([None, "x"])
    second = ["x"] if random.random() < 0.2 else []
    out = random.choice(["", "", "", "o"])
    return lambda name, index: {
        "input": [f"{name}-" if before else given or name, *second],
        "output": [out + name],
    }


def node(random: Random) -> Row:
    operator = random.choice([*OPERATORS, None])
    operands = _operands(random)
    is_named, has_metadata, has_attribute = random.random() < 0.3, random.random() < 0.1, random.random() < 0.3

    def row(name: str, index: int) -> tuple[bytes, bytes]:
        further: dict[str, bytes | str] = {"name": name} if is_named else {}
        if has_metadata:
            further["metadata_props"] = entry(name, "v")
        if has_attribute:
            further["attribute"] = of("AttributeProto", name="to", type=2, i=index)
        op_type = operator or OPERATORS[index % len(OPERATORS)]
        return in_graph(node=of("NodeProto", op_type=op_type, **operands(name, index), **further)), b""

    return row


def constant(random: Random) -> Row:
    name_of = random.choice(["value_int", "value_ints"])
    return lambda name, index: (
        in_graph(
            node=of(
                "NodeProto",
                op_type="Constant",
                output=name,
                attribute=of("AttributeProto", name=name_of, type=2, i=index, ints=index),
            )
        ),
        b"",
    )


def device(random: Random) -> Row:
    operands = _operands(random)
    spec = _some(random, 0.5, device=3, sharded_dim=number(1, 7))

    def row(name: str, index: int) -> tuple[bytes, bytes]:
        sharding = of("ShardingSpecProto", tensor_name=name, **spec)
        configured = of("NodeDeviceConfigurationProto", configuration_id=name, sharding_spec=sharding)
        found = of("NodeProto", op_type="Relu", device_configurations=configured, **operands(name, index))
        return in_graph(node=found), b""

    return row


def subgraph(random: Random) -> Row:
    operator, held = random.choice([("If", "then_branch"), ("Loop", "body"), ("Scan", "body")])
    kind, operands = _type(random), _operands(random)
    has_node, has_input, has_output, has_info, has_tensor = (
        random.random() < each for each in (0.6, 0.5, 0.5, 0.2, 0.2)
    )

    def row(name: str, index: int) -> tuple[bytes, bytes]:
        inner: dict[str, bytes] = {}
        if has_node:
            inner["node"] = of("NodeProto", op_type="Relu", input=name, output=f"i{name}")
        if has_input:
            inner["input"] = of("ValueInfoProto", name=name, type=kind(name, index))
        if has_output:
            inner["output"] = of("ValueInfoProto", name=f"i{name}", type=kind(name, index))
        if has_info:
            inner["value_info"] = of("ValueInfoProto", name=name, type=kind(name, index))
        if has_tensor:
            inner["initializer"] = of("TensorProto", name=name)
        attribute = of("AttributeProto", name=held, type=5, g=in_graph(**inner))
        return in_graph(node=of("NodeProto", op_type=operator, attribute=attribute, **operands(name, index))), b""

    return row


def function(random: Random) -> Row:
    own_name, own_domain, is_called = random.random() < 0.7, random.random() < 0.3, random.random() < 0.5
    imports, own_import = random.random() < 0.6, random.random() < 0.3
    has_signature, has_attribute, has_info = (random.random() < each for each in (0.4, 0.4, 0.2))
    body, kind = random.choice([None, "Relu", ""]), _type(random)

    def row(name: str, index: int) -> tuple[bytes, bytes]:
        parts: dict[str, bytes | str | list[bytes]] = {
            "name": name if own_name else "f",
            "domain": name if own_domain else "d",
        }
        if imports or own_import:
            found = [number(2, 21)] if imports else []
            parts["opset_import"] = [*found, length(1, name)] if own_import else found
        if has_signature:
            parts |= {"input": "x", "output": "y"}
        if has_attribute:
            parts |= {"attribute": "a", "attribute_proto": of("AttributeProto", name="a", type=index % 9)}
        if body is not None:
            called = {"op_type": body} if body else {"op_type": name, "domain": "d"}
            parts["node"] = of("NodeProto", input="x", output="y", **called)
        if has_info:
            parts["value_info"] = of("ValueInfoProto", name="y", type=kind(name, index))
        model = in_model(functions=of("FunctionProto", **parts))
        if not is_called:
            return b"", model
        call = of("NodeProto", op_type=parts["name"], domain=parts["domain"], input="x", output=f"c{name}")
        return in_graph(node=call), model

    return row


def metadata(random: Random) -> Row:
    in_a_graph = random.random() < 0.5

    def row(name: str, index: int) -> tuple[bytes, bytes]:
        found = entry(name, name)
        return (in_graph(metadata_props=found), b"") if in_a_graph else (b"", in_model(metadata_props=found))

    return row


def training(random: Random) -> Row:
    binding = random.choice([3, 4])
    target = random.choice([None, "z"])
    return lambda name, index: (b"", in_model(training_info=length(binding, entry(name, target or name))))


KINDS = (value, value, value, initializer, initializer, sparse_initializer, annotation, node, node, constant, device,
         subgraph, subgraph, function, function, function, metadata, training)  # fmt: skip

NAMES: tuple[Callable[[int], str], ...] = (
    lambda index: f"{index:x}",
    lambda index: f"a{index} b",
    lambda index: f"layer_{index}",
)


def mixture(seed: int) -> Callable[[int], bytes]:
    """What makes a file of about so many bytes: each of its rows brings one of each kind, of some only now and then."""
    random = Random(seed)
    chosen = [
        (random.choice(KINDS)(random), random.choice([1, 1, 1, 2, 5])) for _ in range(random.choice([2, 2, 3, 3, 4, 6]))
    ]
    name_of = random.choice(NAMES)

    def make(size: int) -> bytes:
        graph = [in_graph(name="g", input=length(1, "x") + length(2, length(1, number(1, 1))))]
        model: list[bytes] = []
        index = made = 0
        while made < size:
            for row, each in chosen:
                if index % each == 0:
                    found = row(name_of(index), index)
                    graph.append(found[0])
                    model.append(found[1])
                    made += len(found[0]) + len(found[1])
            index += 1
        return BASE + length(7, b"".join(graph)) + b"".join(model)

    return make
