# SPDX-License-Identifier: Apache-2.0
"""The database of a scan: reports that land, reports that are removed, and files that are not such a database."""

from __future__ import annotations

import json
import re
import sqlite3
from pathlib import Path

import pytest
from support.project.checkout import ROOT
from support.reports.made_up_report import REPORT, error
from support.reports.scans import IDENTITY, exported, faulty, head, job, scanned, sound

from onnx_lint.cli.application import run
from onnx_lint.common.record import replace
from onnx_lint.fleet.columns import FINDING_COLUMNS, MODEL_COLUMNS
from onnx_lint.fleet.database import Reports, open_to_read, open_to_scan
from onnx_lint.fleet.errors import FleetError
from onnx_lint.fleet.records import failed, outcome_of
from onnx_lint.report import FileReport


def paths_in(folder: Path) -> list[str]:
    with open_to_read(str(folder)) as reports:
        return [path for (path,) in reports.connection.execute("SELECT path FROM models ORDER BY path")]


def version_of(reports: Reports, path: str) -> str | None:
    identity = reports.identity_of(path)
    return None if identity is None else json.loads(identity)["version"]


def test_exports_have_the_same_bytes_in_whatever_order_models_land(tmp_path: Path) -> None:
    contents = []
    for name, landings in (("a", ["xy", "z"]), ("b", ["z", "y", "x"]), ("c", ["zx", "xyz"])):
        with open_to_scan(str(tmp_path / name), head(), anew=False) as reports:
            for paths in landings:
                reports.land([faulty(path) for path in paths])
            assert not reports.is_whole
            reports.finish("yzx")
            assert reports.is_whole
        contents.append(exported(tmp_path / name))
    assert contents[0] == contents[1] == contents[2]
    assert [json.loads(line)["path"] for line in contents[0]["models.jsonl"].splitlines()] == ["x", "y", "z"]
    findings = [json.loads(line)["path"] for line in contents[0]["findings.jsonl"].splitlines()]
    assert findings == sorted(findings)
    assert set(findings) == {"x", "y", "z"}


def test_a_scan_that_has_ended_leaves_one_file(tmp_path: Path) -> None:
    """It can be copied by itself."""
    folder = scanned(tmp_path / "r", [faulty("a")], ["a"])
    assert {path.name for path in folder.iterdir()} == {"scan.db", "lock"}
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "scan.db").write_bytes((folder / "scan.db").read_bytes())
    assert exported(tmp_path / "copy") == exported(folder)
    (tmp_path / "copy" / "scan.db").chmod(0o444)
    assert paths_in(tmp_path / "copy") == ["a"]


def test_the_newest_word_on_a_model_counts(tmp_path: Path) -> None:
    folder = scanned(tmp_path / "r", [sound("x", "1"), faulty("y")], ["x", "y"])
    scanned(folder, [sound("x", "2"), sound("y", "2")], models=2)
    with open_to_scan(str(folder), head(), anew=False) as reports:
        reports.land([sound("x", "3")])
        assert version_of(reports, "x") == "3"
        assert reports.connection.execute("SELECT count(*) FROM findings").fetchone() == (0,)
        reports.finish(["x"])
    with open_to_read(str(folder)) as reports:
        assert (reports.count(), version_of(reports, "x"), version_of(reports, "y")) == (1, "3", None)


def test_what_has_no_verdict_is_asked_for_again(tmp_path: Path) -> None:
    unread = outcome_of("u", FileReport("u", 0, unreadable="u: is not there"), IDENTITY)
    with open_to_scan(str(tmp_path / "r"), head(), anew=False) as reports:
        reports.land([failed(job("f"), "it ended"), unread, sound("g")])
        assert [reports.identity_of(path) is None for path in "fug"] == [True, True, False]
        assert reports.count() == 3


