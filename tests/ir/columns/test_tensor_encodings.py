# SPDX-License-Identifier: Apache-2.0
"""The number of elements of dimensions."""

from __future__ import annotations

from onnx_lint.ir.columns.tensor_encodings import element_count


def test_the_product_of_hostile_dimensions_is_found_at_once():
    assert element_count([2**62] * 100_000) is None
    assert element_count([2**62] * 100_000 + [0]) == 0
    assert element_count([2**31, 2**32]) is None
    assert element_count([2**31, 2**31, 1]) == 2**62
    assert element_count([0, -1]) is None
    assert element_count([]) == 1
