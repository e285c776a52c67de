# SPDX-License-Identifier: Apache-2.0
"""The counts of findings, in a file and over the files of a run, and their words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from onnx_lint.common.visible import visible
from onnx_lint.report.file_report import Counted, FileReport
from onnx_lint.spec.clauses import Severity
from onnx_lint.wording import counted


class FindingTotals:
    """The counts of findings over the files of a run."""

    def __init__(self) -> None:
        self.by_severity: Counter[Severity] = Counter()
        """The number of listed findings. Those of one cause count once."""
        self.by_rule: Counter[tuple[str, Severity]] = Counter()
        """The number of findings by rule and severity. One of several rules counts once for each of them."""
        self.files_by_rule: Counter[tuple[str, Severity]] = Counter()
        """The number of files that have findings of a rule and severity."""
        self.files_by_worst: Counter[Severity | None] = Counter()
        """The number of files by their worst finding; None for files without findings."""
        self.suppressed: Counter[str] = Counter()
        """The number of suppressed findings by their suppressor."""
        self.fixable: Counter[bool] = Counter()
        """The number of findings with a fix, by whether it is safe."""
        self.fixed = 0
        """The number of findings that the run has fixed."""

    def add(self, file: FileReport) -> None:
        """Count the findings in a file."""
        if file.repair is not None:
            self.fixed += file.repair.count
        if file.suppressed:
            self.suppressed.update(item.suppressor for item in file.suppressed)
        if not file.diagnostics:  # as most files
            self.files_by_worst[None] += 1
            return
        kinds = Counter((item.rule, item.severity) for item in file.diagnostics)
        self.files_by_worst[max(severity for _, severity in kinds)] += 1
        self.by_severity.update(item.severity for item in file.diagnostics)
        kinds.update((rule, item.severity) for item in file.diagnostics for rule in item.other_rules)
        self.by_rule.update(kinds)
        self.files_by_rule.update(kinds.keys())
        self.fixable.update(fixes_of(file))


def fixes_of(file: FileReport) -> Counter[bool]:
    """Return how many findings `onnx-lint fix` can fix, by whether that is safe.

    Findings of one cause count once, as everywhere in a summary, and as safe if any of them has a safe fix.
    """
    found: Counter[bool] = Counter()
    for item in file.diagnostics:
        fixes = (each.fix for each in item.folding.members or (item,))
        are_safe = [fix.is_safe for fix in fixes if fix is not None and not fix.is_by_hand]
        if are_safe:
            found[any(are_safe)] += 1
    return found


def findings_in_words(counts: Mapping[tuple[str | None, Severity], int]) -> str:
    """Return numbers of findings by plugin and severity, those under ONNX's clauses (None) first; empty for none.

    `2 errors, 1 warning; house_rules.py: 1 warning`
    """
    by_plugin: dict[str | None, Counter[Severity]] = {None: Counter()}
    for (plugin, severity), count in counts.items():
        by_plugin.setdefault(plugin, Counter())[severity] += count
    of_onnx = _severities_in_words(by_plugin.pop(None))
    others = [f"{visible(str(plugin))}: {_severities_in_words(found)}" for plugin, found in by_plugin.items()]
    return "; ".join([of_onnx, *others] if of_onnx else others)


def _severities_in_words(counts: Mapping[Severity, int]) -> str:
    """Return numbers of findings, errors first: `1 error, 2 warnings`; empty for none."""
    return ", ".join(counted(counts[each], each.label) for each in reversed(Severity) if counts.get(each))


def fixable_in_words(counts: Counter[bool]) -> str:
    """Return numbers of fixable findings: `2 fixable with --fix, 1 fixable with --fix --unsafe-fixes`; empty for none.

    `counts`: the number of findings by whether their fix is safe.
    """
    found = [(counts[True], "--fix"), (counts[False], "--fix --unsafe-fixes")]
    return ", ".join(f"{count:,} fixable with {option}" for count, option in found if count)


def suppressed_in_words(counts: Counter[str]) -> list[str]:
    """Return the numbers of suppressed findings, such as `3 suppressed by the baseline`."""
    return [
        f"{counts[source]:,} suppressed by the {source}" for source in ("baseline", "configuration") if counts[source]
    ]


def counted_in_words(found: Iterable[Counted]) -> str:
    """Return the findings that are only counted: `215 names are not C90 identifiers: --pedantic lists them`."""
    found = tuple(found)
    numbers = ", ".join(item.describe() for item in found)
    them = "it" if sum(item.count for item in found) == 1 else "them"
    return f"{numbers}: --pedantic lists {them}" if numbers else ""
