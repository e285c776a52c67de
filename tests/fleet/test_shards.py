# SPDX-License-Identifier: Apache-2.0
"""A shard is there whole or not at all, and says when it is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from onnx_lint.fleet.errors import FleetError
from onnx_lint.fleet.jobs import Job
from onnx_lint.fleet.records import failed, outcome_of
from onnx_lint.fleet.shards import Records, read_records, records_in, shards_in, write_shard
from onnx_lint.library import lint

IDENTITY = {"size": 4, "version": "mtime 1", "settings": "0"}

FAULTY = b"\x08\x0a\x3a\x07\x0a\x05\x0a\x01z\x22\x00"
"""A model with a node that reads what nothing defines."""


def _records() -> list[Records]:
    (file,) = lint(FAULTY, filename="b.onnx").files
    found = outcome_of("b.onnx", file, IDENTITY)
    assert found.errors
    other = failed(Job("a.onnx", "a.onnx", IDENTITY, b"", b"", 1), "it ended")
    return [(other.file, other.findings), (found.file, found.findings)]


def test_what_is_written_is_read(tmp_path: Path) -> None:
    records = _records()
    shard = write_shard(str(tmp_path), "000001", records)
    read = list(records_in(shard))
    assert [record["path"] for record, _ in read] == ["a.onnx", "b.onnx"]
    assert [read_records(place) for _, place in read] == records
    assert shards_in(str(tmp_path)) == [shard]


def test_a_shard_that_is_not_finished_leaves_nothing(tmp_path: Path) -> None:
    def broken() -> Iterator[Records]:
        yield from _records()
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        write_shard(str(tmp_path), "000001", broken())
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "000002.tmp").mkdir()  # of somebody who was killed
    assert shards_in(str(tmp_path)) == []
    shard = write_shard(str(tmp_path), "000002", _records())
    assert shards_in(str(tmp_path)) == [shard]
    assert [path.name for path in tmp_path.iterdir()] == ["000002"]


@pytest.mark.parametrize("name", ["files.jsonl", "findings.jsonl", "shard.json"])
def test_each_truncation_is_found(tmp_path: Path, name: str) -> None:
    shard = write_shard(str(tmp_path), "000001", _records())
    path = Path(shard) / name
    content = path.read_bytes()
    # A newline behind JSON says nothing.
    for length in range(0, len(content.rstrip(b"\n")), max(len(content) // 100, 1)):
        path.write_bytes(content[:length])
        with pytest.raises(FleetError, match="is damaged"):
            list(records_in(shard))
    path.unlink()
    with pytest.raises(FleetError, match=f"{name} is missing"):
        list(records_in(shard))


@pytest.mark.parametrize("name", ["files.jsonl", "findings.jsonl"])
def test_a_changed_byte_is_found(tmp_path: Path, name: str) -> None:
    shard = write_shard(str(tmp_path), "000001", _records())
    path = Path(shard) / name
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(FleetError, match=f"{name} is not as it was written"):
        list(records_in(shard))


@pytest.mark.parametrize("seal", [b"", b"null", b"[]", b"{}", b'{"sha256": 3}', b"\xff"])
def test_a_seal_of_something_else_is_told(tmp_path: Path, seal: bytes) -> None:
    shard = write_shard(str(tmp_path), "000001", _records())
    (Path(shard) / "shard.json").write_bytes(seal)
    with pytest.raises(FleetError, match="its contents are none that a scan writes"):
        list(records_in(shard))
