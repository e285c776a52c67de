# SPDX-License-Identifier: Apache-2.0
"""The names of the messages around a place. They stay equal when an index changes."""

from __future__ import annotations

from functools import cache
from typing import Final

from onnx_lint import schema
from onnx_lint.ir.places.place import EnclosingNames, Place, Step
from onnx_lint.schema import Proto, wire
from onnx_lint.wording import report_name

_NAMING_FIELDS: Final = ("name", "key", "domain", "tensor_name")
"""The fields that identify a message in its list. The first one that the type of the message has is used."""


class NamesInDocument:
    """The names around the places of a model, or of a document of another kind.

    Caches the messages that it parses. Large ones are all kept, since a node with a subgraph may hold most of the file.
    Of the small messages in one message only the last is kept, since findings in one message are consecutive.
    """

    __slots__ = ("_root",)

    def __init__(self, proto: Proto) -> None:
        self._root = _NamedMessage(proto.DESCRIPTOR.name, proto, EnclosingNames())

    def names_at(self, place: Place) -> EnclosingNames:
        """Return the names around `place`. Missing messages on the way to it have none."""
        message = self._root
        for step in place.key:
            inner = message.at(step)
            if inner is None:
                break
            message = inner
        return message.enclosing_names

    def messages_on(self, place: Place) -> list[tuple[str, Proto]]:
        """Return the existing messages from the root to `place`: the type of each, and the message."""
        message = self._root
        found = [(message.kind, message.proto)]
        for step in place.key:
            inner = message.at(step)
            field, index = step
            if inner is None or (index is None and not message.proto.HasField(field)):
                break
            message = inner
            found.append((message.kind, message.proto))
        return found


_SMALL_BYTES: Final = 512
"""A smaller message is parsed again when necessary: to keep it would take more memory than it has bytes."""


class _NamedMessage:
    """A message, with the names from the root down to it, and the parsed messages in it that are kept."""

    __slots__ = ("_large", "_last_used", "enclosing_names", "kind", "proto")

    def __init__(self, kind: str, proto: Proto, enclosing_names: EnclosingNames) -> None:
        self.kind = kind
        self.proto = proto
        self.enclosing_names = enclosing_names
        self._large: dict[Step, _NamedMessage] | None = None
        """The large messages in it, by the step to them; None if there are none."""
        self._last_used: tuple[Step, _NamedMessage | None] | None = None
        """The message that was used last, and the step to it."""

    def at(self, step: Step) -> _NamedMessage | None:
        """Return the message in a field; None if there is none."""
        if self._last_used is not None and self._last_used[0] == step:
            return self._last_used[1]
        found = self._large.get(step) if self._large is not None else None
        if found is None:
            found = self._parse(*step)
        self._last_used = step, found
        return found

    def _parse(self, name: str, index: int | None) -> _NamedMessage | None:
        field = wire.fields_by_name(self.kind).get(name)
        if field is None or field.message is None or field.repeated != (index is not None):
            return None
        value = getattr(self.proto, name)
        if index is not None:
            if index >= len(value):
                return None
            value = value[index]
        is_large = isinstance(value, bytes) and len(value) >= _SMALL_BYTES
        if isinstance(value, bytes):  # a message that the loader left unparsed
            value = schema.opened(field.message, value)
        found = _NamedMessage(field.message, value, _names_in(self.enclosing_names, field.message, value))
        if is_large:
            self._large = {} if self._large is None else self._large
            self._large[name, index] = found
        return found


def _names_in(outer: EnclosingNames, kind: str, message: Proto) -> EnclosingNames:
    """Return the names around the parts of a message, given the names around the message."""
    scope = (*outer.scope, report_name(_identity(kind, message)))
    if kind == "NodeProto":
        return EnclosingNames(report_name(message.name), report_name(_operator(message)), outer.graph, scope)
    if kind in {"GraphProto", "FunctionProto"}:
        return EnclosingNames(None, None, report_name(message.name), scope)
    return EnclosingNames(outer.node, outer.operator, outer.graph, scope)


def _operator(node: Proto) -> str:
    return f"{node.domain}::{node.op_type}" if node.domain else str(node.op_type)


def _identity(kind: str, message: Proto) -> str:
    """Return the name of a message, which stays equal if indices change.

    A node without a name has its operator and its first output instead; a function has its domain and overload as well.
    """
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
