# SPDX-License-Identifier: Apache-2.0
"""Models made by a grammar: every field that the schema declares, with names and numbers that often meet."""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from hypothesis import strategies as st
from wire_bytes import is_repeated

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

MAX_DEPTH = 7
"""How deep messages nest in a made model: a graph in a graph and the tensors in it."""

_INTEGERS = {
    FieldDescriptor.TYPE_INT32: (-(2**31), 2**31 - 1),
    FieldDescriptor.TYPE_INT64: (-(2**63), 2**63 - 1),
    FieldDescriptor.TYPE_UINT64: (0, 2**64 - 1),
}
_EXPECTED: dict[str, st.SearchStrategy[Any]] = {
    "ir_version": st.sampled_from((3, 4, 8, 10, 12, 13, 99)),
    "version": st.integers(1, 26),
    "elem_type": st.sampled_from((*range(29), 99)),
    "data_type": st.sampled_from((*range(29), 99)),
    "op_type": st.sampled_from(OPERATORS),
    "dims": st.integers(0, 4),
    "dim_value": st.integers(0, 4),
    "type": st.integers(0, 15),
}
"""Values that let a model get past the first rule, for some fields by name."""


def _scalar(field: FieldDescriptor) -> st.SearchStrategy[Any]:
    if field.type == FieldDescriptor.TYPE_STRING:
        return st.one_of(st.sampled_from(NAMES), st.sampled_from(NAMES), st.sampled_from(STRANGE), st.text(max_size=6))
    if field.type == FieldDescriptor.TYPE_BYTES:
        return st.binary(max_size=20)
    if field.type in (FieldDescriptor.TYPE_FLOAT, FieldDescriptor.TYPE_DOUBLE):
        return st.sampled_from((0.0, -0.0, 1.0, float("nan"), float("inf"), 1e-45))
    if field.enum_type is not None:
        return st.sampled_from([value.number for value in field.enum_type.values])
    least, most = _INTEGERS.get(field.type, (0, 1))
    return st.one_of(st.integers(0, 3), st.sampled_from([n for n in (*NUMBERS, -1) if least <= n <= most]))


def _value(field: FieldDescriptor, depth: int) -> st.SearchStrategy[Any]:
    if field.message_type is not None:
        return messages(field.message_type, depth + 1)
    if field.name in _EXPECTED and field.type not in (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_ENUM):
        return st.one_of(_EXPECTED[field.name], _EXPECTED[field.name], _scalar(field))
    return _EXPECTED["op_type"] if field.name == "op_type" else _scalar(field)


@st.composite
def messages(draw: st.DrawFn, descriptor: Descriptor, depth: int = 0) -> Any:
    """A message in which some of the declared fields are set."""
    made = schema.message(descriptor.full_name.removeprefix(f"{schema.PACKAGE}."))()
    usable = [field for field in descriptor.fields if field.message_type is None or depth < MAX_DEPTH]
    likely = draw(st.integers(0, min(len(usable), 6)))
    for field in draw(st.lists(st.sampled_from(usable), max_size=likely, unique=True)) if usable else []:
        if not is_repeated(field):
            _set(made, field, draw(_value(field, depth)))
            continue
        values = draw(st.lists(_value(field, depth), max_size=3))
        getattr(made, field.name).extend(values)
    return made


def _set(made: Any, field: FieldDescriptor, value: Any) -> None:
    if field.message_type is not None:
        getattr(made, field.name).CopyFrom(value)
    else:
        setattr(made, field.name, value)


@st.composite
def models(draw: st.DrawFn) -> bytes:
    """A model that has a version, an import and a graph with nodes, in bytes."""
    made = draw(messages(schema.message("ModelProto").DESCRIPTOR))
    made.ir_version = draw(_EXPECTED["ir_version"])
    made.opset_import.add(version=draw(_EXPECTED["version"]))
    graph = schema.message("GraphProto").DESCRIPTOR
    made.graph.MergeFrom(draw(messages(graph, 1)))
    node = schema.message("NodeProto").DESCRIPTOR
    made.graph.node.extend(draw(st.lists(messages(node, 2), min_size=1, max_size=3)))
    return bytes(made.SerializeToString())
