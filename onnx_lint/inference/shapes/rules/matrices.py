# SPDX-License-Identifier: Apache-2.0
"""Products of matrices."""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import Dims, Shape, agree
from onnx_lint.inference.shapes.operands import Operands, Outputs
from onnx_lint.inference.shapes.registration import register_equations, register_rule
from onnx_lint.inference.shapes.rules.quantization import check_zero_points

register_equations({"Det": "X[*batch n n] -> Y[*batch]"})


@register_rule("MatMul")
def matmul(node: Operands) -> Outputs:
    """Infer the shape as numpy.matmul does.

    A vector is a matrix of one row or column, and the axes before the last two broadcast.
    """
    return [matrix_product(node, 1)]


@register_rule("MatMulInteger")
def integer_matmul(node: Operands) -> Outputs:
    """Infer the shape as for MatMul. Each input has a zero point."""
    _check_quantization(node, 2, 0, _ROWS)
    _check_quantization(node, 3, 1, _COLUMNS)
    return [matrix_product(node, 1)]


@register_rule("QLinearMatMul")
def quantized_matmul(node: Operands) -> Outputs:
    """Infer the shape as for MatMul. Scale and zero point follow each input, and those of the output come last."""
    for index in (1, 2):
        _check_quantization(node, index, 0, _ROWS)
    for index in (4, 5):
        _check_quantization(node, index, 3, _COLUMNS)
    result = matrix_product(node, 3)
    for index in (6, 7):
        _check_quantization_of_result(node, index, result)
    check_zero_points(node, 1, 2, 4, 5, 6, 7)
    return [result]


_ROWS, _COLUMNS = -2, -1
"""The axis of a matrix with a number for each index."""


def _check_quantization(node: Operands, index: int, matrix: int, axis: int) -> None:
    """Check a scale or zero point: one number, or one for each row or column of a matrix.

    The latter are a list, or a tensor with the rank of the matrix, along that axis and with size 1 in the other one.
    """
    shape, other = node.shape(index), node.shape(matrix)
    if not shape or other is None or len(other) < -_ROWS:
        return
    if len(shape) == 1:
        if shape[0] != 1:
            node.same((index, 0), other[axis], node.place(matrix, axis))
        return
    if node.shape(index, len(other), like=matrix) is None:
        return
    for place in range(-len(shape), 0):
        if place == _ROWS + _COLUMNS - axis:
            node.same((index, place), 1, None)
        else:
            node.same((index, place), other[place], node.place(matrix, place))


def _check_quantization_of_result(node: Operands, index: int, result: Shape) -> None:
    """Check a scale or zero point of the output: as of an input, but ONNX does not say whether for rows or columns."""
    shape = node.shape(index)
    if shape is None or len(shape) < -_ROWS or result is None:
        return
    fitting = (_with_one(result, axis) for axis in (_ROWS, _COLUMNS))
    if len(shape) != len(result) or not any(all(map(agree, shape, each)) for each in fitting):
        node.wrong_rank(index, 0, 1)


def _with_one(shape: Dims, axis: int) -> Dims:
    return tuple([1 if place == axis + len(shape) else dim for place, dim in enumerate(shape)])


def matrix_product(node: Operands, right: int) -> Shape:
    """Return the shape of the product of input 0 and another one, as in numpy.matmul."""
    one, other = node.shape(0, at_least=1), node.shape(right, at_least=1)
    if one is None or other is None:
        return None
    node.equal((0, -1), (right, max(-2, -len(other))))
    batch = node.broadcast([one[:-2], other[:-2]], (0, right), trailing=(2, 2))
    if batch is None:
        return None
    return batch + (one[-2:-1] if len(one) > 1 else ()) + (other[-1:] if len(other) > 1 else ())


@register_rule("Gemm")
def gemm(node: Operands) -> Outputs:
    """Infer A' * B' + C: attributes transpose A and B, and C is broadcast to the product."""
    # Until version 6 the attribute `broadcast` allows that C is smaller than the product.
    is_whole = node.version < 7 and not node.integer("broadcast", 0)
    return [general_product(node, 1, 2, is_whole=is_whole)]


def general_product(node: Operands, right: int, bias: int | None, *, is_whole: bool = False) -> Shape:
    """Return the shape of the product of input 0 and another matrix, which attributes transpose, plus a bias.

    `is_whole`: whether the bias must have the shape of the product; otherwise it is broadcast.
    """
    one, other = node.shape(0, 2), node.shape(right, 2)
    rows, inner = (1, 0) if node.integer("transA", 0) else (0, 1)
    depth, columns = (1, 0) if node.integer("transB", 0) else (0, 1)
    node.equal((0, inner), (right, depth))
    result = (one[rows] if one is not None else None, other[columns] if other is not None else None)
    if bias is None:
        return result
    added = node.shape(bias, 2) if is_whole else node.shape(bias, at_most=2)
    for axis, (operand, place) in ((-1, (right, columns)), (-2, (0, rows))):
        if added is None or len(added) < -axis:
            continue
        # A variable may be 1, which is broadcast.
        if is_whole or (isinstance(added[axis], int) and added[axis] != 1):
            node.equal((operand, place), (bias, axis))
    return result
