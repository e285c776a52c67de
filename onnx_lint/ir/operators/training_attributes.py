# SPDX-License-Identifier: Apache-2.0
"""The attributes that decide whether BatchNormalization and Dropout are in training mode."""

from __future__ import annotations

from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.spec.operators.schema import OperatorSchema


class ModeAttribute(Record):
    """The attribute that decides the mode of an operator. Its default is 0."""

    name: str
    when_training: int
    """Its value in training: 0 or 1."""

    def is_training(self, value: int) -> bool:
        """Return whether a value turns the training mode on."""
        return bool(value) == bool(self.when_training)


IS_TEST: Final = ModeAttribute("is_test", when_training=0)
TRAINING_MODE: Final = ModeAttribute("training_mode", when_training=1)

_MODE_ATTRIBUTES: Final = {
    ("BatchNormalization", 1): IS_TEST,
    ("BatchNormalization", 6): IS_TEST,
    ("BatchNormalization", 14): TRAINING_MODE,
    ("BatchNormalization", 15): TRAINING_MODE,
    ("Dropout", 1): IS_TEST,
    ("Dropout", 6): IS_TEST,
}
"""By operator and version. Other versions of BatchNormalization train with further outputs, of Dropout by an input."""


def mode_attribute(schema: OperatorSchema) -> ModeAttribute | None:
    """Return the attribute that decides the mode of an operator; None if it has none."""
    return None if schema.domain else _MODE_ATTRIBUTES.get((schema.name, schema.since_version))
