# SPDX-License-Identifier: Apache-2.0
"""Asks the rules that a run leaves out because the model has nothing of what they are about."""

from __future__ import annotations

from onnx_lint.common.record import replace
from onnx_lint.engine.lint import lint_model
from onnx_lint.engine.registry import Registered
from onnx_lint.engine.selection import selection_of
from onnx_lint.engine.settings import ALL, Settings, options_of
from onnx_lint.model import Model


def unasked(model: Model, settings: Settings) -> list[Registered]:
    """The rules that the model is held against and that have nothing to look at in it; it is linted first."""
    lint_model(model, settings)
    selection = selection_of(settings)
    asked = {entry.id for entry in selection.asked(model)}
    return [entry for entry in selection.judging(model) if entry.id not in asked]


def with_all_rules(settings: Settings) -> Settings:
    """The settings with every rule selected."""
    return replace(settings, select=(ALL,), ignore=())


def missed(model: Model, settings: Settings) -> list[str]:
    """What those of all rules find all the same; of the settings, which `with_all_rules` gives, the options count."""
    return [
        f"{entry.id}: {finding.place}: {finding.message}"
        for entry in unasked(model, settings)
        for finding in entry.rule.check(model, **options_of(entry.rule, settings))
    ]
