# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from onnx_lint.model import GraphKind, Model


def concerns(model: Model) -> bool:
    """Tell whether a graph is nested in another; if not, no rule of the chapter is imported."""
    return any(graph.kind is GraphKind.NESTED for graph in model.graphs)
