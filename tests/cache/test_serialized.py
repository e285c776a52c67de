# SPDX-License-Identifier: Apache-2.0
"""A report with any content is read as it was written."""

from __future__ import annotations

from collections.abc import Mapping

import onnx
import pytest
from support.baselines.measure import report_on
from support.models.places import place_at
from support.project.each_case import each_case
from support.reports import made_up_report

from onnx_lint.cache.serialized import KEPT, SENT, from_bytes, parsed, serialized, to_bytes
from onnx_lint.common.record import replace
from onnx_lint.ir.places.place import ROOT, Place
from onnx_lint.report.file_report import Counted, FileReport, InternalError, Shapes, Traffic, UnknownShapeCause
from onnx_lint.report.findings import ContextLine, ProposedEdit, ProposedFix

HOSTILE = made_up_report.HOSTILE


def test_every_part_of_a_report() -> None:
    found = made_up_report.error(context=(ContextLine("3", HOSTILE, (1, 2)),), scope=(HOSTILE,))
    for diagnostic in (found, made_up_report.warning(1), made_up_report.note()):
        report = FileReport(
            HOSTILE,
            1 << 70,
            (diagnostic,),
            shapes=Shapes(2, 1, (UnknownShapeCause("operator", HOSTILE, 1),)),
            counted=(Counted("rule", 1, ("one", "many")),),
            incomplete=("\ud83d\ude00 in two halves",),
            traffic=Traffic(1, 2, "etag"),
        )
        assert parsed(from_bytes(to_bytes(serialized(report)))) == report


@pytest.mark.parametrize("place", [ROOT, Place(None, "tensor"), place_at("graph.node[3].attribute[0].g.input[0]")])
def test_a_place(place: Place) -> None:
    report = FileReport("m.onnx", 1, (made_up_report.error(at=place),))
    assert parsed(from_bytes(to_bytes(serialized(report)))).diagnostics[0].at == place


@pytest.mark.parametrize("kinds", [KEPT, SENT])
def test_what_a_baseline_compares(kinds: Mapping[str, type]) -> None:
    """Of several wrong elements of a stored tensor, and of a cycle, whose other nodes are partners."""
    model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 21]>
        g (float[4] x) => (y, z) <int64[3] i = {9, 0, 7}> {
            y = Gather (x, i)
            a = Neg (b)
            b = Neg (a)
            z = Neg (b)
        }""")
    report = report_on(model)
    identities = [item.identity for item in report.diagnostics]
    assert any(each.single_faults and each.content for each in identities)
    assert any(fault.partners for each in identities for fault in each.parts)
    assert parsed(from_bytes(to_bytes(serialized(report, kinds))), kinds) == report


def test_a_fix_that_is_proposed() -> None:
    edits = (ProposedEdit(place_at("graph"), "delete"), ProposedEdit(place_at("graph.node[1]"), "move", 0))
    fix = ProposedFix("delete it", False, edits, ((3, 4, "AAAA"),))
    report = FileReport("m.onnx", 1, (made_up_report.error(fix=fix), made_up_report.error(fix=None)))
    assert parsed(from_bytes(to_bytes(serialized(report)))) == report


@pytest.mark.parametrize(
    "part",
    [
        {"internal_errors": (InternalError("rule", "KeyError", ""),)},
        {"incomplete": ["a list"]},
        {"not_verified": (("name", b"bytes"),)},
    ],
)
def test_what_cannot_be_kept(part: dict[str, object]) -> None:
    """A worker of a cluster can send it nevertheless, if it is part of a report."""
    report = replace(FileReport("\udcff.onnx", 1), **part)
    with pytest.raises(TypeError):
        serialized(report)
    if not part.keys() & {"incomplete", "not_verified"}:
        assert parsed(from_bytes(to_bytes(serialized(report, SENT))), SENT) == report


@each_case(
    "value",
    [None, [], {}, {"Path": ["/"]}, {"FileReport": []}, {"a": [], "b": []}, {"Severity": 9}, {"Counted": [1]}]
    + [{"Place": steps} for steps in ([], ["graph"], [None, None], ["graph", "3"], ["graph", True], None, 3)],
)
def test_what_is_no_report(value: object) -> None:
    with pytest.raises((ValueError, TypeError, KeyError)):
        parsed(value)
