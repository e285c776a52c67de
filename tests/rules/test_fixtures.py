# SPDX-License-Identifier: Apache-2.0
"""Each fixture gets exactly the verdict that is written in it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from difflib import ndiff
from pathlib import Path

import pytest
from support.project.blessed import BLESSED
from support.project.built_in_rules import RULES
from support.project.fixture_files import (
    FIXTURES,
    Fixture,
    as_line,
    bless,
    diagnostics_of,
    fixture_paths,
    fixtures_of,
    lacks_numpy,
    linted,
    read_fixture,
)
from support.project.sampled import one_in
from support.project.unasked_rules import missed, with_all_rules
from support.reports.wording_faults import wording_faults
from support.wire.annotated_hex import parse_hex


def _paths() -> list[Path]:
    return sorted(fixture_paths())


def _lines(fixture: Fixture) -> list[str]:
    found = linted(fixture)
    return [as_line(diagnostic, found.form) for diagnostic in found.diagnostics]


def _problems(fixture: Fixture) -> Iterator[str]:
    """Yield what is wrong with the verdict on a fixture."""
    lines = _lines(fixture)
    if list(fixture.expected) != lines:
        yield "\n".join(["another verdict:", *ndiff(fixture.expected, lines)])
    yield from wording_faults(linted(fixture).diagnostics)
    if not fixture.is_valid and not any(f"[{fixture.rule}] " in line for line in lines):
        yield f"no finding of {fixture.rule} itself"
    if fixture.is_valid and fixture.expected:
        yield "a valid fixture has no expect lines"


def _bless(fixture: Fixture, config: pytest.Config) -> None:
    # Twice: the lines of the verdict shift the lines of the text, which a message may name.
    changed = [bless(fixture, _lines(read_fixture(fixture.path))) for _ in range(2)]
    if any(changed):
        config.stash[BLESSED].append(fixture.id)


@pytest.mark.parametrize("rule", RULES)
def test_the_verdict_is_the_one_in_the_file(rule: str, request: pytest.FixtureRequest):
    own = fixtures_of(rule)
    if request.config.getoption("--bless"):
        for fixture in own:
            if not fixture.is_valid:
                _bless(fixture, request.config)
        own = tuple(read_fixture(fixture.path) for fixture in own)
    own = tuple(fixture for fixture in own if not lacks_numpy(fixture))
    problems = [f"{fixture.id}: {problem}" for fixture in own for problem in _problems(fixture)]
    broken = {item.clause for fixture in own for item in diagnostics_of(fixture) if item.rule == rule}
    if len(own) == len(fixtures_of(rule)):
        problems += [f"no fixture breaks {clause}" for clause in RULES[rule].rule.clauses if clause not in broken]
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


SAMPLED = 12
"""One fixture of a rule in this many is checked with the rules that do not apply to it."""


@one_in(3)
def test_a_rule_finds_nothing_in_fixtures_that_lack_what_it_is_about(step: int):
    found: dict[str, list[str]] = {}
    sample = [fixture for rule in RULES for fixture in fixtures_of(rule)[::SAMPLED]][::step]
    for settings, stating in itertools.groupby(sample, lambda fixture: fixture.settings):
        all_rules = with_all_rules(settings)
        found |= {fixture.id: missed(fixture.model(), all_rules) for fixture in stating}
    assert {name: missing for name, missing in found.items() if missing} == {}


def test_every_file_in_the_folder_is_a_fixture():
    data = set(FIXTURES.glob("*/*/data/**/*"))
    strangers = set(FIXTURES.rglob("*")) - set(_paths()) - data - {FIXTURES / "README.md"}
    assert sorted(str(path) for path in strangers if path.is_file()) == []


def test_a_fixture_states_its_settings(tmp_path: Path):
    path = tmp_path / "cycle" / "invalid" / "one.textproto"
    path.parent.mkdir(parents=True)
    path.write_text(
        "# One line of prose.\n# edition: 1.16\n# target: onnx-without-ml\n# select: cycle, undefined-name\n"
        "# expect: error[cycle] graph: message: with colon\n# expect: note[cycle] model: another\n\nir_version: 4\n"
    )
    fixture = read_fixture(path)
    assert (fixture.rule, fixture.is_valid, fixture.prose) == ("cycle", False, ("One line of prose.",))
    assert fixture.expected == ("error[cycle] graph: message: with colon", "note[cycle] model: another")
    settings = fixture.settings
    assert (settings.standard.edition, settings.standard.variant) == ("1.16", "onnx")
    assert settings.select == ("cycle", "undefined-name")


def test_blessing_replaces_the_verdict_and_nothing_else(tmp_path: Path):
    path = tmp_path / "cycle" / "invalid" / "one.textproto"
    path.parent.mkdir(parents=True)
    path.write_text("# Prose.\n# edition: 1.16\n# expect: old\n\n# expect: no header\nir_version: 4\n")
    assert bless(read_fixture(path), ["new", "newer"])
    blessed = "# Prose.\n# edition: 1.16\n# expect: new\n# expect: newer\n\n# expect: no header\nir_version: 4\n"
    assert path.read_text() == blessed
    assert not bless(read_fixture(path), ["new", "newer"])


def test_annotated_hex():
    text = '# comment 00\n08 0a 3A07  # "more"\n"a#\\n\\x00\\"\\\\é" ff'
    assert parse_hex(text) == b'\x08\x0a\x3a\x07a#\n\x00"\\\xc3\xa9\xff'


def test_fixture_ids_are_not_shared():
    stems = [path.with_suffix("") for path in _paths()]
    assert len(stems) == len({*stems}), "two files differ only in their suffix"
