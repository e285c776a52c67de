# SPDX-License-Identifier: Apache-2.0
"""Products of matrices in ONNX Runtime (com.microsoft), fused with what comes before or after."""

from __future__ import annotations

import math

from onnx_lint.common.record import replace
from onnx_lint.inference.shapes.dims import Dims, are_sizes
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, InputDimension, NotBroadcast, Unequal, Warned
from onnx_lint.inference.shapes.requirements import input_of
from onnx_lint.inference.shapes.rules.matrices import general_product, matrix_product


def product(node: Operands) -> Outputs:
    """As MatMul of ONNX."""
    return [matrix_product(node, 1)]


def scaled_product(node: Operands) -> Outputs:
    """As MatMul of ONNX, of integers. The scales are broadcast to the product, and the bias has a number a column."""
    found = matrix_product(node, 1)
    if found is None or node.problems:
        return UNKNOWN
    for index, operand in enumerate(node.schema.inputs[: node.count]):
        if operand.name.endswith("_scale"):
            _is_broadcast(node, index, found)
    if not node.problems:
        _has_bias(node, input_of(node, "bias"))
    return [found]


def _has_bias(node: Operands, index: int) -> None:
    """Record a bias that does not have one number for each column, in whatever shape."""
    bias, other = node.fact(index).shape, node.fact(1).shape
    columns = other[-1] if other and len(other) > 1 else None
    if bias is None or not are_sizes(bias) or not isinstance(columns, int) or math.prod(bias) == columns:
        return
    if not bias:
        node.wrong_rank(index, 1, 1)
    elif bias[-1] != columns:
        node.same((index, -1), columns, node.place(1, -1))
    else:
        node.same((index, next(axis for axis, size in enumerate(bias) if size != 1)), 1, None)


def _is_broadcast(node: Operands, index: int, found: Dims) -> None:
    """Record a dimension of a scale that is neither 1 nor that of the product, unless the product has 1 there."""
    scale = node.fact(index).shape or ()
    for back in range(1, min(len(scale), len(found)) + 1):
        dim, other = scale[-back], found[-back]
        if isinstance(dim, int) and isinstance(other, int) and 1 not in (dim, other) and not node.problems:
            by = (1, -1) if back == 1 and node.dim(1, -1) == other else (0, -2)
            node.same((index, len(scale) - back), other, node.place(*by) if node.dim(*by) == other else None)


def ordered_product(node: Operands) -> Outputs:
    """As MatMul of ONNX, of inputs 0 and 2 (QOrderedMatMul). How many columns there are depends on their order."""
    found = matrix_product(node, 2)
    return [(*found[:-1], None)] if found else UNKNOWN


def transposed_product(node: Operands) -> Outputs:
    """As MatMul of ONNX, of matrices that attributes transpose; they leave vectors as they are."""
    one, other = node.shape(0, at_least=1), node.shape(1, at_least=1)
    if one is None or other is None:
        return UNKNOWN
    if node.integer("transBatchA", 0) or node.integer("transBatchB", 0):
        return _product_of_batches(node, one, other)
    left, right = _axes(one, node.integer("transA", 0)), _axes(other, node.integer("transB", 0))
    node.equal((0, left[1]), (1, right[0]))
    batch = node.broadcast([one[:-2], other[:-2]], (0, 1), trailing=2)
    if batch is None:
        return UNKNOWN
    rows = (one[left[0]],) if len(one) > 1 else ()
    return [batch + rows + ((other[right[1]],) if len(other) > 1 else ())]


def _product_of_batches(node: Operands, one: Dims, other: Dims) -> Outputs:
    """The product of matrices whose rows (without transposition) may be the first axis, before those of the batch."""
    rank = len(one)
    if node.shape(0, at_least=_BATCH) is None or node.shape(1, rank, like=0) is None:
        return UNKNOWN
    firsts = [bool(node.integer(name, 0)) for name in ("transBatchA", "transBatchB")]
    left, right = [(0, -1) if is_first else (-2, -1) for is_first in firsts]
    rows, columns = left[::-1] if node.integer("transA", 0) else left
    inner, outer = right[::-1] if node.integer("transB", 0) else right
    node.equal((0, columns), (1, inner))
    parts = [shape[1:-1] if is_first else shape[:-2] for shape, is_first in zip((one, other), firsts, strict=True)]
    recorded = len(node.problems)
    batch = node.broadcast(parts, (0, 1), trailing=1 if firsts[0] else 2)
    if firsts[0] != firsts[1] and len(node.problems) > recorded:
        # The axes of the second operand are others than those of the first.
        found = node.problems.pop()
        assert isinstance(found, NotBroadcast)
        axis = found.other.axis + (1 if firsts[1] else -1)
        node.problems.append(NotBroadcast(found.one, replace(found.other, axis=axis)))
    return UNKNOWN if batch is None else [(*batch, one[rows], other[outer])]


