# SPDX-License-Identifier: Apache-2.0
"""Products of matrices in ONNX Runtime (com.microsoft), fused with what comes before or after.

Attributes are at least their minimum here: a node with a wrong one, such as a `block_size` of 0, is not inferred.
"""

from __future__ import annotations

import math

from onnx_lint.inference.shapes.dims import Dims, are_sizes, as_size
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, InputDimension, ProblemPlace, Unequal, Warned, WrongCount
from onnx_lint.inference.shapes.rules.matrices import general_product, matrix_product

# --- MatMul


def product(node: Operands) -> Outputs:
    """Infer the shape as for MatMul of ONNX."""
    return [matrix_product(node, 1)]


def scaled_product(node: Operands) -> Outputs:
    """Infer the shape as for MatMul of ONNX, of integers.

    The scales are broadcast to the product, and the bias has a number for each column.
    """
    found = matrix_product(node, 1)
    if found is None or node.problems:
        return UNKNOWN
    for index, operand in enumerate(node.schema.inputs[: node.count]):
        if operand.name.endswith("_scale") and not node.problems:
            _check_scale(node, index, found)
    if not node.problems:
        _check_bias(node, node.input("bias"))
    return [found]


def _check_scale(node: Operands, index: int, found: Dims) -> None:
    """Record the first dimension of a scale that cannot be broadcast to that of the product."""
    scale = node.fact(index).shape or ()
    for back in range(1, min(len(scale), len(found)) + 1):
        dim, other = scale[-back], found[-back]
        if isinstance(dim, int) and isinstance(other, int) and 1 not in (dim, other) and dim != other:
            node.same((index, len(scale) - back), other, _origin_of_product_axis(node, back, other))
            return


def _origin_of_product_axis(node: Operands, back: int, size: int) -> ProblemPlace | None:
    """Return the dimension of a matrix that is this axis of the product. None if neither has the size there.

    `back`: the axis, counted from the end. The second matrix has the columns, the first one the rows.
    """
    matrices = {1: (1,), 2: (0,)}.get(back, (0, 1))
    return next((node.place(each, -back) for each in matrices if node.dim(each, -back) == size), None)


def _check_bias(node: Operands, index: int) -> None:
    """Record a bias that does not have one number for each column, in whatever shape."""
    bias, other = node.fact(index).shape, node.fact(1).shape
    columns = other[-1] if other and len(other) > 1 else None
    if bias is None or not are_sizes(bias) or not isinstance(columns, int) or math.prod(bias) == columns:
        return
    if not bias:
        node.wrong_rank(index, 1, 1)
    elif len(bias) == 1:
        node.same((index, 0), columns, node.place(1, -1))
    else:
        # No single dimension is wrong: ONNX Runtime compares the number of elements.
        node.problems.append(WrongCount(index, math.prod(bias), columns, 1, is_of_shape=True))


def ordered_product(node: Operands) -> Outputs:
    """Infer the shape as for MatMul of ONNX. How many columns there are depends on the order of the numbers."""
    found = matrix_product(node, node.input("B"))
    return [(*found[:-1], None)] if found else UNKNOWN


def packed_product(node: Operands) -> Outputs:
    """Infer a product with a matrix that is packed into one row, whose shape is an input."""
    shape, packed = node.shape(0), node.content(node.input("B_shape"))
    if not shape or packed is None or len(packed) != 2:
        return UNKNOWN
    _, columns = packed
    return [(*shape[:-1], as_size(columns))]


# --- matrices that attributes transpose


def transposed_product(node: Operands) -> Outputs:
    """Infer the shape as for MatMul of ONNX, of matrices that attributes transpose; vectors stay as they are."""
    one, other = node.shape(0, at_least=1), node.shape(1, at_least=1)
    if one is None or other is None:
        return UNKNOWN
    if node.integer("transBatchA", 0) or node.integer("transBatchB", 0):
        return _product_of_batches(node, one, other)
    left = _rows_and_columns(one, node.integer("transA", 0))
    right = _rows_and_columns(other, node.integer("transB", 0))
    node.equal((0, left[1]), (1, right[0]))
    batch = node.broadcast([one[:-2], other[:-2]], (0, 1), trailing=(2, 2))
    if batch is None:
        return UNKNOWN
    rows = (one[left[0]],) if len(one) > 1 else ()
    columns = (other[right[1]],) if len(other) > 1 else ()
    return [batch + rows + columns]


def _rows_and_columns(shape: Dims, is_transposed: int) -> tuple[int, int]:
    """Return the axes of rows and columns; both are the only one of a vector."""
    if len(shape) == 1:
        return -1, -1
    return (-1, -2) if is_transposed else (-2, -1)


def _product_of_batches(node: Operands, one: Dims, other: Dims) -> Outputs:
    """Infer a product of matrices whose rows (without transposition) may be the first axis, before the batch."""
    if node.shape(0, at_least=3) is None or node.shape(1, len(one), like=0) is None:
        return UNKNOWN
    firsts = [bool(node.integer(name, 0)) for name in ("transBatchA", "transBatchB")]
    left, right = [(0, -1) if is_first else (-2, -1) for is_first in firsts]
    rows, columns = left[::-1] if node.integer("transA", 0) else left
    inner, outer = right[::-1] if node.integer("transB", 0) else right
    node.equal((0, columns), (1, inner))
    parts = [shape[1:-1] if is_first else shape[:-2] for shape, is_first in zip((one, other), firsts, strict=True)]
    batch = node.broadcast(parts, (0, 1), trailing=[1 if is_first else 2 for is_first in firsts])
    return UNKNOWN if batch is None else [(*batch, one[rows], other[outer])]


