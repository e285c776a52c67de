# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Collection

from onnx_lint.model import Model

_ON_NAMES = frozenset({"duplicate-initializer", "overridable-initializer"})


def concerns(model: Model) -> bool | Collection[str]:
    """Tell whether initializers have to be inputs, or a value is declared twice; if not, only their names can be wrong.

    From IR version 4 on they are no inputs as a rule.
    """
    if not model.graphs_with("initializer") and not model.graphs_with("sparse_initializer"):
        return False
    return model.effective_ir_version < 4 or bool(model.repeated_declarations) or _ON_NAMES
