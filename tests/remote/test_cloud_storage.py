# SPDX-License-Identifier: Apache-2.0
"""Models in Google Cloud Storage: a server that speaks its API, and gcsfs as it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.servers.cloud_storage_server import CloudStorageServer
from support.servers.remote_models import external_model, small_model, write_inlined

from onnx_lint.cli.application import run
from onnx_lint.engine.lint import lint_file
from onnx_lint.engine.settings import Settings
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.remote import RemoteError, listed, open_remote

pytestmark = pytest.mark.remote


@pytest.fixture
def storage(monkeypatch: pytest.MonkeyPatch) -> Iterator[CloudStorageServer]:
    from gcsfs.core import GCSFileSystem

    with CloudStorageServer() as started:
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", started.url().rstrip("/"))
        GCSFileSystem.clear_instance_cache()
        yield started
        GCSFileSystem.clear_instance_cache()


def test_a_model_is_read_in_parts_and_told_with_its_generation(storage: CloudStorageServer, tmp_path: Path):
    size = write_inlined(tmp_path / "m.onnx", tensors=4, elements=1 << 20)
    storage.put("a/m.onnx", (tmp_path / "m.onnx").read_bytes())
    report = lint_file("gs://zoo/a/m.onnx", Settings())
    assert (report.unreadable, report.diagnostics, report.size) == (None, (), size)
    assert (report.traffic.received, report.traffic.version) == (storage.sent, "1")
    assert storage.sent < size / 100


def test_listings_and_external_data(storage: CloudStorageServer, capfd: pytest.CaptureFixture[str]):
    storage.put("a/e.onnx", external_model(1, 8))
    storage.put("a/weights.bin", bytes(31))
    storage.put("a/b/n.onnx", small_model(fault=True))
    wanted = ["gs://zoo/a/b/n.onnx", "gs://zoo/a/e.onnx"]
    for target in ("gs://zoo/a/", "gs://zoo"):
        assert [found.url for found in listed(target)] == wanted
    assert [item.rule for item in lint_file(wanted[1], Settings()).diagnostics] == ["external-range-beyond-file"]
    assert lint_file("gs://zoo/none.onnx", Settings()).unreadable == "gs://zoo/none.onnx: there is no such object"
    assert capfd.readouterr().err == "", "what a file system logs is not for whoever lints"


def test_another_generation_makes_the_model_unreadable(storage: CloudStorageServer):
    storage.put("m.onnx", small_model())
    source = open_remote("gs://zoo/m.onnx", DEFAULT_LIMITS)
    storage.put("m.onnx", small_model())
    with pytest.raises(RemoteError, match="it was changed while it was read"):
        source.finish()


def test_an_object_of_the_same_generation_is_not_requested_again(
    storage: CloudStorageServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("ONNX_LINT_CACHE_DIR", str(tmp_path))
    storage.put("a/m.onnx", small_model())
    storage.put("a/n.onnx", small_model(fault=True))
    printed = []
    for _ in range(2):
        assert run(["check", "--cache", "-j", "1", "-f", "json", "gs://zoo/a/"]) == 1
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    assert storage.sent == len(small_model()) + len(small_model(fault=True))
    storage.put("a/n.onnx", small_model())
    assert run(["check", "--cache", "-j", "1", "gs://zoo/a/"]) == 0
