# SPDX-License-Identifier: Apache-2.0
"""Attention: for each query a mixture of values, weighed by how well their keys fit the query."""

from __future__ import annotations

from onnx_lint.common.record import Record
from onnx_lint.inference.shapes.dims import Dim, Dims, Shape, add, multiply, unified
from onnx_lint.inference.shapes.operands import Operands, Outputs
from onnx_lint.inference.shapes.problem import Element, InputDimension, Unequal, WrongRank
from onnx_lint.inference.shapes.registration import register_rule

_BATCH, HEAD, _LENGTH, _SIZE = range(4)
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
        """Return the axis of the input that has a dimension."""
        return _PACKED_AXES[axis] if self.is_packed else axis


@register_rule("Attention")
def attention(node: Operands) -> Outputs:
    """Infer the output, packed if the query is, and the past concatenated with keys and values."""
    query = _part(node, _QUERY, "q_num_heads")
    key, value = _part(node, _KEY, "kv_num_heads"), _part(node, _VALUE, "kv_num_heads")
    if node.version < _PACKED_ONLY and not node.problems:
        _check_ranks_agree(node)  # the function of later versions takes inputs of several ranks
    _check_packed_heads(node, "q_num_heads", _QUERY)
    _check_packed_heads(node, "kv_num_heads", _KEY, _VALUE)
    past_key, past_value = _past(node, _PAST_KEY), _past(node, _PAST_VALUE)
    parts = (query, key, value, past_key, past_value)
    # Of the parts with a size the first is what the message says.
    agree(node, _BATCH, key, query)
    agree(node, _SIZE, key, query)
    agree(node, _BATCH, value, key, query)
    agree(node, HEAD, value, key)
    agree(node, _LENGTH, value, key)
    # Only its length may differ between the past of an input and the input.
    agree(node, _BATCH, past_key, key, query, value)
    agree(node, HEAD, past_key, key, value)
    agree(node, _SIZE, past_key, key, query)
    agree(node, _BATCH, past_value, value, key, query, past_key)
    agree(node, HEAD, past_value, value, key, past_key)
    agree(node, _SIZE, past_value, value)
    agree(node, _LENGTH, past_value, past_key)
    check_shared_heads(node, query, first_with(HEAD, *parts[1:]) or key)
    batch = _known(_BATCH, *parts)
    if node.shape(_UNPADDED, 1) is not None:
        node.equal(((first_with(_BATCH, *parts) or query).index, 0), (_UNPADDED, 0))
    shared = _known(HEAD, *parts[1:])
    size, of_value = _known(_SIZE, query, key, past_key), _known(_SIZE, value, past_value)
    length = _known(_LENGTH, key, value)
    if node.given(_PAST_KEY) or node.given(_PAST_VALUE):
        length = add(_known(_LENGTH, past_key, past_value), length)
    heads, steps = query.dims[HEAD], query.dims[_LENGTH]
    _check_mask(node, (batch, heads, steps, length), shared)
    present = (batch, shared, length)
    output: Shape = None
    if node.fact(_QUERY).shape is not None:
        output = (batch, steps, multiply(heads, of_value)) if query.is_packed else (batch, heads, steps, of_value)
    return [output, (*present, size), (*present, of_value), (batch, heads, steps, length)]


def _check_ranks_agree(node: Operands) -> None:
    """Record query, keys or values that do not have 3 dimensions each, or 4 each."""
    ranks = [len(node.fact(index).shape or ()) for index in (_QUERY, _KEY, _VALUE)]
    known = [(index, rank) for index, rank in enumerate(ranks) if rank in (PACKED, SPLIT)]
    other = next((index for index, rank in known if rank != known[0][1]), None)
    if other is not None:
        first, rank = known[0]
        node.wrong_rank(other, rank, rank, first)


def _part(node: Operands, index: int, name: str) -> HeadInput:
    """Return an input; a packed one is divided into the number of heads in an attribute."""
    shape = node.shape(index, at_least=PACKED, at_most=SPLIT)
    heads = node.integer(name)
    if shape is None:
        # Whatever its rank, it has as many heads.
        return HeadInput(index, (None, heads if heads and heads > 0 else None, None, None), True)
    if len(shape) == SPLIT:
        if node.version < _PACKED_ONLY and heads is not None and heads > 0:
            node.same((index, HEAD), heads, Element(name, heads))
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


def _check_packed_heads(node: Operands, name: str, *indices: int) -> None:
    """Check that a number of heads is given only for inputs of 3 dimensions."""
    heads = node.integer(name)
    if heads is None or node.version < _PACKED_ONLY:
        return
    if all(len(node.fact(index).shape or ()) == SPLIT for index in indices):
        reason = "it is only for inputs of 3 dimensions"
        node.wrong_value(name, heads, reason, allowed=f"no {name}, or inputs of 3 dimensions", about_data=True)


def _past(node: Operands, index: int) -> HeadInput:
    return HeadInput(index, node.shape(index, SPLIT) or (None,) * SPLIT)


def first_with(axis: int, *parts: HeadInput) -> HeadInput | None:
    """Return the first part with a known size in an axis."""
    return next((part for part in parts if isinstance(part.dims[axis], int)), None)


def _known(axis: int, *parts: HeadInput) -> Dim:
    """Return a dimension that all parts share."""
    found: Dim = None
    for part in parts:
        found = unified(found, part.dims[axis])
    return found


def agree(node: Operands, axis: int, other: HeadInput, *likes: HeadInput) -> None:
    """Record a size that differs from that of the first of other parts that has one."""
    one, found = first_with(axis, *likes), other.dims[axis]
    if one is None or not isinstance(found, int) or found == one.dims[axis]:
        return
    place, expected = node.place(other.index, other.axis(axis)), one.dims[axis]
    if axis == _SIZE and other.is_packed:
        expected = multiply(expected, other.dims[HEAD])
    if isinstance(place, InputDimension) and isinstance(expected, int):
        node.problems.append(Unequal(place, expected, node.place(one.index, one.axis(axis))))


def check_shared_heads(node: Operands, query: HeadInput, key: HeadInput) -> None:
    """Record heads of queries that are not a multiple of the heads of keys."""
    heads, shared = query.dims[HEAD], key.dims[HEAD]
    if not (isinstance(heads, int) and isinstance(shared, int) and shared) or heads % shared == 0:
        return
    by = Element("kv_num_heads", shared) if key.is_packed else node.place(key.index, HEAD)
    place = Element("q_num_heads", heads) if query.is_packed else InputDimension(query.index, HEAD, heads)
    node.indivisible(place, shared, by)


def _check_mask(node: Operands, scores: Dims, shared: Dim) -> None:
    """Record a mask that cannot be broadcast to the scores of queries and keys. `shared`: the heads of keys."""
    mask = node.shape(_MASK, at_most=SPLIT)
    if not isinstance(scores[HEAD], int) and node.dim(_MASK, HEAD - SPLIT) != 1:
        node.quotient((_MASK, HEAD - SPLIT), shared)
    for axis in range(-len(mask or ()), 0):
        dim, expected = node.dim(_MASK, axis), scores[axis]
        may_be_shorter = axis == -1 and node.version >= _SHORT_MASK
        if isinstance(dim, int) and isinstance(expected, int) and dim != 1 and (dim > expected or not may_be_shorter):
            node.same((_MASK, axis), expected, None)
        elif isinstance(dim, int) and dim > 1 and isinstance(expected, str) and not may_be_shorter:
            node.narrow((_MASK, axis), dim, expected)
