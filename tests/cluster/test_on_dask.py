# SPDX-License-Identifier: Apache-2.0
"""`check --cluster` on two real workers: the bytes of `-j 1`, whatever is killed meanwhile."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest
from support.processes.harmful import PLUGIN, write_model

pytest.importorskip("distributed")

PATIENCE: Final = 300
pytestmark = [pytest.mark.cluster, pytest.mark.skipif(os.name != "posix", reason="processes end by signals")]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: 300 models, and a plugin that does what they say."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ONNX_LINT_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES", "100")
    (tmp_path / "models").mkdir()
    (tmp_path / "plugin.py").write_text(PLUGIN.replace('yield Finding(ROOT, "WORDS")', "yield from ()"))
    for number in range(300):
        write_model(tmp_path / "models" / f"{number:03}.textproto")
    return tmp_path


@contextlib.contextmanager
def dask(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Yield the address and the process of a scheduler. It has two workers, each with a nanny that replaces it."""
    file = folder / "scheduler.json"
    file.unlink(missing_ok=True)
    with contextlib.ExitStack() as stack, (folder / "dask.log").open("ab") as log:

        def started(program: str, *arguments: str) -> subprocess.Popen[bytes]:
            arguments = ("--scheduler-file", str(file), "--no-dashboard", *arguments)
            command = [sys.executable, "-m", f"distributed.cli.dask_{program}", *arguments]
            process = stack.enter_context(subprocess.Popen(command, stdout=log, stderr=log, process_group=0))
            stack.callback(os.killpg, process.pid, signal.SIGKILL)
            return process

        scheduler = started("scheduler", "--host", "127.0.0.1", "--port", "0")
        wait_for(file.exists)
        started("worker", "--nworkers", "2", "--nthreads", "1")
        yield json.loads(file.read_text())["address"], scheduler


def wait_for(is_there: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_there():
        assert time.monotonic() < end
        time.sleep(0.05)


def begun(*options: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "onnx_lint", "check", "--no-config", *options, "models"]
    with Path("out").open("wb") as out, Path("errors").open("wb") as errors:
        return subprocess.Popen(command, stdout=out, stderr=errors)


def ended(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    return process.wait(timeout=PATIENCE), Path("out").read_bytes(), Path("errors").read_bytes()


def ran(*options: str) -> tuple[int, bytes, bytes]:
    return ended(begun(*options))


def test_every_form_has_the_same_bytes(folder: Path) -> None:
    (folder / "models" / "cut.onnx").write_bytes(b"\x08")
    with dask(folder) as (address, _):
        for form in ("text", "jsonl", "sarif", "html"):
            there, here = ran("--cluster", address, "-f", form), ran("-j", "1", "-f", form)
            assert (there[0], _COMMAND.sub(b"", there[1]), there[2]) == (here[0], _COMMAND.sub(b"", here[1]), here[2])


_COMMAND: Final = re.compile(rb"<br>.* UTC: onnx-lint check .*")
"""The line of a page with the time and the command."""


def test_only_the_file_that_ends_each_worker_is_not_checked(folder: Path) -> None:
    expected = ran("-f", "concise")[1].splitlines()
    for name, harm in {"030": "worker once", "060": "kill once", "hopeless": "worker"}.items():
        write_model(folder / "models" / f"{name}.textproto", harm)
    with dask(folder) as (address, _):
        code, out, errors = ran("-f", "concise", "--plugin", "plugin.py", "--cluster", address)
    assert code == 2
    assert b"models/hopeless.textproto: each worker that was to check the file ended" in out + errors
    assert [line for line in out.splitlines() if b"hopeless" not in line] == expected
    assert {path.name for path in folder.glob("killed*")} == {"killed", "killed worker"}


def test_a_killed_scheduler_and_a_killed_client_lose_nothing_that_is_done(folder: Path) -> None:
    """A run with a plugin file is not kept in the cache: the last run, which needs no cluster, has none."""
    write_model(folder / "models" / "290.textproto", "hold")
    (folder / "hold").touch()
    with dask(folder) as (address, scheduler):
        process = begun("-f", "jsonl", "--plugin", "plugin.py", "--cluster", address)
        wait_for((folder / "held").exists)
        scheduler.kill()
        code, out, errors = ended(process)
    assert code == 2
    assert b"the connection to the scheduler of Dask is lost; with --cache the same command continues" in errors
    assert not out or b'"record":"summary"' in out.splitlines()[-1]
    expected = ran("-f", "jsonl", "-j", "1")
    with dask(folder) as (address, _):
        cached = ("-f", "jsonl", "--cache", "--cluster", address)
        process = begun(*cached)
        wait_for(lambda: Path("out").read_bytes().count(b"\n") > 10)
        process.kill()
        process.wait()
        assert ran(*cached) == expected
    assert ran(*cached) == ran("-f", "jsonl", "-j", "1", "--cache") == expected
