# SPDX-License-Identifier: Apache-2.0
"""Reports the suppressions of a run that have expired, are wrong, or suppress nothing."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from onnx_lint.engine.suppressions import unused
from onnx_lint.reporters.escape import shown_path, visible

if TYPE_CHECKING:
    from onnx_lint.cli.choices import Plan
    from onnx_lint.engine.suppressions import Suppression

_MOST_MODELS: Final = 10
"""The number of models whose faulty suppressions are listed."""


def print_complaints(
    plan: Plan,
    paths: Iterable[str],
    used: set[str],
    rules: Collection[str],
    of_models: Iterable[tuple[str, Iterable[str]]],
    *,
    is_whole: bool = True,
) -> None:
    """Print on standard error what is wrong with the suppressions of the configurations and of the models.

    `used`: the descriptions of those that suppress a finding. `rules`: the rules that ran. `of_models`: the path and
    the problems of each model. `is_whole`: whether the run had all files, so that an entry can be called unused.
    """
    today = datetime.date.today()
    for entry in _entries(plan, paths, today):
        if entry.until is not None and entry.is_expired(today):
            _print(f"{entry.where}: the suppression of {entry.rule} expired on {entry.until.isoformat()}")
        elif is_whole:
            for sentence in unused([entry], used, rules):
                _print(sentence)
    count = 0
    for path, problems in of_models:
        count += 1
        for problem in problems if count <= _MOST_MODELS else ():
            _print(f"{shown_path(path)}: {problem}")
    if count > _MOST_MODELS:
        _print(f"suppressions in {count - _MOST_MODELS:,} more models are wrong or match no finding")


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
