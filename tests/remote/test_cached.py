# SPDX-License-Identifier: Apache-2.0
"""Reports on models in stores come from the cache if the store names the same version, and only then."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from support.servers.remote_models import external_model, small_model, write_inlined
from support.servers.web_server import File, WebServer

from onnx_lint.cache.checks import cached_or_linted, closing_caches, verdicts_in
from onnx_lint.cli.application import run
from onnx_lint.cluster.messages import Answer, Job
from onnx_lint.cluster.worker import _JobLinter
from onnx_lint.engine.settings import Settings
from onnx_lint.report import Context
from onnx_lint.tasks.lint_one import Task, file_check

pytestmark = pytest.mark.remote

Linted = Callable[[str], tuple[int, str, list[str]]]


@pytest.fixture
def linted(
    server: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Linted:
    """Returns exit code and output of a run over all models of the server, and the methods of its requests."""
    monkeypatch.setenv("ONNX_LINT_CACHE_DIR", str(tmp_path / "cache"))

    def run_with(option: str) -> tuple[int, str, list[str]]:
        server.asked.clear()
        addresses = [server.url(name) for name in server.files if name.endswith(".onnx")]
        code = run(["check", option, "-j", "1", "-f", "json", *addresses])
        return code, capsys.readouterr().out, [asked.method for asked in server.asked]

    return run_with


def test_an_address_is_opened_for_its_version(server: WebServer, linted: Linted, tmp_path: Path) -> None:
    write_inlined(tmp_path / "large", 8, 1 << 20)
    server.files |= {"a.onnx": File(tmp_path / "large"), "b.onnx": File(small_model(fault=True))}
    code, report, requests = linted("--cache")
    assert len(requests) > 8
    assert linted("--cache")[:2] == (code, report)
    del server.files["b.onnx"]
    assert linted("--cache")[2] == ["GET"], "alone it is not read before its turn"
    server.files["a.onnx"].etag = '"2"'
    assert len(linted("--cache")[2]) > 1


@pytest.mark.parametrize("etag", [None, 'W/"1"'])
def test_an_object_without_an_exact_version_is_not_kept(server: WebServer, linted: Linted, etag: str | None) -> None:
    server.files["m.onnx"] = File(small_model(), etag=etag, modified="Thu, 26 Nov 2026 10:00:00 GMT")
    linted("--cache")
    server.files["m.onnx"] = File(small_model(fault=True), etag=etag, modified="Thu, 26 Nov 2026 10:00:00 GMT")
    assert linted("--cache") == linted("--no-cache")


def test_external_data_is_looked_up_again(server: WebServer, linted: Linted) -> None:
    server.files |= {"m.onnx": File(external_model(2, 1 << 10)), "weights.bin": File(bytes(1 << 13))}
    first = linted("--cache")
    assert linted("--cache") == first == (0, first[1], ["GET", "HEAD"])
    server.files["weights.bin"] = File(bytes(1 << 12))
    assert linted("--cache")[:2] == linted("--no-cache")[:2] != first[:2]


def test_a_report_that_depends_on_the_content_of_external_data_is_not_kept(server: WebServer, linted: Linted) -> None:
    """A small file might be a pointer of Git LFS."""
    server.files |= {"m.onnx": File(external_model(1, 8)), "weights.bin": File(bytes(64))}
    assert linted("--cache")[2] == linted("--cache")[2] == ["GET", "HEAD", "GET"]


def test_a_worker_of_a_cluster_finds_out_the_version(
    server: WebServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    server.files["m.onnx"] = File(small_model(fault=True))
    check = file_check(Task(server.url("m.onnx"), Settings()))
    assert check is not None
    linter = _JobLinter()
    job = Job(0, check.path, check.name, Context.NONE, pickle.dumps(check.settings), str(tmp_path), True)
    linter.expect(job)
    entry = Answer(0, linter(job)).entry()
    assert entry["identity"] == ['"1"', len(small_model(fault=True))]
    with closing_caches():
        verdicts_in(str(tmp_path)).keep(check, entry, 0)
        monkeypatch.setattr("onnx_lint.engine.lint.lint_file", None)  # the report is in the cache
        report = cached_or_linted(check, str(tmp_path))
        monkeypatch.undo()
    assert report == Answer(0, linter_packed(linter, job)).report()
    assert len(server.asked) == 3, "one for each"


def linter_packed(linter: _JobLinter, job: Job) -> bytes:
    linter.expect(job)
    return linter(job)
