# SPDX-License-Identifier: Apache-2.0
"""Which files directories, globs and `--exclude` come to, several processes, and the progress bar."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

from onnx_lint.cli import jobs
from onnx_lint.cli.jobs import Linting, worthwhile_jobs
from onnx_lint.cli.paths import Exclusion, find_inputs
from onnx_lint.cli.progress import is_wanted
from onnx_lint.common import memory
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import ReadError, Source
from onnx_lint.model import Model
from onnx_lint.tasks.lint_one import Task


@pytest.fixture(autouse=True)
def zoo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A working directory with models in several folders."""
    for name in ("a.onnx", "zoo/b.onnx", "zoo/b.txt", "zoo/deep/c.onnx", "zoo/deep/d.ONNX", "old/e.onnx", "[x].onnx"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("paths", "exclude", "expected"),
    [
        (["*.onnx"], [], ["[x].onnx", "a.onnx"]),
        (["**/*.onnx"], [], ["[x].onnx", "a.onnx", "old/e.onnx", "zoo/b.onnx", "zoo/deep/c.onnx"]),
        (["zoo/**"], [], ["zoo/b.onnx", "zoo/deep/c.onnx", "zoo/deep/d.ONNX"]),
        (["zoo/*"], [], ["zoo/b.onnx", "zoo/b.txt", "zoo/deep/c.onnx", "zoo/deep/d.ONNX"]),
        (["z?o", "zoo/b.onnx"], [], ["zoo/b.onnx", "zoo/deep/c.onnx", "zoo/deep/d.ONNX"]),
        (["[x].onnx"], [], ["[x].onnx"]),
        (["[ab].onnx"], [], ["a.onnx"]),
        ([".", "a.onnx"], ["zoo"], ["./[x].onnx", "./a.onnx", "./old/e.onnx"]),
        (["."], ["zoo/", "old/*"], ["./[x].onnx", "./a.onnx"]),
        (["zoo"], ["zoo/deep"], ["zoo/b.onnx"]),
        (["zoo"], ["**/d.*", "b.onnx"], ["zoo/deep/c.onnx"]),
        (["a.onnx", "old/e.onnx"], ["old/**"], ["a.onnx"]),
        (["a.onnx", "old"], ["e.onnx"], ["a.onnx"]),
        (["**/*.onnx"], ["zoo"], ["[x].onnx", "a.onnx", "old/e.onnx"]),
    ],
)
def test_inputs(paths: list[str], exclude: list[str], expected: list[str]) -> None:
    found = find_inputs(paths, Exclusion(exclude))
    assert [item.path for item in found] == expected
    assert [item.problem for item in found] == [None] * len(expected)


def test_addresses_that_reports_cannot_tell_apart_have_numbers() -> None:
    """Two addresses that differ only in user and password are two files; one that is named twice is one."""
    first, second, third = "https://h/m?id=1", "https://h/m?id=2", "https://user:secret@h/m?id=3"
    found = find_inputs([first, "s3://b/m.onnx", second, first, third, "https://h/m"])
    assert [(item.path, item.name) for item in found] == [
        (first, "https://h/m?id=***"),
        ("s3://b/m.onnx", "s3://b/m.onnx"),
        (second, "https://h/m?id=***#2"),
        (third, "https://h/m?id=***#3"),
        ("https://h/m", "https://h/m"),
    ]


@pytest.mark.parametrize(
    ("paths", "exclude", "problem"),
    [
        (["*.nothing"], [], "*.nothing: no model matches"),
        (["nowhere/**"], [], "nowhere/**: no model matches"),
        (["a.onnx"], ["a.*"], "a.onnx: every file is excluded"),
        (["zoo", "old"], ["*.onnx", "*.ONNX"], "zoo: every file is excluded"),
    ],
)
def test_nothing_to_lint_is_a_problem(paths: list[str], exclude: list[str], problem: str) -> None:
    assert [item.problem for item in find_inputs(paths, Exclusion(exclude))] == [problem]


