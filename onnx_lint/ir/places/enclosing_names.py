# SPDX-License-Identifier: Apache-2.0
"""The names of the messages around a place, which readers know, and which stay when an index changes."""

from __future__ import annotations

from functools import cache
from typing import Final

from onnx_lint import schema
from onnx_lint.common.record import Record
from onnx_lint.ir.places.place import Place, Step
from onnx_lint.schema import Proto, wire
from onnx_lint.wording import report_name

_NAMING_FIELDS: Final = ("name", "key", "domain", "tensor_name")
"""The fields that distinguish a message from others of its kind in the same list; the first one present counts."""


class EnclosingNames(Record):
    """The names around a place, as reports have them. A name is None if there is no such message around the place."""

    node: str | None = None
    """The name of the innermost node."""
    operator: str | None = None
    """That node's domain and op_type."""
    graph: str | None = None
    """The name of the innermost graph or function."""
    scope: tuple[str, ...] = ()
    """The names of all messages around the place and at it, outermost first, without indices."""


class NamesInDocument:
    """The names around the places of a model, or of a document of another kind.

    Parsed messages are kept. Of the large ones all are kept, since a node is parsed from bytes, and one with a subgraph
    may have most of the bytes of the file. Of the small messages in each message only the last one is kept.
    """

    __slots__ = ("_root",)

    def __init__(self, proto: Proto) -> None:
        self._root = _NamedMessage(proto.DESCRIPTOR.name, proto, EnclosingNames())

    def of(self, place: Place) -> EnclosingNames:
        """Return the names around `place`; if a message on the way to it is missing, those of the existing ones."""
        message = self._root
        for step in place.key:
            inner = message.at(step)
            if inner is None:
                break
            message = inner
        return message.enclosing_names

    def messages_on(self, place: Place) -> list[tuple[str, Proto]]:
        """Return the existing messages from the root to `place`: the kind of each, and the message."""
        message = self._root
        found = [(message.kind, message.proto)]
        for step in place.key:
            inner = message.at(step)
            if inner is None or (step[1] is None and not message.proto.HasField(step[0])):
                break
            message = inner
            found.append((message.kind, message.proto))
        return found


_SMALL_BYTES: Final = 512
"""A smaller message is opened again for another place in it: keeping it would take more memory than it has bytes."""


class _NamedMessage:
    """A message with the names around it, its own included, and some of the messages in it that were opened."""

    __slots__ = ("_large", "_last", "enclosing_names", "kind", "proto")

    def __init__(self, kind: str, proto: Proto, enclosing_names: EnclosingNames) -> None:
        self.kind = kind
        self.proto = proto
        self.enclosing_names = enclosing_names
        self._large: dict[Step, _NamedMessage] | None = None
        self._last: tuple[Step, _NamedMessage | None] | None = None
        """The message that was opened last: findings in one message are consecutive."""

    def at(self, step: Step) -> _NamedMessage | None:
        """Return the message in a field; None if there is none."""
        if self._last is not None and self._last[0] == step:
            return self._last[1]
        found = self._large.get(step) if self._large is not None else None
        if found is None:
            found = self._open(*step)
        self._last = step, found
        return found

    def _open(self, name: str, index: int | None) -> _NamedMessage | None:
        field = wire.fields_by_name(self.kind).get(name)
        if field is None or field.message is None or field.repeated != (index is not None):
            return None
        value = getattr(self.proto, name)
        if index is not None:
            if index >= len(value):
                return None
            value = value[index]
        is_large = isinstance(value, bytes) and len(value) >= _SMALL_BYTES
        if isinstance(value, bytes):  # a message that a model in outline has as bytes
            value = schema.opened(field.message, value)
        found = _NamedMessage(field.message, value, _within(self.enclosing_names, field.message, value))
        if is_large:
            self._large = {} if self._large is None else self._large
            self._large[name, index] = found
        return found


def _within(outer: EnclosingNames, kind: str, message: Proto) -> EnclosingNames:
    scope = (*outer.scope, report_name(_identity(kind, message)))
    if kind == "NodeProto":
        return EnclosingNames(report_name(message.name), report_name(_operator(message)), outer.graph, scope)
    if kind in {"GraphProto", "FunctionProto"}:
        return EnclosingNames(None, None, report_name(message.name), scope)
    return EnclosingNames(outer.node, outer.operator, outer.graph, scope)


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
