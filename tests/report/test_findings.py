# SPDX-License-Identifier: Apache-2.0
"""A diagnostic has its place as text for those who read it."""

from __future__ import annotations

import pickle

import pytest
from support.models.places import place_at
from support.reports.made_up_report import error

from onnx_lint.ir.places.place import Place
from onnx_lint.report.file_report import InternalError
from onnx_lint.report.findings import ProposedEdit, RelatedPlace


@pytest.mark.parametrize(
    "placed",
    [
        lambda place: error(at=place),
        lambda place: RelatedPlace(place, "defined here", None),
        lambda place: ProposedEdit(place, "delete"),
    ],
    ids=["diagnostic", "related place", "edit"],
)
def test_a_place_is_a_path_and_a_pointer(placed):
    found = placed(place_at("graph.node[3].input[0]"))
    assert (found.place, found.pointer) == ("graph.node[3].input[0]", "/graph/node/3/input/0")
    assert pickle.loads(pickle.dumps(found)) == found


def test_the_whole_document_has_the_name_of_its_kind():
    found = error(at=Place(None, "tensor"))
    assert (found.place, found.pointer) == ("tensor", "")


def test_an_internal_error_may_have_a_place():
    error_at = InternalError("rule", "KeyError", "", at=place_at("graph.node[3]"))
    assert [each.place for each in (error_at, InternalError("rule", "KeyError", ""))] == ["graph.node[3]", None]


@pytest.mark.parametrize(
    ("keyword", "refused_by", "counted_under"),
    [
        ("practice", (("onnxruntime", "1.17"),), "target"),
        ("MUST", (("onnxruntime", "1.17"),), None),
        ("practice", (), None),
    ],
)
def test_an_error_that_only_a_program_makes_counts_as_one_of_the_target(keyword, refused_by, counted_under):
    assert error(keyword=keyword, refused_by=refused_by).counted_under == counted_under
