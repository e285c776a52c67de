# SPDX-License-Identifier: Apache-2.0
"""The rules of onnx-lint itself, and a way to check all of them in one test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import pytest

from onnx_lint.engine.registry import Registered, registry

RULES: Final[Mapping[str, Registered]] = {name: entry for name, entry in registry().items() if entry.plugin is None}


def check_each_rule(check: Callable[[Registered], Iterable[str]]) -> None:
    """Fail the test if `check` yields a sentence about a rule, with a line for each sentence and rule."""
    breaches = [f"{name}: {sentence}" for name, entry in RULES.items() for sentence in check(entry)]
    if breaches:
        pytest.fail("\n".join(breaches), pytrace=False)
