# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from onnx_lint.model import Model


def concerns(model: Model) -> bool:
    """Tell whether a type is not plain: plain ones have no denotation."""
    return not model.has_plain_types
