# SPDX-License-Identifier: Apache-2.0
"""Proposes the version of an operator set that the nodes of its domain need, in place of the imported one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from onnx_lint.ir.documents.kinds import MODEL_KIND
from onnx_lint.ir.graph import Node
from onnx_lint.ir.operators.import_fixes import ImportFixes
from onnx_lint.ir.operators.mismatch import fits
from onnx_lint.ir.operators.operators import AlikeNodes, OtherVersion, TypesNeed
from onnx_lint.ir.operators.proposals import Proposal, Proposals, ready
from onnx_lint.ir.places.edits import Assign
from onnx_lint.ir.places.place import ROOT
from onnx_lint.spec.domains import shown_domain
from onnx_lint.spec.releases import normalized_domain
from onnx_lint.wording import quote

if TYPE_CHECKING:
    from onnx_lint.inference.flow.type_conflict import OperandConflict
    from onnx_lint.model.model import Model


MIN_OPERATORS: Final = 2
"""The fewest operators whose types need another import."""


def proposed_import(model: Model, alike: AlikeNodes, node: Node) -> Proposals | None:
    """Return the import of another version.

    None if no other version fits these nodes, if the domain is not imported exactly once, or if a function has the
    node. A node that fits no version has another fault, which the import does not mend.
    """
    domain = normalized_domain(node.domain)
    other = None if node.graph.function is not None else other_version(model, domain)
    imported = _only_import(model, domain)
    if other is None or imported is None:
        return None
    signature = model.operators.schemas.find(domain, node.op_type, other.version)
    if signature is None or signature.deprecated or not fits(signature, alike):
        return None
    return _import_proposals(model, domain, imported, other)


def _import_proposals(model: Model, domain: str, imported: int, other: OtherVersion) -> Proposals:
    """Return the import of another version than the imported one. All findings on nodes that need it have one cause.

    A later version is proven: `ImportFixes.version_instead` has checked the signature of each node, and that no node
    computes something else. An earlier one is tried on the model.
    """
    is_proven = other.version > imported
    claim, claim_if_unchecked = _claims(other)
    return Proposals(
        f"{{}}, which {claim}",
        lambda: (import_of(model, domain, other.version, other.ir_version),),
        cause=f"import {other.version} of {domain}",
        needs_no_trial=is_proven,
        is_proven_import=is_proven,
        condition_in_model=partial(_keeps_all, domain, imported) if other.is_in_doubt else None,
        sentence_if_unchecked=f"{{}}, which {claim_if_unchecked}",
    )


def _claims(other: OtherVersion) -> tuple[str, str]:
    """Return which nodes fit or need the version, in words, and the same if only signatures show it."""
    if other.fits_all:
        return "all its nodes fit", "the signatures of all its nodes fit"
    need = f"{other.needed_by:,} of its nodes {'needs' if other.needed_by == 1 else 'need'}"
    return need, need


def _only_import(model: Model, domain: str) -> int | None:
    """Return the imported version of a domain; None if the model does not import it exactly once."""
    versions = [each.version for each in model.proto.opset_import if normalized_domain(each.domain) == domain]
    return versions[0] if len(versions) == 1 else None


def _keeps_all(domain: str, before: int, changed: Model) -> bool:
    """Return whether the nodes of a model with another import certainly compute what they did."""
    return _fixes(changed).keeps_all(domain, before, partial(_rank_of_input, changed))


def import_of(model: Model, domain: str, version: int, ir_version: int | None = None) -> Proposal:
    """Return the import of a version of a domain that the model imports once, with the IR version that it needs."""
    entries = model.proto.opset_import
    index = next(index for index, each in enumerate(entries) if normalized_domain(each.domain) == domain)
    edits = [Assign(ROOT.at("opset_import", index).at("version"), version)]
    text = f"import version {version} of {quote(shown_domain(domain))}"
    if ir_version is not None:
        edits.append(Assign(ROOT.at("ir_version"), ir_version))
        text = f"write ir_version={ir_version} and {text}"
    return ready(text, *edits)


def proposed_import_for_types(model: Model, conflict: OperandConflict) -> Proposals | None:
    """Return the import that other nodes need for certain, if it also allows the types of a node; otherwise None.

    None also if one of the types is unknown, or if attributes or subgraphs decide the types.
    """
    from onnx_lint.inference.types.typed_operator import typed_operator

    node = conflict.node
    if None in conflict.inputs:
        return None
    operator = model.operators.operator(node)
    proposals = proposed_import(model, AlikeNodes(operator, node.graph, node.form), node)
    if proposals is None or not proposals.needs_no_trial:
        return None
    other = other_version(model, operator.domain)
    schema = None if other is None else model.operators.schemas.find(operator.domain, node.op_type, other.version)
    if schema is None or schema is conflict.schema:
        return None
    typed = typed_operator(schema, binds=True)
    if typed.by_subgraphs or not typed.attributes.isdisjoint(each.name for each in node.attribute_protos):
        return None
    return None if typed.outcome(conflict.inputs, (), len(node.outputs)).problems else proposals


def proposed_import_for_several(model: Model, conflict: OperandConflict) -> Proposals | None:
    """Return the later import that allows the types of several operators, such as bfloat16, if this is one of them.

    None if the types of one operator alone need it: these may be the mistake. It is tried on the model.
    """
    from onnx_lint.inference.flow.type_conflict import version_that_takes

    domain = normalized_domain(conflict.node.domain)
    if conflict.node.graph.function is not None or version_that_takes(conflict) is None:
        return None
    need = version_for_types(model, domain)
    version = need.version
    if version is None or need.operators < MIN_OPERATORS or _only_import(model, domain) is None:
        return None
    return Proposals(
        "{}, which allows these types",
        lambda: (import_of(model, domain, version),),
        cause=f"import {version} of {domain}",
    )


def version_for_types(model: Model, domain: str) -> TypesNeed:
    """Return the version that allows all types of operands that the imported one does not, if all nodes fit it."""
    known = model.operators.versions_for_types
    if domain not in known:
        known[domain] = _version_for_types(model, domain)
    return known[domain]


def _version_for_types(model: Model, domain: str) -> TypesNeed:
    from onnx_lint.inference.flow.type_conflict import version_that_takes

    found: dict[str, int] = {}
    for conflict in model.value_flow.operands:
        if conflict.node.graph.function is None and normalized_domain(conflict.node.domain) == domain:
            version = version_that_takes(conflict)
            if version is not None:
                found[conflict.node.op_type] = max(version, found.get(conflict.node.op_type, 0))
    if not found or model.kind != MODEL_KIND or not model.imports.are_stated:
        return TypesNeed(None, 0)
    version = _fixes(model).version_from(domain, max(found.values()), partial(_rank_of_input, model))
    return TypesNeed(version, len(found))


def other_version(model: Model, domain: str) -> OtherVersion | None:
    """Return the version to import instead (`ImportFixes.version_instead`). It is looked for once for each domain."""
    found = model.operators.versions_instead
    if domain not in found:
        found[domain] = _other_version(model, domain) if model.kind == MODEL_KIND and model.imports.are_stated else None
    return found[domain]


def _other_version(model: Model, domain: str) -> OtherVersion | None:
    """Return the version within the IR version of the model, or else one that needs a later IR version as well."""
    fixes, rank_of = _fixes(model), partial(_rank_of_input, model)
    return fixes.version_instead(domain, rank_of) or fixes.version_with_later_ir(domain, rank_of)


def _fixes(model: Model) -> ImportFixes:
    return ImportFixes(model.graphs, model.operators, model.imports, model.effective_ir_version)


def _rank_of_input(model: Model, node: Node) -> int | None:
    """Return the rank of input 0 of a node; None if it is unknown."""
    shape = model.value_flow.fact_of(node.inputs[0], node.graph).shape if node.inputs else None
    return None if shape is None else len(shape)
