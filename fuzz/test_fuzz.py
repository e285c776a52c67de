# SPDX-License-Identifier: Apache-2.0
"""The inputs of the byte fuzzer, its oracles with a fault for each, and its run."""

from __future__ import annotations

import math
import multiprocessing
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.wire.wire_bytes import BASE, GRAPH, length

from fuzz import costs, inputs, oracle, thresholds, truncation, twins, worker
from fuzz.corpus import JSON, TEXT, Seed, seeds
from fuzz.inputs import KINDS, input_of
from fuzz.minimise import kind_of, minimised
from fuzz.oracle import SETTINGS, problem_of
from fuzz.run import Run, save
from fuzz.tree import parse, serialize
from onnx_lint.engine import lint as engine
from onnx_lint.input.source import BytesSource
from onnx_lint.loader.binary import attempts
from onnx_lint.model import Model
from onnx_lint.report.file_report import FileReport

pytestmark = pytest.mark.slow

LEAST_SECONDS = costs.LEAST_SECONDS


@pytest.fixture(autouse=True)
def _no_limit_in_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other programs may slow down any input. `python -m fuzz.run` limits the time of each."""
    monkeypatch.setattr(costs, "LEAST_SECONDS", math.inf)


@pytest.fixture
def _limit_in_seconds(monkeypatch: pytest.MonkeyPatch, _no_limit_in_seconds: None) -> None:
    monkeypatch.setattr(costs, "LEAST_SECONDS", LEAST_SECONDS)
    for name in ("_slowness", "_usual_slowness"):
        monkeypatch.setattr(costs, name, lambda: 1.0)


def test_models_are_read_alike_with_and_without_the_outline(monkeypatch: pytest.MonkeyPatch):
    """The findings are the same if a model is read only with the outline of the schema, or first with the whole one."""
    quick = attempts._regular
    went = {True: 0, False: 0}

    def counted(*arguments: Any) -> Model | None:
        model = quick(*arguments)
        went[model is not None] += 1
        return model

    for number in range(150):
        given = input_of(1, number)
        if not given.is_text and given.proto is None and len(given.data) < 2000:
            monkeypatch.setattr(attempts, "_regular", counted)
            by_outline = engine.lint_source(BytesSource(given.data), "model.onnx", SETTINGS[number % len(SETTINGS)])
            monkeypatch.setattr(attempts, "_regular", lambda *_: None)
            by_all = engine.lint_source(BytesSource(given.data), "model.onnx", SETTINGS[number % len(SETTINGS)])
            assert by_outline == by_all, given.name
    assert went[True] > 25
    assert went[False] > 2


def test_an_input_depends_on_the_seed_and_its_number_alone():
    for number in range(len(KINDS)):
        assert input_of(7, number) == input_of(7, number)
    assert input_of(7, 3) != input_of(8, 3)


# --- what the inputs are


def test_the_inputs_reach_the_rules():
    """Most inputs parse, and few are the same: the mutations are neither too strong nor too weak."""
    found = [input_of(0, number) for number in range(400)]
    assert len({given.data for given in found}) > 350
    assert len({given.name for given in found}) > 200
    parsed = Counter(parse(given.data, given.message) is not None for given in found if not given.is_text)
    assert parsed[True] > parsed[False]
    assert {given.suffix for given in found} == {".onnx", TEXT, JSON}


def test_each_list_is_cut_at_each_byte():
    """In a row all cuts: of each list of the schema, at each byte behind its first element, and what may be left."""
    names = [truncation.cut(number)[0] for number in range(truncation.count())]
    lists = {f"{carrier.message}.{field.name}" for carrier, field in truncation.repeated()}
    assert {name.split(" ")[0] for name in names} == lists
    assert len(lists) > 50
    cuts = {truncation.cut(number)[1] for number in range(truncation.count())}
    assert len(cuts) > truncation.count() * 0.95


def test_two_runs_of_150_000_make_each_cut():
    turns = 150_000 // len(KINDS)
    made = {(turn + seed * truncation.count() // 2) % truncation.count() for seed in (1, 2) for turn in range(turns)}
    assert len(made) == truncation.count()


def test_some_lists_are_long_and_some_texts_never_end():
    made = [inputs.long_list(Random(number), 0) for number in range(48)]
    fields = [serialize(parse(given.data, given.message) or []) for given in made]
    assert sum(len(data) > 4096 for data in fields) > 1
    texts = [inputs.edited_text(Random(number), 0).data for number in range(2000)]
    assert any(text.count(b'\\"') > 500 for text in texts)
    assert any(text.count(b"{") > 500 for text in texts)


def test_a_tree_is_written_as_it_was_read():
    chosen = [seed for seed in seeds() if not seed.is_text][::40]
    trees = [(seed, parse(seed.data, seed.message)) for seed in chosen]
    parsed = [(seed, fields) for seed, fields in trees if fields is not None]
    assert len(parsed) > 0.8 * len(chosen)
    assert [seed.name for seed, fields in parsed if parse(serialize(fields), seed.message) != fields] == []


_READING = tuple(f"onnx_lint.{name}" for name in ("loader", "schema", "input.source", "ir.places", "ir.tensors"))
"""The modules that read the bytes of a file."""


def test_each_size_from_which_files_are_taken_otherwise_is_lowered():
    """A new constant of that sort is put into the one table or the other of thresholds.py.

    Bytes per something are what the estimate of memory multiplies with, and no threshold.
    """
    assert {name for _, name, _ in thresholds.constants()} == set(thresholds.LOWERED)
    words = ("BYTES", "LONG", "WINDOW", "PIECE", "SHALLOW")
    found = {
        name
        for module in thresholds.modules()
        if module.__name__.startswith(_READING)
        for name, value in vars(module).items()
        if isinstance(value, int) and name.isupper() and any(word in name for word in words)
        if "BYTES_PER_" not in name
    }
    assert {"WHOLE_BYTES", "PAYLOAD_BYTES", "PIECE_BYTES", "LONG_RUN"} <= found
    assert found - set(thresholds.LOWERED) == set(thresholds.KEPT)


def _whole_bytes() -> int:
    return next(vars(module)[name] for module, name, _ in thresholds.constants() if name == "WHOLE_BYTES")


def test_what_is_lowered_is_put_back():
    before = [(module, name, vars(module)[name]) for module, name, _ in thresholds.constants()]
    with thresholds.lowered(Random(0)):
        assert _whole_bytes() == 0
    assert _whole_bytes() == 1 << 22
    assert [(module, name, vars(module)[name]) for module, name, _ in thresholds.constants()] == before


def test_twins_are_other_bytes_of_the_same_message():
    written = Counter()
    for number in range(300):
        given = input_of(0, number)
        proto = twins.parsed(given) if given.suffix == ".onnx" else None
        made = twins.twin(given, proto, Random(number)) if proto is not None else None
        if made is not None and made[0].suffix == ".onnx":
            again = twins.parsed(made[0])
            same = again is not None and oracle._is_same(again, proto)
            written["same" if same else "not"] += made[0].data != given.data
    assert written["same"] > 60
    assert written["not"] == 0


# --- that faults are found


def _lints(monkeypatch: pytest.MonkeyPatch, judge: Any) -> None:
    """Pass each report of the engine through `judge`, which returns another one for the source and the report."""
    lint = engine.lint_source

    def judged(source: BytesSource, path: str, settings: Any) -> FileReport:
        return judge(source, lint(source, path, settings))

    monkeypatch.setattr(oracle, "lint_source", judged)


MODEL = Seed("made", BASE + length(7, GRAPH))


def test_a_rule_that_crashes_is_a_failure(monkeypatch: pytest.MonkeyPatch):
    def crash(*_: object) -> FileReport:
        raise RuntimeError("the fault")

    _lints(monkeypatch, crash)
    problem = problem_of(MODEL, 0)
    assert problem is not None
    assert "RuntimeError: the fault" in problem


def test_another_verdict_of_large_files_is_a_failure(monkeypatch: pytest.MonkeyPatch):
    assert problem_of(MODEL, 3) is None
    _lints(
        monkeypatch,
        lambda _, file: file if _whole_bytes() else oracle.replace(file, diagnostics=file.diagnostics[1:]),
    )
    problem = problem_of(MODEL, 3)
    assert problem is not None
    assert problem.startswith("as a large file")


def test_another_verdict_of_twins_is_a_failure(monkeypatch: pytest.MonkeyPatch):
    with_twins = range(1, 100, 3)
    assert [problem_of(MODEL, number) for number in with_twins] == [None] * len(with_twins)

    def judge(source: BytesSource, file: FileReport) -> FileReport:
        is_twin = source.read_at(0, source.size) != MODEL.data
        return file if not is_twin else oracle.replace(file, diagnostics=file.diagnostics[1:])

    _lints(monkeypatch, judge)
    problems = [problem for number in with_twins if (problem := problem_of(MODEL, number)) is not None]
    assert len(problems) > len(with_twins) // 2
    assert all(problem.startswith("a twin has other findings\n- ") for problem in problems)


@pytest.mark.usefixtures("_limit_in_seconds")
def test_what_is_slow_for_its_size_is_a_failure(monkeypatch: pytest.MonkeyPatch):
    def judge(_: BytesSource, file: FileReport) -> FileReport:
        until = time.process_time() + 1.2 * LEAST_SECONDS
        while time.process_time() < until:
            pass
        return file

    _lints(monkeypatch, judge)
    problem = problem_of(MODEL, 2)
    assert problem is not None
    assert "s of the processor for" in problem


@pytest.mark.usefixtures("_limit_in_seconds")
def test_a_slower_machine_gets_more_time(monkeypatch: pytest.MonkeyPatch):
    slow = costs.Cost(seconds=1.5 * LEAST_SECONDS)
    for slowness, is_excess in ((1.0, True), (2.0, False)):
        monkeypatch.setattr(costs, "_slowness", lambda slowness=slowness: slowness)
        assert (costs.excess(slow, 0, 0, lambda: slow) is not None) == is_excess


@pytest.mark.usefixtures("_limit_in_seconds")
def test_each_graph_may_take_memory_and_time():
    much = costs.Cost(memory=costs.LEAST_BYTES + 99 * costs.BYTES_PER_GRAPH)
    slow = costs.Cost(seconds=LEAST_SECONDS + 98.5 * costs.SECONDS_PER_GRAPH)
    for cost in (much, slow):
        for graphs, is_excess in ((98, True), (99, False)):
            assert (costs.excess(cost, 0, 0, lambda cost=cost: cost, graphs) is not None) == is_excess


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux reports the peak of a piece of work")
def test_what_takes_much_memory_for_its_size_is_a_failure(monkeypatch: pytest.MonkeyPatch):
    def judge(_: BytesSource, file: FileReport) -> FileReport:
        bytearray(2 * costs.LEAST_BYTES)
        return file

    _lints(monkeypatch, judge)
    problem = problem_of(MODEL, 2)
    assert problem is not None
    assert "MiB of memory for" in problem


def test_what_protobuf_refuses_must_not_conform(monkeypatch: pytest.MonkeyPatch):
    _lints(monkeypatch, lambda _, file: oracle.replace(file, diagnostics=(), not_judged=None))
    problem = problem_of(Seed("made", MODEL.data[:-1]), 2)
    assert problem == "Protocol Buffers refuses the file as ModelProto, and it is called conforming"


# --- the run


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers are forked, so that they see the patched target."""
    monkeypatch.setattr("multiprocessing.Process", multiprocessing.get_context("fork").Process)


