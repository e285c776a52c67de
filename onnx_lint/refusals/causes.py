# SPDX-License-Identifier: Apache-2.0
"""Why a release refuses nodes, and on what condition."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from onnx_lint.common.record import Record
from onnx_lint.model import Node


class CauseKind(Enum):
    """A kind of causes: its rank in the order in which findings are reported, and the clause that is violated."""

    FUNCTION_CALL = (0, "PRD-3")
    MISSING_OPERATOR = (1, "PRD-3")
    UNREGISTERED_DOMAIN = (2, "PRD-3")
    REFUSED_NODE = (3, "PRD-4")
    REFUSED_UNLESS_REMOVED = (4, "PRD-6")
    FAILING_RUN = (5, "PRD-7")

    def __init__(self, rank: int, clause: str) -> None:
        self.rank = rank
        self.clause = clause


class RefusalCondition(Enum):
    """The condition on which a release refuses a node. A release may remove nodes before it looks at the others."""

    ALWAYS = auto()
    NODE_IS_KEPT = auto()
    """The release has not removed the node."""
    BRANCH_IS_KEPT = auto()
    """The release has not removed the branch of an If, with a constant condition, that the node is in."""


class RefusalCause(Record):
    """Why a release refuses nodes."""

    kind: CauseKind
    subject: str
    """The operator, domain or type that the release refuses."""
    what: str
    """What is wrong with a node, in words."""


class Refusal(Record):
    """The nodes that a release refuses for one cause."""

    cause: RefusalCause
    nodes: Sequence[Node]
    condition: RefusalCondition = RefusalCondition.ALWAYS


def refused_node(node: Node, subject: str, what: str, condition: RefusalCondition = RefusalCondition.ALWAYS) -> Refusal:
    """Return the refusal of a node that has something, in words, that the release refuses."""
    return Refusal(RefusalCause(CauseKind.REFUSED_NODE, subject, f"has {what}"), (node,), condition)
