# SPDX-License-Identifier: Apache-2.0
"""Masks of attention in ONNX Runtime (com.microsoft), whose kernels take more forms than their descriptions name.

A shape is reported only if ONNX Runtime rejects the node: when it makes a session, or whenever it runs the node.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from onnx_lint.inference.shapes.dims import Dims, add, are_sizes
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, InputDimension, Unequal

_PROJECTIONS = 3
"""Queries, keys and values."""

_TEXTS = 1
"""The rank of a mask of texts: the ends, the ends and starts, or lengths and both cumulative lengths."""

_PAIRS = 3
"""The rank of a mask of each text, query and key."""

_BUFFER = 4
"""The rank of a mask of all places of a buffer."""

_FEATURES = 3
"""The rank of what has its heads side by side."""

_RANKS_OF_QUERIES = (3, 5)
"""Those of queries alone, and of queries, keys and values in one."""

_BY_HEADS = 4
"""The rank of keys [batch, heads, length, size]."""

_KEY_MASK = 4
"""The input with the mask of MultiHeadAttention."""

_BUFFER_LENGTH = 8
"""Its input that says how much of a shared buffer is filled."""


def of_rank(node: Operands, index: int, *ranks: int) -> Dims | None:
    """Return the shape of an input if it has one of these ranks; otherwise None."""
    shape = node.shape(index)
    return shape if shape is not None and len(shape) in ranks else None


def fits_mask(node: Operands) -> Outputs:
    """Note widths other than of queries, keys and values, and a mask that does not fit the texts, queries and keys.

    There are as many keys as queries, and those of a past. A mask of each text and key may be [1, 1] or [batch, 1],
    which masks nothing.
    """
    stated = node.length("qkv_hidden_sizes")
    if stated:
        node.has_count("qkv_hidden_sizes", stated, _PROJECTIONS)
        sizes = node.integers("qkv_hidden_sizes") or ()
        if len(sizes) == _PROJECTIONS and sizes[0] != sizes[1]:
            reason = f"queries, of size {sizes[0]}, are compared with keys"
            node.wrong_value("qkv_hidden_sizes", sizes[1], reason, 1, allowed=f"{sizes[0]}")
        elif len(sizes) == _PROJECTIONS and sizes[1] != sizes[2] and node.given(4):
            reason = f"input 4 ('past') has keys, of size {sizes[1]}, and values in one tensor"
            node.wrong_value("qkv_hidden_sizes", sizes[2], reason, 2, allowed=f"{sizes[1]}")
    index, past = (5, 8) if node.operator == "QAttention" else (3, 4)
    mask = node.shape(index, at_least=_TEXTS, at_most=_BUFFER)
    if mask is None or node.fact(0).shape is None:
        return UNKNOWN
    if len(mask) == _TEXTS:
        _fits_texts(node, index, lambda batch: (2 * batch, 3 * batch + 2))
        if not node.problems:
            _has_ends(node, index)
    elif len(mask) == _BUFFER:
        _fits_buffer(node, index)
    else:
        _fits_pairs(node, index, past, mask)
    return UNKNOWN


def _fits_buffer(node: Operands, index: int) -> None:
    """Note a mask that is not [batch, 1, places, places], or one beside `unidirectional`, which is a mask itself."""
    if node.integer("unidirectional", 0) == 1:
        node.wrong_value("unidirectional", 1, f"input {index} is a mask of 4 dimensions", allowed="0")
    node.equal((0, 0), (index, 0))
    node.same((index, 1), 1, None)
    node.equal((index, 2), (index, 3))


def _fits_pairs(node: Operands, index: int, past: int, mask: Dims) -> None:
    """Note a mask of each text and key, or of each text, query and key, that is of another size."""
    sizes = [(0, 0), (1, 1), (2, 1)] if len(mask) == _PAIRS else [(0, 0), (1, 1)]
    is_full = len(mask) == _PAIRS or (isinstance(mask[1], int) and mask[1] != 1)
    for axis, like in sizes if not node.given(past) else sizes[: len(mask) - 1]:
        if is_full or mask[axis] != 1:
            node.equal((0, like), (index, axis))
    last = len(mask) - 1
    before = of_rank(node, past, 5)
    is_buffer = node.integer("past_present_share_buffer", 0)
    if before is not None and not is_buffer and (is_full or mask[last] != 1):
        node.same((index, last), add(before[3], node.dim(0, 1)), node.place(past, 3))


def _fits_texts(node: Operands, index: int, others: Callable[[int], tuple[int, ...]]) -> None:
    """Note a mask of texts that does not have one number for each, or another number that the operator takes."""
    batch, count = node.dim(0, 0), node.dim(index, 0)
    if isinstance(batch, int) and isinstance(count, int) and count not in (batch, *others(batch)):
        wrong = InputDimension(index, 0, count)
        node.problems.append(Unequal(wrong, batch, node.place(0, 0), others=others(batch)))


def _has_ends(node: Operands, index: int) -> None:
    """Note a text that ends before its begin: the ends come first in a mask of texts.

    MultiHeadAttention takes such a mask, too, but any numbers in it.
    """
    batch = node.dim(0, 0)
    ends = (node.content(index) or ())[:batch] if isinstance(batch, int) else ()
    at = next((at for at, end in enumerate(ends) if isinstance(end, int) and end < 0), None)
    if at is not None:
        node.wrong_value(index, ends[at], "", at, allowed="at least 0")


def has_blocks(node: Operands) -> Outputs:
    """Record rows of the block mask of a SparseAttention that do not follow each other, and columns that do not exist.

    Each layout has the columns up to the last number of its rows; later ones fill the matrix.
    """
    rows, columns = node.fact(5).shape, node.fact(6).shape
    if rows and columns and len(rows) == len(columns) == _PAIRS_OF_LAYOUTS and rows[0] == columns[0]:
        width, most = rows[1], columns[1]
        if isinstance(width, int) and isinstance(most, int) and width > 0:
            _follow_each_other(node, width, most)
            _exist(node, width, most)
    return UNKNOWN


def _follow_each_other(node: Operands, width: int, most: int) -> None:
    """Record the first row that does not begin at the end of the one before. `most`: the columns of a layout."""
    numbers = node.content(5) or ()
    for at, number in enumerate(numbers):
        least, limit = (numbers[at - 1], most) if at % width else (0, 0)
        if isinstance(number, int) and isinstance(least, int) and not least <= number <= limit:
            allowed = f"{least} to {limit}" if least < limit else f"{limit}"
            node.wrong_value(5, number, "", at, allowed=allowed)
            return


def _exist(node: Operands, width: int, most: int) -> None:
    """Record the first column of a block that is not one of the blocks."""
    numbers, places = node.content(5) or (), node.content(6) or ()
    for layout, last in enumerate(numbers[width - 1 :: width] if not node.problems else ()):
        used = places[layout * most :][: last if isinstance(last, int) else 0]
        wrong = next((at for at, each in enumerate(used) if isinstance(each, int) and not 0 <= each < width - 1), None)
        if wrong is not None:
            node.wrong_value(6, used[wrong], "", layout * most + wrong, allowed=f"0 to {width - 2}")
            return


_PAIRS_OF_LAYOUTS = 2
"""The rank of the rows and columns of block masks: layouts, and the numbers of each."""


def fits_cache(node: Operands) -> Outputs:
    """Note scales of another number than a cache has, new keys of another length than the queries, positions that the
    caches lack, and several texts that go on with several tokens at once.
    """
    for index, name in ((12, "k_quant_type"), (13, "v_quant_type")):
        kind = str(node.argument(name)).upper()
        if kind in ("PER_TENSOR", "PER_CHANNEL") and node.fact(3).kind == node.fact(0).kind is not None:
            reason = f"input 3 ('past_key') has the element type of input 0 ('{node.schema.inputs[0].name}')"
            node.wrong_value(name, kind, reason, allowed="NONE, or integers in the cache")
            return UNKNOWN
        expected = _scales(node, kind)
        scales = node.fact(index).shape
        if scales and are_sizes(scales) and expected is not None and math.prod(scales) != expected:
            node.has_count(index, math.prod(scales), expected)
    _fits_new_keys(node)
    _fits_total(node)
    if node.given(16) and node.given(1):
        _fits_heads(node)
    batch, length, total = node.dim(0, 0), node.dim(0, 1), node.content(6)
    is_going_on = not node.given(16) and isinstance(length, int) and length > 1 and node.given(3)
    if is_going_on and total and isinstance(total[0], int) and total[0] != length and isinstance(batch, int):
        node.same((0, 0), min(batch, 1), Element(6, total[0]))
    return UNKNOWN


def _fits_heads(node: Operands) -> None:
    """Note queries of padded texts whose heads are not as large as those of the keys, in whole numbers."""
    heads, groups = node.integer("num_heads"), node.integer("kv_num_heads")
    width, keys = node.dim(0, 2), node.dim(1, 2)
    if heads and groups and isinstance(width, int) and isinstance(keys, int) and width // heads != keys // groups:
        node.same((0, 2), keys // groups * heads, node.place(1, 2))


def _fits_total(node: Operands) -> None:
    """Note a total length that is neither all of the cache and the new keys, nor within the cache."""
    numbers, new = node.content(6), node.dim(1 if node.given(1) else 0, 1)
    past = next((size for size in (node.dim(3, 2), node.dim(4, 2)) if isinstance(size, int)), None)
    total = numbers[0] if numbers else None
    if node.given(16) or node.integer("sliding_window_cache", 0) or not node.given(3):
        return
    if not (isinstance(total, int) and isinstance(past, int) and isinstance(new, int)):
        return
    if total < new or past < total < past + new:
        within = f", or {new} to {past}" if new <= past else ""
        node.wrong_value(6, total, "", allowed=f"{past + new}{within}")


def _fits_new_keys(node: Operands) -> None:
    """Note keys beside a past that are neither as many as the queries nor none, and a first position beyond the caches.

    ONNX Runtime reads only the first position of a first prompt.
    """
    old, new = node.dim(0, 1), node.dim(1, 1)
    if node.given(3) and isinstance(old, int) and isinstance(new, int) and new not in (0, old):
        node.equal((0, 1), (1, 1))
    first, rows = (node.content(9) or (None,))[0], node.dim(7, 0)
    if not node.integer("do_rotary", 0) or not isinstance(first, int) or not isinstance(rows, int):
        return
    if not 0 <= first < rows:
        node.wrong_value(9, first, f"input 7 ('cos_cache') has {rows} positions", 0, allowed=f"0 to {rows - 1}")


def packs_heads(node: Operands) -> Outputs:
    """Note a width of packed queries, keys and values of GatedDeltaNet that no number of heads of queries makes.

    The state says how many heads and numbers the values have, and how many numbers a key has.
    """
    state, place = of_rank(node, _STATE, _BY_HEADS), node.place(0, -1)
    sizes = [each for each in state or () if isinstance(each, int)]
    if node.given(1) or len(sizes) != _BY_HEADS or not isinstance(place, InputDimension):
        return UNKNOWN
    _, groups, value, key = sizes
    if groups > _MAX_HEADS:
        return UNKNOWN
    widths = [groups * value + 2 * heads * key for heads in range(1, groups + 1) if groups % heads == 0]
    if widths and place.size not in widths:
        node.problems.append(Unequal(place, widths[-1], node.place(_STATE, 3), others=tuple(widths[:-1])))
    return UNKNOWN


_STATE = 6
"""The input of GatedDeltaNet with the state [texts, heads of values, size of values, size of keys]."""

_MAX_HEADS = 1_000
"""The most heads whose divisors are counted."""


def _scales(node: Operands, kind: str) -> int | None:
    """Return the number of scales of a cache of GroupQueryAttention."""
    heads, groups, width = node.integer("num_heads"), node.integer("kv_num_heads"), node.dim(0, 2)
    if kind == "PER_TENSOR":
        return 1
    if kind != "PER_CHANNEL" or not heads or not groups or not isinstance(width, int):
        return None
    return groups * width // (heads if node.given(1) else heads + 2 * groups)


def fits_padding(node: Operands) -> Outputs:
    """Note a mask of the keys of MultiHeadAttention that is of another size."""
    mask = node.shape(_KEY_MASK, at_least=_TEXTS, at_most=_PAIRS)
    if mask is None or (node.fact(0).shape is not None and len(node.fact(0).shape or ()) not in _RANKS_OF_QUERIES):
        return UNKNOWN
    for index in (1, 2):
        if node.given(index):
            node.equal((0, 0), (index, 0))
    if len(mask) == _TEXTS:
        _fits_texts(node, _KEY_MASK, lambda batch: (3 * batch + 2,))
        return UNKNOWN
    node.equal((0, 0), (_KEY_MASK, 0))
    if len(mask) == _PAIRS:
        node.equal((0, 1), (_KEY_MASK, 1))
    _fits_keys(node, len(mask) - 1)
    return UNKNOWN


def _fits_keys(node: Operands, axis: int) -> None:
    """Note a mask of another number of keys; those of a past come before those that the node gets."""
    key = node.fact(1).shape
    key_axis = 2 if key is not None and len(key) == _BY_HEADS else 1
    if node.given(6):
        past, filled = of_rank(node, 6, 4), (node.content(_BUFFER_LENGTH) or (None,))[0]
        new = key[key_axis] if key is not None and len(key) in (_FEATURES, _BY_HEADS) else None
        if node.given(_BUFFER_LENGTH):
            before = filled if isinstance(filled, int) else None
            node.same((_KEY_MASK, axis), add(before, new), Element(_BUFFER_LENGTH, before))
        elif past is not None:
            node.same((_KEY_MASK, axis), add(past[2], new), node.place(6, 2))
    elif not node.given(1):
        node.equal((0, 1), (_KEY_MASK, axis))
    elif key is not None and len(key) >= _FEATURES:
        node.equal((1, key_axis), (_KEY_MASK, axis))
