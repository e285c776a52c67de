# SPDX-License-Identifier: Apache-2.0
"""A process that lints one model after the other, and may end in any of them.

It reads jobs from standard input and writes answers to standard output, and ends when standard input does: when the
worker that started it ends, however that does.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import signal
import sys
import threading
from typing import BinaryIO, Final

from onnx_lint.common.cached import Memory
from onnx_lint.common.memory import held_to_the_end, let_go
from onnx_lint.engine.settings import Settings
from onnx_lint.fleet.jobs import Job, Outcome
from onnx_lint.fleet.records import outcome_of
from onnx_lint.report import FileReport, InternalError
from onnx_lint.spec.clauses import Severity

READY: Final = "ready"
"""What it says first."""

_SMALL: Final = b"\x08\x0a\x3a\x00"
"""A model with an IR version and an empty graph."""

_settings = Memory[bytes, Settings](1_000)


def main() -> None:
    """Answer jobs until there are no more."""
    # Ctrl-C reaches all processes of a terminal; who started the scan decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # What a rule prints must not come between the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    threading.Thread(target=_take, args=(sys.stdin.buffer, jobs), daemon=True).start()
    with held_to_the_end():
        _warm_up()
        _answer(answers, READY)
        while True:
            _answer(answers, lint(jobs.get()))


def _warm_up() -> None:
    """Load what most models need, so that the time of the first one is its own."""
    from onnx_lint.engine.lint import lint_source
    from onnx_lint.input.source import BytesSource

    lint_source(BytesSource(_SMALL), "", Settings())


def _take(stream: BinaryIO, jobs: queue.SimpleQueue[Job]) -> None:
    """Hand on the jobs that come, and end the process with them, be it in the middle of a model."""
    with contextlib.suppress(EOFError, OSError, pickle.UnpicklingError):
        while True:
            jobs.put(pickle.load(stream))
    os._exit(0)


def _answer(stream: BinaryIO, answer: object) -> None:
    try:
        pickle.dump(answer, stream)
        stream.flush()
    except OSError:
        os._exit(0)  # nobody waits for it any more


def lint(job: Job) -> Outcome | Exception:
    """The outcome of a job; settings that cannot be used here give the exception that says why."""
    from onnx_lint.engine.lint import lint_file, told_apart

    let_go()
    _enter(job.folder)
    try:
        usual = _settings_of(job.usual)
        own = usual if job.settings == job.usual else _settings_of(job.settings)
    except Exception as error:
        return error
    try:
        file = lint_file(job.path, own, job.name)
    except Exception as error:
        file = FileReport(job.name, 0, internal_errors=(InternalError.of(error),))
    file = told_apart(file, own, usual).at_least(Severity(job.level))
    return outcome_of(job.path, file, job.identity)


def _enter(folder: str) -> None:
    """Make this the working directory; where there is no such folder, relative paths lead nowhere."""
    if folder:
        try:
            os.chdir(folder)
        except OSError:
            os.chdir(os.sep)


def _settings_of(pickled: bytes) -> Settings:
    """The settings; of models that have the same ones they are one object, so that rules are selected once."""
    known = _settings.get(pickled)
    return known if known is not None else _settings.keep(pickled, pickle.loads(pickled))


if __name__ == "__main__":
    main()
