# SPDX-License-Identifier: Apache-2.0
"""GroupQueryAttention of ONNX Runtime (com.microsoft): its caches, their scales, and the keys that come after them."""

from __future__ import annotations

import math
from typing import Final

from onnx_lint.inference.shapes.dims import are_sizes
from onnx_lint.inference.shapes.operands import Operands
from onnx_lint.inference.shapes.problem import Element


def check_group_query_attention(node: Operands) -> None:
    """Record wrong scales, new keys, lengths and a wrong batch. Record nothing else if a cache cannot have scales."""
    for letter, cache in (("k", "past_key"), ("v", "past_value")):
        attribute = f"{letter}_quant_type"
        quantization = node.text(attribute, "NONE").upper()
        if quantization not in _SCALED:
            continue
        if not _may_have_scales(node, attribute, cache):
            return
        _check_scale_count(node, node.input(f"{letter}_scale"), quantization)
    _check_new_keys(node)
    _check_first_position(node)
    if not node.given(node.input("query_seqlens")):
        _check_total_length(node)
        _check_continuation(node)
    elif node.given(node.input("key")):
        _check_head_sizes(node)


_SCALED: Final = ("PER_TENSOR", "PER_CHANNEL")
"""The quantizations with scales, in capitals."""


def _may_have_scales(node: Operands, attribute: str, cache: str) -> bool:
    """Return whether a cache may have scales. False if it has the type of the queries, which is recorded."""
    query = node.fact(node.input("query")).kind
    if query is None or node.fact(node.input(cache)).kind != query:
        return True
    reason = f"{node.describe_input(cache)} has the element type of {node.describe_input('query')}"
    node.wrong_value(attribute, node.text(attribute), reason, allowed="NONE, or integers in the cache")
    return False


def _check_scale_count(node: Operands, index: int, quantization: str) -> None:
    """Record scales that are not one, or with PER_CHANNEL not one for each channel of the cache."""
    expected = 1 if quantization == "PER_TENSOR" else _cache_width(node)
    scales = node.fact(index).shape
    if scales and are_sizes(scales) and expected is not None and math.prod(scales) != expected:
        node.has_count(index, math.prod(scales), expected)


def _cache_width(node: Operands) -> int | None:
    """Return the number of channels of a cache: its heads times the size of a head. None if it is unknown."""
    heads, groups, width = node.integer("num_heads"), node.integer("kv_num_heads"), node.dim(0, 2)
    if not heads or not groups or not isinstance(width, int):
        return None
    return groups * width // (heads if node.given(node.input("key")) else heads + 2 * groups)


def _check_new_keys(node: Operands) -> None:
    """Record new keys that follow a past, if their number is neither that of the queries nor 0."""
    key = node.input("key")
    queries, keys = node.dim(0, 1), node.dim(key, 1)
    is_beside_past = node.given(node.input("past_key"))
    if is_beside_past and isinstance(queries, int) and isinstance(keys, int) and keys not in (0, queries):
        node.equal((0, 1), (key, 1))


def _check_first_position(node: Operands) -> None:
    """Record a first position beyond the caches. ONNX Runtime reads only the first position of a first prompt."""
    positions, cache = node.input("position_ids"), node.input("cos_cache")
    first, rows = node.first_element(positions), node.dim(cache, 0)
    if not node.integer("do_rotary", 0) or not isinstance(first, int) or not isinstance(rows, int):
        return
    if not 0 <= first < rows:
        reason = f"{node.describe_input('cos_cache')} has {rows} positions"
        node.wrong_value(positions, first, reason, index=0, allowed=f"0 to {rows - 1}")


def _check_total_length(node: Operands) -> None:
    """Record a total length that is neither that of the cache plus the new keys, nor within the cache."""
    total_index, key = node.input("total_sequence_length"), node.input("key")
    caches = (node.input("past_key"), node.input("past_value"))
    if node.integer("sliding_window_cache", 0) or not node.given(caches[0]):
        return
    new = node.dim(key if node.given(key) else 0, 1)
    past = next((size for size in (node.dim(each, 2) for each in caches) if isinstance(size, int)), None)
    total = node.first_element(total_index)
    if not (isinstance(total, int) and isinstance(past, int) and isinstance(new, int)):
        return
    if total < new or past < total < past + new:
        within = f", or {new} to {past}" if new <= past else ""
        node.wrong_value(total_index, total, allowed=f"{past + new}{within}")


def _check_continuation(node: Operands) -> None:
    """Record a batch of several sequences if each of them adds several tokens to a past."""
    total_index = node.input("total_sequence_length")
    batch, length, total = node.dim(0, 0), node.dim(0, 1), node.first_element(total_index)
    if not node.given(node.input("past_key")) or not (isinstance(length, int) and length > 1):
        return
    if isinstance(total, int) and total != length and isinstance(batch, int):
        node.same((0, 0), min(batch, 1), Element(total_index, total))


def _check_head_sizes(node: Operands) -> None:
    """Record queries of padded sequences whose heads differ in size from those of the keys, rounded down."""
    key = node.input("key")
    heads, groups = node.integer("num_heads"), node.integer("kv_num_heads")
    width, keys = node.dim(0, 2), node.dim(key, 2)
    if heads and groups and isinstance(width, int) and isinstance(keys, int) and width // heads != keys // groups:
        node.same((0, 2), keys // groups * heads, node.place(key, 2))
