# SPDX-License-Identifier: Apache-2.0
"""The kinds of attributes: the fields that are set and the sort of their contents, without names and values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isnan
from types import MappingProxyType
from typing import Any, Final

from onnx_lint.common.cached import Memory
from onnx_lint.common.record import Record
from onnx_lint.ir.columns.tensor_encodings import is_evident, may_be_nan
from onnx_lint.spec.element_types import ELEMENT_TYPES
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES

_SHORT: Final = {"FLOAT": "f", "INT": "i", "STRING": "s", "TENSOR": "t", "GRAPH": "g", "TYPE_PROTO": "tp"}

VALUE_FIELD_OF_TYPE: Final[Mapping[int, str]] = MappingProxyType(
    {code: _SHORT.get(name, name.lower()) for name, code in ATTRIBUTE_TYPE_CODES.items()}
)
"""The field of AttributeProto that holds the value, for each number of the enum AttributeType but UNDEFINED."""

_VALUE_FIELDS: Final = frozenset(VALUE_FIELD_OF_TYPE.values())

FLOAT_KINDS: Final = frozenset({1, 6})
"""The types FLOAT and FLOATS of attributes."""

_NO_TYPE: Final = -1
"""Files may use any number for an unknown type. Hashes of sets of a few known numbers do not collide."""

_SPARSE_FIELDS: Final = frozenset({"sparse_tensor", "sparse_tensors"})


class AttributeKind(Record):
    """A kind of attribute: type, fields and element types, no name and no values. Equal ones are mostly one object."""

    type: int
    """The stated type, even if the enum does not have the number; 0 if it is absent or UNDEFINED."""
    fields: tuple[str, ...]
    """The value fields that are set."""
    is_named: bool
    is_reference: bool
    """True if it refers to an attribute parameter of a function."""
    is_documented: bool
    is_text: bool
    """True if all its strings are valid UTF-8; also if it has none."""
    element_types: frozenset[int]
    """The element types that its dense tensors state; -1 is among them if one states none, or an unknown one."""
    are_tensors_evident: bool
    """True if its tensors, if any, are dense and evidently right, and have no annotations."""
    may_be_nan: bool
    """False if its numbers, and those of its dense tensors in the message, evidently are no NaN."""

    __eq__ = object.__eq__  # as fast as possible
    __hash__ = object.__hash__

    @property
    def is_usual(self) -> bool:
        """True if it has a name, one value of the stated type, and only valid text, and is not a reference."""
        has_one_value = self.fields == (VALUE_FIELD_OF_TYPE.get(self.type),)
        return has_one_value and self.is_named and self.is_text and not self.is_reference


_shared: Final[Memory[tuple[object, ...], AttributeKind]] = Memory(1_000)
"""The kinds by their contents."""


def attribute_kind(attribute: Any) -> AttributeKind:
    """The kind of an AttributeProto."""
    # All fields are read at once.
    given = {field.name: value for field, value in attribute.ListFields()}
    tensors = _values(given, "t", "tensors")
    texts = _values(given, "s", "strings")
    made_of = (
        given.get("type", 0),
        tuple([name for name in given if name in _VALUE_FIELDS]),
        bool(given.get("name")),
        bool(given.get("ref_attr_name")),
        bool(given.get("doc_string")),
        not texts or all(utf8_fault(text) is None for text in texts),
        frozenset([each if (each := tensor.data_type) in ELEMENT_TYPES else _NO_TYPE for tensor in tensors]),
        all(map(is_evident, tensors)) and _SPARSE_FIELDS.isdisjoint(given),
        any(map(isnan, _values(given, "f", "floats"))) or any(map(_may_have_nan, tensors)),
    )
    return _shared.get(made_of) or _shared.keep(made_of, AttributeKind(*made_of))


def _may_have_nan(tensor: Any) -> bool:
    return may_be_nan(tensor, tensor.raw_data)


def _values(given: Mapping[str, Any], single: str, several: str) -> Sequence[Any]:
    """Return the values of a singular field and of a list."""
    values: Sequence[Any] = given.get(several, ())
    return (given[single], *values) if single in given else values


def value_fields(attribute: Any) -> tuple[str, ...]:
    """Return the value fields of an AttributeProto that are set: present singular fields and lists with elements."""
    return tuple(field.name for field, _ in attribute.ListFields() if field.name in _VALUE_FIELDS)


def utf8_fault(value: bytes) -> int | None:
    """Return the index of the first byte of `value` that is not valid UTF-8; None if all of it is valid."""
    try:
        value.decode()
    except UnicodeDecodeError as error:
        return error.start
    return None
