# SPDX-License-Identifier: Apache-2.0
"""`--cache` and `cache = true`: the same reports, from several processes, without a lint."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from support.models.clean_model import clean_proto

from onnx_lint.cache import identity
from onnx_lint.cache.store import DATABASE
from onnx_lint.cli.application import run
from onnx_lint.engine import lint
from onnx_lint.tasks import lint_one


def model_bytes(name: str) -> bytes:
    model = clean_proto("Rleu")
    model.graph.name = name
    return bytes(model.SerializeToString())


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(identity, "SETTLED_NANOSECONDS", -3_600_000_000_000)
    (tmp_path / "work" / "models").mkdir(parents=True)
    for name in ("a", "b", "c"):
        (tmp_path / "work" / "models" / f"{name}.onnx").write_bytes(model_bytes(name))
    (tmp_path / "work" / "cut.onnx").write_bytes(b"\x08")
    monkeypatch.chdir(tmp_path / "work")
    folder = tmp_path / "cache"
    monkeypatch.setenv("ONNX_LINT_CACHE_DIR", str(folder))
    return folder


def _ran(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = run(list(arguments))
    return code, *capsys.readouterr()


@pytest.mark.slow
@pytest.mark.parametrize("jobs", ["1", "2", "8"])
def test_several_processes_share_it(cache: Path, capsys: pytest.CaptureFixture[str], jobs: str) -> None:
    expected = _ran(capsys, "check", "models", "cut.onnx", "missing.onnx")
    for _ in range(3):
        assert _ran(capsys, "check", "--cache", "--jobs", jobs, "models", "cut.onnx", "missing.onnx") == expected
    shutil.copy("models/a.onnx", "models/aa.onnx")
    expected = _ran(capsys, "check", "models")
    assert _ran(capsys, "check", "--cache", "--jobs", jobs, "models") == expected


def test_a_verdict_serves_every_form(
    cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    forms = ("html", "concise", "sarif", "text")
    expected = {form: _ran(capsys, "models", "-f", form)[:2] for form in forms[1:]}
    _ran(capsys, "models", "--cache", "-f", forms[0])
    monkeypatch.setattr(lint, "lint_file", None)
    assert {form: _ran(capsys, "models", "--cache", "-f", form)[:2] for form in forms[1:]} == expected


def test_what_is_unchanged_is_not_linted_again(
    cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = _ran(capsys, "check", "--cache", "models")
    monkeypatch.setattr(lint, "lint_file", None)
    monkeypatch.setattr(lint_one, "lint_one", None)
    assert _ran(capsys, "check", "--cache", "--time-limit", "0.000001", "models") == expected


def test_a_baseline_and_severities_are_judged_anew(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options in ((), ("--write-baseline", "base.json"), ("--baseline", "base.json"), ("--severity", "cycle=note")):
        arguments = ("check", *options, "models")
        expected = _ran(capsys, *arguments)
        assert _ran(capsys, *arguments, "--cache") == expected
        assert _ran(capsys, *arguments, "--cache") == expected


def test_the_configuration_turns_it_on(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _ran(capsys, "check", "models")
    assert not cache.exists()
    Path("onnx-lint.toml").write_text("cache = true\n", encoding="utf-8")
    _ran(capsys, "check", "--no-cache", "models")
    assert not cache.exists()
    _ran(capsys, "check", "models")
    assert (cache / DATABASE).exists()


def test_a_folder_among_the_models_is_not_used(
    cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = _ran(capsys, "check", "models")
    for place in ("models", "models/deep/cache"):
        monkeypatch.setenv("ONNX_LINT_CACHE_DIR", str(Path(place).absolute()))
        code, out, errors = _ran(capsys, "check", "--cache", "models")
        assert (code, out) == expected[:2]
        assert errors.startswith("The cache is not used: ")
        assert "is inside 'models', which is checked" in errors
    assert not Path("models/deep").exists()


def test_standard_input_is_no_folder_of_models(
    cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cache may be in the working directory, as long as that is not checked."""
    monkeypatch.setenv("ONNX_LINT_CACHE_DIR", str(Path("cache").absolute()))
    with Path("models/a.onnx").open() as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        _, out, errors = _ran(capsys, "check", "--cache", "-", "models")
    assert errors == ""
    assert "4 models" in out
    assert (Path("cache") / DATABASE).exists()


def test_a_python_without_sqlite(
    cache: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = _ran(capsys, "check", "models")
    monkeypatch.setitem(sys.modules, "onnx_lint.cache.checks", None)
    code, out, errors = _ran(capsys, "check", "--cache", "models")
    assert (code, out) == expected[:2]
    assert errors.startswith("The cache is not used: ")


def test_a_damaged_cache_is_replaced_and_one_line_says_so(cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = _ran(capsys, "check", "models")
    _ran(capsys, "check", "--cache", "models")
    head = bytearray((cache / DATABASE).read_bytes())
    head[36:40] = b"\x90\0\0\0"
    (cache / DATABASE).write_bytes(head)
    code, out, errors = _ran(capsys, "check", "--cache", "models")
    assert (code, out) == expected[:2]
    path = cache / DATABASE
    assert errors.startswith("The cache was replaced: ")
    assert errors.endswith(f"is damaged (-1,879,048,192 free pages of {path.stat().st_size // 4_096})\n")
    assert _ran(capsys, "check", "--cache", "models") == expected


@pytest.mark.parametrize("jobs", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_a_cache_that_cannot_be_used_is_said_once(cache: Path, capfd: pytest.CaptureFixture[str], jobs: str) -> None:
    cache.mkdir(mode=0o700)
    (cache / DATABASE).mkdir()
    code = run(["check", "models"])
    expected = code, capfd.readouterr().out
    code = run(["check", "--cache", "--jobs", jobs, "models"])
    out, errors = capfd.readouterr()
    assert (code, out) == expected
    assert errors.count("The cache is not used: ") == errors.count("\n") == 1
    assert " is not a regular file; delete it, " in errors
