# SPDX-License-Identifier: Apache-2.0
"""Operators of ONNX Runtime (com.microsoft) that generate sequences, running a model in an attribute for each token."""

from __future__ import annotations

from collections.abc import Sequence

from onnx_lint.inference.shapes.dims import Dim, as_size
from onnx_lint.inference.shapes.operands import Operands, Outputs


def beam_search(node: Operands) -> Outputs:
    """Infer the best sequences for each prompt, their scores, and the scores of each token at each step and beam."""
    batch, returned, longest = node.dim(0, 0), _size(node, "num_return_sequences"), _size(node, "max_length")
    scores = (None, batch, _size(node, "num_beams"), None)
    found = [(batch, returned, longest), (batch, returned), scores]
    return [*found, None, (batch,)] if node.operator == "WhisperBeamSearch" else found


def search(node: Operands) -> Outputs:
    """Infer a sequence for each prompt; Sampling also has a number for each token of the vocabulary."""
    batch = node.dim(0, 0)
    return [(batch, _size(node, "max_length")), (batch, node.positive("vocab_size"))]


def _size(node: Operands, name: str) -> Dim:
    """Return the one element of an input; None if it is unknown or not a size."""
    content = node.content(node.input(name))
    return as_size(content[0]) if content is not None and len(content) == 1 else None


def check_banned_tokens(node: Operands) -> None:
    """Record a token of NGramRepeatBlock that would be the end of a repetition, and has no score."""
    length, tokens, size = node.dim(0, 1), node.dim(1, 1), node.integer("ngram_size", 0)
    content = node.content(0) or ()
    if not isinstance(length, int) or not isinstance(tokens, int) or length < 1 or size < 1:
        return
    for at in range(size - 1, len(content)):
        banned = content[at]
        is_scored = not isinstance(banned, int) or 0 <= banned < tokens
        if not is_scored and _ends_repetition(content, at, length, size):
            node.wrong_value(0, banned, f"there are {tokens} scores of words", index=at, allowed=f"0 to {tokens - 1}")
            return


def _ends_repetition(content: Sequence[Dim | float], at: int, length: int, size: int) -> bool:
    """Return whether the tokens before one are the last `size` - 1 of its row. `length`: that of a row."""
    row = at - at % length
    begin, last = at - size + 1, row + length - size + 1
    return begin >= row and content[begin:at] == content[last : row + length]
