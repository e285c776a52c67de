# SPDX-License-Identifier: Apache-2.0
"""The facts that the value infos of a graph state, in columns: no message of a value info is kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from onnx_lint import schema
from onnx_lint.common.record import Record
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
    """Return the columns of the inputs, outputs and value_info of a GraphProto; a FunctionProto has only the last."""
    if is_function and not proto.value_info:
        return _NONE_OF_FUNCTION
    shared: dict[bytes, bytes] = {}
    lists = (
        {} if is_function else {"input": columns_of(proto.input, shared), "output": columns_of(proto.output, shared)}
    )
    parsed = schema.message("ValueInfoProto").FromString
    lists["value_info"] = columns_of(map(parsed, proto.value_info), shared) if proto.value_info else NO_VALUE_INFOS
    return lists


def columns_of(protos: Iterable[Proto], shared: dict[bytes, bytes]) -> ValueInfoColumns:
    """Return the columns of these ValueInfoProtos. `shared`: the types so far; equal ones become one object."""
    found = ValueInfoColumns([], [], [])
    for index, proto in enumerate(protos):
        kind = proto.type.SerializePartialToString()
        found.names.append(proto.name)
        found.types.append(shared.setdefault(kind, kind))
        if proto.doc_string or proto.metadata_props:
            found.annotated.append(index)
    return found if found.names else NO_VALUE_INFOS
