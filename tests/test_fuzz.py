# SPDX-License-Identifier: Apache-2.0
"""A short run of the fuzz target, the same inputs each time; docs/fuzzing.md tells of the long one."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from fuzz.corpus import Seed, seeds
from fuzz.grammar import models
from fuzz.mutation import BYTES, FIELDS, mutated
from fuzz.oracle import SETTINGS, problem_of
from fuzz.run import Run, save
from fuzz.tree import parse, serialize
from hypothesis import HealthCheck, given, settings

from onnx_lint import engine, loader
from onnx_lint.model import Model
from onnx_lint.source import BytesSource

COUNT = 600


@pytest.mark.parametrize("part", range(10))
def test_mutated_files_give_reports(part: int):
    failed = {}
    for number in range(part, COUNT, 10):
        given = mutated(0, number)
        problem = problem_of(given, number)
        if problem is not None:
            failed[number] = (given.name, problem)
    assert failed == {}


def test_models_are_read_alike_with_and_without_the_outline(monkeypatch: pytest.MonkeyPatch):
    """What is read by the outline of the schema alone, and by the whole schema first, has the same findings."""
    quick = loader._regular
    went = {True: 0, False: 0}

    def counted(*arguments: Any) -> Model | None:
        model = quick(*arguments)
        went[model is not None] += 1
        return model

    for number in range(600):
        given = mutated(1, number)
        if not given.is_text and given.proto is None:
            monkeypatch.setattr(loader, "_regular", counted)
            by_outline = engine.lint_source(BytesSource(given.data), "model.onnx", SETTINGS[number % len(SETTINGS)])
            monkeypatch.setattr(loader, "_regular", lambda *_: None)
            by_all = engine.lint_source(BytesSource(given.data), "model.onnx", SETTINGS[number % len(SETTINGS)])
            assert by_outline == by_all, given.name
    assert went[True] > 50
    assert went[False] > 10


@settings(
    max_examples=60,
    derandomize=True,  # the same models each time, and no database
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),  # slow and large models are what is wanted
)
@given(models())
def test_made_models_give_reports(data: bytes):
    assert problem_of(Seed("made", data, is_text=False), len(data)) is None


def test_an_input_depends_on_the_seed_and_its_number_alone():
    assert mutated(7, 3) == mutated(7, 3)
    assert mutated(7, 3) != mutated(8, 3)


def test_the_inputs_reach_the_rules():
    """Most inputs parse, and few are the same: mutation is neither too wild nor too tame."""
    inputs = [mutated(0, number) for number in range(400)]
    assert len({given.data for given in inputs}) > 350
    assert len({given.name for given in inputs}) > 200
    parsed = Counter(parse(given.data, given.message) is not None for given in inputs if not given.is_text)
    assert parsed[True] > parsed[False]
    assert len(BYTES) >= 6
    assert len(set(FIELDS)) >= 6


@pytest.mark.parametrize("seed", [seed for seed in seeds() if not seed.is_text][::40], ids=lambda seed: seed.name)
def test_a_tree_is_written_as_it_was_read(seed):
    fields = parse(seed.data, seed.message)
    if fields is not None:
        assert parse(serialize(fields), seed.message) == fields


def test_a_rule_that_crashes_is_a_failure(monkeypatch: pytest.MonkeyPatch):
    def crash(*_: object) -> None:
        raise RuntimeError("the fault")

    monkeypatch.setattr(engine, "diagnose", crash)
    problem = problem_of(Seed("made", b"\x08\x0a", is_text=False), 0)
    assert problem is not None
    assert "RuntimeError: the fault" in problem


def test_a_run_finds_and_saves_what_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Workers are forked, so they see the patched target."""

    def fail(seed: int, number: int) -> str | None:
        if number == 13:
            raise SystemExit(9)
        return "the problem" if number == 7 else None

    monkeypatch.setattr("fuzz.run.check", fail)
    monkeypatch.setattr("multiprocessing.Process", __import__("multiprocessing").get_context("fork").Process)
    run = Run(seed=0, first=0, end=40, jobs=2)
    run.go()
    assert run.problems == {7: "the problem", 13: "the process ended with code 9"}
    save(run, tmp_path)
    saved = {path.stem for path in tmp_path.iterdir()}
    assert saved == {"0-7", "0-13"}
