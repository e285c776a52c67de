# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/fleet.md work as documented, with the real programs: `python -m pytest -m fleet`."""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import sqlite3
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.project.checkout import ROOT
from support.project.fixture_files import fixtures
from support.reports.scans import IDENTITY, exported, scanned

from onnx_lint.engine.lint import lint_file
from onnx_lint.engine.settings import Settings
from onnx_lint.fleet.records import outcome_of
from onnx_lint.report import FileReport
from onnx_lint.spec.clauses import Severity

pytestmark = pytest.mark.fleet


def _recipes(language: str) -> list[str]:
    page = (ROOT / "docs" / "fleet.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.M | re.S)


@pytest.fixture(scope="module")
def files() -> list[FileReport]:
    paths = sorted(str(each.path) for each in fixtures())
    return [lint_file(path, Settings()) for path in paths[:: len(paths) // 40]]


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: Sequence[FileReport]) -> None:
    """A working directory with reports, and with what they export."""
    monkeypatch.chdir(tmp_path)
    outcomes = [outcome_of(file.path, file, IDENTITY) for file in files]
    exported(scanned(Path("reports"), outcomes, [file.path for file in files]))
    Path("reports.export").rename("exported")


def _found(files: Sequence[FileReport]) -> list[tuple[str, str, int, int]]:
    """Rule, severity, findings and models."""
    found = Counter((item.rule, item.severity.label) for file in files for item in file.diagnostics)
    models = Counter(key for file in files for key in {(item.rule, item.severity.label) for item in file.diagnostics})
    return sorted((*key, found[key], models[key]) for key in found)


@pytest.mark.usefixtures("reports")
def test_sqlite(files: Sequence[FileReport]) -> None:
    (of_database, _) = _recipes("sql")
    connection = sqlite3.connect("reports/scan.db")
    assert sorted(connection.execute(of_database)) == _found(files)
    connection.close()


@pytest.mark.usefixtures("reports")
def test_duckdb(files: Sequence[FileReport]) -> None:
    import duckdb

    (_, of_export) = _recipes("sql")
    assert sorted(duckdb.sql(of_export).fetchall()) == _found(files)


@pytest.mark.usefixtures("reports")
def test_pandas(files: Sequence[FileReport]) -> None:
    (recipe,) = _recipes("python")
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(recipe, "recipe", "exec"), {})
    producers = Counter(file.facts.producer for file in files if file.facts is not None)
    most, count = max(producers.items(), key=lambda item: (bool(item[0]), item[1]))
    assert most
    assert re.search(rf"^{re.escape(most)} +[01]\.\d+ +{count}$", output.getvalue(), re.M), output.getvalue()


@pytest.mark.usefixtures("reports")
def test_jq(files: Sequence[FileReport]) -> None:
    if shutil.which("jq") is None:
        pytest.skip("jq is not installed here")
    (recipe,) = _recipes("sh")
    done = subprocess.run(["sh", "-c", recipe], capture_output=True, text=True, check=True)
    with_errors = {file.path for file in files if any(item.severity is Severity.ERROR for item in file.diagnostics)}
    assert set(done.stdout.splitlines()) == with_errors
