# SPDX-License-Identifier: Apache-2.0
"""The processes that lint many files.

They are driven here rather than by `concurrent.futures`, which cannot tell which file it was that ended a worker, and
gives up all others with it. Each worker has one file at a time; when it ends, that file has an internal error and
another worker takes its place.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from onnx_lint.cli.lint_one import Task, lint_one
from onnx_lint.locations import is_remote
from onnx_lint.report import OWN_ERRORS, FileReport, InternalError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

# --- the side of the main process


_Lifeline = tuple["Connection", "Connection"]
"""The ends of a pipe to read and to write, through which nothing goes. Only the main process keeps the second one open,
so the pipe closes when that process ends, however it does: then the workers end as well."""


class _Worker:
    def __init__(self, process: BaseProcess, connection: Connection) -> None:
        self.process = process
        self.connection = connection
        self.task: int | None = None


def in_workers(
    tasks: Sequence[Task], indices: Sequence[int], count: int
) -> Generator[tuple[int, FileReport], None, None]:
    """The reports of the tasks at `indices`, made by `count` processes: each with its index, as they come."""
    from multiprocessing.connection import wait

    context = _context(tasks)
    waiting = deque(indices)
    lifeline = context.Pipe(duplex=False)
    workers = [_start(context, tasks, lifeline) for _ in range(count)]
    try:
        for worker in workers:
            _assign(worker, waiting)
        while busy := {worker.connection: worker for worker in workers if worker.task is not None}:
            for connection in wait(list(busy)):
                worker = busy[connection]  # type: ignore[index]  # wait() also takes sockets and handles
                assert worker.task is not None
                index = worker.task
                try:
                    answer = worker.connection.recv_bytes()
                except (EOFError, OSError):
                    report = _ended(worker, tasks[index].name or tasks[index].path)
                    worker.connection.close()
                    workers.remove(worker)
                    worker = _start(context, tasks, lifeline)
                    workers.append(worker)
                    _assign(worker, waiting)
                else:
                    _assign(worker, waiting)  # first of all, so that it need not wait
                    report = pickle.loads(answer)
                yield index, report
    finally:
        for worker in workers:
            worker.connection.close()
            worker.process.terminate()
        for worker in workers:
            worker.process.join()
        for end in lifeline:
            end.close()


def _context(tasks: Sequence[Task]) -> BaseContext:
    """How workers are started: on Linux as copies of this process, which costs no imports; elsewhere afresh.

    To find remote models takes threads and connections, of which no copy works.
    """
    import multiprocessing
    import sys

    is_copied = sys.platform == "linux" and not any(is_remote(task.path) for task in tasks)
    return multiprocessing.get_context("fork" if is_copied else "spawn")


def _start(context: Any, tasks: Sequence[Task], lifeline: _Lifeline) -> _Worker:
    mine, theirs = context.Pipe()
    # Which settings are the same object remains known only if they are all sent at once: a rule need not be selected
    # again for each file (docs/performance.md: selection-kept).
    process = context.Process(target=_work, args=(theirs, lifeline, tasks), daemon=True)
    with _interrupts_held():
        process.start()
    theirs.close()
    return _Worker(process, mine)


@contextlib.contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold back what interrupts a run, which a worker inherits, so that none reaches it before it is ready for it."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _assign(worker: _Worker, waiting: deque[int]) -> None:
    worker.task = waiting.popleft() if waiting else None
    if worker.task is not None:
        # A worker that has ended meanwhile is found when its answer is read.
        with contextlib.suppress(OSError):
            worker.connection.send(worker.task)


def _ended(worker: _Worker, path: str) -> FileReport:
    worker.process.join()
    code = worker.process.exitcode or 0
    how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
    error = InternalError(OWN_ERRORS, f"the process that linted the file ended {how}", "")
    return FileReport(path, 0, internal_errors=(error,))


# --- the side of a worker


def _work(connection: Connection, lifeline: _Lifeline, tasks: Sequence[Task]) -> None:
    """Lint the tasks whose indices come, until the main process ends."""
    # Ctrl-C reaches all processes of the terminal; the main process ends its workers.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # by which the main process ends it
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    watched, kept_by_main = lifeline
    kept_by_main.close()
    threading.Thread(target=_end_with_main, args=(watched,), daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            connection.send(lint_one(tasks[connection.recv()]))


def _end_with_main(watched: Connection) -> None:
    """Wait for the end of the main process, and end this one at once, in the middle of a file."""
    with contextlib.suppress(EOFError, OSError):
        watched.recv_bytes()
    os._exit(1)
