# SPDX-License-Identifier: Apache-2.0
"""A few of the inputs of `python -m tests.fuzz.cached`, and that this tool finds a cache that is wrong."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest
from fuzz import cached

from onnx_lint.cache import store, verdicts
from onnx_lint.cache.store import DATABASE


@pytest.fixture(autouse=True)
def less_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached, "PROCESSES", 2)
    monkeypatch.setattr(cached, "SETTLED_NANOSECONDS", 0)


@pytest.mark.parametrize("count", [4, pytest.param(200, marks=pytest.mark.heavy)])
def test_reports_on_fuzzed_inputs_are_the_same_with_a_cache(count: int) -> None:
    cached.checked(7, range(count))


def test_a_wrong_report_from_the_cache_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries with a right checksum and another report, as only a bug in the cache could write them."""
    monkeypatch.setattr(cached, "PROCESSES", 1)
    monkeypatch.setattr(cached, "_FORMATS", ("text", "json"))
    monkeypatch.setattr(cached, "damage_entries", _forge)
    with pytest.raises(cached.DifferenceError, match=r"after _forge: the (output|text|json) differs"):
        cached.Block(tmp_path, 7, range(6)).check()
    assert (tmp_path / "cache" / DATABASE).exists()


def _forge(path: Path, _rng: object) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for key, content in connection.execute("SELECT key, content FROM verdicts").fetchall():
            entry = verdicts._unpacked(content[store._CHECK_BYTES :])
            fields = entry["report"]["FileReport"]
            fields[1] += 1  # the size
            forged = verdicts._packed(entry)
            row = store._check(key, forged) + forged, key
            connection.execute("UPDATE verdicts SET content = ? WHERE key = ?", row)
