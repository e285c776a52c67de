# SPDX-License-Identifier: Apache-2.0
"""The gate of instructions compares the right commits, judges growth, and shows what it recorded."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support.project.checkout import ROOT

from onnx_lint import lint

LOG = """==42== Cachegrind, a cache and branch-prediction profiler
==42== Command: python onnx-lint bare.onnx
==42==
==42== I{spaces}refs:      301,485,992
"""


@pytest.fixture(scope="module")
def gate() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        yield importlib.import_module("instructions")


@pytest.fixture
def repository(gate: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty repository in the place of this one."""
    monkeypatch.setattr(gate, "ROOT", tmp_path)
    _git(tmp_path, "init", "--quiet", "--initial-branch", "main")
    return tmp_path


def _git(folder: Path, *arguments: str) -> str:
    author = ("-c", "user.name=a test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgsign=false")
    done = subprocess.run(("git", *author, *arguments), cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _commit(folder: Path, content: str, message: str = "a commit") -> str:
    for name in ("onnx_lint", "rules"):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "__init__.py").write_text(content)
    _git(folder, "add", "--all")
    _git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
    return _git(folder, "rev-parse", "HEAD")


# --- counting


@pytest.mark.parametrize("spaces", ["   ", " "])
def test_the_count_is_read_from_the_log_of_old_and_new_versions_of_valgrind(gate: ModuleType, spaces: str):
    assert gate.counted(LOG.format(spaces=spaces)) == 301_485_992


@pytest.mark.parametrize("log", ["", "==42== D refs: 5\n", "== I refs: 5\n"])
def test_a_log_without_a_count_ends_the_run(gate: ModuleType, log: str):
    with pytest.raises(SystemExit, match="reports no instructions"):
        gate.counted(log)


# --- judging


@pytest.mark.parametrize(
    ("after", "stated", "has_failed"),
    [
        (900, None, False),
        (1010, None, False),
        (1011, None, True),
        (1020, None, True),
        (1020, 2.0, False),
        (1022, 2.0, False),
        (1024, 2.0, True),
        (1020, 50.0, False),
    ],
)
def test_a_row_may_grow_by_one_percent_or_by_what_the_messages_state(
    gate: ModuleType, after: int, stated: float | None, has_failed: bool
):
    allowed = None if stated is None else gate.Allowance(stated, "NaN is reported")
    verdict = gate.judge("constants", 1000, after, allowed)
    assert verdict.has_failed is has_failed
    assert verdict.text.startswith("FAILED") is has_failed


def test_the_verdict_on_a_growth_that_nobody_stated_has_a_line_that_allows_it(gate: ModuleType):
    text = gate.judge("constants", 1000, 1026, None).text
    example = re.search("`(.*)`", text)[1]
    allowed = gate.allowances(example)
    assert allowed == {"constants": gate.Allowance(2.6, "what the user gets")}
    assert not gate.judge("constants", 1000, 1026, allowed["constants"]).has_failed


def test_what_several_messages_state_of_a_row_adds_up(gate: ModuleType):
    messages = """A commit

Instructions: constants +2.3 %: NaN in Constants is reported
Instructions: hook +1%: a new option

Another commit
  Instructions: constants + 1.2 %: so is infinity
"""
    found = gate.allowances(messages)
    assert found["constants"].growth == pytest.approx(3.5)
    assert found["constants"].reason == "NaN in Constants is reported; so is infinity"
    assert found["hook"] == gate.Allowance(1.0, "a new option")
    assert gate.unreadable_lines(messages) == []


@pytest.mark.parametrize(
    "line",
    [
        "Instructions: constants +2.3 %:",
        "Instructions: constants +2.3 %",
        "Instructions: constants 2.3 %: a reason",
        "Instructions: +2.3 %: a reason",
        "Instructions: constants, hook +2.3 %: a reason",
    ],
)
def test_a_line_without_a_row_a_growth_or_a_reason_allows_nothing(gate: ModuleType, line: str):
    assert gate.allowances(line) == {}
    assert gate.unreadable_lines(f"A commit\n\n{line}") == [line]


def test_a_line_for_an_unknown_row_is_shown(gate: ModuleType):
    line = "Instructions: constant +2.3 %: a reason"
    assert gate.unreadable_lines(line) == [line]


# --- the commits


def test_the_base_is_where_head_left_the_main_branch_of_origin(gate: ModuleType, repository: Path):
    base = _commit(repository, "1")
    main = _commit(repository, "2")
    _git(repository, "update-ref", "refs/remotes/origin/main", main)
    _git(repository, "checkout", "--quiet", "-b", "change", base)
    _commit(repository, "3")
    _commit(repository, "4")
    assert gate.base_commit(None) == base
    assert gate.base_commit("0" * 40) == base, "GitHub has no commit before that of a new branch"
    assert gate.base_commit("main") == base


