# SPDX-License-Identifier: Apache-2.0
"""What lint promises to fix beside what is suppressed, `onnx-lint fix` fixes."""

from __future__ import annotations

from collections.abc import Iterator

import onnx
import pytest
from support.fixes.fixed import fixed_model
from support.fixes.fixtures import faulty_files
from support.project.sampled import one_in

from onnx_lint.common.record import replace
from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.engine.suppressions import Suppression
from onnx_lint.input.source import BytesSource
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.findings import Diagnostic
from onnx_lint.report.folding import unfold
from onnx_lint.rule import ALSO_SUPPRESSED

NAME = "model.onnx"


def _promised(data: bytes, settings: Settings) -> FileReport:
    return lint_source(BytesSource(data), NAME, settings)


def _not_made(data: bytes, settings: Settings, promised: list[Diagnostic], *, unsafe: bool) -> set[str]:
    """Return the rules of which promised fixes are not made because they would also fix what is suppressed."""
    outcome = fixed_model(BytesSource(data), settings, unsafe=unsafe)
    rules = {each.partition(":")[0] for each in outcome.repair.not_made if ALSO_SUPPRESSED in each}
    # Of a rule, those fixes may not be promised that change the index of what is suppressed.
    left = {(each.rule, each.subject) for each in unfold(outcome.report.diagnostics)}
    return {each.rule for each in promised if each.rule in rules and (each.rule, each.subject) in left}


def _suppressing_one(data: bytes, settings: Settings) -> Iterator[Settings]:
    """Yield settings that suppress one of the findings on a model beside which there is a fix."""
    found = unfold(_promised(data, settings).diagnostics)
    if len(found) > 1 and any(each.fix for each in found):
        for each in found[:MOST]:
            entry = Suppression("onnx-lint.toml: suppress[0]", each.rule, "known", place=each.place)
            yield replace(settings, suppressions=(entry,))


MOST = 6
"""The most findings of a fixture that are suppressed, one at a time."""


@one_in(20)
def test_no_promise_is_withdrawn(step: int):
    promised, broken = 0, []
    for name, data, settings in faulty_files(of_all_rules=True, one_in=step):
        for own in _suppressing_one(data, settings):
            report = _promised(data, own)
            fixes = [each for each in unfold(report.diagnostics) if each.fix is not None]
            promised += len(fixes)
            for unsafe in (False, True) if fixes else ():
                chosen = [each for each in fixes if each.fix is not None and (unsafe or each.fix.is_safe)]
                broken += [
                    (name, own.suppressions[0].place, rule) for rule in _not_made(data, own, chosen, unsafe=unsafe)
                ]
    assert promised > (140 if step == 1 else 0)
    assert broken == []


TWO_TEXTS = """<ir_version: 10, opset_import: ["": 21], metadata_props: ["a": "/home/jo/x", "b": "/home/jo/y"]>
g (float[2] x) => (float[2] y) { y = Relu (x) }"""


def test_the_message_counts_what_is_left():
    data = onnx.parser.parse_model(TWO_TEXTS).SerializeToString()
    entry = Suppression("onnx-lint.toml: suppress[0]", "private-path", "known", place="metadata_props[0]")
    settings = Settings(select=("private-path",))
    said = [
        each.fix.message
        for suppressions in ((), (entry,))
        for each in _promised(data, replace(settings, suppressions=suppressions)).diagnostics
        if each.fix is not None
    ]
    assert said == ["delete 2 private texts", "delete the private text, except what is suppressed"]


def test_a_rule_whose_fix_mends_what_is_suppressed_has_none():
    """The IR version at which metadata is allowed needs no input for the initializer."""
    model = onnx.parser.parse_model(
        '<ir_version: 3, opset_import: ["": 8]> g (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { y = Add (x, w) }'
    )
    model.graph.initializer[0].metadata_props.add(key="a", value="b")
    data = model.SerializeToString()
    entry = Suppression("onnx-lint.toml: suppress[0]", "initializer-without-input", "known")
    fixes = {}
    for suppressions in ((), (entry,)):
        found = _promised(data, Settings(suppressions=suppressions)).diagnostics
        fixes[suppressions] = {each.rule: each.fix is not None for each in found}["premature-feature"]
    assert fixes == {(): True, (entry,): False}


SIX_SUMS = """<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] y) {
  a = Relu (x) v0 = Sum (a) v1 = Sum (v0) v2 = Sum (v1) v3 = Sum (v2) v4 = Sum (v3) v5 = Sum (v4) y = Neg (v5)
}"""


@pytest.mark.parametrize(
    ("place", "left"),
    [
        # If Sum v0 were deleted, the index of v2 would be that of another node.
        ("graph.node[3]", ["v0", "v1", "v2"]),
        ("v2", ["v2"]),  # of so few nodes another clause is violated
        ("graph.node[1]", ["v0"]),
    ],
)
def test_what_is_suppressed_stays_and_is_still_suppressed(place: str, left: list[str]):
    data = onnx.parser.parse_model(SIX_SUMS).SerializeToString()
    entry = Suppression("onnx-lint.toml: suppress[0]", "ineffective-node", "known", place=place)
    settings = Settings(select=("ineffective-node",), suppressions=(entry,))
    fixes = {each.fix is not None for each in unfold(_promised(data, settings).diagnostics)}
    source = fixed_model(BytesSource(data), settings, unsafe=False).source
    nodes = onnx.ModelProto.FromString(source.read_at(0, source.size)).graph.node
    assert [node.output[0] for node in nodes if node.op_type == "Sum"] == left
    assert fixes == ({True, False} if len(left) == 3 else {True})
