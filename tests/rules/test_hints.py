# SPDX-License-Identifier: Apache-2.0
"""Whoever does literally what a hint says has one finding less, and no new one but those that it hid."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

import onnx
import pytest
from google.protobuf import text_format
from google.protobuf.message import Message
from support.fixes.obeyed import NotObeyedError, obey, ways_of
from support.models.everyday_mistakes import MISTAKES, everyday_mistakes
from support.models.slips import SLIPS, slip
from support.project.built_in_rules import RULES
from support.project.fixture_files import Fixture, fixtures_of
from support.project.sampled import one_in

from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.clauses import Severity

PROSE = {"mismatched-subgraph-signature", "excessive-nesting"}
"""Rules with a hint that describes a change in prose."""

OF_ANOTHER_PLACE = {"missing-opset-import", "unknown-external-key"}
"""Rules whose suggestion may change another place, or whose remaining text is another fault."""

SHAPES: Final = "incompatible-operand-shapes"
TYPES: Final = "mismatched-operand-type"

HIDDEN: Final[Mapping[str, tuple[str, str]]] = {
    "layers_of_torch": (SHAPES, "y"),
    "weights_transposed": (SHAPES, "s"),
    "two_weights_of_torch": (SHAPES, "y"),
    "name_misspelt_before_a_weight_of_torch": (SHAPES, "y"),
    "integer_that_two_nodes_use": (TYPES, "y"),
    "two_weights_of_torch_in_a_branch": (SHAPES, "a"),
    "two_weights_of_torch_in_a_function": (SHAPES, "c"),
    "weight_of_torch_around_a_branch": (SHAPES, "a"),
    "input_renamed_before_a_weight_of_torch": (SHAPES, "h"),
}
"""The mistakes with a second one that the first hides: the rule of the second, and an output of its node."""

Kind = tuple[str, str]
"""The rule and the clause of a fault."""


def _report(document: Message, fixture: Fixture | None) -> FileReport:
    settings = Settings() if fixture is None else fixture.settings
    directory = None if fixture is None else fixture.directory
    assert directory is None
    return lint_source(BytesSource(document.SerializeToString()), "m.onnx", _of_kind(settings, document))


def _of_kind(settings: Settings, document: Message) -> Settings:
    name = document.DESCRIPTOR.name
    return settings if name == "ModelProto" else Settings(settings.standard, proto=name)


def _kinds(report: FileReport, document: Message, hidden: tuple[str, str] | None) -> Counter[Kind]:
    """Count the faults by kind, except those of a rule at the node with an output."""
    found: Counter[Kind] = Counter()
    for item in report.diagnostics:
        for each in item.folding.members or (item,):
            if each.severity >= Severity.WARNING and not (hidden is not None and _is_at(each, document, *hidden)):
                found[each.rule, each.clause] += each.count
    return found


def _is_at(item: Diagnostic, document: Message, rule: str, output: str) -> bool:
    node = _node(document, item)
    return item.rule == rule and node is not None and output in node.output


def _node(document: Message, item: Diagnostic) -> onnx.NodeProto | None:
    """Return the innermost node around a finding."""
    message, found = document, None
    for field, index in item.at.key:
        if not isinstance(message, Message):
            break
        value = getattr(message, field)
        message = value if index is None else value[index]
        if isinstance(message, onnx.NodeProto):
            found = message
    return found


def _problems(
    document: Message, report: FileReport, fixture: Fixture | None, hidden: tuple[str, str] | None = None
) -> Iterator[tuple[str, str | None]]:
    """Yield each way of the report, and what is wrong with it. `hidden`: as in `HIDDEN`."""
    before = _kinds(report, document, hidden)
    for item in report.diagnostics:
        for way in ways_of(item):
            if item.rule in PROSE:
                yield way, None
                continue
            changed = type(document)()
            changed.CopyFrom(document)
            try:
                obey(changed, item, way)
            except NotObeyedError as error:
                yield way, f"not understood: {error}"
                continue
            yield way, _problem(item, before, _kinds(_report(changed, fixture), changed, hidden))


def _problem(item: Diagnostic, before: Counter[Kind], after: Counter[Kind]) -> str | None:
    is_gone = item.severity < Severity.WARNING or after[item.rule, item.clause] < before[item.rule, item.clause]
    caused = after - before
    return f"still there: {is_gone}, caused: {dict(caused)}" if caused or not is_gone else None


def _document(fixture: Fixture) -> Message | None:
    if not fixture.is_text or fixture.directory is not None:
        return None
    document: Message = getattr(onnx, fixture.proto or "ModelProto")()
    try:
        return text_format.Parse(fixture.text, document)
    except text_format.ParseError:
        return None


SAMPLED = 5
"""One faulty fixture of a rule in so many is mended by the default run."""


def _faulty(rule: str, step: int) -> Iterator[Fixture]:
    """Yield one faulty fixture of the rule in `step`."""
    return itertools.islice((each for each in fixtures_of(rule) if not each.is_valid), 0, None, step)


def _wrong(rule: str, step: int) -> list[tuple[str, str, str]]:
    """Return what is wrong with the hints of the rule's faulty fixtures, one in `step`."""
    wrong = []
    for fixture in () if rule in OF_ANOTHER_PLACE else _faulty(rule, step):
        document = _document(fixture)
        if document is not None:
            found = _problems(document, _report(document, fixture), fixture)
            wrong += [(fixture.id, way, problem) for way, problem in found if problem is not None]
    return wrong


@pytest.mark.parametrize("rule", RULES)
def test_a_hint_that_is_obeyed_mends_the_fixture(rule: str):
    assert _wrong(rule, SAMPLED) == []


@pytest.mark.slow
def test_a_hint_that_is_obeyed_mends_any_fixture():
    assert [each for rule in RULES for each in _wrong(rule, 1)] == []


@pytest.mark.parametrize("seed", [1, 2])
def test_a_hint_that_is_obeyed_mends_an_everyday_mistake(seed: int):
    wrong, count = [], 0
    for name, document in everyday_mistakes(len(MISTAKES), seed):
        report = lint_source(BytesSource(document.SerializeToString()), "m.onnx", Settings())
        found = [*_problems(document, report, None, HIDDEN.get(name.rpartition("_")[0]))]
        count += len(found)
        wrong += [(name, way, problem) for way, problem in found if problem is not None]
    assert wrong == []
    assert count >= 10


@one_in(8)
def test_most_hints_are_seen(step: int):
    faulty = [each for rule in RULES for each in _faulty(rule, 1)]
    documents = [(each, _document(each)) for each in faulty[::step]]
    reports = [_report(document, each) for each, document in documents if document is not None]
    least = 150 if step == 1 else 100 // step
    assert sum(len(ways_of(item)) for report in reports for item in report.diagnostics) > least


@pytest.mark.parametrize("name", SLIPS)
def test_the_first_finding_of_a_slip_says_what_to_do(name: str):
    document = slip(name)
    report = lint_source(BytesSource(document.SerializeToString()), "m.onnx", Settings())
    first = report.diagnostics[0]
    assert SLIPS[name][1] in f"{first.message} | {first.hint}"
    problems = _problems(document, report, None, HIDDEN.get(name))
    assert [problem for _, problem in problems if problem is not None] == []
