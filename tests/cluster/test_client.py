# SPDX-License-Identifier: Apache-2.0
"""The client's books: the order of reports, the window, and which file is to blame for a worker that ends."""

from __future__ import annotations

import contextlib
import pickle
import socket
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

pytest.importorskip("distributed")

from distributed import CancelledError, KilledWorker
from distributed.comm import CommClosedError

from onnx_lint.cluster import ClusterError, client
from onnx_lint.cluster.messages import Job, packed
from onnx_lint.common.model_limits import NO_LIMITS
from onnx_lint.engine.settings import Settings
from onnx_lint.report.file_report import FileReport
from onnx_lint.tasks.lint_one import Task

COUNT = 500
connected = client._connected  # which `quick` replaces
NUMBERED = [(number, FileReport(str(number), number)) for number in range(COUNT)]


class FakeClient:
    """A client whose workers lint at once. `judge` returns the answers to jobs; None if the worker never answers."""

    def __init__(self, workers: dict[str, int], judge: Callable[[FakeClient, str, Sequence[Job]], Any]) -> None:
        self.workers, self._judge, self.status = workers, judge, "running"
        self.given: list[str] = []
        self.cancelled = self.looks = self.farthest = 0

    def submit(self, function: Callable[[bytes], Any], call: bytes, *, workers: list[str], **_: Any) -> Future[Any]:
        jobs = function(call)
        self.given += [job.path for job in jobs]
        answers, future = self._judge(self, workers[0], jobs), Future[Any]()
        if isinstance(answers, BaseException):
            future.set_exception(answers)
        elif answers is not None:
            future.set_result(answers)
        return future

    def nthreads(self, callback_timeout: float) -> dict[str, int]:
        self.looks += 1
        if self.looks == 200 and self.workers.pop("slow", None):
            self.farthest = max(map(int, self.given))
        return dict(self.workers)

    def cancel(self, futures: Sequence[Future[Any]], force: bool) -> None:
        self.cancelled += len(futures)


def jobs_of(sender: str, paths: tuple[str, ...], files: str, pickled: bytes) -> Any:
    """What a worker of this cluster does in place of linting."""
    return pickle.loads(pickled)[0]


def answered(jobs: Sequence[Job]) -> list[tuple[Any, ...]]:
    """The answers to jobs: each file has the size that is its name."""
    return [(job.index, packed(FileReport(job.path, int(job.path)), None), "", False) for job in jobs]


def working(cluster: FakeClient, worker: str, jobs: Sequence[Job]) -> Any:
    return answered(jobs) if worker != "slow" else None


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "lint_batch", jobs_of)
    monkeypatch.setattr(client, "_LOOK_SECONDS", 0.0)
    monkeypatch.setattr(client, "_connected", contextlib.nullcontext)


def reports(cluster: FakeClient, count: int = COUNT) -> Iterator[tuple[int, FileReport]]:
    tasks = [Task(str(number), Settings()) for number in range(count)]
    return client.on_cluster(tasks, range(count), cluster, NO_LIMITS)  # type: ignore[arg-type]  # connected already


def test_reports_come_in_order_from_all_workers() -> None:
    cluster = FakeClient({"a": 1, "b": 2}, working)
    assert list(reports(cluster)) == NUMBERED
    assert sorted(map(int, cluster.given)) == list(range(COUNT))
    assert list(reports(cluster, 0)) == []


def test_what_a_batch_has_not_begun_is_given_out_again() -> None:
    assert list(reports(FakeClient({"a": 1, "b": 1}, lambda _, worker, jobs: answered(jobs[:3])))) == NUMBERED


def test_no_file_is_given_out_far_behind_one_that_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_WINDOW", 40)
    monkeypatch.setattr(client, "_FILES_OF_A_BATCH", 4)
    cluster = FakeClient({"slow": 1, "b": 1}, working)
    assert list(reports(cluster)) == NUMBERED
    assert cluster.farthest == 39


@pytest.mark.parametrize("workers", [{"a": 1}, {"a": 1, "b": 1}, {"a": 2, "b": 4, "c": 1}])
def test_a_file_that_ends_each_worker_ends_three_and_takes_no_other_with_it(workers: dict[str, int]) -> None:
    ended: list[list[str]] = []

    def judge(cluster: FakeClient, worker: str, jobs: Sequence[Job]) -> Any:
        if any(job.path in ("7", "300") for job in jobs):
            ended.append([job.path for job in jobs])
            cluster.workers[f"{worker}'"] = cluster.workers.pop(worker)  # another one comes in its place
        return answered(jobs) if worker in cluster.workers else None

    expected = list(NUMBERED)
    for number in (7, 300):
        words = f"{number}: each worker that was to check the file ended"
        expected[number] = number, FileReport(str(number), 0, unreadable=words)
    assert list(reports(FakeClient(workers, judge))) == expected
    assert ended.count(["7"]) == ended.count(["300"]) == 2
    assert 5 <= len(ended) <= 6  # both may be in one batch


@pytest.mark.parametrize(
    "error", [KilledWorker("task", None, 3), TimeoutError(), CancelledError("key"), CommClosedError()]
)
def test_a_result_that_is_lost_is_made_again(error: BaseException) -> None:
    lost = [error, error, error]
    cluster = FakeClient({"a": 1, "b": 1}, lambda _, worker, jobs: lost.pop() if lost else answered(jobs))
    assert list(reports(cluster)) == NUMBERED


def test_a_lost_scheduler_ends_the_run_after_what_is_there() -> None:
    cluster = FakeClient({"a": 1}, working)
    found = reports(cluster)
    assert [next(found) for _ in range(10)] == NUMBERED[:10]
    cluster.status = "closed"
    with pytest.raises(ClusterError, match="with --cache the same command continues"):
        list(found)


def test_a_cluster_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_LONELY_SECONDS", -1)
    with pytest.raises(ClusterError, match="no worker for"):
        list(reports(FakeClient({}, working)))


@pytest.mark.parametrize("answer", ["it has another onnx-lint", ModuleNotFoundError("it has another onnx-lint")])
def test_a_worker_that_cannot_lint_ends_the_run(answer: object) -> None:
    with pytest.raises(ClusterError, match=r"the worker tcp://a:1 cannot lint: it has another onnx-lint"):
        list(reports(FakeClient({"tcp://a:1": 1}, lambda *_: answer)))


def test_what_is_not_wanted_any_more_is_cancelled() -> None:
    cluster = FakeClient({"a": 1, "slow": 1}, working)
    found = reports(cluster)
    assert next(found) == NUMBERED[0]
    found.close()  # type: ignore[attr-defined]  # it is a generator
    assert cluster.cancelled >= 1


@pytest.mark.parametrize("greeting", [b"", b"SSH-2.0-OpenSSH_9.6\r\n"])
def test_another_program_at_the_address_is_no_cluster(greeting: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_CONNECT_SECONDS", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor(1) as pool:
        server.settimeout(60)  # the thread ends even if nothing connects
        accepted = pool.submit(lambda: (found := server.accept()[0], found.sendall(greeting))[0])
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(ClusterError, match="no scheduler of Dask answers at tcp:"), connected(address):
            pass
        accepted.result().close()


def test_an_address_with_tls_needs_a_certificate() -> None:
    with pytest.raises(ClusterError, match=r"at tls://127\.0\.0\.1:1: TLS expects"), connected("tls://127.0.0.1:1"):
        pass
