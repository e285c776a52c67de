# SPDX-License-Identifier: Apache-2.0
"""The facts that the value infos of a graph state, in columns: see onnx_lint.ir.columns.initializers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, islice
from typing import Any, Final

from onnx_lint import schema
from onnx_lint.common.record import Record
from onnx_lint.ir.columns.gather import CHUNK
from onnx_lint.schema import Proto


class ValueInfoColumns(Record):
    """The value infos in one list of a graph."""

    names: list[str]
    types: list[bytes]
    """The serialized TypeProtos; empty for a value info without one."""
    annotated: list[int]
    """The indices of those with documentation or metadata: in most graphs none."""


NO_VALUE_INFOS: Final = ValueInfoColumns([], [], [])

_NONE_OF_FUNCTION: Final = {"value_info": NO_VALUE_INFOS}
"""The columns of functions without value infos, as most functions are; one object for all of them."""


def value_infos_of(proto: Proto, *, is_function: bool) -> dict[str, ValueInfoColumns]:
    """Return the columns of the inputs, the outputs and the value_info of a GraphProto; a FunctionProto has the last
    only.
    """
    if is_function and not proto.value_info:
        return _NONE_OF_FUNCTION
    lists: dict[str, Sequence[bytes]] = {}
    if not is_function:
        lists["input"] = [value.SerializePartialToString() for value in proto.input]
        lists["output"] = [value.SerializePartialToString() for value in proto.output]
    lists["value_info"] = proto.value_info
    return columns_of(lists)


def columns_of(lists: Mapping[str, Sequence[bytes]]) -> dict[str, ValueInfoColumns]:
    """Return the columns of these lists of serialized ValueInfoProtos.

    They are read together, as most of them are short.
    """
    names: list[str] = []
    types: list[bytes] = []
    shared: dict[bytes, bytes] = {}
    are_annotated = False
    pieces = chain.from_iterable(lists.values())
    while chunk := list(islice(pieces, CHUNK)):
        merged = schema.columns("ValueInfoProto").FromString(b"".join(chunk))
        found_names, found_types = merged.name[:], merged.type[:]
        if len(found_names) == len(found_types) == len(chunk):
            names += found_names
            types += map(shared.setdefault, found_types, found_types)
        else:
            protos = list(map(_parsed, chunk))
            names += [proto.name for proto in protos]
            types += [proto.type.SerializePartialToString() for proto in protos]
        are_annotated = are_annotated or bool(merged.doc_string or merged.metadata_props)
    if not names:
        return dict.fromkeys(lists, NO_VALUE_INFOS)
    found: dict[str, ValueInfoColumns] = {}
    start = 0
    for role, own in lists.items():
        end = start + len(own)
        annotated = _annotated(own) if are_annotated else []
        found[role] = ValueInfoColumns(names[start:end], types[start:end], annotated) if own else NO_VALUE_INFOS
        start = end
    return found


def _annotated(pieces: Sequence[bytes]) -> list[int]:
    protos = enumerate(map(_parsed, pieces))
    return [index for index, proto in protos if proto.doc_string or proto.metadata_props]


def _parsed(piece: bytes) -> Any:
    return schema.message("ValueInfoProto").FromString(piece)
