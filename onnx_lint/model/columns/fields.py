# SPDX-License-Identifier: Apache-2.0
"""What is to be known of the fields of a TensorProto that say what it holds, and its dimensions above all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from onnx_lint.schema import Proto

MAX_INT64: Final = (1 << 63) - 1

EXTERNAL: Final = 1
"""TensorProto.DataLocation.EXTERNAL."""

TYPED_FIELDS: Final = ("float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")
"""The fields of a TensorProto for values of one kind each."""

_MAX_SHOWN_DIMENSIONS = 8


def element_count(dims: Proto) -> int | None:
    """The product of the dimensions; None where one is negative or the product is beyond 64 bits.

    Stops early: a hostile tensor may have a million dimensions.
    """
    if dims and min(dims) <= 0:
        return 0 if min(dims) == 0 else None
    count = 1
    for dim in dims:
        count *= dim
        if count > MAX_INT64:
            return None
    return count


def describe_shape(dims: Sequence[int]) -> str:
    """The dimensions as messages show them, such as `[2,3]`; of very many the first."""
    shown = [str(dim) for dim in dims[: _MAX_SHOWN_DIMENSIONS + 1]]
    if len(shown) > _MAX_SHOWN_DIMENSIONS:
        shown[-1] = "..."
    return f"[{','.join(shown)}]"
