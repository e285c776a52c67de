# SPDX-License-Identifier: Apache-2.0
"""Makes diagnostics of findings: with their clause, their bytes and the names around their place."""

from __future__ import annotations

from typing import Final

from onnx_lint.common.record import Record, replace
from onnx_lint.engine.settings import Settings
from onnx_lint.ir.documents.kinds import KINDS
from onnx_lint.ir.places.place import EnclosingNames
from onnx_lint.model import Graph, Model, Place
from onnx_lint.report.findings import Advice, BaselineIdentity, ByTarget, CitedClause, Diagnostic, Folding, RelatedPlace
from onnx_lint.rule import Finding, Rule
from onnx_lint.schema import Proto
from onnx_lint.spec.clauses import Clause, Severity, place_kind
from onnx_lint.spec.releases import normalized_domain
from onnx_lint.wording import MAX_MESSAGE_CHARACTERS, counted, report_name, shortened

_MAX_RELATED: Final = 1_000
"""The most related places of a finding that are listed."""

_FIND_BYTES: Final = "looking for the bytes of a finding"


class LocatedDiagnostic(Record):
    """A diagnostic with its place in the order of a report."""

    diagnostic: Diagnostic
    first_byte: int = 0
    """The first byte of the finding; 0 if it is unknown."""


def located(
    rule: Rule, finding: Finding, clause: Clause, level: Severity, model: Model, settings: Settings
) -> LocatedDiagnostic:
    """Return the diagnostic for a finding; after a crash without its bytes and what is around its place."""
    bare = Diagnostic(
        rule=rule.id,
        severity=level,
        message=shortened(finding.message, MAX_MESSAGE_CHARACTERS),
        at=finding.place,
        cited=CitedClause(
            clause.id,
            clause.keyword[settings.standard.edition],
            clause.summary,
            finding.anchor or clause.anchor,
            clause.declared_by,
        ),
        collective=finding.collective,
        count=finding.count,
        by_target=ByTarget(finding.program),
        advice=_advice(finding),
        folding=Folding(finding.cause, finding.is_cause_shared),
    )
    with model.crashes.at("describing a finding", finding.place):
        return _with_surroundings(bare, finding, clause, model)
    return LocatedDiagnostic(bare)  # after a crash


def _advice(finding: Finding) -> Advice:
    if isinstance(finding.fix, str):
        return Advice(finding.hint, no_fix=finding.fix)
    return Advice(finding.hint, edits=finding.fix)


def _case(finding: Finding) -> str:
    """Return the case of the clause that a finding states; if it states none, the kind of its place."""
    return finding.case or place_kind([field for field, _ in finding.place.key])


def _with_surroundings(bare: Diagnostic, finding: Finding, clause: Clause, model: Model) -> LocatedDiagnostic:
    """Return the diagnostic for a finding with its bytes, and with what is around its place."""
    extent = extent_of(finding, model)
    around = EnclosingNames()
    with model.crashes.at("looking for the names around a finding", finding.place):
        around = model.places.enclosing_names(finding.place)
    section = finding.anchor or _section_of_operator(finding, clause, model) or clause.anchor
    diagnostic = replace(
        bare,
        at=_with_noun(finding.place, model),
        cited=replace(bare.cited, anchor=section, case=_case(finding)),
        allowed=finding.allowed,
        related=_related(finding, model),
        # For a model in text form these are the bytes of its binary form; they only determine the order.
        byte_range=extent if finding.offset is not None or model.form == "binary" else None,
        subject=report_name(finding.subject) if finding.subject is not None else None,
        user=_user_of(finding.user or finding.caller, model),
        element=finding.element or None,
        around=around,
        identity=BaselineIdentity(at_former_place=_former(bare, finding, model)),
    )
    return LocatedDiagnostic(diagnostic, extent[0] if extent is not None else 0)


def _former(bare: Diagnostic, finding: Finding, model: Model) -> Diagnostic | None:
    """Return the finding at the place where an older version had it; None if it was there already."""
    former = finding.former
    if former is None:
        return None
    subject = None if former.subject is None else report_name(former.subject)
    around = model.places.enclosing_names(former.place)
    return replace(bare, at=_with_noun(former.place, model), around=around, subject=subject)


def _user_of(place: Place | None, model: Model) -> str | None:
    """Return the name of the node at a place; None without a place, or if the node has no name."""
    return None if place is None else model.places.enclosing_names(place).node or None


def _section_of_operator(finding: Finding, clause: Clause, model: Model) -> str | None:
    """Return the section on the operator of the faulty node; None if the clause is not about operators."""
    if clause.chapter != "signature":
        return None
    for place in (finding.place, *(item.place for item in finding.related)):
        nodes = [message for kind, message in model.places.messages_on(place) if kind == "NodeProto"]
        if nodes:
            return _section_on(nodes[-1], _graph_around(place, model), model)  # the innermost node
    return None


def _section_on(node: Proto, graph: Graph, model: Model) -> str | None:
    """Return the section on the operator of a node; None if its domain is not imported, or has no sections."""
    version = model.operators.opset_versions(graph).get(normalized_domain(node.domain))
    return None if version is None else model.operators.schemas.section(node.domain, node.op_type, version)


def _graph_around(place: Place, model: Model) -> Graph:
    """Return the graph whose imports apply at a place: the body of its function, or the main graph."""
    list_name, index = place.key[0] if place.key else ("", None)
    if list_name == "functions" and index is not None:
        return model.functions[index].body
    return model.functions[0].body if model.kind == "FunctionProto" else model.main_graph


def cited_from_policy(diagnostic: Diagnostic, settings: Settings) -> Diagnostic:
    """Return the diagnostic, citing the entry of the configuration that requires what the finding is about."""
    entry = diagnostic.anchor  # such findings cite the key of their entry
    file = settings.policy_files.get(entry)
    anchor = f"policy.{entry}" if file is None else f"{file}: policy.{entry}"
    return replace(diagnostic, cited=replace(diagnostic.cited, anchor=anchor))


def _with_noun(place: Place, model: Model) -> Place:
    """Return the place for reports; the root is named after the kind of document."""
    return place if place.parent is not None else Place(None, KINDS[model.kind].noun)


def _related(finding: Finding, model: Model) -> tuple[RelatedPlace, ...]:
    """Return the first related places. If there are more, the last one returned says how many."""
    places = [
        RelatedPlace(
            _with_noun(item.place, model),
            shortened(item.message, MAX_MESSAGE_CHARACTERS),
            _bytes_of(item.place, model),
        )
        for item in finding.related[:_MAX_RELATED]
    ]
    hidden = len(finding.related) - len(places)
    if hidden:
        are = "is" if hidden == 1 else "are"
        places.append(RelatedPlace(finding.place, f"{counted(hidden, 'further place')} {are} not listed", None))
    return tuple(places)


def extent_of(finding: Finding, model: Model) -> tuple[int, int] | None:
    """Return the bytes of the finding, or else of its place; None if they are unknown, or after a crash."""
    if finding.offset is not None:
        return finding.offset, finding.offset + (finding.length or 0)
    with model.crashes.at(_FIND_BYTES, finding.place):
        return model.places.extent(finding.place)
    return None


def _bytes_of(place: Place, model: Model) -> tuple[int, int] | None:
    """Return the bytes of a related place; None if they are unknown, or after a crash."""
    with model.crashes.at(_FIND_BYTES, place):
        return model.places.byte_range(place)
    return None
