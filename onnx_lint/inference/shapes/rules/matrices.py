# SPDX-License-Identifier: Apache-2.0
"""Products of matrices."""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import Shape
from onnx_lint.inference.shapes.operands import Operands, Outputs
from onnx_lint.inference.shapes.registration import equations, shapes_of

equations({"Det": "X[*batch n n] -> Y[*batch]"})


@shapes_of("MatMul", "MatMulInteger")
def matmul(node: Operands) -> Outputs:
    """As numpy.matmul: a vector counts as a matrix of one row or column, and the axes before the last two broadcast."""
    return [matrix_product(node, 0, 1)]


@shapes_of("QLinearMatMul")
def quantized_matmul(node: Operands) -> Outputs:
    """As MatMul, each input followed by its scale and zero point."""
    return [matrix_product(node, 0, 3)]


def matrix_product(node: Operands, left: int, right: int) -> Shape:
    """The shape of a product as of numpy.matmul."""
    one, other = node.shape(left, at_least=1), node.shape(right, at_least=1)
    if one is None or other is None:
        return None
    node.equal((left, -1), (right, max(-2, -len(other))))
    batch = node.broadcast([one[:-2], other[:-2]], (left, right), trailing=2)
    if batch is None:
        return None
    return batch + (one[-2:-1] if len(one) > 1 else ()) + (other[-1:] if len(other) > 1 else ())


@shapes_of("Gemm")
def gemm(node: Operands) -> Outputs:
    """A' * B' + C, where the attributes transpose A and B, and C is broadcast to the product."""
    # Until version 6 the attribute `broadcast` allows that C is smaller than the product.
    is_whole = node.version < 7 and not node.integer("broadcast", 0)
    return [general_product(node, 0, 1, 2, is_whole=is_whole)]


def general_product(node: Operands, left: int, right: int, bias: int | None, *, is_whole: bool = False) -> Shape:
    """The shape of a product of two matrices, which attributes transpose, and of what is added to it.

    `is_whole` says that what is added has to have the shape of the product; else it is broadcast to that.
    """
    one, other = node.shape(left, 2), node.shape(right, 2)
    rows, inner = (1, 0) if node.integer("transA", 0) else (0, 1)
    depth, columns = (1, 0) if node.integer("transB", 0) else (0, 1)
    node.equal((left, inner), (right, depth))
    result = (one[rows] if one is not None else None, other[columns] if other is not None else None)
    if bias is None:
        return result
    added = node.shape(bias, 2) if is_whole else node.shape(bias, at_most=2)
    for axis, (operand, place) in ((-1, (right, columns)), (-2, (left, rows))):
        if added is not None and len(added) >= -axis and (added[axis] != 1 or is_whole):
            node.equal((operand, place), (bias, axis))
    return result
