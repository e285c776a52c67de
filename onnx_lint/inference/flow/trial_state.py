# SPDX-License-Identifier: Apache-2.0
"""The trials of bodies of loops: walks that only try a run, and whose results are dropped."""

from __future__ import annotations

from typing import Final


class TrialState:
    """Whether the current walk is a trial, and what the trials so far have cost and found."""

    def __init__(self) -> None:
        self.is_trial = False
        """True during a trial."""
        self.walked_nodes = 0
        """The number of nodes that trials have walked so far."""
        self.failing_bodies: set[int] = set()
        """The identities of the graphs that have a faulty node in a trial."""

    @property
    def has_budget(self) -> bool:
        """True until trials have walked `_MAX_NODES` nodes.

        Trials contain trials, so their time could double at each depth of nested loops.
        """
        return self.walked_nodes < _MAX_NODES


_MAX_NODES: Final = 20_000
"""The budget of all trials, in nodes."""
