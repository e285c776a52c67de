# SPDX-License-Identifier: Apache-2.0
"""Operators on text."""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import Dim
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.registration import register_equations, register_rule


@register_rule("StringNormalizer")
def normalizer(node: Operands) -> Outputs:
    """Infer [C] -> [?] and [1, C] -> [1, ?]: stop words are removed. Without stop words, the size stays C."""
    shape = node.shape(0, at_least=1, at_most=2)
    if shape is None:
        return UNKNOWN
    if len(shape) == 2:
        node.same((0, 0), 1, None)
    # A variable may be 0, and for 0 words ONNX Runtime returns one empty word.
    size = shape[-1] if not node.length("stopwords") and isinstance(shape[-1], int) and shape[-1] else None
    return [(*[1] * (len(shape) - 1), size)]


register_equations({"StringSplit": "X[*texts] -> Y[*texts ?] Z[*texts]"})


@register_rule("TfIdfVectorizer")
def vectorizer(node: Operands) -> Outputs:
    """Infer [C] -> [n] and [N, C] -> [N, n], where n is the greatest of `ngram_indexes` plus 1."""
    shape = node.shape(0, at_least=1, at_most=2)
    if shape is None:
        return UNKNOWN
    coordinates = node.integers("ngram_indexes")
    size: Dim = max(coordinates) + 1 if coordinates and node.at_least(0, coordinates, "ngram_indexes") else None
    return [(*shape[:-1], size)]