def test_the_base_of_the_main_branch_is_the_commit_before(gate: ModuleType, repository: Path):
    first, second = _commit(repository, "1"), _commit(repository, "2")
    _git(repository, "update-ref", "refs/remotes/origin/main", second)
    assert gate.base_commit(None) == first
    assert not gate.is_changed()
    (repository / "rules" / "new.py").write_text("")
    assert gate.is_changed()
    assert gate.base_commit(None) == second, "what is not committed is compared with HEAD"


def test_without_a_base_a_reason_says_what_to_do(gate: ModuleType, repository: Path, tmp_path_factory: Any):
    _commit(repository, "1")
    with pytest.raises(gate.CannotMeasureError, match="this is the first commit"):
        gate.base_commit(None)
    with pytest.raises(gate.CannotMeasureError, match="git fetch origin missing"):
        gate.base_commit("missing")
    _commit(repository, "2")
    assert gate.base_commit(None)
    shallow = tmp_path_factory.mktemp("shallow")
    _git(shallow, "clone", "--quiet", "--depth", "1", repository.as_uri(), ".")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gate, "ROOT", shallow)
        with pytest.raises(gate.CannotMeasureError, match="git fetch --unshallow"):
            gate.base_commit(None)


def test_commits_that_change_no_code_are_equal(gate: ModuleType, repository: Path):
    first, second, third = _commit(repository, "1"), _commit(repository, "1"), _commit(repository, "2")
    assert first != second
    assert gate.code_of(first) == gate.code_of(second) != gate.code_of(third)


def test_the_last_release_is_the_newest_tag_else_the_recorded_commit(gate: ModuleType, repository: Path):
    first = _commit(repository, "1")
    recorded = {"release": {"name": "recorded", "commit": first}}
    assert gate.last_release(recorded) == gate.Release("recorded", first)
    gone = {"release": {"name": "recorded", "commit": "1" * 40}}
    assert gate.last_release(gone) == gate.Release("recorded", None)
    _git(repository, "tag", "v0.3.0")
    _commit(repository, "2")
    assert gate.last_release(recorded) == gate.Release("v0.3.0", first)


# --- the command


