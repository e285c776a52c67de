# SPDX-License-Identifier: Apache-2.0
"""Tells which message of ONNX a serialized file looks like, by the fields at its top."""

from __future__ import annotations

from itertools import islice

from onnx_lint.model import Fault, FaultKind
from onnx_lint.model.place import ROOT
from onnx_lint.schema import wire
from onnx_lint.schema.wire import WireError
from onnx_lint.source import Source

_FITTED_FIELDS = 20_000
"""How many fields are looked at to tell which message a file holds."""

_CANDIDATES = (
    "GraphProto",
    "FunctionProto",
    "NodeProto",
    "TensorProto",
    "SparseTensorProto",
    "ValueInfoProto",
    "TypeProto",
    "AttributeProto",
    "OperatorSetProto",
    "SequenceProto",
    "MapProto",
    "OptionalProto",
)
"""The other messages of ONNX that are written to files of their own."""


def another_message(source: Source) -> Fault | None:
    """The fault of a file whose fields are those of another message of ONNX and not those of ModelProto."""
    if is_a_model(source):
        return None
    fitting = candidates(source)
    if not fitting:
        return None
    message = f"the file is no ModelProto; its fields are those of {' or '.join(fitting)}"
    return Fault(FaultKind.NOT_A_MODEL, ROOT, message, offset=0)


def candidates(source: Source) -> list[str]:
    """The messages other than a model whose fields the file has, as far as the top tells."""
    return [message for message in _CANDIDATES if _fits(source, message)]


def is_a_model(source: Source) -> bool:
    """Whether the file has the fields of a model, or holds what a graph may hold where a model has its graph."""
    return _fits(source, "ModelProto") or _holds_graph(source)


def _holds_graph(source: Source) -> bool:
    """Whether field `graph` is there and holds what a GraphProto may hold: then a model is what was meant."""
    graph = wire.fields_by_name("ModelProto")["graph"]
    try:
        for number, wire_type, _, value, following in wire.records(source, 0, source.size):
            if number == graph.number and wire_type == graph.wire_type and following > value:
                return _fits(source, "GraphProto", value, following)
    except WireError:
        pass  # what cannot be split holds nothing
    return False


def _fits(source: Source, message: str, start: int = 0, end: int | None = None) -> bool:
    """Whether each field from `start` to `end` is one that `message` declares, with the right wire type.

    Of a longer message the first fields decide: what a file is meant to be shows early, and this is asked of several.
    """
    fields = wire.fields(message)
    records = wire.records(source, start, source.size if end is None else end)
    try:
        for number, wire_type, *_ in islice(records, _FITTED_FIELDS):
            known = fields.get(number)
            if known is None or not known.accepts(wire_type):
                return False
    except WireError:
        return False
    return True