_BATCH = 3
"""The least rank of matrices in a batch."""


def _axes(shape: Dims, is_transposed: int) -> tuple[int, int]:
    """The axes of rows and columns; both are the only one of a vector."""
    if len(shape) == 1:
        return -1, -1
    return (-1, -2) if is_transposed else (-2, -1)


def gemm(node: Operands) -> Outputs:
    """As Gemm of ONNX."""
    return [general_product(node, 1, 2)]


def gemm_of_float8(node: Operands) -> Outputs:
    """As Gemm of ONNX. The documentation does not say how the third matrix is broadcast."""
    return [general_product(node, 1, None)]


def gemm_of_integers(node: Operands) -> Outputs:
    """As Gemm of ONNX, with scale and zero point after each matrix."""
    zero_point = node.fact(5).shape
    if zero_point is not None and node.fact(4).shape is not None:
        node.shape(4, len(zero_point), like=5)
    return [general_product(node, 3, 6)]


def has_blocks(node: Operands) -> Outputs:
    """Note packed weights and maxima of MatMulBnb4 that are not as many as K and N say."""
    size = node.integer("block_size")
    numbers = (node.integer("K") or 0) * (node.integer("N") or 0)
    for index, each in ((1, 2), (2, size)) if numbers and size else ():
        given, needed = node.fact(index).shape, -(-numbers // (each or 1))
        if given == ():
            node.wrong_rank(index, 1, 1)
        elif given and are_sizes(given) and math.prod(given) != needed:
            problem = Unequal(InputDimension(index, 0, given[0]), needed, Element("K", node.integer("K")))
            if math.prod(given) < needed:
                node.problems.append(problem)
            else:
                node.warnings.append(Warned(problem))
    return UNKNOWN


_BITS_OF_A_BYTE = 8
_BLOCKS = 3
"""The rank of the packed matrix: columns, blocks of a column, bytes of a block."""


def are_blocks(node: Operands) -> Outputs:
    """Record weights, scales and zero points that are not those of the blocks, as ONNX Runtime requires them."""
    rows, columns, size = (node.integer(name) for name in ("K", "N", "block_size"))
    weights = node.fact(1).shape
    # Nothing reads the scales and zero points of a projection that is left out.
    is_left_out = 0 in (weights or ()) and not node.integer("weight_prepacked", 0)
    if rows is None or columns is None or size is None:
        return UNKNOWN
    if not is_left_out and node.shape(2, at_least=1, at_most=2) is None:
        return UNKNOWN
    # Releases that do not compare the weights compare the rows that they are multiplied with.
    if node.same((0, -1), rows, Element("K", rows)) != node.dim(0, -1) and node.problems:
        return UNKNOWN
    bits, blocks, by = node.integer("bits", 4), -(-rows // size), Element("N", columns)
    if weights is not None and len(weights) != _BLOCKS:
        node.wrong_rank(1, _BLOCKS, _BLOCKS)
        return UNKNOWN
    if weights is not None and not node.integer("weight_prepacked", 0):
        for axis, (expected, source) in enumerate(
            ((columns, by), (blocks, Element("K", rows)), (size * bits // _BITS_OF_A_BYTE, Element("bits", bits)))
        ):
            if weights[axis] != 0:
                node.same((1, axis), expected, source)
    if not is_left_out:
        _fit_columns(node, columns, blocks, Element("K", rows))
    return UNKNOWN


def _fit_columns(node: Operands, columns: int, blocks: int, rows: Element) -> None:
    """Record scales and zero points that are not one for each block of each column."""
    by, bits = Element("N", columns), node.integer("bits", 4)
    packed = -(-blocks * bits // _BITS_OF_A_BYTE) if node.fact(3).kind == "tensor(uint8)" else blocks
    for index, each, source in ((2, blocks, rows), (3, packed, rows if packed == blocks else Element("bits", bits))):
        shape = node.fact(index).shape
        if not are_sizes(node.fact(1).shape or (None,)) and 0 in (shape or ()):
            continue  # as the weights may be
        if shape == ():
            node.wrong_rank(index, 1, 2)
        if shape and are_sizes(shape) and node.shape(index, at_most=2) is not None:
            expected = columns * each if len(shape) == 1 else columns
            if node.same((index, 0), expected, by) == shape[0] and len(shape) > 1:
                node.same((index, 1), each, source)


_ROWS_AND_COLUMNS = 2
"""The entries of the shape of a matrix."""


def packed_product(node: Operands) -> Outputs:
    """A product with a matrix that is packed into one row, whose shape is an input."""
    shape, packed = node.shape(0), node.content(2)
    if not shape or packed is None or len(packed) != _ROWS_AND_COLUMNS or isinstance(packed[1], float):
        return UNKNOWN
    return [(*shape[:-1], packed[1] if not isinstance(packed[1], int) or packed[1] >= 0 else None)]
