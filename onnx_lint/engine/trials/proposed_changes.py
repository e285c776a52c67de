# SPDX-License-Identifier: Apache-2.0
"""The changes that the findings in a model propose: imports that signatures prove, and changes to try."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnx_lint.ir.operators.proposals import Proposals
from onnx_lint.ir.places.place import Place
from onnx_lint.report.folding import order_of
from onnx_lint.rule import Finding


class ProposedChanges:
    """The changes that the findings in a model propose."""

    def __init__(self) -> None:
        self._changing_node: list[Finding] = []
        """The findings whose proposals change the node around their place."""
        self._first_places: dict[str, Place] = {}
        """The first place of the findings that propose a change to try, by rule."""
        self.imports: dict[str, Proposals] = {}
        """The imports that signatures prove, by cause."""
        self.places_with_import: list[Place] = []
        """The places of the findings that propose one of them."""

    def add(self, rule: str, finding: Finding) -> None:
        """Add the changes that a finding proposes, of whatever severity it is."""
        proposals = finding.proposals
        if proposals is None:
            return
        if proposals.changes_node:
            self._changing_node.append(finding)
        if proposals.is_proven_import and proposals.cause is not None:
            self.imports.setdefault(proposals.cause, proposals)
            self.places_with_import.append(finding.place)
        if not proposals.needs_no_trial:
            first = self._first_places.get(rule, finding.place)
            self._first_places[rule] = min(first, finding.place, key=order_of)

    @property
    def rules(self) -> Sequence[str]:
        """The rules whose findings propose changes to try, in the order of their first places."""
        return sorted(self._first_places, key=lambda rule: order_of(self._first_places[rule]))

    def fixable_places(self) -> Iterator[Place]:
        """Yield the places at nodes whose operands do not fit, but would fit after a change of the node."""
        for finding in self._changing_node:
            if finding.proposals is not None and finding.proposals.options():
                yield finding.place
