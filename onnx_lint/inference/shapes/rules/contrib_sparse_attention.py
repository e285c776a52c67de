# SPDX-License-Identifier: Apache-2.0
"""SparseAttention and GatedDeltaNet of ONNX Runtime (com.microsoft): block masks, and packed heads."""

from __future__ import annotations

from onnx_lint.inference.shapes.operands import Operands
from onnx_lint.inference.shapes.problem import InputDimension, Unequal

# --- SparseAttention


def check_block_mask(node: Operands) -> None:
    """Record rows of a block mask that do not follow each other, and columns that do not exist.

    Rows and columns have the shape [layouts, numbers]. Each layout has the columns up to the last number of its rows;
    later ones fill the matrix.
    """
    rows = node.shape_of_rank(node.input("block_row_indices"), 2)
    columns = node.shape_of_rank(node.input("block_col_indices"), 2)
    if rows is None or columns is None or rows[0] != columns[0]:
        return
    width, most = rows[1], columns[1]
    if isinstance(width, int) and isinstance(most, int) and width > 0:
        _check_rows(node, width, most)
        if not node.problems:
            _check_columns(node, width, most)


def _check_rows(node: Operands, width: int, most: int) -> None:
    """Record the first row that does not begin at the end of the one before. `most`: the columns of a layout."""
    index = node.input("block_row_indices")
    numbers = node.content(index) or ()
    for at, number in enumerate(numbers):
        least, limit = (numbers[at - 1], most) if at % width else (0, 0)
        if isinstance(number, int) and isinstance(least, int) and not least <= number <= limit:
            allowed = f"{least} to {limit}" if least < limit else f"{limit}"
            node.wrong_value(index, number, index=at, allowed=allowed)
            return


def _check_columns(node: Operands, width: int, most: int) -> None:
    """Record the first column of a block that is not one of the blocks."""
    index = node.input("block_col_indices")
    ends, columns = node.content(node.input("block_row_indices")) or (), node.content(index) or ()
    for layout, end in enumerate(ends[width - 1 :: width]):
        begin = layout * most
        for at, column in enumerate(columns[begin:][: end if isinstance(end, int) else 0]):
            if isinstance(column, int) and not 0 <= column < width - 1:
                node.wrong_value(index, column, index=begin + at, allowed=f"0 to {width - 2}")
                return


# --- GatedDeltaNet


def check_packed_width(node: Operands) -> None:
    """Record a width of packed queries, keys and values that no number of heads of queries makes.

    The state [batch, heads of values, size of values, size of keys] says how wide a value and a key are.
    """
    state_index, place = node.input("initial_state"), node.place(0, -1)
    sizes = [each for each in node.shape_of_rank(state_index, 4) or () if isinstance(each, int)]
    if node.given(node.input("key")) or len(sizes) != 4 or not isinstance(place, InputDimension):
        return
    _, groups, value, key = sizes
    if groups > _MAX_HEADS:
        return
    widths = [groups * value + 2 * heads * key for heads in range(1, groups + 1) if groups % heads == 0]
    if widths and place.size not in widths:
        node.problems.append(Unequal(place, widths[-1], node.place(state_index, 3), others=tuple(widths[:-1])))


_MAX_HEADS = 1_000
"""The most heads whose divisors are counted."""
