# SPDX-License-Identifier: Apache-2.0
"""Elements that are chosen, and numbers among them."""

from __future__ import annotations

import numpy as np

from onnx_lint.inference.shapes.element_values import joined, taken, whole_numbers


def test_the_chosen_elements_are_those_of_numpy() -> None:
    array = np.arange(24).reshape(2, 3, 4)
    picks = [(2, [3, 0]), (0, [1]), (1, [2, 2, 0])]
    expected = array.transpose(2, 0, 1)[np.ix_([3, 0], [1], [2, 2, 0])]
    assert taken(tuple(range(24)), (2, 3, 4), picks) == tuple(expected.reshape(-1).tolist())


def test_joined_elements_are_those_of_numpy() -> None:
    one, other = np.arange(6).reshape(2, 3), np.arange(10, 14).reshape(2, 2)
    for axis, outer, right in ((1, 2, other), (0, 1, other.reshape(-1)[:3].reshape(1, 3))):
        expected = np.concatenate((one, right), axis=axis)
        parts = [tuple(each.reshape(-1).tolist()) for each in (one, right)]
        assert joined(parts, outer) == tuple(expected.reshape(-1).tolist())


def test_a_fraction_is_no_size() -> None:
    assert whole_numbers((2, 3.0, "n", None)) == (2, 3, "n", None)
    assert whole_numbers((2, 2.5)) is None
