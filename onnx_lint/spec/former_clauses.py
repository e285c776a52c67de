# SPDX-License-Identifier: Apache-2.0
"""The clauses under which older versions reported findings: baselines know a finding under these as well."""

from __future__ import annotations

from typing import Final

FORMER_CLAUSES: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("NOD-8g", ("NOD-8c", "VI-6a", "FUN-23b", "FUN-23d", "SHP-7")),
    ("SHP-7a", ("SHP-7",)),
    ("FUN-22a", ("FUN-22",)),
    ("NOD-8d", ("NOD-8a",)),
    ("SUB-7c", ("SUB-7b",)),
    ("OPT-2", ("OPT-2g",)),
    ("NOD-8h", ("NOD-8b",)),
    ("NOD-8i", ("NOD-8b", "NOD-8f")),
    ("ATT-5a", ("ATT-5",)),
    # in bodies and branches that never run
    ("NOD-8g", ("NOD-8c",)),
    ("NOD-8d", ("NOD-8a",)),
)
"""Rows of a clause, and the clauses under which older versions reported some of the findings of the same rule.

New rows go to the end: an entry of a baseline has the number of rows that the version which wrote it knew. If more
findings go over to a clause, its row comes again.
"""


def former_clauses(clause: str) -> tuple[str, ...]:
    """Return the clauses under which older versions reported findings that are now under `clause`."""
    return tuple(dict.fromkeys(former for now, formers in FORMER_CLAUSES if now == clause for former in formers))


def rows_known(clause: str) -> int:
    """Return the number of rows for an entry that is written now; 0 if no row has its clause as a former one.

    A finding that gets another clause without a new version is a new finding, not a known one under a former clause.
    """
    is_former = any(clause in formers for _, formers in FORMER_CLAUSES)
    return len(FORMER_CLAUSES) if is_former else 0


def has_changed_since(rows: int, clause: str, former: str) -> bool:
    """Return whether a row after the first `rows` says that findings under `clause` were once under `former`."""
    return any(now == clause and former in formers for now, formers in FORMER_CLAUSES[rows:])
