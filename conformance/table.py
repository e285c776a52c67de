# SPDX-License-Identifier: Apache-2.0
"""Counts the outcomes of checkers, clause by clause, and writes them as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from conformance.running import ACCEPTED, CRASHED, REJECTED, TIMED_OUT, UNSUPPORTED, Outcome

FOUND: Final = "found"
MISSED: Final = "missed"
FALSE_ALARM: Final = "false alarm"
CORRECT: Final = "accepted"
CRASH: Final = "crash"
NOT_JUDGED: Final = "not judged"

COLUMNS: Final = (FOUND, MISSED, CORRECT, FALSE_ALARM, CRASH, NOT_JUDGED)

Results = Mapping[str, Sequence[Outcome]]
"""The outcomes of each checker by its name."""


def judged(outcome: Outcome) -> str:
    """Return which of the COLUMNS an outcome belongs to."""
    if outcome.result in (CRASHED, TIMED_OUT):
        return CRASH
    if outcome.result == UNSUPPORTED:
        return NOT_JUDGED
    if outcome.case.verdict == "violates":
        return FOUND if outcome.result == REJECTED else MISSED
    return CORRECT if outcome.result == ACCEPTED else FALSE_ALARM


def totals(results: Results, releases: Mapping[str, str]) -> Iterator[str]:
    """Yield the lines of a table with a row for each checker."""
    yield "| checker | version | " + " | ".join(COLUMNS) + " |"
    yield "| --- | --- |" + " --: |" * len(COLUMNS)
    for name, outcomes in results.items():
        counts = Counter(map(judged, outcomes))
        yield f"| `{name}` | {releases[name]} | " + " | ".join(f"{counts[column]:,}" for column in COLUMNS) + " |"


def by_clause(results: Results) -> Iterator[str]:
    """Yield the lines of a table with a row for each clause: how many of its violations each checker finds."""
    yield "| clause | models | " + " | ".join(f"`{name}`" for name in results) + " |"
    yield "| --- | --: |" + " --- |" * len(results)
    clauses = {name for outcomes in results.values() for outcome in outcomes for name in outcome.case.clauses}
    for clause in sorted(clauses):
        cells = [_cell(clause, outcomes) for outcomes in results.values()]
        models = {o.case.id for outcomes in results.values() for o in outcomes if clause in o.case.clauses}
        yield f"| {clause} | {len(models)} | " + " | ".join(cells) + " |"


def _cell(clause: str, outcomes: Sequence[Outcome]) -> str:
    counts = Counter(judged(outcome) for outcome in outcomes if clause in outcome.case.clauses)
    violations = counts[FOUND] + counts[MISSED]
    parts = [f"{counts[FOUND]} of {violations}"] if violations else []
    parts += [f"{counts[column]} {column}" for column in (FALSE_ALARM, CRASH, NOT_JUDGED) if counts[column]]
    return ", ".join(parts) or "-"


def only_found_by(name: str, results: Results) -> list[str]:
    """Return the clauses that only this checker finds violated."""
    finders: dict[str, set[str]] = {}
    for checker, outcomes in results.items():
        for outcome in outcomes:
            if judged(outcome) == FOUND:
                for clause in outcome.case.clauses:
                    finders.setdefault(clause, set()).add(checker)
    return sorted(clause for clause, found in finders.items() if found == {name})


def disputed(name: str, results: Results) -> list[str]:
    """Return the cases that this checker judges wrongly, and the conforming ones that all of the others reject.

    In the first the suite proves a fault of the checker. In the second either the suite is wrong, or all of the others.
    """
    wrong = [outcome.case.id for outcome in results[name] if judged(outcome) in (MISSED, FALSE_ALARM, CRASH)]
    peers = [outcomes for key, outcomes in results.items() if key != name]
    alarms = [{outcome.case.id for outcome in own if judged(outcome) == FALSE_ALARM} for own in peers]
    return sorted({*wrong, *(set.intersection(*alarms) if alarms else ())})


def crashes(results: Results) -> Iterator[tuple[str, Outcome]]:
    """Yield the outcomes that are crashes or exceed the time limit, with the name of the checker."""
    for name, outcomes in results.items():
        yield from ((name, outcome) for outcome in outcomes if judged(outcome) == CRASH)


def page(results: Results, releases: Mapping[str, str], date: str) -> str:
    """Return the page of the documentation with all tables. `date`: of the run."""
    own = "onnx-lint"
    alone = only_found_by(own, results)
    cases = [f"- `{case}`" for case in disputed(own, results)]
    failures = [f"- `{name}` on `{found.case.id}`: {_first_line(found.reason)}" for name, found in crashes(results)]
    lines = [
        "# Checkers beside each other",
        "",
        f"Written on {date} by `python -m conformance run --page`. [The suite](conformance.md) explains the columns.",
        "It is made from the fixtures of onnx-lint, so onnx-lint finds all of them.",
        "Where the suite itself may be wrong, the case is disputed below.",
        "",
        *totals(results, releases),
        "",
        f"## Clauses that only onnx-lint finds violated: {len(alone)}",
        "",
        ", ".join(alone) or "None.",
        "",
        "## Disputed cases",
        "",
        "Cases that onnx-lint judges wrongly, and conforming models that every other checker rejects.",
        "",
        *(cases or ["None."]),
        "",
        "## Crashes",
        "",
        *(failures or ["None."]),
        "",
        "## Clause by clause",
        "",
        *by_clause(results),
        "",
    ]
    return "\n".join(lines)


def _first_line(reason: str) -> str:
    return reason.strip().partition("\n")[0][:120]
