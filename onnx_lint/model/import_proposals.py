# SPDX-License-Identifier: Apache-2.0
"""Proposes to import the version of an operator set that all nodes of its domain fit."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from onnx_lint.ir.graph import Node
from onnx_lint.ir.operators.import_fixes import ImportFixes
from onnx_lint.ir.operators.proposals import Proposals, ready
from onnx_lint.ir.places.edits import Assign
from onnx_lint.ir.places.place import ROOT
from onnx_lint.spec.domains import shown_domain
from onnx_lint.spec.releases import normalized_domain
from onnx_lint.wording import quote

if TYPE_CHECKING:
    from onnx_lint.model.model import Model


def other_import(model: Model, node: Node) -> Proposals | None:
    """Return the proposal to import another version of the domain of a node.

    None if no version fits the nodes of the domain, or if the node is in a function. All findings on nodes of the
    domain have one cause. A later version needs no trial: it allows more types and shapes.
    """
    domain = normalized_domain(node.domain)
    version = None if node.graph.function is not None else version_instead(model, domain)
    imports = [index for index, each in enumerate(model.proto.opset_import) if normalized_domain(each.domain) == domain]
    if version is None or len(imports) != 1:
        return None
    edit = Assign(ROOT.at("opset_import", imports[0]).at("version"), version)
    text = f"import version {version} of {quote(shown_domain(domain))}, which all its nodes fit"
    is_certain = version > model.proto.opset_import[imports[0]].version
    return Proposals("{}", lambda: (ready(text, edit),), cause=f"import {version} of {domain}", is_certain=is_certain)


def version_instead(model: Model, domain: str) -> int | None:
    """Return the version of an imported domain that fits all nodes, if they do not fit the imported one; else None."""
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
