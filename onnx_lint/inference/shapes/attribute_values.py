# SPDX-License-Identifier: Apache-2.0
"""The values of a node's attributes for shape rules, each read when a rule first asks for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from onnx_lint.inference.shapes.operands import Argument
from onnx_lint.inference.shapes.stated import fact_of_sparse, fact_of_tensor, fact_of_type
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES, OperatorSchema

Protos = Mapping[str, Any]
"""The AttributeProtos for the attribute parameters of a function; None for one of which nothing is known."""

_NAMES: Final = {code: name for name, code in ATTRIBUTE_TYPE_CODES.items()}


class AttributeValues(Mapping[str, Argument]):
    """The attributes of a node by their names."""

    __slots__ = ("_protos", "_values")

    def __init__(self, protos: Mapping[str, Any]) -> None:
        self._protos = protos
        self._values: dict[str, Argument] = {}

    def __getitem__(self, name: str) -> Argument:
        """The value of an attribute."""
        if name not in self._values:
            value = _value(self._protos[name])
            if value is None:
                raise KeyError(name)
            self._values[name] = value
        return self._values[name]

    def __contains__(self, name: object) -> bool:
        """Whether the node gives the attribute."""
        return name in self._protos

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._protos)

    def __len__(self) -> int:
        """The number of attributes."""
        return len(self._protos)


def attribute_values(protos: Sequence[Any], schema: OperatorSchema, bound: Protos | None) -> AttributeValues | None:
    """The attributes of a node; `bound` are those of the call of the function around it.

    None where one is not known, or not of the type of the signature, or given twice: the shapes are not to be told.
    """
    found: dict[str, Any] = {}
    for proto in protos:
        given = proto
        if proto.ref_attr_name:
            if bound is None or proto.ref_attr_name not in bound:
                # The call leaves the parameter out, and with it the attribute.
                continue
            given = bound[proto.ref_attr_name]
        declared = schema.attributes.get(proto.name)
        if given is None or proto.name in found or (declared is not None and declared.type_code != given.type):
            return None
        found[proto.name] = given
    if len(found) < len(protos) and any(
        each.required and name not in found for name, each in schema.attributes.items()
    ):
        # A call leaves out what the operator cannot do without, which has a finding of its own.
        return None
    return AttributeValues(found)


def _value(proto: Any) -> Argument | None:
    match _NAMES.get(proto.type):
        case "INT":
            return int(proto.i)
        case "FLOAT":
            return float(proto.f)
        case "STRING":
            return bytes(proto.s).decode("utf-8", "replace")
        case "INTS":
            return tuple(proto.ints)
        case "FLOATS":
            return tuple(proto.floats)
        case "STRINGS":
            return tuple([bytes(text).decode("utf-8", "replace") for text in proto.strings])
        case "TENSOR":
            return fact_of_tensor(proto.t)
        case "SPARSE_TENSOR":
            return fact_of_sparse(proto.sparse_tensor)
        case "TYPE_PROTO":
            return fact_of_type(proto.tp)
        case _:
            return None
