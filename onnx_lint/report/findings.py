# SPDX-License-Identifier: Apache-2.0
"""Diagnostics: the findings of rules as reports have them, each with its place in the file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from onnx_lint.common.record import Record
from onnx_lint.spec.clauses import KEYWORDS, Severity

if TYPE_CHECKING:
    from onnx_lint.ir.places.edits import Fix
    from onnx_lint.ir.places.place import Place

DIGEST: Final = 12
"""The number of hexadecimal digits of a digest in `Diagnostic.structure` and `Diagnostic.parts`."""

ALL_FAULTS: Final = "all:"
"""The beginning of the one text in `Diagnostic.parts` that identifies many faults."""

INNER_DIGEST: Final = "/"
"""The mark in a text of `Diagnostic.parts` before the digest of what is wrong inside of the place, which may be empty,
and before that of the keys on the way to it, such as the name of an attribute."""

MOST_LISTED: Final = 64
"""The most faults of a finding that are identified one by one."""

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


class Diagnostic(Placed):
    """A finding with everything that a report needs: rule, severity, clause, place and bytes."""

    rule: str
    severity: Severity
    message: str
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
    """True if it is about all places of one kind. `place` is then the first of them."""
    refused_by: tuple[tuple[str, str], ...] = ()
    """The programs of the target that reject a violation of the clause, each with the first release known to reject it.
    """
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
    no_fix: str | None = None
    """Why there is no fix, if that is known."""
    cause: str | None = None
    """The key by which findings are folded: those of one rule with equal keys become one. None: it is never folded."""
    is_cause_shared: bool = False
    """True if findings of other rules with the same key are folded with it as well."""
    is_consequence: bool = False
    """True if the change that the report proposes for another finding of its cause fixes it as well."""
    members: tuple[Diagnostic, ...] = ()
    """The findings of one cause that are folded into this one, itself the first; empty for one by itself."""
    position: tuple[int, int] | None = None
    """Line and column in a model in text form, both from 1, columns in Unicode code points; None in a binary file."""
    context: tuple[ContextLine, ...] = ()
    """The lines around the place and those of the related places; empty if no report shows them."""
    fix: ProposedFix | None = None
    """The fix, in a binary file."""
    edits: Fix | None = None
    """The edits of the fix, while the file is fixed; None in reports. Findings may share one."""
    declared_by: str | None = None
    """The plugin whose clause it is; None for a clause of the ONNX specification."""
    suppressed_by: str | None = None
    """The line of the configuration that suppresses it, with the reason; None if none does."""
    program: str | None = None
    """The program of `--target` that it is about."""
    structure: str = ""
    """The identity of the place, for baselines: digests of `DIGEST` digits, one after the other.

    They are of the operators around the place, of the names around it, and of the operators as seen from the start of
    the graph, from its end, and without positions (engine/diagnose.py). Empty if there are no names.
    """
    parts: tuple[str, ...] = ()
    """The identity of each fault, for baselines, if there are several faults or one inside of a value.

    The digests are those of `structure`, with a further one after the second: of the names with the place inside of the
    value. After `INNER_DIGEST` come the digests of what is wrong there, such as a dimension, and of the keys around it.
    Many faults have one text: `ALL_FAULTS`, and these digests of all of them without the first.
    """
    names: str = ""
    """A digest of all names of the kind that the place has. It shows a baseline whether any of them has changed."""
    elements: tuple[str, ...] = ()
    """The identity of each wrong element or dimension, for baselines, as in `parts`. If there are many, the
    last one is of all others.

    Empty if the rule does not list them. Baselines of older versions compare `parts` instead.
    """
    element_count: int = 0
    """The number of wrong elements or dimensions."""
    user: str | None = None
    """The name of the node that makes the value wrong, if it is not around the place."""
    is_one_fault: bool = False
    """True if the parts are uses of one fault: a baseline knows it if it lists any of them."""

    @property
    def is_violation(self) -> bool:
        """True if it breaks a requirement of ONNX, whatever its severity by the settings."""
        return self.declared_by is None and KEYWORDS[self.keyword] is Severity.ERROR

    @property
    def counted_under(self) -> str | None:
        """The plugin, or the chapter "target", under whose name it is counted; None for ONNX itself.

        A finding that is an error only because a program of the target refuses the model is not counted as one of ONNX.
        """
        is_of_target = self.severity is Severity.ERROR and bool(self.refused_by) and not self.is_violation
        return "target" if is_of_target and self.declared_by is None else self.declared_by

    @property
    def hint_with_reason(self) -> str | None:
        """The instruction for fixing it, and why it has no fix; None if neither is known."""
        reason = f"no fix: {self.no_fix}" if self.no_fix else None
        return "; ".join(filter(None, (self.hint, reason))) or None

    @property
    def suppressor(self) -> str:
        """The source of its suppression, if it is suppressed: one of `SUPPRESSORS`."""
        return "baseline" if self.suppressed_by is None else "configuration"


SUPPRESSORS: Final = ("baseline", "configuration")
"""What can suppress a finding."""
