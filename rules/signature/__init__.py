# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Collection

from onnx_lint.model import Model
from onnx_lint.model.operators.mismatch import has_misfits

_ON_TYPES_AND_VALUES = frozenset(
    {
        "contradictory-declared-type",
        "impossible-operator-extent",
        "mismatched-operand-type",
        "mismatched-subgraph-type",
        "uncomputed-output",
        "unconverted-optional",
        "unsupported-attribute-value",
    }
)
_ON_FUNCTIONS = _ON_TYPES_AND_VALUES | {
    "incompatible-opset-import",
    "standard-operator-collision",
    "unbound-required-attribute",
}


def concerns(model: Model) -> bool | Collection[str]:
    """Tell whether an operator is not used as its signature has it; if not, only types and values can be wrong.

    A model with functions has more that can.
    """
    return has_misfits(model.signatures) or (_ON_FUNCTIONS if model.functions else _ON_TYPES_AND_VALUES)
