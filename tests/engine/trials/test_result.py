# SPDX-License-Identifier: Apache-2.0
"""What a change fixes depends on whether a rule is about types or about numbers."""

from __future__ import annotations

from onnx_lint.engine.registry import registry
from onnx_lint.engine.trials.compared_findings import _CHAPTERS
from onnx_lint.engine.trials.result import _is_about_types

ON_TYPES = {
    "contradictory-declared-type",
    "contradictory-value-info",
    "duplicate-value-info",
    "mismatched-operand-type",
    "mismatched-subgraph-type",
    "redundant-value-info",
    "shapeless-graph-value",
    "unconverted-optional",
    "unknown-value-info-name",
    "unnamed-value",
    "untyped-graph-value",
}

NOT_ON_INFERRED_TYPES = {
    "contradictory-parameter-type",
    "foreign-type",
    "mismatched-attribute-type",
    "missing-op-type",
    "wrong-operator-attribute-type",
}
"""Rules on types that are not about inferred ones. A finding of theirs is fixed only if shapes stay known as well."""


def test_each_rule_on_inferred_types_is_known_as_one():
    """A rule that is missing here is compared like one on shapes, and so loses hints that types alone prove."""
    assert {rule for rule in registry() if _is_about_types(rule)} == ON_TYPES
    on_types = {rule for rule, entry in registry().items() if rule.endswith("-type") and entry.chapter in _CHAPTERS}
    assert on_types - ON_TYPES == NOT_ON_INFERRED_TYPES
