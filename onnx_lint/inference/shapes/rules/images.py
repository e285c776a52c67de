# SPDX-License-Identifier: Apache-2.0
"""Operators of images: GridSample, AffineGrid, RoiAlign, MaxRoiPool, Col2Im, ImageDecoder."""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import Dim, Dims, product
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, InputDimension, ProblemPlace
from onnx_lint.inference.shapes.registration import register_equations, register_rule
from onnx_lint.inference.shapes.rules.windows import per_axis

register_equations({"GridSample": "X[n c h w] grid[n rows columns 2] -> Y[n c rows columns]"})


@register_rule("GridSample:20")
def sample_at_grid(node: Operands) -> Outputs:
    """Infer [N, C, E1, ..., Er] from an image [N, C, D1, ..., Dr] and a grid [N, E1, ..., Er, r]."""
    image = node.shape(0, at_least=3)
    grid = node.shape(1, at_least=3) if image is None else node.shape(1, len(image), like=0)
    if grid is not None:
        node.same((1, -1), len(grid) - 2, None)
    batch = node.equal((0, 0), (1, 0)) if image is not None and grid is not None else None
    if grid is None:
        return UNKNOWN if image is None else [(*image[:2], *(None,) * (len(image) - 2))]
    return [(grid[0] if image is None else batch, node.dim(0, 1), *grid[1:-1])]


@register_rule("MaxRoiPool")
def pool_regions(node: Operands) -> Outputs:
    """Infer an image of size `pooled_shape` for each region.

    A region has five numbers: the number of its image, and two corners.
    """
    node.shape(0, 4)
    if node.shape(1, 2) is not None:
        node.same((1, 1), 5, None)
    pooled = node.integers("pooled_shape") or ()
    if not node.has_count("pooled_shape", len(pooled), 2) or not node.at_least(1, pooled, "pooled_shape"):
        return UNKNOWN
    return [(node.dim(1, 0), node.dim(0, 1), *pooled)]


@register_rule("RoiAlign", reads=(2,))
def align_regions(node: Operands) -> Outputs:
    """Infer an image of `output_height` and `output_width` for each region.

    A region has four numbers, and input 2 has the number of its image.
    """
    node.shape(0, 4)
    regions = None
    if node.shape(1, 2) is not None:
        node.same((1, 1), 4, None)
        regions = node.dim(1, 0)
    if node.shape(2, 1) is not None:
        regions = node.same((2, 0), regions, node.place(1, 0))
        node.counts_within(2, 0, node.dim(0, 0), "images")
    for name in ("output_height", "output_width"):
        node.is_positive(name)
    return [(regions, node.dim(0, 1), node.integer("output_height", 1), node.integer("output_width", 1))]


@register_rule("AffineGrid", reads=(1,))
def affine_grid(node: Operands) -> Outputs:
    """Infer [N, H, W, 2] from a size [N, C, H, W], and [N, D, H, W, 3] from [N, C, D, H, W]."""
    theta, size = node.shape(0, 3), node.integers_in(1)
    by: ProblemPlace | None = None
    spatial: Dim = None
    if size is not None:
        spatial, by = len(size) - 2, InputDimension(1, 0, len(size))
        if not node.at_least(1, size, 1):
            return UNKNOWN
    elif theta is not None and isinstance(theta[1], int):
        spatial, by = theta[1], node.place(0, 1)
    if isinstance(spatial, int) and spatial not in (2, 3):
        # For 2 axes, `size` has 4 numbers and a matrix 2 rows; for 3 axes, 5 numbers and 3 rows.
        nearest = 2 if spatial < 2 else 3
        if size is not None:
            node.has_count(1, len(size), nearest + 2)
        else:
            node.same((0, 1), nearest, None)
        return UNKNOWN
    batch: Dim = size[0] if size is not None else None
    if theta is not None and isinstance(spatial, int):
        node.same((0, 1), spatial, by)
        node.same((0, 2), spatial + 1, by)
        batch = node.same((0, 0), batch, Element(1, batch, 0))
    if size is None:
        return UNKNOWN if not isinstance(spatial, int) else [(batch, *(None,) * spatial, spatial)]
    return [(batch, *size[2:], spatial)]


_LEAST_AXES = 2
"""The least number of axes of an image of Col2Im."""


@register_rule("Col2Im", reads=(1, 2))
def image_of_columns(node: Operands) -> Outputs:
    """Infer an image [N, C, ...] of the size in input 1 from blocks [N, C * size of a block, number of blocks]."""
    columns, image, block = node.shape(0, 3), node.integers_in(1), node.integers_in(2)
    if image is None or block is None:
        spatial = image or (None,) * len(block or ())
        return UNKNOWN if image is None and block is None else [(node.dim(0, 0), None, *spatial)]
    if len(image) < _LEAST_AXES:
        reason = f"the specification requires at least {_LEAST_AXES} sizes"
        node.wrong_value(1, image, reason, allowed=f"at least {_LEAST_AXES} sizes")
        return UNKNOWN
    is_right = node.has_count(2, len(block), len(image), 1)
    is_right &= node.at_least(1, block, 2)
    is_right &= node.at_least(0, image, 1)
    if not is_right:
        return UNKNOWN
    elements = product(block)
    channels = node.quotient((0, 1), elements, Element(2, block)) if columns is not None else None
    count = _blocks(node, image, block)
    if columns is not None:
        node.same((0, 2), count, Element(1, image))
    return [(node.dim(0, 0), channels, *image)]


def _blocks(node: Operands, image: Dims, block: Dims) -> Dim:
    """Return the number of blocks of an image; None if it is unknown. A block that does not fit is a problem."""
    rank = len(image)
    strides = per_axis(node, "strides", rank, least=1, counted_by=1)
    dilations = per_axis(node, "dilations", rank, least=1, counted_by=1)
    pads = per_axis(node, "pads", 2 * rank, least=0, counted_by=1)
    if strides is None or dilations is None or pads is None:
        return None
    counts: list[Dim] = []
    for axis, (size, length) in enumerate(zip(image, block, strict=True)):
        if not isinstance(size, int) or not isinstance(length, int):
            counts.append(None)
            continue
        padded = size + pads[axis] + pads[axis + rank]
        left = padded - dilations[axis] * (length - 1) - 1
        if left < 0:
            most = (padded - 1) // dilations[axis] + 1
            reason = f"the padded image has {padded} along this axis"
            node.wrong_value(2, length, reason, index=axis, allowed=f"at most {max(most, 0)}", about_data=True)
        counts.append(left // strides[axis] + 1 if left >= 0 else None)
    return product(counts)


@register_rule("ImageDecoder")
def decoded_image(node: Operands) -> Outputs:
    """Infer [height, width, channels], all unknown, and 0 if the bytes are not an image."""
    node.shape(0, 1)
    return [(None, None, None)]
