# SPDX-License-Identifier: Apache-2.0
"""Removed and deprecated operators, and their replacements.

Sources: ManagingExperimentalOps.md for the removed experimental operators, and the pages of the operators for the
replacements of deprecated ones.
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
"""Experimental operators of the default domain that were removed, and their replacements."""


class Replacement(Record):
    """The replacement of a deprecated operator: another operator, or a corrected version of itself.

    `since_version` is the first version of the domain that has the replacement.
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
"""The replacement of each operator that an operator set version of ONNX deprecates."""
