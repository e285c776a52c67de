# SPDX-License-Identifier: Apache-2.0
"""Operators of ONNX Runtime (com.microsoft) on quantized tensors, whose scales and zero points are inputs."""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import Dims, as_size, multiply
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import NotOneElement, Warned, WrongRank
from onnx_lint.inference.shapes.requirements import check_attribute
from onnx_lint.inference.shapes.rules.joining import concatenated
from onnx_lint.inference.shapes.rules.reduction import reduced
from onnx_lint.inference.shapes.rules.unary import lp_normalization
from onnx_lint.spec.operators.records.grammar import Requirement, parse_requirements

# --- scales and zero points


def quantization_inputs(node: Operands) -> list[int]:
    """Return the inputs that are scales and zero points, by their names."""
    return [at for at, each in enumerate(node.schema.inputs) if each.name.endswith(("_scale", "_zero_point"))]


def check_scalars(node: Operands) -> None:
    """Record scales and zero points that are no scalars: ONNX Runtime makes no session with others."""
    for index in quantization_inputs(node):
        if node.fact(index).shape:
            node.wrong_rank(index, 0, 0)


def elementwise(node: Operands) -> Outputs:
    """Infer the shape to which the operands broadcast, each of which is followed by its scale and zero point."""
    if node.operator != "QLinearWhere":
        check_scalars(node)
    quantization = quantization_inputs(node)
    operands = [at for at in range(len(node.schema.inputs)) if at not in quantization]
    return [node.broadcast(list(map(node.shape, operands)), operands)]


def softmax_of_integers(node: Operands) -> Outputs:
    """Infer the shape as for LpNormalization of ONNX.

    If the scale is a constant, ONNX Runtime requires a scalar; otherwise it reads the first number.
    """
    scale = node.input("X_scale")
    shape = node.fact(scale).shape
    if shape and (len(shape) > 1 or (isinstance(shape[0], int) and shape[0] != 1)):
        problem = WrongRank(scale, len(shape), 0, 0)
        if node.content(scale) is not None:
            node.problems.append(problem)
            return UNKNOWN
        node.warnings.append(Warned(problem, "; ONNX Runtime refuses a constant of this shape"))
    return lp_normalization(node)


# --- QLinearConcat


def concat(node: Operands) -> Outputs:
    """Infer the shape as for Concat of ONNX.

    The scale and zero point of the result come first, then each tensor with its own.
    """
    tensors = range(2, node.count, 3)
    for index in tensors:
        _check_type(node, index)
        _check_type(node, index + 2)
        if not node.problems:
            _check_rescaling(node, index + 1, index + 2)
    return UNKNOWN if node.problems else concatenated(node, tensors)


def _check_type(node: Operands, index: int) -> None:
    """Record a tensor or zero point whose type is not that of the result's zero point."""
    kind, found = node.fact(1).kind, node.fact(index).kind
    if found and kind and found != kind and not node.problems:
        node.wrong_value(index, found, allowed=f"{kind} like input 1 ('Y_zero_point')")


def _check_rescaling(node: Operands, scale: int, zero_point: int) -> None:
    """Record scales and zero points of several elements.

    ONNX Runtime compares the first elements of a tensor's scale and zero point with the result's. Only if they differ,
    each of the four must be a scalar or one element.
    """
    of_result = [node.first_element(index) for index in (0, 1)]
    of_tensor = [node.first_element(index) for index in (scale, zero_point)]
    are_known = None not in of_result and None not in of_tensor
    if are_known and of_result == of_tensor:
        return
    for index in (0, 1, scale, zero_point):
        shape = node.fact(index).shape or ()
        if _may_be_one_number(shape):
            continue
        problem = WrongRank(index, len(shape), 0, 1) if len(shape) > 1 else NotOneElement(index, is_scalar=False)
        if are_known or 0 in shape:
            node.problems.append(problem)
            return
        warned = Warned(problem, _UNLESS_EQUAL)
        if warned not in node.warnings:
            node.warnings.append(warned)


def _may_be_one_number(shape: Dims) -> bool:
    """Return whether a shape is or may be that of a scalar, or of a list of one element. Variables may be 1."""
    return not shape or shape in ((1,), (None,)) or any(isinstance(dim, str) for dim in shape)


_UNLESS_EQUAL = "; ONNX Runtime runs it only if scale and zero point are equal to those of the result"

# --- reductions


def reduced_integers(node: Operands) -> Outputs:
    """Infer the shape in which the axes, all if there are none, become 1 or are left out."""
    shape = node.shape(0)
    if node.operator == "QLinearReduceMean":
        check_scalars(node)
    return UNKNOWN if shape is None else reduced(node, shape, node.integers("axes"), "axes")


# --- GatherBlockQuantized


