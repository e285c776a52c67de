# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Collection

from onnx_lint.model import Model

_WITHOUT_FAULT = frozenset({"exceeded-limit", "oversized-message"})


def concerns(model: Model) -> bool | Collection[str]:
    """Tell whether anything is wrong with the bytes; if not, only the rules on sizes have something to look at."""
    return bool(model.faults) or _WITHOUT_FAULT
