# SPDX-License-Identifier: Apache-2.0
"""The suppressions of a run: applied to each file, and reported if they have expired or are of no use."""

from __future__ import annotations

import datetime
import sys
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from onnx_lint.configuration.suppressions import Suppression, complaints, with_suppressed
from onnx_lint.reporters.escape import visible

if TYPE_CHECKING:
    from onnx_lint.cli.choices import Plan
    from onnx_lint.report import FileReport


class Suppressions:
    """The suppressions of the configurations of a run."""

    def __init__(self, plan: Plan, paths: Sequence[str]) -> None:
        self._plan = plan
        self._paths = paths
        self._used: set[str] = set()
        self._today = datetime.date.today()

    def apply(self, file: FileReport) -> FileReport:
        """Return the report with the findings suppressed that its configuration accepts."""
        entries = self._plan.choices_for(file.path).suppressions
        return with_suppressed(file, entries, self._used, self._today) if entries else file

    def print_complaints(self, rules: Collection[str]) -> None:
        """Print on standard error which entries have expired or matched nothing. `rules`: the rules that ran."""
        of_entry: dict[Suppression, list[str]] = {}
        for path in self._paths:
            for entry in self._plan.choices_for(path).suppressions:
                of_entry.setdefault(entry, []).append(path)
        for entry, paths in of_entry.items():
            for sentence in complaints([entry], self._used, paths, rules, self._today):
                sys.stderr.write(f"Warning: {visible(sentence)}\n")