def gather_blocks(node: Operands) -> Outputs:
    """Infer the shape with the indices in place of an axis. A byte has several numbers along the last axis."""
    data, indices = node.shape(0, at_least=2), node.shape(1)
    _check_attributes_of_blocks(node)
    if data is None:
        return UNKNOWN
    gathered = node.axis(node.integer("gather_axis", 0), len(data), "gather_axis")
    quantized = node.axis(node.integer("quantize_axis", 1), len(data), "quantize_axis")
    _check_axes_of_bytes(node, gathered, quantized)
    _check_ranks_of_blocks(node, len(data))
    if indices is None or gathered is None or quantized is None:
        return UNKNOWN
    if not node.problems:
        _check_scales(node, data, quantized)
    unpacked = _unpacked(node, data, quantized)
    return [(*unpacked[:gathered], *indices, *unpacked[gathered + 1 :])]


def _check_attributes_of_blocks(node: Operands) -> None:
    """Record a size of the blocks, and a number of bits, that the type of the data does not have."""
    kind = node.fact(0).kind
    check_attribute(node, "block_size", _BLOCK if kind in _BY_BLOCKS else _BLOCK_OR_WHOLE)
    if kind == _BYTES:
        check_attribute(node, "bits", _BITS_OF_BYTES)
    elif kind in _ONE_BY_ONE:
        check_attribute(node, "bits", _FOUR_BITS)


def _check_axes_of_bytes(node: Operands, gathered: int | None, quantized: int | None) -> None:
    """Record packed bytes that are not gathered along the first axis, or are quantized along that axis as well."""
    if node.fact(0).kind != _BYTES:
        return
    if gathered:
        number = node.integer("gather_axis")
        node.wrong_value("gather_axis", number, "packed bytes are gathered along the first axis", allowed="0")
    elif gathered == quantized == 0:
        node.wrong_value("quantize_axis", 0, "packed bytes are gathered along this axis", allowed="another axis")


def _check_ranks_of_blocks(node: Operands, rank: int) -> None:
    """Record scales and zero points of another rank than the data."""
    for name in ("zero_points", "scales"):
        node.shape(node.input(name), rank, like=0)


def _numbers_in_element(node: Operands) -> int | None:
    """Return how many numbers an element of the data has; None if that is unknown."""
    bits = node.integer("bits", 4)
    if node.fact(0).kind == _BYTES and bits in (2, 4, 8):
        return 8 // bits
    return 1 if node.fact(0).kind in _ONE_BY_ONE else None


def _unpacked(node: Operands, data: Dims, quantized: int) -> Dims:
    """Return the shape of the numbers in the data. A byte may hold several numbers along the last axis."""
    numbers = _numbers_in_element(node)
    if numbers is not None:
        return (*data[:-1], multiply(data[-1], numbers))
    return tuple([dim if axis not in (quantized, len(data) - 1) else None for axis, dim in enumerate(data)])


def _check_scales(node: Operands, data: Dims, quantized: int) -> None:
    """Record scales or zero points whose shape does not match the blocks of the data."""
    size, in_element = node.integer("block_size", 128), _numbers_in_element(node)
    scales, zero_points = node.input("scales"), node.input("zero_points")
    if size < 1 or in_element is None or node.fact(scales).shape is None:
        return
    last = len(data) - 1
    for axis, dim in enumerate(data):
        if not isinstance(dim, int):
            continue
        numbers = dim * in_element if axis == last else dim
        blocks = -(-numbers // size) if axis == quantized else numbers
        node.same((scales, axis), blocks, node.place(0, axis))
        node.same((zero_points, axis), -(-blocks // in_element) if axis == last else blocks, node.place(0, axis))


def _requirement(text: str) -> Requirement:
    """Return the one requirement in a text."""
    (found,) = parse_requirements(text)
    return found


_BLOCK = _requirement("power of 2 from 16")
_BLOCK_OR_WHOLE = _requirement("power of 2 from 16 if block_size")
"""A block size of 0, for which the condition is false, means one block."""
_BITS_OF_BYTES = _requirement("one of 2 4 8")
_FOUR_BITS = _requirement("one of 4")

_BYTES = "tensor(uint8)"
"""The element type of packed numbers."""

_ONE_BY_ONE = frozenset({"tensor(int4)", "tensor(uint4)"})
"""Element types whose elements are one number each."""

_BY_BLOCKS = _ONE_BY_ONE | {_BYTES}
"""Element types that always have blocks."""


# --- DequantizeBFP


def unpacked(node: Operands) -> Outputs:
    """Infer the shape that the second input has."""
    stated = node.integers_in(1) if node.shape_of_rank(1, 1) is not None else None
    if stated is None:
        return UNKNOWN
    return [tuple(map(as_size, stated))]
