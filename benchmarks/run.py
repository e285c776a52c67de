# SPDX-License-Identifier: Apache-2.0
"""Measures onnx-lint beside `onnx.checker.check_model`, onnx-doctor and ONNX Runtime, and prints a Markdown table.

`python benchmarks/run.py [--small] [--pairs N] [--only TEXT] [--models FOLDER]`. The peers come with `pip install -e
'.[bench]'`. Every command runs in a process of its own, all in turn, on models in a temporary folder, which is
removed afterwards. --small measures only the few models that CI measures. Needs 1.5 GB of disk, and 8 GB of memory,
because check_model reads whole files into memory.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import store
import table
from cases import CASES, Case, commands, real, written
from measurement import Laboratory

STORE = "requests per tensor in a store"
"""The title of the last line, for --only."""


def main() -> None:
    """Make the models, run the commands, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="only what CI measures")
    parser.add_argument("--pairs", type=int, default=7, help="how often each command runs on each model (default: 7)")
    parser.add_argument("--only", default="", metavar="TEXT", help="only the lines of the table with TEXT in the title")
    parser.add_argument("--models", type=Path, metavar="FOLDER", help="measure a folder of real models as well")
    arguments = parser.parse_args()
    cases = [*CASES, *(real(arguments.models) if arguments.models else ())]
    chosen = [case for case in cases if arguments.only in case.title and (case.is_small or not arguments.small)]
    with Laboratory() as laboratory, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"{table.versions(arguments.pairs)}\n\n{table.HEAD}", flush=True)
        notes: list[str] = []
        failed = 0
        warm_up = written(CASES[0].write, folder / "warm_up.onnx")
        for case in chosen:
            line, has_failed = _line(case, laboratory, arguments.pairs, warm_up, notes)
            failed += has_failed
            print(line, flush=True)
        print("".join(f"\n- {note}" for note in notes))
        if arguments.only in STORE:
            print(f"\n{store.requests(folder)}")
    if failed:
        raise SystemExit(1)


def _line(case: Case, laboratory: Laboratory, rounds: int, warm_up: Path, notes: list[str]) -> tuple[str, bool]:
    """Return the line of the table, and whether onnx-lint failed. Failures of the peers do not count."""
    with tempfile.TemporaryDirectory() as folder:
        path = written(case.write, Path(folder) / "model.onnx")
        found = commands(case, path)
        if case.is_second_run:
            laboratory.run(found[0].arguments)
        series = laboratory.compare(found, rounds, warm_up)
    if case.many:
        notes.append(f"{case.title}: {min(run.seconds for run in series[0].runs):.2f} s from start to end")
    return table.row(case.title, series, notes), series[0].failure is not None


if __name__ == "__main__":
    main()
