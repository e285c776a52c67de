# SPDX-License-Identifier: Apache-2.0
"""The attribute that decides the mode of an operator, by its version."""

from __future__ import annotations

import pytest

from onnx_lint.ir.operators.training_attributes import IS_TEST, TRAINING_MODE, ModeAttribute, mode_attribute
from onnx_lint.spec.operators import BUILT_IN


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [
        ("BatchNormalization", 6, IS_TEST),
        ("BatchNormalization", 9, None),
        ("BatchNormalization", 15, TRAINING_MODE),
        ("Dropout", 6, IS_TEST),
        ("Dropout", 7, None),
        ("Dropout", 12, None),
    ],
)
def test_the_attribute_of_a_version(name: str, version: int, expected: ModeAttribute | None):
    schema = BUILT_IN.find("", name, version)
    assert schema is not None
    assert mode_attribute(schema) == expected
    assert expected is None or expected.name in schema.attributes


def test_values_in_training():
    assert (IS_TEST.is_training(0), IS_TEST.is_training(1)) == (True, False)
    assert (TRAINING_MODE.is_training(0), TRAINING_MODE.is_training(2)) == (False, True)
