# SPDX-License-Identifier: Apache-2.0
"""The nodes of ONNX Runtime's operators that do not fit the signature that the operator has in a release."""

from __future__ import annotations

from collections.abc import Sequence

from onnx_lint.ir.operators.changed_signature import refused_form, refused_types
from onnx_lint.ir.operators.operators import AlikeNodes
from onnx_lint.model import Model, Node
from onnx_lint.refusals.causes import Refusal, refused_node
from onnx_lint.refusals.operands import input_kinds, operator_name
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.spec.operators.runtime_releases import signature_in
from onnx_lint.spec.products import ProductRelease


def signature_of(model: Model, schema: OperatorSchema, release: ProductRelease) -> OperatorSchema | None:
    """Return the signature that an operator has in a release; None if it is that of the newest release.

    Also None for an operator that a schema file describes.
    """
    if schema.domain not in release.own_domains or model.operators.schemas.is_described(schema.domain):
        return None
    return signature_in(release.version, schema.domain, schema.name)


def refused_by_signature(
    alike: AlikeNodes, schema: OperatorSchema, older: OperatorSchema | None, release: ProductRelease
) -> Sequence[str]:
    """Return what alike nodes have that the signature of a release does not allow, in words.

    `schema`: the signature in the newest release. `older`: that of the release, if it is another one.
    """
    return refused_form(alike, schema, older, f"{schema.name} of {release}") if older is not None else ()


def refused_types_of(
    model: Model, node: Node, schema: OperatorSchema, older: OperatorSchema | None, release: ProductRelease
) -> Sequence[Refusal]:
    """Return the refusals of a node for types of inputs that only the signature of a later release allows.

    `schema` and `older` as for `refused_by_signature`.
    """
    if older is None:
        return ()
    found = refused_types(input_kinds(model, node), schema, older, f"{schema.name} of {release}")
    return [refused_node(node, operator_name(schema.domain, schema.name), what) for what in found]
