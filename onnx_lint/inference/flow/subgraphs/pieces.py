# SPDX-License-Identifier: Apache-2.0
"""The facts of values that several runs of a body, or several branches, produce."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import prod

from onnx_lint.common.record import Record
from onnx_lint.inference.shapes.dims import Shape, are_sizes, subtract, union
from onnx_lint.inference.shapes.element_values import MAX_PASSED
from onnx_lint.inference.shapes.fact import Content, Fact, Facts, fact
from onnx_lint.inference.shapes.operands import Inside, OutputShape


def with_content(made: Fact, content: Content) -> Fact:
    """Return a fact with known elements, if it is a tensor of so many."""
    if content is None or made.inside is not None or not are_sizes(made.shape) or prod(made.shape) != len(content):
        return made
    return fact(made.kind, made.shape, content)


def common_shape(one: OutputShape, other: OutputShape) -> OutputShape:
    """Return what is known of a value that has one of two shapes."""
    if isinstance(one, Inside) and isinstance(other, Inside):
        return _common_inside(one, other)
    if isinstance(one, Inside) or isinstance(other, Inside):
        return None
    return union(one, other)


def _common_inside(one: Inside, other: Inside) -> Inside:
    count = one.count if one.count == other.count else None
    if 0 in (one.count, other.count):
        # What is empty says nothing about the elements.
        full = other if one.count == 0 else one
        return Inside(full.shape, count, full.elements)
    elements = one.elements if one.elements == other.elements else ()
    parts = one.parts if one.parts == other.parts else ()
    whole = one.whole if one.whole == other.whole else None
    return Inside(common_shape(one.shape, other.shape), count, elements, parts, whole)


def stacked_facts(pieces: Sequence[Fact]) -> Fact:
    """Return the fact of a scan output, from its piece of each run."""
    shape = pieces[0].shape if all(each.shape == pieces[0].shape for each in pieces) else None
    made = fact(pieces[0].kind, (len(pieces), *shape) if shape is not None else None)
    contents = [each.content for each in pieces]
    known = [content for content in contents if content is not None]
    is_short = len(known) == len(contents) and sum(map(len, known)) <= MAX_PASSED
    return with_content(made, tuple(chain(*known)) if is_short else None)


class PieceChange(Record):
    """A scan output whose piece has another shape in a later run than in the first one."""

    index: int
    """The index among the outputs of the body."""
    run: int
    """The first run with another shape, from 0 on."""
    first: Fact
    """The piece of the first run."""
    later: Fact
    """The piece of that run."""


def changes_of_pieces(columns: Sequence[Facts], first: int) -> tuple[PieceChange, ...]:
    """Return the scan outputs whose pieces differ in shape.

    `columns`: the pieces of each scan output, by run. `first`: the index of the first scan output in the body.
    """
    found = []
    for index, pieces in enumerate(columns, first):
        run = next((run for run, each in enumerate(pieces) if _never_agree(pieces[0].shape, each.shape)), None)
        if run is not None:
            found.append(PieceChange(index=index, run=run, first=pieces[0], later=pieces[run]))
    return tuple(found)


def _never_agree(one: Shape, other: Shape) -> bool:
    """Return whether two shapes differ for all sizes of their variables."""
    if one is None or other is None:
        return False
    if len(one) != len(other):
        return True
    distances = [subtract(first, second) for first, second in zip(one, other, strict=True)]
    return any(isinstance(distance, int) and distance for distance in distances)
