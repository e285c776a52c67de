# SPDX-License-Identifier: Apache-2.0
"""The baselines of a run: suppress known findings, count stale entries, write baseline files."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from onnx_lint.cli.streams import report_file
from onnx_lint.common.record import replace
from onnx_lint.configuration.baselines.entries import Baseline, Entry, entries_of
from onnx_lint.configuration.baselines.file import read_baseline, to_json
from onnx_lint.configuration.baselines.known_findings import (
    count_outdated_entries,
    count_stale,
    file_key,
    former_name,
    suppress_known,
    surviving_entries,
)
from onnx_lint.configuration.errors import ConfigurationError, RequestError
from onnx_lint.input.locations import is_remote
from onnx_lint.reporters.escape import STANDARD_INPUT, shown_path
from onnx_lint.wording import counted

if TYPE_CHECKING:
    from onnx_lint.cli.plan import Plan
    from onnx_lint.report.file_report import FileReport


_MAX_WAIT: Final = 30.0
"""The seconds to wait while other runs write baselines in the same folder."""


class Baselines:
    """The baselines of a run. They are read before the first file is linted and written after the last one."""

    def __init__(self, plan: Plan, paths: Iterable[str], rules: Collection[str]) -> None:
        """Read the baselines that the settings for the files at `paths` name. `rules` are the rules that run.

        Raises ConfigurationError for a baseline that cannot be used, and RequestError if there is none to prune.
        """
        self._rules = rules
        self._new_path = plan.request.write_baseline
        self._prune = plan.request.prune_baseline
        self._findings_written = 0
        self._entries_written = 0
        self._imprecise: Counter[str] = Counter()
        self._of_file: dict[str, str] = {}
        for path in paths:
            baseline = self._new_path or plan.request_for(path).baseline
            if baseline is not None:
                self._of_file[path] = baseline
        if self._prune and not self._of_file:
            raise RequestError("--prune-baseline requires --baseline")
        own = () if self._new_path is None else (self._new_path,)
        self._read = {path: dict(self._old(path)) for path in own}
        for path, baseline in self._of_file.items():
            if baseline not in self._read:
                try:
                    self._read[baseline] = dict(self._old(baseline))
                except ConfigurationError as error:
                    raise plan.error_in_file(path, "baseline", error) from error.__cause__
        self._alive = {path: _of_present_files(baseline, path) for path, baseline in self._read.items()}
        self._checked: dict[str, set[str]] = {path: set() for path in self._read}
        """The names of the files of the run, by baseline."""

    def _old(self, path: str) -> Baseline:
        return {} if path == self._new_path and not os.path.lexists(path) else read_baseline(path)

    def apply(self, file: FileReport) -> FileReport:
        """Return the report with the findings of its baseline suppressed: all if a baseline is being written."""
        baseline = self._of_file.get(file.path)
        if baseline is None:
            return file
        name = file_key(file.path, baseline)
        self._checked[baseline].add(name)
        self._take_moved(file, baseline, name)
        entries = self._read[baseline].get(name, {})
        rules = self._rules if file.rules is None else file.rules
        if self._new_path is None:
            file = suppress_known(file, entries)
            self._alive[baseline][name] = surviving_entries(file, entries, rules)
            if not self._prune:
                self._imprecise[baseline] += count_outdated_entries(file, entries)
            return file
        known: dict[str, Entry] = entries_of(file.diagnostics)
        # Entries of rules that did not run stay in the baseline.
        others = surviving_entries(replace(file, diagnostics=(), suppressed=()), entries, rules)
        self._alive[baseline][name] = {**others, **known}
        self._findings_written += len(file.diagnostics)
        self._entries_written += len(known)
        return replace(file, diagnostics=(), suppressed=file.diagnostics)

    def _take_moved(self, file: FileReport, baseline: str, name: str) -> None:
        """Give the entries of a file that is gone to the one with the same findings that has none."""
        old = self._read[baseline]
        missing = [each for each in old if each not in self._alive[baseline]] if name not in old else []
        former = former_name(file, old, missing)
        if former is not None:
            old[name] = old.pop(former)

    def notes(self) -> Iterator[str]:
        """Yield a sentence for each baseline with entries of an older version that may match more than one finding."""
        for path, count in self._imprecise.items():
            if count:
                were, them = ("entry was", "it") if count == 1 else ("entries were", "them")
                yield (
                    f"{shown_path(path)}: {count:,} {were} written by an older version and may match similar new "
                    f"findings as well; --write-baseline writes {them} again, and adds the new findings"
                )

    def finish(self) -> int:
        """Write the baseline files, and return how many entries of the baselines no longer occur.

        Raises RunError if a file cannot be written.
        """
        if self._new_path is not None:
            self._write(self._new_path)
            # The number of findings is the one that later runs call suppressed. A finding about several faults may need
            # more than one entry.
            said = counted(self._findings_written, "finding")
            if self._entries_written > self._findings_written:
                said += f" as {self._entries_written:,} entries"
            sys.stderr.write(f"Wrote {said} to {shown_path(self._new_path)}\n")
            return 0
        stale = 0
        for path, baseline in self._read.items():
            count = count_stale(baseline, self._alive[path])
            stale += count
            if self._prune and count:
                self._write(path)
        return stale

    def _write(self, path: str) -> None:
        """Write a baseline, with what another run has written to it meanwhile for files that this one did not check."""
        from onnx_lint.cache.folder_lock import claimed

        checked = self._checked[path]
        entries = {name: own for name, own in self._alive[path].items() if name in checked}
        with claimed(os.path.dirname(os.path.realpath(path)), _MAX_WAIT):
            now = _of_present_files(self._old(path), path)
            entries |= {name: others for name, others in now.items() if name not in checked}
            with report_file(path) as stream:
                stream.write(to_json(entries))


def _may_exist(name: str, baseline: str) -> bool:
    """Return whether the file that the baseline calls `name` may exist; always true for files that are not local."""
    folder = os.path.dirname(os.path.abspath(baseline))
    return name == STANDARD_INPUT or is_remote(name) or os.path.lexists(os.path.join(folder, name))


def _of_present_files(baseline: Baseline, path: str) -> dict[str, dict[str, Entry]]:
    """Return the entries of the files that may exist. `path`: that of the baseline."""
    return {name: dict(entries) for name, entries in baseline.items() if _may_exist(name, path)}
