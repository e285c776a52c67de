# SPDX-License-Identifier: Apache-2.0
"""The same content gives the same findings in another form and at another place.

Each rule's text fixtures whose content is a plain main graph are written as bytes and as text again, moved into a
branch of an If, into the body of a function, and into a file with an attribute or a node; the findings are compared.
The default run takes a third of the fixtures that the slow tests take, one of a rule in twenty; the heavy tests take
the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import pytest
from google.protobuf import text_format
from support.models import relocated_graphs as moving
from support.models.messages import message_of
from support.project.fixture_files import FIXTURES, Fixture, fixtures, fixtures_of, lint

from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Proto
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.releases import normalized_domain
from onnx_lint.spec.target import NO_TARGET

RULES = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir())
GROUPS = {
    f"{group[0]} to {group[-1]}": group for group in (RULES[start : start + 8] for start in range(0, len(RULES), 8))
}
"""The rules, eight in a group: fewer tests, and still several for the processes that share them."""

SLOW = slice(None, None, 20)
"""The fixtures of each rule that the slow tests take."""

DEFAULT = slice(None, None, 3)
"""Those of them that the default run takes, of the rules of a group together."""

SAMPLED = 4
"""One fixture in so many is written as text again."""

COUNTED = 16
"""One fixture in so many is looked at to see how many take part."""

AT_LEAST = {"bytes": 150, "branch": 80, "faulty branch": 50, "function": 70, "faulty function": 40}
"""The least part of the sample that is used: a condition that excludes too many must not go unnoticed."""


@dataclass(frozen=True)
class Written:
    """A fixture in text form that takes part, with its message and its findings."""

    fixture: Fixture
    proto: Proto
    diagnostics: tuple[Diagnostic, ...]

    def can(self, move: Callable[[Proto, tuple[Diagnostic, ...]], bool]) -> bool:
        return move(self.proto, self.diagnostics)

    def lint(self, data: bytes, name: str) -> tuple[Diagnostic, ...]:
        """The findings of other bytes under the settings of the fixture."""
        settings, directory = self.fixture.settings, self.fixture.directory
        source = BytesSource(data)
        model = load(source, name, settings.standard, directory, settings.limits, target=settings.target)
        return lint(model, settings)


def _written(candidates: Iterable[Fixture]) -> list[Written]:
    found = []
    for fixture in candidates:
        model = fixture.model() if fixture.is_metamorphic else None
        if model is not None and model.loaded and model.form == "textproto":
            found.append(Written(fixture, message_of(model), lint(model, fixture.settings)))
    return found


def _slow(rules: Iterable[str]) -> list[Fixture]:
    return [fixture for rule in rules for fixture in fixtures_of(rule)[SLOW]]


def _default(rules: Iterable[str]) -> list[Fixture]:
    return _slow(rules)[DEFAULT]


def _others(rules: Iterable[str]) -> list[Fixture]:
    slow = _slow(rules)
    return [fixture for rule in rules for fixture in fixtures_of(rule) if fixture not in slow]


@pytest.fixture(
    scope="module",
    params=[
        *(pytest.param((_default, group), id=name) for name, group in GROUPS.items()),
        *(
            pytest.param((choose, group), id=f"{name}, {kind}", marks=marker)
            for choose, kind, marker in ((_slow, "of each", pytest.mark.slow), (_others, "others", pytest.mark.heavy))
            for name, group in GROUPS.items()
        ),
    ],
)
def written(request: pytest.FixtureRequest) -> list[Written]:
    """Fixtures of a group. The scope is the module, so that the three tests of a group share one run."""
    chosen, group = request.param
    return _written(chosen(group))


def _whole(diagnostic: Diagnostic) -> tuple[object, ...]:
    """All of a diagnostic but the bytes, which text does not have."""
    fields = {name: getattr(diagnostic, name) for name in ("at", "cited", "around")}
    fields |= moving.comparable(diagnostic)
    return tuple(sorted((name, str(value)) for name, value in fields.items()))


def _sorted(diagnostics: list[dict[str, object]]) -> list[str]:
    """Return the findings as sorted texts, so that a failure shows the difference: the move changes their order."""
    return sorted(str(sorted(diagnostic.items())) for diagnostic in diagnostics)


def test_text_and_bytes_give_the_same_findings(written: list[Written]):
    for number, each in enumerate(written):
        expected = [_whole(diagnostic) for diagnostic in each.diagnostics]
        data = each.proto.SerializePartialToString(deterministic=True)
        in_bytes = each.lint(data, "model.onnx")
        assert [_whole(diagnostic) for diagnostic in in_bytes] == expected, each.fixture.id
        for diagnostic in in_bytes:
            assert diagnostic.byte_range is not None, each.fixture.id
            start, end = diagnostic.byte_range
            assert 0 <= start <= end <= len(data), each.fixture.id
        if number % SAMPLED == 0:
            text = text_format.MessageToString(type(each.proto).FromString(data)).encode()
            in_text = each.lint(text, "model.textproto")
            assert [_whole(diagnostic) for diagnostic in in_text] == expected, each.fixture.id


def _assert_moved(each: Written, move: Callable[[Proto], Proto], prefix: str) -> None:
    expected = [moving.expected(diagnostic, prefix, each.proto.graph.name) for diagnostic in each.diagnostics]
    data = move(each.proto).SerializePartialToString(deterministic=True)
    found = each.lint(data, "model.onnx")
    assert _sorted([moving.comparable(diagnostic) for diagnostic in found]) == _sorted(expected), each.fixture.id


def test_a_branch_has_the_findings_of_the_main_graph(written: list[Written]):
    for each in written:
        # A program refuses the operator that gives the condition, as it is of a domain of its own.
        if each.can(moving.can_move_into_branch) and not each.fixture.settings.target.programs:
            _assert_moved(each, moving.moved_into_branch, moving.BRANCH)


def test_a_function_has_the_findings_of_the_main_graph(written: list[Written]):
    for each in written:
        # The import of another version is proposed for the model alone.
        has_import = any((found.hint or "").startswith("import version") for found in each.diagnostics)
        if each.can(moving.can_move_into_function) and not has_import:
            _assert_moved(each, moving.moved_into_function, moving.BODY)


@pytest.mark.parametrize("kind", ["AttributeProto", "NodeProto"])
def test_a_file_with_a_subgraph_has_its_findings(written: list[Written], kind: str):
    for each in written:
        if not each.can(moving.can_move_into_file) or each.fixture.settings.target != NO_TARGET:
            continue
        held = moving.moved_into_attribute(each.proto)
        node = held.graph.node[0]
        inside = each.lint(held.SerializePartialToString(deterministic=True), "model.onnx")
        prefix, message = (moving.HELD, node.attribute[0]) if kind == "AttributeProto" else (moving.HOLDER, node)
        imports = {normalized_domain(entry.domain): entry.version for entry in held.opset_import}
        source = BytesSource(message.SerializePartialToString(deterministic=True))
        settings, directory = each.fixture.settings, each.fixture.directory
        model = load(source, "part.pb", settings.standard, directory, settings.limits, kind, opset_imports=imports)
        undefined = [each.place.removeprefix(f"{prefix}.") for each in inside if each.rule == "undefined-name"]
        # In a file of its own, an output that nothing defines may be a value from outside.
        found = [
            (each.rule, each.place)
            for each in lint(model, settings)
            if each.rule not in moving.OF_MODELS and not (each.rule == "outer-scope-output" and each.place in undefined)
        ]
        expected = [
            (each.rule, each.place.removeprefix(f"{prefix}."))
            for each in inside
            if each.place.startswith(moving.HELD) and each.rule not in moving.OF_MODELS
        ]
        assert sorted(found) == sorted(expected), (each.fixture.id, kind)


def test_enough_fixtures_take_part():
    able = _written(fixtures()[::COUNTED])
    in_branch = [each for each in able if each.can(moving.can_move_into_branch)]
    in_function = [each for each in able if each.can(moving.can_move_into_function)]
    counts = {
        "bytes": len(able),
        "branch": len(in_branch),
        "faulty branch": sum(not each.fixture.is_valid for each in in_branch),
        "function": len(in_function),
        "faulty function": sum(not each.fixture.is_valid for each in in_function),
    }
    assert {name: count for name, count in counts.items() if count < AT_LEAST[name]} == {}, counts
