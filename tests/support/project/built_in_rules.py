# SPDX-License-Identifier: Apache-2.0
"""The rules of onnx-lint itself, and a way to check all of them in one test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from onnx_lint.engine.registry import Registered, registry

RULES: Final[Mapping[str, Registered]] = {name: entry for name, entry in registry().items() if entry.plugin is None}


def breaches(check: Callable[[Registered], Iterable[str]]) -> list[str]:
    """Return what `check` says about each rule, one line a sentence, with the rule's name in front."""
    return [f"{name}: {sentence}" for name, entry in RULES.items() for sentence in check(entry)]
