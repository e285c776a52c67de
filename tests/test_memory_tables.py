# SPDX-License-Identifier: Apache-2.0
"""The script of the memory tables measures the rows that docs/design.md shows."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from support.hostile.schema_lists import list_fields
from support.project.checkout import ROOT

PAGE = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def memory() -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        yield importlib.import_module("memory")


def _titles(first: str) -> list[str]:
    """Return the first cells of the table whose heading begins with `first`."""
    table = PAGE[PAGE.index(f"| {first} |") :].partition("\n\n")[0]
    return [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines()[2:]]


def test_the_page_shows_the_rows_that_are_measured(memory: ModuleType):
    assert _titles("model") == [*(f"{count:,} {kind}" for count, kind, _ in memory.COMPARED), memory.IN_TEXT]
    assert _titles("honest model") == [f"{count:,} {kind}" for count, kind in memory.ESTIMATED]
    kinds = {kind for _, kind, *_ in (*memory.COMPARED, *memory.ESTIMATED)}
    assert kinds == set(memory.MODELS)


def test_the_lists_of_the_page_are_lists_of_the_schema(memory: ModuleType):
    titles = [title.strip("`") for title in _titles(f"{memory.ELEMENTS:,} elements of")]
    assert len(titles) == len(set(titles)) == memory.SHOWN_LISTS < memory.LISTS
    assert set(titles) <= list_fields().keys()


def test_a_row_compares_the_peaks_of_two_programs(memory: ModuleType, tmp_path: Path):
    measurement = importlib.import_module("measurement")
    runs = {"onnx-lint": 63.0, "old": 60.0}
    series = [
        measurement.Series(measurement.Command(name, ()), [measurement.Run(1.0, 1.0, peak, 0, "")])
        for name, peak in runs.items()
    ]
    alone = memory.Meter(None, tmp_path, 1, None)
    beside = memory.Meter(None, tmp_path, 1, "old")
    assert alone.row(["a", "b"], series) == "| a | b |"
    assert beside.row(["a", "b"], series) == "| a | b | 60 MB | +5.0 % |"
    assert re.sub(r"[^|]", "", beside.heading("a", "b").splitlines()[-1]) == "|" * 5


def test_the_estimate_grows_with_the_model(memory: ModuleType):
    chain = memory.MODELS["nodes in a chain"](1_000).SerializeToString()
    longer = memory.MODELS["nodes in a chain"](2_000).SerializeToString()
    assert 0 < memory.estimate(chain) < memory.estimate(longer) < 3 * memory.estimate(chain)
