# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from onnx_lint.common.deadline import OutOfTimeError
from onnx_lint.engine.trials import budget
from onnx_lint.engine.trials.budget import TrialBudget


@pytest.mark.parametrize(("trials", "shares"), [(5, [2, 2, 1]), (2, [1, 1, 0]), (-1, [0, 0, 0])])
def test_the_rules_share_the_trials(trials: int, shares: list[int]):
    budget = TrialBudget()
    budget.share(trials, ["a", "b", "c"])
    made = []
    for rule in ("a", "b", "c"):
        count = 0
        while budget.may_try(rule):
            budget.charge(rule)
            count += 1
        made.append(count)
    assert made == shares
    assert not budget.is_time_over


def test_a_rule_without_a_share_may_try_nothing():
    budget = TrialBudget()
    assert not budget.may_try("a")
    budget.share(4, [])
    assert not budget.may_try("a")


def test_the_end_of_the_time_is_quiet_and_ends_all_trials():
    budget = TrialBudget()
    budget.share(4, ["a"])
    with budget.time_limit():
        raise OutOfTimeError
    assert budget.is_time_over
    assert not budget.may_try("a")


def test_other_exceptions_leave_the_time_limit():
    budget = TrialBudget()
    with pytest.raises(ValueError, match="other"), budget.time_limit():
        raise ValueError("other")
    assert not budget.is_time_over


def test_the_time_of_the_parts_is_added(monkeypatch: pytest.MonkeyPatch):
    class Part:
        used = 2.0
        is_over = False

        def __init__(self, seconds: float) -> None:
            given.append(seconds)

        def __enter__(self) -> None:
            pass

        def __exit__(self, *_: object) -> None:
            pass

    given: list[float] = []
    monkeypatch.setattr(budget, "seconds_used", lambda: 5.0)
    monkeypatch.setattr(budget, "SubDeadline", Part)
    limits = TrialBudget()
    for _ in range(3):
        with limits.time_limit():
            pass
    assert given == [10.0, 8.0, 6.0]
