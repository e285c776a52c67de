# SPDX-License-Identifier: Apache-2.0
"""Operators that scale a tensor, or cut and pad it, to other sizes."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from onnx_lint.inference.shapes.dims import Dim, Dims, are_sizes, divide_down, multiply
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, NumberSource, Warned, WrongValue
from onnx_lint.inference.shapes.registration import register_rule


@register_rule("Upsample")
def upsample_image(node: Operands) -> Outputs:
    """Infer a scaled height and width of an image [N, C, H, W]."""
    shape = node.shape(0, 4)
    factors = [1.0, 1.0, node.number("height_scale"), node.number("width_scale")]
    return UNKNOWN if shape is None else [_scaled(shape, range(4), factors)]


@register_rule("Upsample:7", "Upsample:9", "Resize", reads=(1,))
def scale(node: Operands) -> Outputs:
    """Infer each dimension times its scale, rounded down."""
    shape = node.shape(0)
    is_attribute = node.operator == "Upsample" and node.version < 9
    factors = node.numbers("scales") if is_attribute else _factors(node, 1)
    if factors is None:
        return UNKNOWN if shape is None else [(None,) * len(shape)]
    if shape is None:
        return [(None,) * len(factors)]
    if not node.has_count("scales" if is_attribute else 1, len(factors), len(shape), 0):
        return UNKNOWN
    return [_scaled(shape, range(len(shape)), factors)]


@register_rule("Resize:11", reads=(2, 3))
def resize(node: Operands) -> Outputs:
    """Infer the dimensions at `axes` times scales, rounded down, or the sizes in an input."""
    _check_region_of_crop(node)
    shape, listed = node.shape(0), node.integers("axes")
    sizes, factors = _sizes_or_factors(node)
    given = factors if sizes is None else sizes
    if shape is None:
        return _of_unknown_rank(node, listed, given, 2 if sizes is None else 3)
    axes = _axes(node, listed, len(shape))
    if axes is None:
        return UNKNOWN
    of: NumberSource = 0 if listed is None else "axes"
    _check_region(node, len(axes), of)
    if given is None or not node.has_count(2 if sizes is None else 3, len(given), len(axes), of):
        return [tuple([None if axis in axes else dim for axis, dim in enumerate(shape)])]
    if sizes is not None:
        return [_sized(node, shape, axes, sizes)]
    policy = node.text("keep_aspect_ratio_policy", "stretch")
    if policy != "stretch":
        node.wrong_value(
            "keep_aspect_ratio_policy",
            policy,
            "the node has scales, and only sizes have proportions to keep",
            allowed="'stretch'",
        )
    if node.text("coordinate_transformation_mode") == _CROPS:
        # By the description the region counts as well; onnx ignores it.
        factors = None
    return [_scaled(shape, axes, factors or [None] * len(axes))]


def _of_unknown_rank(
    node: Operands, listed: tuple[int, ...] | None, given: Sequence[Dim | float] | None, index: int
) -> Outputs:
    """Return a shape of as many dimensions as the sizes or scales in an input, or compare their number with `axes`."""
    if listed is None:
        return UNKNOWN if given is None else [(None,) * len(given)]
    _check_region(node, len(listed), "axes")
    if given is not None:
        node.has_count(index, len(given), len(listed), "axes")
    return UNKNOWN


def _sizes_or_factors(node: Operands) -> tuple[Dims | None, Sequence[float | None] | None]:
    """Return the sizes and the scales. The node has one of them; None for the other one, and if neither is known.

    An empty tensor counts as omitted: version 11 requires it instead of scales, and exporters still write it.
    """
    sizes = node.integers_in(3) if node.given(3) else None
    factors = _factors(node, 2) if node.given(2) else None
    if sizes:
        node.at_least(0, sizes, 3)
        # Both at once, or neither, is another finding.
        return (None, None) if factors else (sizes, None)
    if node.given(3) and sizes is None:
        # The scales must be empty if these are not.
        return None, factors or None
    return None, factors


def _axes(node: Operands, listed: tuple[int, ...] | None, rank: int) -> tuple[int, ...] | None:
    # For an axis that occurs twice the description says that the behaviour is undefined.
    return tuple(range(rank)) if listed is None else node.axes(listed, rank, "axes")


_CROPS = "tf_crop_and_resize"
"""The only mode in which the region of interest has an effect."""


def _check_region_of_crop(node: Operands) -> None:
    """Note a node that crops and has no region; before version 13 the signature requires one."""
    name = "coordinate_transformation_mode"
    if node.text(name) == _CROPS and not node.given(1) and node.version >= _ROI_IS_OPTIONAL:
        reason = "the node leaves out input 1 ('roi'), the region to crop"
        node.warnings.append(Warned(WrongValue(Element(name, _CROPS, None), reason, "a region, or another mode")))


_ROI_IS_OPTIONAL = 13
"""The first version in which the region may be left out."""


def _check_region(node: Operands, count: int, of: NumberSource) -> None:
    """Record a region of interest without a start and an end for each axis."""
    if node.text("coordinate_transformation_mode") != _CROPS or not node.given(1):
        return
    shape = node.shape(1, 1)
    if shape is not None and isinstance(shape[0], int):
        node.has_count(1, shape[0], 2 * count, of)


def _factors(node: Operands, index: int) -> Sequence[float | None] | None:
    """Return the scales in an input, or as many unknowns as its shape says; None if neither is known."""
    if node.shape(index, 1) is None:
        return None
    content = node.content(index)
    if content is None:
        unknown = node.integers_in(index)
        return None if unknown is None else [None] * len(unknown)
    factors = [each if isinstance(each, int | float) else None for each in content]
    for at, factor in enumerate(factors):
        if factor is None:
            continue
        if node.operator == "Upsample" and factor < 1:
            node.too_small(index, factor, 1, index=at)
        elif not factor > 0:
            node.wrong_value(index, factor, "scales are greater than 0", index=at, allowed="a number above 0")
    return factors


def _scaled(shape: Dims, axes: Sequence[int], factors: Sequence[float | None]) -> Dims:
    found: list[Dim] = list(shape)
    for axis, factor in zip(axes, factors, strict=True):
        found[axis] = _times(shape[axis], factor)
    return tuple(found)


def _times(size: Dim, factor: float | None) -> Dim:
    """Return a size times a scale, rounded down; None if the result depends on the precision of the computation.

    The description names none; onnx and ONNX Runtime compute in 32 bits, where 10 * 0.7 is 7, others in 64 bits, where
    it is 6, because the 32 bits of the scale represent a little less than 0.7.
    """
    if factor == 1:
        return size
    if isinstance(size, str) and factor is not None and math.isfinite(factor) and factor > 0:
        up, down = float(factor).as_integer_ratio()
        return divide_down(multiply(size, up), down) if max(up, down) <= _MAX_EXACT else None
    if not isinstance(size, int) or factor is None or not math.isfinite(factor) or factor < 0:
        return None
    wide = size * factor
    narrow = _in_32_bits(_in_32_bits(size) * factor)
    if not (math.isfinite(wide) and math.isfinite(narrow)):
        return None
    return math.floor(wide) if math.floor(wide) == math.floor(narrow) else None


_MAX_EXACT = 64
"""The greatest numerator and denominator for which a size times a scale is exact in 32 bits."""


def _in_32_bits(number: float) -> float:
    try:
        return float(struct.unpack("<f", struct.pack("<f", number))[0])
    except OverflowError:
        return math.inf


def _sized(node: Operands, shape: Dims, axes: Sequence[int], sizes: Dims) -> Dims:
    """Return the sizes, unchanged or adjusted so that the image keeps its proportions and is not larger, or not
    smaller.
    """
    found: list[Dim] = list(shape)
    policy = node.text("keep_aspect_ratio_policy", "stretch")
    before = tuple([shape[axis] for axis in axes])
    if policy == "stretch":
        after = sizes
    elif are_sizes(before) and are_sizes(sizes) and 0 not in before and min(sizes, default=0) >= 0:
        after = _in_proportion(before, sizes, is_larger=policy == "not_smaller")
    else:
        after = (None,) * len(axes)
    for axis, size in zip(axes, after, strict=True):
        found[axis] = size
    return tuple(found)


def _in_proportion(before: Sequence[int], sizes: Sequence[int], *, is_larger: bool) -> Dims:
    """Return all sizes times the smallest requested ratio, or the largest, rounded to the nearest integer."""
    ratios = [(size / one, size, one) for one, size in zip(before, sizes, strict=True)]
    if not ratios:
        return ()
    _, up, down = (max if is_larger else min)(ratios)
    # Halves are rounded up. In floating point they may come out lower if the ratio is not exact.
    is_exact = down & (down - 1) == 0
    found: list[Dim] = []
    for one in before:
        is_half = 2 * one * up % (2 * down) == down
        found.append(None if is_half and not is_exact else (2 * one * up + down) // (2 * down))
    return tuple(found)


@register_rule("CenterCropPad", reads=(1,))
def crop_or_pad(node: Operands) -> Outputs:
    """Infer the sizes in the second input for the dimensions at `axes`."""
    shape, target, listed = node.shape(0), node.integers_in(1), node.integers("axes")
    if target is not None:
        node.at_least(0, target, 1)
    if shape is None:
        if target is not None and listed is not None:
            node.has_count(1, len(target), len(listed), "axes")
        return UNKNOWN if target is None or listed is not None else [target]
    axes = _axes(node, listed, len(shape))
    of: NumberSource = 0 if listed is None else "axes"
    if axes is None or (target is not None and not node.has_count(1, len(target), len(axes), of)):
        return UNKNOWN
    found: list[Dim] = list(shape)
    for axis, size in zip(axes, target or (None,) * len(axes), strict=True):
        found[axis] = size
    return [tuple(found)]
