# SPDX-License-Identifier: Apache-2.0
"""The results of a run: the reports on its files, and the counts over all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.common.record import Record, replace
from onnx_lint.report.file_report import MAX_NAMED, NOT_CHECKED, NOT_JUDGED, Counted, FileReport
from onnx_lint.spec.clauses import Severity
from onnx_lint.wording import counted

if TYPE_CHECKING:
    from onnx_lint.report.findings import Diagnostic
    from onnx_lint.report.remark_totals import RemarkTotals


class FileGroup:
    """The groups of files in the verdict on several files. Each file is in one.

    The states of a `Failure`, `NOT_CHECKED` and `NOT_JUDGED`, are groups as well.
    """

    CONFORMING: Final = "conforming"
    VIOLATING: Final = "violating"
    """Files that break a requirement, and have findings that are not suppressed."""
    NOTHING_NEW: Final = "nothing new"
    """Files with suppressed findings only. None of them breaks a requirement."""
    NOTHING_NEW_VIOLATING: Final = "nothing new, violating"
    """Files with suppressed findings only. At least one of them breaks a requirement."""
    UNDECIDED: Final = "undecided"
    """Files that were not checked in full, because of the settings or because something went wrong."""


class Weakening(Record):
    """The settings of a configuration file that may hide findings, or let a run pass that would fail without them."""

    file: str
    settings: tuple[tuple[str, Any], ...]
    """The keys as TOML writes them, such as `severity.cycle`, each with its value."""
    is_found: bool = False
    """True if the file was discovered near a model, and not named by the user."""


class Totals:
    """The counts over the files of a run. Nothing else is kept of a file once its report is written."""

    def __init__(self, files: Iterable[FileReport] = ()) -> None:
        self.files = 0
        self.models = 0
        self.files_by_worst: Counter[Severity | None] = Counter()
        """The number of files by their worst finding; None for files without findings."""
        self.findings_by_severity: Counter[Severity] = Counter()
        self.findings_by_rule: Counter[tuple[str, Severity]] = Counter()
        """The number of findings by rule and severity."""
        self.files_by_rule: Counter[tuple[str, Severity]] = Counter()
        """The number of files that have findings of a rule and severity."""
        self.producers: dict[str, Counter[Severity | None]] = {}
        """For each producer with its version, the number of findings by severity, and of models under the key None."""
        self.operators: dict[tuple[str, int | None, str], tuple[int, int]] = {}
        """The number of nodes and of models with an operator, by domain, imported version and name."""
        self.suppressed: Counter[str] = Counter()
        """The number of suppressed findings by their suppressor."""
        self.fixable: Counter[bool] = Counter()
        """The number of findings with a fix, by whether it is safe."""
        self.fixed = 0
        self.unreadable = 0
        self.not_judged = 0
        """Files without a verdict that were read, see `FileReport.why_not_judged`."""
        self.internal_errors = 0
        self.files_by_conformity: Counter[bool | None] = Counter()
        """The number of files by whether they conform; None if that is unknown."""
        self.first_reasons: dict[bool | None, str] = {}
        """The reason of the first file that does not conform (False), and of the first without a verdict (None)."""
        self.files_by_group: Counter[str] = Counter()
        self.files_with_findings_by_group: Counter[str] = Counter()
        self.findings_by_group: Counter[tuple[str, str | None, Severity]] = Counter()
        """The number of findings by group, plugin and severity."""
        self.violating_paths: list[str] = []
        """The first files of the group `FileGroup.NOTHING_NEW_VIOLATING`, of which a report lists no finding."""
        self.without_model = 0
        """The number of files that do not conform because no model could be read from them."""
        self.conforming_by_rules_of_run = 0
        """The number of conforming files without findings that were checked by the rules of the run."""
        self.standards: set[tuple[str | None, str | None]] = set()
        """The edition and variant of each file, None for those of the report."""
        self.files_by_gap: Counter[str] = Counter()
        """The number of files for each of `FileReport.gaps`."""
        self.incomplete = 0
        """The number of files whose verdict lacks something that was not verified."""
        self.counted: dict[str, Counted] = {}
        """The findings that are counted but not listed, by rule."""
        self.remarks: RemarkTotals | None = None
        """The answers of target programs, and what was not verified; None if no file has either."""
        for file in files:
            self.add(file)

    def add(self, file: FileReport) -> None:
        """Count a file."""
        self.files += 1
        self.models += file.kind == "ModelProto" and file.unreadable is None
        self._add_findings(file)
        if file.facts is not None:
            counts = self.producers.get(file.facts.producer)
            if counts is None:
                counts = self.producers[file.facts.producer] = Counter()
            counts[None] += 1
            for item in file.diagnostics:
                counts[item.severity] += 1
            for domain, version, name, count in file.facts.operators:
                nodes, models = self.operators.get((domain, version, name), (0, 0))
                self.operators[domain, version, name] = nodes + count, models + 1
        self.fixed += file.repair.count if file.repair is not None else 0
        self.unreadable += file.unreadable is not None
        self.not_judged += file.why_not_judged is not None
        self.internal_errors += len(file.internal_errors)
        conformity = file.conformity
        conforms = conformity.conforms
        self.files_by_conformity[conforms] += 1
        self.first_reasons.setdefault(conforms, conformity.reason)
        self.without_model += conforms is False and file.not_judged is not None
        self._add_group(file, _group_of(file, conforms))
        if file.gaps and file.failure is None:  # settings do not matter for a file that no rule judged
            self.files_by_gap.update(file.gaps)
        self.incomplete += bool(file.incomplete or file.has_shape_limit)
        for each in file.counted:
            before = self.counted.get(each.rule)
            self.counted[each.rule] = each if before is None else replace(each, count=each.count + before.count)
        if file.targets or file.has_unverified:
            if self.remarks is None:
                from onnx_lint.report.remark_totals import RemarkTotals

                self.remarks = RemarkTotals()
            self.remarks.add(file)

    def _add_group(self, file: FileReport, group: str) -> None:
        self.files_by_group[group] += 1
        if group != NOT_CHECKED:
            self.standards.add((file.edition, file.variant))
        if group == FileGroup.NOTHING_NEW_VIOLATING and len(self.violating_paths) < MAX_NAMED:
            self.violating_paths.append(file.path)
        if file.diagnostics:
            self.files_with_findings_by_group[group] += 1
            self.findings_by_group.update((group, item.counted_under, item.severity) for item in file.diagnostics)
        elif group == FileGroup.CONFORMING and file.rules is None:
            self.conforming_by_rules_of_run += 1

    def _add_findings(self, file: FileReport) -> None:
        if file.suppressed:
            self.suppressed.update(item.suppressor for item in file.suppressed)
        if not file.diagnostics:  # as most files
            self.files_by_worst[None] += 1
            return
        kinds = Counter((item.rule, item.severity) for item in file.diagnostics)
        self.files_by_worst[max(severity for _, severity in kinds)] += 1
        self.findings_by_severity.update(item.severity for item in file.diagnostics)
        kinds.update((rule, item.severity) for item in file.diagnostics for rule in item.other_rules)
        self.findings_by_rule.update(kinds)
        self.files_by_rule.update(kinds.keys())
        self.fixable.update(fixes_of(file))

    @property
    def noun(self) -> str:
        """The word for one of the files: `model` if all of them are models."""
        is_any_read = self.unreadable < self.files
        return "model" if is_any_read and self.models == self.files else "file"


def _group_of(file: FileReport, conforms: bool | None) -> str:
    """Return the group of a file."""
    if file.failure is not None:
        return file.failure.state
    if not file.diagnostics and file.suppressed:
        return FileGroup.NOTHING_NEW if conforms is None else FileGroup.NOTHING_NEW_VIOLATING
    if not file.diagnostics and file.rules == ():
        return NOT_JUDGED
    if conforms is None:
        return FileGroup.UNDECIDED
    return FileGroup.CONFORMING if conforms else FileGroup.VIOLATING


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


class Report(Record):
    """The results of a run."""

    files: tuple[FileReport, ...]
    edition: str
    variant: str
    rules: tuple[str, ...] = ()
    """The ids of the rules that checked the files."""
    plugins: tuple[str, ...] = ()
    """The installed plugins by name and the plugin files by path that were loaded."""
    stale: int = 0
    """The number of entries of baselines that no longer occur, or not as often."""
    weakened: tuple[Weakening, ...] = ()
    """The configuration files that weaken the verdict."""
    not_linted: tuple[str, ...] = ()
    """The paths that an interrupted run did not reach."""
    is_lost: bool = False
    """True if the run ended early because the cluster that linted was lost."""

    counted_totals: Totals | None = None
    """The counts over all files, if these were written and dropped during the run: `files` is then empty."""

    @property
    def totals(self) -> Totals:
        """The counts over all files. They are computed at each access, unless the run has counted its files."""
        return self.counted_totals if self.counted_totals is not None else Totals(self.files)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All diagnostics of all files, in order."""
        return tuple(diagnostic for file in self.files for diagnostic in file.diagnostics)

    @property
    def suppressed(self) -> tuple[Diagnostic, ...]:
        """All suppressed findings of all files, in order."""
        return tuple(diagnostic for file in self.files for diagnostic in file.suppressed)

    def standard(self, edition: str | None = None, variant: str | None = None) -> str:
        """Return the name of a standard, by default that of the run: `ONNX 1.23 (onnx)`."""
        variant = variant or self.variant
        return f"ONNX {edition or self.edition}" + (f" ({variant})" if variant != "onnx-ml" else "")

    def count(self, severity: Severity) -> int:
        """Return the number of diagnostics with exactly this severity."""
        return self.totals.findings_by_severity[severity]

    @property
    def conforms(self) -> bool | None:
        """True if every file conforms to ONNX, False if one does not, None if that is unknown, see `conforms_why`."""
        return self._conforms(self.totals)

    def _conforms(self, totals: Totals) -> bool | None:
        conformity = totals.files_by_conformity
        if conformity[False]:
            return False
        return None if conformity[None] or self.not_linted or not conformity else True

    @property
    def conforms_why(self) -> str | None:
        """Why not every file conforms, or why that is unknown; None if `conforms` is true."""
        totals = self.totals
        conforms = self._conforms(totals)
        if conforms:
            return None
        count = totals.files_by_conformity[conforms]
        if not count and not self.not_linted:
            return "no file was checked"
        if not count:
            left = len(self.not_linted)
            return f"{left:,} {'file was' if left == 1 else 'files were'} not linted"
        reason = totals.first_reasons[conforms]
        if totals.files == 1:
            return reason
        some = f"{count:,} of {counted(totals.files, totals.noun)}"
        if conforms is False:
            return f"{some} {'does' if count == 1 else 'do'} not conform"
        return f"{some} {'has' if count == 1 else 'have'} no verdict; the first: {reason}"
