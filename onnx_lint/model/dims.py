# SPDX-License-Identifier: Apache-2.0
"""The dimensions that a graph states for values: of its initializers, inputs, outputs and value_info."""

from __future__ import annotations

from onnx_lint.model.graph import Graph, Proto

Dims = tuple[int | None, ...]
"""The dimensions of a tensor; None for one that is not a number."""


def stated_dims(graph: Graph, names: set[str]) -> dict[str, Dims]:
    """The dimensions of those of the values `names` for which the graph, or one around it, states any."""
    found: dict[str, Dims] = {}
    for name, tensor in zip(graph.initializer_names, graph.proto.initializer, strict=True) if _holds(graph) else ():
        if name in names:
            found.setdefault(name, tuple(tensor.dims))
    for role in ("value_info",) if graph.is_function else ("input", "value_info", "output"):
        for name, value in zip(getattr(graph, f"{role}_names"), getattr(graph.proto, role), strict=True):
            dims = _dims(value) if name in names else None
            if dims is not None:
                found.setdefault(name, dims)
    missing = names - found.keys()
    return {**stated_dims(graph.parent, missing), **found} if missing and graph.parent is not None else found


def _holds(graph: Graph) -> bool:
    return not graph.is_function and bool(graph.proto.initializer)


def _dims(value: Proto) -> Dims | None:
    tensor = value.type.tensor_type
    if not value.type.HasField("tensor_type") or not tensor.HasField("shape"):
        return None
    return tuple(dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim)
