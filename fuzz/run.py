# SPDX-License-Identifier: Apache-2.0
"""The long run: `python -m fuzz.run --count 150000 --seed 1 --jobs 2`.

Each worker is a process of its own with a limit on memory, and on the time of the processor for each input. An input
that breaks one of them, crashes a rule or ends the process is saved, and the run goes on behind it.
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from .corpus import Seed, seeds
from .crew import attend
from .inputs import input_of
from .minimise import minimised
from .worker import Cost, Worker, checked_alone

MAX_MINIMISED = 20
"""The most failing inputs to minimise. Each takes a minute at most."""


@dataclass
class Run:
    """A run: its inputs, the number of processes, and the problems found."""

    seed: int
    first: int
    end: int
    jobs: int
    problems: dict[int, str] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)

    def go(self) -> None:
        """Check all inputs. A worker that dies is replaced by one that goes on behind the input at which it did."""
        workers = [Worker.start(self.seed, range(self.first + job, self.end, self.jobs)) for job in range(self.jobs)]
        attend(workers, self._hear, self._after, 1)

    def _hear(self, worker: Worker) -> bool:
        """Handle a message of the worker; return whether there is more to come."""
        try:
            number, problem, cost = worker.connection.recv()
        except EOFError:
            return False
        self.cost = self.cost.joined(cost)
        if number is not None:
            self._fail(number, problem)
        else:
            worker.current.value = self.end
        return number is not None

    def _fail(self, number: int, problem: str) -> None:
        self.problems[number] = problem
        name = input_of(self.seed, number).name
        print(f"input {number} ({name}): {problem.strip().splitlines()[0]}", flush=True)

    def _after(self, worker: Worker) -> list[Worker]:
        """The worker that takes the place of one that has ended: none behind the last input."""
        how, number = worker.end(), worker.current.value
        if number >= self.end:
            return []
        if number < 0:
            raise RuntimeError(f"a worker did not get to its first input: {how}")
        self._fail(number, how)
        following = range(number + self.jobs, self.end, self.jobs)
        return [Worker.start(self.seed, following)] if following else []


def save(run: Run, folder: Path) -> None:
    """Write each failing input and its problem into the folder, and for the first ones a smaller input."""
    folder.mkdir(parents=True, exist_ok=True)
    for count, (number, problem) in enumerate(sorted(run.problems.items())):
        given = input_of(run.seed, number)
        path = folder / f"{run.seed}-{number}{given.suffix}"
        path.write_bytes(given.data)
        about = f"made from {given.name}\nread as {given.message}\n\n{problem}\n"
        path.with_suffix(".txt").write_text(about, encoding="utf-8", errors="replace")
        if count < MAX_MINIMISED:
            small = minimised(given, problem, functools.partial(_checked_again, number))
            path.with_suffix(f".min{given.suffix}").write_bytes(small.data)


def _checked_again(number: int, given: Seed) -> str | None:
    return checked_alone(given, number)


def main() -> int:
    """Run from the command line; returns 1 when an input failed."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.run", description=__doc__)
    parser.add_argument("--count", type=int, default=150_000, help="how many inputs")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--seed", type=int, default=1, help="with the number it determines the input")
    parser.add_argument("--jobs", type=int, default=2, help="how many processes")
    parser.add_argument("--save", type=Path, default=Path("fuzz-failures"), help="folder for failing inputs")
    options = parser.parse_args()
    started = time.monotonic()
    print(f"{options.count:,} inputs from {len(seeds()):,} seeds, seed {options.seed}", flush=True)
    run = Run(options.seed, options.first, options.first + options.count, options.jobs)
    run.go()
    seconds = time.monotonic() - started
    print(f"{options.count:,} inputs in {seconds:,.0f} s, {len(run.problems):,} failed", flush=True)
    longest, peak = run.cost.seconds, run.cost.peak_kib // 1024
    print(f"longest: {longest:.2f} s of the processor (input {run.cost.number}); peak memory {peak} MiB", flush=True)
    if run.problems:
        save(run, options.save)
        print(f"all are in {options.save}")
    return 1 if run.problems else 0


if __name__ == "__main__":
    sys.exit(main())
