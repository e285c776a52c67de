# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Collection

from onnx_lint.model import Model

_ON_LISTS = frozenset(
    {
        "duplicate-value-info",
        "redundant-value-info",
        "shapeless-graph-value",
        "unknown-value-info-name",
        "unnamed-value",
        "untyped-graph-value",
    }
)


def concerns(model: Model) -> bool | Collection[str]:
    """Tell whether a value is declared twice; if not, there is nothing in which two declarations may differ."""
    return bool(model.repeated_declarations) or _ON_LISTS
