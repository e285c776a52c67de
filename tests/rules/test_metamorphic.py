# SPDX-License-Identifier: Apache-2.0
"""The same content gives the same findings in another form and at another place.

Each rule's text fixtures whose content is a plain main graph are written as bytes and as text again, moved into a
branch of an If, and moved into the body of a function; the findings are compared whole.
"""

from __future__ import annotations

from collections.abc import Callable

import moving
import pytest
from fixture_files import FIXTURES, Fixture, diagnostics_of, fixtures, lint
from google.protobuf import text_format
from messages import message_of

from onnx_lint.loader import load
from onnx_lint.model import Model, Proto
from onnx_lint.report import Diagnostic
from onnx_lint.source import BytesSource

RULES = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())

AT_LEAST = {"bytes": 1150, "branch": 560, "faulty branch": 330, "function": 280, "faulty function": 150}
"""How many fixtures take part at least: a condition that shuts out too many must not go unnoticed."""


def _of(rule: str) -> list[Fixture]:
    return [fixture for fixture in fixtures() if fixture.rule == rule and fixture.is_metamorphic]


def _loads_from_text(fixture: Fixture) -> bool:
    model = fixture.model()
    return model.loaded and model.form == "textproto"


def _model(fixture: Fixture, data: bytes, name: str) -> Model:
    target = fixture.settings.target
    return load(BytesSource(data), name, fixture.standard, fixture.model().directory, fixture.limits, target=target)


def _whole(diagnostic: Diagnostic) -> tuple[object, ...]:
    """All of a diagnostic but the bytes, which text does not have."""
    fields = {name: getattr(diagnostic, name) for name in ("pointer", "clause", "keyword", "anchor", "scope")}
    fields |= moving.comparable(diagnostic)
    return tuple(sorted((name, str(value)) for name, value in fields.items()))


def _sorted(diagnostics: list[dict[str, object]]) -> list[str]:
    """As texts, so that a failure shows what differs; the move changes the order in which findings stand."""
    return sorted(str(sorted(diagnostic.items())) for diagnostic in diagnostics)


@pytest.mark.parametrize("rule", RULES)
def test_text_and_bytes_give_the_same_findings(rule: str):
    for fixture in filter(_loads_from_text, _of(rule)):
        written = [_whole(diagnostic) for diagnostic in diagnostics_of(fixture)]
        proto = message_of(fixture.model())
        data = proto.SerializePartialToString(deterministic=True)
        in_bytes = lint(_model(fixture, data, "model.onnx"), fixture.settings)
        assert [_whole(diagnostic) for diagnostic in in_bytes] == written, fixture.id
        for diagnostic in in_bytes:
            assert diagnostic.byte_range is not None, fixture.id
            start, end = diagnostic.byte_range
            assert 0 <= start <= end <= len(data), fixture.id
        text = text_format.MessageToString(type(proto).FromString(data)).encode()
        in_text = lint(_model(fixture, text, "model.textproto"), fixture.settings)
        assert [_whole(diagnostic) for diagnostic in in_text] == written, fixture.id


def _movable(fixture: Fixture, can_move: Callable[[Proto, tuple[Diagnostic, ...]], bool]) -> bool:
    return _loads_from_text(fixture) and can_move(message_of(fixture.model()), diagnostics_of(fixture))


def _assert_moved(fixture: Fixture, move: Callable[[Proto], Proto], prefix: str) -> None:
    proto = message_of(fixture.model())
    expected = [moving.expected(diagnostic, prefix, proto.graph.name) for diagnostic in diagnostics_of(fixture)]
    data = move(proto).SerializePartialToString(deterministic=True)
    found = lint(_model(fixture, data, "model.onnx"), fixture.settings)
    assert _sorted([moving.comparable(diagnostic) for diagnostic in found]) == _sorted(expected), fixture.id


@pytest.mark.parametrize("rule", RULES)
def test_a_branch_has_the_findings_of_the_main_graph(rule: str):
    for fixture in _of(rule):
        if _movable(fixture, moving.can_move_into_branch):
            _assert_moved(fixture, moving.moved_into_branch, moving.BRANCH)


@pytest.mark.parametrize("rule", RULES)
def test_a_function_has_the_findings_of_the_main_graph(rule: str):
    for fixture in _of(rule):
        if _movable(fixture, moving.can_move_into_function):
            _assert_moved(fixture, moving.moved_into_function, moving.BODY)


def test_enough_fixtures_take_part():
    able = [fixture for rule in RULES for fixture in _of(rule)]
    in_branch = [fixture for fixture in able if _movable(fixture, moving.can_move_into_branch)]
    in_function = [fixture for fixture in able if _movable(fixture, moving.can_move_into_function)]
    counts = {
        "bytes": sum(map(_loads_from_text, able)),
        "branch": len(in_branch),
        "faulty branch": sum(not fixture.is_valid for fixture in in_branch),
        "function": len(in_function),
        "faulty function": sum(not fixture.is_valid for fixture in in_function),
    }
    assert {name: count for name, count in counts.items() if count < AT_LEAST[name]} == {}, counts
