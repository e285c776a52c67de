# SPDX-License-Identifier: Apache-2.0
"""Operators of ONNX Runtime (com.microsoft) that work element by element, or move elements about."""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import Dim, add, are_sizes
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs


def with_bias(node: Operands) -> Outputs:
    """The shape of the first input, with a bias for each element along the last axis.

    ONNX Runtime's kernel of FastGelu takes float32; other types run its function, whose bias broadcasts.
    """
    shape = node.shape(0)
    if node.operator == "FastGelu" and node.given(1) and node.fact(0).kind != "tensor(float)":
        return [node.broadcast([shape, node.shape(1)], (0, 1))]
    fits_last(node, 1)
    return [shape]


def fits_last(node: Operands, *indices: int) -> None:
    """Record an input that is not a list with an element for each element of input 0 along the last axis.

    ONNX Runtime refuses it when it runs the node, and the descriptions say so.
    """
    for index in indices:
        if node.given(index) and node.shape(index, 1) is not None:
            node.equal((0, -1), (index, 0))


def swiglu(node: Operands) -> Outputs:
    """The shape of the gate. If the node omits the input `up`, the last axis has both, one after the other."""
    if node.given(1):
        return [node.shape(0)]
    shape = node.shape(0, at_least=1)
    if shape is None:
        return UNKNOWN
    return [(*shape[:-1], node.quotient((0, -1), 2))]


def expand(node: Operands) -> Outputs:
    """One more dimension of 1."""
    shape, axis = node.shape(0), node.scalar(1)
    if shape is None:
        return UNKNOWN
    place = axis + len(shape) + 1 if isinstance(axis, int) and axis < 0 else axis
    if not isinstance(place, int):
        return [(None,) * (len(shape) + 1)]
    if not 0 <= place <= len(shape):
        node.wrong_value(1, axis, "", allowed=f"{-len(shape) - 1} to {len(shape)}")
        return UNKNOWN
    return [(*shape[:place], 1, *shape[place:])]


def unfold(node: Operands) -> Outputs:
    """Infer slices of a size along an axis, which become one more dimension."""
    shape, size = node.shape(0, at_least=1), node.integer("size")
    axis = node.axis(node.integer("dim", -1), len(shape), "dim") if shape is not None else None
    if shape is None or size is None or axis is None:
        return UNKNOWN
    whole = shape[axis]
    if not isinstance(whole, int):
        return [(*shape[:axis], None, *shape[axis + 1 :], size)]
    if size > whole:
        node.wrong_value("size", size, f"the axis has {whole} elements", allowed=f"at most {whole}", about_data=True)
    return [(*shape[:axis], (whole - size) // node.integer("step", 1) + 1, *shape[axis + 1 :], size)]


def pad(node: Operands) -> Outputs:
    """Infer the sizes with padding before and after each axis; the pads may be in one row."""
    shape = node.shape(0)
    if shape is None:
        return UNKNOWN
    given, pads = node.fact(1).shape, node.content(1)
    if given is not None and len(given) == 1 and isinstance(given[0], int):
        node.has_count(1, given[0], 2 * len(shape), 0)
    if not are_sizes(pads) or len(pads) != 2 * len(shape):
        return [(None,) * len(shape)]
    found = [add(dim, pads[axis] + pads[axis + len(shape)]) for axis, dim in enumerate(shape)]
    return [tuple([None if isinstance(dim, int) and dim < 0 else dim for dim in found])]


def real_transform(node: Operands) -> Outputs:
    """The one-sided transform along the last axis, and one more dimension for real and imaginary parts."""
    shape = node.shape(0)
    if not shape or node.integer("signal_ndim", 1) != 1 or node.integer("onesided", 1) != 1:
        return [(None,) * len(shape) + (2,)] if shape else UNKNOWN
    size = shape[-1]
    return [(*shape[:-1], size // 2 + 1 if isinstance(size, int) else None, 2)]


def inverse_real_transform(node: Operands) -> Outputs:
    """Infer the signal of a one-sided transform, with an even number of elements."""
    shape = node.shape(0)
    if shape is None or len(shape) < 2 or node.integer("signal_ndim", 1) != 1:
        return UNKNOWN
    size = shape[-2]
    return [(*shape[:-2], 2 * (size - 1) if isinstance(size, int) and size > 0 else None)]
