# SPDX-License-Identifier: Apache-2.0
"""Elements that are chosen, and numbers among them."""

from __future__ import annotations

import numpy as np

from onnx_lint.inference.shapes.element_values import taken, whole_numbers


def test_the_chosen_elements_are_those_of_numpy() -> None:
    array = np.arange(24).reshape(2, 3, 4)
    picks = [(2, [3, 0]), (0, [1]), (1, [2, 2, 0])]
    expected = array.transpose(2, 0, 1)[np.ix_([3, 0], [1], [2, 2, 0])]
    assert taken(tuple(range(24)), (2, 3, 4), picks) == tuple(expected.reshape(-1).tolist())


def test_a_fraction_is_no_size() -> None:
    assert whole_numbers((2, 3.0, "n", None)) == (2, 3, "n", None)
    assert whole_numbers((2, 2.5)) is None
