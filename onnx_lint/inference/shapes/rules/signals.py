# SPDX-License-Identifier: Apache-2.0
"""Operators of signals: windows, Fourier transforms, mel scales."""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import Dim, Shape
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, InputDimension, NumberSource, Unequal
from onnx_lint.inference.shapes.registration import register_rule

_COMPLEX = 2
"""A complex number is a real and an imaginary part along the last axis; a real number has only one."""


@register_rule("BlackmanWindow", "HammingWindow", "HannWindow", reads=(0,))
def window(node: Operands) -> Outputs:
    """Infer [n] from the number n in input 0."""
    return [(_count(node, 0, least=1),)]


@register_rule("MelWeightMatrix", reads=(0, 1))
def mel_weight_matrix(node: Operands) -> Outputs:
    """Infer [length // 2 + 1, bands] from the numbers in inputs 0 (bands) and 1 (length of the transform)."""
    bands, length = _count(node, 0), _count(node, 1)
    for index in range(2, 5):
        node.scalar(index)
    return [(_one_sided(length), bands)]


@register_rule("DFT", reads=(1,))
@register_rule("DFT:20", reads=(1, 2))
def transform(node: Operands) -> Outputs:
    """Infer the shape of the signal, with the length in input 1 along the axis, and with complex numbers.

    With `onesided` the output has half of the frequencies; with `inverse` as well, real numbers of the full length. Up
    to version 19 the axis is an attribute. From version 20 on it is input 2, by default the axis before the last.
    """
    source: NumberSource = "axis" if node.version < _AXIS_IN_INPUT else 2
    axis = _axis(node)
    shape = node.shape(0, at_least=2)
    length = _count(node, 1)
    if shape is None:
        return UNKNOWN
    is_one_sided, is_inverse = bool(node.integer("onesided", 0)), bool(node.integer("inverse", 0))
    if is_one_sided:
        # Half of a transform represents only real numbers, which are its input, or its output if inverse.
        node.same((0, -1), _COMPLEX if is_inverse else 1, Element("onesided", node.integer("onesided")))
    else:
        _check_last_axis(node)
    rank = len(shape)
    along = node.axis(axis, rank, source, 0 if isinstance(source, int) else None)
    if along == rank - 1:
        allowed = f"0 to {rank - 2}, or {-rank} to -2"
        node.wrong_value(
            source, axis, "the last axis has the parts of complex numbers", allowed=allowed, about_data=True
        )
    is_real = is_one_sided and is_inverse
    last = 1 if is_real else _COMPLEX
    if along is None:
        return [(*(None,) * (rank - 1), last)] if not node.problems else UNKNOWN
    size = length if node.given(1) else shape[along]
    if is_real:
        size = length if node.given(1) else _two_sided(size)
    elif is_one_sided:
        size = _one_sided(size)
    return [(*shape[:along], size, *shape[along + 1 : -1], last)]


def _axis(node: Operands) -> Dim:
    """Return the axis of the signal; None if it is unknown."""
    if node.version < _AXIS_IN_INPUT:
        return node.integer("axis", 1)
    return _whole(node, 2) if node.given(2) else -2


def _two_sided(bins: Dim) -> Dim:
    """Return the even length of a real signal whose one-sided transform has `bins` numbers; an odd one has them too."""
    return 2 * (bins - 1) if isinstance(bins, int) and bins else None


_AXIS_IN_INPUT = 20
"""The first version of DFT with an input for the axis."""


@register_rule("STFT", reads=(1, 3))
def short_time_transform(node: Operands) -> Outputs:
    """Infer [batch, frames, bins, 2] from a batch of signals; a window is as long as a frame."""
    shape = node.shape(0, 3)
    signal = node.fact(0).shape
    has_parts = signal is not None and len(signal) != _WITHOUT_PARTS
    if signal is not None and not has_parts:
        # Real numbers without the axis of size 1, as the older exporter of PyTorch writes them.
        shape = (*signal, 1)
    step = _whole(node, 1)
    if not node.at_least(1, (step,), 1):
        step = None
    frame = _frame(node, shape)
    if shape is not None and has_parts:
        _check_last_axis(node)
    batch, length = shape[:2] if shape is not None else (None, None)
    bins = _one_sided(frame) if node.integer("onesided", 1) else frame
    frames = None
    if isinstance(length, int) and isinstance(frame, int):
        if frame > length:
            by = Element(3, frame, 0) if node.given(3) else node.place(2, 0)
            node.problems.append(Unequal(InputDimension(0, 1, length), frame, by, or_more=True))
            return UNKNOWN
        frames = (length - frame) // step + 1 if isinstance(step, int) else None
    return [(batch, frames, bins, _COMPLEX)]


_WITHOUT_PARTS = 2
"""The rank of a batch of signals whose numbers have no axis for real and imaginary parts."""


def _frame(node: Operands, shape: Shape) -> Dim:
    """Return the length of a frame: the number in the input, the length of the window, or that of the whole signal."""
    window = node.shape(2, 1)
    if node.given(3):
        frame = _count(node, 3)
        if isinstance(frame, int):
            node.same((2, 0), frame, Element(3, frame, 0))
        return frame
    if node.given(2):
        return window[0] if window is not None else None
    return shape[1] if shape is not None else None


def _check_last_axis(node: Operands) -> None:
    """Check that the last axis of a signal has real or complex numbers."""
    if node.dim(0, -1) != 1:
        node.same((0, -1), _COMPLEX, None)


def _count(node: Operands, index: int, *, least: int = 0) -> Dim:
    """Return the count in a scalar; one that is too small is recorded."""
    count = _whole(node, index)
    return count if node.at_least(least, (count,), index) else None


def _whole(node: Operands, index: int) -> Dim:
    number = node.scalar(index)
    return None if isinstance(number, float) else number


def _one_sided(length: Dim) -> Dim:
    """Return how many frequencies are left if the others are their mirror."""
    return length // 2 + 1 if isinstance(length, int) else None
