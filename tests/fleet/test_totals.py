# SPDX-License-Identifier: Apache-2.0
"""The totals of a scan are those of its models, in each format. New findings are those that were not there before."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from support.project.checkout import ROOT
from support.project.fixture_files import fixtures
from support.reports.scans import IDENTITY, exported, job, scanned

from onnx_lint.common.record import replace
from onnx_lint.engine.lint import lint_file
from onnx_lint.engine.settings import Settings
from onnx_lint.fleet.columns import finding_row, model_row
from onnx_lint.fleet.database import open_to_read
from onnx_lint.fleet.page import write_page
from onnx_lint.fleet.records import failed, outcome_of, unreadable
from onnx_lint.fleet.summary import write_json, write_text
from onnx_lint.fleet.totals import Totals, difference
from onnx_lint.report import FileReport
from onnx_lint.spec.clauses import Severity


@pytest.fixture(scope="module")
def files() -> list[FileReport]:
    """Return the reports on fifty fixtures."""
    paths = sorted(str(each.path) for each in fixtures())
    return [lint_file(path, Settings()) for path in paths[:: len(paths) // 50]]


def _reports(folder: Path, files: Sequence[FileReport], *, models: int | None = None, whole: bool = True) -> Path:
    others = [failed(job("failed"), "it ended"), unreadable(job("unread"), "unread: is not there")]
    outcomes = [*(outcome_of(file.path, file, IDENTITY) for file in files), *others]
    paths = [*(file.path for file in files), "failed", "unread"] if whole else None
    return scanned(folder, outcomes, paths, models=models)


def _written(folder: Path, old: Path | None = None) -> dict[str, Any]:
    totals, stream = Totals(), io.StringIO()
    with open_to_read(str(folder)) as reports, open_to_read(str(old or folder)) as before:
        totals.add(reports)
        write_json(totals, difference([reports], before) if old is not None else None, stream)
    written: dict[str, Any] = json.loads(stream.getvalue())
    return written


def test_the_totals_add_up(tmp_path: Path, files: list[FileReport]) -> None:
    # A rule whose clause has another word in another edition has findings of two severities.
    faulty = next(file for file in files if file.diagnostics)
    weaker = tuple(replace(item, severity=Severity.NOTE) for item in faulty.diagnostics)
    files = [*files, replace(faulty, path="twice", diagnostics=weaker)]
    found = Counter((item.rule, item.severity.label) for file in files for item in file.diagnostics)
    totals = _written(_reports(tmp_path / "r", files))
    assert {(row["rule"], row["severity"]): row["findings"] for row in totals["by_rule"]} == found
    for row in totals["by_rule"]:
        pair = row["rule"], row["severity"]
        models = sum(any((item.rule, item.severity.label) == pair for item in file.diagnostics) for file in files)
        assert row["models"] == models
    levels = Counter(item.severity.label for file in files for item in file.diagnostics)
    for rows in ([totals], totals["by_producer"], totals["by_edition"]):
        assert sum(row["models"] for row in rows) == len(files) + 2
        for level in ("error", "warning", "note"):
            assert sum(row[f"{level}s"] for row in rows) == levels[level]
    assert (totals["unreadable"], totals["crashed"], totals["complete"], totals["missing"]) == (1, 1, True, 0)
    assert totals["conforming"] == sum(
        not file.not_judged and not any(item.severity is Severity.ERROR for item in file.diagnostics) for file in files
    )
    assert {(row["path"], row["reason"]) for row in totals["without_verdict"]} >= {
        ("failed", "onnx-lint: it ended"),
        ("unread", "unread: is not there"),
    }


def test_each_line_is_one_of_the_format_jsonl(tmp_path: Path, files: list[FileReport]) -> None:
    schema = json.loads((ROOT / "docs" / "report-line.schema.json").read_text(encoding="utf-8"))
    validator = Draft202012Validator(schema)
    content = exported(_reports(tmp_path / "r", files))
    lines = [line for name in ("models", "findings") for line in content[f"{name}.jsonl"].splitlines()]
    assert len(lines) > 100
    for line in lines:
        validator.validate(json.loads(line))


def test_the_tables_say_what_the_lines_say(tmp_path: Path, files: list[FileReport]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    content = exported(_reports(tmp_path / "r", files))
    for name, row_of in (("models", model_row), ("findings", finding_row)):
        rows = parquet.read_table(io.BytesIO(content[f"{name}.parquet"])).to_pylist()
        assert rows == [row_of(json.loads(line)) for line in content[f"{name}.jsonl"].splitlines()]


def test_a_scan_that_is_not_at_its_end_says_so(tmp_path: Path, files: list[FileReport]) -> None:
    totals = _written(_reports(tmp_path / "r", files, whole=False, models=len(files) + 9))
    assert (totals["complete"], totals["missing"]) == (False, 7)


def test_what_is_new_was_not_there(tmp_path: Path, files: list[FileReport]) -> None:
    broken = [file for file in files if file.diagnostics]
    old = _reports(tmp_path / "old", files[:-5])
    now = _reports(tmp_path / "now", [file for file in files if file is not broken[0]])
    new = _written(now, old)["new"]
    added = [item for file in files[-5:] for item in file.diagnostics]
    assert (new["new_models"], new["gone_models"], new["gone"]) == (5, 1, 0)
    assert sorted(found["rule"] for found in new["findings"]) == sorted(item.rule for item in added)
    assert new["errors"] == sum(item.severity is Severity.ERROR for item in added)
    assert _written(now, now)["new"]["findings"] == []


def test_text_and_page_escape_what_models_say(tmp_path: Path, files: list[FileReport]) -> None:
    evil = "\x1b[31m<script>alert(1)</script>"
    folder = _reports(tmp_path / "r", files)
    for write in (write_text, write_page):
        totals, stream = Totals(), io.StringIO()
        with open_to_read(str(folder)) as reports, open_to_read(str(folder)) as old:
            totals.add(reports)
            totals.producers[evil] = totals.all
            totals.without_verdict.insert(0, (evil, evil))
            write(totals, difference([reports], old), stream)
        assert "\x1b" not in stream.getvalue()
        if write is write_page:
            assert "<script>alert" not in stream.getvalue()
            assert "&lt;script&gt;alert" in stream.getvalue()
