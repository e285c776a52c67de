# SPDX-License-Identifier: Apache-2.0
"""Diagnostics and reports: the results of a run, independent of the report format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from onnx_lint.common.memory import is_lack_of_memory
from onnx_lint.common.record import Record, replace
from onnx_lint.rule import RuleError
from onnx_lint.spec.clauses import KEYWORDS, Severity
from onnx_lint.wording import ANY_RULE, report_name, with_more

if TYPE_CHECKING:
    from onnx_lint.ir.crashes import CrashSite
    from onnx_lint.ir.places.edits import Fix

OWN_ERRORS = "onnx-lint"
"""The `rule` of an internal error outside the rules."""


DIGEST: Final = 12
"""The number of hexadecimal digits of a digest in `Diagnostic.structure` and `Diagnostic.parts`."""

OUT_OF_MEMORY = "there is not enough memory"
"""The `exception` of an internal error because of a lack of memory."""


class RelatedPlace(Record):
    """Another place that belongs to a diagnostic."""

    place: str
    pointer: str
    message: str
    byte_range: tuple[int, int] | None
    position: tuple[int, int] | None = None
    """Line and column in a model in text form, as for a diagnostic."""


class ContextLine(Record):
    """A line of a model in ONNX's textual syntax, near a finding."""

    label: str
    """The text of the margin: the index of the node or other element in its list, if any."""
    text: str
    """The line, with unsafe characters escaped. It may be cut, and then is not valid syntax."""
    mark: tuple[int, int] | None = None
    """The subject of the finding: its first character, and the one after it."""


class ProposedEdit(Record):
    """An edit of a fix, as reports show it."""

    kind: str
    """`delete`, `insert`, `assign` or `move`."""
    place: str
    pointer: str
    before: int | None = None
    """The index of the element before which one is moved."""


class ProposedFix(Record):
    """The fix of a finding, as reports show it."""

    message: str
    """The change that the fix makes, as an instruction."""
    is_safe: bool
    edits: tuple[ProposedEdit, ...] = ()
    """Empty if there are many."""
    patches: tuple[tuple[int, int, str], ...] = ()
    """The bytes that change: offset, length and what replaces them, in base64; empty if these are many."""


