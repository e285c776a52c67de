# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from onnx_lint.model import Model


def concerns(model: Model) -> bool:
    """Tell whether the model has functions, or a node with an overload; if not, no rule of the chapter is imported."""
    return bool(model.functions) or any(node.proto.overload for node in model.annotated_nodes)
