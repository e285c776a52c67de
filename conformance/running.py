# SPDX-License-Identifier: Apache-2.0
"""Runs a checker over the suite: one process for each model, with a time limit."""

from __future__ import annotations

import contextlib
import importlib
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from typing import Final

from conformance.checkers import Checker, RejectedError, UnsupportedError
from conformance.suite import Case

ACCEPTED: Final = "accepted"
REJECTED: Final = "rejected"
UNSUPPORTED: Final = "unsupported"
CRASHED: Final = "crashed"
"""A signal ended the process, or the checker raised an exception that is not its way to reject a model."""
TIMED_OUT: Final = "timed out"


@dataclass(frozen=True)
class Outcome:
    """The result of a checker on one case."""

    case: Case
    result: str
    """One of the constants of this module."""
    reason: str


@dataclass(frozen=True)
class _Running:
    """The process that judges a case, and when it must be done."""

    index: int
    case: Case
    process: ForkProcess
    deadline: float


def run(checker: Checker, suite: Path, cases: Sequence[Case], seconds: float, jobs: int) -> list[Outcome]:
    """Return the outcome of each case, in order. `seconds`: the time limit of a model. `jobs`: models at a time."""
    for name in checker.preload:  # once, and not in each process
        importlib.import_module(name)
    waiting = deque(enumerate(cases))
    running: dict[Connection, _Running] = {}
    outcomes: dict[int, Outcome] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            index, case = waiting.popleft()
            receiving, process = _start(checker, suite, case)
            running[receiving] = _Running(index, case, process, time.monotonic() + seconds)
        wait(list(running), max(0.0, min(one.deadline for one in running.values()) - time.monotonic()))
        for receiving, one in list(running.items()):
            if receiving.poll() or one.deadline <= time.monotonic():
                outcomes[one.index] = Outcome(one.case, *_end(receiving, one.process))
                del running[receiving]
    return [outcomes[index] for index in range(len(cases))]


def _start(checker: Checker, suite: Path, case: Case) -> tuple[Connection, ForkProcess]:
    context = multiprocessing.get_context("fork")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(checker, suite / case.file, case, sending))
    process.start()
    sending.close()
    return receiving, process


def _end(receiving: Connection, process: ForkProcess) -> tuple[str, str]:
    """Return the result and its reason, and end the process with those that it has started."""
    try:
        result, reason = receiving.recv() if receiving.poll() else (TIMED_OUT, "no verdict within the time limit")
    except EOFError:
        process.join()
        result, reason = CRASHED, f"the process ended with code {process.exitcode}"
    receiving.close()
    group = process.pid
    assert group is not None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
    process.kill()  # in case it has no group of its own yet
    process.join()
    return result, reason


def _work(checker: Checker, path: Path, case: Case, sending: Connection) -> None:
    os.setpgid(0, 0)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)  # libraries print warnings there
    os.dup2(nowhere, 2)
    try:
        checker.judge(path, case)
    except RejectedError as error:
        sending.send((REJECTED, str(error)))
    except UnsupportedError as error:
        sending.send((UNSUPPORTED, str(error)))
    except Exception as error:
        sending.send((CRASHED, f"{type(error).__name__}: {error}"))
    else:
        sending.send((ACCEPTED, ""))