class Diagnostic(Record):
    """A finding with everything that a report needs: rule, severity, clause, place and bytes."""

    rule: str
    severity: Severity
    message: str
    place: str
    """The protobuf field path, such as `graph.node[3].input[0]`; `model` for the whole."""
    pointer: str
    """The place as a JSON Pointer."""
    clause: str
    keyword: str
    """The keyword of the clause in the chosen edition."""
    clause_summary: str
    anchor: str
    """Document and section of the clause."""
    allowed: str | None
    related: tuple[RelatedPlace, ...]
    byte_range: tuple[int, int] | None
    """First byte and the byte after the last, in the file; None if unknown, or if the file is text."""
    subject: str | None
    node: str | None = None
    """The name of the node that contains the place."""
    operator: str | None = None
    """The domain and op_type of that node."""
    graph: str | None = None
    """The name of the innermost graph that contains the place."""
    scope: tuple[str, ...] = ()
    """The names around the place and at it, outermost first; for fingerprints."""
    collective: bool = False
    """True if it is about all places of its kind. `place` is then the first."""
    refused_by: tuple[tuple[str, str], ...] = ()
    """The programs of the target that reject a violation of the clause, each with the first release known to."""
    case: str | None = None
    """The case of the clause that it is about, see `Finding.case`."""
    accepted_by: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The programs of the target that are proven to accept a violation of the clause, each with its releases."""
    by_target: tuple[tuple[str, str], ...] = ()
    """The title of each of these programs, and what it does: `("onnxruntime 1.32.0", "loads it")`."""
    count: int = 1
    """The number of faults that it reports."""
    hint: str | None = None
    """A short instruction for fixing it; None if unknown."""
    cause: str | None = None
    """Equal for findings of one cause; None for one that is never folded."""
    members: tuple[Diagnostic, ...] = ()
    """The findings of one cause that are folded into this one, itself the first; empty for one by itself."""
    position: tuple[int, int] | None = None
    """Line and column in a model in text form, both from 1, columns in Unicode code points; None in a binary file."""
    context: tuple[ContextLine, ...] = ()
    """The lines around the place and those of the related places; empty if no report shows them."""
    fix: ProposedFix | None = None
    """The fix, in a binary file."""
    edits: Fix | None = None
    """The edits of the fix, while the file is mended; None in reports. Findings may share one."""
    declared_by: str | None = None
    """The plugin whose clause it is; None for a clause of the ONNX specification."""
    suppressed_by: str | None = None
    """The line of the configuration that suppresses it, with the reason; None if none does."""
    structure: str = ""
    """A digest of the operators around the place, and one of the names there; empty if there are none."""
    parts: tuple[str, ...] = ()
    """The same for each of its faults, if it is about several; a single digest of the names of many."""

    @property
    def is_violation(self) -> bool:
        """True if it breaks a requirement of ONNX, whatever its severity by the settings."""
        return self.declared_by is None and KEYWORDS[self.keyword] is Severity.ERROR

    @property
    def suppressor(self) -> str:
        """The source of its suppression, if it is suppressed: one of `SUPPRESSORS`."""
        return "baseline" if self.suppressed_by is None else "configuration"


SUPPRESSORS: Final = ("baseline", "configuration")
"""What can suppress a finding."""

NAMED: Final = 4
"""The most places that a folded finding lists, of all findings of one cause."""


def fold(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics of one file with those of one cause as one: the first, which counts them all.

    The first is that of the least place, for any order of fields in the file. The next few are related places of
    it. All of them are its members, so that a baseline can select those that are new.
    """
    found: dict[object, list[tuple[int, Diagnostic]]] = {}
    for index, item in enumerate(diagnostics):
        cause = item.cause
        rule = None if cause is None or cause.startswith(ANY_RULE) else (item.rule, item.clause)
        key = (rule, item.severity, cause) if cause is not None else index
        found.setdefault(key, []).append((index, item))
    folded: list[tuple[int, Diagnostic]] = []
    for same in found.values():
        if len(same) > 1:
            same.sort(key=lambda each: _path(each[1].place))
        folded.append((same[0][0], _folded([item for _, item in same]) if len(same) > 1 else same[0][1]))
    return tuple([item for _, item in sorted(folded, key=lambda each: each[0])])


def _path(place: str) -> list[tuple[int, int, str]]:
    """Return a key that sorts places by their indices; inside a node, its own inputs before its attributes."""
    parts = [part.partition("[") for part in place.split(".")]
    return [(name == "attribute", int(index[:-1]) if index[:-1].isdecimal() else -1, name) for name, _, index in parts]


