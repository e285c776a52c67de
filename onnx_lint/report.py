# SPDX-License-Identifier: Apache-2.0
"""Diagnostics and reports: what a run found, free of how it is printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from onnx_lint.common.memory import is_lack_of_memory
from onnx_lint.common.record import Record, replace
from onnx_lint.spec.clauses import Severity
from onnx_lint.wording import report_name

if TYPE_CHECKING:
    from onnx_lint.ir.crashes import CrashSite

OWN_ERRORS = "onnx-lint"
"""What stands for the rule in an internal error that no rule made."""


OUT_OF_MEMORY = "there is not enough memory"
"""What stands for the exception in an internal error that is no fault of a rule or of onnx-lint."""


class RelatedPlace(Record):
    """Another place that belongs to a diagnostic."""

    place: str
    pointer: str
    message: str
    byte_range: tuple[int, int] | None
    position: tuple[int, int] | None = None
    """Line and column in a model in text form, as those of a diagnostic."""


class ContextLine(Record):
    """A line of a model in ONNX's textual syntax, as a report shows it around a finding."""

    label: str
    """What stands in the margin: the index of the node, or other element, in its list; empty for what has none."""
    text: str
    """The line, with escapes for characters that would steer a display. It may be cut, and so be no syntax."""
    mark: tuple[int, int] | None = None
    """The first character of what the finding is about, and the one after it."""


class Neighbour(Record):
    """A node in a picture, or what stands for an input or initializer of the graph."""

    kind: str
    """The operator, or `input`, `initializer`, `from outside`, `undefined`."""
    name: str
    index: int | None
    """The index of the node in its graph; None for what is no node."""
    is_fault: bool


class ValueEdge(Record):
    """A value that goes from one thing in a picture to another."""

    source: int
    target: int
    name: str
    known: str
    """Its type and shape, as far as they are known."""
    is_fault: bool


class Neighbourhood(Record):
    """The nodes around a finding, for a picture."""

    nodes: tuple[Neighbour, ...]
    edges: tuple[ValueEdge, ...]
    is_cut: bool
    """Whether there is more than is drawn."""


class Diagnostic(Record):
    """A finding with everything that a reader needs: rule, severity, clause, place and bytes."""

    rule: str
    severity: Severity
    message: str
    place: str
    """The protobuf field path, such as `graph.node[3].input[0]`; `model` for the whole."""
    pointer: str
    """The place as a JSON Pointer."""
    clause: str
    keyword: str
    """How strongly the chosen edition words the clause."""
    clause_summary: str
    anchor: str
    """Document and section of the clause."""
    allowed: str | None
    related: tuple[RelatedPlace, ...]
    byte_range: tuple[int, int] | None
    """First byte and the byte after the last, in the file; None where it is unknown or the file is text."""
    subject: str | None
    node: str | None = None
    """The name of the node in which the place stands."""
    operator: str | None = None
    """That node's domain and op_type."""
    graph: str | None = None
    """The name of the innermost graph in which the place stands."""
    scope: tuple[str, ...] = ()
    """The names around the place and at it, outermost first; for fingerprints."""
    collective: bool = False
    """Whether it stands for all places of its kind, of which `place` is only the first."""
    refused_by: tuple[tuple[str, str], ...] = ()
    """The consumers that refuse what breaks the clause, each with the first release that is known to."""
    neighbourhood: Neighbourhood | None = None
    """The nodes around it, where a report draws them."""
    count: int = 1
    """How many faults it stands for."""
    position: tuple[int, int] | None = None
    """Line and column in a model in text form, both from 1, columns in Unicode code points; None in a binary file."""
    context: tuple[ContextLine, ...] = ()
    """The lines around the place and those of the related places; empty where nobody asked for them."""
    context_of: tuple[int, ...] = ()
    """Where several forms of report show lines around so many findings of a rule and clause each: those that show these
    lines; a form shows the same whatever else is written."""


def worst_of_each(diagnostics: Sequence[Diagnostic], per_rule: int, most: int) -> frozenset[int]:
    """The indices of the first `per_rule` of each rule and clause, errors first, `most` of them in all."""
    counts: Counter[tuple[str, str]] = Counter()
    chosen: set[int] = set()
    for index in sorted(range(len(diagnostics)), key=lambda index: -diagnostics[index].severity):
        kind = diagnostics[index].rule, diagnostics[index].clause
        counts[kind] += 1
        if counts[kind] <= per_rule and len(chosen) < most:
            chosen.add(index)
    return frozenset(chosen)


class InternalError(Record):
    """A part of onnx-lint (or of a plugin) that crashed: a bug there, never a pass."""

    rule: str
    """The rule that crashed; `OWN_ERRORS` where that was no rule."""
    exception: str
    traceback: str
    work: str | None = None
    """What onnx-lint was doing where that was no rule, such as `inferring types and shapes`; None where that ended."""
    operator: str | None = None
    """The operator of the nodes at which it crashed; None where no node caused it."""
    node: str | None = None
    """The first of these nodes, in words."""
    place: str | None = None
    """The place of that node, or of the graph."""
    nodes: int = 0
    """At how many nodes it crashed."""
    not_run: tuple[str, ...] = ()
    """The rules that could not be run, or not to their end, for want of what crashed."""

    @property
    def has_ended_lint(self) -> bool:
        """Whether there is no verdict on the file because of it."""
        return self.rule == OWN_ERRORS and self.work is None

    @classmethod
    def at(cls, site: CrashSite) -> InternalError:
        """Return the internal error that a crash in an analysis of the model is."""
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
        """The internal error that an exception of the rule is; of a lack of memory no trace is of use."""
        if is_lack_of_memory(error):
            return cls(rule, OUT_OF_MEMORY, "")
        import traceback  # which few runs need

        trace = "".join(traceback.format_exception(error))
        return cls(rule, f"{type(error).__name__}: {error}", trace)


