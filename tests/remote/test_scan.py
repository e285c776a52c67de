# SPDX-License-Identifier: Apache-2.0
"""A scan of models in a store: what has the same version is not fetched again, and no credential lands."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from support.servers.crowd import PATIENCE_SECONDS, Crowd
from support.servers.remote_models import ENVIRONMENT, small_model
from support.servers.web_server import File, WebServer

from onnx_lint import __version__
from onnx_lint.common.model_limits import NO_LIMITS
from onnx_lint.engine.settings import Settings
from onnx_lint.input.limits import Limits

psutil = pytest.importorskip("psutil", reason="the extra fleet is not installed")
pytest.importorskip("distributed", reason="the extra fleet is not installed")

from onnx_lint.fleet.cells import LintProcess  # noqa: E402 - the extra may be missing
from onnx_lint.fleet.jobs import Failure, Job  # noqa: E402
from onnx_lint.fleet.tasks import Chunk, lint_chunk  # noqa: E402
from onnx_lint.remote.access import AHEAD  # noqa: E402

pytestmark = pytest.mark.remote

SECRET = "s3cr3t"


def scan(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    given = {name: value for name, value in os.environ.items() if name not in ENVIRONMENT}
    command = [sys.executable, "-m", "onnx_lint", "scan", *arguments, "--to", "reports", "--workers", "2"]
    return subprocess.run(command, cwd=folder, env=given, capture_output=True, text=True, check=False, timeout=600)


def records(folder: Path) -> dict[str, dict[str, object]]:
    with contextlib.closing(sqlite3.connect(folder / "reports" / "scan.db")) as connection:
        rows = connection.execute("SELECT path, record FROM models ORDER BY path").fetchall()
    return {path: json.loads(record) for path, record in rows}


def fetched(server: WebServer) -> set[str]:
    """The models whose content was requested."""
    return {asked.path for asked in server.asked if asked.method == "GET" and asked.path.endswith(".onnx")}


def test_what_is_new_in_a_store_is_fetched_alone(server: WebServer, tmp_path: Path) -> None:
    server.files |= {f"zoo/{name}.onnx": File(small_model(), etag=f'"{name}1"') for name in "abc"}
    links = "".join(f'<a href="{name}.onnx">{name}</a>' for name in "abc").encode()
    server.files["zoo/"] = File(links, headers={"Content-Type": "text/html"})
    first = scan(tmp_path, server.url("zoo/"))
    assert (first.returncode, first.stderr) == (0, "")
    assert list(records(tmp_path)) == [server.url(f"zoo/{name}.onnx") for name in "abc"]
    assert fetched(server) == {f"/zoo/{name}.onnx" for name in "abc"}
    before = records(tmp_path)

    server.asked.clear()
    server.files["zoo/b.onnx"] = File(small_model(fault=True), etag='"b2"')
    second = scan(tmp_path, server.url("zoo/"))
    assert (second.returncode, second.stderr) == (1, "")
    assert fetched(server) == {"/zoo/b.onnx"}
    after = records(tmp_path)
    assert {path for path in after if after[path] != before[path]} == {server.url("zoo/b.onnx")}


def test_no_credential_is_in_the_reports(server: WebServer, tmp_path: Path) -> None:
    server.files |= {"m.onnx": File(small_model(fault=True)), "gone.onnx": File(b"", status=[-403])}
    address = server.url("m.onnx").replace("http://", f"http://somebody:{SECRET}@")
    gone = server.url(f"gone.onnx?X-Amz-Signature={SECRET}")
    done = scan(tmp_path, address, gone)
    assert done.returncode == 2, done.stderr
    assert len(records(tmp_path)) == 2
    assert SECRET not in done.stdout + done.stderr
    written = [path for path in (tmp_path / "reports").rglob("*") if path.is_file()]
    assert {path.name for path in written} == {"lock", "scan.db"}
    assert [path for path in written if SECRET.encode() in path.read_bytes()] == []
    again = scan(tmp_path, address, gone)
    assert again.returncode == 2, again.stderr
    assert SECRET not in again.stdout + again.stderr


def test_models_that_differ_in_a_query_alone_are_linted_each_time(server: WebServer, tmp_path: Path) -> None:
    """Their numbers depend on the other named models, so the next scan cannot use the verdict on a number."""
    served = {f"/m?id={SECRET}1": small_model(), f"/m?id={SECRET}2": small_model(fault=True)}
    server.answers["/m"] = lambda handler: handler.reply(200, served[handler.path])
    addresses = [server.url(address.lstrip("/")) for address in served]
    name = server.url("m?id=***")
    for order, expected in ((addresses, [0, 1]), (addresses[::-1], [1, 0])):
        assert scan(tmp_path, *order).returncode == 1
        found = {path: record["summary"]["errors"] for path, record in records(tmp_path).items()}
        assert found == dict(zip((name, f"{name}#2"), expected, strict=True))
    assert SECRET not in "".join(path.read_text() for path in (tmp_path / "reports").rglob("*.json*"))


def test_a_process_has_many_requests_in_flight(server: WebServer) -> None:
    crowd = Crowd(AHEAD)
    server.files |= {f"{number:02}.onnx": File(small_model(), before=crowd) for number in range(2 * AHEAD)}
    jobs = _jobs(server)
    done = lint_chunk(Chunk(tuple(jobs), NO_LIMITS, __version__))
    assert [outcome.path for outcome in done.outcomes] == [job.path for job in jobs]
    assert all(outcome.settled for outcome in done.outcomes)
    assert crowd.was_complete
    assert crowd.most == AHEAD


def test_only_the_model_in_which_the_process_ends_has_failed(server: WebServer) -> None:
    """The process has opened the models behind it already."""
    is_over = threading.Event()
    stuck = File(small_model(), before=lambda *_: is_over.wait(PATIENCE_SECONDS) and None)
    server.files |= {"0.onnx": File(small_model()), "1.onnx": stuck, "2.onnx": File(small_model())}
    jobs = _jobs(server)
    cell = LintProcess()
    before = set(psutil.Process().children())
    try:
        found = cell.lint(iter(jobs), NO_LIMITS, AHEAD)
        assert next(found).path == jobs[0].path
        for process in set(psutil.Process().children()) - before:
            process.kill()
        assert [(each.path, type(each)) for each in found] == [(jobs[1].path, Failure)]
        is_over.set()
        assert [each.path for each in cell.lint(iter(jobs[2:]), NO_LIMITS, AHEAD)] == [jobs[2].path]
    finally:
        is_over.set()
        cell.close()


def _jobs(server: WebServer) -> list[Job]:
    settings = pickle.dumps(Settings(limits=Limits(request_seconds=60)))
    identity = {"size": None, "version": None, "settings": "0"}
    return [Job(server.url(name), name, identity, settings, settings, 1) for name in server.files]
