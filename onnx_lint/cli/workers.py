# SPDX-License-Identifier: Apache-2.0
"""The processes that lint many files.

They are driven here rather than by `concurrent.futures`, which cannot tell which file it was that ended a worker, and
gives up all others with it. A worker is told of some files ahead and answers one after the other, so that it need not
wait for the main process (docs/performance.md: files-ahead). When it ends, the first file that it has not answered has
an internal error, the others go to another worker, and a new one takes its place.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from onnx_lint.cli.lint_one import Task, lint_one
from onnx_lint.common.exit_status import way_of_end
from onnx_lint.common.memory import held_to_the_end
from onnx_lint.common.model_limits import LOOK_SECONDS, NO_LIMITS, ModelLimits, resident
from onnx_lint.input.locations import is_remote
from onnx_lint.report import OWN_ERRORS, FileReport, InternalError

if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.context import BaseContext
    from multiprocessing.process import BaseProcess

    from onnx_lint.engine.settings import Settings

# --- the side of the main process


_Lifeline = tuple["Connection", "Connection"]
"""The ends of a pipe to read and to write, through which nothing goes. Only the main process keeps the second one open,
so the pipe closes when that process ends, however it does: then the workers end as well."""


_SECONDS_AHEAD = 0.03
"""For how long a worker is to have files to lint, by the time that it took for the last ones."""

_NAP_SECONDS = 0.01
"""How long the main process leaves answers where they are, so that it is not woken for each of them."""


class _Worker:
    def __init__(self, process: BaseProcess, connection: Connection, tasks: Sequence[Task]) -> None:
        self.process = process
        self.connection = connection
        self.tasks = tasks
        self.ahead: deque[int] = deque()
        """The indices of the tasks that it was told of and has not answered, in their order."""
        self.has_ended = False
        self._window = 1
        """How many tasks it should have ahead."""
        self._begun = time.monotonic()
        """When it began with the first of them, or a little later."""
        self._given_up: tuple[int, str] | None = None
        """The task for which it was ended, and which limit that exceeded."""

    def assign(self, waiting: deque[int], share: int) -> None:
        """Tell it of some of the tasks that wait: it gets as many ahead as it should have, but not beyond its share."""
        count = min(self._window, max(share, 1)) - len(self.ahead)
        chunk = [waiting.popleft() for _ in range(min(count, len(waiting)))]
        if chunk:
            if not self.ahead:
                self._begun = time.monotonic()
            self.ahead.extend(chunk)
            # A worker that has ended meanwhile is found when its answer is read.
            with contextlib.suppress(OSError):
                self.connection.send(chunk)

    def answers(self) -> list[tuple[int, FileReport]]:
        """The reports that are there to read, each with the index of its task; of a file that ended it, that it did."""
        found: list[tuple[int, FileReport]] = []
        spent = 0.0
        try:
            while self.ahead and (not found or self.connection.poll()):
                seconds, report = pickle.loads(self.connection.recv_bytes())
                spent += seconds
                found.append((self.ahead.popleft(), report))
                self._begun = time.monotonic()
        except (EOFError, OSError):
            self.has_ended = True
            found += self._end()
        # A file that takes long has few others waiting behind it: they become fewer at once, more little by little.
        self._window = max(1, min(int(len(found) * _SECONDS_AHEAD / max(spent, 1e-9)), 2 * self._window))
        return found

    def hold_to(self, limits: ModelLimits) -> None:
        """End the process where the file that it lints exceeds a limit."""
        if not self.ahead or self._given_up is not None or self.process.pid is None:
            return
        words = limits.exceeded(resident(self.process.pid), self._begun)
        if words is not None:
            self._given_up = self.ahead[0], words
            self.process.kill()

    def is_provided(self) -> bool:
        """Whether it has files for longer than a nap."""
        return self._window > 1 and 2 * len(self.ahead) >= self._window

    def _end(self) -> list[tuple[int, FileReport]]:
        """The report of the file that ended the process; none where one exceeded a limit that was done by then."""
        self.process.join()
        self.connection.close()
        if self._given_up is not None and self._given_up[0] != self.ahead[0]:
            return []
        index = self.ahead.popleft()
        path = self.tasks[index].name or self.tasks[index].path
        if self._given_up is not None:
            return [(index, FileReport(path, 0, unreadable=f"{path}: {self._given_up[1]}"))]
        code = self.process.exitcode or 0
        error = InternalError(OWN_ERRORS, f"the process that linted the file ended {way_of_end(code)}", "")
        return [(index, FileReport(path, 0, internal_errors=(error,)))]


def in_workers(
    tasks: Sequence[Task], indices: Sequence[int], count: int, limits: ModelLimits = NO_LIMITS
) -> Generator[tuple[int, FileReport], None, None]:
    """The reports of the tasks at `indices`, made by `count` processes: each with its index, as they come."""
    from multiprocessing.connection import wait

    context = _context(tasks)
    if context.get_start_method() == "fork":
        _prepare(tasks[indices[0]].settings)
    waiting = deque(indices)
    lifeline = context.Pipe(duplex=False)
    look = LOOK_SECONDS if limits.are_any else None
    workers = [_start(context, tasks, lifeline) for _ in range(count)]
    try:
        for worker in workers:
            worker.assign(waiting, 1)
        while busy := {worker.connection: worker for worker in workers if worker.ahead}:
            ready = [busy[connection] for connection in wait(list(busy), look)]  # type: ignore[index]  # or sockets
            arrived = [answer for worker in ready for answer in worker.answers()]
            for number, worker in enumerate(workers):
                if worker.has_ended:
                    waiting.extendleft(reversed(worker.ahead))
                    workers[number] = _start(context, tasks, lifeline)
                workers[number].assign(waiting, len(waiting) // (2 * count))  # before all else: it may be waiting
            yield from arrived
            if limits.are_any:
                for worker in workers:
                    worker.hold_to(limits)
            if all(worker.is_provided() for worker in workers):
                time.sleep(_NAP_SECONDS)
    finally:
        for worker in workers:
            worker.connection.close()
            worker.process.terminate()
        for worker in workers:
            worker.process.join()
        for end in lifeline:
            end.close()


def _prepare(settings: Settings) -> None:
    """Import what nearly any model needs.

    Workers that are copies of this process have it then (docs/performance.md: prepared-workers).
    """
    # For values, for files that are not small, and for findings.
    import onnx_lint.inference.flow.walk
    import onnx_lint.ir.places.byte_ranges
    import onnx_lint.ir.places.enclosing_names
    import onnx_lint.loader.limits.elements  # noqa: F401 - all imported for later
    from onnx_lint.engine.selection import selection_of
    from onnx_lint.ir.documents.kinds import KINDS

    for entry in selection_of(settings).entries:
        if entry.about is None and entry.needs in KINDS["ModelProto"].holds:
            with contextlib.suppress(Exception):  # which is told of each file that meets it
                entry.rule  # noqa: B018 - which imports the file of the rule


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
    return _Worker(process, mine, tasks)


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
    with held_to_the_end(), contextlib.suppress(EOFError, OSError):
        while True:
            for index in connection.recv():
                start = time.perf_counter()
                report = lint_one(tasks[index])
                spent = time.perf_counter() - start
                connection.send_bytes(pickle.dumps((spent, report), pickle.HIGHEST_PROTOCOL))


def _end_with_main(watched: Connection) -> None:
    """Wait for the end of the main process, and end this one at once, in the middle of a file."""
    with contextlib.suppress(EOFError, OSError):
        watched.recv_bytes()
    os._exit(1)
