# SPDX-License-Identifier: Apache-2.0
"""Operators of ONNX Runtime (com.microsoft) that work element by element, or move elements.

Attributes are at least their minimum here: a node with a wrong one, such as a `step` of 0, is not inferred.
"""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import add, are_sizes, as_size
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs


def with_bias(node: Operands) -> Outputs:
    """Return the shape of the first input. A bias has a number for each element along the last axis.

    ONNX Runtime's kernel of FastGelu takes float32; other types run its function, whose bias broadcasts.
    """
    shape = node.shape(0)
    if node.operator == "FastGelu" and node.given(1) and node.fact(0).kind != "tensor(float)":
        return [node.broadcast([shape, node.shape(1)], (0, 1))]
    if node.given(1) and node.shape(1, 1) is not None:
        node.equal((0, -1), (1, 0))
    return [shape]


def expand(node: Operands) -> Outputs:
    """Infer the shape with one more dimension of 1."""
    shape, axis = node.shape(0), node.scalar(1)
    if shape is None:
        return UNKNOWN
    place = axis + len(shape) + 1 if isinstance(axis, int) and axis < 0 else axis
    if not isinstance(place, int):
        return [(None,) * (len(shape) + 1)]
    if not 0 <= place <= len(shape):
        node.wrong_value(1, axis, allowed=f"{-len(shape) - 1} to {len(shape)}")
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
    row, pads = node.shape_of_rank(1, 1), node.content(1)
    if row is not None and isinstance(row[0], int):
        node.has_count(1, row[0], 2 * len(shape), 0)
    if not are_sizes(pads) or len(pads) != 2 * len(shape):
        return [(None,) * len(shape)]
    found = [add(dim, pads[axis] + pads[axis + len(shape)]) for axis, dim in enumerate(shape)]
    return [tuple(map(as_size, found))]


def real_transform(node: Operands) -> Outputs:
    """Infer the one-sided transform along the last axis, with one more dimension for real and imaginary parts."""
    shape = node.shape(0)
    if not shape:
        return UNKNOWN
    if node.integer("signal_ndim", 1) != 1 or node.integer("onesided", 1) != 1:
        return [(*[None] * len(shape), 2)]
    size = shape[-1]
    return [(*shape[:-1], size // 2 + 1 if isinstance(size, int) else None, 2)]


def inverse_real_transform(node: Operands) -> Outputs:
    """Infer the signal of a one-sided transform, with an even number of elements."""
    shape = node.shape(0)
    if shape is None or len(shape) < 2 or node.integer("signal_ndim", 1) != 1:
        return UNKNOWN
    size = shape[-2]
    return [(*shape[:-2], 2 * (size - 1) if isinstance(size, int) and size > 0 else None)]
