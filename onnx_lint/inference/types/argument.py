# SPDX-License-Identifier: Apache-2.0
"""The parts of attribute values that types depend on: hashable, with references to function parameters resolved."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from onnx_lint.common.salted import salted_text
from onnx_lint.inference.types.type_string import TENSORS, from_proto, tensor_of
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES

_INT: Final = ATTRIBUTE_TYPE_CODES["INT"]
_STRING: Final = ATTRIBUTE_TYPE_CODES["STRING"]
_TENSOR: Final = ATTRIBUTE_TYPE_CODES["TENSOR"]
_SPARSE_TENSOR: Final = ATTRIBUTE_TYPE_CODES["SPARSE_TENSOR"]
_TYPE_PROTO: Final = ATTRIBUTE_TYPE_CODES["TYPE_PROTO"]
_LISTS: Final[Mapping[int, str]] = {
    ATTRIBUTE_TYPE_CODES["FLOATS"]: "floats",
    ATTRIBUTE_TYPE_CODES["INTS"]: "ints",
    ATTRIBUTE_TYPE_CODES["STRINGS"]: "strings",
}


# A NamedTuple class compiles its annotations; the first compilation in a run takes a millisecond.
_Fields = NamedTuple("_Fields", [("kind", int), ("value", int | bytes | str | bool | None)])  # noqa: UP014 - as above


class Argument(_Fields):
    """The part of an attribute's value that decides types.

    The kind is a number of the enum AttributeProto.AttributeType, 0 if the value exists but is unknown. The value is
    the number of an INT, as a text if no element type has it, the bytes of a STRING, the type of a TENSOR,
    SPARSE_TENSOR or TYPE_PROTO, for a list whether it has elements, and None for the other kinds.
    """

    __slots__ = ()

    @property
    def integer(self) -> int | None:
        """The number of an INT."""
        return int(self.value) if self.kind == _INT and isinstance(self.value, int | str) else None

    @property
    def text(self) -> str | None:
        """The text of a STRING."""
        return self.value.decode("utf-8", "replace") if isinstance(self.value, bytes) else None

    @property
    def type(self) -> str | None:
        """The type of a TENSOR, SPARSE_TENSOR or TYPE_PROTO."""
        return self.value if self.kind != _INT and isinstance(self.value, str) else None


UNKNOWN: Final = Argument(0, None)
"""An argument with an unknown value: the parameter of a function that is never called."""

_TENSOR_ARGUMENTS: Final[Mapping[int, Argument]] = {
    code: Argument(_TENSOR, kind) for code, kind in enumerate(TENSORS) if kind is not None
}

_INTEGER_ARGUMENTS: Final[Mapping[int, Argument]] = {code: Argument(_INT, code) for code in range(len(TENSORS))}
"""The numbers of element types: most integers that types depend on are among them."""

Protos = Mapping[str, Any]
"""The AttributeProtos for the attribute parameters of a function; None for an unknown one."""

Arguments = tuple[tuple[str, Argument], ...]
"""Attribute names with their values, in the order of the node."""


def read_arguments(protos: Iterable[Any], names: frozenset[str], bound: Protos | None) -> Arguments:
    """Return the arguments with one of the names. `bound`: the attributes of the call of the enclosing function."""
    known: Arguments = ()
    for attribute in protos:
        # Most nodes have none or one of the names: no list is made for these.
        if (name := attribute.name) in names:
            parameter = attribute.ref_attr_name if bound is not None else ""
            if not parameter:
                known += ((name, argument_of(attribute)),)
            elif bound is not None and parameter in bound:
                known += ((name, UNKNOWN if bound[parameter] is None else argument_of(bound[parameter])),)
    return known


def argument_of(attribute: Any) -> Argument:
    """Return the argument for an AttributeProto with a value."""
    kind = attribute.type
    if kind == _TENSOR:
        return _TENSOR_ARGUMENTS.get(attribute.t.data_type, UNKNOWN)
    if kind == _INT:
        return _INTEGER_ARGUMENTS.get(attribute.i) or Argument(kind, salted_text(attribute.i))
    if kind == _STRING:
        return Argument(kind, attribute.s)
    if kind in _LISTS:
        return Argument(kind, len(getattr(attribute, _LISTS[kind])) > 0)
    if kind == _TYPE_PROTO:
        return Argument(kind, from_proto(attribute.tp))
    if kind == _SPARSE_TENSOR:
        return Argument(kind, tensor_of(attribute.sparse_tensor.values.data_type))
    return Argument(kind, None)
