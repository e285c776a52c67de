# SPDX-License-Identifier: Apache-2.0
"""Nodes that ONNX Runtime fuses are not said to load."""

from __future__ import annotations

import pytest
from support.models.asked_releases import states

CONV = "(float[1, 16, 4, 4] x, float[16, 16, 1, 1] w) => (float[1, 16, 4, 4] y) { y = %s<%s>(x, w) }"
DFT = "(float[1, 5, 2] x) => (float[1, n, 1] y) { y = DFT<axis = 1, inverse = %d, onesided = %d>(x) }"


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ('activation = "Relu"', [True] * 4),
        ('activation = "HardSwish"', [None, None, None, True]),
        ('activation = "Gelu"', [None] * 4),
        ('activation = "Clip", activation_params = [0.0, 1.0]', [True] * 4),
        ('activation = "Clip"', [None] * 4),
    ],
)
@pytest.mark.parametrize("operator", ["com.microsoft.nchwc.Conv", "com.microsoft.FusedConv"])
def test_kernels_know_some_activations(operator: str, attributes: str, expected: list[bool | None]) -> None:
    domain = operator.rpartition(".")[0]
    found = states(CONV % (operator, attributes), imports=f', "{domain}": 1')
    assert [each or None for each in found] == expected  # for FusedConv there are rows that refuse HardSwish


def test_older_releases_infer_no_inverse_of_one_side() -> None:
    assert states(DFT % (1, 1)) == [None, None, None, True]
    assert states((DFT % (1, 0)).replace("n, 1", "n, 2")) == [True] * 4
