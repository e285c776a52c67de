# SPDX-License-Identifier: Apache-2.0
"""SparseAttention and GatedDeltaNet of ONNX Runtime (com.microsoft): block masks, and packed heads."""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import are_sizes
from onnx_lint.inference.shapes.operands import Operands
from onnx_lint.inference.shapes.problem import InputDimension, Unequal

# --- SparseAttention


def check_block_mask(node: Operands) -> None:
    """Record row pointers of a block mask that decrease, and column indices that are no blocks.

    The masks are matrices of compressed sparse rows, [layouts, pointers] and [layouts, columns]. A layout has as many
    columns as its last row pointer says; later ones fill the matrix.
    """
    pointers = node.shape_of_rank(node.input("block_row_indices"), 2)
    columns = node.shape_of_rank(node.input("block_col_indices"), 2)
    if pointers is None or columns is None or pointers[0] != columns[0]:
        return
    pointer_count, column_count = pointers[1], columns[1]
    if isinstance(pointer_count, int) and isinstance(column_count, int) and pointer_count > 0:
        _check_row_pointers(node, pointer_count, column_count)
        if not node.problems:
            _check_columns(node, pointer_count, column_count)


def _check_row_pointers(node: Operands, pointer_count: int, column_count: int) -> None:
    """Record the first row pointer that is less than the one before it, or more than the columns of a layout.

    The first one of a layout is 0.
    """
    index = node.input("block_row_indices")
    pointers = node.content(index) or ()
    for at, pointer in enumerate(pointers):
        least, most = (pointers[at - 1], column_count) if at % pointer_count else (0, 0)
        if isinstance(pointer, int) and isinstance(least, int) and not least <= pointer <= most:
            allowed = f"{least} to {most}" if least < most else f"{most}"
            node.wrong_value(index, pointer, index=at, allowed=allowed)
            return


def _check_columns(node: Operands, pointer_count: int, column_count: int) -> None:
    """Record the first column index that is none of the blocks in a row: one less than the row pointers."""
    index = node.input("block_col_indices")
    pointers, columns = node.content(node.input("block_row_indices")) or (), node.content(index) or ()
    blocks = pointer_count - 1
    for layout, end in enumerate(pointers[blocks::pointer_count]):
        begin = layout * column_count
        for at, column in enumerate(columns[begin:][: end if isinstance(end, int) else 0]):
            if isinstance(column, int) and not 0 <= column < blocks:
                node.wrong_value(index, column, index=begin + at, allowed=f"0 to {blocks - 1}")
                return


# --- GatedDeltaNet


def check_packed_width(node: Operands) -> None:
    """Record a width of packed queries, keys and values that no number of query heads makes.

    The shape of the state is [batch, value heads, value size, key size].
    """
    state_index, place = node.input("initial_state"), node.place(0, -1)
    state = node.shape_of_rank(state_index, 4)
    if node.given(node.input("key")) or state is None or not are_sizes(state) or not isinstance(place, InputDimension):
        return
    _, value_heads, value_size, key_size = state
    if value_heads > _MAX_HEADS:
        return
    query_heads = [each for each in range(1, value_heads + 1) if value_heads % each == 0]
    widths = [value_heads * value_size + 2 * heads * key_size for heads in query_heads]
    if widths and place.size not in widths:
        node.problems.append(Unequal(place, widths[-1], node.place(state_index, 3), others=tuple(widths[:-1])))


_MAX_HEADS = 1_000
"""The most heads whose divisors are counted."""
