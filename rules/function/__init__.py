# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from onnx_lint.model import Model


def concerns(model: Model) -> bool:
    """Tell whether the model has functions, or a node with an overload; if not, no rule of the chapter is imported."""
    nodes = (node for graph in model.graphs for node in graph.annotated_nodes)
    return bool(model.functions) or any(node.proto.overload for node in nodes)
