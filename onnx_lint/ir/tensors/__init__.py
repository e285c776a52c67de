# SPDX-License-Identifier: Apache-2.0
"""The values of tensors: their types, the number of stored values, and the values themselves, in bounded pieces.

Sizes and structure come from the message and from the payloads that the loader left in the source; only rules on
contents read those. Rules begin with `Model.tensors`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from onnx_lint.ir.tensors.sparse import StoredSparseTensor
    from onnx_lint.ir.tensors.stored_tensor import StoredTensor
    from onnx_lint.ir.tensors.strings import Occurrences, and_others

__all__ = [
    "Occurrences",
    "StoredSparseTensor",
    "StoredTensor",
    "and_others",
]

_WHERE = {
    "Occurrences": "strings",
    "StoredSparseTensor": "sparse",
    "StoredTensor": "stored_tensor",
    "and_others": "strings",
}


def __getattr__(name: str) -> Any:
    """Import the modules that examine tensors at their first use: most models have no tensor that needs it."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
