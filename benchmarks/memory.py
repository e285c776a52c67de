# SPDX-License-Identifier: Apache-2.0
"""Measures memory, and prints the three tables of docs/design.md, "Input from strangers".

`python benchmarks/memory.py [--only TEXT] [--pairs N] [--base PROGRAM]`. The first table has large models, beside
`full_check`; the second compares the estimates of honest models with their peaks; the third does so for the lists of
the schema with the largest estimates. Other programs on the machine change the times, but not the peaks. With --base,
another onnx-lint runs on the same models, for example that of the last release, and two columns have its peaks and the
growth since then. Needs 4 GB of memory.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import large_models
from cases import full_check, onnx_lint, saved, write_text, written
from measurement import Command, Laboratory, Series
from table import versions

from onnx_lint.input.source import BytesSource
from onnx_lint.loader.binary.strip_payloads import read_skeleton
from onnx_lint.loader.limits.memory_estimate import memory_if_exceeding

TESTS: Final = Path(__file__).parent.parent / "tests"
"""The folder with the package that writes hostile models."""

MODELS: Final[Mapping[str, Callable[[int], Any]]] = MappingProxyType(
    {
        "nodes in a chain": large_models.chain,
        "nodes with value_info": large_models.declared_chain,
        "nodes with an initializer": large_models.initializers,
        "nodes with an attribute of their own": large_models.own_attributes,
        "Conv with five attributes": large_models.convolutions,
        "Constants of their own": large_models.constants,
        "functions of two nodes": large_models.functions,
        "subgraphs": large_models.subgraphs,
        "tree nodes": large_models.tree_ensemble,
        "strings of a LabelEncoder": large_models.label_encoder,
    }
)
"""The functions that make the models, by the elements that a model has many of."""

COMPARED: Final = (
    (450_000, "nodes with value_info", "node"),
    (200_000, "nodes with an initializer", "node and initializer"),
    (20_000, "Constants of their own", "node and tensor"),
    (5_000, "functions of two nodes", "function"),
    (4_401, "subgraphs", "subgraph"),
    (2_000_000, "tree nodes", "tree node"),
    (10_000_000, "tree nodes", "tree node"),
    (5_000_000, "strings of a LabelEncoder", "string"),
)
"""The rows of the first table: how many elements, which, and what one of them is called."""

IN_TEXT: Final = "245,000 nodes in text"
"""The last row of the first table."""

ESTIMATED: Final = (
    (1_000_000, "nodes in a chain"),
    (450_000, "nodes with value_info"),
    (200_000, "nodes with an initializer"),
    (300_000, "nodes with an attribute of their own"),
    (300_000, "Conv with five attributes"),
    (40_000, "Constants of their own"),
    (30_000, "functions of two nodes"),
    (10_000, "subgraphs"),
    (10_000_000, "tree nodes"),
    (5_000_000, "strings of a LabelEncoder"),
)
"""The rows of the second table."""

ELEMENTS: Final = 60_000
"""The elements of each list of the third table."""
LISTS: Final = 30
"""How many lists the third table has."""
SHOWN_LISTS: Final = 12
"""How many of them the page shows."""


@dataclass(frozen=True, slots=True)
class Meter:
    """Runs onnx-lint, perhaps another onnx-lint, and perhaps a peer on a model."""

    laboratory: Laboratory
    folder: Path
    """An empty folder for the model, and for one with one node."""
    rounds: int
    base: str | None
    """The other onnx-lint."""

    def measure(self, path: Path, *peers: Command) -> list[Series]:
        """Measure onnx-lint, the other one if there is one, and the peers. Raises SystemExit without a verdict."""
        commands = [onnx_lint(path)]
        if self.base is not None:
            commands.append(Command(self.base, (self.base, str(path))))
        found = self.laboratory.compare([*commands, *peers], self.rounds, self.one_node)
        for series in found[: len(commands)]:
            if series.runs[-1].exit_code not in (0, 1) or series.runs[-1].was_ended:
                raise SystemExit(f"{path.name}: {series.failure}")
        return found

    @property
    def one_node(self) -> Path:
        """The path of a model with one node."""
        return self.folder / "one.onnx"

    def heading(self, *columns: str) -> str:
        """Return the heading of a table."""
        shown = [*columns, *(("base peak", "growth") if self.base is not None else ())]
        return f"\n| {' | '.join(shown)} |\n|---|{'--:|' * (len(shown) - 1)}"

    def row(self, cells: Sequence[str], series: Sequence[Series]) -> str:
        """Return a row of a table."""
        shown = [*cells]
        if self.base is not None:
            new, old = series[0].peak, series[1].peak
            shown += [f"{old:.0f} MB", f"{100 * (new - old) / old:+.1f} %"]
        return f"| {' | '.join(shown)} |"


def compared(meter: Meter, least: float, only: str) -> Iterator[str]:
    """Yield the first table: large models beside `full_check`. `least` is the peak of a model with one node."""
    yield meter.heading("model", "file", "onnx-lint", "peak", "for each", "full_check", "peak")
    for count, kind, element in COMPARED:
        if only in f"{count:,} {kind}":
            path = written(saved(MODELS[kind], count), meter.folder / "model.onnx")
            yield _compared_row(meter, path, f"{count:,} {kind}", f"for a {element}", count, least)
    if only in IN_TEXT:
        path = written(write_text, meter.folder / "model.textproto")
        yield _compared_row(meter, path, IN_TEXT, "for a byte of text", path.stat().st_size, least)


def _compared_row(meter: Meter, path: Path, title: str, each: str, count: int, least: float) -> str:
    series = meter.measure(path, full_check(path))
    own, peer = series[0], series[-1]
    cells = [title, f"{path.stat().st_size / 1e6:.1f} MB", f"{own.processor_seconds:.1f} s", f"{own.peak:.0f} MB"]
    cells.append(f"{(own.peak - least) * 1e6 / count:.0f} B {each}")
    cells += ["-", "-"] if peer.failure else [f"{peer.processor_seconds:.1f} s", f"{peer.peak:.0f} MB"]
    return meter.row(cells, series)


def estimated(meter: Meter, least: float, only: str) -> Iterator[str]:
    """Yield the second table: the estimates of honest models."""
    yield meter.heading("honest model", "file", "estimate", "peak", "ratio")
    for count, kind in ESTIMATED:
        title = f"{count:,} {kind}"
        if only in title:
            path = written(saved(MODELS[kind], count), meter.folder / "model.onnx")
            yield _estimated_row(meter, path, title, least, digits=1)


def hostile(meter: Meter, least: float, only: str) -> Iterator[str]:
    """Yield the third table: the lists of the schema with the largest estimates."""
    sys.path.insert(0, str(TESTS))
    from support.hostile.schema_lists import list_fields, one_list

    yield meter.heading(f"{ELEMENTS:,} elements of", "file", "estimate", "peak", "ratio")
    contents = {name: one_list(field, ELEMENTS, own=True) for name, field in list_fields().items()}
    estimates = {name: estimate(content) for name, content in contents.items()}
    path = meter.folder / "model.onnx"
    for name in sorted(contents, key=estimates.__getitem__, reverse=True)[:LISTS]:
        if only in name:
            path.write_bytes(contents[name])
            yield _estimated_row(meter, path, f"`{name}`", least, digits=2)


def _estimated_row(meter: Meter, path: Path, title: str, least: float, *, digits: int) -> str:
    """Return a row with the estimate, and its ratio to the peak without that of a model with one node."""
    needed = estimate(path.read_bytes()) / 1e6
    series = meter.measure(path)
    peak = series[0].peak
    size = f"{path.stat().st_size / 1e6:.{digits}f} MB"
    return meter.row([title, size, f"{needed:.0f} MB", f"{peak:.0f} MB", f"{needed / (peak - least):.1f}"], series)


def estimate(content: bytes) -> int:
    """Return the estimate of memory for a model."""
    skeleton = read_skeleton(BytesSource(content), sys.maxsize, sys.maxsize)
    return memory_if_exceeding(skeleton, "ModelProto", 1, shares_forms=True) or 0


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", metavar="TEXT", help="only the rows with TEXT in the title")
    parser.add_argument("--pairs", type=int, default=1, help="how often each command runs on each model (default: 1)")
    parser.add_argument("--base", metavar="PROGRAM", help="another onnx-lint, to compare the peaks with")
    arguments = parser.parse_args()
    with Laboratory() as laboratory, tempfile.TemporaryDirectory() as name:
        meter = Meter(laboratory, Path(name), arguments.pairs, arguments.base)
        written(saved(large_models.chain, 1), meter.one_node)
        least = meter.measure(meter.one_node)[0].peak
        print(f"{versions(arguments.pairs)}\nA model with one node: {least:.0f} MB.", flush=True)
        for table in (compared, estimated, hostile):
            for line in table(meter, least, arguments.only):
                print(line, flush=True)


if __name__ == "__main__":
    main()
