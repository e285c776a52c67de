# SPDX-License-Identifier: Apache-2.0
"""A file that takes more processor time than the limit is not checked, wherever the time is up."""

from __future__ import annotations

import gc
import json
import math
import os
import random
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import onnx
import onnx.parser
import pytest
from google.protobuf import json_format, text_format
from support.processes.spent_time import time_is_up_after
from support.project.checkout import ROOT

from onnx_lint import fix, lint
from onnx_lint.cli.application import run
from onnx_lint.common import deadline
from onnx_lint.common.cached import Memory
from onnx_lint.common.deadline import OutOfTimeError
from onnx_lint.engine.registry import registry
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.loader.limits.not_checked import NotCheckedError, within_time
from onnx_lint.reporters import REPORTERS

SAID = (
    "the check takes more processor time than the limit processor_seconds of 600 seconds "
    "(option --limit processor_seconds=N, 0 for no limit)"
)

FAULTY = """
<ir_version: 10, opset_import: ["" : 21, "local" : 1]>
main (float[N, 3] x, bool c) => (float[N, 4] y, float[M, 3] either, float[N, 3] called)
<int64[2] shape = {3, -1}>
{
  s = Sqrt (r)
  r = Reshape (x, shape)
  y = Identity (x)
  either = If (c) <
    then_branch = a () => (float[N, 3] p) { p = Relu (x) },
    else_branch = b () => (float[N, 3] q) { q = Neg (x) }
  >
  called = local.f (x)
  w = MatMul (x, x)
}
<domain: "local", opset_import: ["" : 21]>
f (v) => (u) { m = Abs (v) u = Identity (m) }
"""
"""A model with findings of several rules, one of which `fix` mends, a subgraph and a function."""

PROTO = onnx.parser.parse_model(FAULTY)
FORMS = {
    "binary": PROTO.SerializeToString(),
    "irregular": PROTO.SerializeToString() + b"\x12\x01\xff",
    "text": text_format.MessageToString(PROTO).encode(),
    "JSON": json_format.MessageToJson(PROTO).encode(),
}

ENDLESS = """
from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding, own_clause, rule

CLAUSE = own_clause("ACME-1", "A model ends.", url="https://acme.example")


@rule(clause=CLAUSE, since="1.0")
def endless_rule(model: Model):
    '''Never end.'''
    while True:
        {body}
    yield Finding(ROOT, "never")
"""

_CATCHING = """
        try:
            sum(range(1000))
        except Exception:
            pass
"""

_DECORATED = """
        import contextlib

        @contextlib.contextmanager
        def timed():
            yield

        @timed()
        def spin():
            while True:
                pass

        spin()
"""


def _looks_of(work: Callable[[], Any]) -> int:
    """Return how often the work looks at the time."""
    with time_is_up_after(math.inf) as clock:
        work()
    return clock.count - 1


def _points(count: int, most: int = 25) -> list[int]:
    """Return numbers below `count`: the first, the last, and some between."""
    return sorted({0, count - 1, *random.Random(61).sample(range(count), min(count, most))})


@pytest.mark.parametrize("form", FORMS)
def test_wherever_the_time_is_up_the_file_is_not_checked(form: str) -> None:
    data = FORMS[form]
    expected = lint(data)
    assert expected.diagnostics
    count = _looks_of(lambda: lint(data))
    assert count > 30
    rules = set()
    for looks in _points(count):
        with time_is_up_after(looks):
            report = lint(data)
        said, _, rule = str(report.files[0].unreadable).partition("; it was over in the rule ")
        assert said == f"<memory>: {SAID}"
        rules.add(rule)
        assert (report.diagnostics, report.files[0].internal_errors, report.passes) == ((), (), False)
        assert lint(data) == expected
    assert {"", *registry()} > rules
    assert len(rules) > 2 or form != "binary"
    with time_is_up_after(count):
        assert lint(data) == expected


def test_in_a_thread_as_well() -> None:
    found: list[Any] = []
    with time_is_up_after(20):
        thread = threading.Thread(target=lambda: found.append(lint(FORMS["binary"])))
        thread.start()
        thread.join()
    assert found[0].files[0].unreadable == f"<memory>: {SAID}"


def test_the_limit_of_a_thread_is_its_own() -> None:
    with within_time(DEFAULT_LIMITS):
        seen: list[bool] = []
        thread = threading.Thread(target=lambda: seen.append(deadline.is_set()))
        thread.start()
        thread.join()
        assert (deadline.is_set(), seen) == (True, [False])
    assert not deadline.is_set()


