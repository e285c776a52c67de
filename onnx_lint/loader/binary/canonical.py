# SPDX-License-Identifier: Apache-2.0
"""Parses serialized messages, and checks whether one is canonical: as Protocol Buffers writes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf.message import DecodeError

from onnx_lint import schema
from onnx_lint.ir.documents.kinds import MODEL_KIND, OPERATOR_SET_KIND
from onnx_lint.loader.binary.strip_payloads import Skeleton
from onnx_lint.model import Model, Proto


def parse(data: bytes, kind: str = MODEL_KIND) -> Proto | None:
    """Return the message of this kind in `data`; None if Protocol Buffers cannot parse it."""
    return _parsed(data, schema.message(kind))


def _parsed(data: bytes, message: Any) -> Proto | None:
    try:
        return message.FromString(data)
    except (DecodeError, UnicodeDecodeError) as error:  # the pure-Python parser raises the second for a string
        schema.raise_lack_of_memory(error)
        return None


def canonical_outline(skeleton: Skeleton) -> Proto | None:
    """Return the model in the skeleton, in outline; None unless everything except the nodes is canonical.

    Each piece is parsed once more and serialized. To serialize the whole message would take a buffer of its size, after
    several smaller ones.
    """
    # Messages that the outline has as bytes, except nodes, must be checked here: nothing checks them later.
    message, outline = schema.nodeless(MODEL_KIND), schema.outline(MODEL_KIND)
    if len(skeleton.copied) == 1:
        data = skeleton.data
        proto = _parsed(data, message)
        return outline.FromString(data) if proto is not None and is_canonical(proto, data) else None
    if skeleton.is_merged:
        return None
    whole = outline()
    given: set[str] = set()
    for data in skeleton.pieces():
        piece = _parsed(data, message)
        if piece is None or _gives_again(piece, given) or not is_canonical(piece, data):
            return None
        del piece  # its memory is what the next line needs
        whole.MergeFromString(data)
    return whole


def assemble(skeleton: Skeleton, kind: str) -> tuple[Proto | None, bool]:
    """Return the message of this kind in the skeleton, without unknown fields, and whether it is canonical.

    None if it cannot be parsed. For a model it is the outline, with bytes as Protocol Buffers writes them.
    """
    is_as_written = not skeleton.is_merged
    given: set[str] = set()
    whole = (schema.outline if kind == MODEL_KIND else schema.message)(kind)()
    for data in skeleton.pieces():
        piece = parse(data, kind)
        if piece is None:
            return None, False
        is_right = is_canonical(piece, data)
        is_as_written = is_as_written and not _gives_again(piece, given)
        if len(skeleton.copied) == 1 and kind != MODEL_KIND:
            return piece, is_as_written and _is_as_written(data, kind, is_right=is_right)
        # A field of a oneof that a document sets and then replaces clears what earlier pieces have of the other fields.
        known = data if is_right or kind != MODEL_KIND else piece.SerializePartialToString()
        del piece  # its memory is what the next lines need
        is_as_written = is_as_written and _is_as_written(data, kind, is_right=is_right)
        whole.MergeFromString(known)
    if kind != MODEL_KIND:
        whole.DiscardUnknownFields()
    return whole, is_as_written


def _is_as_written(data: bytes, kind: str, *, is_right: bool) -> bool:
    """Return whether Protocol Buffers writes the bytes of a piece so, apart from packed lists, and has no deep types.

    `is_right`: whether it is canonical.
    """
    has_deep_types = kind in _WITH_TYPES and may_nest(data)
    return not has_deep_types and (is_right or _is_packed(data, kind))


_WITH_TYPES = frozenset(
    {OPERATOR_SET_KIND, *("AttributeProto", "FunctionProto", "GraphProto", "NodeProto", "TypeProto", "ValueInfoProto")}
)
"""The kinds of documents, except models, that may contain types."""


def _gives_again(piece: Proto, given: set[str]) -> bool:
    """Return true if the piece has a singular field that is in `given`; its own fields are added to `given`."""
    names = set(_singular_names(piece))
    is_again = not given.isdisjoint(names)
    given |= names
    return is_again


def _singular_names(proto: Proto) -> Iterator[str]:
    """Yield the singular fields and oneofs in use; of a graph, which may be in several pieces, the fields in it."""
    for field, value in proto.ListFields():
        if hasattr(value, "initializer"):
            yield from (f"{field.name}.{name}" for name in _singular_names(value))
        elif not hasattr(value, "extend"):
            yield (field.containing_oneof or field).name


def is_canonical(proto: Proto, data: bytes) -> bool:
    """Return true if `data` is exactly the serialized `proto` without its unknown fields, which are removed from it.

    Then there are no unknown fields, no wrong wire types and no repeated singular field, and the walk over every single
    field is not needed (docs/performance.md: canonical). Most writers write fields in ascending order. For a message
    with deep nesting the result is not certain, see `is_shallow`.
    """
    proto.DiscardUnknownFields()
    return bool(proto.SerializePartialToString() == data)


def _is_packed(data: bytes, kind: str) -> bool:
    """Return true if `data` is a canonical message of this kind except that all lists of numbers are packed."""
    proto = _parsed(data, schema.packed(kind))
    return proto is not None and is_canonical(proto, data)


_SHALLOW = 10
"""Graphs, types or values inside one another: a graph is three messages further in than the one around it, and has a
few more in it."""


def is_shallow(model: Model) -> bool:
    """Return true if no message of the model is deeper than Protocol Buffers removes unknown fields (64 levels)."""
    graphs = model.graphs
    if len(graphs) > _SHALLOW and max([graph.depth for graph in graphs]) > _SHALLOW:
        return False
    types = {each for graph in graphs for infos in graph.value_infos.values() for each in infos.types}
    return not any(map(may_nest, types)) and all(len(place.key) <= _SHALLOW for _, place in model.values)


def may_nest(data: bytes) -> bool:
    """Return true if types may nest deeply in a serialized message.

    Each level has a byte with the tag of its content.
    """
    return len(data) > _LEAST_NESTED and sum(map(data.count, _NESTED_TYPES)) > _SHALLOW


_NESTED_TYPES = (b"\x22", b"\x2a", b"\x4a")
"""The tags of a sequence, a map and an optional in a TypeProto."""

_LEAST_NESTED = 4 * _SHALLOW
"""A type in another one takes at least four bytes: two tags and two lengths."""
