# SPDX-License-Identifier: Apache-2.0
"""Models in any store of fsspec, tested with its store in memory, and addresses without a model."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.servers.remote_models import external_model, small_model, write_inlined

from onnx_lint import lint
from onnx_lint.engine.lint import LintOptions, lint_file, lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.input.source import BytesSource
from onnx_lint.remote import RemoteError, listed, open_remote

pytestmark = pytest.mark.remote


@pytest.fixture
def store() -> Iterator[Any]:
    import fsspec

    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def test_what_is_linted_is_what_is_there(store: Any, tmp_path: Path):
    write_inlined(tmp_path / "m.onnx", tensors=6, elements=1 << 20, extra_nodes=50)
    data = (tmp_path / "m.onnx").read_bytes()
    store.pipe("/zoo/m.onnx", data)
    report = lint_file("memory://zoo/m.onnx", Settings())
    assert report.diagnostics == lint_source(BytesSource(data), "m.onnx", Settings()).diagnostics
    assert (report.unreadable, report.size) == (None, len(data))
    assert report.traffic.received < len(data) / 100


def test_a_source_gives_the_bytes_of_the_object(store: Any):
    """Reads and windows in any order return the right bytes."""
    import random

    chance = random.Random(18)
    data = chance.randbytes(3 << 20)
    store.pipe("/zoo/x", data)
    source = open_remote("memory://zoo/x", DEFAULT_LIMITS)
    for _ in range(400):
        offset = chance.choice([chance.randrange(len(data) + 100), chance.randrange(1 << 17)])
        length = chance.choice([0, 1, 20, 64, 5_000, 1 << 16, 1 << 20])
        assert source.read_at(offset, length) == data[offset : offset + length]
        window = source.window(offset, length)
        assert data[offset : offset + length].startswith(window)
        assert len(window) >= min(64, length, max(len(data) - offset, 0))
    assert source.finish().received <= len(data), "nothing came twice"


def test_what_is_too_much_for_memory_goes_into_a_file(store: Any, monkeypatch: pytest.MonkeyPatch):
    from onnx_lint.remote import parts

    monkeypatch.setattr(parts, "MEMORY_BYTES", 100_000)
    data = bytes(range(256)) * 8_192
    store.pipe("/zoo/x", data)
    source = open_remote("memory://zoo/x", DEFAULT_LIMITS)
    for offset in (0, 500_000, 1_000_000, 20_000, 2_000_000, 0):
        assert source.read_at(offset, 300_000) == data[offset : offset + 300_000]
    source.close()


def test_external_data(store: Any):
    store.pipe("/zoo/m.onnx", external_model(2, 8, "{}.bin"))
    store.pipe("/zoo/0.bin", bytes(32))
    assert [item.rule for item in lint("memory://zoo/m.onnx").diagnostics] == ["missing-external-file"]
    [left] = lint("memory://zoo/m.onnx", {"external_data": False}).files[0].incomplete
    assert left == "the files of external data were not examined, because external data is switched off"


def test_contents_of_external_data_are_read_in_pieces(store: Any):
    """The elements of a bool tensor must be 0 or 1, so these are read from the file, and nothing else is."""
    from onnx_lint.loader import load

    offset = 40 << 20
    text = f"""
      ir_version: 10 producer_name: "p" opset_import {{ version: 21 }}
      graph {{ name: "g"
        node {{ op_type: "Not" input: "b" output: "y" }}
        initializer {{ name: "b" data_type: 9 dims: 4 data_location: EXTERNAL
          external_data {{ key: "location" value: "w.bin" }} external_data {{ key: "offset" value: "{offset}" }} }}
        output {{ name: "y" type {{ tensor_type {{ elem_type: 9 shape {{ dim {{ dim_value: 4 }} }} }} }} }} }}
    """
    store.pipe("/zoo/m.onnx", load(BytesSource(text.encode())).proto.SerializeToString())
    store.pipe("/zoo/w.bin", bytes(offset) + b"\0\1\2\1" + bytes(1 << 20))
    report = lint_file("memory://zoo/m.onnx", Settings())
    assert len(report.diagnostics) == 1, report
    assert "2" in report.diagnostics[0].message
    assert report.traffic.received < 100_000


def test_checksums_of_remote_files_are_told_as_not_verified(store: Any):
    store.pipe("/zoo/m.onnx", external_model(1, 8, checksum="0" * 40))
    store.pipe("/zoo/weights.bin", bytes(32))
    report = lint("memory://zoo/m.onnx", {"options": {"checksum-mismatch": {"verify": True}}})
    assert report.diagnostics == ()
    assert report.files[0].incomplete == (
        "the checksum of 'weights.bin' was not verified: it is remote, and would have to be fetched whole",
    )


def test_an_object_that_is_replaced_meanwhile(store: Any):
    store.pipe("/zoo/m.onnx", small_model())
    source = open_remote("memory://zoo/m.onnx", DEFAULT_LIMITS)
    store.pipe("/zoo/m.onnx", small_model(fault=True))
    report = lint_source(source, "memory://zoo/m.onnx", Settings(), LintOptions(is_file=True))
    assert report.unreadable == "memory://zoo/m.onnx: it was changed while it was read"


def test_listings(store: Any):
    for name in ("b.onnx", "a/m.onnx", "a/n.txt", "a/.git/x.onnx"):
        store.pipe(f"/zoo/{name}", small_model())
    assert [found.url for found in listed("memory://zoo/")] == ["memory://zoo/a/m.onnx", "memory://zoo/b.onnx"]
    [found] = listed("memory://zoo/b.onnx")
    assert found.identity is None, "a time is no version"
    with pytest.raises(RemoteError, match="memory://zoo/none: there is no such object"):
        list(listed("memory://zoo/none"))


@pytest.mark.parametrize("address", ["memory://zoo/none.onnx", "memory://zoo/a"])
def test_what_is_no_object(store: Any, address: str):
    store.pipe("/zoo/a/m.onnx", small_model())
    assert lint_file(address, Settings()).unreadable.startswith(f"{address}: ")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("nowhere://b/m.onnx", "no store is known for addresses that begin with nowhere://"),
        (
            "zip://m.onnx::https://127.0.0.1:1/a.zip",
            "a chain of addresses is not supported",
        ),
        ("simplecache://x", "a chain of addresses is not supported"),
        ("reference://x", "a chain of addresses is not supported"),
        ("data://text/plain,abc", "a chain of addresses is not supported"),
        ("s3://", "the address names a bucket, not an object in it"),
        ("hf://gpt2", "the address, or a setting of its store in the environment, is not valid"),
        ("https://", "the address, or a setting of its store in the environment, is not valid"),
    ],
)
def test_what_is_no_store(address: str, said: str):
    shown = "zip://***" if "::" in address else address  # a further address may have a password
    assert lint_file(address, Settings()).unreadable == f"{shown}: {said}"


@pytest.mark.parametrize(
    ("address", "missing", "wanted"),
    [
        ("https://h/m.onnx", "fsspec", "remote models need further packages: pip install 'aiohttp>="),
        ("https://h/m.onnx", "aiohttp", "remote models need further packages: pip install 'aiohttp>="),
        ("s3://b/m.onnx", "s3fs", "remote models need further packages: pip install 'aiohttp>="),
        ("az://b/m.onnx", "adlfs", "addresses that begin with az:// need a further package: pip install adlfs"),
    ],
)
def test_missing_packages(monkeypatch: pytest.MonkeyPatch, address: str, missing: str, wanted: str):
    registry = importlib.import_module("fsspec.registry")
    for name in [name for name in sys.modules if name.partition(".")[0] == missing or name.startswith("fsspec.impl")]:
        monkeypatch.delitem(sys.modules, name)
    for scheme in ("http", "https", "s3"):
        monkeypatch.delitem(registry._registry, scheme, raising=False)
    monkeypatch.delitem(sys.modules, "onnx_lint.remote.web_session", raising=False)
    monkeypatch.setitem(sys.modules, missing, None)
    assert lint_file(address, Settings()).unreadable.startswith(f"{address}: {wanted}")


def test_the_library(store: Any):
    store.pipe("/zoo/m.onnx", small_model(fault=True))
    report = lint("memory://zoo/m.onnx")
    assert (report.files[0].path, report.passes) == ("memory://zoo/m.onnx", False)
    with pytest.raises(FileNotFoundError, match=r"memory://zoo/none\.onnx: there is no such object"):
        lint("memory://zoo/none.onnx")
    with pytest.raises(OSError, match="no store is known"):
        lint("nowhere://user:secret@zoo/none.onnx")
