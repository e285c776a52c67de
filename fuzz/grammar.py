# SPDX-License-Identifier: Apache-2.0
"""Models made by a grammar: every field that the schema declares, with names and numbers that often meet."""

from __future__ import annotations

from random import Random
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from support.wire.wire_bytes import is_repeated

from onnx_lint import schema

from .mutation import NUMBERS

NAMES = (
    "x",
    "y",
    "z",
    "",
    "F",
    "com.example",
    "ai.onnx",
    "ai.onnx.ml",
    "then_branch",
    "body",
    "value",
    "axes",
    "location",
)
OPERATORS = (
    "Abs",
    "Add",
    "Cast",
    "Concat",
    "Constant",
    "Gemm",
    "If",
    "Loop",
    "Scan",
    "Reshape",
    "Split",
    "F",
    "ZipMap",
)
STRANGE = ("\x1b[2J", "a\nb", "\u202ex", "../x", "a b", "1x", "é", "\0", "{}", "A" * 200)
FLOATS = (0.0, -0.0, 1.0, float("nan"), float("inf"), 1e-45)

MAX_DEPTH = 7
"""The depth of nested messages in a made model: a graph in a graph and the tensors in it."""

_INTEGERS = {
    FieldDescriptor.TYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_UINT64: (0, 2**64 - 1),
}
_EXPECTED: dict[str, tuple[int, ...]] = {
    "ir_version": (3, 4, 8, 10, 12, 13, 99),
    "version": tuple(range(1, 27)),
    "elem_type": (*range(29), 99),
    "data_type": (*range(29), 99),
    "dims": tuple(range(5)),
    "dim_value": tuple(range(5)),
    "type": tuple(range(16)),
}
"""Values that let a model get past the first rule, for some fields by name."""

_LENGTHS = (0, 1, 1, 1, 2, 2, 3)
"""The number of elements of lists; long ones are the matter of lists.py."""


def message(rng: Random, descriptor: Descriptor, depth: int = 0) -> Any:
    """A message in which some of the declared fields are set."""
    made = schema.message(descriptor.full_name.removeprefix(f"{schema.PACKAGE}."))()
    usable = [field for field in descriptor.fields if field.message_type is None or depth < MAX_DEPTH]
    for field in rng.sample(usable, rng.randint(0, min(len(usable), 6))):
        _fill(rng, made, field, depth)
    return made


def _fill(rng: Random, made: Any, field: FieldDescriptor, depth: int) -> None:
    if is_repeated(field):
        getattr(made, field.name).extend(_value(rng, field, depth) for _ in range(rng.choice(_LENGTHS)))
    elif field.message_type is not None:
        getattr(made, field.name).CopyFrom(_value(rng, field, depth))
    else:
        setattr(made, field.name, _value(rng, field, depth))


def _value(rng: Random, field: FieldDescriptor, depth: int) -> Any:
    if field.message_type is not None:
        return message(rng, field.message_type, depth + 1)
    if field.type == FieldDescriptor.TYPE_STRING:
        names = OPERATORS if field.name == "op_type" else NAMES
        return rng.choice(names) if rng.random() < 0.8 else rng.choice(STRANGE)
    if field.type == FieldDescriptor.TYPE_BYTES:
        return rng.randbytes(rng.randrange(20))
    if field.type in (FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_DOUBLE):
        return rng.choice(FLOATS)
    if field.enum_type is not None:
        return rng.choice(field.enum_type.values).number
    if field.name in _EXPECTED and rng.random() < 0.8:
        return rng.choice(_EXPECTED[field.name])
    least, most = _INTEGERS[field.type]
    return rng.choice((0, 1, 2, 3, *(number for number in (*NUMBERS, -1) if least <= number <= most)))


def model(rng: Random) -> bytes:
    """A model that has a version, an import and a graph with nodes, in bytes."""
    made = message(rng, schema.message("ModelProto").DESCRIPTOR)
    made.ir_version = rng.choice(_EXPECTED["ir_version"])
    made.opset_import.add(version=rng.choice(_EXPECTED["version"]))
    made.graph.MergeFrom(message(rng, schema.message("GraphProto").DESCRIPTOR, 1))
    node = schema.message("NodeProto").DESCRIPTOR
    made.graph.node.extend(message(rng, node, 2) for _ in range(rng.randint(1, 3)))
    return bytes(made.SerializeToString())
