# SPDX-License-Identifier: Apache-2.0
"""The tensors that ONNX Runtime refuses if it reads them. It may remove a tensor before it reads it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from math import prod
from typing import TYPE_CHECKING, Final

from onnx_lint.engine.targets.unjudged_kinds import UnjudgedKind
from onnx_lint.model import Model, StoredTensor
from onnx_lint.refusals.operands import is_in_main_graph
from onnx_lint.spec.element_types import MAX_INT64, DataType

if TYPE_CHECKING:
    from onnx_lint.ir.tensors.sparse import StoredSparseTensor


def _count_packed_sparse_tensors(model: Model) -> int:
    return sum(_is_packed(each.values) for each in model.tensors.sparse)


def _is_packed(values: StoredTensor | None) -> bool:
    """Return whether elements are strings, or may take less than a byte."""
    return values is not None and (values.proto.data_type == DataType.STRING or values.proto.data_type > _LAST_OF_BYTES)


_LAST_OF_BYTES: Final = 20
"""The number of FLOAT8E5M2FNUZ in the enum DataType. Those that came later include types of less than a byte."""


def _count_unusual_sparse_tensors(model: Model) -> int:
    return sum(map(_is_unusual, model.tensors.sparse))


def _is_unusual(tensor: StoredSparseTensor) -> bool:
    """Return whether a sparse tensor is in a function, has no indices, or makes a dense one of 2 GiB.

    A file may consist of one sparse tensor: that is in no function.
    """
    is_outside = tensor.place.parent is not None and not is_in_main_graph(tensor.place)
    return is_outside or tensor.indices is None or prod(tensor.dims) > _MAX_BYTES


_MAX_BYTES: Final = 2**31


def count_tensors_in_segments(model: Model) -> int:
    """Return the number of tensors in segments."""
    return sum(each.proto.HasField("segment") for each in (*model.tensors.miscounted, *model.tensors.external))


def _count_locations_with_two_dots(model: Model) -> int:
    return sum(".." in each.location for each in model.external_data)


def _count_tensors_with_basepath(model: Model) -> int:
    return sum(any(entry.key == "basepath" for entry in each.proto.external_data) for each in model.tensors.external)


def _count_raw_strings(model: Model) -> int:
    protos = [each.proto for each in model.tensors.miscounted]
    return sum(proto.data_type == DataType.STRING and proto.HasField("raw_data") for proto in protos)


def _count_overflowing_tensors(model: Model) -> int:
    return sum(_overflows(each.proto.dims) for each in model.tensors.miscounted)


def _overflows(dims: Sequence[int]) -> bool:
    """Return whether the product of the sizes exceeds 64 bits before a size of 0."""
    return 0 in dims and prod(takewhile(bool, dims)) > MAX_INT64


TWO_DOTS: Final = UnjudgedKind("name", "of a data file with two dots", _count_locations_with_two_dots)
OVERFLOWING_SIZES: Final = UnjudgedKind("tensor", "with sizes that overflow before a 0", _count_overflowing_tensors)
"""The tensors whose sizes onnx and ONNX Runtime refuse to multiply."""

UNJUDGED_TENSORS: Final = (
    # ONNX Runtime reads sparse tensors of most types with a byte or more for each element.
    UnjudgedKind("sparse tensor", "of strings or of less than a byte", _count_packed_sparse_tensors),
    UnjudgedKind("sparse tensor", "in a function, without indices, or very large", _count_unusual_sparse_tensors),
    UnjudgedKind("tensor", "in segments", count_tensors_in_segments),
    TWO_DOTS,
    UnjudgedKind("tensor", "with the key 'basepath'", _count_tensors_with_basepath),
    UnjudgedKind("tensor", "of strings with raw_data", _count_raw_strings),
    OVERFLOWING_SIZES,
)
"""The tensors that ONNX Runtime refuses in some models."""
