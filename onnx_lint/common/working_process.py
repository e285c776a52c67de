# SPDX-License-Identifier: Apache-2.0
"""The program of a process that does one job after the other, see `watched_process`.

It reads jobs from standard input and writes answers to standard output. It ends when standard input is closed, which
also happens when the process that started it ends.
"""

from __future__ import annotations

import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from collections import deque
from typing import Any, BinaryIO, Final, NoReturn

from onnx_lint.common.deadline import alarms
from onnx_lint.common.memory import collector_off_until_exit

READY: Final = "ready"
"""Its first message."""


def main() -> None:
    """Do jobs until standard input is closed. The first object there returns the function that does a job.

    If that has a method `expect`, it is called with each job as soon as it arrives, before its turn.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Output of a rule must not get between the answers.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_take, args=(sys.stdin.buffer, jobs), daemon=True).start()
    try:
        with collector_off_until_exit(), alarms():
            do = jobs.get()()
            expect = getattr(do, "expect", None)
            _answer(answers, READY)
            waiting: deque[Any] = deque()
            while True:
                while not waiting or not jobs.empty():
                    waiting.append(jobs.get())
                    if expect is not None:
                        expect(waiting[-1])
                _answer(answers, do(waiting.popleft()))
    except BaseException:
        _end_with_traceback()


def _take(stream: BinaryIO, jobs: queue.SimpleQueue[Any]) -> None:
    """Put the jobs into the queue. End the process when no more can come, even in the middle of a job."""
    try:
        while True:
            jobs.put(pickle.load(stream))
    except (EOFError, OSError, pickle.UnpicklingError):
        os._exit(0)
    except BaseException:  # a job names what cannot be imported: onnx-lint was removed or replaced meanwhile
        _end_with_traceback()


def _end_with_traceback() -> NoReturn:
    """End the process at once: a normal end of the interpreter aborts while the other thread is in use."""
    traceback.print_exc()
    sys.stderr.flush()
    os._exit(1)


def _answer(stream: BinaryIO, answer: object) -> None:
    try:
        pickle.dump(answer, stream, pickle.HIGHEST_PROTOCOL)
        stream.flush()
    except OSError:
        os._exit(0)  # nobody reads answers any more


if __name__ == "__main__":
    main()