def test_a_scan_anew_forgets_what_there_is(tmp_path: Path) -> None:
    folder = scanned(tmp_path / "r", [sound("x")], ["x"])
    with open_to_scan(str(folder), head(), anew=True) as reports:
        assert reports.count() == 0
    (folder / "scan.db").write_bytes(b"something else")
    with open_to_scan(str(folder), head(), anew=True) as reports:
        assert reports.count() == 0


def test_another_scan_does_not_go_on(tmp_path: Path) -> None:
    folder = scanned(tmp_path / "r", [sound("x")], ["x"])
    other = head() | {"targets": ["others"]}
    with pytest.raises(FleetError, match="differs in targets"), open_to_scan(str(folder), other, anew=False):
        pass
    assert paths_in(folder) == ["x"]


def test_a_second_scan_does_not_write(tmp_path: Path) -> None:
    folder = str(tmp_path / "r")
    with (
        open_to_scan(folder, head(), anew=False),
        pytest.raises(FleetError, match="another scan is writing to it"),
        open_to_scan(folder, head(), anew=False),
    ):
        pass


@pytest.mark.parametrize("option", [[], ["--anew"]])
def test_reports_of_an_earlier_onnx_lint_are_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: list[str]
) -> None:
    """Nothing of them is changed."""
    pytest.importorskip("distributed", reason="the extra fleet is not installed")
    folder = tmp_path / "r"
    (folder / "report" / "00000").mkdir(parents=True)
    (folder / "scan.json").write_text("{}")
    for arguments in (["--summary", str(folder)], [str(tmp_path), "--allow-no-input", "--to", str(folder), *option]):
        assert run(["scan", *arguments]) == 2
        assert "holds the reports of an earlier onnx-lint, which this version cannot read" in capsys.readouterr().err
    assert sorted(path.name for path in folder.iterdir()) == ["report", "scan.json"]


def test_a_folder_without_a_scan_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / "scan.db").touch()  # of a scan that was killed when it had hardly begun
    for name, said in {
        ".": "holds no reports of a scan",
        "nowhere": "does not exist",
        "file": "is not a folder",
        "begun": "holds no reports of a scan",
    }.items():
        with pytest.raises(FleetError, match=said), open_to_read(str(tmp_path / name)):
            pass
    with pytest.raises(FleetError, match="holds other files, such as begun"):
        scanned(tmp_path, [])
    assert paths_in(scanned(tmp_path / "begun", [sound("x")])) == ["x"]


def test_the_tables_are_those_of_the_documentation(tmp_path: Path) -> None:
    folder = scanned(tmp_path / "r", [])
    connection = sqlite3.connect(folder / "scan.db")
    page = (ROOT / "docs" / "fleet.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(scan|models|findings)` \| (.*) \|$", page, re.M))
    for table in ("scan", "models", "findings"):
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        assert re.findall(r"`(\w+)`", re.sub(r"\([^)]*\)", "", rows[table])) == columns
    connection.close()
    assert {"path", "record"} & MODEL_COLUMNS.keys() == {"path"}
    assert "fingerprint" in FINDING_COLUMNS


def test_whatever_models_say_lands_and_is_exported_as_it_is(tmp_path: Path) -> None:
    """Names with line ends, NUL, half characters and bytes that are not UTF-8; numbers as small as there are."""
    files = [file for file in REPORT.files if file.path != "-"]
    evil = replace(files[0], path="nul", diagnostics=(error(message="a\0b\u2028c\x85", node="a\0b", subject="\ud800"),))
    outcomes = [outcome_of(file.path, file, IDENTITY) for file in (*files, evil)]
    content = exported(scanned(tmp_path / "r", outcomes))
    for name, lines in (
        ("models.jsonl", [outcome.file for outcome in outcomes]),
        ("findings.jsonl", [line for outcome in outcomes for line in outcome.findings.splitlines(keepends=True)]),
    ):
        assert sorted(content[name].splitlines(keepends=True)) == sorted(lines)
    with open_to_read(str(tmp_path / "r")) as reports:
        assert ("a\0b",) in reports.connection.execute("SELECT node FROM findings").fetchall()