def test_models_in_stores_are_opened_ahead_and_come_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each comes with what another thread has opened, or with the reason why it could not."""
    begun: list[str] = []

    class Opening:
        def __init__(self, task: Task) -> None:
            self.path = task.path

        def open(self, most: int | None = None) -> Source:
            begun.append(self.path)
            raise ReadError(self.path)

    monkeypatch.setattr(jobs, "opening_of", Opening)
    remote = [f"s3://b/{number}" for number in range(20)]
    names = [remote[0], "a.onnx", *remote[1:], "old/e.onnx"]
    tasks = [Task(name, Settings()) for name in names]
    given = list(jobs._with_openings(tasks, range(len(tasks)), [names.index(name) for name in remote]))
    assert given[:2] == [(names.index("a.onnx"), None), (names.index("old/e.onnx"), None)]
    assert sorted(names[index] for index, _ in given[2:]) == sorted(begun) == sorted(remote)
    for index, opening in given[2:]:
        assert opening is not None
        with pytest.raises(ReadError, match=f"^{names[index]}$"):
            opening()
    assert list(jobs._with_openings(tasks, [1, 0], ())) == [(1, None), (0, None)]


def test_processes_give_what_one_gives() -> None:
    settings = Settings(select=("error",), options={"checksum-mismatch": {"verify": True}})
    names = ["a.onnx", "missing.onnx", "zoo/b.onnx", "zoo/deep/c.onnx"]
    tasks = [Task(name, settings) for name in names] + [Task("zoo/none", settings, "zoo/none: no")]
    done: list[str] = []
    several, one = Linting(tasks, 2, done.append), Linting(tasks, 1)
    order = list(several.indices())
    assert order == list(one.indices()) == list(range(len(tasks)))
    assert several.done == one.done
    assert [several.done[index].path for index in order] == [*names, "zoo/none"]
    assert sorted(done) == sorted([*names, "zoo/none"])


@pytest.mark.parametrize(
    ("sizes", "most", "expected"),
    [
        ([], 4, 1),
        ([0] * 639, 4, 1),
        ([0] * 640, 4, 2),
        ([0] * 2000, 2, 2),
        ([0] * 5000, 64, 15),
        ([40_000] * 81, 4, 2),
        ([9_000_000, 9_000_000], 4, 2),
        ([50_000_000] * 10, 4, 4),
        ([1_000_000] * 4, 4, 1),
    ],
)
def test_little_work_is_for_few_processes(sizes: list[int], most: int, expected: int) -> None:
    tasks = [Task("missing", Settings())] * sizes.count(0)
    for size in sorted({*sizes} - {0}):
        with open(str(size), "wb") as file:
            file.truncate(size)
        tasks += [Task(str(size), Settings())] * sizes.count(size)
    assert worthwhile_jobs(tasks, most) == expected


def test_some_dozens_of_remote_models_are_worth_a_process() -> None:
    tasks = [Task(f"https://localhost/{number}.onnx", Settings()) for number in range(100)]
    assert worthwhile_jobs(tasks[:63], 8) == 1
    assert worthwhile_jobs(tasks, 8) == 3
    assert worthwhile_jobs(tasks[:3], 8) == 1


def test_a_bar_is_for_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    assert not is_wanted(quiet=False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert is_wanted(quiet=False)
    assert not is_wanted(quiet=True)
    monkeypatch.setenv("TERM", "dumb")
    assert not is_wanted(quiet=False)


def _models() -> int:
    return sum(type(item) is Model for item in gc.get_objects())


@pytest.mark.parametrize("collector", [gc.enable, gc.disable])
def test_models_do_not_pile_up_in_memory(collector: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither where the collector works by itself nor where the program holds it, as the command line does."""
    nodes = [onnx.helper.make_node("Relu", [f"v{index}"], [f"v{index + 1}"]) for index in range(1000)]
    graph = onnx.helper.make_graph(nodes, "g", [], [])
    tasks = [Task(f"{name}.onnx", Settings()) for name in "abcd"]
    for task in tasks:
        onnx.save(onnx.helper.make_model(graph), task.path)
    monkeypatch.setattr(memory, "_MANY_OBJECTS", 1000)
    gc.collect()
    before = _models()  # those that other tests keep
    collector()
    alive: list[int] = []
    try:
        for _ in Linting(tasks, 1, lambda _: alive.append(_models() - before)).indices():
            pass
    finally:
        gc.enable()
    assert len(alive) == len(tasks)
    assert max(alive) <= 1
