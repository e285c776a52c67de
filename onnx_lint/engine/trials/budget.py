# SPDX-License-Identifier: Apache-2.0
"""The budget of the trials of one model: their number, by rule, and their processor time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from onnx_lint.common.deadline import SubDeadline, seconds_used
from onnx_lint.model import Model

MAX_PARTS: Final = 200_000
"""The most parts of a model for which changes are tried. Its parts are the nodes, inputs and initializers.

Costs are measured in parts: the time in which a run checks one of them.
"""

START_COST: Final = 12_000
"""The cost of starting a run, in parts."""

TRIAL_COST: Final = 375
"""The cost of a trial in the smallest model, in parts."""

FINDING_COST: Final = 10
"""The cost of one finding of the model in each trial, in parts."""

MAX_TRIALS: Final = 15
"""The most trials of a model."""

MIN_SECONDS: Final = 1.0
"""All trials together may take this processor time, however short the time before the first one is."""

MAX_TIME_FACTOR: Final = 2
"""All trials together take at most this many times the processor time that was used before the first one.

It limits them if a changed model takes unusually long, for example because an undefined name had hidden most of it.
"""


class TrialBudget:
    """Limits the trials of one model.

    `most_trials` limits their number, so that they are expected to take no longer than the start of the run or the
    first pass. MIN_SECONDS and MAX_TIME_FACTOR stop them if they take longer.
    """

    def __init__(self) -> None:
        self.is_time_over = False
        """True after the processor time was used up: then no rule may try anything."""
        self._seconds_left = max(MIN_SECONDS, MAX_TIME_FACTOR * seconds_used())
        self._trials_left: dict[str, int] = {}

    def share(self, trials: int, rules: Sequence[str]) -> None:
        """Share a number of trials between rules; the first ones get one more if it cannot be divided."""
        share, rest = divmod(max(trials, 0), len(rules) or 1)
        self._trials_left = {rule: share + (number < rest) for number, rule in enumerate(rules)}

    def may_try(self, rule: str, trials: int = 1) -> bool:
        """Return whether a rule has so many trials left, and the time is not over."""
        return not self.is_time_over and self._trials_left.get(rule, 0) >= trials

    def charge(self, rule: str) -> None:
        """Count a trial of a rule."""
        self._trials_left[rule] -= 1

    @contextmanager
    def time_limit(self) -> Iterator[None]:
        """Return a context whose work ends, quietly, when the processor time of all trials is used up."""
        part = SubDeadline(self._seconds_left)
        with part:
            yield
        self._seconds_left -= part.used
        self.is_time_over |= part.is_over


def most_trials(model: Model, findings: int = 0) -> int:
    """Return how many trials cost as much as the start of the run; at least one, and 0 for a very large model.

    One trial checks less than the first pass, so it is within the time of the first pass where that is longer than the
    start. `findings`: the number of findings in the model, which each trial finds again.

    A node counts once for each time that the first pass inferred it, such as a node of a function for several calls.
    """
    graphs = model.graphs
    nodes = sum(len(graph.node_inputs) for graph in graphs)
    parts = nodes + sum(len(graph.input_names) + len(graph.initializer_names) for graph in graphs)
    if parts > MAX_PARTS:
        return 0
    parts += model.value_flow.nodes_walked_again
    cost = parts + TRIAL_COST + findings * FINDING_COST
    return min(max(START_COST // cost, 1), MAX_TRIALS)
