# SPDX-License-Identifier: Apache-2.0
"""Foreign files among the reports of a scan: onnx-lint does not wait for a pipe, or write through a link."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.reports.scans import exported, faulty, head, scanned, sound

from onnx_lint.fleet.database import open_to_read, open_to_scan
from onnx_lint.fleet.errors import FleetError


@pytest.mark.parametrize("kind", ["pipe", "device", "directory", "link"])
@pytest.mark.parametrize("name", ["scan.db", "scan.db-wal", "scan.db-shm", "scan.db-journal", "lock"])
def test_what_is_no_regular_file_is_a_sentence(tmp_path: Path, name: str, kind: str) -> None:
    folder = scanned(tmp_path / "reports", [sound("a")], ["a"])
    model = tmp_path / "model.onnx"
    model.write_bytes(b"model")
    path = folder / name
    path.unlink(missing_ok=True)
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "link":
            path.symlink_to(model)
        case _:
            path.mkdir()
    said = "not a file of a scan"
    if name != "lock":
        with pytest.raises(FleetError, match=said), open_to_read(str(folder)):
            pass
    with pytest.raises(FleetError, match=said), open_to_scan(str(folder), head(), anew=False):
        pass
    assert model.read_bytes() == b"model"


@pytest.mark.parametrize("name", ["models.jsonl", "models.jsonl.tmp", "findings.parquet"])
@pytest.mark.parametrize("kind", ["pipe", "link"])
def test_no_export_is_written_through_a_link(tmp_path: Path, name: str, kind: str) -> None:
    if name.endswith(".parquet"):
        pytest.importorskip("pyarrow")  # without it none is written, and the pipe would be read
    folder = scanned(tmp_path / "r", [faulty("a")], ["a"])
    expected = exported(folder)
    model = tmp_path / "model.onnx"
    model.write_bytes(b"model")
    path = tmp_path / "r.export" / name
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to(model)
    assert {name: data for name, data in exported(folder).items() if name in expected} == expected
    assert model.read_bytes() == b"model"
