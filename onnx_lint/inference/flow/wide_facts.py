# SPDX-License-Identifier: Apache-2.0
"""Bounds the memory for facts with many or long dimensions or elements.

A node of 30 bytes may make a fact of 5,000, and the estimate of the memory for a model does not count it.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Final

from onnx_lint.common.record import replace
from onnx_lint.inference.flow.outcome_memo import NodeOutcome, OutcomeMemo
from onnx_lint.inference.shapes.fact import Fact, Facts, fact, forget


class WideFacts:
    """The wide facts of a model so far: those that take more memory than usual."""

    def __init__(self) -> None:
        self._kept: set[Fact] = set()
        self._bytes_left = _MAX_BYTES

    def __contains__(self, made: Fact) -> bool:
        return made in self._kept

    def are_among(self, outputs: Facts) -> bool:
        """Return whether some of the outputs of a node are wide."""
        return any(map(_WIDE_BYTES, outputs))

    def bounded_outcome(self, memo: OutcomeMemo, outcome: NodeOutcome) -> NodeOutcome:
        """Return an outcome with wide facts, without those for which there is no memory."""
        bounded = tuple(map(self.bounded, outcome.outputs))
        if bounded == outcome.outputs:
            return outcome
        memo.outcomes.clear()
        return replace(outcome, outputs=bounded)

    def bounded(self, made: Fact) -> Fact:
        """Return the fact, or a part of it that is not wide if the wide facts of the model take too much memory."""
        if not made.wide_bytes or made in self._kept:
            return made
        if made.wide_bytes > self._bytes_left:
            forget(made)
            return fact(made.kind) if made.bare.wide_bytes else made.bare
        self._bytes_left -= made.wide_bytes
        self._kept.add(made)
        return made


_WIDE_BYTES: Final = attrgetter("wide_bytes")

_MAX_BYTES: Final = 16 << 20
"""The most memory for wide facts: 100,000 shapes of three long expressions fit, or 3,000 lists of a hundred integers.
"""
