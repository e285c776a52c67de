# SPDX-License-Identifier: Apache-2.0
"""`check --cluster` on two real workers: the bytes of `-j 1`, whatever is killed meanwhile."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
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


class Dask:
    """A scheduler and two workers, each with a nanny that replaces it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.address = folder, ""
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self) -> None:
        file = self.folder / "scheduler.json"
        file.unlink(missing_ok=True)
        scheduler = ("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
        self._run(*scheduler)
        wait_for(file.exists)
        for _ in range(2):
            self._run("worker", "--scheduler-file", str(file), "--no-dashboard", "--nthreads", "1")
        self.address = json.loads(file.read_text())["address"]

    def _run(self, program: str, *arguments: str) -> None:
        code = f"from distributed.cli.dask_{program} import main; main()"
        with (self.folder / "dask.log").open("ab") as log:
            command = [sys.executable, "-c", code, *arguments]
            environment = {**os.environ, "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "100"}
            self.processes.append(
                subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder, env=environment, process_group=0)
            )

    def stop(self) -> None:
        for process in self.processes:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self.processes.clear()


def wait_for(is_there: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_there():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def dask(tmp_path: Path) -> Iterator[Dask]:
    """Runs in a folder with 300 models."""
    (tmp_path / "models").mkdir()
    for number in range(300):
        write_model(tmp_path / "models" / f"{number:03}.textproto")
    made = Dask(tmp_path)
    made.start()
    yield made
    made.stop()


def begun(dask: Dask, *options: str) -> subprocess.Popen[bytes]:
    with (dask.folder / "out").open("wb") as out, (dask.folder / "errors").open("wb") as errors:
        return subprocess.Popen(
            [sys.executable, "-m", "onnx_lint", "check", "--no-config", *options, "models"],
            cwd=dask.folder,
            env={**os.environ, "ONNX_LINT_CACHE_DIR": str(dask.folder / "cache")},
            stdout=out,
            stderr=errors,
        )


def ended(dask: Dask, process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    code = process.wait(timeout=PATIENCE)
    return code, (dask.folder / "out").read_bytes(), (dask.folder / "errors").read_bytes()


def ran(dask: Dask, *options: str) -> tuple[int, bytes, bytes]:
    return ended(dask, begun(dask, *options))


def harm(dask: Dask, **files: str) -> tuple[str, str]:
    """Give models a harm, by their numbers; return the option for the plugin that does it."""
    (dask.folder / "plugin.py").write_text(PLUGIN.replace('yield Finding(ROOT, "WORDS")', "yield from ()"))
    for number, name in files.items():
        write_model(dask.folder / "models" / f"{number[1:]}.textproto", name)
    return "--plugin", "plugin.py"


def test_every_form_has_the_same_bytes(dask: Dask) -> None:
    (dask.folder / "models" / "cut.onnx").write_bytes(b"\x08")
    for form in ("text", "jsonl", "sarif", "html"):
        assert ran(dask, "--cluster", dask.address, "-f", form) == ran(dask, "-j", "1", "-f", form)


def test_only_the_file_that_ends_each_worker_is_not_checked(dask: Dask) -> None:
    options = harm(dask, m030="worker once", m060="kill once")
    (dask.folder / "models" / "hopeless.textproto").touch()
    expected = [line for line in ran(dask, "-f", "concise")[1].splitlines() if b"hopeless" not in line]
    write_model(dask.folder / "models" / "hopeless.textproto", "worker")
    code, out, errors = ran(dask, "-f", "concise", *options, "--cluster", dask.address)
    assert code == 2
    assert b"models/hopeless.textproto: each worker that was to check the file ended" in out + errors
    found = [line for line in out.splitlines() if b"hopeless" not in line]
    assert found[:-1] == expected[:-1]
    assert {path.name for path in dask.folder.glob("killed*")} == {"killed", "killed worker"}


def test_a_killed_scheduler_and_a_killed_client_lose_nothing_that_is_done(dask: Dask) -> None:
    """A run with a plugin file is not kept in the cache: the last run, which needs no cluster, has none."""
    options = harm(dask, m290="hold")
    (dask.folder / "hold").touch()
    process = begun(dask, "-f", "jsonl", *options, "--cluster", dask.address)
    wait_for((dask.folder / "held").exists)
    os.killpg(dask.processes[0].pid, signal.SIGKILL)
    code, out, errors = ended(dask, process)
    assert code == 2
    assert b"the connection to the scheduler of Dask is lost; with --cache the same command continues" in errors
    assert not out or b'"record":"summary"' in out.splitlines()[-1]
    dask.stop()
    dask.start()
    cached = ("-f", "jsonl", "--cache", "--cluster", dask.address)
    process = begun(dask, *cached)
    wait_for(lambda: entries(dask) > 10)
    process.kill()
    process.wait()
    expected = ran(dask, "-f", "jsonl", "-j", "1")
    assert ran(dask, *cached) == expected
    assert entries(dask) == 300
    dask.stop()
    assert ran(dask, *cached) == ran(dask, "-f", "jsonl", "-j", "1", "--cache") == expected


def entries(dask: Dask) -> int:
    """The number of entries of the cache."""
    with (
        contextlib.suppress(sqlite3.Error),
        sqlite3.connect(f"file:{dask.folder}/cache/verdicts.db?mode=ro", uri=True) as database,
    ):
        return int(database.execute("SELECT count(*) FROM verdicts").fetchone()[0])
    return 0


def test_what_is_no_cluster_is_said_in_a_sentence(dask: Dask) -> None:
    dask.stop()
    code, out, errors = ran(dask, "--cluster", dask.address)
    assert (code, out) == (2, b"")
    assert errors.startswith(b"Error: no scheduler of Dask answers at tcp://127.0.0.1:")
    for option, value in (("-j", "2"), ("--fix", "--no-cache"), ("--diff", "--no-cache")):
        code, _, errors = ran(dask, "--cluster", dask.address, option, value)
        assert code == 2
        assert b"--cluster cannot be combined with" in errors
