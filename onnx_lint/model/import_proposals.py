# SPDX-License-Identifier: Apache-2.0
"""Proposes the version of an operator set that the nodes of its domain need, in place of the imported one."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from onnx_lint.ir.graph import Node
from onnx_lint.ir.operators.import_fixes import ImportFixes
from onnx_lint.ir.operators.mismatch import fits
from onnx_lint.ir.operators.operators import AlikeNodes, OtherVersion
from onnx_lint.ir.operators.proposals import Proposals, ready
from onnx_lint.ir.places.edits import Assign
from onnx_lint.ir.places.place import ROOT
from onnx_lint.spec.domains import shown_domain
from onnx_lint.spec.releases import normalized_domain
from onnx_lint.wording import quote

if TYPE_CHECKING:
    from onnx_lint.inference.flow.type_conflict import OperandConflict
    from onnx_lint.model.model import Model


def proposed_import(model: Model, alike: AlikeNodes, node: Node) -> Proposals | None:
    """Return the import of another version; None if these nodes do not fit it, or a function has the node.

    All findings on nodes that need it have one cause. A node that fits no version has another fault, which the import
    does not mend. A later version needs no trial: `ImportFixes.version_instead` has checked the signature of each node
    and that no node computes something else. An earlier one is tried on the model.
    """
    domain = normalized_domain(node.domain)
    other = None if node.graph.function is not None else other_version(model, domain)
    imports = [index for index, each in enumerate(model.proto.opset_import) if normalized_domain(each.domain) == domain]
    if other is None or len(imports) != 1:
        return None
    signature = model.operators.schemas.find(domain, node.op_type, other.version)
    if signature is None or signature.deprecated or not fits(signature, alike):
        return None
    edit = Assign(ROOT.at("opset_import", imports[0]).at("version"), other.version)
    text = f"import version {other.version} of {quote(shown_domain(domain))}, {_nodes_with(other)}"
    needs_no_trial = other.version > model.proto.opset_import[imports[0]].version
    return Proposals(
        "{}", lambda: (ready(text, edit),), cause=f"import {other.version} of {domain}", needs_no_trial=needs_no_trial
    )


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


def _nodes_with(other: OtherVersion) -> str:
    """Return which nodes need the version."""
    if other.fits_all:
        return "which all its nodes fit"
    return f"which {other.needed_by:,} of its nodes {'needs' if other.needed_by == 1 else 'need'}"


def other_version(model: Model, domain: str) -> OtherVersion | None:
    """Return the version to import instead (`ImportFixes.version_instead`). It is looked for once for each domain."""
    found = model.operators.versions_instead
    if domain not in found:
        is_stated = model.kind == "ModelProto" and model.imports.are_stated
        fixes = ImportFixes(model.graphs, model.operators, model.imports, model.effective_ir_version)
        found[domain] = fixes.version_instead(domain, partial(_rank_of_input, model)) if is_stated else None
    return found[domain]


def _rank_of_input(model: Model, node: Node) -> int | None:
    """Return the rank of input 0 of a node; None if it is unknown."""
    shape = model.value_flow.fact_of(node.inputs[0], node.graph).shape if node.inputs else None
    return None if shape is None else len(shape)
