# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Collection

from onnx_lint.model import Model

_ON_PLAIN_TYPES = frozenset({"unlisted-element-type"})


def concerns(model: Model) -> bool | Collection[str]:
    """Tell whether a type is not plain; if not, only one rule has something to look at, and in one edition."""
    return not model.has_plain_types or _ON_PLAIN_TYPES
