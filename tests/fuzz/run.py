# SPDX-License-Identifier: Apache-2.0
"""The long run: `python -m tests.fuzz.run --count 200000 --seed 1 --jobs 2`.

Each worker is a process of its own with a limit on memory, and each input has a limit on the time of the processor. An
input that breaks one of them, crashes a rule or ends the process is saved, and the run goes on behind it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import signal
import sys
import time
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType

from .corpus import seeds
from .mutation import mutated
from .oracle import problem_of

SECONDS = 5.0
"""How long the processor may be busy with one input."""

STUCK_SECONDS = 60.0
"""After so long a worker that says nothing is ended from outside."""

MEMORY_BYTES = 1 << 30
REPORT_EVERY = 100
"""A worker tells how far it is after so many inputs."""


class HangError(BaseException):
    """An input took too long; no Exception, so that nothing that is tested can catch it."""


def _hang(_signal: int, _frame: FrameType | None) -> None:
    raise HangError


def check(seed: int, number: int) -> str | None:
    """What is wrong with input `number` of the run with `seed`, a hang included."""
    given = mutated(seed, number)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        return problem_of(given, number)
    except HangError:
        return f"more than {SECONDS} s of the processor"
    except MemoryError:
        return f"more than {MEMORY_BYTES} bytes of memory"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


@dataclass(frozen=True, slots=True)
class Cost:
    """What inputs have cost a worker, or all of them, at most."""

    seconds: float = 0.0
    """Of the processor, for one input."""
    number: int = -1
    """Of the input that took so long."""
    peak_kib: int = 0
    """Resident memory of a worker, the seeds and the interpreter in it."""

    def joined(self, other: Cost) -> Cost:
        """The greater of each."""
        longer = max(self, other, key=lambda cost: cost.seconds)
        return replace(longer, peak_kib=max(self.peak_kib, other.peak_kib))


def _work(connection: Connection, seed: int, first: int, end: int, step: int) -> None:
    """Check every `step`th input from `first` on; say before each batch where it begins, and what is found."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    signal.signal(signal.SIGPROF, _hang)
    cost = Cost()
    for count, number in enumerate(range(first, end, step)):
        if count % REPORT_EVERY == 0:
            connection.send((number, None, cost))
        started = time.process_time()
        problem = check(seed, number)
        spent = time.process_time() - started
        if spent > cost.seconds:
            cost = Cost(spent, number)
        cost = replace(cost, peak_kib=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        if problem is not None:
            connection.send((number, problem, cost))
    connection.send((end, None, cost))


@dataclass
class _Worker:
    """A process, and how far it said it is."""

    connection: Connection
    process: BaseProcess
    reached: int
    heard: float = field(default_factory=time.monotonic)


@dataclass
class Run:
    """A run: which inputs, over how many processes, and what was found."""

    seed: int
    first: int
    end: int
    jobs: int
    problems: dict[int, str] = field(default_factory=dict)
    cost: Cost = field(default_factory=Cost)

    def go(self) -> None:
        """Check all inputs. A worker that dies is started again one input at a time until the culprit is found."""
        workers = [self._start(self.first + job, self.end, self.jobs) for job in range(self.jobs)]
        while workers:
            ready = wait([worker.connection for worker in workers], timeout=1)
            for worker in list(workers):
                if worker.connection in ready and self._hear(worker):
                    continue
                alive = worker.process.is_alive()
                if alive and time.monotonic() - worker.heard < STUCK_SECONDS:
                    continue
                workers.remove(worker)
                worker.process.kill()
                worker.process.join()
                if worker.reached < self.end:
                    workers.append(self._after(worker))

    def _start(self, first: int, end: int, step: int) -> _Worker:
        receiving, sending = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.Process(target=_work, args=(sending, self.seed, first, end, step), daemon=True)
        process.start()
        sending.close()
        return _Worker(receiving, process, first)

    def _hear(self, worker: _Worker) -> bool:
        """Take in what the worker says; whether it said anything."""
        try:
            number, problem, cost = worker.connection.recv()
        except EOFError:
            return False
        worker.heard = time.monotonic()
        worker.reached = number
        self.cost = self.cost.joined(cost)
        if problem is not None:
            self.problems[number] = problem
        return True

    def _after(self, worker: _Worker) -> _Worker:
        """A worker that goes on behind the batch in which one died; the batch is checked one process an input."""
        batch = range(worker.reached, min(worker.reached + REPORT_EVERY * self.jobs, self.end), self.jobs)
        for number in batch:
            process = multiprocessing.Process(target=_alone, args=(self.seed, number), daemon=True)
            process.start()
            process.join(STUCK_SECONDS)
            if process.exitcode != 0:
                process.kill()
                process.join()
                self.problems.setdefault(number, f"the process ended with code {process.exitcode}")
        return self._start(batch[-1] + self.jobs, self.end, self.jobs)


def _alone(seed: int, number: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    signal.signal(signal.SIGPROF, _hang)
    check(seed, number)


def save(run: Run, folder: Path) -> None:
    """Write each failing input, and what is wrong with it, into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, problem in sorted(run.problems.items()):
        given = mutated(run.seed, number)
        path = folder / f"{run.seed}-{number}{'.textproto' if given.is_text else '.onnx'}"
        path.write_bytes(given.data)
        path.with_suffix(".txt").write_text(
            f"made from {given.name}\nread as {given.message}\n\n{problem}\n", encoding="utf-8", errors="replace"
        )


def main() -> int:
    """Run from the command line; returns 1 when an input failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run", description=__doc__)
    parser.add_argument("--count", type=int, default=200_000, help="how many inputs")
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
        for number, problem in sorted(run.problems.items())[:20]:
            print(f"input {number} ({mutated(options.seed, number).name}): {problem.strip().splitlines()[-1]}")
        print(f"all are in {options.save}")
    return 1 if run.problems else 0


if __name__ == "__main__":
    sys.exit(main())
