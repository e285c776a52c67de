# SPDX-License-Identifier: Apache-2.0
"""The report on a file: its findings, the facts about it, and what was not checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from onnx_lint.common.memory import is_lack_of_memory
from onnx_lint.common.record import Record, replace
from onnx_lint.report import Context
from onnx_lint.rule import RuleError
from onnx_lint.wording import counted, report_name

if TYPE_CHECKING:
    from onnx_lint.ir.crashes import CrashSite
    from onnx_lint.ir.places.place import Place
    from onnx_lint.report.findings import Diagnostic
    from onnx_lint.report.pictures import Picture

OWN_ERRORS = "onnx-lint"
"""The `rule` of an internal error outside the rules."""

OUT_OF_MEMORY = "there is not enough memory"
"""The `exception` of an internal error because of a lack of memory."""


class InternalError(Record):
    """A crash in onnx-lint or a plugin. It is a bug there, and the file does not pass."""

    rule: str
    """The rule that crashed; `OWN_ERRORS` if the crash was outside the rules."""
    exception: str
    traceback: str
    work: str | None = None
    """The work that crashed outside the rules, such as `inferring types and shapes`; None if it ended the lint."""
    operator: str | None = None
    """The operator of the nodes at which it crashed; None if no node caused it."""
    node: str | None = None
    """The first of these nodes, in words."""
    at: Place | None = None
    """The place of that node, or of the graph."""
    nodes: int = 0
    """The number of nodes at which it crashed."""
    not_run: tuple[str, ...] = ()
    """The rules that could not be run, or not completely, because of the crash."""

    @property
    def place(self) -> str | None:
        """The place of that node, or of the graph, as a protobuf field path."""
        return None if self.at is None else str(self.at)

    @classmethod
    def from_crash_site(cls, site: CrashSite) -> InternalError:
        """Return the internal error for a crash in an analysis of the model."""
        return cls(
            OWN_ERRORS,
            site.crash.exception,
            site.crash.traceback,
            work=site.work,
            operator=None if site.operator is None else report_name(site.operator),
            node=None if site.node is None else report_name(site.node),
            at=site.place,
            nodes=len(site.seen),
        )

    @classmethod
    def from_exception(cls, error: Exception, rule: str = OWN_ERRORS) -> InternalError:
        """Return the internal error for an exception in a rule.

        A lack of memory has no traceback, and neither has an error that the author of a rule has to fix.
        """
        if is_lack_of_memory(error):
            return cls(rule, OUT_OF_MEMORY, "")
        if isinstance(error, RuleError):
            return cls(rule, str(error), "")
        import traceback

        trace = "".join(traceback.format_exception(error))
        return cls(rule, f"{type(error).__name__}: {error}", trace)


class OperatorCount(Record):
    """The number of nodes of a model with one operator."""

    domain: str
    version: int | None
    """The imported version of the operator set; None if it is not imported."""
    name: str
    nodes: int


class FileFacts(Record):
    """The facts about a model that are shown with the findings."""

    ir_version: int
    opset_imports: tuple[tuple[str, int], ...]
    producer: str
    nodes: int
    graphs: int
    functions: int
    operators: tuple[OperatorCount, ...] = ()
    """The operators of the nodes, the most frequent first; empty if no report shows them."""


class UnknownShapeCause(Record):
    """A cause of unknown shapes."""

    kind: str
    """One of `onnx_lint.inference.flow.knowledge.Kind`."""
    name: str
    """The name of the operator, function or input."""
    values: int
    """The number of values of unknown shape."""

    @property
    def is_limit(self) -> bool:
        """True if the inference stopped at a limit."""
        return self.kind == "budget"

    @property
    def is_reported(self) -> bool:
        """True if reports for people mention it.

        Inputs without shapes, and shapes that depend on values, are usual.
        """
        return self.is_limit or self.kind.startswith("operator-without-")


class Shapes(Record):
    """The number of values with known shapes, in all graphs and functions."""

    values: int
    unknown: int
    causes: tuple[UnknownShapeCause, ...] = ()

    @property
    def reported_causes(self) -> list[UnknownShapeCause]:
        """The causes that reports for people mention."""
        return [each for each in self.causes if each.is_reported]


class UnlistedOperator(Record):
    """An operator of a known domain, such as that of ONNX Runtime, that the domain does not list."""

    domain: str
    name: str
    nearest: str | None
    """The nearest listed name; None if no name is near."""


class Counted(Record):
    """The number of findings of a rule that are only counted. They are not diagnostics, and fail no run."""

    rule: str
    count: int
    words: tuple[str, ...]
    """The words for one and for several."""

    def describe(self) -> str:
        """Return the number in words: `215 names are not C90 identifiers`."""
        one, several = self.words
        return f"{self.count:,} {one if self.count == 1 else several}"


class Traffic(Record):
    """The network traffic for one model."""

    requests: int
    """The number of requests to the store, without retries of its file system."""
    received: int
    """Bytes of content received, including external data files."""
    version: str | None
    """The store's name of the version that was read: an ETag, a version id, a hash; None if it has none."""


