# SPDX-License-Identifier: Apache-2.0
"""Attention in ONNX Runtime (com.microsoft), whose kernels take more forms of operands than their descriptions name.

A shape is reported only if ONNX Runtime rejects the node: when it makes a session, or whenever it runs the node.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from onnx_lint.inference.shapes.dims import Dim, Dims, Shape, add, divide, multiply
from onnx_lint.inference.shapes.equations import require
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, InputDimension, Unequal
from onnx_lint.inference.shapes.registration import runtime_shapes_of


def of_rank(node: Operands, index: int, *ranks: int) -> Dims | None:
    """Return the shape of an input if it has one of these ranks; otherwise None."""
    shape = node.shape(index)
    return shape if shape is not None and len(shape) in ranks else None


def number_of(node: Operands, name: str) -> Dim:
    """Return the number in an attribute; None for one below 1."""
    found = node.integer(name)
    return found if found is not None and found > 0 else None


def _divides(node: Operands, at: tuple[int, int], parts: int) -> None:
    """Record a dimension whose parts cannot be divided among the heads; 0 parts are not checked."""
    heads = node.integer("num_heads", 0)
    if heads > 0:
        node.quotient(at, parts * heads, Element("num_heads", heads))


@runtime_shapes_of("Attention", "DecoderMaskedSelfAttention", "QAttention")
def attention(node: Operands) -> Outputs:
    """Inputs [batch, length, features] times weights for queries, keys and values, side by side."""
    mask, past = (5, 8) if node.operator == "QAttention" else (3, 4)
    node.is_positive("num_heads")
    data = node.shape(0, 3)
    weights = 1
    matrix = node.shape(weights, 2)
    bias = node.shape(2, 1)
    if matrix is not None and data is not None:
        node.equal((0, 2), (weights, 0))
    stated_sizes = node.length("qkv_hidden_sizes")
    if matrix is not None and bias is not None and node.given(2):
        node.equal((weights, 1), (2, 0))
    _divides(node, (weights, 1), _PROJECTIONS if matrix is not None and not stated_sizes else 0)
    node.shape(past, 5)
    if stated_sizes and node.has_count("qkv_hidden_sizes", stated_sizes, _PROJECTIONS):
        _are_widths(node)
    if node.operator == "Attention" and not node.problems and not node.integer("past_present_share_buffer", 0):
        matrix_form, size = ("[? 3*W]", "W") if not stated_sizes else ("", "@qkv_hidden_sizes.1")
        past_form = f"past[2 b @num_heads p {size}/@num_heads] attention_bias[1|b 1|@num_heads s p+s]"
        require((f"x[b s ?] weights{matrix_form} bias mask {past_form} - ->",), node)
    if data is None:
        return UNKNOWN
    batch, length, _ = data
    if node.operator != "DecoderMaskedSelfAttention":
        _fits_mask(node, mask, past)
    keys, values = _hidden_sizes(node, weights)
    heads = number_of(node, "num_heads")
    before = of_rank(node, past, 5)
    present: Shape = (2, batch, heads, None, divide(keys, heads))
    if node.integer("past_present_share_buffer", 0):
        present = before
    elif not node.given(past):
        present = (2, batch, heads, length, divide(keys, heads))
    elif before is not None:
        present = (2, batch, heads, add(before[3], length), before[4])
    return [(batch, length, values), present]


def _are_widths(node: Operands) -> None:
    """Note widths of queries, keys and values that are not positive multiples of the number of heads."""
    sizes, heads = node.integers("qkv_hidden_sizes") or (), node.integer("num_heads", 0)
    if not node.at_least(1, sizes, "qkv_hidden_sizes") or heads < 1:
        return
    for index, size in enumerate(sizes):
        if size % heads:
            node.indivisible(Element("qkv_hidden_sizes", size, index), heads, Element("num_heads", heads))


def _fits_mask(node: Operands, index: int, past: int) -> None:
    """Note a mask of texts, of each text and key, or of each text, query and key that is of another size; there are as
    many keys as queries, and those of a past.

    A mask of each text and key may be [1, 1] or [batch, 1], which masks nothing.
    """
    mask = node.shape(index, at_least=_TEXTS, at_most=_BUFFER)
    if mask is None:
        return
    if len(mask) == _BUFFER:
        require(("x[b ? ?] w b mask[b 1 m m] ... ->",), node)
        return
    if len(mask) == _TEXTS:
        _fits_texts(node, index, lambda batch: (2 * batch, 3 * batch + 2))
        return
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


_TEXTS = 1
"""The rank of a mask of texts: the ends, the ends and starts, or lengths and both cumulative lengths."""


_PAIRS = 3
"""The rank of a mask of each text, query and key."""

_BUFFER = 4
"""The rank of a mask of all places of a buffer."""


def _hidden_sizes(node: Operands, weights: int) -> tuple[Dim, Dim]:
    """Return the features of keys and of values, from the attribute or as equal parts of the weights."""
    stated = node.integers("qkv_hidden_sizes")
    if stated:
        sizes = [size if size >= 0 else None for size in stated]
        return (sizes[1], sizes[2]) if len(sizes) == _PROJECTIONS else (None, None)
    matrix = of_rank(node, weights, 2)
    each = divide(matrix[1], _PROJECTIONS) if matrix is not None else None
    return each, each


_PROJECTIONS = 3
"""Queries, keys and values."""


@runtime_shapes_of("PackedAttention")
def packed_attention(node: Operands) -> Outputs:
    """As Attention, of the tokens of all texts one behind the other."""
    data = of_rank(node, 0, 2)
    return UNKNOWN if data is None else [(data[0], _hidden_sizes(node, 1)[1])]


@runtime_shapes_of("PackedMultiHeadAttention")
def packed_multi_head_attention(node: Operands) -> Outputs:
    """As MultiHeadAttention, of the tokens of all texts one behind the other."""
    query, value = of_rank(node, 0, 2, 4), of_rank(node, 2, 2)
    if query is None:
        return UNKNOWN
    if len(query) > _MATRIX:
        return [(query[0], multiply(query[1], query[3]))]
    return [(query[0], value[1] if value is not None else None)]


_MATRIX = 2


@runtime_shapes_of("MultiHeadAttention")
def multi_head_attention(node: Operands) -> Outputs:
    """Queries [batch, length, features] against keys and values, or all in one [batch, length, heads, 3, size]."""
    query = _queries(node)
    node.shape(6, 4)
    if query is not None or node.fact(0).shape is None:
        for index in (1, 2):
            if node.given(index):
                node.equal((0, 0), (index, 0))
        _fits_padding(node)
    if query is None:
        return UNKNOWN
    batch, length = query[:2]
    heads = number_of(node, "num_heads")
    size = query[4] if len(query) > _FEATURES else divide(query[2], heads)
    features, count = _values(node, query), _keys(node, query)
    past = of_rank(node, 6, 4)
    whole: Dim = None
    if not node.given(6):
        whole = count
    elif past is not None and not node.given(_BUFFER_LENGTH):
        whole = add(past[2], count)
    elif past is not None:
        whole = past[2]  # the buffer is updated in place
    of_value = divide(features, heads)
    present = (batch, heads, whole, size), (batch, heads, whole, of_value)
    return [(batch, length, features), *present, (batch, heads, length, None)]


def _fits_padding(node: Operands) -> None:
    """Note a mask of the keys that is of another size; the keys of a past come before those that the node gets."""
    mask = node.shape(_KEY_MASK, at_least=_TEXTS, at_most=_PAIRS)
    if mask is None:
        return
    if len(mask) == _TEXTS:
        _fits_texts(node, _KEY_MASK, lambda batch: (3 * batch + 2,))
        return
    node.equal((0, 0), (_KEY_MASK, 0))
    if len(mask) == _PAIRS:
        node.equal((0, 1), (_KEY_MASK, 1))
    key = node.fact(1).shape
    if node.given(6):
        past = of_rank(node, 6, 4)
        if past is not None and not node.given(_BUFFER_LENGTH) and key is not None and len(key) == _FEATURES:
            node.same((_KEY_MASK, len(mask) - 1), add(past[2], key[1]), node.place(6, 2))
        return
    if node.given(1) and (key is None or len(key) < _FEATURES):
        return
    keys = (0, 1) if not node.given(1) else (1, 2 if len(key or ()) == _BY_HEADS else 1)
    node.equal(keys, (_KEY_MASK, len(mask) - 1))


_KEY_MASK = 4
"""The input with the mask of MultiHeadAttention."""


def _queries(node: Operands) -> Dims | None:
    """The shape of the queries; other ranks than ONNX Runtime takes for these and for the values are noted."""
    node.is_positive("num_heads")
    query = node.fact(0).shape
    # Keys are as wide as queries.
    wide = 0 if isinstance(node.dim(0, 2), int) else 1
    _divides(node, (wide, 2), int(len(node.fact(wide).shape or ()) == _FEATURES))
    node.shape(2, at_least=3, at_most=4)
    if query is not None and len(query) not in (_FEATURES, _PACKED):
        # Of two ranks, the one that is nearer.
        rank = _FEATURES if len(query) < _PACKED else _PACKED
        node.wrong_rank(0, rank, rank)
        return None
    return query


_FEATURES, _PACKED = 3, 5
"""The rank of what has its heads side by side, and of queries, keys and values in one."""

_BUFFER_LENGTH = 8
"""The input that says how much of a shared buffer is filled."""


def _values(node: Operands, query: Dims) -> Dim:
    """Return the features of the result: those of the values."""
    if len(query) > _FEATURES:
        return multiply(query[2], query[4])
    key, value = of_rank(node, 1, 5), of_rank(node, 2, 3, 4)
    if value is not None:
        return value[2] if len(value) == _FEATURES else multiply(value[1], value[3])
    if node.given(2):
        return None
    return multiply(key[2], key[4]) if key is not None else None


def _keys(node: Operands, query: Dims) -> Dim:
    """Return the number of new keys: that of the queries if they come together."""
    if len(query) > _FEATURES:
        return query[1]
    key = of_rank(node, 1, 3, 4, 5)
    if key is None:
        return None
    return key[2] if len(key) == _BY_HEADS else key[1]


_BY_HEADS = 4
"""The rank of keys [batch, heads, length, size]."""


@runtime_shapes_of("DecoderMaskedMultiHeadAttention")
def masked_attention(node: Operands) -> Outputs:
    """As MultiHeadAttention for one query; the states may share a buffer, so their shapes are unknown."""
    query = _queries(node)
    return UNKNOWN if query is None or len(query) != _FEATURES else [(*query[:2], _values(node, query))]


@runtime_shapes_of("GroupQueryAttention", "SparseAttention")
def grouped_attention(node: Operands) -> Outputs:
    """Queries [batch, length, features], or with the keys and values behind them, which several queries share."""
    query = of_rank(node, 0, 3)
    is_packed = not node.given(1)
    if node.operator == "GroupQueryAttention":
        query = node.shape(0, 3)
        _refused_groups(node, query, is_packed=is_packed)
        if not is_packed:
            node.equal((0, 0), (1, 0))
    if query is None and node.problems:
        return UNKNOWN
    heads, shared = number_of(node, "num_heads"), number_of(node, "kv_num_heads")
    size: Dim = None
    by = 0
    if isinstance(heads, int) and isinstance(shared, int):
        size = divide(node.dim(0, 2), heads + 2 * shared if is_packed else heads)
        if not isinstance(size, int) and of_rank(node, 1, 3) is not None:
            size, by = divide(node.dim(1, 2), shared), 1
    if node.operator == "GroupQueryAttention":
        _fits_cache(node, size, by)
    if query is None:
        return UNKNOWN
    features = multiply(size, heads) if is_packed else query[2]
    output = (*query[:2], features)
    if node.operator == "SparseAttention":
        return [output, node.shape(3), node.shape(4)]
    return [output, *_cache(node, (query[0], shared, None, size))]


def _refused_groups(node: Operands, query: Shape, *, is_packed: bool) -> None:
    """Note what ONNX Runtime refuses: no heads, a past of another rank, numbers that the heads cannot share, and heads
    whose size is not a multiple of 8.
    """
    are_positive = node.is_positive("num_heads") and node.is_positive("kv_num_heads")
    node.shape(3, 4)
    heads, shared = node.integer("num_heads"), node.integer("kv_num_heads")
    if not are_positive or query is None or heads is None or shared is None:
        return
    width, count = query[2], heads + 2 * shared if is_packed else heads
    if not isinstance(width, int):
        return
    if is_packed and width % count:
        node.indivisible(InputDimension(0, 2, width), count)
    elif not width % count and width // count % _HEAD_STEP:
        node.indivisible(InputDimension(0, 2, width), _HEAD_STEP * count, Element("num_heads", heads))


def _fits_cache(node: Operands, size: Dim, by: int) -> None:
    """Note caches with another size of heads, unless their elements are packed, and another number of lengths than
    that of texts. The input `by` says the size.
    """
    are_packed = any(node.given(index) and node.fact(index).kind != node.fact(0).kind for index in (3, 4))
    if isinstance(size, int):
        for index in (3, 4):
            if node.given(index) and node.fact(index).kind == node.fact(0).kind:
                node.same((index, 3), size, node.place(by, 2))
    elif not are_packed:
        node.equal((3, 3), (4, 3))
        node.quotient((3, 3), _HEAD_STEP)
    lengths = node.shape(5, at_least=1)
    if lengths is not None and len(lengths) == 1:
        if of_rank(node, 3, 4) is not None:
            node.equal((0, 0), (3, 0))
        node.equal((0, 0), (5, 0))


_HEAD_STEP = 8
"""ONNX Runtime refuses to run GroupQueryAttention with heads of any other size than a multiple of this."""


def _cache(node: Operands, known: Dims) -> Sequence[Shape]:
    """Return keys and values after the step: as before it, except for the length, unless they share a buffer."""
    found = []
    for index in (3, 4):
        before = of_rank(node, index, 4)
        last = before[3] if before is not None else None
        # A cache of few bits has several numbers in an element. The cache itself determines how many.
        found.append((*known[:3], known[3] if not node.given(index) else last))
    return found
