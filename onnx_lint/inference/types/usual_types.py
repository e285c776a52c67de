# SPDX-License-Identifier: Apache-2.0
"""Types that few rules check, recognized by their serialized form.

Nearly all types of nearly all models are such, and a thousand models have a few hundred of them between them: the
result for one is kept for the next model.
"""

from __future__ import annotations

from typing import Final

from onnx_lint import schema
from onnx_lint.common.cached import remembered
from onnx_lint.common.record import Record
from onnx_lint.ir.names.declarations import TENSOR_KINDS
from onnx_lint.spec.element_types import ELEMENT_TYPES
from onnx_lint.spec.ir_versions import FROM_THE_START

_OLD_ELEMENT_TYPES: Final = frozenset(
    [number for number, element in ELEMENT_TYPES.items() if element.since == FROM_THE_START]
)
"""The numbers of the element types that are as old as the format."""

_MAX_KEPT_BYTES: Final = 128
"""The longest type to keep; a longer one hardly ever recurs."""


class TypeTraits(Record):
    """The quick facts about a TypeProto, or an absent one."""

    is_usual: bool
    """True if the type is absent or usual.

    A usual type is a tensor type with an element type as old as the format, sizes of at least 0, variables with valid
    names, and no denotation.
    """
    has_rank: bool
    """True if it states the number of dimensions, or has a kind without dimensions."""
    has_plain_variables: bool
    """True if it is usual and all its variables are C90 identifiers."""


def traits_of(serialized: bytes) -> TypeTraits:
    """Return the quick facts about a type by its serialized form."""
    return _kept(serialized) if len(serialized) <= _MAX_KEPT_BYTES else _traits(serialized)


def _traits(serialized: bytes) -> TypeTraits:
    proto = schema.opened("TypeProto", serialized)
    kind = proto.WhichOneof("value")
    has_rank = kind is not None and (kind not in TENSOR_KINDS or getattr(proto, kind).HasField("shape"))
    if proto.denotation or kind != "tensor_type":
        return TypeTraits(not serialized, has_rank, not serialized)
    dims = proto.tensor_type.shape.dim
    is_usual = proto.tensor_type.elem_type in _OLD_ELEMENT_TYPES and not any(
        dimension.dim_value < 0
        or dimension.denotation
        or (dimension.HasField("dim_param") and dimension.dim_param in ("", "*"))
        for dimension in dims
    )
    are_plain = all(name.isidentifier() and name.isascii() for name in [each.dim_param for each in dims] if name)
    return TypeTraits(is_usual, has_rank, is_usual and are_plain)


_kept = remembered(4_096)(_traits)
