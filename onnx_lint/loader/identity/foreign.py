# SPDX-License-Identifier: Apache-2.0
"""Recognizes the Protocol Buffers messages of other projects that are mistaken for models.

Protocol Buffers has no magic numbers, so the fields of the first messages decide: their numbers and types in each
project's own .proto files, and the fields that are always present.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from onnx_lint.common.record import Record
from onnx_lint.input.source import Source
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError, WireType

_MAX_FIELDS: Final = 500
"""The limit on the fields of one message that are examined."""

_MAX_TEXT: Final = 200
"""The limit on the bytes of a string that are examined."""

_Layout = Mapping[int, Any]
"""The expected content of each field: a layout, or one of the words below; key 0 is for all other fields."""

_INT, _FLOAT, _TEXT, _ANY = "int", "float", "text", "any"


class _Format(Record):
    """A message of another project."""

    name: str
    shape: _Layout
    marks: tuple[tuple[int, ...], ...]
    """Paths of field numbers. All of these fields must be present."""


_TF_ATTRIBUTE: Final = {1: _TEXT, 2: {0: _ANY}}
_TF_NODE: Final = {1: _TEXT, 2: _TEXT, 3: _TEXT, 4: _TEXT, 5: _TF_ATTRIBUTE, 6: _ANY, 7: _ANY}
_TF_GRAPH: Final = {1: _TF_NODE, 2: _ANY, 3: _INT, 4: {1: _INT, 2: _INT, 3: _INT}, 5: _ANY}
_TF_META_GRAPH: Final = {1: _ANY, 2: _TF_GRAPH, 3: _ANY, 4: _ANY, 5: _ANY, 6: _ANY, 7: _ANY}
_FILE_DESCRIPTOR: Final = {1: _TEXT, 2: _TEXT, 3: _TEXT, 4: {1: _TEXT, 0: _ANY}, 5: {1: _TEXT, 0: _ANY}, 0: _ANY}

# Sources: graph.proto, saved_model.proto, meta_graph.proto, tensor.proto and example.proto of TensorFlow, caffe.proto,
# caffe2.proto, Core ML's Model.proto, framework.proto of PaddlePaddle, sentencepiece_model.proto, descriptor.proto.
_FORMATS: Final = (
    _Format("a TensorFlow SavedModel", {1: _INT, 2: _TF_META_GRAPH}, ((2, 2, 1, 2),)),
    _Format("a TensorFlow MetaGraphDef", _TF_META_GRAPH, ((2, 1, 2), (1,))),
    _Format("a TensorFlow GraphDef", _TF_GRAPH, ((1, 1), (1, 2), (1, 5, 1))),
    _Format("a TensorFlow GraphDef", _TF_GRAPH, ((1, 1), (1, 2), (4, 1))),
    _Format("a TensorFlow TensorProto", {1: _INT, 2: {2: {1: _INT, 2: _TEXT}, 3: _INT}, 3: _INT, 0: _ANY}, ((2, 2),)),
    _Format("a TensorFlow Example", {1: {1: {1: _TEXT, 2: {1: _ANY, 2: _ANY, 3: _ANY}}}}, ((1, 1, 1), (1, 1, 2))),
    _Format("a Caffe network", {1: _TEXT, 100: {1: _TEXT, 2: _TEXT, 0: _ANY}, 0: _ANY}, ((100, 2),)),
    _Format(
        "a Caffe2 network",
        {1: _TEXT, 2: {1: _TEXT, 2: _TEXT, 3: _TEXT, 4: _TEXT, 5: {1: _TEXT, 0: _ANY}, 0: _ANY}, 3: _TEXT, 0: _ANY},
        ((2, 2), (2, 4)),
    ),
    _Format(
        "a Core ML model",
        {1: _INT, 2: {1: {1: _TEXT, 0: _ANY}, 10: {1: _TEXT, 0: _ANY}, 0: _ANY}, 0: _ANY},
        ((1,), (2, 1, 1), (2, 10, 1)),
    ),
    _Format(
        "a PaddlePaddle program",
        {1: {1: _INT, 2: _INT, 3: {1: _TEXT, 2: _ANY, 0: _ANY}, 4: {3: _TEXT, 0: _ANY}, 0: _ANY}, 0: _ANY},
        ((1, 1), (1, 2), (1, 3, 1), (1, 4, 3)),
    ),
    _Format(
        "a SentencePiece model", {1: {1: _TEXT, 2: _FLOAT, 3: _INT}, 2: _ANY, 3: _ANY, 0: _ANY}, ((1, 1), (1, 2), (2,))
    ),
    _Format("a set of .proto descriptors", {1: _FILE_DESCRIPTOR}, ((1, 1), (1, 4, 1))),
    _Format("a .proto descriptor", _FILE_DESCRIPTOR, ((1,), (4, 1))),
)


def format_by_fields(source: Source) -> str | None:
    """Return the name of the format with its article; None if it is not one of the formats known here."""
    for known in _FORMATS:
        comparison = _Comparison(source)
        if comparison.fits(known.shape, 0, source.size, ()) and comparison.seen.issuperset(known.marks):
            return known.name
    return None


class _Comparison:
    """Compares the fields of a file with the layout of one format."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.seen: set[tuple[int, ...]] = set()
        """The paths of the fields so far, as numbers."""

    def fits(self, shape: _Layout, start: int, end: int, path: tuple[int, ...]) -> bool:
        """Return true if the first fields of the message at `path` match the layout."""
        records = wire.records(self._source, start, end)
        try:
            for number, wire_type, _, value, following in islice(records, _MAX_FIELDS):
                wanted, here = shape.get(number, shape.get(0)), (*path, number)
                if wanted is None or not self._is_field(wanted, wire_type, value, following, here):
                    return False
                self.seen.add(here)
        except WireError:
            return False
        return True

    def _is_field(self, wanted: Any, wire_type: int, start: int, end: int, path: tuple[int, ...]) -> bool:
        if wanted is _ANY:
            return True
        if wanted is _INT:
            return wire_type == WireType.VARINT
        if wanted is _FLOAT:
            return wire_type == WireType.FIXED32
        if wire_type != WireType.LEN:
            return False
        if wanted is _TEXT:
            return is_printable(self._source.read_at(start, min(end - start, _MAX_TEXT)))
        return self.fits(wanted, start, end, path)


def is_printable(data: bytes) -> bool:
    """Return true if the bytes are the beginning of readable text."""
    text = data.decode("utf-8", "ignore")
    # A character may be cut at the end.
    return text.isprintable() and len(data) - len(text.encode()) < 4
