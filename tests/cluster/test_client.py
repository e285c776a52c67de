# SPDX-License-Identifier: Apache-2.0
"""The client's books: the order of reports, the window, and which file is to blame for a worker that ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("distributed")

from distributed import CancelledError, KilledWorker
from support.processes.fake_cluster import FakeClient, answered, jobs_of

from onnx_lint.cluster import ClusterError, client
from onnx_lint.cluster.messages import Job
from onnx_lint.common.model_limits import NO_LIMITS
from onnx_lint.engine.settings import Settings
from onnx_lint.report import FileReport
from onnx_lint.tasks.lint_one import Task

COUNT = 500
NUMBERED = [(number, FileReport(str(number), number)) for number in range(COUNT)]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "lint_batch", jobs_of)
    monkeypatch.setattr(client, "_LOOK_SECONDS", 0.0)


def reports(monkeypatch: pytest.MonkeyPatch, cluster: FakeClient, count: int = COUNT) -> list[tuple[int, FileReport]]:
    return list(given_out(monkeypatch, cluster, count))


def given_out(monkeypatch: pytest.MonkeyPatch, cluster: FakeClient, count: int = COUNT) -> Any:
    @contextmanager
    def connected(_: str) -> Any:
        yield cluster

    monkeypatch.setattr(client, "_connected", connected)
    settings = Settings()
    tasks = [Task(str(number), settings) for number in range(count)]
    return client.on_cluster(tasks, range(count), "tcp://fake", NO_LIMITS)


def working(cluster: FakeClient, worker: str, jobs: Sequence[Job]) -> Any:
    return answered(jobs)


def test_reports_come_in_order_from_all_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = FakeClient({"a": 1, "b": 2}, working)
    assert reports(monkeypatch, cluster) == NUMBERED
    assert sorted(int(path) for _, paths in cluster.given for path in paths) == list(range(COUNT))
    assert {worker for worker, _ in cluster.given} == {"a", "b"}
    assert max(len(paths) for _, paths in cluster.given) <= 64


def test_what_a_batch_has_not_begun_is_given_out_again(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = FakeClient({"a": 1, "b": 1}, lambda _, worker, jobs: answered(jobs[:3]))
    assert reports(monkeypatch, cluster) == NUMBERED


def test_no_file_is_given_out_far_behind_one_that_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_WINDOW", 40)
    monkeypatch.setattr(client, "_FILES_OF_A_BATCH", 4)
    farthest = []

    def judge(cluster: FakeClient, worker: str, jobs: Sequence[Job]) -> Any:
        if worker == "slow":
            farthest.append(max(int(path) for _, paths in cluster.given for path in paths))
            return None
        return answered(jobs)

    cluster = FakeClient({"slow": 1, "b": 1}, judge)
    nthreads, looks = cluster.nthreads, Counter[str]()

    def looking(callback_timeout: float) -> dict[str, int]:
        looks["all"] += 1
        if looks["all"] == 100:  # it ends after all
            farthest.append(max(int(path) for _, paths in cluster.given for path in paths))
            del cluster.workers["slow"]
        return nthreads(callback_timeout)

    monkeypatch.setattr(cluster, "nthreads", looking)
    assert reports(monkeypatch, cluster) == NUMBERED
    assert farthest[-1] == 39


@pytest.mark.parametrize("workers", [{"a": 1}, {"a": 1, "b": 1}, {"a": 2, "b": 4, "c": 1}])
def test_a_file_that_ends_each_worker_ends_three_and_takes_no_other_with_it(
    monkeypatch: pytest.MonkeyPatch, workers: dict[str, int]
) -> None:
    ended = []

    def judge(cluster: FakeClient, worker: str, jobs: Sequence[Job]) -> Any:
        if any(job.path in ("7", "300") for job in jobs):
            ended.append([job.path for job in jobs])
            cluster.replace(worker)
            return None
        return answered(jobs) if worker in cluster.workers else None

    expected = list(NUMBERED)
    for number in (7, 300):
        words = f"{number}: each worker that was to check the file ended"
        expected[number] = number, FileReport(str(number), 0, unreadable=words)
    assert reports(monkeypatch, FakeClient(workers, judge)) == expected
    assert ended.count(["7"]) == ended.count(["300"]) == 2
    assert 5 <= len(ended) <= 6  # both may be in one batch


@pytest.mark.parametrize("error", [KilledWorker("task", None, 3), TimeoutError(), CancelledError("key")])
def test_a_result_that_is_lost_is_made_again(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    lost = []

    def judge(cluster: FakeClient, worker: str, jobs: Sequence[Job]) -> Any:
        if len(lost) < 3:
            lost.append(jobs)
            return error
        return answered(jobs)

    assert reports(monkeypatch, FakeClient({"a": 1, "b": 1}, judge)) == NUMBERED


def test_a_lost_scheduler_ends_the_run_after_what_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = FakeClient({"a": 1}, working)
    found = given_out(monkeypatch, cluster)
    assert [next(found) for _ in range(10)] == NUMBERED[:10]
    cluster.status = "closed"
    with pytest.raises(ClusterError, match="with --cache the same command continues"):
        list(found)


def test_a_cluster_without_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = FakeClient({}, working)
    monkeypatch.setattr(client, "_LONELY_SECONDS", -1)
    with pytest.raises(ClusterError, match="no worker for"):
        reports(monkeypatch, cluster)


@pytest.mark.parametrize("answer", ["it has another onnx-lint", ModuleNotFoundError("it has another onnx-lint")])
def test_a_worker_that_cannot_lint_ends_the_run(monkeypatch: pytest.MonkeyPatch, answer: object) -> None:
    cluster = FakeClient({"tcp://a:1": 1}, lambda *_: answer)
    with pytest.raises(ClusterError, match=r"the worker tcp://a:1 cannot lint: it has another onnx-lint"):
        reports(monkeypatch, cluster)


def test_what_is_not_wanted_any_more_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = FakeClient({"a": 1, "b": 1}, lambda _, worker, jobs: answered(jobs) if worker == "a" else None)
    found = given_out(monkeypatch, cluster)
    assert next(found) == NUMBERED[0]
    found.close()
    assert cluster.cancelled >= 1
    assert reports(monkeypatch, cluster, 0) == []
