# SPDX-License-Identifier: Apache-2.0
"""Mends a model in memory, and compares its bytes with those that the edits must lead to."""

from __future__ import annotations

import re
from functools import partial

from onnx_lint.engine.lint import LintOptions, lint_source, load_source
from onnx_lint.engine.settings import Settings
from onnx_lint.fixing.difference import difference_of
from onnx_lint.fixing.rounds import FixOutcome, fix_in_rounds
from onnx_lint.input.source import Source
from support.wire.edited_tree import edited


def check_bytes(outcome: FixOutcome) -> None:
    """Check that each round has made its edits, and nothing else."""
    states = [*(each.before for each in outcome.rounds), outcome.source]
    for made, after in zip(outcome.rounds, states[1:], strict=True):
        before = made.before.read_at(0, made.before.size)
        assert edited(before, made.kind, made.edits) == after.read_at(0, after.size), made.edits


def fixed_model(source: Source, settings: Settings, *, unsafe: bool) -> FixOutcome:
    """Return what becomes of a model that has no folder."""
    lint = partial(lint_source, path="model.onnx", settings=settings, options=LintOptions(keeps_edits=lambda _: True))
    load = partial(load_source, path="model.onnx", settings=settings, is_file=False)
    return fix_in_rounds(source, lint(source), lint, load, unsafe=unsafe)


def check_difference(outcome: FixOutcome, settings: Settings) -> None:
    """Check that `--diff` shows something that changes for each part of the model that does."""
    text = difference_of(outcome, "-", settings)
    assert bool(text) == bool(outcome.rounds)
    for part in re.split(r"^(?:---|\+\+\+|@@) .*\n", text, flags=re.MULTILINE):
        lines = part.splitlines()
        old, new = ([line[1:] for line in lines if line.startswith(mark)] for mark in "-+")
        assert not lines or old != new, text
