# SPDX-License-Identifier: Apache-2.0
"""Diagnostics: the findings of rules as reports have them, each with its place in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from onnx_lint.common.record import Record, replace
from onnx_lint.ir.places.place import EnclosingNames, Place
from onnx_lint.spec.clauses import KEYWORDS, Severity

if TYPE_CHECKING:
    from onnx_lint.ir.places.edits import Fix
    from onnx_lint.report.digests import ContentDigests, FaultDigests, PlaceDigests

MAX_PLACES: Final = 4
"""The most places that a folded finding lists, of all findings of one cause."""


class Placed(Record):
    """What a report says about a place in the file."""

    at: Place
    """The place. The root has the name of the kind of document, such as `model`."""

    @property
    def place(self) -> str:
        """The protobuf field path, such as `graph.node[3].input[0]`; `model` for the whole."""
        return str(self.at)

    @property
    def pointer(self) -> str:
        """The place as a JSON Pointer."""
        return self.at.pointer()


class RelatedPlace(Placed):
    """Another place that belongs to a diagnostic."""

    message: str
    byte_range: tuple[int, int] | None
    position: tuple[int, int] | None = None
    """Line and column in a model in text form, as for a diagnostic."""


class SingleFault(RelatedPlace):
    """One of several faults of a finding, with the message that a finding on it alone would have."""

    around: EnclosingNames = EnclosingNames()
    """The names around the place and at it."""


class ContextLine(Record):
    """A line of a model in ONNX's textual syntax, near a finding."""

    label: str
    """The text of the margin: the index of the node or other element in its list, if any."""
    text: str
    """The line, with unsafe characters escaped. It may be cut, and then is not valid syntax."""
    mark: tuple[int, int] | None = None
    """The subject of the finding: its first character, and the one after it."""


class ProposedEdit(Placed):
    """An edit of a fix, as reports show it."""

    kind: str
    """`delete`, `insert`, `assign` or `move`."""
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
    is_by_hand: bool = False
    """True if the file is a model in text form: `onnx-lint fix` changes binary files only."""


class CitedClause(Record):
    """The clause that a finding violates, as the chosen edition has it."""

    id: str
    keyword: str
    """The keyword in the chosen edition."""
    summary: str
    anchor: str
    """Document and section."""
    declared_by: str | None = None
    """The plugin that declares it; None for a clause of the ONNX specification."""
    case: str | None = None
    """The case of the clause that the finding is about, see `Finding.case`."""


class ByTarget(Record):
    """The answers of the programs of the target to a finding."""

    program: str | None = None
    """The only program that the finding is about; None if it is about the model itself."""
    refused_by: tuple[tuple[str, str], ...] = ()
    """The programs that reject a violation of the clause, each with the first release known to reject it."""
    accepted_by: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """The programs that are proven to accept a violation of the clause, each with the releases that prove it."""
    answers: tuple[tuple[str, str], ...] = ()
    """Every program whose answer is known, with the answer: `("onnxruntime 1.32.0", "loads with this fault")`."""


class Advice(Record):
    """What to do about a finding."""

    hint: str | None = None
    """A short instruction for fixing it; None if unknown."""
    no_fix: str | None = None
    """Why there is no fix, if that is known."""
    fix: ProposedFix | None = None
    """The fix, in a binary file."""
    edits: Fix | None = None
    """The edits of the fix, while the file is fixed; None in reports. Findings may share one."""


class Folding(Record):
    """The findings with which a finding becomes one."""

    cause: str | None = None
    """The key: findings of one rule with equal keys are folded into one. None: the finding is never folded."""
    is_shared: bool = False
    """True if findings of other rules with the same key are folded with it as well."""
    is_consequence: bool = False
    """True if the fix that is proposed for another finding with this key also removes this one."""
    members: tuple[Diagnostic, ...] = ()
    """The findings that are folded into this one, itself the first; empty for one by itself."""


class BaselineIdentity(Record):
    """What a baseline compares, besides the fingerprint, to know a finding again after the model has changed.

    `onnx_lint.configuration.baselines.file` has an example of the entries that are made of it.
    """

    structure: PlaceDigests | None = None
    """The place; None if there are no names around it, or if the finding has several faults."""
    parts: tuple[FaultDigests, ...] = ()
    """Each fault, if there are several, or if one is inside of a value; one for all if they are many."""
    names: str = ""
    """A digest of all names of the kind that the place has. It shows a baseline whether any of them has changed."""
    elements: tuple[FaultDigests, ...] = ()
    """Each wrong element or dimension; empty if the rule does not list them.

    If they are more than `MAX_LISTED`, the last one identifies all others. Entries of older versions are compared with
    `parts` instead.
    """
    element_count: int = 0
    """The number of wrong elements or dimensions."""
    single_faults: tuple[SingleFault, ...] = ()
    """The first of the `elements`, or of the `parts` without any, each as a finding on it alone would report it."""
    content: ContentDigests | None = None
    """The fault as one of a stored tensor; None for other faults."""
    are_uses_of_one_fault: bool = False
    """True if the parts are uses of one fault. See `ListedFaults.has_same_fault` for how a baseline compares them."""
    inputs_of_producer: tuple[str, ...] = ()
    """The inputs of the node that produces the value that the finding is about, if the place is in a node."""
    at_former_place: Diagnostic | None = None
    """The finding at the place where an older version had it; None if it was there already."""
    under_former_clauses: tuple[Diagnostic, ...] = ()
    """The finding under each clause under which an older version may have reported it, see `FORMER_CLAUSES`."""


