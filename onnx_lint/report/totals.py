# SPDX-License-Identifier: Apache-2.0
"""The results of a run: the reports on its files, and the counts over all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from onnx_lint.common.record import Record, replace
from onnx_lint.report.file_report import Counted, FileFacts, FileReport
from onnx_lint.report.finding_counts import FindingTotals
from onnx_lint.report.verdict_totals import VerdictTotals
from onnx_lint.spec.clauses import Severity
from onnx_lint.wording import counted

if TYPE_CHECKING:
    from onnx_lint.report.findings import Diagnostic
    from onnx_lint.report.remark_totals import RemarkTotals


class Weakening(Record):
    """The settings of a configuration file that may hide findings, or let a run pass that would fail without them."""

    file: str
    settings: tuple[tuple[str, Any], ...]
    """The keys as TOML writes them, such as `severity.cycle`, each with its value."""
    is_found: bool = False
    """True if the file was discovered near a model, and not named by the user."""


class ProducerTotals:
    """The counts over the models of one producer."""

    def __init__(self) -> None:
        self.models = 0
        self.findings: Counter[Severity] = Counter()


class OperatorTotals:
    """The counts of one operator over the models of a run."""

    def __init__(self) -> None:
        self.models = 0
        """The number of models with such nodes."""
        self.nodes = 0


OperatorKey = tuple[str, int | None, str]
"""The domain, the imported version and the name of an operator."""


class Totals:
    """The counts over the files of a run. Nothing else is kept of a file once its report is written."""

    def __init__(self, files: Iterable[FileReport] = ()) -> None:
        self.files = 0
        self.models = 0
        self.internal_errors = 0
        self.findings = FindingTotals()
        self.verdicts = VerdictTotals()
        self.producers: dict[str, ProducerTotals] = {}
        """The counts by producer with its version."""
        self.operators: dict[OperatorKey, OperatorTotals] = {}
        self.counted: dict[str, Counted] = {}
        """The findings that are counted but not listed, by rule."""
        self.remarks: RemarkTotals | None = None
        """The answers of target programs, and what was not verified; None if no file has either."""
        for file in files:
            self.add(file)

    def add(self, file: FileReport) -> None:
        """Count a file."""
        self.files += 1
        if file.kind == "ModelProto" and file.unreadable is None:
            self.models += 1
        self.internal_errors += len(file.internal_errors)
        self.findings.add(file)
        self.verdicts.add(file)
        if file.facts is not None:
            self._add_facts(file.facts, file.diagnostics)
        for each in file.counted:
            before = self.counted.get(each.rule)
            self.counted[each.rule] = each if before is None else replace(each, count=each.count + before.count)
        if file.targets or file.has_unverified:
            if self.remarks is None:
                from onnx_lint.report.remark_totals import RemarkTotals

                self.remarks = RemarkTotals()
            self.remarks.add(file)

    def _add_facts(self, facts: FileFacts, diagnostics: Iterable[Diagnostic]) -> None:
        producer = self.producers.setdefault(facts.producer, ProducerTotals())
        producer.models += 1
        producer.findings.update(item.severity for item in diagnostics)
        for each in facts.operators:
            operator = self.operators.setdefault((each.domain, each.version, each.name), OperatorTotals())
            operator.models += 1
            operator.nodes += each.nodes

    @property
    def noun(self) -> str:
        """The word for one of the files: `model` if all of them are models."""
        is_any_read = self.verdicts.unreadable < self.files
        return "model" if is_any_read and self.models == self.files else "file"


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
        return self.totals.findings.by_severity[severity]

    @property
    def conforms(self) -> bool | None:
        """True if every file conforms to ONNX, False if one does not, None if that is unknown, see `conforms_why`."""
        return self._conforms(self.totals)

    def _conforms(self, totals: Totals) -> bool | None:
        conformity = totals.verdicts.conformity
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
        count = totals.verdicts.conformity[conforms]
        if not count and not self.not_linted:
            return "no file was checked"
        if not count:
            left = len(self.not_linted)
            return f"{left:,} {'file was' if left == 1 else 'files were'} not linted"
        reason = totals.verdicts.first_reasons[conforms]
        if totals.files == 1:
            return reason
        some = f"{count:,} of {counted(totals.files, totals.noun)}"
        if conforms is False:
            return f"{some} {'does' if count == 1 else 'do'} not conform"
        return f"{some} {'has' if count == 1 else 'have'} no verdict; the first: {reason}"
