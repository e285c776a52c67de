# SPDX-License-Identifier: Apache-2.0
"""Masks of attention in ONNX Runtime (com.microsoft), whose kernels take more forms than their descriptions name.

A shape is reported only if ONNX Runtime rejects the node: when it makes a session, or whenever it runs the node.
"""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import Dim, Dims, add
from onnx_lint.inference.shapes.operands import Operands
from onnx_lint.inference.shapes.problem import Element, InputDimension, Unequal

# --- Attention and QAttention


def check_mask(node: Operands) -> None:
    """Record widths that contradict each other, and a mask that does not match the batch, queries and keys."""
    _check_widths(node)
    index = node.input("mask_index")
    mask = node.shape(index, at_least=1, at_most=4)
    if mask is None or node.fact(0).shape is None:
        return
    if len(mask) == 1:
        batch = node.dim(0, 0)
        _check_lengths(node, index, *((2 * batch, 3 * batch + 2) if isinstance(batch, int) else ()))
        if not node.problems:
            _check_ends(node, index)
    elif len(mask) == 4:
        _check_buffer_mask(node, index)
    else:
        _check_key_mask(node, index, mask)


def _check_widths(node: Operands) -> None:
    """Record `qkv_hidden_sizes` that are not three sizes, or that queries, keys and values cannot have together."""
    stated = node.length("qkv_hidden_sizes")
    if not stated:
        return
    node.has_count("qkv_hidden_sizes", stated, 3)
    sizes = node.integers("qkv_hidden_sizes") or ()
    if len(sizes) != 3:
        return
    query, key, value = sizes
    if query != key:
        reason = f"queries, of size {query}, are compared with keys"
        node.wrong_value("qkv_hidden_sizes", key, reason, index=1, allowed=f"{query}")
    elif key != value and node.given(node.input("past")):
        reason = f"{node.describe_input('past')} has keys, of size {key}, and values in one tensor"
        node.wrong_value("qkv_hidden_sizes", value, reason, index=2, allowed=f"{key}")


def _check_buffer_mask(node: Operands, index: int) -> None:
    """Record a mask that is not [batch, 1, length, length], or one beside `unidirectional`, which is a mask itself."""
    if node.integer("unidirectional", 0) == 1:
        node.wrong_value("unidirectional", 1, f"input {index} is a mask of 4 dimensions", allowed="0")
    node.equal((0, 0), (index, 0))
    node.same((index, 1), 1, None)
    node.equal((index, 2), (index, 3))


def _check_key_mask(node: Operands, index: int, mask: Dims) -> None:
    """Record a mask that is not [batch, keys] or [batch, queries, keys].

    A mask of keys may be [1, 1] or [batch, 1], which masks nothing.
    """
    if len(mask) == 3:
        node.equal((0, 0), (index, 0))
        node.equal((0, 1), (index, 1))
        _check_number_of_keys(node, (index, 2))
        return
    batch, keys = mask
    if batch != 1 or (isinstance(keys, int) and keys != 1):
        node.equal((0, 0), (index, 0))
    if keys != 1:
        _check_number_of_keys(node, (index, 1))


def _check_number_of_keys(node: Operands, at: tuple[int, int]) -> None:
    """Record a dimension of a mask that is not the number of keys: of those in the past, and one for each query."""
    past = node.input("past")
    if not node.given(past):
        node.equal((0, 1), at)
        return
    cached = node.shape_of_rank(past, 5)
    # A shared buffer may be filled in part.
    if cached is not None and not node.integer("past_present_share_buffer", 0):
        node.same(at, add(cached[3], node.dim(0, 1)), node.place(past, 3))


def _check_ends(node: Operands, index: int) -> None:
    """Record a sequence that ends before it begins: the ends come first in a mask of one dimension.

    MultiHeadAttention accepts any numbers in such a mask.
    """
    batch = node.dim(0, 0)
    ends = (node.content(index) or ())[:batch] if isinstance(batch, int) else ()
    at = next((at for at, end in enumerate(ends) if isinstance(end, int) and end < 0), None)
    if at is not None:
        node.wrong_value(index, ends[at], index=at, allowed="at least 0")


def _check_lengths(node: Operands, index: int, *others: int) -> None:
    """Record a mask of one dimension that has neither one number for each sequence nor one of the `others`.

    The others are the ends and the starts (2 * batch), or the lengths and both cumulative lengths (3 * batch + 2).
    """
    batch, count = node.dim(0, 0), node.dim(index, 0)
    if isinstance(batch, int) and isinstance(count, int) and count not in (batch, *others):
        wrong = InputDimension(index, 0, count)
        node.problems.append(Unequal(wrong, batch, node.place(0, 0), others=others))


# --- MultiHeadAttention


def check_padding_mask(node: Operands) -> None:
    """Record a mask of the keys that is of another size."""
    index = node.input("key_padding_mask")
    mask, query = node.shape(index, at_least=1, at_most=3), node.fact(0).shape
    # Queries alone have 3 dimensions, queries, keys and values in one have 5.
    if mask is None or (query is not None and len(query) not in (3, 5)):
        return
    for name in ("key", "value"):
        if node.given(node.input(name)):
            node.equal((0, 0), (node.input(name), 0))
    if len(mask) == 1:
        batch = node.dim(0, 0)
        _check_lengths(node, index, *((3 * batch + 2,) if isinstance(batch, int) else ()))
        return
    node.equal((0, 0), (index, 0))
    if len(mask) == 3:
        node.equal((0, 1), (index, 1))
    _check_masked_keys(node, (index, len(mask) - 1))


def _check_masked_keys(node: Operands, at: tuple[int, int]) -> None:
    """Record a dimension of a mask that is not the number of keys: of those in the past and the new ones."""
    key = node.input("key")
    shape = node.shape_of_rank(key, 3, 4)
    axis = 2 if shape is not None and len(shape) == 4 else 1  # [batch, length, width], or [batch, heads, length, size]
    if node.given(node.input("past_key")):
        _check_keys_after_past(node, at, shape[axis] if shape is not None else None)
    elif not node.given(key):
        node.equal((0, 1), at)
    elif len(node.fact(key).shape or ()) >= 3:
        node.equal((key, axis), at)


def _check_keys_after_past(node: Operands, at: tuple[int, int], new: Dim) -> None:
    """Record a mask of another number of keys than the past has, plus the `new` ones.

    A shared buffer may be filled in part.
    """
    past, filled = node.input("past_key"), node.input("past_sequence_length")
    if node.given(filled):
        first = node.first_element(filled)
        length = first if isinstance(first, int) else None
        node.same(at, add(length, new), Element(filled, length))
        return
    shape = node.shape_of_rank(past, 4)
    if shape is not None:
        node.same(at, add(shape[2], new), node.place(past, 2))
