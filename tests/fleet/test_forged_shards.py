# SPDX-License-Identifier: Apache-2.0
"""A shard with the right digests that has something else in it than a scan writes is told by its name."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from onnx_lint.cli.application import run
from onnx_lint.engine.settings import Settings
from onnx_lint.fleet.errors import FleetError
from onnx_lint.fleet.jobs import Outcome
from onnx_lint.fleet.records import outcome_of
from onnx_lint.fleet.reports import open_to_read
from onnx_lint.fleet.scan import head_of
from onnx_lint.fleet.shards import FILES, FINDINGS, write_shard
from onnx_lint.library import lint
from onnx_lint.spec.clauses import Severity

FAULTY: Final = b"\x08\x0a\x3a\x07\x0a\x05\x0a\x01z\x22\x00"
"""A model with a node that reads what nothing defines."""

DEEP: Final = b"[" * 100_000 + b"]" * 100_000
LONG: Final = b"1" * 9_999
"""A number of more digits than Python reads."""
NO_INTEGERS: Final = ("3", 3.5, -1, 1 << 63, True, [], {}, "REMOVED", float("nan"), float("inf"))
NO_TEXTS: Final = (3, None, [], {}, True, "\ud800", "REMOVED")

Record = dict[str, Any]


@functools.cache
def _outcome() -> Outcome:
    (file,) = lint(FAULTY, filename="b.onnx").files
    found = outcome_of("b.onnx", file, {"size": 4, "version": "mtime 1", "settings": "0"})
    assert found.errors
    return found


def _records() -> tuple[Record, list[Record]]:
    found = _outcome()
    return json.loads(found.file), [json.loads(line) for line in found.findings.splitlines()]


def _put(record: Record, name: str, value: Any) -> None:
    """Put a value under a name such as `summary.errors`, or take away what is there."""
    *parents, last = name.split(".")
    for parent in parents:
        record = record[parent]
    if value == "REMOVED":
        del record[last]
    else:
        record[last] = value


_FILE: Final = {
    **dict.fromkeys(("path", "object.version"), NO_TEXTS),
    **dict.fromkeys(("kind", "unreadable", "not_judged"), (3, [], {}, True)),
    **dict.fromkeys(("summary.errors", "summary.warnings", "summary.notes"), (*NO_INTEGERS, None, 10**18, 7)),
    "size": tuple(value for value in NO_INTEGERS if value != "REMOVED"),
    "summary": (None, [], "errors", {}, "REMOVED"),
    "object": (None, [], "mtime", {}, {"version": "1", "size": [[]]}, "REMOVED"),
    "facts": ([3], "facts", {"producer": 3}, {"nodes": -1}, {"ir_version": 1 << 64}, {"opset_imports": [3]}),
    "facts.opset_imports": ([{"domain": ""}], [{"domain": "", "version": "21"}], 3),
    "internal_errors": (None, [3], [{}], [{"rule": 3, "exception": "x"}], [{"rule": "x"}], 3, "REMOVED"),
    "specification": (None, [], {}, {"edition": 3, "variant": "onnx"}, {"edition": "1.18"}),
}
_FINDING: Final = {
    **dict.fromkeys(("path", "rule", "message", "place", "fingerprint"), NO_TEXTS),
    "severity": (*NO_TEXTS, "fatal", "note"),
    "bytes": ([3], "bytes", {"offset": "3"}, {"length": []}),
    "count": ("2", -2, 1 << 63, []),
    **dict.fromkeys(("line", "graph", "node", "operator", "subject", "clause", "keyword", "allowed"), ([], {}, 2.5)),
    "related": (json.loads("[" * 60 + "]" * 60),),
}
FORGED_FILES: Final = [(name, value) for name, values in _FILE.items() for value in values]
FORGED_FINDINGS: Final = [(name, value) for name, values in _FINDING.items() for value in values]


def _lines(records: list[Record]) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


@pytest.fixture
def forge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes, bytes], Path]:
    """Makes a folder of reports with a sound shard, and one behind it with these two files and their digests."""
    monkeypatch.setattr("onnx_lint.fleet.shards.write_tables", lambda *_: None)  # which would not write such things

    def make(file: bytes, findings: bytes) -> Path:
        folder = tmp_path / "reports"
        folder.mkdir()
        head = head_of(["models"], [], None, Settings(), Severity.NOTE)
        (folder / "scan.json").write_text(json.dumps(head | {"models": 2}))
        sound, found = _records()
        for record in (sound, *found):
            record["path"] = "a.onnx"
        write_shard(str(folder / "landing"), "000001", [(_lines([sound]), _lines(found))])
        return Path(write_shard(str(folder / "landing"), "000002", [(file, findings)]))

    return make


def _check_told(shard: Path) -> str:
    """The shard is told by its name; without it the other one is there. Returns the sentence."""
    folder = shard.parents[1]
    with pytest.raises(FleetError) as caught:
        open_to_read(str(folder))
    assert str(caught.value).startswith(f"{shard} is damaged: ")
    aside = shard.rename(folder.parent / "forged")
    assert list(open_to_read(str(folder)).entries) == ["a.onnx"]
    aside.rename(shard)
    return str(caught.value)


def _check_run(shard: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """So it is by the command, which changes nothing."""
    said, folder = _check_told(shard), shard.parents[1]
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert run(["scan", "--summary", str(folder)]) == 2
    errors = capsys.readouterr().err
    assert said in errors
    assert "Traceback" not in errors
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_what_is_not_forged_is_read(forge: Callable[[bytes, bytes], Path]) -> None:
    file, findings = _records()
    shard = forge(_lines([file]), _lines(findings))
    assert sorted(open_to_read(str(shard.parents[1])).entries) == ["a.onnx", "b.onnx"]


@pytest.mark.parametrize(("name", "value"), FORGED_FILES)
def test_a_forged_file(forge: Callable[[bytes, bytes], Path], name: str, value: Any) -> None:
    file, findings = _records()
    _put(file, name, copy.deepcopy(value))
    _check_told(forge(_lines([file]), _lines(findings)))


@pytest.mark.parametrize(("name", "value"), FORGED_FINDINGS)
def test_a_forged_finding(forge: Callable[[bytes, bytes], Path], name: str, value: Any) -> None:
    file, findings = _records()
    _put(findings[0], name, copy.deepcopy(value))
    _check_told(forge(_lines([file]), _lines(findings)))


@pytest.mark.parametrize(
    "line", [b"", b"\n", b"\xff\n", b"null\n", b"3\n", b"[]\n", b"{}\n", b'"x"\n', DEEP, b"1" * 9999]
)
@pytest.mark.parametrize("which", [FILES, FINDINGS])
def test_what_is_no_record(
    forge: Callable[[bytes, bytes], Path], capsys: pytest.CaptureFixture[str], line: bytes, which: str
) -> None:
    file, findings = _records()
    if which == FILES:
        _check_run(forge(line, _lines(findings)), capsys)
    else:
        _check_run(forge(_lines([file]), line), capsys)


def test_findings_that_are_not_those_of_the_file(
    forge: Callable[[bytes, bytes], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    file, findings = _records()
    _check_run(forge(_lines([file]), _lines([*findings, findings[0]])), capsys)


@pytest.mark.parametrize("form", ["text", "json", "html"])
def test_texts_of_strangers_are_only_shown(
    forge: Callable[[bytes, bytes], Path], capsys: pytest.CaptureFixture[str], tmp_path: Path, form: str
) -> None:
    """What has the form of a record may still say anything."""
    file, findings = _records()
    evil = "\x1b[31m<script>alert(1)</script>"
    file["facts"] = {"producer": evil}
    file["specification"] = {"edition": evil, "variant": evil}
    for record in (file, *findings):
        record["path"] = evil
    for name in ("rule", "message", "place"):
        findings[0][name] = evil
    shard = forge(_lines([file]), _lines(findings))
    old = tmp_path / "old"
    old.mkdir()
    (old / "scan.json").write_bytes((shard.parents[1] / "scan.json").read_bytes())
    assert run(["scan", "--summary", str(shard.parents[1]), "--against", str(old), "-f", form]) == 1
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    assert "\x1b" not in shown.out
    assert form != "html" or "<script>alert" not in shown.out


def test_a_head_of_lists_in_one_another(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "scan.json").write_bytes(DEEP)
    assert run(["scan", "--summary", str(tmp_path)]) == 2
    assert "is none that a scan writes" in capsys.readouterr().err
