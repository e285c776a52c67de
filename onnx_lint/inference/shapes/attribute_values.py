# SPDX-License-Identifier: Apache-2.0
"""The values of a node's attributes for shape rules, each read at its first use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from onnx_lint.inference.shapes.fact import Fact
from onnx_lint.inference.shapes.operands import AttributeValue, LongValue
from onnx_lint.inference.shapes.stated import fact_of_sparse, fact_of_tensor, fact_of_type
from onnx_lint.inference.types.argument import Protos
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES, OperatorSchema
from onnx_lint.spec.operators.attribute_values import RUNTIME_DOMAIN

_NAMES: Final = {code: name for name, code in ATTRIBUTE_TYPE_CODES.items()}


_LISTS: Final = frozenset({"ints", "floats", "strings"})

_READ_FLOATS: Final = frozenset({"Constant", "GRU", "Imputer", "LSTM", "RNN", "Upsample"})
"""The only operators of ONNX whose attributes of type FLOAT may be faulty, or decide a type, a shape or an element."""


def reads_floats(schema: OperatorSchema) -> bool:
    """Return whether attributes of type FLOAT may be faulty, or decide a type, a shape or an element.

    Those of com.microsoft decide nothing, and are faulty only if the record of the operator requires something of them.
    """
    if schema.domain != RUNTIME_DOMAIN:
        return schema.name in _READ_FLOATS
    from onnx_lint.spec.operators.records import record_of

    record = record_of(schema.name)
    required = {*record.attributes, *record.advised} if record is not None else set[str]()
    return any(each.type == "FLOAT" and name in required for name, each in schema.attributes.items())


READ_FLOAT_ELEMENTS: Final = frozenset(
    {
        *("BeamSearch", "Bernoulli", "Dropout", "GreedySearch", "NonMaxSuppression", "NonZero", "OneHot", "Range"),
        *("QLinearConcat", "QLinearSoftmax", "Resize", "Sampling", "Split", "Upsample"),
    }
)
"""The only operators whose shape rules read an operand whose elements may be floating-point numbers."""


class AttributeValues(Mapping[str, AttributeValue]):
    """The attributes of a node by their names."""

    __slots__ = ("_protos", "_values")

    def __init__(self, protos: Mapping[str, Any]) -> None:
        self._protos = protos
        self._values: dict[str, AttributeValue] = {}

    def __getitem__(self, name: str) -> AttributeValue:
        """Return the value of an attribute."""
        if name not in self._values:
            value = _value(self._protos[name])
            if value is None:
                raise KeyError(name)
            if isinstance(value, Fact) and value.wide_bytes:
                return value  # only the values that a walk keeps are counted
            self._values[name] = value
        return self._values[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of an attribute, or `default`."""
        found = self._values.get(name)
        return super().get(name, default) if found is None else found

    def __contains__(self, name: object) -> bool:
        """Return whether the node gives the attribute."""
        return name in self._protos

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self._protos)

    def __len__(self) -> int:
        """Return the number of attributes."""
        return len(self._protos)


def attribute_values(protos: Sequence[Any], schema: OperatorSchema, bound: Protos | None) -> AttributeValues | None:
    """Return the attributes of a node. `bound`: those of the call of the enclosing function.

    Returns None if one is unknown, has another type than in the signature, or is given twice: shapes are not inferred
    then.
    """
    found: dict[str, Any] = {}
    for proto in protos:
        given = proto
        if proto.ref_attr_name:
            if bound is None or proto.ref_attr_name not in bound:
                # The call omits the parameter, and with it the attribute.
                continue
            given = bound[proto.ref_attr_name]
        declared = schema.attributes.get(proto.name)
        if given is None or proto.name in found or (declared is not None and declared.type_code != given.type):
            return None
        if not schema.domain and schema.name != "Constant" and _longest(given) > _MAX_LISTED:
            return None
        found[proto.name] = given
    # A call may omit an attribute that the operator requires, which is another finding.
    is_complete = len(found) == len(protos) or all(name in found for name in _required(schema))
    return AttributeValues(found) if is_complete else None


def _required(schema: OperatorSchema) -> Iterator[str]:
    return (name for name, each in schema.attributes.items() if each.required)


_MAX_LISTED: Final = 1_000_000
"""The longest list that is read. A longer one cannot be a list of axes or sizes; only its length is used."""


def _longest(proto: Any) -> int:
    field = _NAMES.get(proto.type, "").lower()
    return len(getattr(proto, field)) if field in _LISTS else 0


def _list(values: Sequence[Any]) -> tuple[Any, ...] | LongValue:
    return LongValue(len(values)) if len(values) > _MAX_LISTED else tuple(values)


def _decoded(text: bytes) -> str:
    return bytes(text).decode("utf-8", "replace")


def _value(proto: Any) -> AttributeValue | None:
    match _NAMES.get(proto.type):
        case "INT":
            return int(proto.i)
        case "FLOAT":
            return float(proto.f)
        case "STRING":
            return _decoded(proto.s)
        case "INTS":
            return _list(proto.ints)
        case "FLOATS":
            return _list(proto.floats)
        case "STRINGS":
            found = _list(proto.strings)
            return found if isinstance(found, LongValue) else tuple([_decoded(text) for text in found])
        case "TENSOR":
            return fact_of_tensor(proto.t)
        case "SPARSE_TENSOR":
            return fact_of_sparse(proto.sparse_tensor)
        case "TYPE_PROTO":
            return fact_of_type(proto.tp)
        case _:
            return None
