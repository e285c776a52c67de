# SPDX-License-Identifier: Apache-2.0
"""Checks a model with the imports that signatures prove. Types, shapes and values may still be wrong with these."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.engine.trials.compared_findings import ComparedFinding, ComparedFindings, FindingKey, compared_findings
from onnx_lint.engine.trials.node_lookup import NodeKey
from onnx_lint.engine.trials.result import fixed_findings
from onnx_lint.ir.operators.operators import Operators
from onnx_lint.ir.operators.proposals import Proposal
from onnx_lint.ir.places.edits import Edit
from onnx_lint.ir.places.place import ROOT
from onnx_lint.model import Model
from onnx_lint.model.import_proposals import import_of, version_for_types
from onnx_lint.spec.clauses import Severity, clauses, severity
from onnx_lint.spec.releases import normalized_domain

MAX_CHECKS: Final = 2
"""The most checks of a model: with the imports that signatures need, and then with those that types need as well."""

ChangedModel = Callable[[Sequence[Edit]], "Model | None"]
"""Returns the model after a change; None if it cannot be made."""


class ImportTrial(Record):
    """What is known of the model with other imports."""

    model: Model
    edits: tuple[Edit, ...]
    findings: ComparedFindings
    texts: Mapping[str, str]
    """The imports in words, by the causes of the proposals."""
    uncovered_errors: Mapping[NodeKey | None, tuple[str, ...]]
    """The messages of the errors that only these imports show, and of those that they leave where they are needed, by
    node; None: outside of nodes."""
    fixed: tuple[FindingKey, ...]
    """The findings that they fix for certain."""

    @property
    def count(self) -> int:
        """The number of `uncovered_errors`."""
        return sum(map(len, self.uncovered_errors.values()))

    @property
    def uncovered_in_words(self) -> str:
        """The `uncovered_errors` in words; empty if there are none."""
        messages = [each for node in self.uncovered_errors.values() for each in node]
        if not messages:
            return ""
        if len(messages) == 1:
            return f"; a fault shows only then: {messages[0]}"
        return f"; {len(messages):,} faults show only then, first: {messages[0]}"


def import_trial(
    before: ComparedFindings, operators: Operators, changed: ChangedModel, checks: int = MAX_CHECKS
) -> ImportTrial | None:
    """Return what is known of the model with the imports that its findings need; None if it cannot be checked.

    If types need a later version than signatures, that version is checked as well, and kept if it leaves fewer errors.
    `checks`: how many checks there is time for.
    """
    best: ImportTrial | None = None
    certain = _certain_imports(before, operators, changed)
    imports, model = certain.imports, certain.model
    for _ in range(min(MAX_CHECKS, checks)):
        edits = _edits(imports, operators)
        found = _checked(before, imports, edits, model or changed(edits)) if edits else None
        model = None
        if found is None:
            break
        if best is not None and found.count >= best.count:
            found.model.release()
            break
        if best is not None:
            best.model.release()
        best = found
        later = _needed_by_types(found, imports) if found.count else imports
        if later == imports:
            break
        imports = later
    return best


class _CertainImports(Record):
    """The imports that change no result of a node."""

    imports: dict[str, Proposal]
    """The imports, by cause."""
    model: Model | None = None
    """The model with these imports, if it was loaded to find them."""


def _certain_imports(before: ComparedFindings, operators: Operators, changed: ChangedModel) -> _CertainImports:
    """Return the imports that signatures prove, without those that change what a node computes."""
    imports = {cause: proposals.options()[0] for cause, proposals in before.proposed.imports.items()}
    tests = {
        cause: each.condition_in_model
        for cause, each in before.proposed.imports.items()
        if each.condition_in_model is not None
    }
    if not tests:
        return _CertainImports(imports)
    model = changed(_edits(imports, operators))
    kept = set() if model is None or not model.loaded else {cause for cause, holds in tests.items() if holds(model)}
    if model is not None and len(kept) < len(tests):
        model.release()
        model = None
    certain = {cause: each for cause, each in imports.items() if cause not in tests or cause in kept}
    return _CertainImports(certain, model)


def _edits(imports: Mapping[str, Proposal], operators: Operators) -> tuple[Edit, ...]:
    edits = [edit for each in imports.values() for edit in each.edits(operators)]
    return tuple({edit.place: edit for edit in edits}.values())  # two imports may need one IR version


def _checked(
    before: ComparedFindings, imports: Mapping[str, Proposal], edits: tuple[Edit, ...], model: Model | None
) -> ImportTrial | None:
    """Check the model with these imports, which are the edits."""
    after = None if model is None or not model.loaded else compared_findings(model)
    if model is None or after is None:
        return None
    errors = _uncovered_errors(before, after, model.standard.edition)
    fixed = [each.key for each in fixed_findings(before, after) if before.nodes.key_at(each.place) not in errors]
    texts = {cause: each.text for cause, each in imports.items()}
    return ImportTrial(model, edits, after, texts, errors, tuple(fixed))


def _needed_by_types(found: ImportTrial, imports: Mapping[str, Proposal]) -> dict[str, Proposal]:
    """Return the imports, in later versions where only these allow the types in the model with the imports."""
    later = dict(imports)
    of_imports = [each for each in found.edits if each.place.parent != ROOT]
    for (cause, known), edit in zip(imports.items(), of_imports, strict=True):
        entry = edit.place.parent
        if entry is None or entry.index is None:
            continue
        domain = normalized_domain(found.model.proto.opset_import[entry.index].domain)
        version = version_for_types(found.model, domain).version
        later[cause] = known if version is None else import_of(found.model, domain, version)
    return later


def _uncovered_errors(
    before: ComparedFindings, after: ComparedFindings, edition: str
) -> dict[NodeKey | None, tuple[str, ...]]:
    """Return the messages of the errors that only the imports show, and of those at nodes that need them, by node."""
    known = {_key(before, each) for each in before.items}
    nodes_with_import = {before.nodes.key_at(place) for place in before.proposed.places_with_import}
    found: dict[NodeKey | None, tuple[str, ...]] = {}
    for each in after.items:
        node = after.nodes.key_at(each.node_place)
        is_error = severity(clauses()[each.clause], edition) is Severity.ERROR
        if is_error and (node in nodes_with_import or _key(after, each) not in known):
            found[node] = (*found.get(node, ()), each.message)
    return found


def _key(findings: ComparedFindings, item: ComparedFinding) -> object:
    """Return what identifies a finding before and after the change."""
    return item.rule_and_clause, findings.nodes.key_at(item.place) or item.place.key
