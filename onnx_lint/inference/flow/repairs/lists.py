# SPDX-License-Identifier: Apache-2.0
"""The contents of constant lists that exporters get wrong: the shape of a Reshape, and the sizes of a Split."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from onnx_lint.inference.flow.repairs.change import Change, describe_input
from onnx_lint.inference.flow.repairs.edits import with_list
from onnx_lint.inference.shapes.dims import are_sizes
from onnx_lint.inference.shapes.fact import fact
from onnx_lint.inference.shapes.operands import Operands
from onnx_lint.ir.graph import Node
from onnx_lint.wording import describe_list

_MAX_ELEMENTS: Final = 20
"""The most elements of a list that is changed."""


def list_changes(node: Node, operands: Operands) -> Iterator[Change]:
    """Yield other contents of the list that is input 1 of a Reshape or Split."""
    contents_for = _CONTENTS.get(operands.operator)
    given = operands.fact(1)
    content = given.content if contents_for is not None else None
    if contents_for is None or not are_sizes(content) or len(content) > _MAX_ELEMENTS:
        return
    for each in contents_for(content, operands):
        yield _changed_list(node, operands, each)


def _changed_list(node: Node, operands: Operands, content: tuple[int, ...]) -> Change:
    given = operands.fact(1)
    return Change(
        f"{describe_list(content)} as {describe_input(node, 1)}",
        lambda _: with_list(node, 1, content),
        inputs={1: fact(given.kind, given.shape, content)},
    )


def with_element(content: Sequence[int], index: int, element: int) -> tuple[int, ...]:
    """Return a list with another element."""
    return (*content[:index], element, *content[index + 1 :])


def _shapes_with_one_open(content: Sequence[int], _: Operands) -> Iterator[tuple[int, ...]]:
    """Yield the shape with -1 (computed) in place of each element, then with 0 (copied)."""
    for value in (-1, 0):
        for index in range(len(content)):
            yield with_element(content, index, value)


def _sizes_that_add_up(content: Sequence[int], operands: Operands) -> Iterator[tuple[int, ...]]:
    """Yield the sizes of parts with another size for each of them, so that together they are the dimension."""
    shape, axis = operands.fact(0).shape or (), operands.integer("axis", 0)
    size = shape[axis] if -len(shape) <= axis < len(shape) else None
    if isinstance(size, int):
        rest = size - sum(content)
        for index, part in enumerate(content):
            yield with_element(content, index, part + rest)


_CONTENTS: Final = {
    "Reshape": _shapes_with_one_open,
    "Split": _sizes_that_add_up,
    "SplitToSequence": _sizes_that_add_up,
}
"""The functions that yield the contents to try, by operator."""
