# SPDX-License-Identifier: Apache-2.0
"""The common part of convolution and pooling: a window that moves over the spatial axes of a padded input."""

from __future__ import annotations

from onnx_lint.common.record import Record
from onnx_lint.inference.shapes.dims import Dim, Dims, add, divide_down, multiply
from onnx_lint.inference.shapes.expression import at_least
from onnx_lint.inference.shapes.operands import Operands
from onnx_lint.inference.shapes.problem import Element, InputDimension, NumberSource, Unequal

SAME = ("SAME_UPPER", "SAME_LOWER")


class Window(Record):
    """The attributes that say how a window moves, a number for each spatial axis."""

    kernel: Dims
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    padding_before: tuple[int, ...]
    padding_after: tuple[int, ...]
    auto_pad: str
    """With SAME_UPPER and SAME_LOWER the padding follows from the strides, instead of these numbers."""
    weights: int | None = None
    """The input whose shape is the kernel's, if there is one."""
    first_axis: int = 2
    """The first spatial axis of the input: 1 if the channels are last."""

    @property
    def is_automatic(self) -> bool:
        """True if the padding follows from the strides."""
        return self.auto_pad in SAME

    def place(self, axis: int) -> InputDimension | None:
        """Return the dimension of the weights with the kernel's size along a spatial axis."""
        size = self.kernel[axis]
        return (
            InputDimension(self.weights, axis + 2, size) if self.weights is not None and isinstance(size, int) else None
        )

    def extent(self, axis: int) -> int | None:
        """Return how many elements of an axis the window spans."""
        size = self.kernel[axis]
        return (size - 1) * self.dilations[axis] + 1 if isinstance(size, int) else None


def window_of(
    node: Operands, rank: int, kernel: Dims | None, weights: int | None = None, *, first_axis: int = 2
) -> Window | None:
    """Return the window of a node over `rank` spatial axes; None if an attribute is wrong, which is recorded.

    `kernel`: the size of the window without the attribute, such as that of the input `weights`.
    """
    strides = per_axis(node, "strides", rank, least=1)
    dilations = per_axis(node, "dilations", rank, least=1)
    pads = per_axis(node, "pads", 2 * rank, least=0)
    stated = node.integers("kernel_shape")
    if stated is not None:
        are_right = node.has_count("kernel_shape", len(stated), rank, 0) and node.at_least(1, stated, "kernel_shape")
        kernel = stated if are_right else None
    if kernel is None or strides is None or dilations is None or pads is None or len(kernel) != rank:
        return None
    # VALID means no padding at all; SAME_UPPER and SAME_LOWER determine the padding themselves.
    automatic = node.text("auto_pad", "NOTSET")
    if automatic == "VALID":
        pads = (0,) * (2 * rank)
    return Window(
        kernel=kernel,
        strides=strides,
        dilations=dilations,
        padding_before=pads[:rank],
        padding_after=pads[rank:],
        auto_pad=automatic,
        weights=weights,
        first_axis=first_axis,
    )


def check_attributes(node: Operands) -> None:
    """Record the attributes that are wrong whatever the shape of the input is, which is unknown."""
    for name in ("kernel_shape", "strides", "dilations"):
        node.at_least(1, node.integers(name) or (), name)


def per_axis(
    node: Operands, name: str, count: int, *, least: int, counted_by: NumberSource = 0
) -> tuple[int, ...] | None:
    """Return a list with `count` numbers for the spatial axes of an input; None for a wrong one, which is recorded.

    `counted_by`: the input or attribute that determines the count. `least`: the least valid number. It is also the
    number of each axis without a list, as it then has no effect. An empty list is wrong: onnx and ONNX Runtime refuse
    it as well.
    """
    values = node.integers(name)
    if values is None:
        return (least,) * count
    if not node.has_count(name, len(values), count, counted_by) or not node.at_least(least, values, name):
        return None
    return values


def output_sizes(node: Operands, spatial: Dims, window: Window, *, rounds_up: bool = False) -> Dims | None:
    """Return the sizes of the spatial axes of the output; None if a window is larger than the padded input can be.

    `rounds_up`: whether a last window may begin inside of the input and end after it.
    """
    recorded = len(node.problems)
    found = [_output_size(node, axis, size, window, rounds_up=rounds_up) for axis, size in enumerate(spatial)]
    return None if len(node.problems) > recorded else tuple(found)


def _output_size(node: Operands, axis: int, size: Dim, window: Window, *, rounds_up: bool) -> Dim:
    stride, extent = window.strides[axis], window.extent(axis)
    if window.is_automatic:
        # The specification pads for the dilated window. The pools of ONNX Runtime pad for the kernel without the
        # dilation, and their output is smaller.
        runtimes_agree = window.weights is not None or extent == window.kernel[axis]
        return divide_down(add(size, stride - 1), stride) if runtimes_agree else None
    if extent is None:
        return None
    if isinstance(size, int):
        return _windows_on_known_size(node, axis, size, window, extent, rounds_up=rounds_up)
    return _windows_on_symbolic_size(size, axis, window, extent, rounds_up=rounds_up)


