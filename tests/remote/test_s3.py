# SPDX-License-Identifier: Apache-2.0
"""Models in S3: moto's server, and s3fs as it is."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.servers.remote_models import external_model, small_model, write_inlined

from onnx_lint.cache.store import DATABASE
from onnx_lint.cli.application import run
from onnx_lint.engine.lint import lint_file
from onnx_lint.engine.settings import Settings
from onnx_lint.input.limits import Limits
from onnx_lint.remote import RemoteError, listed, open_remote

pytestmark = pytest.mark.remote

SETTINGS = Settings(limits=Limits(request_seconds=10))

SECRET = "s3cr3tKeyOfTheBucket"


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def s3(endpoint: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """A client of the store. The environment has its address and credentials."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    import boto3
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    client = boto3.client("s3")
    client.create_bucket(Bucket="zoo")
    yield client
    for version in client.list_object_versions(Bucket="zoo").get("Versions", []):
        client.delete_object(Bucket="zoo", Key=version["Key"], VersionId=version["VersionId"])
    client.put_bucket_versioning(Bucket="zoo", VersioningConfiguration={"Status": "Suspended"})
    s3fs.S3FileSystem.clear_instance_cache()


def put(s3: Any, **objects: bytes) -> None:
    for key, data in objects.items():
        s3.put_object(Bucket="zoo", Key=key.replace("__", "/").replace("_", "."), Body=data)


def test_a_small_model(s3: Any):
    put(s3, m_onnx=small_model(fault=True))
    report = lint_file("s3://zoo/m.onnx", SETTINGS)
    assert (report.unreadable, report.path, bool(report.diagnostics)) == (None, "s3://zoo/m.onnx", True)
    assert (report.traffic.requests, report.traffic.received) == (1, len(small_model(fault=True)))
    assert report.traffic.version == s3.head_object(Bucket="zoo", Key="m.onnx")["ETag"]


def test_an_object_of_several_parts(s3: Any, tmp_path: Path):
    """An object that was uploaded in parts has an ETag that is not a digest. It is read by ranges as any other."""
    from boto3.s3.transfer import TransferConfig

    size = write_inlined(tmp_path / "m.onnx", tensors=12, elements=1 << 20)
    s3.upload_file(str(tmp_path / "m.onnx"), "zoo", "m.onnx", Config=TransferConfig(multipart_chunksize=8 << 20))
    assert s3.head_object(Bucket="zoo", Key="m.onnx")["ETag"].endswith('-7"')
    report = lint_file("s3://zoo/m.onnx", SETTINGS)
    assert (report.unreadable, report.diagnostics, report.size) == (None, (), size)
    assert report.traffic.received < size / 100


def test_of_a_versioned_bucket_the_version_is_told_and_read(s3: Any):
    s3.put_bucket_versioning(Bucket="zoo", VersioningConfiguration={"Status": "Enabled"})
    put(s3, m_onnx=small_model())
    first = s3.head_object(Bucket="zoo", Key="m.onnx")["VersionId"]
    source = open_remote("s3://zoo/m.onnx", SETTINGS.limits)
    put(s3, m_onnx=small_model(fault=True))
    assert source.finish().version == first
    assert lint_file("s3://zoo/m.onnx", SETTINGS).diagnostics != ()
    old = lint_file(f"s3://zoo/m.onnx?versionId={first}", SETTINGS)
    assert (old.diagnostics, old.traffic.version) == ((), first)
    assert old.path == f"s3://zoo/m.onnx?versionId={first}"


@pytest.mark.parametrize("is_versioned", [False, True])
def test_a_model_that_is_replaced_midway(s3: Any, tmp_path: Path, is_versioned: bool):
    """With versions the old one is read to its end; without, the model is unreadable."""
    if is_versioned:
        s3.put_bucket_versioning(Bucket="zoo", VersioningConfiguration={"Status": "Enabled"})
    write_inlined(tmp_path / "m.onnx", tensors=4, elements=1 << 20)
    data = (tmp_path / "m.onnx").read_bytes()
    put(s3, m_onnx=data)
    source = open_remote("s3://zoo/m.onnx", SETTINGS.limits)
    put(s3, m_onnx=bytes(len(data)))
    last = len(data) - 100
    if is_versioned:
        assert source.read_at(last, 100) == data[last:]
    else:
        with pytest.raises(RemoteError, match="it was changed while it was read"):
            source.read_at(last, 100)


