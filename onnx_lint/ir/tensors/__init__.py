# SPDX-License-Identifier: Apache-2.0
"""The values of tensors: what types there are, how many values are stored, and what they are, in bounded pieces.

Sizes and structure come from the message and from the payloads that the loader left in the source; only rules on
contents read those. `Model.tensors` is where rules begin.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from onnx_lint.ir.columns.tensor_encodings import element_count

if TYPE_CHECKING:
    from onnx_lint.ir.tensors.sparse import StoredSparseTensor
    from onnx_lint.ir.tensors.stored_tensor import StoredTensor
    from onnx_lint.ir.tensors.strings import Occurrences, others

__all__ = [
    "Occurrences",
    "StoredSparseTensor",
    "StoredTensor",
    "element_count",
    "others",
]

_WHERE = {
    "Occurrences": "strings",
    "StoredSparseTensor": "sparse",
    "StoredTensor": "stored_tensor",
    "others": "strings",
}


def __getattr__(name: str) -> Any:
    """Import what looks into tensors when it is first asked for: most models have none that it takes a look at."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
