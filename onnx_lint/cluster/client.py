# SPDX-License-Identifier: Apache-2.0
"""Gives the files of a run to the workers of a Dask cluster, and collects their reports."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import pickle
import queue
import time
import uuid
import warnings
from collections import Counter, deque
from collections.abc import Generator, Iterator, Sequence
from typing import Any, Final

from onnx_lint.cluster import ClusterError
from onnx_lint.cluster.messages import Answer, Job, call_of, digest_of_files, program
from onnx_lint.cluster.worker import lint_batch
from onnx_lint.common.distribution import install_command
from onnx_lint.common.model_limits import ModelLimits
from onnx_lint.report.file_report import FileReport
from onnx_lint.reporters.escape import visible
from onnx_lint.tasks.lint_one import Task, check_of
from onnx_lint.tasks.workers import report_of_end

try:
    import dask
    from distributed import CancelledError, Client, Future, KilledWorker, Security
    from distributed.comm import CommClosedError, connect
except ModuleNotFoundError as error:
    raise ClusterError(f"--cluster needs {error.name}, which comes with: {install_command('cluster')}") from error

_FILES_OF_A_BATCH: Final = 64
_BATCHES_OF_A_THREAD: Final = 2
_WINDOW: Final = 4_096
"""How far after the first file without a report a file may be to be given out."""

_TRIES_ALONE: Final = 2
"""How often to give a file to a worker that has nothing else, after the worker of its batch ended."""

_CONNECT_SECONDS: Final = 10
_LOOK_SECONDS: Final = 1.0
_RESULT_SECONDS: Final = 10
_ANSWER_SECONDS: Final = 60
"""A scheduler that does not say for this time which workers there are is lost."""

_LONELY_SECONDS: Final = 120
"""How long to wait for a first worker, or for another one after the last."""

_LOST: Final = "the connection to the scheduler of Dask is lost; with --cache the same command continues"


def on_cluster(
    tasks: Sequence[Task], indices: Sequence[int], address: str, limits: ModelLimits
) -> Generator[tuple[int, FileReport], None, None]:
    """Yield the reports of the tasks at `indices` in this order. Raises ClusterError if the cluster is lost."""
    if indices:
        with _silent(), _connected(address) as client:
            yield from _Dispatch(client, tasks, indices, limits).reports()


class _GivenFiles:
    """Files that a worker has."""

    def __init__(self, positions: Sequence[int], worker: str, *, is_alone: bool) -> None:
        self.positions = positions
        self.worker = worker
        self.is_alone = is_alone
        """True if the worker has nothing else: the only file of the batch is to blame if the worker ends."""
        self.moment = time.time_ns()


class _Dispatch:
    """Gives batches to workers by their addresses: when a worker is gone, it is known which files it had."""

    def __init__(self, client: Client, tasks: Sequence[Task], indices: Sequence[int], limits: ModelLimits) -> None:
        self._client, self._tasks, self._indices, self._limits = client, tasks, indices, limits
        self._waiting = deque(range(len(indices)))
        """The positions in `indices` of files that no worker has."""
        self._suspects: deque[int] = deque()
        """The files of batches with which workers ended."""
        self._ended_alone: Counter[int] = Counter()
        self._given: dict[Future, _GivenFiles] = {}
        self._done: queue.SimpleQueue[Future] = queue.SimpleQueue()
        self._arrived: dict[int, Answer] = {}
        """The answers before their turn."""
        self._turn = 0
        self._workers: dict[str, int] = {}
        """The number of threads of each worker."""
        self._settings: dict[int, bytes] = {}
        self._name, self._folder = f"onnx-lint-{uuid.uuid4().hex}", os.getcwd()
        distinct = {id(task.settings): task.settings for task in tasks}.values()
        paths = {path for settings in distinct for path in (*settings.plugins, *settings.opset_schemas)}
        self._paths = tuple(sorted(map(os.path.abspath, paths)))
        self._files = digest_of_files(self._paths)
        self._looked = self._seen = time.monotonic()

    def reports(self) -> Iterator[tuple[int, FileReport]]:
        """Yield index and report of each file, in order."""
        try:
            self._look()
            while self._turn < len(self._indices):
                self._fill()
                with contextlib.suppress(queue.Empty):
                    self._take(self._done.get(timeout=_LOOK_SECONDS / 4))
                if time.monotonic() - self._looked > _LOOK_SECONDS:
                    self._look()
                while self._turn in self._arrived:
                    index = self._indices[self._turn]
                    yield index, _report(self._arrived.pop(self._turn), self._tasks[index])
                    self._turn += 1
        finally:
            if self._given and self._client.status == "running":
                with contextlib.suppress(Exception):
                    self._client.cancel(list(self._given), force=True)

    def _look(self) -> None:
        """Ask which workers there are. Files of workers that are gone are given out again."""
        try:
            self._workers = dict(self._client.nthreads(callback_timeout=_ANSWER_SECONDS))
        except (OSError, TimeoutError, CancelledError) as error:
            raise ClusterError(_LOST) from error
        self._raise_if_lost()
        self._looked = time.monotonic()
        if self._workers:
            self._seen = self._looked
        elif self._looked - self._seen > _LONELY_SECONDS:
            raise ClusterError(f"the cluster has had no worker for {_LONELY_SECONDS} seconds")
        for future in [future for future, batch in self._given.items() if batch.worker not in self._workers]:
            self._lose(self._given.pop(future))
            future.cancel()

    def _raise_if_lost(self, error: BaseException | None = None) -> None:
        if self._client.status != "running":
            raise ClusterError(_LOST) from error

    def _fill(self) -> None:
        """Give out what there is room for. A suspect gets an idle worker; until one is idle, the first gets none."""
        load = Counter(batch.worker for batch in self._given.values())
        alone = {batch.worker for batch in self._given.values() if batch.is_alone}
        room = max(sum(self._workers.values()) * _BATCHES_OF_A_THREAD, 1)
        for number, (worker, threads) in enumerate(self._workers.items()):
            if self._suspects and not load[worker]:
                self._give([self._suspects.popleft()], worker, is_alone=True)
                continue
            if worker in alone or (self._suspects and not number):
                continue
            while load[worker] < threads * _BATCHES_OF_A_THREAD:
                batch = self._next_batch(room)
                if not batch:
                    break
                self._give(batch, worker, is_alone=False)
                load[worker] += 1

    def _next_batch(self, room: int) -> list[int]:
        """Take the next of the waiting files for one of `room` batches; none if those before are not done yet."""
        share = min(_FILES_OF_A_BATCH, -(-len(self._waiting) // room))
        end = self._turn + _WINDOW
        return [self._waiting.popleft() for _ in range(share) if self._waiting and self._waiting[0] < end]

    def _give(self, positions: Sequence[int], worker: str, *, is_alone: bool) -> None:
        pickled = pickle.dumps((tuple(map(self._job, positions)), self._limits))
        call = call_of(lint_batch, program(), self._paths, self._files, pickled)
        batch = _GivenFiles(positions, worker, is_alone=is_alone)
        key = f"{self._name}-{batch.moment}-{positions[0]}"
        future = self._client.submit(pickle.loads, call, key=key, workers=[worker], pure=False)
        self._given[future] = batch
        future.add_done_callback(self._done.put)

    def _job(self, position: int) -> Job:
        task = self._tasks[self._indices[position]]
        # Equal settings are one object in `tasks`, which lives as long as this.
        settings = self._settings.get(id(task.settings))
        if settings is None:
            settings = self._settings[id(task.settings)] = pickle.dumps(task.settings)
        kept = task.cache is not None
        return Job(position, task.path, task.name, task.context, settings, self._folder, kept)

    def _take(self, future: Future) -> None:
        """Take the answers of a batch. The files that it did not begin are given out again."""
        batch = self._given.pop(future, None)
        if batch is None:
            return
        try:
            found: Any = future.result(timeout=_RESULT_SECONDS)
        except (KilledWorker, TimeoutError, CancelledError, CommClosedError) as error:
            self._raise_if_lost(error)
            self._lose(batch)
            return
        except Exception as error:  # from a worker without onnx-lint, or without memory for a process
            found = str(error)
        if isinstance(found, str):
            raise ClusterError(f"the worker {visible(batch.worker)} cannot lint: {visible(found)}")
        for values in found:
            answer = Answer(*values)
            self._arrived[answer.index] = answer
            self._keep(answer, batch.moment)
        self._waiting.extendleft(each for each in reversed(batch.positions) if each not in self._arrived)

    def _lose(self, batch: _GivenFiles) -> None:
        """Give out again the files that a worker had when it ended, each by itself."""
        for position in batch.positions:
            self._ended_alone[position] += batch.is_alone
            if self._ended_alone[position] < _TRIES_ALONE:
                self._suspects.append(position)
            else:
                words = "each worker that was to check the file ended"
                self._arrived[position] = Answer(position, b"", words, True)

    def _keep(self, answer: Answer, moment: int) -> None:
        """Store a report in the cache as soon as it is here."""
        found = check_of(self._tasks[self._indices[answer.index]]) if answer.packed else None
        if found is not None:
            from onnx_lint.cache.checks import verdicts_in

            check, folder = found
            entry = answer.entry()
            if "identity" in entry:
                verdicts_in(folder).keep(check, entry, moment)


def _report(answer: Answer, task: Task) -> FileReport:
    return answer.report() if answer.packed else report_of_end(task, answer.words, answer.is_limit)


@contextlib.contextmanager
def _connected(address: str) -> Iterator[Client]:
    """Yield a client of the scheduler at this address."""
    with contextlib.ExitStack() as stack, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about packages of other versions: those that matter are in `program`
        try:
            if not dask.config.get("distributed.client.security-loader"):  # only `Client` knows what that gives
                asyncio.run(_greet(address))
            client = stack.enter_context(Client(address, timeout=_CONNECT_SECONDS, set_as_default=False))
        except Exception as error:  # of any class: what answers at a wrong port may send any bytes
            is_said = str(error) and isinstance(error, (ImportError, OSError, TypeError, ValueError))
            why = str(error) if is_said else f"no greeting in the protocol of Dask ({type(error).__name__})"
            raise ClusterError(f"no scheduler of Dask answers at {visible(address)}: {visible(why)}") from error
        yield client


async def _greet(address: str) -> None:
    """Connect once: `Client` waits without end for a greeting from another program's port, such as the dashboard's."""
    greeting = connect(address, _CONNECT_SECONDS, **Security().get_connection_args("client"))
    (await asyncio.wait_for(greeting, 2 * _CONNECT_SECONDS)).abort()


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Suppress the log messages of Dask in this process. They are about lost connections, which it restores."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in {"asyncio", "distributed"}]
    levels = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)
