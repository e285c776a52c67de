# SPDX-License-Identifier: Apache-2.0
"""The benchmark measures what it runs, and nothing of itself."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def measurement(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(BENCHMARKS)
    return importlib.import_module("measurement")


@pytest.fixture
def laboratory(measurement: ModuleType) -> Iterator[Any]:
    with measurement.Laboratory() as made:
        yield made


@pytest.mark.slow
def test_the_peak_is_that_of_the_command_and_not_of_the_process_that_starts_it(laboratory: Any):
    ballast = b"1" * 200_000_000
    small = laboratory.run((sys.executable, "-S", "-c", "pass"))
    large = laboratory.run((sys.executable, "-S", "-c", "b'1' * 100_000_000"))
    assert len(ballast) / 1e6 > large.peak > 100 > small.peak
    assert small.exit_code == large.exit_code == 0


@pytest.mark.slow
def test_the_time_of_the_processor_is_without_that_of_waiting(laboratory: Any):
    run = laboratory.run((sys.executable, "-S", "-c", "import time; time.sleep(0.5)"))
    assert 0 < run.processor_seconds <= run.seconds - 0.5
