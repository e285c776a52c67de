# SPDX-License-Identifier: Apache-2.0
"""Runs the rules that a normal run skips because the model has nothing that they are about."""

from __future__ import annotations

from onnx_lint.common.record import replace
from onnx_lint.engine.registry import Registered
from onnx_lint.engine.rule_runs import lint_model
from onnx_lint.engine.selection import selection_of
from onnx_lint.engine.settings import ALL, Settings, options_of
from onnx_lint.model import Model


def unasked(model: Model, settings: Settings) -> list[Registered]:
    """Return the selected rules that have nothing to look at in the model; it is linted first."""
    lint_model(model, settings)
    selection = selection_of(settings)
    asked = {entry.id for entry in selection.asked(model)}
    return [entry for entry in selection.judging(model) if entry.id not in asked]


def with_all_rules(settings: Settings) -> Settings:
    """The settings with every rule selected."""
    return replace(settings, select=(ALL,), ignore=())


def missed(model: Model, settings: Settings) -> list[str]:
    """Return the findings of all rules that a run over the model leaves out, with the options of the settings."""
    return [
        f"{entry.id}: {finding.place}: {finding.message}"
        for entry in unasked(model, settings)
        for finding in entry.rule.check(model, **options_of(entry.rule, settings))
    ]