@pytest.mark.parametrize("most", [None, -1], ids=["the rest of the object", "a byte too few"])
def test_a_store_that_ignores_the_range(s3: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, most: int | None):
    from onnx_lint.remote.s3_object import S3Object  # late: it imports s3fs

    write_inlined(tmp_path / "m.onnx", tensors=4, elements=1 << 20)
    data = (tmp_path / "m.onnx").read_bytes()
    put(s3, m_onnx=data)
    proper = S3Object._get

    def improper(self: S3Object, start: int, stop: int) -> tuple[dict[str, Any], bytes]:
        return proper(self, start, stop)[0], data[start : None if most is None else stop + most]

    monkeypatch.setattr(S3Object, "_get", improper)
    source = open_remote("s3://zoo/m.onnx", SETTINGS.limits)
    with pytest.raises(RemoteError, match="the store did not return the bytes that were requested"):
        source.read_at(0, len(data))


def test_a_listing_has_what_identifies_an_object(s3: Any):
    put(s3, m_onnx=small_model())
    [found] = listed("s3://zoo/")
    assert found.identity == open_remote(found.address, SETTINGS.limits).identity
    assert found.identity == (s3.head_object(Bucket="zoo", Key="m.onnx")["ETag"], len(small_model()))


def test_what_is_below_an_address(s3: Any):
    keys = ("a/m.onnx", "a/b/n.ONNX", "a/.hidden/h.onnx", "a/w.bin", "ab/o.onnx", "t.textproto", "a/[x].onnx")
    for key in keys:
        s3.put_object(Bucket="zoo", Key=key, Body=small_model())

    def names(target: str) -> list[str]:
        return [found.url.removeprefix("s3://zoo/") for found in listed(target)]

    assert names("s3://zoo/a") == names("s3://zoo/a/") == ["a/[x].onnx", "a/b/n.ONNX", "a/m.onnx"]
    assert names("s3://zoo") == ["a/[x].onnx", "a/b/n.ONNX", "a/m.onnx", "ab/o.onnx", "t.textproto"]
    assert names("s3://zoo/a/m.onnx") == ["a/m.onnx"]
    for nothing in ("s3://zoo/none", "s3://nowhere/", "s3://zoo/none.onnx"):
        with pytest.raises(FileNotFoundError, match="there is no such object"):
            list(listed(nothing))


@pytest.mark.parametrize("tensors", [1, 9])
def test_external_data_is_looked_up_by_the_listing(s3: Any, tensors: int):
    """Few files are asked for one by one, many by one listing."""
    put(s3, a__m_onnx=external_model(tensors, 8, "w/{}.bin"))
    for index in range(tensors):
        s3.put_object(Bucket="zoo", Key=f"a/w/{index}.bin", Body=bytes(1 << 10 if index else 31))
    report = lint_file("s3://zoo/a/m.onnx", SETTINGS)
    assert [item.rule for item in report.diagnostics] == ["external-range-beyond-file"]
    assert (report.unreadable, report.incomplete) == (None, ())
    assert report.traffic.requests <= 1 + 1 + min(tensors, 5)


def test_external_data_that_is_not_there(s3: Any):
    put(s3, a__m_onnx=external_model(6, 8, "{}.bin"))
    report = lint_file("s3://zoo/a/m.onnx", SETTINGS)
    assert [item.rule for item in report.diagnostics] == ["missing-external-file"] * 6


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("s3://zoo/none.onnx", "there is no such object (404)"),
        ("s3://nowhere/m.onnx", "there is no such object (404)"),
        ("s3://zoo", "the address names a bucket, not an object in it"),
    ],
)
def test_what_is_not_there(s3: Any, address: str, sentence: str):
    assert lint_file(address, SETTINGS).unreadable == f"{address}: {sentence}"


