# SPDX-License-Identifier: Apache-2.0
"""Reports the suppressions of a run that have expired or suppress nothing."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from onnx_lint.engine.suppressions import unused
from onnx_lint.reporters.escape import visible

if TYPE_CHECKING:
    from onnx_lint.cli.choices import Plan
    from onnx_lint.engine.suppressions import Suppression


def print_complaints(plan: Plan, paths: Iterable[str], used: set[str], rules: Collection[str]) -> None:
    """Print on standard error what is wrong with the suppressions of the configurations.

    `used`: the descriptions of those that suppress a finding. `rules`: the rules that ran.
    """
    today = datetime.date.today()
    for entry in _entries(plan, paths, today):
        if entry.until is not None and entry.is_expired(today):
            _print(f"{entry.where}: the suppression of {entry.rule} expired on {entry.until.isoformat()}")
        else:
            for sentence in unused([entry], used, rules):
                _print(sentence)


def _entries(plan: Plan, paths: Iterable[str], today: datetime.date) -> Iterator[Suppression]:
    """Yield the suppressions of the configurations that apply to one of the files or have expired, each once."""
    seen: set[Suppression] = set()
    for path in paths:
        for entry in plan.suppressions_for(path):
            if entry not in seen and (entry.is_expired(today) or entry.is_for(path)):
                seen.add(entry)
                yield entry


def _print(sentence: str) -> None:
    sys.stderr.write(f"Warning: {visible(sentence)}\n")
