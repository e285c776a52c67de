# SPDX-License-Identifier: Apache-2.0
"""What became of operators that are gone or on their way out.

Sources: ManagingExperimentalOps.md for the removed experimental operators, and the operators' own pages
for what takes the place of a deprecated one.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from onnx_lint.common.record import Record

REMOVED_EXPERIMENTAL: Final[Mapping[str, str | None]] = MappingProxyType(
    {
        "ATen": None,
        "Affine": "Add(Mul(X, alpha), beta)",
        "ConstantFill": "ConstantOfShape",
        "Crop": "Slice",
        "DynamicSlice": "Slice",
        "GRUUnit": None,
        "GivenTensorFill": "Constant or ConstantOfShape",
        "ImageScaler": "Add(Mul(X, scale), Unsqueeze(bias))",
        "ParametricSoftplus": "Mul(alpha, Softplus(Mul(beta, X)))",
        "Scale": "Mul(X, scale)",
        "ScaledTanh": "Mul(Tanh(Mul(X, beta)), alpha)",
    }
)
"""Experimental operators of the default domain that no operator set holds any more, and their substitutes."""


class Replacement(Record):
    """An operator is deprecated in favour of another, or of a corrected version of itself.

    `since_version` is the version of the domain from which on the replacement is there.
    """

    deprecated_since: int
    op_type: str
    since_version: int


REPLACEMENTS: Final[Mapping[tuple[str, str], Replacement]] = MappingProxyType(
    {
        ("", "Upsample"): Replacement(10, "Resize", 10),
        ("", "Scatter"): Replacement(11, "ScatterElements", 11),
        ("", "GroupNormalization"): Replacement(18, "GroupNormalization", 21),
        ("ai.onnx.ml", "TreeEnsembleClassifier"): Replacement(5, "TreeEnsemble", 5),
        ("ai.onnx.ml", "TreeEnsembleRegressor"): Replacement(5, "TreeEnsemble", 5),
    }
)
"""What takes the place of each operator that an operator set version of ONNX deprecates."""
