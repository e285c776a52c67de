# SPDX-License-Identifier: Apache-2.0
"""Findings of one cause are one, the first by its place, in whatever order the file has its fields."""

from __future__ import annotations

from itertools import permutations

from onnx_lint.common.record import replace
from onnx_lint.library import lint
from onnx_lint.report import Diagnostic, fold

PLACES = ("graph.node[2].input[0]", "graph.node[2].attribute[0].g.node[0].input[0]", "graph.node[10].input[0]")


def _diagnostic(place: str, cause: str | None) -> Diagnostic:
    (found, *_) = lint(b'{"graph": 1}').diagnostics
    return replace(found, place=place, message=f"at {place}", related=(), cause=cause)


def test_the_least_place_counts_the_others():
    for order in permutations(PLACES):
        (found,) = fold([_diagnostic(place, "a cause") for place in order])
        assert (found.place, found.count) == (PLACES[0], 3)
        assert [related.place for related in found.related] == list(PLACES[1:])
        assert [member.place for member in found.members] == list(PLACES)


def test_findings_without_a_cause_stay_as_they_are():
    found = [_diagnostic(place, None) for place in PLACES]
    assert fold(found) == tuple(found)
