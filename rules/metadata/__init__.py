# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from onnx_lint.model import Model


def concerns(model: Model) -> bool:
    """Tell whether there is metadata, or a denotation that asks for it; if not, no rule of the chapter is imported."""
    if any(True for _ in model.metadata()):
        return True
    return not model.has_plain_types and any(True for _ in model.types_where(lambda proto: bool(proto.denotation)))