class Diagnostic(Placed):
    """A finding with everything that a report needs.

    Its properties that return a field of `cited`, `around` or `advice` are API of the library.
    """

    rule: str
    severity: Severity
    message: str
    cited: CitedClause
    subject: str | None = None
    allowed: str | None = None
    count: int = 1
    """The number of faults that it reports."""
    collective: bool = False
    """True if it is about all places of one kind. `place` is then the first of them."""
    around: EnclosingNames = EnclosingNames()
    """The names around the place and at it."""
    user: str | None = None
    """The name of the node that makes the value wrong, if it is not around the place."""
    element: str | None = None
    """The place of the only wrong element as a suppression gives it, if that suppresses it."""
    related: tuple[RelatedPlace, ...] = ()
    byte_range: tuple[int, int] | None = None
    """First byte and the byte after the last, in the file; None if unknown, or if the file is text."""
    position: tuple[int, int] | None = None
    """Line and column in a model in text form, both from 1, columns in Unicode code points; None in a binary file."""
    context: tuple[ContextLine, ...] = ()
    """The lines around the place and those of the related places; empty if no report shows them."""
    by_target: ByTarget = ByTarget()
    advice: Advice = Advice()
    folding: Folding = Folding()
    identity: BaselineIdentity = BaselineIdentity()
    suppressed_by: str | None = None
    """The line of the configuration that suppresses it, with the reason; None if none does."""

    @property
    def first_with_fix(self) -> Diagnostic:
        """The finding itself, or the first of those folded into it that has a fix if it has none itself."""
        if self.fix is not None:
            return self
        return next((each for each in self.folding.members if each.fix is not None), self)

    @property
    def other_rules(self) -> tuple[str, ...]:
        """The rules of the findings that are folded into it, without its own."""
        return tuple(dict.fromkeys(each.rule for each in self.folding.members if each.rule != self.rule))

    @property
    def clause(self) -> str:
        """The id of the clause that it violates."""
        return self.cited.id

    @property
    def keyword(self) -> str:
        """The keyword of the clause in the chosen edition."""
        return self.cited.keyword

    @property
    def clause_summary(self) -> str:
        """The clause in one sentence."""
        return self.cited.summary

    @property
    def anchor(self) -> str:
        """Document and section of the clause."""
        return self.cited.anchor

    @property
    def node(self) -> str | None:
        """The name of the node that contains the place."""
        return self.around.node

    @property
    def operator(self) -> str | None:
        """The domain and op_type of that node."""
        return self.around.operator

    @property
    def graph(self) -> str | None:
        """The name of the innermost graph that contains the place."""
        return self.around.graph

    @property
    def hint(self) -> str | None:
        """A short instruction for fixing it; None if unknown."""
        return self.advice.hint

    @property
    def fix(self) -> ProposedFix | None:
        """The fix, in a binary file."""
        return self.advice.fix

    def with_advice(self, **changes: Any) -> Diagnostic:
        """Return the finding with other fields of `advice`."""
        return replace(self, advice=replace(self.advice, **changes))

    def with_members(self, members: tuple[Diagnostic, ...]) -> Diagnostic:
        """Return the finding with the findings that are folded into it."""
        return replace(self, folding=replace(self.folding, members=members))

    @property
    def is_violation(self) -> bool:
        """True if it breaks a requirement of ONNX, whatever its severity by the settings."""
        return self.cited.declared_by is None and KEYWORDS[self.cited.keyword] is Severity.ERROR

    @property
    def counted_under(self) -> str | None:
        """The plugin, or the chapter "target", under whose name it is counted; None for ONNX itself.

        A finding that is an error only because a program of the target refuses the model is not counted as one of ONNX.
        """
        is_of_target = self.severity is Severity.ERROR and bool(self.by_target.refused_by) and not self.is_violation
        return "target" if is_of_target and self.cited.declared_by is None else self.cited.declared_by

    @property
    def hint_with_reason(self) -> str | None:
        """The instruction for fixing it, and why it has no fix; None if neither is known."""
        reason = f"no fix: {self.advice.no_fix}" if self.advice.no_fix else None
        return "; ".join(filter(None, (self.hint, reason))) or None

    @property
    def suppressor(self) -> str:
        """The source of its suppression, if it is suppressed."""
        return "baseline" if self.suppressed_by is None else "configuration"
