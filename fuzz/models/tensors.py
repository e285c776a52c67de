# SPDX-License-Identifier: Apache-2.0
"""Random tensors of every element type."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from onnx_lint.spec.element_types import ELEMENT_TYPE_NAMES

_FLOATS = (-1.5, -1.0, -0.25, 0.0, 0.5, 0.75, 1.0, 2.0, 3.0)
_INTEGERS = (0, 0, 1, 1, 2, 3)
_STRINGS = ("a", "b", "a b", "1", "2.5", "")

_NOT_FED = ("bfloat16", "float8", "float4", "float6", "int4", "uint4", "int2", "uint2")

FED = frozenset(name for name in ELEMENT_TYPE_NAMES if not name.startswith(_NOT_FED))
"""The element types that runtimes accept as numpy arrays."""


def element(kind: str) -> str | None:
    """Return the element type of a tensor type, or None for other types."""
    return kind[len("tensor(") : -1] if kind.startswith("tensor(") else None


def code_of(name: str) -> int:
    """Return the number of an element type."""
    return ELEMENT_TYPE_NAMES.index(name) + 1


@functools.cache
def dtype_of(name: str) -> np.dtype[Any]:
    """Return the numpy type of an element type."""
    return np.dtype(object) if name == "string" else np.dtype(helper.tensor_dtype_to_np_dtype(code_of(name)))


def array_of(rng: Random, name: str, shape: Sequence[int], content: Sequence[Any] | None = None) -> np.ndarray:
    """Return a tensor with the content, or with small random elements that may serve as indices."""
    count = int(np.prod(shape, dtype=np.int64))
    if content is not None:
        elements: Sequence[Any] = content
    elif name == "string":
        elements = rng.choices(_STRINGS, k=count)
    elif name == "bool":
        elements = rng.choices((True, False), k=count)
    elif "int" in name:
        elements = rng.choices(_INTEGERS, k=count)
    else:
        elements = rng.choices(_FLOATS, k=count)
    dtype = dtype_of(name)
    if dtype == np.dtype(object):
        made = np.empty(count, dtype=object)
        made[:] = [str(each) for each in elements]
        return made.reshape(tuple(shape))
    with np.errstate(all="ignore"):
        return np.array(list(elements), dtype=_WIDE.get(dtype.kind)).astype(dtype).reshape(tuple(shape))


_WIDE = {"i": np.int64, "u": np.int64}
"""Intermediate types, so that numbers out of range wrap around."""


def proto_of(name: str, array: np.ndarray, element_name: str) -> TensorProto:
    """Return the tensor as a message."""
    if element_name == "string":
        texts = [str(each).encode() for each in array.reshape(-1)]
        return TensorProto(name=name, data_type=TensorProto.STRING, dims=array.shape, string_data=texts)
    made = numpy_helper.from_array(array, name)
    assert made.data_type == code_of(element_name), (made.data_type, element_name)
    return made


def kind_of_array(value: Any) -> str | None:
    """Return the type of a computed value, or None if the value does not show it."""
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind in "OUS":
            return "tensor(string)"
        try:
            return f"tensor({ELEMENT_TYPE_NAMES[helper.np_dtype_to_tensor_dtype(value.dtype) - 1]})"
        except (KeyError, ValueError):
            return None
    return None
