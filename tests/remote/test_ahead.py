# SPDX-License-Identifier: Apache-2.0
"""Models in stores are opened before their turn: how many at a time, and with the same reports as one by one."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from support.servers.crowd import PATIENCE_SECONDS, Crowd
from support.servers.remote_models import external_model, small_model, write_inlined
from support.servers.web_server import Asked, File, WebServer

from onnx_lint.cli.jobs import Linting
from onnx_lint.common.record import replace
from onnx_lint.engine.selection import report_of
from onnx_lint.engine.settings import Settings
from onnx_lint.input.limits import Limits
from onnx_lint.remote import ahead
from onnx_lint.remote.ahead import AHEAD
from onnx_lint.remote.source import FIRST_BYTES
from onnx_lint.report.file_report import FileReport
from onnx_lint.reporters import write_report
from onnx_lint.tasks.lint_one import Task, lint_one, opening_of

pytestmark = pytest.mark.remote

SETTINGS = Settings(limits=Limits(request_seconds=60))


def _tasks(server: WebServer, settings: Settings = SETTINGS) -> list[Task]:
    """A task for each model of the server."""
    return [Task(server.url(name), settings) for name in server.files if name.endswith(".onnx")]


def _linted(tasks: list[Task], jobs: int = 1, on_done: Callable[[str], None] = lambda _: None) -> list[FileReport]:
    linting = Linting(tasks, jobs, on_done)
    assert list(linting.indices()) == list(range(len(tasks)))
    return [linting.done[index] for index in range(len(tasks))]


def test_one_process_has_many_requests_in_flight(server: WebServer) -> None:
    crowd = Crowd(AHEAD)
    server.files |= {f"{number:03}.onnx": File(small_model(), before=crowd) for number in range(3 * AHEAD)}
    reports = _linted(_tasks(server))
    assert crowd.was_complete
    assert crowd.most == AHEAD
    assert {report.unreadable for report in reports} == {None}


def test_requests_for_parts_of_larger_models_are_in_flight(server: WebServer, tmp_path: Path) -> None:
    """After the first request for each, as many are held back until all of them are there."""
    write_inlined(tmp_path / "large", 3, 1 << 19)
    crowd = Crowd(AHEAD, only_later_parts=True)
    server.files |= {f"{number:03}.onnx": File(tmp_path / "large", before=crowd) for number in range(AHEAD)}
    reports = _linted(_tasks(server))
    assert crowd.was_complete
    assert {report.unreadable for report in reports} == {None}
    assert [report.traffic for report in reports] == [lint_one(task).traffic for task in _tasks(server)]


def test_files_beside_models_are_looked_up_at_the_same_time(server: WebServer) -> None:
    crowd = Crowd(AHEAD)
    for number in range(AHEAD):
        server.files[f"{number:03}.onnx"] = File(external_model(2, 1 << 10, location=f"{number:03}.data"))
        server.files[f"{number:03}.data"] = File(bytes(2 << 12), before=crowd)
    reports = _linted(_tasks(server))
    assert crowd.was_complete
    assert [len(report.data_files) for report in reports] == [1] * AHEAD
    assert len(server.asked) == 2 * AHEAD
    assert reports == [lint_one(task) for task in _tasks(server)]


def test_without_external_data_no_file_is_looked_up(server: WebServer) -> None:
    server.files |= {f"{number}.onnx": File(external_model(2, 8)) for number in range(3)}
    _linted(_tasks(server, replace(SETTINGS, external_data=False)))
    assert [asked.path for asked in server.asked if not asked.path.endswith(".onnx")] == []


@pytest.mark.parametrize("tensors", [40, 1_000])
def test_parts_that_are_fetched_early_are_bounded(server: WebServer, tmp_path: Path, tensors: int) -> None:
    """A model of up to 4 MiB is parsed whole. Of a larger one no more is fetched, here with tensors of 64 KiB."""
    size = write_inlined(tmp_path / "model", tensors, 1 << 14)
    server.files["m.onnx"] = File(tmp_path / "model")
    early = ahead.Ahead()
    early.begin(0, opening_of(_tasks(server)[0]))
    opened = early.take(0)
    early.close()
    assert opened is not None
    assert FIRST_BYTES < server.sent <= min(size, FIRST_BYTES + (1 << 22))
    assert (server.sent == size) == (tensors == 40)
    assert len(opened().read_at(0, size)) == size


def test_the_threads_are_few_and_end(server: WebServer) -> None:
    before = set(threading.enumerate())
    opening: set[threading.Thread] = set()

    def on_done(_: str) -> None:
        opening.update(thread for thread in threading.enumerate() if "(_work)" in thread.name)

    server.files |= {f"{number:03}.onnx": File(small_model()) for number in range(3 * AHEAD)}
    _linted(_tasks(server), on_done=on_done)
    assert 0 < len(opening - before) <= AHEAD
    for thread in opening - before:
        thread.join(PATIENCE_SECONDS)
    assert not any(thread.is_alive() for thread in opening - before)


def test_the_client_of_s3_has_as_many_connections(
    server: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of botocore has ten by default. What this server answers is what S3 would."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    given = {"ACCESS_KEY_ID": "somebody", "SECRET_ACCESS_KEY": "secret", "DEFAULT_REGION": "us-east-1"}
    given |= {"ENDPOINT_URL": server.url().rstrip("/"), "CONFIG_FILE": str(tmp_path / "none")}
    for name, value in given.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    crowd = Crowd(AHEAD)
    server.files |= {f"zoo/{number:03}.onnx": File(small_model(), before=crowd) for number in range(2 * AHEAD)}
    reports = _linted([Task(f"s3://{name}", SETTINGS) for name in server.files])
    assert crowd.was_complete
    assert crowd.most == AHEAD
    assert {report.unreadable for report in reports} == {None}


def test_each_of_several_processes_has_many_requests_in_flight(server: WebServer) -> None:
    crowd = Crowd(20, free=2)
    server.files |= {f"{number:03}.onnx": File(small_model(), before=crowd) for number in range(160)}
    reports = _linted(_tasks(server), jobs=2)
    assert crowd.was_complete
    assert crowd.most <= 2 * AHEAD
    assert {report.unreadable for report in reports} == {None}


def test_models_that_are_not_linted_yet_are_few(server: WebServer) -> None:
    """As long as no other model is linted, no more than these are fetched."""
    server.files |= {f"{number:03}.onnx": File(small_model()) for number in range(4 * AHEAD)}
    is_over = threading.Event()
    linted: list[str] = []

    def on_done(path: str) -> None:
        linted.append(path)
        is_over.wait(0.2 if len(linted) == 1 else 0)
        assert len(server.asked) <= AHEAD + len(linted)

    with contextlib.closing(Linting(_tasks(server), 1, on_done).indices()) as indices:
        assert list(indices) == list(range(4 * AHEAD))
    assert len(server.asked) == 4 * AHEAD


def test_a_server_that_does_not_answer_for_one_model_delays_no_other(server: WebServer) -> None:
    others_are_done = threading.Event()
    slow = File(small_model(), before=lambda *_: others_are_done.wait(PATIENCE_SECONDS) and None)
    server.files |= {"000.onnx": slow} | {f"{number:03}.onnx": File(small_model()) for number in range(1, 2 * AHEAD)}
    done: list[str] = []

    def on_done(path: str) -> None:
        done.append(path)
        if len(done) == 2 * AHEAD - 1:
            others_are_done.set()

    reports = _linted(_tasks(server), on_done=on_done)
    assert done[-1] == reports[0].path == server.url("000.onnx")
    assert reports[0].unreadable is None


def test_without_threads_each_model_is_opened_in_its_turn(server: WebServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.files |= {f"{number}.onnx": File(small_model()) for number in range(3)}
    tasks = _tasks(server)
    alone = [lint_one(task) for task in tasks]

    class NoThread:
        def __init__(self, **_: object) -> None:
            pass

        def start(self) -> None:
            raise RuntimeError("can't start new thread")

    monkeypatch.setattr(
        ahead, "threading", SimpleNamespace(Thread=NoThread, Lock=threading.Lock)
    )  # the server has threads
    assert _linted(tasks) == alone


def _awkward(folder: Path) -> dict[str, Callable[[], File]]:
    """Return a function for each name that makes the file again: some files change while they are served."""
    write_inlined(folder / "large", 3, 1 << 19)
    write_inlined(folder / "medium", 3, 1 << 14)
    large, medium = folder / "large", (folder / "medium").read_bytes()

    def change(file: File, _: Asked) -> None:
        file.etag = f'"{int((file.etag or "").strip(chr(34))) + 1}"'

    return {
        "a.onnx": lambda: File(small_model(fault=True)),
        "b.onnx": lambda: File(b"", status=[-404]),
        "c.onnx": lambda: File(b"", status=[-403]),
        "d.onnx": lambda: File(small_model(), status=[503, 429]),
        "e.onnx": lambda: File(b"", status=[-500]),
        "f.onnx": lambda: File(large),
        "g.onnx": lambda: File(large, ranges=False),
        "h.onnx": lambda: File(medium),
        "i.onnx": lambda: File(medium, ranges=False, length=False),
        "j.onnx": lambda: File(large, before=change),
        "k.onnx": lambda: File(medium, before=change),
        "l.onnx": lambda: File(external_model(2, 8)),
        "m.onnx": lambda: File(external_model(6, 8, location="no-{}")),
        "n.onnx": lambda: File(b""),
        "o.onnx": lambda: File(b"no model at all, only words"),
        "p.onnx": lambda: File(medium, cut=[100, 70_000]),
        "q.onnx": lambda: File(large, ranges=False, length=False, etag=None),
        "weights.bin": lambda: File(bytes(64)),
    }


@pytest.mark.parametrize("settings", [SETTINGS, replace(SETTINGS, limits=Limits(download_bytes=1 << 20))])
def test_reports_are_the_same_as_one_by_one(server: WebServer, tmp_path: Path, settings: Settings) -> None:
    files = _awkward(tmp_path)

    def fresh() -> list[Task]:
        server.files |= {name: make() for name, make in files.items()}
        return _tasks(server, settings)

    alone = [lint_one(task) for task in fresh()]
    assert sum(report.unreadable is not None for report in alone) >= 5
    assert sum(report.unreadable is None for report in alone) >= 8
    for jobs in (1, 2):
        together = _linted(fresh(), jobs)
        assert together == alone
        for name in ("json", "text", "sarif"):
            assert _text(name, together) == _text(name, alone)


def _text(name: str, files: list[FileReport]) -> str:
    stream = io.StringIO()
    write_report(name, report_of(files, SETTINGS), stream)
    return stream.getvalue()


@pytest.mark.skipif(os.name != "posix", reason="SIGINT")
def test_an_interruption_waits_for_no_server(server: WebServer, tmp_path: Path) -> None:
    """The threads that wait for answers would otherwise delay the end of the process."""
    is_over, is_waiting = threading.Event(), threading.Event()

    def never(_file: File, _asked: Asked) -> None:
        is_waiting.set()
        is_over.wait(PATIENCE_SECONDS)

    server.files |= {
        "0.onnx": File(small_model()),
        "1.onnx": File(b"", before=never),
        "2.onnx": File(b"", before=never),
    }
    command = [sys.executable, "-m", "onnx_lint", "-j", "1", "-f", "concise", "--limit", "request_seconds=100000"]
    process = subprocess.Popen(
        [*command, *(server.url(f"{number}.onnx") for number in range(3))],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    try:
        assert is_waiting.wait(PATIENCE_SECONDS)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE_SECONDS)
    finally:
        is_over.set()
        process.kill()
    assert process.returncode == 130
    assert "Traceback" not in errors
