# SPDX-License-Identifier: Apache-2.0
"""The verdict for a version says what was not judged."""

from __future__ import annotations

import pytest
from support.models.clean_model import clean_proto

from onnx_lint.engine.settings import Settings
from onnx_lint.engine.targets.version_verdicts import version_verdicts
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.spec.clauses import clauses
from onnx_lint.spec.target import target_of

REASONS = [f"reason {number}" for number in range(1, 9)]


@pytest.mark.parametrize(
    ("count", "listed"),
    [
        (1, "reason 1"),
        (5, "reason 1; reason 2; reason 3; reason 4; reason 5"),
        (8, "reason 1; reason 2; reason 3; reason 4; reason 5; 3 more"),
    ],
)
def test_a_version_says_how_many_reasons_it_does_not_list(count: int, listed: str) -> None:
    model = load(BytesSource(clean_proto().SerializeToString()))
    settings = Settings(target=target_of(["ir=13"]))
    (verdict,) = version_verdicts(model, settings, [], rules=clauses()["VER-3a"].rules, unjudged=REASONS[:count])
    assert (verdict.loads, verdict.reason) == (None, f"not judged: {listed}")
