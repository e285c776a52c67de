# SPDX-License-Identifier: Apache-2.0
"""The nodes of Resize and Upsample that kernels of ONNX Runtime refuse for their scales and attributes.

Seen in 1.17.3, 1.18.1, 1.20.1, 1.23.2 and 1.32.0. Nodes whose scales are no constants load; they may fail when they
run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from onnx_lint.inference.shapes.dims import Shape
from onnx_lint.inference.shapes.fact import Content
from onnx_lint.ir.graph import GraphKind
from onnx_lint.model import Model, Node

_INTERPOLATING: Final = (b"linear", b"cubic")
_LINEAR: Final = b"linear"


def may_refuse_scales(model: Model, node: Node) -> bool:
    """Return whether the kernel may refuse a node of Resize or Upsample. Surely not, as far as its attributes show."""
    attributes = {each.name: each for each in node.attribute_protos}
    if any(each.ref_attr_name for each in attributes.values()):
        return True
    mode = attributes["mode"].s if "mode" in attributes else b"nearest"
    if _has(attributes, "antialias"):
        if mode not in _INTERPOLATING:
            return True
    elif _has(attributes, "exclude_outside") and mode != b"cubic":
        return True
    return mode in _INTERPOLATING and not _fits(mode, _scales(model, node, attributes))


def _has(attributes: dict[str, Any], name: str) -> bool:
    return name in attributes and attributes[name].i == 1


def _scales(model: Model, node: Node, attributes: dict[str, Any]) -> Content | bool:
    """Return the scale of each axis. True if they are no constants, and None if they may be and are unknown."""
    if "scales" in attributes:
        return tuple(attributes["scales"].floats)
    index = 2 if len(node.inputs) > 2 else 1  # Resize 10 and Upsample 9 have no region of interest
    name = node.inputs[index] if index < len(node.inputs) else ""
    found = node.graph.definition_of(name) if name else None
    if not name or (found is not None and found.field == "input" and found.graph.kind is GraphKind.MAIN):
        return True
    fact = model.value_flow.facts_seen(node.graph)(name)
    function = node.graph.function
    if fact is None or (function is not None and len(model.calls.running.get(function.index, ())) > 1):
        return None  # the calls may have different constants
    if fact.content is None or "axes" not in attributes:
        return fact.content
    return _on_all_axes(fact.content, attributes["axes"].ints, model.shape_of(node.inputs[0], node.graph))


def _on_all_axes(scales: Sequence[Any], axes: Sequence[int], shape: Shape) -> Content:
    """Return the scale of each axis of an image: 1 for those that are not listed. None if that is unknown."""
    if shape is None or len(axes) != len(scales):
        return None
    rank = len(shape)
    full: list[Any] = [1] * rank
    for axis, scale in zip(axes, scales, strict=True):
        if -rank <= axis < rank:
            full[axis] = scale
    return tuple(full)


def _fits(mode: bytes, scales: Content | bool) -> bool:
    """Return whether the kernel has an implementation: those for images, whose outer axes keep their size."""
    if isinstance(scales, bool) or scales is None:
        return scales is True
    rank = len(scales)
    if mode == _LINEAR and rank == 4:
        return _keeps(scales, 0, 1) or _keeps(scales, 0, 3)
    if mode == _LINEAR:
        return rank in (2, 3) or (rank == 5 and _keeps(scales, 0, 1))
    return rank == 2 or (rank == 4 and _keeps(scales, 0, 1))


def _keeps(scales: Sequence[Any], *axes: int) -> bool:
    return all(scales[axis] == 1 for axis in axes)
