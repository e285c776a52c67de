# SPDX-License-Identifier: Apache-2.0
"""The kinds of attributes: the fields that are set and the sort of their contents, without names and values."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from onnx_lint.common.cached import Memory
from onnx_lint.ir.columns.tensor_encodings import is_evident
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES

VALUE_FIELD_OF_TYPE: Final[Mapping[int, str]] = MappingProxyType(
    {
        ATTRIBUTE_TYPE_CODES["FLOAT"]: "f",
        ATTRIBUTE_TYPE_CODES["INT"]: "i",
        ATTRIBUTE_TYPE_CODES["STRING"]: "s",
        ATTRIBUTE_TYPE_CODES["TENSOR"]: "t",
        ATTRIBUTE_TYPE_CODES["GRAPH"]: "g",
        ATTRIBUTE_TYPE_CODES["SPARSE_TENSOR"]: "sparse_tensor",
        ATTRIBUTE_TYPE_CODES["TYPE_PROTO"]: "tp",
        ATTRIBUTE_TYPE_CODES["FLOATS"]: "floats",
        ATTRIBUTE_TYPE_CODES["INTS"]: "ints",
        ATTRIBUTE_TYPE_CODES["STRINGS"]: "strings",
        ATTRIBUTE_TYPE_CODES["TENSORS"]: "tensors",
        ATTRIBUTE_TYPE_CODES["GRAPHS"]: "graphs",
        ATTRIBUTE_TYPE_CODES["SPARSE_TENSORS"]: "sparse_tensors",
        ATTRIBUTE_TYPE_CODES["TYPE_PROTOS"]: "type_protos",
    }
)
"""The field of AttributeProto that holds the value, for each number of the enum AttributeType but UNDEFINED."""

_VALUE_FIELDS: Final = frozenset(VALUE_FIELD_OF_TYPE.values())

_SPARSE_FIELDS: Final = frozenset({"sparse_tensor", "sparse_tensors"})


class AttributeKind:
    """A kind of attribute: type, fields and element types, no name and no values. Equal ones are mostly one object."""

    __slots__ = (
        "are_tensors_evident",
        "element_types",
        "fields",
        "is_documented",
        "is_named",
        "is_reference",
        "is_text",
        "type",
    )

    def __init__(
        self,
        type: int,
        fields: tuple[str, ...],
        is_named: bool,
        is_reference: bool,
        is_documented: bool,
        is_text: bool,
        element_types: frozenset[int],
        are_tensors_evident: bool,
    ) -> None:
        self.type = type
        """The stated type, even if the enum does not have the number; 0 if it is absent or UNDEFINED."""
        self.fields = fields
        """The value fields that are set."""
        self.is_named = is_named
        self.is_reference = is_reference
        """True if it refers to an attribute parameter of a function."""
        self.is_documented = is_documented
        self.is_text = is_text
        """True if all its strings are valid UTF-8; also if it has none."""
        self.element_types = element_types
        """The element types that its dense tensors state; 0 is among them if one states none."""
        self.are_tensors_evident = are_tensors_evident
        """True if its tensors, if any, are dense and evidently right, and have no annotations."""

    @property
    def is_usual(self) -> bool:
        """True if it has a name, one value of the stated type, and only valid text, and is not a reference."""
        has_one_value = self.fields == (VALUE_FIELD_OF_TYPE.get(self.type),)
        return has_one_value and self.is_named and self.is_text and not self.is_reference


_shared: Final[Memory[tuple[object, ...], AttributeKind]] = Memory(1_000)
"""The kinds by their contents."""


def attribute_kind(attribute: Any) -> AttributeKind:
    """The kind of an AttributeProto."""
    fields = value_fields(attribute)
    tensors = [attribute.t] if "t" in fields else []
    if "tensors" in fields:
        tensors += attribute.tensors
    texts = [attribute.s] if "s" in fields else []
    if "strings" in fields:
        texts += attribute.strings
    made_of = (
        attribute.type,
        fields,
        bool(attribute.name),
        bool(attribute.ref_attr_name),
        bool(attribute.doc_string),
        all(utf8_fault(text) is None for text in texts),
        frozenset([tensor.data_type for tensor in tensors]),
        all(map(is_evident, tensors)) and _SPARSE_FIELDS.isdisjoint(fields),
    )
    return _shared.get(made_of) or _shared.keep(made_of, AttributeKind(*made_of))


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