class Repair(Record):
    """The fixes that a run made in a file. The rest of the report is about the file afterwards."""

    fixed: tuple[tuple[str, int], ...] = ()
    """The number of fixed findings, by rule."""
    revealed: tuple[tuple[str, int], ...] = ()
    """The number of findings that the fixed ones hid, by rule."""
    not_made: tuple[str, ...] = ()
    """Why a fix was not made, a sentence each."""
    difference: str = ""
    """The lines that change, if those were asked for instead of the change."""
    problem: str | None = None
    """Why the fixes were not written; None if they were."""
    written: tuple[tuple[str, int], ...] = ()
    """The path and the size of each new file: of a copy, and of data files."""

    @property
    def count(self) -> int:
        """The number of findings that were fixed."""
        return sum(count for _, count in self.fixed)


MAX_NAMED: Final = 3
"""The most files that a total over many files names."""


class TargetVerdict(Record):
    """The answer of one program that must load the model, or of one version that the model must suit."""

    program: str
    """Name and release: `onnxruntime 1.32.0`."""
    loads: bool | None
    """False if it refuses the model. True if every node, type and file was judged and it refuses nothing. None if not
    everything was judged."""
    answer: str
    """The answer in words, such as `loads, as far as its data say` or `refuses it: 1 cause`."""
    reason: str = ""
    """Why the answer is unknown: `2 violations of ONNX; not judged: 1 node of com.acme`. Empty if it is known."""
    fails_run: bool = False
    """True if the run fails although the answer is unknown: the gate asks for a proof."""
    verb: str = "load"
    """`load` for a program that loads models, `accept` for a checker, `support` for a version."""
    basis: str = ""
    """The limits of a positive answer, as the end of a sentence: `, as far as its data say`."""
    suffix: str = ""
    """The end of the sentence for every model, whatever the answer; empty for most programs."""

    @property
    def text(self) -> str:
        """The sentence about the model."""
        return self.answer + self.suffix


NOT_CHECKED: Final = "not checked"
"""The state of a file that could not be read."""

NOT_JUDGED: Final = "not judged"
"""The state of a file that was read, but that no rule could judge."""


class Failure(Record):
    """Why a file has neither a verdict nor a finding."""

    state: str
    """`NOT_CHECKED` or `NOT_JUDGED`."""
    reason: str


class Conformity(Record):
    """The verdict on a file."""

    conforms: bool | None
    """True if it conforms to ONNX, False if it does not, None if that is unknown."""
    reason: str = ""
    """Why it does not conform, or why that is unknown."""


