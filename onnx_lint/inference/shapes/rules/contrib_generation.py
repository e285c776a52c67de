# SPDX-License-Identifier: Apache-2.0
"""Operators of ONNX Runtime (com.microsoft) that generate texts, running a model in an attribute once for each word."""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import Dim
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs


def beam_search(node: Operands) -> Outputs:
    """The best texts for each prompt, the scores of the texts, and the scores of each word at each step and beam."""
    batch, texts = node.dim(0, 0), _number(node, 4)
    scores = (None, batch, _number(node, 3), None)
    found = [(batch, texts, _number(node, 1)), (batch, texts), scores]
    return [*found, None, (batch,)] if node.operator == "WhisperBeamSearch" else found


def search(node: Operands) -> Outputs:
    """A text for each prompt; Sampling also gives a number for each word that there is."""
    batch, words = node.dim(0, 0), node.integer("vocab_size", 0)
    return [(batch, _number(node, 1)), (batch, words if words > 0 else None)]


def bans_words(node: Operands) -> Outputs:
    """Note a word that would be the end of a repetition, and has no score."""
    length, words, size = node.dim(0, 1), node.dim(1, 1), node.integer("ngram_size", 0)
    content = node.content(0) or ()
    if not isinstance(length, int) or not isinstance(words, int) or length < 1 or size < 1:
        return UNKNOWN
    for at in range(size - 1, len(content)):
        row, banned = at - at % length, content[at]
        begin, last = at - size + 1, row + length - size + 1
        is_repeated = begin >= row and content[begin:at] == content[last : row + length]
        if is_repeated and isinstance(banned, int) and not 0 <= banned < words:
            node.wrong_value(0, banned, f"there are {words} scores of words", at, allowed=f"0 to {words - 1}")
            break
    return UNKNOWN


def _number(node: Operands, index: int) -> Dim:
    """The one element of an input that is a size."""
    content = node.content(index)
    number = content[0] if content is not None and len(content) == 1 else None
    return None if isinstance(number, float) or (isinstance(number, int) and number < 0) else number