def _windows_on_symbolic_size(size: Dim, axis: int, window: Window, extent: int, *, rounds_up: bool) -> Dim:
    """Return the number of windows on an axis whose size is a variable, an expression or unknown.

    At least one window fits, or else the node cannot run.
    """
    stride = window.strides[axis]
    least_size = extent - _padding(window, axis)  # the size from which a window fits
    if rounds_up and stride != 1:
        # ceil((size - least_size) / stride) + 1 is the number of windows if the last one begins before the padding
        # after the input, if each size from 1 on has a window, and if the padding alone has none.
        begins_in_input = window.padding_after[axis] + stride <= extent
        if not begins_in_input or not 1 <= least_size <= stride:
            return None
        return add(divide_down(add(size, stride - 1 - least_size), stride), 1)
    count = add(divide_down(add(size, -least_size), stride), 1)
    # ONNX Runtime's pools accept some windows that are too large. The output then has size 1 or 0, see
    # `_windows_on_known_size`.
    if window.weights is not None or stride == 1 or least_size <= 1 or not isinstance(count, str):
        return count
    return at_least(count, 1) if least_size <= stride else None


def _windows_on_known_size(
    node: Operands, axis: int, size: int, window: Window, extent: int, *, rounds_up: bool
) -> Dim:
    """Return the number of windows on an axis of known size.

    None if no window fits, or if the specification and programs return different numbers.
    """
    stride = window.strides[axis]
    slack = size + _padding(window, axis) - extent
    if window.auto_pad == "VALID" and rounds_up and slack % stride:
        # Programs differ: by the formula of the specification the last window is left out; onnx and ONNX Runtime count
        # it.
        return None
    # If rounded up, the last window may end after the padded input by less than a stride.
    needed = size - slack - (stride - 1 if rounds_up else 0)
    if needed > size:
        # Pools of ONNX Runtime accept a window that exceeds the padded input by less than two strides, since they round
        # the quotient towards zero: the output has size 1 or 0. Convolutions reject any larger window.
        if window.weights is not None or slack <= -2 * stride:
            _record_small_input(node, axis, size, window, needed)
        return None
    if not rounds_up:
        return slack // stride + 1
    count = -(-slack // stride) + 1
    if (count - 1) * stride < size + window.padding_before[axis]:
        return count
    # The specification leaves out a window that would begin in the padding after the input, from version 22 on. It does
    # not say so before, nor for LpPool: there, onnx counts the window, and ONNX Runtime does not.
    return count - 1 if node.version >= _NO_WINDOW_IN_PADDING_FROM and node.operator != "LpPool" else None


_NO_WINDOW_IN_PADDING_FROM = 22
"""The first version whose text leaves out a window that begins in the padding after the input."""


def _record_small_input(node: Operands, axis: int, size: int, window: Window, needed: int) -> None:
    """Record an axis of an input that has fewer elements than a window needs."""
    # An empty input has an empty output, whatever the window is; a node test case has such inputs.
    if not size:
        return
    by: InputDimension | Element | None = window.place(axis)
    if node.integers("kernel_shape"):
        by = Element("kernel_shape", window.kernel[axis], axis)
    node.problems.append(Unequal(InputDimension(0, axis + window.first_axis, size), needed, by, or_more=True))


def transposed_size(node: Operands, axis: int, size: Dim, window: Window, output_padding: int = 0) -> Dim:
    """Return the output size of a transposed convolution along a spatial axis; None if it would be negative.

    (size - 1) * stride + extent - padding + output padding: a convolution with the window reduces it to `size`.
    """
    extent = window.extent(axis)
    if extent is None:
        return None
    if not isinstance(size, int):
        constant = output_padding + extent - window.strides[axis] - _padding(window, axis)
        return add(multiply(size, window.strides[axis]), constant)
    length = window.strides[axis] * (size - 1) + output_padding + extent - _padding(window, axis)
    if length < 0 and size:
        place = axis if window.padding_before[axis] else axis + len(window.padding_before)
        removed, available = _padding(window, axis), length + _padding(window, axis)
        reason = f"the pads remove {removed} from spatial axis {axis}, but it has {available}"
        pads = window.padding_before + window.padding_after
        node.wrong_value("pads", pads[place], reason, index=place, allowed="smaller pads", about_data=True)
    return length if length >= 0 else None


def _padding(window: Window, axis: int) -> int:
    return window.padding_before[axis] + window.padding_after[axis]
