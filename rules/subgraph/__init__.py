# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from onnx_lint.model import Model


def concerns(model: Model) -> bool:
    """Tell whether a graph is nested in another; if not, no rule of the chapter is imported."""
    return bool(model.nested_graphs)
