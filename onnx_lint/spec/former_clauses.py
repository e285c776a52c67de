# SPDX-License-Identifier: Apache-2.0
"""The clauses under which older versions reported findings: baselines know a finding under these as well."""

from __future__ import annotations

from typing import Final

FORMER_CLAUSES: Final[tuple[tuple[str, str, tuple[str, ...]], ...]] = (
    ("contradictory-declared-shape", "NOD-8g", ("NOD-8c", "VI-6a", "FUN-23b", "FUN-23d", "SHP-7")),
    ("contradictory-declared-shape", "SHP-7a", ("SHP-7",)),
    ("duplicate-value-info", "FUN-22a", ("FUN-22",)),
    ("incompatible-operand-shapes", "NOD-8d", ("NOD-8a",)),
    ("mismatched-subgraph-shape", "SUB-7c", ("SUB-7b",)),
    ("omitted-required-operand", "OPT-2", ("OPT-2g",)),
    ("unsupported-operand-value", "NOD-8h", ("NOD-8b",)),
    ("unsupported-operand-value", "NOD-8i", ("NOD-8b", "NOD-8f")),
    ("missing-attribute-value", "ATT-5a", ("ATT-5",)),
)
"""Rows of a rule, a clause of it, and the clauses under which older versions reported some of these findings.

New rows go to the end: an entry of a baseline has the number of rows that the version which wrote it knew.
"""


def former_clauses(rule: str, clause: str) -> tuple[str, ...]:
    """Return the clauses under which older versions reported findings of a rule that are now under `clause`."""
    return tuple(
        former for of_rule, now, formers in FORMER_CLAUSES if (of_rule, now) == (rule, clause) for former in formers
    )


def rows_known(rule: str, clause: str) -> int:
    """Return the number of rows for an entry that is written now; 0 if no row has its clause as a former one.

    A finding that gets another clause without a new version is a new finding, not a known one under a former clause.
    """
    is_former = any(of_rule == rule and clause in formers for of_rule, _, formers in FORMER_CLAUSES)
    return len(FORMER_CLAUSES) if is_former else 0


def has_changed_since(rows: int, rule: str, clause: str, former: str) -> bool:
    """Return whether a row after the first `rows` says that findings under `clause` were once under `former`."""
    later = FORMER_CLAUSES[rows:]
    return any((of_rule, now) == (rule, clause) and former in formers for of_rule, now, formers in later)
