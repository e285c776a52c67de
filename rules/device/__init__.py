# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from onnx_lint.model import Model


def concerns(model: Model) -> bool:
    """Tell whether the model or a node is configured for devices; if not, no rule of the chapter is imported."""
    return bool(model.proto.configuration) or any(node.proto.device_configurations for node in model.annotated_nodes)