@pytest.mark.usefixtures("forked")
def test_a_run_finds_and_saves_what_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def fail(given: Seed, number: int) -> str | None:
        if number == 13:
            raise SystemExit(9)
        if number == 21:
            while True:
                pass
        return "the problem" if number == 7 else None

    monkeypatch.setattr(worker, "problem_of", fail)
    monkeypatch.setattr(worker, "SECONDS", 0.5)
    monkeypatch.setattr("fuzz.run.MAX_MINIMISED", 1)
    run = Run(seed=0, first=0, end=40, jobs=2)
    run.go()
    assert run.problems.keys() == {7, 13, 21}
    assert run.problems[7] == "the problem"
    assert run.problems[13] == "the process ended with code 9"
    assert run.problems[21].startswith("more than 0.5 s of the processor\n")
    assert "while True:" in run.problems[21] or "pass" in run.problems[21]
    save(run, tmp_path)
    saved = {path.name for path in tmp_path.iterdir() if path.suffix != ".txt"}
    whole = {f"0-{number}{input_of(0, number).suffix}" for number in (7, 13, 21)}
    assert saved == whole | {f"0-7.min{input_of(0, 7).suffix}"}


def test_a_failing_input_is_made_smaller():
    graph = parse(MODEL.data)
    assert graph is not None

    def check(given: Seed) -> str | None:
        return "Traceback\nValueError: at 17" if b"Relu" in given.data else None

    assert minimised(MODEL, "Traceback\nValueError: at 4711", check).data == b"Relu"
    assert minimised(MODEL, "another problem", check) == MODEL


def test_problems_are_told_apart():
    assert kind_of("Traceback\n  line 1\nKeyError: 'a'") == kind_of("Traceback\n  line 2\nKeyError: 'b'")
    assert kind_of("a twin has other findings\n- error[ssa] x: y") != kind_of(
        "a twin has other findings\n- error[cycle] x: y"
    )
