# SPDX-License-Identifier: Apache-2.0
"""The dimensions that a graph states for values: of its initializers, inputs, outputs and value_info."""

from __future__ import annotations

import functools

from onnx_lint import schema
from onnx_lint.model.columns.gather import dimensions
from onnx_lint.model.columns.value_infos import NO_VALUE_INFOS
from onnx_lint.model.graph import Graph

Dims = tuple[int | None, ...]
"""The dimensions of a tensor; None for one that is not a number."""


def stated_dims(graph: Graph, names: set[str]) -> dict[str, Dims]:
    """The dimensions of those of the values `names` for which the graph, or one around it, states any."""
    found: dict[str, Dims] = {}
    held = graph.initializers
    # Large graphs have few shapes and types, each of which is parsed once.
    dims_of_shape, dims_of_type = functools.cache(dimensions), functools.cache(_dims)
    for name, shape in zip(held.names, held.shapes, strict=True):
        if name in names:
            found.setdefault(name, dims_of_shape(shape))
    # Of a value with two types the one in value_info counts, and not that of the output.
    for role in ("input", "value_info", "output"):
        values = graph.value_infos.get(role, NO_VALUE_INFOS)
        for name, kind in zip(values.names, values.types, strict=True):
            dims = dims_of_type(kind) if name in names else None
            if dims is not None:
                found.setdefault(name, dims)
    missing = names - found.keys()
    return {**stated_dims(graph.parent, missing), **found} if missing and graph.parent is not None else found


def _dims(kind: bytes) -> Dims | None:
    """The dimensions that a serialized TypeProto states."""
    proto = schema.opened("TypeProto", kind)
    tensor = proto.tensor_type
    if not proto.HasField("tensor_type") or not tensor.HasField("shape"):
        return None
    return tuple(dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim)
