# SPDX-License-Identifier: Apache-2.0
"""Findings of the rules on types, which put into words where the flow of types found two at odds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from onnx_lint.model import Model
from onnx_lint.rule import Finding, Related

if TYPE_CHECKING:
    from typing import TypeVar

    from onnx_lint.model.typing.conflict import Conflict

    C = TypeVar("C", bound=Conflict)


def conversions_apart(model: Model, conflicts: Iterable[C]) -> Iterator[C]:
    """The conflicts without those of optional types, which have a clause of their own where the edition knows them."""
    has_conversions = model.standard.at_least("1.16")
    return (conflict for conflict in conflicts if not (has_conversions and conflict.lacks_conversion))


def finding_of(conflict: Conflict, clause: str | None = None) -> Finding:
    """The finding that a conflict is; `clause` for a rule that decides several."""
    return Finding(
        conflict.place,
        conflict.describe(),
        clause=clause,
        related=tuple(Related(*note) for note in conflict.notes()),
        allowed=conflict.allowed,
        subject=conflict.subject,
    )
