# SPDX-License-Identifier: Apache-2.0
"""A sample of many cases in the default run, and more of them among the slow and the heavy tests."""

from __future__ import annotations

import pytest


def one_in(step: int, *, slow: int = 1, heavy: int | None = None) -> pytest.MarkDecorator:
    """Call the test with `step`, and again, under these markers, with the steps for the slow and the heavy tests."""
    steps: list[object] = [step, pytest.param(slow, marks=pytest.mark.slow)]
    if heavy is not None:
        steps.append(pytest.param(heavy, marks=pytest.mark.heavy))
    return pytest.mark.parametrize("step", steps)
