# SPDX-License-Identifier: Apache-2.0
"""The subgraphs of a FlexAttention, which modify its scores and probabilities."""

from __future__ import annotations

from collections.abc import Sequence

from onnx_lint.inference.flow.subgraphs.subgraph_node import SubgraphNode
from onnx_lint.inference.shapes.operands import Operands, OutputShape
from onnx_lint.inference.types.subgraph_types import Subgraphs
from onnx_lint.inference.types.type_string import DOUBLE, FLOAT, ValueType, tensor_of
from onnx_lint.spec.releases import PREVIEW_DOMAIN


class ScoreFunctions(SubgraphNode):
    """A FlexAttention: it supplies the scores of its query and key to each subgraph."""

    types: Subgraphs

    def supplied_shapes(self) -> Sequence[OutputShape]:
        """Return the shape of the scores: batch, heads, and the lengths of the query and the key."""
        query, key = (each.shape for each in self.facts[:2])
        return [(*query[:3], key[2])] if query and key and len(query) == len(key) == 4 else []


def score_type(node: Operands | None) -> ValueType | None:
    """Return the type of the scores of a FlexAttention; None for other operators, and if it is unknown."""
    if node is None or (node.schema.domain, node.operator) != (PREVIEW_DOMAIN, "FlexAttention"):
        return None
    precision = node.integer("softmax_precision")
    if precision is not None:
        return tensor_of(precision)
    kind = node.fact(0).kind
    if not kind:
        return None
    return DOUBLE if kind == DOUBLE else FLOAT
