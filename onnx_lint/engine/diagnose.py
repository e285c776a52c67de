# SPDX-License-Identifier: Apache-2.0
"""Turns findings into diagnostics: with their clause, severity, bytes and the names around their place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from onnx_lint.common.deadline import check_deadline
from onnx_lint.common.record import replace
from onnx_lint.engine.internal_errors import InternalErrors
from onnx_lint.engine.registry import Registered
from onnx_lint.engine.selection import presence
from onnx_lint.engine.settings import Settings
from onnx_lint.engine.structure import Structure, Structures, digest
from onnx_lint.ir.documents.kinds import KINDS
from onnx_lint.model import Graph, Model, Place
from onnx_lint.report.findings import ALL_FAULTS, INNER_DIGEST, MOST_LISTED, Diagnostic, RelatedPlace
from onnx_lint.rule import FaultParts, Faults, Finding, Rule
from onnx_lint.spec.clauses import Clause, Severity, clauses, place_kind, severity
from onnx_lint.spec.releases import normalized_domain
from onnx_lint.wording import MAX_MESSAGE, report_name, shortened, with_more

if TYPE_CHECKING:
    from onnx_lint.engine.suppressions import PlacePatterns
    from onnx_lint.engine.trials import Trials
    from onnx_lint.rule import FaultIdentity

_MAX_RELATED: Final = 1_000

Counts = tuple[str, tuple[str, ...]]
"""A rule, and the words for one and for several of its findings that are only counted."""


def diagnose(
    entry: Registered,
    findings: Iterable[Finding],
    model: Model,
    structures: Structures,
    settings: Settings,
    counts: Counter[Counts],
    errors: InternalErrors,
    patterns: PlacePatterns | None,
    trials: Callable[[], Trials],
) -> Iterator[tuple[int, Diagnostic]]:
    """Yield the diagnostics for the selected findings of one rule, each with its first byte.

    Findings that are only counted are added to `counts`, under the rule and the words for one and for several.
    Crashes are added to `errors`; each costs one finding at most. `patterns`: those of the suppressions for the rule.
    `trials`: returns what tries the changes that findings propose.
    """
    edition = settings.standard.edition
    if patterns is not None:
        from onnx_lint.engine.suppressions import split_by_entry

        whole, own = findings, patterns
        findings = (piece for finding in whole for piece in split_by_entry(finding, own, model))
    levels: dict[str, tuple[str | None, Severity | None]] = {}
    for finding in findings:
        check_deadline()
        located = None
        try:
            clause = _clause_of(entry.rule, finding)
            if clause.id not in levels:
                how = presence(entry, clause, settings) if edition in clause.keyword else None
                levels[clause.id] = how, _level(entry, clause, settings) if how == "listed" else None
            how, level = levels[clause.id]
            if how == "counted":
                counts[entry.id, clause.counted] += finding.count
            if level is not None:
                if finding.proposals is not None:
                    finding = trials().with_hints(finding, entry.rule)
                located = _located(entry.rule, finding, clause, level, model, settings)
                if settings.has_baseline:
                    with model.crashes.at("identifying a finding", finding.place):
                        located = located[0], _identified(located[1], finding, structures, model)
                if clause.chapter == "policy":
                    located = located[0], _citing_the_policy(located[1], settings)
        except Exception as error:
            errors.note(error, rule=entry.id)
        if located is not None:
            yield located


def _identified(diagnostic: Diagnostic, finding: Finding, structures: Structures, model: Model) -> Diagnostic:
    """Return the diagnostic with the identities that a baseline compares besides the names."""
    clause = diagnostic.clause
    found = structures.of(finding.place)
    structure = "".join(
        (
            digest(clause, *found.steps),
            digest(*found.names),
            *(digest(clause, *view) for view in (found.from_start, found.from_end, found.by_operators)),
        )
    )
    is_one = finding.parts is None or finding.parts.is_one_fault or finding.parts.are_few(1)
    if finding.parts is not None:
        parts, is_any = _of_parts(clause, finding.parts, structures), finding.parts.is_one_fault
    else:
        # Of a collective finding only the first place is known.
        is_inside = bool(found.inside or found.keys or finding.inner or finding.partners) and not finding.collective
        own = finding.place, finding.inner, finding.partners
        parts, is_any = (_part(clause, own, structures),) if is_inside else (), False
    has_elements = finding.elements is not None or finding.user is not None
    elements, count = _of_elements(clause, finding, structures) if has_elements else ((), 0)
    return replace(
        diagnostic,
        structure=structure if found.names and is_one else "",
        parts=parts,
        elements=elements,
        element_count=count,
        is_one_fault=is_any,
        names=structures.digest_of_names(finding.place),
        apart=_apart(finding, parts, model),
    )


def _apart(finding: Finding, parts: Sequence[str], model: Model) -> tuple[RelatedPlace, ...]:
    """Return `Diagnostic.apart`. `parts`: `Diagnostic.parts`, which are in order if there are few."""
    faults = finding.elements or finding.parts
    if faults is None or faults.are_few(1) or (finding.elements is None and (faults.is_one_fault or len(parts) < 2)):
        return ()
    alone = [each or finding for each in faults.alone(MOST_LISTED)]
    found: list[RelatedPlace] = []
    for each, (place, inner, _) in zip(alone, faults.identities(), strict=False):
        message = each.message
        if found and message == alone[0].message:
            message = with_more(message, f"what is new is {inner or place}")
        found.append(RelatedPlace(place, shortened(message, MAX_MESSAGE), _extent(each, model)))
    return tuple(found)


def _part(clause: str, fault: FaultIdentity, structures: Structures, around: Structure | None = None) -> str:
    """Return the identity of one fault: the digests that `Diagnostic.parts` describes. `around`: that of its user."""
    place, inner, partners = fault
    found = around or structures.of(place)
    names = _names(found)
    return "".join(
        (
            digest(*found.steps),
            digest(*names),
            digest(clause, *names, *found.inside),
            *(digest(clause, *view) for view in (found.from_start, found.from_end, found.by_operators)),
            _end((inner,), found.keys, _of_partners([[structures.of(each) for each in partners]])),
        )
    )


def _names(found: Structure) -> Sequence[str]:
    """Return the names around a place. Without any, a fault is known by its place alone."""
    return found.names or found.steps


def _of_partners(faults: Sequence[Sequence[Structure]]) -> str:
    """Return the digests of the other places of each fault, in the order of kinds that `Diagnostic.parts` describes."""
    if not any(faults):
        return ""
    views: tuple[Callable[[Structure], Sequence[str]], ...] = (
        _names,
        lambda each: each.from_start,
        lambda each: each.from_end,
        lambda each: each.by_operators,
    )
    # The place inside of one is part of each digest, as it is of the first of them.
    return "".join(
        digest(*sorted("\0".join(text for each in places for text in (*view(each), *each.inside)) for places in faults))
        for view in views
    )


def _of_elements(clause: str, finding: Finding, structures: Structures) -> tuple[tuple[str, ...], int]:
    """Return the identities of the first wrong elements of a value and one of all others, and the number of all."""
    faults = finding.elements
    found = [(finding.place, finding.inner, finding.partners)] if faults is None else list(faults.identities())
    user = None if finding.user is None else structures.of(finding.user)
    known = [_part(clause, each, structures, user) for each in found[:MOST_LISTED]]
    if len(found) > MOST_LISTED:
        others = digest(*(f"{place.field} {place.index} {inner}" for place, inner, _ in found[MOST_LISTED:]))
        known.append(_part(clause, (found[0][0], others, found[0][2]), structures, user))
    return tuple(known), len(found)


def _end(inner: Sequence[str], keys: Sequence[str], partners: str) -> str:
    """Return the end of the identity of faults: what is wrong inside of the place, the keys on the way to it, and the
    digests of its partners.
    """
    ends = [*(digest(*each) if any(each) else "" for each in (inner, keys)), partners]
    return "".join(INNER_DIGEST + end for end in ends).rstrip(INNER_DIGEST)


def _of_parts(clause: str, parts: FaultParts | Faults, structures: Structures) -> tuple[str, ...]:
    """Return the identities of the faults. Those of many are one, or none if the faults are uses of one."""
    if parts.are_few(MOST_LISTED):
        return tuple([_part(clause, each, structures) for each in parts.identities()])
    if parts.is_one_fault:
        return ()
    faults = list(parts.identities())
    found = [structures.of(place) for place, _, _ in faults]
    names = [_names(each) for each in found]
    texts = [
        ["\0".join(each) for each in names],
        ["\0".join((*each, *one.inside)) for each, one in zip(names, found, strict=True)],
        *(["\0".join(getattr(each, view)) for each in found] for view in ("from_start", "from_end", "by_operators")),
    ]
    inner, keys = sorted(each for _, each, _ in faults), sorted("\0".join(one.keys) for one in found)
    partners = _of_partners([[structures.of(place) for place in (own, *others)] for own, _, others in faults if others])
    return (ALL_FAULTS + "".join(digest(*sorted(each)) for each in texts) + _end(inner, keys, partners),)


def _located(
    rule: Rule, finding: Finding, clause: Clause, level: Severity, model: Model, settings: Settings
) -> tuple[int, Diagnostic]:
    """Return the diagnostic for a finding, and its first byte. After a crash it has the message and the place alone."""
    bare = Diagnostic(
        rule=rule.id,
        severity=level,
        message=shortened(finding.message, MAX_MESSAGE),
        at=finding.place,
        clause=clause.id,
        keyword=clause.keyword[settings.standard.edition],
        clause_summary=clause.summary,
        anchor=finding.anchor or clause.anchor,
        allowed=None,
        related=(),
        byte_range=None,
        subject=None,
        collective=finding.collective,
        count=finding.count,
        hint=finding.hint,
        no_fix=finding.fix if isinstance(finding.fix, str) else None,
        cause=finding.cause,
        is_cause_shared=finding.is_cause_shared,
        edits=None if isinstance(finding.fix, str) else finding.fix,
        declared_by=clause.declared_by,
        program=finding.program,
    )
    with model.crashes.at("describing a finding", finding.place):
        return _described(bare, finding, clause, model)
    return 0, bare


def _case(finding: Finding) -> str:
    """Return the case of the clause that a finding is about, or else the kind of its place."""
    return finding.case or place_kind([field for field, _ in finding.place.key])


def _level(entry: Registered, clause: Clause, settings: Settings) -> Severity | None:
    """Return the severity of the rule's findings for a listed clause; None if the edition has none for it."""
    level = severity(clause, settings.standard.edition)
    return level and settings.severities.get(entry.id, level)