def test_without_credentials(s3: Any, monkeypatch: pytest.MonkeyPatch):
    import s3fs

    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    s3fs.S3FileSystem.clear_instance_cache()
    said = lint_file("s3://zoo/m.onnx", SETTINGS).unreadable
    wanted = "no credentials were found; credentials are taken from AWS_PROFILE, AWS_ACCESS_KEY_ID or FSSPEC_S3"
    assert said == f"s3://zoo/m.onnx: {wanted}"


def test_nobody_is_there(s3: Any, monkeypatch: pytest.MonkeyPatch):
    import s3fs

    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    monkeypatch.setattr(s3fs.S3FileSystem, "retries", 1)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    s3fs.S3FileSystem.clear_instance_cache()
    said = lint_file("s3://zoo/m.onnx", SETTINGS).unreadable
    assert said.startswith("s3://zoo/m.onnx: the host refused the connection")


def test_an_empty_object(s3: Any):
    put(s3, m_onnx=b"")
    assert "empty" in lint_file("s3://zoo/m.onnx", SETTINGS).not_judged


def test_a_killed_run_goes_on(
    s3: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """What the killed run has checked is in the cache with its version, and is not requested again."""
    from moto.s3.responses import S3Response

    for number in range(40):
        s3.put_object(Bucket="zoo", Key=f"{number:02}.onnx", Body=small_model(fault=number % 3 == 0))
    given: list[str] = []
    is_over = threading.Event()
    get_object = S3Response.get_object

    def held(self: Any) -> Any:
        given.append(self.path)
        assert len(given) <= 30 or is_over.wait(600)
        return get_object(self)

    monkeypatch.setattr(S3Response, "get_object", held)
    monkeypatch.setenv("ONNX_LINT_CACHE_DIR", str(tmp_path / "cache"))
    arguments = ("check", "--cache", "-j", "1", "-f", "jsonl", "s3://zoo/")
    process = subprocess.Popen([sys.executable, "-m", "onnx_lint", *arguments], stdout=subprocess.DEVNULL)
    try:
        while entries_of(tmp_path / "cache") < 20:
            assert process.poll() is None
            time.sleep(0.05)
    finally:
        process.kill()
        process.wait()
        is_over.set()
    kept = entries_of(tmp_path / "cache")

    def linted(*options: str) -> tuple[int, str]:
        given.clear()
        code = run(["check", *options, *arguments[2:]])
        return code, capsys.readouterr().out

    found = linted("--cache")
    assert len(given) == 40 - kept
    assert found == linted("--no-cache")
    assert len(given) == 40
    assert entries_of(tmp_path / "cache") == 40
    s3.put_object(Bucket="zoo", Key="07.onnx", Body=small_model(fault=True))
    changed = linted("--cache")
    assert [path.rpartition("/")[2] for path in given] == ["07.onnx"]
    assert changed == linted("--no-cache")


def entries_of(cache: Path) -> int:
    """The number of reports in a cache that another process may write."""
    with (
        contextlib.suppress(sqlite3.Error),
        sqlite3.connect(f"file:{cache}/{DATABASE}?mode=ro", uri=True) as database,
    ):
        return int(database.execute("SELECT count(*) FROM verdicts").fetchone()[0])
    return 0


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_command_line(s3: Any, jobs: str):
    put(s3, a__m_onnx=small_model(), a__n_onnx=small_model(fault=True), a__b__o_onnx=small_model())
    command = [sys.executable, "-m", "onnx_lint", "s3://zoo/a/", "-f", "json", "--jobs", jobs]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    files = json.loads(done.stdout)["files"]
    assert [file["path"].removeprefix("s3://zoo/a/") for file in files] == ["b/o.onnx", "m.onnx", "n.onnx"]
    assert [file["summary"]["errors"] > 0 for file in files] == [False, False, True]
    assert done.returncode == 1
    assert SECRET not in done.stdout + done.stderr
    assert [file["remote"]["bytes"] for file in files] == [file["size"] for file in files]
