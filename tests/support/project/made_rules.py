# SPDX-License-Identifier: Apache-2.0
"""Makes entries of the registry for rules without a file."""

from __future__ import annotations

import sys
from types import ModuleType

from onnx_lint.engine.registry import Registered, RuleFacts, index_entry
from onnx_lint.rule import Rule


def registered(rule: Rule, chapter: str, module: str, plugin: str | None) -> Registered:
    """The entry of a rule that is made by a test."""
    package = module.rpartition(".")[0] or "made_rules_package"
    sys.modules.setdefault(package, ModuleType(package))
    file = f"{package}.{module.rpartition('.')[2]}"
    entry = Registered(rule.id, file, plugin, RuleFacts(chapter, **index_entry(rule)))
    entry.__dict__["rule"] = rule
    return entry