# --- Gemm


def gemm(node: Operands) -> Outputs:
    """Infer the shape as for Gemm of ONNX."""
    return [general_product(node, 1, 2)]


def gemm_of_float8(node: Operands) -> Outputs:
    """Infer the shape as for Gemm of ONNX. The documentation does not say how the third matrix is broadcast."""
    return [general_product(node, 1, None)]


def gemm_of_integers(node: Operands) -> Outputs:
    """Infer the shape as for Gemm of ONNX, with scale and zero point after each matrix."""
    scale, zero_point = node.input("b_scale"), node.input("b_zero_point")
    shape = node.fact(zero_point).shape
    if shape is not None and node.fact(scale).shape is not None:
        node.shape(scale, len(shape), like=zero_point)
    return [general_product(node, node.input("B"), node.input("C"))]


# --- weights in blocks of few bits


def check_bnb4_blocks(node: Operands) -> None:
    """Record packed weights and maxima of MatMulBnb4 whose number does not follow from K and N."""
    size = node.integer("block_size")
    count = node.integer("K", 0) * node.integer("N", 0)
    if count and size:
        _check_count(node, node.input("B"), _rounded_up(count, 2))
        _check_count(node, node.input("absmax"), _rounded_up(count, size))


def _rounded_up(count: int, size: int) -> int:
    """Return the number of parts of a size that hold `count` numbers."""
    return -(-count // size)


def _check_count(node: Operands, index: int, needed: int) -> None:
    """Record an input with too few elements, and as a warning one with too many."""
    shape = node.fact(index).shape
    if shape == ():
        node.wrong_rank(index, 1, 1)
    elif shape and are_sizes(shape) and math.prod(shape) != needed:
        problem: Unequal | WrongCount = WrongCount(index, math.prod(shape), needed, "K", is_of_shape=True)
        if len(shape) == 1:
            problem = Unequal(InputDimension(index, 0, shape[0]), needed, Element("K", node.integer("K")))
        if math.prod(shape) < needed:
            node.problems.append(problem)
        else:
            node.warnings.append(Warned(problem))


def check_nbits_blocks(node: Operands) -> None:
    """Record weights, scales and zero points of MatMulNBits that do not match the blocks.

    The weights are [N, blocks, bytes of a block]. A column has K numbers.
    """
    length, columns, size = (node.integer(name) for name in ("K", "N", "block_size"))
    if length is None or columns is None or size is None:
        return
    weights, scales = node.input("B"), node.input("scales")
    is_prepacked = node.integer("weight_prepacked", 0)
    # Nothing reads the scales and zero points of a projection that is left out.
    is_left_out = 0 in (node.fact(weights).shape or ()) and not is_prepacked
    if not is_left_out and node.shape(scales, at_least=1, at_most=2) is None:
        return
    # Releases that do not compare the weights compare the rows that they are multiplied with.
    node.same((0, -1), length, Element("K", length))
    if not node.problems:
        node.shape(weights, 3)
    if node.problems:
        return
    blocks, bits = _rounded_up(length, size), node.integer("bits", 4)
    if not is_prepacked:
        _check_weights(node, 0, columns, Element("N", columns))
        _check_weights(node, 1, blocks, Element("K", length))
        _check_weights(node, 2, size * bits // 8, Element("bits", bits))
    if not is_left_out:
        _check_numbers_of_blocks(node, scales, blocks, Element("K", length))
        _check_zero_points_of_blocks(node, blocks, bits)


def _check_weights(node: Operands, axis: int, size: int, by: Element) -> None:
    """Record weights with another size along an axis; a size of 0 leaves the projection out."""
    weights = node.input("B")
    if node.dim(weights, axis) != 0:
        node.same((weights, axis), size, by)


def _check_zero_points_of_blocks(node: Operands, blocks: int, bits: int) -> None:
    """Record zero points that are not one for each block: bytes have several, packed within each column."""
    index = node.input("zero_points")
    packed = _rounded_up(blocks * bits, 8) if node.fact(index).kind == "tensor(uint8)" else blocks
    by = Element("K", node.integer("K")) if packed == blocks else Element("bits", bits)
    _check_numbers_of_blocks(node, index, packed, by)


def _check_numbers_of_blocks(node: Operands, index: int, in_column: int, by: Element) -> None:
    """Record scales or zero points that are not [N, in_column], or as many in one dimension."""
    shape, columns = node.fact(index).shape, node.integer("N", 0)
    if shape == ():
        node.wrong_rank(index, 1, 2)
        return
    if 0 in (shape or ()) and not are_sizes(node.fact(node.input("B")).shape or (None,)):
        return  # The weights, whose size is unknown, may be empty as well: they leave the projection out.
    if shape and are_sizes(shape) and node.shape(index, at_most=2) is not None:
        expected = columns * in_column if len(shape) == 1 else columns
        node.same((index, 0), expected, Element("N", columns))
        if len(shape) > 1 and shape[0] == columns:
            node.same((index, 1), in_column, by)