@pytest.fixture
def measured(gate: ModuleType, repository: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A repository of two commits, the counts that a measurement is to give, and a record of what it measured."""
    first = _commit(repository, "1")
    _commit(repository, "2")
    figures = {"release": {"name": "recorded", "commit": first}, "versions": {}, "instructions": {}}
    counts = {"base": {"constants": 1000}, "head": {"constants": 1020}, "last": {"constants": 1000}}
    monkeypatch.setattr(gate, "measure", lambda states, names: counts)
    monkeypatch.setattr(gate, "read_figures", lambda: figures)
    monkeypatch.setattr(gate.shutil, "which", lambda name: name)
    monkeypatch.setattr(sys, "argv", ["instructions.py", "--rows", "constants"])
    monkeypatch.delenv("BASE", raising=False)
    return [counts]


@pytest.mark.usefixtures("measured")
def test_a_commit_that_slows_a_row_by_two_percent_fails(gate: ModuleType, capsys: pytest.CaptureFixture[str]):
    assert gate.main() == 1
    printed = capsys.readouterr().out
    assert re.search(r"^constants +0\.0 +0\.0 +\+2\.00 % +\+2\.00 %  FAILED: more than 1 %", printed, re.MULTILINE)
    assert printed.splitlines()[-1] == "grew by too much: constants"


@pytest.mark.usefixtures("measured")
def test_it_passes_if_its_message_says_what_the_user_gets(
    gate: ModuleType, repository: Path, capsys: pytest.CaptureFixture[str]
):
    line = "Instructions: constants +2.0 %: NaN in Constants is reported"
    _git(repository, "commit", "--quiet", "--amend", "--message", f"A commit\n\n{line}")
    assert gate.main() == 0
    assert "stated (+2 %): NaN in Constants is reported" in capsys.readouterr().out


@pytest.mark.usefixtures("measured")
def test_a_release_that_is_not_measured_has_no_column(gate: ModuleType, capsys: pytest.CaptureFixture[str]):
    del gate.measure({}, [])["last"]
    assert gate.main() == 1
    assert re.search(r"\+2\.00 % +-  FAILED", capsys.readouterr().out)


@pytest.mark.usefixtures("measured")
def test_without_a_change_of_code_nothing_is_measured(
    gate: ModuleType, repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(sys, "argv", ["instructions.py"])
    monkeypatch.setattr(gate, "measure", None)
    _commit(repository, "2", "documentation")
    assert gate.main() == 0
    assert "nothing to measure" in capsys.readouterr().out


@pytest.mark.usefixtures("measured")
def test_without_valgrind_the_stage_says_so(
    gate: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setattr(gate.shutil, "which", lambda name: None)
    assert gate.main() == gate.CANNOT_RUN == 77
    assert capsys.readouterr().out == "valgrind is not installed\n"


# --- what runs


@pytest.mark.slow
def test_an_installation_runs_the_code_of_the_working_tree_as_a_wheel_has_it(gate: ModuleType, tmp_path: Path):
    made = gate.Installation.make(tmp_path / "head")
    made.install(None)
    code = "import onnx_lint, onnx_lint.rules as rules; print(onnx_lint.__file__, rules.__file__, sep='\\n')"
    python = str(made.folder / "bin" / "python")
    done = subprocess.run((python, "-I", "-c", code), check=True, capture_output=True, text=True)
    package = made.packages / "onnx_lint"
    assert done.stdout.splitlines() == [str(package / "__init__.py"), str(package / "rules" / "__init__.py")]
    model = ROOT / "tests" / "models"
    run = subprocess.run(made.command(gate.Row("models", lambda _: None), str(model)), capture_output=True)
    assert run.returncode in (0, 1), run.stderr


# --- the models and the file of figures


def test_the_recorded_rows_are_those_that_are_measured(gate: ModuleType):
    assert list(gate.read_figures()["instructions"]) == list(gate.ROWS)


def test_the_page_shows_the_recorded_figures(gate: ModuleType):
    assert gate.markdown(gate.read_figures()) in gate.README.read_text(encoding="utf-8")


def test_figures_are_written_into_the_file_and_the_page(
    gate: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    for name in ("FIGURES", "README"):
        copy = tmp_path / getattr(gate, name).name
        copy.write_bytes(getattr(gate, name).read_bytes())
        monkeypatch.setattr(gate, name, copy)
    counts = {"last": dict.fromkeys(gate.ROWS, 1_000_000), "head": dict.fromkeys(gate.ROWS, 2_000_000)}
    gate.write_figures(gate.read_figures(), gate.Release("v9", "1" * 40), counts)
    figures = json.loads(gate.FIGURES.read_text(encoding="utf-8"))
    assert figures["release"] == {"name": "v9", "commit": "1" * 40}
    assert gate.markdown(figures) in gate.README.read_text(encoding="utf-8")
    assert gate.recorded_figures(figures, gate.Release("v9", None))["hook"] == 1_000_000
    assert gate.recorded_figures(figures, gate.Release("v10", None)) == {}
    del counts["last"]["hook"]
    with pytest.raises(SystemExit, match="no figures for hook"):
        gate.write_figures(figures, gate.Release("v9", None), counts)


def test_exports_and_decoders_conform(gate: ModuleType):
    """A model with an error would measure the report of it."""
    exports, runtime_models, families = map(importlib.import_module, ("exports", "runtime_models", "families"))
    made = {f"{name} {seed}": export(seed) for name, export in exports.EXPORTERS.items() for seed in range(6)}
    made["decoder"] = runtime_models.decoder(4)
    made |= {f"family {seed} {name}": model for seed in range(6) for name, model in families.family(seed)}
    with_findings = {
        name: report.diagnostics
        for name, model in made.items()
        if (report := lint(model.SerializeToString(deterministic=True))).diagnostics
    }
    assert with_findings == {}
    operators = {node.op_type for node in made["decoder"].graph.node if node.domain == "com.microsoft"}
    assert operators >= {"GroupQueryAttention", "MatMulNBits", "MoE", "QMoE", "RotaryEmbedding"}


def test_the_same_seed_gives_the_same_bytes(gate: ModuleType):
    exports = importlib.import_module("exports")
    for export in exports.EXPORTERS.values():
        first, again, other = (export(seed).SerializeToString(deterministic=True) for seed in (3, 3, 4))
        assert first == again != other


def test_the_members_of_a_family_differ_in_precision_sizes_and_names(gate: ModuleType):
    families = importlib.import_module("families")
    for seed in range(6):
        members = dict(families.family(seed))
        assert list(members) == ["fp32", "fp16", "int8", "checkpoint_1", "checkpoint_2", "checkpoint_3"]
        again = dict(families.family(seed))
        written = {name: model.SerializeToString(deterministic=True) for name, model in members.items()}
        assert written == {name: model.SerializeToString(deterministic=True) for name, model in again.items()}
        assert len(set(written.values())) == len(written)
        operators = {name: [node.op_type for node in model.graph.node] for name, model in members.items()}
        alike = ("fp32", "fp16", "checkpoint_1", "checkpoint_2", "checkpoint_3")
        assert all(operators[name] == operators["fp32"] for name in alike)
        assert {"QuantizeLinear", "DequantizeLinear"} <= set(operators["int8"])
        weights = {name: model.graph.initializer[-1] for name, model in members.items()}
        assert len({tensor.name for tensor in weights.values()}) == 4
        assert len({tuple(tensor.dims) for tensor in weights.values()}) == 4
        assert weights["fp16"].data_type == 10
