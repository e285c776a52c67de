# SPDX-License-Identifier: Apache-2.0
"""A batch of files on a worker: the handshake, the process beside the worker, and files that end it."""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.processes.harmful import PLUGIN, write_model

from onnx_lint.cluster import worker
from onnx_lint.cluster.messages import Answer, Job, digest_of_files, program
from onnx_lint.common.model_limits import NO_LIMITS, ModelLimits
from onnx_lint.engine.lint import lint_file
from onnx_lint.engine.settings import Settings
from onnx_lint.report import Context

pytestmark = pytest.mark.skipif(os.name != "posix", reason="processes end by signals")


@pytest.fixture(autouse=True)
def cell(monkeypatch: pytest.MonkeyPatch) -> Iterator[worker._Cell]:
    """The process of this test. A batch has time enough, on a busy machine too."""
    monkeypatch.setattr(worker, "_BATCH_SECONDS", 600.0)
    monkeypatch.setattr(worker, "_own", threading.local())
    made = worker._own.__dict__["cell"] = worker._Cell()
    yield made
    made._idle.cancel()
    made._close()


@pytest.fixture
def plugin(tmp_path: Path) -> str:
    path = tmp_path / "plugin.py"
    path.write_text(PLUGIN, encoding="utf-8")
    return str(path)


def batch(folder: Path, names: Sequence[str], plugin: str | None = None, limits: ModelLimits = NO_LIMITS) -> Any:
    """The answers of a worker. Each name is the harm that the model does, perhaps with a number."""
    settings = pickle.dumps(Settings(plugins=(plugin,), select=("harmful",)) if plugin else Settings())
    for name in names:
        write_model(folder / name, name.rstrip("0123456789 ") or "tests")
    jobs = tuple(Job(10 + i, name, None, Context.NONE, settings, str(folder), True) for i, name in enumerate(names))
    paths = (plugin,) if plugin else ()
    found = worker.lint_batch(program(), paths, digest_of_files(paths), pickle.dumps((jobs, limits)))
    return found if isinstance(found, str) else [Answer(*values) for values in found]


def words_of(answers: list[Answer]) -> list[str]:
    """How each file ended its process, or what the plugin says of it."""
    return [each.words or each.report().diagnostics[0].message for each in answers]


def test_a_worker_with_other_code_or_files_says_so(plugin: str) -> None:
    """Before it unpickles anything."""
    assert worker.lint_batch("1.0 (digest)", (), "", b"no pickle") == (
        f"it has onnx-lint {program()}, but this run 1.0 (digest)"
    )
    assert worker.lint_batch(program(), (plugin,), "another digest", b"no pickle") == (
        f"it does not have the same files {plugin}"
    )


def test_files_are_linted_in_one_process_that_is_kept(
    tmp_path: Path, cell: worker._Cell, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"{number}" for number in range(20)]
    first = batch(tmp_path, names)
    monkeypatch.chdir(tmp_path)
    assert [(each.index, each.report()) for each in first] == [
        (index, lint_file(name, Settings())) for index, name in enumerate(names, 10)
    ]
    assert [each.entry()["identity"][2] for each in first] == [os.path.getsize(name) for name in names]
    (kept,) = [process.pid for process in cell._pool.processes]
    batch(tmp_path, names[:1])
    assert [process.pid for process in cell._pool.processes] == [kept]
    cell._close()
    assert cell._pool.processes == []
    assert len(batch(tmp_path, names[:1])) == 1


def test_a_batch_returns_when_its_time_is_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_BATCH_SECONDS", 0.0)
    answers = batch(tmp_path, [f"{number}" for number in range(9)])
    assert [each.index for each in answers] == [10]
    monkeypatch.setattr(worker, "_BATCH_SECONDS", 600.0)
    monkeypatch.setattr(worker, "_BATCH_BYTES", 1)
    answers = batch(tmp_path, [f"{number}" for number in range(9)])
    assert len(answers) < 9


def test_a_file_that_ends_its_process_has_another_try(tmp_path: Path, plugin: str) -> None:
    found = words_of(batch(tmp_path, ["1", "exit", "2", "kill once", "3"], plugin))
    assert found[1] == "with exit code 7"
    assert [found[0], *found[2:]] == ["WORDS"] * 4


@pytest.mark.slow
def test_a_file_that_takes_too_long_is_ended(tmp_path: Path, plugin: str) -> None:
    (found,) = words_of(batch(tmp_path, ["sleep"], plugin, ModelLimits(seconds=1.0)))
    assert found == "the model took longer than 1 second (option --time-limit)"


def test_a_plugin_that_was_edited_is_loaded_again(tmp_path: Path, plugin: str) -> None:
    (before,) = words_of(batch(tmp_path, ["1"], plugin))
    Path(plugin).write_text(PLUGIN.replace("WORDS", "other words"), encoding="utf-8")
    (after,) = words_of(batch(tmp_path, ["1"], plugin))
    assert (before, after) == ("WORDS", "other words")


def test_a_process_that_cannot_start_is_a_fault_of_the_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_own", threading.local())
    monkeypatch.setattr(worker, "prepared", os.abort)
    assert batch(tmp_path, ["1"]) == "no process can start there: it ended by signal SIGABRT"
