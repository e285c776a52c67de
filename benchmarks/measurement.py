# SPDX-License-Identifier: Apache-2.0
"""Runs commands as whole processes, in turn, and measures wall time and peak memory."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

TIME_LIMIT = 120.0
"""After how many seconds a process is ended; a peer that needs longer has no figure but this one."""
SLOW = 15.0
"""A command that took this many seconds is not run again: its noise is small beside its time."""
_OF_DEVELOPERS: Final = frozenset({"PYTHONDONTWRITEBYTECODE", "PYTHONPYCACHEPREFIX", "PYTHONPATH"})
"""Variables of the environment that would have another program measured than the one that is installed."""


@dataclass(frozen=True, slots=True)
class Run:
    """One process: seconds from start to end and of the processor, peak of resident memory in MB (10**6 bytes), how."""

    seconds: float
    processor_seconds: float
    peak: float
    exit_code: int
    complaint: str
    """The last line of its standard error."""

    @property
    def was_ended(self) -> bool:
        """True if it ran into the time limit."""
        return self.seconds >= TIME_LIMIT


@dataclass(frozen=True, slots=True)
class Command:
    """A command, which is to exit with 0 where the model gives it no reason for anything else."""

    name: str
    arguments: tuple[str, ...]
    exit_code: int = 0


@dataclass(slots=True)
class Series:
    """The runs of one command on one model, in the order of the rounds."""

    command: Command
    runs: list[Run] = field(default_factory=list)

    @property
    def failure(self) -> str | None:
        """Why there is no figure, if there is none."""
        for run in self.runs:
            if run.was_ended:
                return f"more than {TIME_LIMIT:g} s"
            if run.exit_code != self.command.exit_code:
                return f"exit code {run.exit_code}{': ' * bool(run.complaint)}{run.complaint}"
        return None

    @property
    def processor_seconds(self) -> float:
        """The least time of the processor: what else runs only adds to it."""
        return min(run.processor_seconds for run in self.runs)

    @property
    def peak(self) -> float:
        """The largest of the peaks."""
        return max(run.peak for run in self.runs)

    def ratio(self, other: Series) -> float:
        """The least processor time of this command through that of the other."""
        return self.processor_seconds / other.processor_seconds


_LAUNCHER: Final = """
import os, signal, sys, time
limit, errors, *command = sys.argv[1:]
actions = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0), (os.POSIX_SPAWN_OPEN, 2, errors, os.O_WRONLY, 0)]
start = time.perf_counter()
process = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
signal.signal(signal.SIGALRM, lambda *_: os.kill(process, signal.SIGKILL))
signal.setitimer(signal.ITIMER_REAL, float(limit))
_, status, usage = os.wait4(process, 0)
seconds = time.perf_counter() - start
print(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, os.waitstatus_to_exitcode(status))
"""
"""Starts a command and measures it.

A process counts the memory of the one that started it to its own peak, since Linux carries that over exec. This one
imports nothing that it does not need, so it is smaller than any Python that checks a model.
"""


class Laboratory:
    """Measures commands as they are installed, after a first run of each that does not count.

    PYTHONDONTWRITEBYTECODE is taken out of their environment: an editable installation compiles its byte code in the
    first run, which pip does for any other when it installs it. A cache of verdicts is one of this laboratory alone.
    """

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._warm: set[str] = set()
        self._environment: Mapping[str, str] = {
            **{name: value for name, value in os.environ.items() if name not in _OF_DEVELOPERS},
            "OPENBLAS_NUM_THREADS": "1",  # numpy's second thread would count as time of the peers that import it
            "ONNX_LINT_CACHE_DIR": str(Path(self._folder.name) / "verdicts"),
        }

    def __enter__(self) -> Laboratory:
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def compare(self, commands: Sequence[Command], rounds: int, warm_up: Path) -> list[Series]:
        """Run the commands in turn, `rounds` times over; before its first, each runs once on a small model, unmeasured.

        The last argument of a command is the path, which `warm_up` takes the place of.
        """
        for command in commands:
            if command.name not in self._warm:
                self._warm.add(command.name)
                self.run((*command.arguments[:-1], str(warm_up)))
        series = [Series(command) for command in commands]
        for _ in range(rounds):
            for item in series:
                if item.failure is None and not any(run.seconds > SLOW for run in item.runs):
                    item.runs.append(self.run(item.command.arguments))
        return series

    def run(self, arguments: Sequence[str]) -> Run:
        """Run one process to its end, in an empty folder, so that it imports only what is installed."""
        errors = Path(self._folder.name) / "errors"
        errors.write_bytes(b"")
        launcher = (sys.executable, "-I", "-S", "-c", _LAUNCHER, str(TIME_LIMIT), str(errors))
        done = subprocess.run(
            (*launcher, *arguments),
            cwd=self._folder.name,
            env=self._environment,
            stdout=subprocess.PIPE,
            check=True,
            text=True,
        )
        seconds, processor_seconds, peak, exit_code = done.stdout.split()
        lines = errors.read_text(errors="replace").strip().splitlines()
        complaint = lines[-1].replace(f"{Path(arguments[-1]).parent}{os.sep}", "") if lines else ""
        return Run(float(seconds), float(processor_seconds), int(peak) * 1024 / 1e6, int(exit_code), complaint)
