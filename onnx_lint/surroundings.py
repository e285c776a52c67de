# SPDX-License-Identifier: Apache-2.0
"""What stands around a place: the names that a reader knows it by, and that stay when an index changes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Final

from onnx_lint import schema
from onnx_lint.model import Place, Proto
from onnx_lint.record import Record
from onnx_lint.schema import wire

_NAMING_FIELDS: Final = ("name", "key", "domain", "tensor_name")
"""The fields that tell a message from others of its kind in the same list; the first that a message has counts."""


class Surroundings(Record):
    """The names around a place; None where there is no such thing around it."""

    node: str | None
    """The name of the innermost node."""
    operator: str | None
    """That node's domain and op_type."""
    graph: str | None
    """The name of the innermost graph or function."""
    scope: tuple[str, ...]
    """The names of all messages around the place and at it, outermost first, none of them an index."""


def surroundings(proto: Proto, place: Place) -> Surroundings:
    """The surroundings of `place` in the model `proto`, or in a document of another kind."""
    node = operator = graph = None
    scope: list[str] = []
    for kind, message in _messages(proto, place):
        if kind == "NodeProto":
            node, operator = message.name, _operator(message)
        elif kind in {"GraphProto", "FunctionProto"}:
            node, operator, graph = None, None, message.name
        scope.append(_identity(kind, message))
    return Surroundings(node, operator, graph, tuple(scope))


def _messages(proto: Proto, place: Place) -> Iterator[tuple[str, Proto]]:
    """The messages from the model, which is left out, to the innermost that is there, each with its kind.

    What fields there are is asked of the schema: the descriptors of protobuf take three times as long to answer.
    """
    kind = proto.DESCRIPTOR.name
    for name, index in place.key:
        field = wire.fields_by_name(kind).get(name)
        if field is None or field.message is None:
            return
        value = getattr(proto, name)
        if index is not None:
            if index >= len(value):
                return
            value = value[index]
        elif field.repeated:
            return
        if isinstance(value, bytes):  # a node, which a model leaves as it is
            value = schema.outline(field.message).FromString(value)
        proto, kind = value, field.message
        yield kind, proto


def _operator(node: Proto) -> str:
    return f"{node.domain}::{node.op_type}" if node.domain else str(node.op_type)


def _identity(kind: str, message: Proto) -> str:
    if kind == "NodeProto" and not message.name:
        first_output = next((name for name in message.output if name), "")
        return f"{_operator(message)} {first_output}"
    if kind == "FunctionProto":
        return f"{message.domain}::{message.name}:{message.overload}"
    naming = _naming_field(kind)
    return str(getattr(message, naming)) if naming is not None else ""


@cache
def _naming_field(kind: str) -> str | None:
    fields = wire.fields_by_name(kind)
    return next((name for name in _NAMING_FIELDS if name in fields), None)
