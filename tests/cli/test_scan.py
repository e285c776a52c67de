# SPDX-License-Identifier: Apache-2.0
"""Invalid calls of `onnx-lint scan`. Other commands do not import its modules."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.models.clean_model import CLEAN
from support.project.checkout import ROOT

from onnx_lint.cli import run_scan
from onnx_lint.cli.application import run
from onnx_lint.fleet.database import Reports


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "clean.textproto").write_text(CLEAN)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").touch()
    (tmp_path / "file").touch()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["models"], "Missing option '--to REPORTS'"),
        (["--to", "r"], "Missing argument 'TARGET...'"),
        (["-", "--to", "r"], "scan does not read standard input"),
        (["models", "--to", "r", "--part", "3/2"], "--part expects I/N"),
        (["models", "--to", "r", "--part", "0/2"], "--part expects I/N"),
        (["models", "--to", "r", "--part", "2"], "--part expects I/N"),
        (["models", "--to", "r", "--workers", "0"], "--workers"),
        (["models", "--to", "r", "--time-limit", "0"], "--time-limit"),
        (["models", "--to", "r", "--select", "cycel"], "unknown rule 'cycel'; did you mean 'cycle'?"),
        (["models", "--to", "r", "--against", "nowhere"], "nowhere: does not exist"),
        (["models", "--to", "s3://bucket/reports"], "--to must be a folder on this machine"),
        (["models", "--to", "r", "--against", "./r"], "--against and --to name the same folder"),
        (["--summary", "nowhere"], "nowhere: does not exist"),
        (["--summary", "file"], "file: is not a folder"),
        (["--summary", "full"], "full holds no reports of a scan"),
        (["--summary", "full", "models"], "--summary checks nothing: remove TARGET"),
        (["--summary", "full", "--to", "r"], "--summary checks nothing: remove --to"),
        (["--summary", "full", "--anew"], "--summary checks nothing: remove --anew"),
    ],
)
def test_a_mistake_in_the_call_gets_a_sentence(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["scan", *arguments]) == 2
    errors = capsys.readouterr().err
    assert said in errors
    assert "Traceback" not in errors
    assert not Path("r").exists()


def _cache_of_scan(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    """The folder of the cache that a scan uses."""
    pytest.importorskip("locket", reason="the extra fleet is not installed")
    found: list[str] = []

    def scan(reports: Reports, *others: object) -> None:
        found.append(str(others[-1]))
        reports.finish(())

    monkeypatch.setattr(run_scan, "scan", scan)
    assert run(["scan", "models", "--to", "r", "--quiet", "--anew", *arguments]) == 0
    return found[0]


def test_a_scan_uses_the_cache_only_if_it_is_asked_to(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(tmp_path / "cache")
    monkeypatch.setenv("ONNX_LINT_CACHE_DIR", folder)
    assert _cache_of_scan(monkeypatch) == ""
    assert not Path(folder).exists()
    assert _cache_of_scan(monkeypatch, "--cache") == folder
    Path("onnx-lint.toml").write_text("cache = true\n", encoding="utf-8")
    assert _cache_of_scan(monkeypatch) == folder
    assert _cache_of_scan(monkeypatch, "--no-cache") == ""
    assert capsys.readouterr().err == ""
    assert _cache_of_scan(monkeypatch, "--scheduler", "tcp://127.0.0.1:1") == ""
    assert "The cache is not used: " in capsys.readouterr().err


def test_a_scan_uses_no_cache_in_a_folder_of_its_models(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ONNX_LINT_CACHE_DIR", str(tmp_path / "models" / "cache"))
    assert _cache_of_scan(monkeypatch, "--cache") == ""
    assert "is inside 'models', which is checked" in capsys.readouterr().err


def test_a_scan_of_a_folder_with_a_slash_is_the_same_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("locket", reason="the extra fleet is not installed")
    monkeypatch.setattr(run_scan, "scan", lambda reports, *_: reports.finish(()))
    assert [run(["scan", folder, "--to", "r", "--quiet"]) for folder in ("models", "models/")] == [0, 0]


def test_without_the_extra_it_is_told_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['dask', 'distributed', 'locket', 'psutil']));"
        "from onnx_lint.cli.application import run; sys.exit(run(['scan', 'models', '--to', 'r']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "pip install 'dask>=" in done.stderr


@pytest.mark.parametrize("arguments", [["models"], ["check", "models", "-q"], ["rules"]])
def test_nothing_of_it_is_imported_for_others(arguments: list[str]) -> None:
    code = (
        "import sys; from onnx_lint.__main__ import _code; code = _code(sys.argv[1:]);"
        "found = [name for name in sys.modules if name.split('.')[0] in ('dask', 'distributed', 'pyarrow', 'psutil')"
        " or name.startswith('onnx_lint.fleet') or name == 'onnx_lint.cli.run_scan'];"
        "sys.stderr.write(repr(found)); sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "[]")
