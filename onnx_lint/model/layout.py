# SPDX-License-Identifier: Apache-2.0
"""Where a place stands in the file, found by walking the file along the place's path."""

from __future__ import annotations

from typing import Final

from onnx_lint.model.place import Key, Place
from onnx_lint.schema import wire
from onnx_lint.schema.wire import Span
from onnx_lint.source import Source

_LONG_ROW: Final = 32
"""After so many records of one repeated message in a row the rest of them is indexed in one loop."""

_SHORT_BYTES: Final = 1 << 14
"""What `wire.skip_short` takes at most."""


class Layout:
    """The byte positions of a serialized message; the fields of each message are indexed once, when first asked for."""

    __slots__ = ("_fields", "_message", "_source")

    def __init__(self, source: Source, message: str = "ModelProto") -> None:
        self._source = source
        self._message = message
        self._fields: dict[Key, dict[str, list[Span]]] = {}

    def byte_range(self, place: Place) -> tuple[int, int] | None:
        """The first byte of the field at `place` and the byte after it, tag included; None where it is absent.

        An element of a packed field has the range of the whole field.
        """
        key = place.key
        if not key:
            return 0, self._source.size
        spans, _ = self._occurrences(key)
        return (spans[0][0], spans[-1][2]) if spans else None

    def _occurrences(self, key: Key) -> tuple[list[Span], str | None]:
        """The spans of the field at `key`, and the message that it holds, if any.

        A singular message that is given more than once is one message (the parser merges them), so all spans count;
        of a singular value the last one does.
        """
        parents, message = self._parent(key)
        name, index = key[-1]
        field = wire.fields_by_name(message).get(name) if message else None
        if field is None or message is None:
            return [], None
        spans = self._index(key[:-1], parents, message).get(name, [])
        if index is None or not spans:
            merged = spans if field.message else spans[-1:]
            return merged, field.message
        if field.packable:
            return spans[index : index + 1] or spans[-1:], None
        return spans[index : index + 1], field.message

    def _parent(self, key: Key) -> tuple[list[Span], str | None]:
        if len(key) == 1:
            return [(0, 0, self._source.size)], self._message
        return self._occurrences(key[:-1])

    def _index(self, key: Key, spans: list[Span], message: str) -> dict[str, list[Span]]:
        if key in self._fields:
            return self._fields[key]
        index: dict[str, list[Span]] = {}
        for _, value, end in spans:
            try:
                while value < end:
                    value = self._index_row(message, index, value, end)
            except wire.WireError:
                continue  # a broken tail has a finding of its own; what stands before it has its range
        self._fields[key] = index
        return index

    def _index_row(self, message: str, index: dict[str, list[Span]], value: int, end: int) -> int:
        """Index the fields of the message from `value` to `end`, or a part of them, and return where that ends."""
        fields = wire.fields(message)
        for number, wire_type, start, inner, following in wire.records(self._source, value, end, inside_groups=False):
            field = fields.get(number)
            # What has another wire type the parser does not count.
            if field is None or not field.accepts(wire_type):
                continue
            spans = index.setdefault(field.name, [])
            spans.append((start, inner, following))
            if field.repeated and field.message and len(spans) % _LONG_ROW == 0:
                # A graph may have a hundred thousand nodes, of which a finding wants to know one.
                tag = number << 3 | wire.WireType.LEN
                return wire.skip_short(self._source, following, end, tag, _SHORT_BYTES, spans)[0]
        return end
