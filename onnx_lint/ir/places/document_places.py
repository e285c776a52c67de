# SPDX-License-Identifier: Apache-2.0
"""The bytes of each place of a file, and the names around it, which reports add to a finding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx_lint import schema
from onnx_lint.common.cached import cached_property
from onnx_lint.input.source import BytesSource, Source
from onnx_lint.ir.places.enclosing_names import NamesInDocument
from onnx_lint.ir.places.place import EnclosingNames, Place
from onnx_lint.schema import Proto, wire

if TYPE_CHECKING:
    from onnx_lint.ir.places.byte_ranges import ByteRanges


class DocumentPlaces:
    """Looks up places in a document, which came from `source` in the form `binary`, `textproto` or `json`."""

    def __init__(self, document: Proto, source: Source, form: str) -> None:
        self._document = document
        self._source = source
        self._form = form

    def enclosing_names(self, place: Place) -> EnclosingNames:
        """Return the names of the messages around `place` and at it."""
        return self._names.names_at(place)

    def messages_on(self, place: Place) -> list[tuple[str, Proto]]:
        """Return the existing messages from the document to `place`: the kind of each, and the message."""
        return self._names.messages_on(place)

    def byte_range(self, place: Place) -> tuple[int, int] | None:
        """Return the first byte of `place` and the byte after it; None if it is absent, or the file is text."""
        return self.byte_ranges.byte_range(place) if self._form == "binary" else None

    def value_ranges(self, place: Place, message_type: str) -> list[tuple[int, int]]:
        """Return the first byte of each value of a field, and the byte after it. `message_type`: the type that has it.

        Empty for text, for the root, and for a field that holds a message, since parsers merge its values.
        """
        field = wire.fields_by_name(message_type).get(place.field)
        if self._form != "binary" or field is None or field.message is not None:
            return []
        return [(start, end) for _, start, end in self.byte_ranges.occurrences(place)]

    def extent(self, place: Place) -> tuple[int, int]:
        """Return the bytes of `place`, or the nearest message around it that exists, in the serialized document."""
        ranges = self.byte_ranges
        return next(found for each in place.ancestors() if (found := ranges.byte_range(each)) is not None)

    @cached_property
    def _names(self) -> NamesInDocument:
        return NamesInDocument(self._document)

    @cached_property
    def byte_ranges(self) -> ByteRanges:
        """The bytes of places in the serialized document."""
        from onnx_lint.ir.places.byte_ranges import ByteRanges

        source = self._source if self._form == "binary" else BytesSource(schema.serialized(self._document))
        return ByteRanges(source, self._document.DESCRIPTOR.name)
