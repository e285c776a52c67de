# SPDX-License-Identifier: Apache-2.0
"""Contradictions that are no fault of onnx-lint, each with what recognises it and the reason."""

from __future__ import annotations

import re
from dataclasses import dataclass

MISSED = "onnx refuses what onnx-lint takes"
FALSE_ALARM = "a runtime runs what onnx-lint refuses"
OTHER_TYPE, OTHER_SHAPE, OTHER_ELEMENTS = "other type", "other shape", "other elements"


@dataclass(frozen=True)
class Explained:
    """A kind of contradiction that is explained."""

    kind: str
    pattern: str
    """What is found in the line of the contradiction."""
    reason: str

    def covers(self, kind: str, line: str) -> bool:
        """Whether this explains a contradiction."""
        return kind == self.kind and re.search(self.pattern, line) is not None


EXPLAINED: tuple[Explained, ...] = (
    Explained(FALSE_ALARM, r"\[onnx refuses the model as well\]", "onnx refuses the model as well"),
)


def explanation(kind: str, line: str) -> Explained | None:
    """What explains a contradiction; None where nothing does."""
    return next((each for each in EXPLAINED if each.covers(kind, line)), None)
