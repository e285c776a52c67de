# SPDX-License-Identifier: Apache-2.0
"""The values that ONNX operators allow for an attribute.

A schema has the type of an attribute, not its values. The values here come from the descriptions of the attributes, one
row of `attribute_value_rows` for each set; those of com.microsoft are in `onnx_lint.spec.operators.records`. Sets that
depend on more than the operator's version are left out.

If a description is ambiguous, the table allows every reading: Upsample-7 and Resize-10 have "linear (including
bilinear, trilinear, etc)", which can be read as further values.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from onnx_lint.spec.element_types import ELEMENT_TYPE_NAMES
from onnx_lint.spec.operators.schema import OperatorSchema

if TYPE_CHECKING:
    from onnx_lint.spec.operators.attribute_value_rows import ValueRow
    from onnx_lint.spec.operators.records import OperatorRecord

RUNTIME_DOMAIN: Final = "com.microsoft"
"""The domain whose operators have records."""

_ELEMENT_TYPE_OF_OUTPUT: Final[Mapping[tuple[str, str], int]] = {
    ("Bernoulli", "dtype"): 0,
    ("BitCast", "to"): 0,
    ("BlackmanWindow", "output_datatype"): 0,
    ("Cast", "to"): 0,
    ("DequantizeLinear", "output_dtype"): 0,
    ("EyeLike", "dtype"): 0,
    ("HammingWindow", "output_datatype"): 0,
    ("HannWindow", "output_datatype"): 0,
    ("LayerNormalization", "stash_type"): 1,
    ("MelWeightMatrix", "output_datatype"): 0,
    ("Multinomial", "dtype"): 0,
    ("QuantizeLinear", "output_dtype"): 0,
    ("RandomNormal", "dtype"): 0,
    ("RandomNormalLike", "dtype"): 0,
    ("RandomUniform", "dtype"): 0,
    ("RandomUniformLike", "dtype"): 0,
    ("SequenceEmpty", "dtype"): 0,
}
"""Attributes of the default domain that hold the element type of an output, whose types the signature lists."""

_STASH_TYPE_OF_RANGE: Final = ("", "Range", "stash_type")
"""An attribute with an element type that has no list of types in the signature."""

AllowedValues = frozenset[str | int]
"""Strings for attributes of type STRING and STRINGS, numbers for INT and INTS."""


def allowed_values(schema: OperatorSchema, attribute: str) -> AllowedValues | None:
    """Return the values that an operator allows for an attribute of type STRING, STRINGS, INT or INTS.

    For a list, each element must have one of the values. Returns None if any value is allowed, or if the documentation
    does not list them. Numbers of element types are those of TensorProto.DataType.
    """
    declared = schema.attributes.get(attribute)
    if declared is None:
        return None
    if not schema.domain and (schema.name, attribute) in _ELEMENT_TYPE_OF_OUTPUT:
        return _element_types(schema, attribute)
    if schema.domain == RUNTIME_DOMAIN:
        return _recorded(schema.name, attribute)
    row = _row(schema, attribute)
    return frozenset(row.values) if row is not None else None


def _record(operator: str) -> OperatorRecord | None:
    """Return the record of an operator of com.microsoft."""
    from onnx_lint.spec.operators.records import record_of

    return record_of(operator)


def _recorded(operator: str, attribute: str) -> AllowedValues | None:
    """Return the values of an attribute of an operator of com.microsoft, if its record lists them."""
    record = _record(operator)
    if record is None:
        return None
    values = record.values.get(attribute) or record.flags.get(attribute)
    return frozenset(values) if values is not None else None


def _row(schema: OperatorSchema, attribute: str) -> ValueRow | None:
    """Return the row of an attribute for the version of its operator."""
    rows = _table().get((schema.domain, schema.name, attribute), ())
    return next((row for row in rows if row.first <= schema.since_version <= row.last), None)


@cache
def _table() -> Mapping[tuple[str, str, str], list[ValueRow]]:
    """Return the rows of each attribute, by domain, operator and name."""
    from onnx_lint.spec.operators.attribute_value_rows import ROWS

    found: dict[tuple[str, str, str], list[ValueRow]] = {}
    for row in ROWS:
        for operator in row.operators:
            found.setdefault((row.domain, operator, row.attribute), []).append(row)
    return found


def _element_types(schema: OperatorSchema, attribute: str) -> AllowedValues:
    """Return the element types of an output, or of the tensors in a sequence, as the attribute has them."""
    output = schema.outputs[_ELEMENT_TYPE_OF_OUTPUT[schema.name, attribute]]
    codes = {
        code
        for code, name in enumerate(ELEMENT_TYPE_NAMES, 1)
        if f"tensor({name})" in output.types or f"seq(tensor({name}))" in output.types
    }
    if schema.attributes[attribute].type == "STRING":
        # Cast of version 1 names the element type, later versions number it.
        return frozenset(element_type_name(code) for code in codes)
    if schema.attributes[attribute].default == 0:
        # Zero, the undefined element type, means that the attribute is not given.
        codes.add(0)
    return frozenset(codes)


def is_flag(schema: OperatorSchema, attribute: str) -> bool:
    """Return whether an attribute is a flag, see `attribute_value_rows`."""
    if schema.domain == RUNTIME_DOMAIN:
        record = _record(schema.name)
        return record is not None and attribute in record.flags
    row = _row(schema, attribute)
    return row is not None and row.is_flag


def holds_output_element_type(schema: OperatorSchema, attribute: str) -> bool:
    """Return whether the attribute holds the element type of an output."""
    return not schema.domain and (schema.name, attribute) in _ELEMENT_TYPE_OF_OUTPUT


def holds_element_type(schema: OperatorSchema, attribute: str) -> bool:
    """Return whether the attribute holds the element type of an output or of an intermediate result."""
    if schema.domain == RUNTIME_DOMAIN:
        record = _record(schema.name)
        return record is not None and attribute in record.element_types
    if holds_output_element_type(schema, attribute) or (schema.domain, schema.name, attribute) == _STASH_TYPE_OF_RANGE:
        return True
    row = _row(schema, attribute)
    return row is not None and row.is_precision


def element_type_name(code: int) -> str:
    """Return the name of an element type in TensorProto.DataType; the number itself if it has none."""
    return ELEMENT_TYPE_NAMES[code - 1].upper() if 0 < code <= len(ELEMENT_TYPE_NAMES) else str(code)
