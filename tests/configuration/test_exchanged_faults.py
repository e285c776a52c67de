# SPDX-License-Identifier: Apache-2.0
"""Baselines of real models: a fault at another place is new, and new names bring nothing back."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable

import onnx
import pytest
from support.fixes.plants import PLANTS, graphs, planted, small_models

from onnx_lint.configuration.baseline import entries_of, split
from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.report.file_report import FileReport
from onnx_lint.report.findings import Diagnostic
from onnx_lint.report.folding import unfold
from onnx_lint.spec.clauses import Severity

pytestmark = pytest.mark.slow

HYGIENE = Settings(
    extend_select=("equal-initializers", "ineffective-node", "foldable-constant", "unnamed-node"), has_baseline=True
)


def _report(data: bytes, settings: Settings = HYGIENE) -> FileReport:
    return lint_source(BytesSource(data), "model.onnx", settings, is_file=False)


def _errors(found: Iterable[Diagnostic]) -> set[tuple[str, str]]:
    return {(item.pointer, item.message) for item in unfold(found) if item.severity is Severity.ERROR}


def test_a_fault_that_takes_the_place_of_another_one_is_new():
    choose, paths, pairs = random.Random(50), small_models(), 0
    kinds = [kind for kind in PLANTS if kind != "order"]  # two disorders may have the same late uses
    while pairs < 100:
        kind, path = choose.choice(kinds), choose.choice(paths)
        where = choose.randrange(4)
        first, second = planted(path, kind, choose, where), planted(path, kind, choose, where)
        if first is None or second is None:
            continue
        clean, known, now = (_report(data) for data in (first[0], first[1], second[1]))
        before = {place for place, _ in _errors(known.diagnostics)}
        exchanged = {each for each in _errors(now.diagnostics) - _errors(clean.diagnostics) if each[0] not in before}
        if exchanged:
            pairs += 1
            assert _errors(split(now, entries_of(known.diagnostics)).diagnostics), (kind, path, exchanged)


def _renamed(name: str) -> str:
    return f"q_{name}" if name else ""


def _numbered(name: str) -> str:
    """The name as it is if one more thing comes before."""
    return re.sub(r"\d+", lambda found: str(int(found[0]) + 1), name)


@pytest.mark.parametrize("change", [_renamed, _numbered])
def test_new_names_bring_at_most_a_tenth_of_the_findings_back(change: Callable[[str], str]):
    findings = new = 0
    for path in small_models():
        model = onnx.load(path, load_external_data=False)
        known = _report(model.SerializeToString())
        for graph in graphs(model.graph):
            for node in graph.node:
                node.name = change(node.name)
                for names in (node.input, node.output):
                    names[:] = map(change, names)
            for value in (*graph.initializer, *graph.value_info, *graph.input, *graph.output):
                value.name = change(value.name)
        findings += sum(1 for _ in unfold(known.diagnostics))
        found = split(_report(model.SerializeToString()), entries_of(known.diagnostics))
        new += sum(1 for _ in unfold(found.diagnostics))
    assert findings > 50
    assert new <= findings / 10
