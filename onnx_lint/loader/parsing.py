# SPDX-License-Identifier: Apache-2.0
"""Parses serialized messages, and tells whether one is written as Protocol Buffers writes it."""

from __future__ import annotations

from google.protobuf.message import DecodeError

from onnx_lint import schema
from onnx_lint.model import Model, Proto
from onnx_lint.model.documents import MODEL


def parse(data: bytes, kind: str = MODEL) -> Proto | None:
    """The message of this kind in `data`; None where Protocol Buffers cannot parse it."""
    try:
        return schema.message(kind).FromString(data)
    except (DecodeError, UnicodeDecodeError):  # the pure-Python parser raises the second for a string
        return None


def parse_regular(data: bytes) -> Proto | None:
    """The model in `data` with its nodes left as bytes, see onnx_lint.model.node_table; None where a field is odd.

    What is said of `is_canonical` holds for it, but for its nodes, which nobody has looked into yet.
    """
    try:
        proto = schema.outline(MODEL).FromString(data)
    except (DecodeError, UnicodeDecodeError):
        return None
    return proto if is_canonical(proto, data) else None


def is_canonical(proto: Proto, data: bytes) -> bool:
    """Whether `data` is exactly what writing `proto` gives, unknown fields left out, which are removed from it.

    Then there are no unknown fields, no wrong wire types and no singular field given twice, and the walk over every
    single field, which costs a hundred times as much, is not needed. Most writers write fields in ascending order.
    Of a message that nests deeply that is not certain, see `is_shallow`.
    """
    proto.DiscardUnknownFields()
    return bool(proto.SerializePartialToString() == data)


_SHALLOW = 10
"""Graphs or values inside one another: a graph is three messages further in than the one around it, and has a few more
in it."""


def is_shallow(model: Model) -> bool:
    """Whether no message of the model is further in than Protocol Buffers goes to remove unknown fields (64 deep)."""
    if max((graph.depth for graph in model.graphs), default=0) > _SHALLOW:
        return False
    return all(len(place.key) <= _SHALLOW for _, place in model.values())
