# SPDX-License-Identifier: Apache-2.0
"""The length of a Slice with a negative step is right for every size of its variable, or unknown."""

from __future__ import annotations

from support.models.shape_samples import size_of

from onnx_lint.inference.shapes.rules.gathering import _numbered_length

TO_THE_FRONT = -(2**31)


def _length(size: int, start: int, end: int, step: int) -> int:
    """By the description: the start is clipped to an element, the end to one or to before the first."""
    if not size:
        return 0
    first = min(max(start + size if start < 0 else start, 0), size - 1)
    last = min(max(end + size if end < 0 else end, -1), size - 1)
    return len(range(first, last, step))


def test_the_length_of_a_backward_slice():
    known = 0
    for start in range(-5, 6):
        for end in (*range(-5, 6), TO_THE_FRONT):
            for step in (-1, -2, -3):
                found = _numbered_length("N", start, end, step)
                if found is None:
                    continue
                known += 1
                for size in range(12):
                    assert size_of(found, {"N": size}) == _length(size, start, end, step), (start, end, step, size)
    assert known > 200


def test_a_slice_from_the_last_element_has_a_short_length():
    assert _numbered_length("N", -1, TO_THE_FRONT, -1) == "N"
    assert _numbered_length("N", -1, -4, -1) == "min(N, 3)"
    assert _numbered_length("N", -1, -4, -2) == "((min(N, 3) + 1)//2)"
    assert _numbered_length("N", -3, TO_THE_FRONT, -1) is None