def _clause_of(rule: Rule, finding: Finding) -> Clause:
    name = finding.clause or rule.clauses[0]
    if name not in rule.clauses:
        raise ValueError(f"the finding cites clause {name!r}, which the rule does not declare")
    if finding.clause is None and len(rule.clauses) > 1:
        raise ValueError("the rule decides several clauses and the finding does not say which")
    return clauses()[name]


def _described(bare: Diagnostic, finding: Finding, clause: Clause, model: Model) -> tuple[int, Diagnostic]:
    """Return the diagnostic with its surroundings, and its first byte."""
    from onnx_lint.ir.places.enclosing_names import EnclosingNames

    extent = _extent(finding, model)
    around = EnclosingNames()
    with model.crashes.at("looking for the names around a finding", finding.place):
        around = model.places.enclosing_names(finding.place)
    return extent[0] if extent is not None else 0, replace(
        bare,
        at=_with_noun(finding.place, model),
        anchor=finding.anchor or _section_of_operator(finding, clause, model) or clause.anchor,
        allowed=finding.allowed,
        related=_related(finding, model),
        # For a model in text form these are the bytes of its binary form; they only determine the order.
        byte_range=extent if finding.offset is not None or model.form == "binary" else None,
        subject=report_name(finding.subject) if finding.subject is not None else None,
        user=_user(finding, model),
        node=around.node,
        operator=around.operator,
        graph=around.graph,
        scope=around.scope,
        case=_case(finding),
    )


