# SPDX-License-Identifier: Apache-2.0
"""Faults planted in models of the wheel: a fix causes no finding, changes no other byte, and keeps what is computed.

The nodes of a model are in its main graph, in branches, in the body of a Loop, or in a function.
"""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from support.fixes.applied import check_applied
from support.fixes.fixed import check_bytes, check_difference, fixed_model
from support.fixes.plants import PLANTS, PREFIXES, planted, small_models

from onnx_lint.engine.lint import lint_source
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.spec.clauses import Severity

pytestmark = pytest.mark.slow

SETTINGS = Settings(extend_select=("unnamed-node", "long-encoding"), ignore=("training-mode",))
"""The fix of training-mode changes what is computed, by intent."""
SEED = 50
OTHER_VALUES = ("outer output", "shadowed")
"""The kinds of faults with which a model computes something else."""


def _outputs(data: bytes) -> list[object] | None:
    runtime = pytest.importorskip("onnxruntime")
    runtime.set_seed(SEED)
    options = runtime.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    kinds = {"float": "f4", "float16": "f2", "double": "f8", "bool": "?"}
    try:
        session = runtime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        fill = np.random.default_rng(SEED)
        inputs = {
            each.name: (fill.random([d if isinstance(d, int) else 2 for d in each.shape]) * 3).astype(
                kinds.get(each.type[7:-1], each.type[7:-1])
            )
            for each in session.get_inputs()
        }
        return list(session.run(None, inputs))
    except Exception:
        return None  # not for this build, or not for these numbers


def _check(kind: str, before: bytes, data: bytes) -> Counter[str]:
    source = BytesSource(data)
    outcome = fixed_model(source, SETTINGS, unsafe=True)
    check_bytes(outcome)
    check_difference(outcome, SETTINGS)
    check_applied(outcome, SETTINGS)
    assert fixed_model(outcome.source, SETTINGS, unsafe=True).rounds == ()
    old, new = (
        Counter(item.rule for item in report.diagnostics)
        for report in (lint_source(source, "m", SETTINGS), outcome.report)
    )
    assert not new - old - Counter(dict(outcome.repair.revealed)), (new - old, outcome.rounds)
    fixed = outcome.source.read_at(0, outcome.source.size)
    if outcome.rounds and all(each.severity is not Severity.ERROR for each in outcome.report.diagnostics):
        expected = _outputs(data if kind in OTHER_VALUES else before)
        if expected is not None:
            found = _outputs(fixed)
            assert found is not None, "ONNX Runtime refuses the fixed model"
            for one, other in zip(expected, found, strict=True):
                np.testing.assert_array_equal(one, other)
    return Counter(dict(outcome.repair.fixed))


def _plant(count: int) -> Counter[str]:
    """Plant that many faults, one in each copy of a model, and return the numbers of fixed findings."""
    choose = random.Random(SEED)
    paths = small_models()
    kinds = [*PLANTS, *PREFIXES]
    found: Counter[str] = Counter()
    done = 0
    for attempt in range(20 * count):
        if done == count:
            break
        kind, path = kinds[attempt % len(kinds)], choose.choice(paths)
        pair = planted(path, kind, choose, attempt // len(kinds) % 4)
        if pair is None:
            continue
        done += 1
        try:
            found += _check(kind, *pair)
        except AssertionError as error:
            raise AssertionError(f"{kind} in {path}") from error
    assert done == count
    return found


def test_planted_faults():
    assert len(_plant(200)) > 12


@pytest.mark.corpus
def test_two_thousand_planted_faults():
    assert len(_plant(2000)) > 15