class Facts(Record):
    """What the file is: shown beside the findings."""

    ir_version: int
    opset_imports: tuple[tuple[str, int], ...]
    producer: str
    nodes: int
    graphs: int
    functions: int


class Shapes(Record):
    """How far the shapes of values are known, in all graphs and functions."""

    values: int
    unknown: int
    causes: tuple[tuple[str, str, int], ...] = ()
    """Where knowledge ended: the kind of cause, the operator, function or input, and of how many values that is so."""


class Counted(Record):
    """What a rule found that is only counted: no diagnostic, fails no run."""

    rule: str
    count: int
    words: tuple[str, ...]
    """What is said of one and of several."""

    def describe(self) -> str:
        """The number in words: `215 names are no C90 identifiers`."""
        return f"{self.count:,} {self.words[self.count != 1]}"


class Traffic(Record):
    """What was fetched from a store for one model."""

    requests: int
    """How often the store was asked. What its file system does besides, such as to try again, it does not tell."""
    received: int
    """Bytes of content that came, those of files of external data too."""
    version: str | None
    """What the store calls the version that was read: an ETag, a version id, a hash; None where it has no name."""


class FileReport(Record):
    """What a run found in one file. `unreadable` says why there is no verdict, when there is none."""

    path: str
    size: int
    diagnostics: tuple[Diagnostic, ...] = ()
    internal_errors: tuple[InternalError, ...] = ()
    facts: Facts | None = None
    """What the model is; None where there is none."""
    unreadable: str | None = None
    not_verified: tuple[tuple[str, int], ...] = ()
    """How many nodes of each domain no signature is known for, by domain; the default domain is `ai.onnx`."""
    shapes: Shapes | None = None
    """How far shapes are known; None where no rule asked for them."""
    not_judged: str | None = None
    """Why there is no verdict on a model though the file was read: it holds none, or goes beyond a limit."""
    incomplete: tuple[str, ...] = ()
    """What was left out of the verdict or the report, and why: a clause each, for people to read."""
    suppressed: tuple[Diagnostic, ...] = ()
    """The findings that a baseline knows: they are counted, and fail no run."""
    edition: str | None = None
    """The edition that the file was held against, where that is not the report's."""
    variant: str | None = None
    """The variant that the file was held against, where that is not the report's."""
    rules: tuple[str, ...] | None = None
    """The ids of the rules that the file was held against, where they are not the report's."""
    judged_by: int = 0
    """How many rules the file was held against."""
    kind: str = "ModelProto"
    """The message that the file holds, or was taken for."""
    document: tuple[tuple[str, str | int], ...] = ()
    """What a document is that is no model: names, and numbers of fields and elements."""
    counted: tuple[Counted, ...] = ()
    """What is not listed but counted, a number for each rule."""
    traffic: Traffic | None = None
    """What was fetched of a remote model; None for a local one."""
    timings: tuple[tuple[str, float], ...] = ()
    """How many seconds each part of the work took, where that was asked for: `load`, `index NAME`, `rule ID`."""

    def at_least(self, level: Severity) -> FileReport:
        """The report without the findings that are less severe."""
        if level is min(Severity):
            return self
        kept = [
            tuple(item for item in found if item.severity >= level) for found in (self.diagnostics, self.suppressed)
        ]
        return replace(self, diagnostics=kept[0], suppressed=kept[1])

    def with_context_of(self, per_rule: int) -> FileReport:
        """The report for a form that shows the lines around so many findings of a rule and clause."""
        kept = [
            tuple(
                replace(item, context=()) if item.context_of and per_rule not in item.context_of else item
                for item in found
            )
            for found in (self.diagnostics, self.suppressed)
        ]
        return replace(self, diagnostics=kept[0], suppressed=kept[1])


class Weakening(Record):
    """A configuration file, and those of its settings by which a run finds less, or passes more easily."""

    file: str
    settings: tuple[tuple[str, Any], ...]
    """The keys as TOML writes them, such as `severity.cycle`, each with its value."""
    is_found: bool = False
    """Whether the file was found near a model, and nobody has asked for it."""


class Report(Record):
    """What a run found."""

    files: tuple[FileReport, ...]
    edition: str
    variant: str
    rules: tuple[str, ...] = ()
    """The ids of the rules that the files were held against."""
    stale: int = 0
    """How many findings that a baseline knows are no longer there."""
    weakened: tuple[Weakening, ...] = ()
    """What configuration files turn off."""
    not_linted: tuple[str, ...] = ()
    """The paths that an interrupted run did not come to."""

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """All diagnostics of all files, in order."""
        return tuple(diagnostic for file in self.files for diagnostic in file.diagnostics)

    @property
    def suppressed(self) -> tuple[Diagnostic, ...]:
        """All findings of all files that a baseline knows, in order."""
        return tuple(diagnostic for file in self.files for diagnostic in file.suppressed)

    def count(self, severity: Severity) -> int:
        """How many diagnostics have exactly this severity."""
        return Counter(diagnostic.severity for diagnostic in self.diagnostics)[severity]

    @property
    def conforms(self) -> bool:
        """Whether every file was read and judged and none breaks a requirement (severity error).

        What a baseline suppresses is still there, so it counts.
        """
        judged = not any(file.unreadable or file.internal_errors or file.not_judged for file in self.files)
        judged = judged and not self.not_linted
        errors = any(item.severity is Severity.ERROR for item in (*self.diagnostics, *self.suppressed))
        return judged and not errors