def test_0_switches_the_limit_off() -> None:
    with time_is_up_after(0) as clock:
        assert lint(FORMS["binary"], {"limits": {"processor_seconds": 0}}).files[0].unreadable is None
    assert clock.count == 0


@pytest.mark.parametrize("form", REPORTERS)
def test_every_report_says_that_the_file_is_not_checked(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.onnx").write_bytes(FORMS["binary"])
    Path("b.onnx").write_bytes(FORMS["binary"])
    with time_is_up_after(10) as clock:
        # The time of the second file is its own.
        original = deadline.Deadline.__exit__

        def leave(self: Any, *arguments: Any) -> None:
            original(self, *arguments)
            clock.left = math.inf

        monkeypatch.setattr(deadline.Deadline, "__exit__", leave)
        assert run(["a.onnx", "b.onnx", "-j", "1", "-f", form]) == 2
    said = capsys.readouterr()
    *beside, error = said.err.splitlines()
    assert error == f"Error: a.onnx: {SAID}"
    assert bool(beside) == (form == "concise")  # which has only findings
    # The concise report leaves the reason to standard error.
    assert "not checked" in said.out or "processor_seconds" in said.out or form == "concise"
    assert "b.onnx" in said.out


def test_a_file_that_was_stopped_is_not_in_the_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Path("a.onnx").write_bytes(FORMS["binary"])
    with time_is_up_after(10):
        assert run(["a.onnx", "--cache", "-f", "json"]) == 2
    capsys.readouterr()
    assert run(["a.onnx", "-f", "json"]) == 1
    expected = capsys.readouterr()
    for _ in range(2):
        assert run(["a.onnx", "--cache", "-f", "json"]) == 1
        assert json.loads(capsys.readouterr().out)["files"] == json.loads(expected.out)["files"]


# --- fix and shapes


def test_a_fix_is_made_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.onnx"

    def mend() -> Any:
        path.write_bytes(FORMS["binary"])
        return fix(path)

    count = _looks_of(mend)
    report = mend()
    mended = path.read_bytes()
    assert mended != FORMS["binary"]
    seen = set()
    for looks in [*_points(count), count]:
        with time_is_up_after(looks):
            file = mend().files[0]
        is_stopped = str(file.unreadable).startswith(f"{path}: {SAID}")
        seen.add(is_stopped)
        assert path.read_bytes() == (FORMS["binary"] if is_stopped else mended)
        assert is_stopped or file == report.files[0]
        assert os.listdir(tmp_path) == ["a.onnx"]
    assert seen == {True, False}


def test_a_difference_is_not_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.onnx"
    path.write_bytes(FORMS["binary"])
    with time_is_up_after(50):
        assert run(["fix", "--diff", str(path)]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"Error: {path}: {SAID}\n")


@pytest.mark.parametrize("form", ["text", "json"])
def test_shapes_are_not_shown(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.onnx"
    path.write_bytes(FORMS["binary"])
    with time_is_up_after(20):
        assert run(["shapes", str(path), "-f", form]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", f"Error: {path}: {SAID}\n")


# --- the alarm

needs_alarm = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no alarms")


@needs_alarm
@pytest.mark.parametrize(
    ("jobs", "names", "body"),
    [
        pytest.param("1", ["a.onnx"], _CATCHING, id="in one process"),
        pytest.param("1", ["a.onnx", "b.onnx"], "pass", id="in each file", marks=pytest.mark.slow),
        pytest.param("2", ["a.onnx", "b.onnx"], _CATCHING, id="in workers", marks=pytest.mark.slow),
        pytest.param("1", ["a.onnx", "b.onnx"], _DECORATED, id="inside of contextlib", marks=pytest.mark.slow),
    ],
)
def test_an_endless_rule_of_a_plugin_is_stopped(jobs: str, names: list[str], body: str, tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text(ENDLESS.format(body=body))
    for name in names:
        (tmp_path / name).write_bytes(FORMS["binary"])
    options = ["--plugin", "endless.py", "--select", "endless-rule", "--limit", "processor_seconds=1", "--jobs", jobs]
    done = subprocess.run(
        [sys.executable, "-P", "-m", "onnx_lint", *names, *options, "-f", "json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    said = f"{SAID.replace('600 seconds', '1 second')}; it was over in the rule endless-rule"
    assert (done.returncode, done.stderr) == (
        2,
        "".join(f"Error: {name}: {said}\n" for name in names),
    )
    assert [file["internal_errors"] for file in json.loads(done.stdout)["files"]] == [[]] * len(names)


@needs_alarm
def test_the_library_leaves_signals_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a signal was changed")

    monkeypatch.setattr(signal, "setitimer", refuse)
    monkeypatch.setattr(signal, "signal", refuse)
    assert lint(FORMS["binary"]).diagnostics


@needs_alarm
def test_a_handler_that_is_there_stays() -> None:
    def own(*_: Any) -> None:
        """Handle the signal."""

    before = signal.signal(signal.SIGPROF, own)
    try:
        with deadline.alarms(), deadline.Deadline(600):
            assert signal.getsignal(signal.SIGPROF) is own
            assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
    finally:
        signal.signal(signal.SIGPROF, before)


@needs_alarm
def test_the_alarm_is_set_for_one_file_and_then_gone() -> None:
    before = signal.getsignal(signal.SIGPROF)
    with deadline.alarms():
        with deadline.alarms(), deadline.Deadline(600):
            assert 600 < signal.getitimer(signal.ITIMER_PROF)[0] <= 602
        assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
        assert signal.getsignal(signal.SIGPROF) is not before
    assert signal.getsignal(signal.SIGPROF) is before


def _stopped_at_line(number: float, work: Callable[[], Any]) -> tuple[Any, int]:
    """Do the work, let the alarm ring at a line of onnx-lint, and return the result and the number of lines.

    It rings again at each line until the work is stopped, as some lines are not interrupted.
    """
    lines = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal lines
        if not frame.f_globals.get("__name__", "").startswith("onnx_lint"):  # the clock of the tests is no plugin
            return None
        if event == "line":
            lines += 1
            if lines >= number:
                clock.left = -1  # only for the alarm, and not for the looks
                try:
                    deadline._ring(0, frame)
                finally:
                    clock.left = math.inf
        return trace

    with time_is_up_after(math.inf) as clock:
        sys.settrace(trace)
        try:
            return work(), lines
        finally:
            sys.settrace(None)


def _empty_caches() -> None:
    """Empty the caches of all models, so that the next one fills them again."""
    for each in gc.get_objects():
        if isinstance(each, Memory):
            each.clear()


def _stop_at_many_lines(points: int) -> None:
    data = FORMS["binary"]
    _empty_caches()
    expected = lint(data)
    _empty_caches()
    _, count = _stopped_at_line(math.inf, lambda: lint(data))
    assert count > 10_000
    stopped = 0
    for number in _points(count, points):
        _empty_caches()
        report, _ = _stopped_at_line(number, lambda: lint(data))
        stopped += report.files[0].unreadable is not None
        assert report == expected or str(report.files[0].unreadable).startswith(f"<memory>: {SAID}")
        assert not deadline.is_set()
        assert gc.isenabled()
        assert lint(data) == expected
    assert stopped > points * 0.8


def test_a_stop_in_the_middle_leaves_the_caches_whole() -> None:
    _stop_at_many_lines(20)


@pytest.mark.slow
def test_a_stop_in_the_middle_leaves_the_caches_whole_at_many_lines() -> None:
    _stop_at_many_lines(300)


def test_the_error_passes_whatever_catches_exceptions() -> None:
    assert not issubclass(OutOfTimeError, Exception)
    with (
        pytest.raises(NotCheckedError, match="processor_seconds"),
        within_time(DEFAULT_LIMITS),
        within_time(DEFAULT_LIMITS),
    ):
        raise OutOfTimeError


def test_a_brief_context_keeps_the_end_around_it():
    with deadline.Deadline(1000):
        around = deadline._here.end
        brief = deadline.SubDeadline(5)
        with brief:
            assert deadline._here.end < around
            raise deadline.OutOfTimeError
        assert (brief.is_over, deadline._here.end) == (True, around)
        quick = deadline.SubDeadline(5)
        with quick:
            pass
        assert (quick.is_over, 0 <= quick.used < 5) == (False, True)


def test_a_brief_context_after_a_file_has_all_of_its_time():
    """The end of the file is in the past, and is removed with it."""
    with deadline.Deadline(0):
        pass
    brief = deadline.SubDeadline(1000)
    with brief:
        deadline.check_deadline()
    assert not brief.is_over


def test_a_brief_context_while_a_file_is_written_has_all_of_its_time():
    with deadline.Deadline(0):
        deadline.lift_deadline()
        brief = deadline.SubDeadline(1000)
        with brief:
            deadline.check_deadline()
    assert not brief.is_over


def test_the_time_that_the_work_has_used():
    assert deadline.seconds_used() == 0
    with deadline.Deadline(1_000):
        first = deadline.seconds_used()
        sum(range(100_000))
        assert 0 <= first < deadline.seconds_used() < 1_000
    assert deadline.seconds_used() == 0