def _user(finding: Finding, model: Model) -> str | None:
    """Return `Diagnostic.user`."""
    return model.places.enclosing_names(finding.user).node or None if finding.user is not None else None


def _section_of_operator(finding: Finding, clause: Clause, model: Model) -> str | None:
    """Return the section that describes the operator of the node at fault; None if the finding is about no operator."""
    if clause.chapter != "signature":
        return None
    for place in (finding.place, *(item.place for item in finding.related)):
        nodes = [message for kind, message in model.places.messages_on(place) if kind == "NodeProto"]
        if nodes:
            break
    else:
        return None
    version = model.operators.opset_versions(_graph_around(place, model)).get(normalized_domain(nodes[-1].domain))
    return None if version is None else model.operators.schemas.section(nodes[-1].domain, nodes[-1].op_type, version)


def _graph_around(place: Place, model: Model) -> Graph:
    """Return a graph with the imports that are used at a place: the body of its function, or the main graph."""
    for list_name, index in place.key[:1]:
        if list_name == "functions" and index is not None:
            return model.functions[index].body
    return model.functions[0].body if model.kind == "FunctionProto" else model.main_graph


def _citing_the_policy(diagnostic: Diagnostic, settings: Settings) -> Diagnostic:
    """Return the diagnostic with the entry of the configuration that requires it as its section."""
    entry, file = f"policy.{diagnostic.anchor}", settings.policy_files.get(diagnostic.anchor)
    return replace(diagnostic, anchor=entry if file is None else f"{file}: {entry}")


def _with_noun(place: Place, model: Model) -> Place:
    """Return the place for reports; the root is named after the kind of document."""
    return place if place.parent is not None else Place(None, KINDS[model.kind].noun)


def _related(finding: Finding, model: Model) -> tuple[RelatedPlace, ...]:
    """Return the related places; of a long cycle only the first ones, and their number."""
    places = [
        RelatedPlace(
            _with_noun(item.place, model),
            shortened(item.message, MAX_MESSAGE),
            _bytes_of(item.place, model),
        )
        for item in finding.related[:_MAX_RELATED]
    ]
    hidden = len(finding.related) - len(places)
    if hidden:
        places.append(RelatedPlace(finding.place, f"{hidden:,} further places are not listed", None))
    return tuple(places)


def _extent(finding: Finding, model: Model) -> tuple[int, int] | None:
    """Return the bytes of the finding, or those of its place; None if a bug prevents finding them."""
    if finding.offset is not None:
        return finding.offset, finding.offset + (finding.length or 0)
    with model.crashes.at(_FIND_BYTES, finding.place):
        return model.places.extent(finding.place)
    return None


_FIND_BYTES: Final = "looking for the bytes of a finding"


def _bytes_of(place: Place, model: Model) -> tuple[int, int] | None:
    with model.crashes.at(_FIND_BYTES, place):
        return model.places.byte_range(place)
    return None
