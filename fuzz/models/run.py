# SPDX-License-Identifier: Apache-2.0
"""Runs over many models with worker processes, and reports the contradictions.

If `onnx` or a runtime ends a worker, another one continues with the next model.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

from google.protobuf import text_format
from google.protobuf.message import DecodeError
from onnx import ModelProto

from ..corpus import Seed
from ..crew import attend
from ..minimise import minimised
from .builder import Generated
from .generator import model_of
from .oracle import Contradiction
from .signature import signature
from .worker import Batch, Worker, contradictions_alone, fault_of

_PROGRESS_SECONDS = 60.0


@dataclass
class Group:
    """Contradictions that differ only in names and numbers."""

    count: int = 0
    example: Contradiction | None = None
    numbers: list[int] = field(default_factory=list)
    """The first models with this contradiction."""


_NUMBERS_KEPT = 5


@dataclass
class Run:
    """A run over models and its results."""

    seed: int
    first: int
    end: int
    jobs: int
    counts: Counter[str] = field(default_factory=Counter)
    groups: dict[tuple[str, str], Group] = field(default_factory=dict)
    """Unexplained contradictions and crashes of other programs, by kind and signature."""
    explained: Counter[tuple[str, str]] = field(default_factory=Counter)
    """The number of explained contradictions by kind and reason."""
    shown: float = field(default_factory=time.monotonic)
    """When the progress was printed last."""

    def go(self) -> None:
        """Judge all models."""
        workers = [Worker.start(self.seed, range(self.first + job, self.end, self.jobs)) for job in range(self.jobs)]
        attend(workers, self._receive, self._after, 0.5, self._show_progress)

    def _show_progress(self, workers: list[Worker]) -> None:
        if time.monotonic() - self.shown > _PROGRESS_SECONDS:
            self.shown = time.monotonic()
            print(f"at model {max((worker.current[0] for worker in workers), default=self.end):,}", flush=True)

    def _receive(self, worker: Worker) -> bool:
        """Receive a batch. Return whether the worker continues."""
        try:
            batch: Batch = worker.connection.recv()
        except EOFError:
            return False
        self.counts.update(batch.counts)
        for number, about, found in batch.found:
            self._note(number, about, found)
        if batch.is_last:
            worker.current[0] = self.end
        return not batch.is_last

    def _note(self, number: int, about: str, found: Contradiction) -> None:
        if found.explained is not None:
            self.explained[found.kind, found.explained.reason] += 1
            return
        group = self.groups.setdefault((found.kind, signature(found.line)), Group(example=found))
        group.count += 1
        if len(group.numbers) < _NUMBERS_KEPT:
            group.numbers.append(number)

    def _after(self, worker: Worker) -> list[Worker]:
        """Return the replacement of a worker that has ended, if models are left."""
        number, stage, how = worker.end()
        if number >= self.end:
            return []
        if number < 0:
            raise RuntimeError(f"a worker did not get to its first model: it {how}")
        self._note(number, "", fault_of(stage, how))
        following = range(number + self.jobs, self.end, self.jobs)
        return [Worker.start(self.seed, following)] if following else []

    @property
    def failures(self) -> dict[tuple[str, str], Group]:
        """The groups that fail the run: all except crashes of other programs."""
        return {key: group for key, group in self.groups.items() if not _is_of_others(key[0])}


_OTHERS = ("onnx crashes", "onnx hangs", "onnxruntime ", "reference evaluator ")


def _is_of_others(kind: str) -> bool:
    return kind.startswith(_OTHERS)


def save(run: Run, folder: Path) -> None:
    """Write one model of each group as text, with the contradiction in a comment."""
    folder.mkdir(parents=True, exist_ok=True)
    failures, to_minimise = list(run.failures), []
    for place, (key, group) in enumerate(sorted(run.groups.items(), key=lambda each: -each[1].count)):
        kind = key[0]
        assert group.example is not None
        number = group.numbers[0]
        try:
            made = model_of(run.seed, number)
        except Exception:
            continue
        feeds = {name: getattr(value, "tolist", lambda value=value: value)() for name, value in made.feeds.items()}
        lines = [f"{kind}: {group.count} of {run.end - run.first:,}", f"models {group.numbers}", made.about]
        lines += [*group.example.line.splitlines(), f"fed with {feeds}"]
        path = folder / f"{place:03}-{number}.textproto"
        path.write_text(_commented(lines, made.model), encoding="utf-8", errors="replace")
        path.with_suffix(".onnx").write_bytes(made.model.SerializeToString())
        if key in failures[:MAX_MINIMISED]:
            to_minimise.append((path, lines, made, key))
    for path, lines, made, key in to_minimise:
        small = _commented(lines, _minimised(made, key))
        path.with_suffix(".min.textproto").write_text(small, encoding="utf-8", errors="replace")


def _commented(lines: list[str], model: ModelProto) -> str:
    return "".join(f"# {line}\n" for line in lines) + text_format.MessageToString(model)


MAX_MINIMISED = 20
"""The number of models to minimise, half a minute each at most."""

_MINIMISING_SECONDS = 30.0


def _minimised(made: Generated, key: tuple[str, str]) -> ModelProto:
    """Return a smaller model with the same contradiction."""

    def check(given: Seed) -> str | None:
        try:
            model = ModelProto.FromString(given.data)
        except DecodeError:
            return None
        names = {each.name for each in model.graph.input}
        feeds = {name: value for name, value in made.feeds.items() if name in names}
        found = contradictions_alone(replace(made, model=model, feeds=feeds))
        return "the same" if key in {(kind, signature(line)) for kind, line in found} else None

    small = minimised(Seed("model", made.model.SerializeToString()), "the same", check, _MINIMISING_SECONDS)
    return ModelProto.FromString(small.data)


def show(run: Run) -> None:
    """Print the results."""
    for name, count in sorted(run.counts.items()):
        print(f"  {count:9,} {name}")
    print("explained:")
    for (kind, reason), count in run.explained.most_common():
        print(f"  {count:9,} {kind}: {reason}")
    for title, is_of_others in (("crashes of others:", True), ("not explained:", False)):
        print(title)
        for (kind, line), group in sorted(run.groups.items(), key=lambda each: (each[0][0], -each[1].count)):
            if _is_of_others(kind) is is_of_others:
                print(f"  {group.count:9,} {kind}: {line} {group.numbers}")


def main() -> int:
    """Run from the command line. Return 1 if a contradiction is not explained."""
    parser = argparse.ArgumentParser(prog="python -m fuzz.models", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="how many models")
    parser.add_argument("--first", type=int, default=0, help="the number of the first model")
    parser.add_argument("--seed", type=int, default=1, help="with the number it determines the model")
    parser.add_argument("--jobs", type=int, default=2, help="how many processes")
    parser.add_argument("--save", type=Path, default=Path("fuzz-failures"), help="folder for failing models")
    options = parser.parse_args()
    run = Run(options.seed, options.first, options.first + options.count, options.jobs)
    started = time.monotonic()
    run.go()
    print(f"{options.count:,} models in {time.monotonic() - started:,.0f} s, seed {run.seed}")
    show(run)
    if run.groups:
        save(run, options.save)
        print(f"one model of each is in {options.save}")
    return 1 if run.failures else 0