class FileReport(Record):
    """The results for one file.

    A report may be incomplete in five ways. `conformity` has the verdict that follows, with the reason if there is
    none; `failure` has the reason if there is no finding either.

    | Field | What is missing | The verdict |
    |---|---|---|
    | `unreadable` | everything: the file could not be read, or exceeds a limit | none: `not checked` |
    | `not_judged` | every rule about models: the file was read, and holds none | none: `not judged`, without findings |
    | `incomplete` | some checks, such as those of data files that were not examined | unknown, without a violation |
    | `gaps` | findings that the settings hide | unknown, without a violation |
    | `not_verified` | checks of nodes whose operator has no known signature | not affected |
    """

    path: str
    size: int
    diagnostics: tuple[Diagnostic, ...] = ()
    internal_errors: tuple[InternalError, ...] = ()
    facts: FileFacts | None = None
    """The facts about a model; None if the file is not a model."""
    unreadable: str | None = None
    """Why the file could not be read; None if it was read."""
    not_verified: tuple[tuple[str, int], ...] = ()
    """The number of nodes without a known signature, by domain; the default domain is `ai.onnx`."""
    not_listed: tuple[UnlistedOperator, ...] = ()
    """The operators of these nodes that a known domain does not list."""
    shapes: Shapes | None = None
    """The number of known shapes; None if no rule needed them."""
    not_judged: str | None = None
    """Why the file, which was read, holds no model to judge; None if it holds one."""
    incomplete: tuple[str, ...] = ()
    """Descriptions, for people, of what was not verified or not reported, and why."""
    lacks_numpy: bool = False
    """True if `incomplete` has parts for which numpy is needed, which cannot be imported."""
    suppressed: tuple[Diagnostic, ...] = ()
    """The findings that a baseline or the configuration suppresses. They are counted, and fail no run."""
    edition: str | None = None
    """The edition for this file, if it differs from that of the report."""
    variant: str | None = None
    """The variant for this file, if it differs from that of the report."""
    rules: tuple[str, ...] | None = None
    """The ids of the rules for this file, if they differ from those of the report."""
    judged_by: int = 0
    """The number of rules that checked the file."""
    gaps: tuple[str, ...] = ()
    """The settings that may have hidden an error, or lowered its severity, in words; empty if none may have."""
    kind: str = "ModelProto"
    """The message that the file holds, or was read as."""
    counted: tuple[Counted, ...] = ()
    """Findings that are counted and not listed, one number for each rule."""
    traffic: Traffic | None = None
    """The network traffic of a remote model; None for a local one."""
    form: str = "binary"
    """`binary`, `textproto` or `json`."""
    repair: Repair | None = None
    """The fixes that were made in the file, or would be; None if no fixes were requested."""
    targets: tuple[TargetVerdict, ...] = ()
    """The verdict for each program that must load the model."""
    unmatched: tuple[tuple[str, str], ...] = ()
    """The descriptions of the suppressions that match nothing in the file, each with what it may mean, in words."""
    data_files: tuple[str, ...] = ()
    """The locations of its external data at which there is a file, relative to its folder."""
    pictures: tuple[Picture, ...] = ()
    """The nodes around findings; empty if no report shows them."""

    @property
    def failure(self) -> Failure | None:
        """Why there is neither a verdict nor a finding; None if there is one of them."""
        if self.unreadable is not None:
            return Failure(NOT_CHECKED, self.unreadable)
        if self.not_judged is None or self.diagnostics or self.suppressed:
            return None
        return Failure(NOT_JUDGED, self.not_judged)

    @property
    def why_not_judged(self) -> str | None:
        """Why there is no verdict although the file was read.

        None if there is a verdict: a file that holds no model does not conform, and `not-a-model` reports it.
        """
        return self.not_judged if self.not_judged is not None and self.conformity.conforms is None else None

    def with_crash(self, error: Exception, work: str) -> FileReport:
        """Return the report with a crash in some work after the lint."""
        crash = replace(InternalError.from_exception(error), work=work)
        return replace(self, internal_errors=(*self.internal_errors, crash))

    @property
    def has_shape_limit(self) -> bool:
        """True if inferring its shapes stopped at a limit."""
        return self.shapes is not None and any(each.is_limit for each in self.shapes.causes)

    @property
    def has_unverified(self) -> bool:
        """True if something was not verified that reports for people mention."""
        return bool(self.not_verified or self.incomplete or (self.shapes is not None and self.shapes.reported_causes))

    @property
    def conformity(self) -> Conformity:
        """The verdict.

        The file conforms only if every rule that can find an error ran over the whole document, none found one, no
        setting lowered the severity of errors, and no finding is suppressed. It does not conform if a finding breaks a
        requirement of ONNX, also if the settings lower its severity. Clauses of plugins, policies and targets do not
        count.
        """
        violations = sum([item.is_violation for item in (*self.diagnostics, *self.suppressed)])
        if violations:
            what = "finding breaks" if violations == 1 else "findings break"
            return Conformity(False, f"{violations:,} {what} a requirement of ONNX")
        if self.unreadable is not None:
            return Conformity(None, f"the file was {NOT_CHECKED}")
        if self.not_judged is not None:
            return Conformity(None, f"the file was {NOT_JUDGED}")
        reasons = "; ".join(self._limits_of_verdict())
        return Conformity(None, reasons) if reasons else Conformity(True)

    def _limits_of_verdict(self) -> Iterator[str]:
        """Yield why the file may not conform although no rule found a violation."""
        yield from self.gaps
        if self.internal_errors:
            yield counted(len(self.internal_errors), "internal error")
        for source, count in Counter(item.suppressor for item in self.suppressed).items():
            yield f"{counted(count, 'finding')} suppressed by the {source}"
        if self.has_shape_limit:
            yield "inferring shapes stopped at a limit"
        yield from self.incomplete

    def with_context(self, context: Context) -> FileReport:
        """Return the report of a check that collected no more than this around findings."""
        if context == Context.NODES:
            return self
        if context == Context.LINES:
            return replace(self, pictures=())
        kept = [tuple(replace(item, context=()) for item in found) for found in (self.diagnostics, self.suppressed)]
        return replace(self, diagnostics=kept[0], suppressed=kept[1], pictures=())