def unfold(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """Return the diagnostics with the members of each in its place."""
    return tuple([member for item in diagnostics for member in item.members or (item,)])


def _folded(members: Sequence[Diagnostic]) -> Diagnostic:
    first, *others = members
    shown = [
        RelatedPlace(each.place, each.pointer, each.message, each.byte_range, each.position)
        for each in others[: NAMED - 1]
    ]
    several = len(others) > 1
    is_shared = first.cause is not None and first.cause.startswith(ANY_RULE)
    are_alike = len({each.rule for each in members}) == 1
    if is_shared and (not are_alike or len({_node_of(each.place) for each in members}) < len(members)):
        more = f"{'faults have' if several else 'fault has'} this cause"
    else:
        # Findings at one place are about the nodes that use the element there.
        kinds = {_kind_at(each.place) for each in members} if any(each.place != first.place for each in others) else ()
        kind = kinds.pop() if len(kinds) == 1 else "place" if kinds else "node"
        more = f"{f'{kind}s have' if several else f'{kind} has'} this fault"
    return replace(
        first,
        message=with_more(first.message, f"{len(others):,} more {more}"),
        related=(*first.related, *shown),
        count=sum(each.count for each in members),
        members=tuple(members),
    )


def _node_of(place: str) -> str:
    """Return the place of the innermost node."""
    return place[: place.find("]", place.rfind("node[")) + 1]


def _kind_at(place: str) -> str:
    """Return the word for the element at a place: the innermost one that has a word."""
    names = [name for part in place.split(".") if (name := part.partition("[")[0]) in _KINDS]
    if names[-2:-1] == ["node"] and names[-1] in ("input", "output"):
        names.pop()
    return _KINDS[names[-1]] if names else "node"


_KINDS: Final = {
    "functions": "function",
    "g": "subgraph",
    "graphs": "subgraph",
    "initializer": "initializer",
    "input": "input",
    "node": "node",
    "opset_import": "import",
    "output": "output",
    "value_info": "value",
}


def _some(count: int, one: str, several: str) -> str:
    return f"{count:,} {one if count == 1 else several}"


def worst_of_each(diagnostics: Sequence[Diagnostic], per_rule: int, most: int) -> frozenset[int]:
    """Return the indices of the first `per_rule` of each rule and clause, at most `most` in all.

    The first of each come before the second ones, and of these errors before warnings.
    """
    counts: Counter[tuple[str, str]] = Counter()
    order: list[tuple[int, int, int]] = []
    for index in sorted(range(len(diagnostics)), key=lambda index: -diagnostics[index].severity):
        item = diagnostics[index]
        counts[item.rule, item.clause] += 1
        order.append((counts[item.rule, item.clause], -item.severity, index))
    return frozenset(index for number, _, index in sorted(order)[:most] if number <= per_rule)


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
    place: str | None = None
    """The place of that node, or of the graph."""
    nodes: int = 0
    """The number of nodes at which it crashed."""
    not_run: tuple[str, ...] = ()
    """The rules that could not be run, or not completely, because of the crash."""

    @classmethod
    def at(cls, site: CrashSite) -> InternalError:
        """Return the internal error for a crash in an analysis of the model."""
        return cls(
            OWN_ERRORS,
            site.crash.exception,
            site.crash.traceback,
            work=site.work,
            operator=None if site.operator is None else report_name(site.operator),
            node=None if site.node is None else report_name(site.node),
            place=None if site.place is None else str(site.place),
            nodes=len(site.seen),
        )

    @classmethod
    def of(cls, error: Exception, rule: str = OWN_ERRORS) -> InternalError:
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


class FileFacts(Record):
    """The facts about a model that are shown with the findings."""

    ir_version: int
    opset_imports: tuple[tuple[str, int], ...]
    producer: str
    nodes: int
    graphs: int
    functions: int
    operators: tuple[tuple[str, int | None, str, int], ...] = ()
    """The operators of the nodes: domain, imported version of the operator set (None if not imported), name, and the
    number of nodes, the most frequent first."""


class Shapes(Record):
    """The number of values with known shapes, in all graphs and functions."""

    values: int
    unknown: int
    causes: tuple[tuple[str, str, int], ...] = ()
    """The causes of unknown shapes: the kind of cause, the operator, function or input, and the number of values."""


class Counted(Record):
    """The number of findings of a rule that are only counted. They are not diagnostics, and fail no run."""

    rule: str
    count: int
    words: tuple[str, ...]
    """The words for one and for several."""

    def describe(self) -> str:
        """Return the number in words: `215 names are not C90 identifiers`."""
        return f"{self.count:,} {self.words[self.count != 1]}"


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
    """Why the file was left as it is, though there are fixes; None if it was not."""
    written: tuple[tuple[str, int], ...] = ()
    """The path and the size of each new file: of a copy, and of data files."""

    @property
    def count(self) -> int:
        """The number of findings that were fixed."""
        return sum(count for _, count in self.fixed)


class TargetVerdict(Record):
    """What is known about one program that must load the model."""

    program: str
    """Name and release: `onnxruntime 1.32.0`."""
    loads: bool | None
    """False if it refuses something, True if it refuses none and every node, type and file was judged, otherwise None.
    """
    said: str
    """The verdict in words, with what was not judged."""
    is_red: bool = False
    """True if it fails the run although the program refuses nothing that is known: the gate asks for a proof."""


class FileReport(Record):
    """The results for one file. `unreadable` is the reason why there is no verdict, if there is none."""

    path: str
    size: int
    diagnostics: tuple[Diagnostic, ...] = ()
    internal_errors: tuple[InternalError, ...] = ()
    facts: FileFacts | None = None
    """The facts about a model; None if the file is not a model."""
    unreadable: str | None = None
    not_verified: tuple[tuple[str, int], ...] = ()
    """The number of nodes without a known signature, by domain; the default domain is `ai.onnx`."""
    shapes: Shapes | None = None
    """The number of known shapes; None if no rule needed them."""
    not_judged: str | None = None
    """Why there is no verdict although the file was read: it holds no model."""
    incomplete: tuple[str, ...] = ()
    """Descriptions, for people, of what was not verified or not reported, and why."""
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
    """Why, by the settings, an error may not have been found or not have been reported as error; empty if each would
    have been."""
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
    data_files: tuple[str, ...] = ()
    """The locations of its external data at which there is a file, relative to its folder."""

    @property
    def failure(self) -> tuple[str, str] | None:
        """Why there is neither a verdict nor a finding: `not checked` or `not judged`, and the reason."""
        if self.unreadable is not None:
            return "not checked", self.unreadable
        return ("not judged", self.not_judged) if self.not_judged is not None and not self.diagnostics else None

    def with_crash(self, error: Exception, work: str) -> FileReport:
        """Return the report with a crash in some work after the lint."""
        crash = replace(InternalError.of(error), work=work)
        return replace(self, internal_errors=(*self.internal_errors, crash))

    @property
    def conformity(self) -> tuple[bool | None, str]:
        """Whether the file conforms to ONNX, and why it does not, or why that is not known; the one source of verdicts.

        True only if every rule that can find an error ran over the whole document at its own severity, found nothing,
        and no finding is suppressed. False if a finding breaks a requirement of ONNX, whatever its severity by the
        settings. Clauses of plugins, policies and targets do not count.
        """
        violations = sum([item.is_violation for item in (*self.diagnostics, *self.suppressed)])
        if violations:
            return False, _some(violations, "finding breaks", "findings break") + " a requirement of ONNX"
        if self.unreadable is not None or self.not_judged is not None:
            return None, "the file was not " + ("judged" if self.unreadable is None else "checked")
        reasons = list(self.gaps)
        if self.internal_errors:
            reasons.append(_some(len(self.internal_errors), "internal error", "internal errors"))
        if self.suppressed:
            for source, count in Counter(item.suppressor for item in self.suppressed).items():
                reasons.append(f"{_some(count, 'finding', 'findings')} suppressed by the {source}")
        if self.shapes is not None and any(kind == "budget" for kind, _, _ in self.shapes.causes):
            reasons.append("inferring shapes stopped at a limit")
        reasons += self.incomplete
        return (None, "; ".join(reasons)) if reasons else (True, "")

    def without_context(self) -> FileReport:
        """Return the report as a check has it that collects no lines around findings."""
        kept = [tuple(replace(item, context=()) for item in found) for found in (self.diagnostics, self.suppressed)]
        return replace(self, diagnostics=kept[0], suppressed=kept[1])


class Weakening(Record):
    """The settings of a configuration file that may hide findings, or let a run pass more easily."""

    file: str
    settings: tuple[tuple[str, Any], ...]
    """The keys as TOML writes them, such as `severity.cycle`, each with its value."""
    is_found: bool = False
    """True if the file was discovered near a model, and not named by the user."""


class Totals:
    """The counts over the files of a run: all that is kept of a file once its report is written."""

    def __init__(self, files: Iterable[FileReport] = ()) -> None:
        self.files = 0
        self.models = 0
        self.worst: Counter[Severity | None] = Counter()
        """The number of files by their worst finding; None for files without findings."""
        self.findings: Counter[tuple[str, Severity]] = Counter()
        """The number of findings by rule and severity."""
        self.files_with: Counter[tuple[str, Severity]] = Counter()
        """The number of files that have findings of a rule and severity."""
        self.producers: dict[str, Counter[Severity | None]] = {}
        """The number of findings by severity, and of models under None, for each producer with its version."""
        self.operators: dict[tuple[str, int | None, str], tuple[int, int]] = {}
        """The number of nodes and of models with an operator, by domain, imported version and name."""
        self.suppressed: Counter[str] = Counter()
        """The number of suppressed findings by their suppressor."""
        self.fixable: Counter[bool] = Counter()
        """The number of findings with a fix, by whether it is safe."""
        self.fixed = 0
        self.unreadable = 0
        self.not_judged = 0
        """Files that hold no model."""
        self.unexplained = 0
        """Files that hold no model, and have no finding that says so."""
        self.internal_errors = 0
        self.conformity: Counter[bool | None] = Counter()
        """The number of files by whether they conform; None for files of which that is not known."""
        self.reasons: dict[bool | None, str] = {}
        """Why the first file does not conform, and why that is not known of the first such file."""
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
        self.not_judged += file.not_judged is not None
        self.unexplained += file.not_judged is not None and file.failure is not None
        self.internal_errors += len(file.internal_errors)
        conforms, why = file.conformity
        self.conformity[conforms] += 1
        self.reasons.setdefault(conforms, why)

    def _add_findings(self, file: FileReport) -> None:
        if file.suppressed:
            self.suppressed.update(item.suppressor for item in file.suppressed)
        if not file.diagnostics:  # as most files
            self.worst[None] += 1
            return
        kinds = Counter((item.rule, item.severity) for item in file.diagnostics)
        self.worst[max(severity for _, severity in kinds)] += 1
        self.findings.update(kinds)
        self.files_with.update(kinds.keys())
        self.fixable.update(fixes_of(file.diagnostics))

    @property
    def levels(self) -> Counter[Severity]:
        """The number of findings by severity."""
        counts: Counter[Severity] = Counter()
        for (_, severity), count in self.findings.items():
            counts[severity] += count
        return counts


def fixes_of(diagnostics: Iterable[Diagnostic]) -> Counter[bool]:
    """Return how many findings have a fix, by whether it is safe."""
    return Counter(item.fix.is_safe for item in unfold(diagnostics) if item.fix is not None)


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

    kept: Totals | None = None
    """The counts over all files of a run whose files were written and dropped: `files` is then empty."""

    @property
    def totals(self) -> Totals:
        """The counts over all files."""
        return self.kept if self.kept is not None else Totals(self.files)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All diagnostics of all files, in order."""
        return tuple(diagnostic for file in self.files for diagnostic in file.diagnostics)

    @property
    def suppressed(self) -> tuple[Diagnostic, ...]:
        """All suppressed findings of all files, in order."""
        return tuple(diagnostic for file in self.files for diagnostic in file.suppressed)

    def count(self, severity: Severity) -> int:
        """Return the number of diagnostics with exactly this severity."""
        return self.totals.levels[severity]

    @property
    def conforms(self) -> bool | None:
        """True if every file conforms to ONNX, False if one does not, None if that is not known, see `conforms_why`."""
        conformity = self.totals.conformity
        if conformity[False]:
            return False
        return None if conformity[None] or self.not_linted or not conformity else True

    @property
    def conforms_why(self) -> str | None:
        """Why not every file conforms, or why that is not known; None if `conforms` is true."""
        conforms, totals = self.conforms, self.totals
        if conforms:
            return None
        count = totals.conformity[conforms]
        if not count:
            left = len(self.not_linted)
            return _some(left, "file was not linted", "files were not linted") if left else "no file was checked"
        return totals.reasons[conforms] + (f" (and {count - 1:,} more of {totals.files:,} files)" if count > 1 else "")
