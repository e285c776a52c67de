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
from onnx_lint.model import Model, Node
from onnx_lint.refusals.operands import input_name, input_shape, is_given_by_run

_INTERPOLATING: Final = (b"linear", b"cubic")
_LINEAR: Final = b"linear"


def may_refuse_scales(model: Model, node: Node) -> bool:
    """Return whether the kernel may refuse a node of Resize or Upsample."""
    attributes = {each.name: each for each in node.attribute_protos}
    if any(each.ref_attr_name for each in attributes.values()):
        return True
    mode = attributes["mode"].s if "mode" in attributes else b"nearest"
    if _is_1(attributes, "antialias"):
        if mode not in _INTERPOLATING:
            return True
    elif _is_1(attributes, "exclude_outside") and mode != b"cubic":
        return True
    if mode not in _INTERPOLATING or _has_no_scales_at_load(model, node, attributes):
        return False
    scales = _scales(model, node, attributes)
    return scales is None or not _has_implementation(mode, scales)


def _is_1(attributes: dict[str, Any], name: str) -> bool:
    return name in attributes and attributes[name].i == 1


def _has_no_scales_at_load(model: Model, node: Node, attributes: dict[str, Any]) -> bool:
    """Return whether a node has no scales at load: it omits them, or they are an input of the model."""
    if "scales" in attributes:
        return False
    name = _name_of_scales(node)
    return not name or is_given_by_run(model, node.graph, name)


def _name_of_scales(node: Node) -> str:
    """Return the input with the scales; empty if the node omits it. Resize 10 and Upsample 9 have them as input 1."""
    return input_name(node, 2 if len(node.inputs) > 2 else 1)


def _scales(model: Model, node: Node, attributes: dict[str, Any]) -> Content:
    """Return the scale of each axis; None if they are unknown."""
    if "scales" in attributes:
        return tuple(attributes["scales"].floats)
    fact = model.value_flow.facts_seen(node.graph)(_name_of_scales(node))
    function = node.graph.function
    if fact is None or (function is not None and len(model.calls.running.get(function.index, ())) > 1):
        return None  # the calls may have different constants
    if fact.content is None or "axes" not in attributes:
        return fact.content
    return _on_all_axes(fact.content, attributes["axes"].ints, input_shape(model, node, 0))


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


def _has_implementation(mode: bytes, scales: Sequence[Any]) -> bool:
    """Return whether the kernel has an implementation: those for images, whose outer axes keep their size."""
    rank = len(scales)
    if mode == _LINEAR and rank == 4:
        return _keep_size(scales, 0, 1) or _keep_size(scales, 0, 3)
    if mode == _LINEAR:
        return rank in (2, 3) or (rank == 5 and _keep_size(scales, 0, 1))
    return rank == 2 or (rank == 4 and _keep_size(scales, 0, 1))


def _keep_size(scales: Sequence[Any], *axes: int) -> bool:
    """Return whether these axes keep their size."""
    return all(scales[axis] == 1 for axis in axes)
