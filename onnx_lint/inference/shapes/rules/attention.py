# SPDX-License-Identifier: Apache-2.0
"""Attention: for each query a mixture of values, weighed by how well their keys fit the query."""

from __future__ import annotations

from onnx_lint.common.record import Record
from onnx_lint.inference.shapes.dims import Dim, Dims, Shape, add, multiply, unified
from onnx_lint.inference.shapes.operands import Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, InputDimension, Unequal, WrongRank
from onnx_lint.inference.shapes.registration import shapes_of

_BATCH, _HEAD, _LENGTH, _SIZE = range(4)
_QUERY, _KEY, _VALUE, _MASK, _PAST_KEY, _PAST_VALUE, _UNPADDED = range(7)

PACKED, SPLIT = 3, 4
"""The ranks of [batch, length, heads * size] and of [batch, heads, length, size]."""

_PACKED_AXES = (0, 2, 1, 2)
"""The axes of batch, heads, length and size in a packed input."""

_PACKED_ONLY = 25
"""The first version whose numbers of heads consumers require only for inputs of 3 dimensions, as the text says."""

_SHORT_MASK = 24
"""The first version that allows a mask to be shorter than the keys."""


class HeadInput(Record):
    """An input as batch, heads, length and size."""

    index: int
    dims: Dims
    is_packed: bool = False

    def axis(self, axis: int) -> int:
        """The axis of the input that has a dimension."""
        return _PACKED_AXES[axis] if self.is_packed else axis


@shapes_of("Attention")
def attention(node: Operands) -> Outputs:
    """The past is concatenated before keys and values; the output is packed if the query is."""
    query = _part(node, _QUERY, "q_num_heads")
    key, value = _part(node, _KEY, "kv_num_heads"), _part(node, _VALUE, "kv_num_heads")
    ranks = [len(node.fact(index).shape or ()) for index in (_QUERY, _KEY, _VALUE)]
    # The function of later versions takes inputs of several ranks.
    if node.version < _PACKED_ONLY and not node.problems and {PACKED, SPLIT} <= set(ranks):
        first, rank = next((index, rank) for index, rank in enumerate(ranks) if rank in (PACKED, SPLIT))
        other = next(index for index in range(first, len(ranks)) if ranks[index] == PACKED + SPLIT - rank)
        node.wrong_rank(other, rank, rank, first)
    _is_for_packed(node, "q_num_heads", _QUERY)
    _is_for_packed(node, "kv_num_heads", _KEY, _VALUE)
    agree(node, query, key, _BATCH, _SIZE)
    agree(node, key, value, _BATCH, _HEAD, _LENGTH)
    shares(node, query, key)
    past_key, past_value = _past(node, _PAST_KEY, key), _past(node, _PAST_VALUE, value)
    agree(node, past_key, past_value, _LENGTH)
    if node.shape(_UNPADDED, 1) is not None:
        node.equal((_QUERY, 0), (_UNPADDED, 0))
    parts = (query, key, value, past_key, past_value)
    batch = _known(_BATCH, *parts)
    shared = _known(_HEAD, *parts[1:])
    size, of_value = _known(_SIZE, query, key, past_key), _known(_SIZE, value, past_value)
    length = _known(_LENGTH, key, value)
    if node.given(_PAST_KEY) or node.given(_PAST_VALUE):
        length = add(_known(_LENGTH, past_key, past_value), length)
    heads, steps = query.dims[_HEAD], query.dims[_LENGTH]
    _fits_mask(node, (batch, heads, steps, length))
    present = (batch, shared, length)
    output: Shape = None
    if node.fact(_QUERY).shape is not None:
        output = (batch, steps, multiply(heads, of_value)) if query.is_packed else (batch, heads, steps, of_value)
    return [output, (*present, size), (*present, of_value), (batch, heads, steps, length)]


def _part(node: Operands, index: int, name: str) -> HeadInput:
    """Return an input; a packed one is divided into the number of heads in an attribute."""
    shape = node.shape(index, at_least=PACKED, at_most=SPLIT)
    if shape is None:
        return HeadInput(index, (None,) * SPLIT)
    heads = node.integer(name)
    if len(shape) == SPLIT:
        if node.version < _PACKED_ONLY and heads is not None and heads > 0:
            node.same((index, _HEAD), heads, Element(name, heads))
        return HeadInput(index, shape)
    batch, length, _ = shape
    if heads is None:
        # Only this attribute says how the last dimension is divided.
        if not any(isinstance(each, WrongRank) and each.like == name for each in node.problems):
            node.wrong_rank(index, SPLIT, SPLIT, name)
        return HeadInput(index, (batch, None, length, None), True)
    if heads < 1:
        return HeadInput(index, (batch, None, length, None), True)
    return HeadInput(index, (batch, heads, length, node.quotient((index, 2), heads, Element(name, heads))), True)


def _is_for_packed(node: Operands, name: str, *indices: int) -> None:
    """Check that a number of heads is given only for inputs of 3 dimensions."""
    heads = node.integer(name)
    if heads is None or node.version < _PACKED_ONLY:
        return
    if all(len(node.fact(index).shape or ()) == SPLIT for index in indices):
        reason = "it is only for inputs of 3 dimensions"
        node.wrong_value(name, heads, reason, allowed=f"no {name}, or inputs of 3 dimensions", about_data=True)


def _past(node: Operands, index: int, part: HeadInput) -> HeadInput:
    """Return the past of an input. Only its length may differ from the input."""
    past = HeadInput(index, node.shape(index, SPLIT) or (None,) * SPLIT)
    agree(node, part, past, _BATCH, _HEAD, _SIZE)
    return past


def _known(axis: int, *parts: HeadInput) -> Dim:
    """Return a dimension that all parts share."""
    found: Dim = None
    for part in parts:
        found = unified(found, part.dims[axis])
    return found


def agree(node: Operands, one: HeadInput, other: HeadInput, *axes: int) -> None:
    """Record dimensions of the second part that differ from those of the first."""
    for axis in axes:
        expected, found = one.dims[axis], other.dims[axis]
        if not (isinstance(expected, int) and isinstance(found, int)) or expected == found:
            continue
        place = node.place(other.index, other.axis(axis))
        if not isinstance(place, InputDimension):
            continue
        if axis == _SIZE and other.is_packed:
            expected = multiply(expected, other.dims[_HEAD])
        if isinstance(expected, int):
            by = node.place(one.index, one.axis(axis))
            node.problems.append(Unequal(place, expected, by))


def shares(node: Operands, query: HeadInput, key: HeadInput) -> None:
    """As many heads of queries share each head of keys."""
    heads, shared = query.dims[_HEAD], key.dims[_HEAD]
    if not (isinstance(heads, int) and isinstance(shared, int) and shared) or heads % shared == 0:
        return
    by = Element("kv_num_heads", shared) if key.is_packed else node.place(key.index, _HEAD)
    place = Element("q_num_heads", heads) if query.is_packed else InputDimension(query.index, _HEAD, heads)
    node.indivisible(place, shared, by)


def _fits_mask(node: Operands, scores: Dims) -> None:
    """The mask is broadcast to the scores of queries and keys."""
    mask = node.shape(_MASK, at_most=SPLIT)
    for axis in range(-len(mask or ()), 0):
        dim, expected = node.dim(_MASK, axis), scores[axis]
        may_be_shorter = axis == -1 and node.version >= _SHORT_MASK
        if isinstance(dim, int) and isinstance(expected, int) and dim != 1 and (dim > expected or not may_be_shorter):
            node.same((_MASK, axis), expected, None)
