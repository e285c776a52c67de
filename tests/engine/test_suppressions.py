# SPDX-License-Identifier: Apache-2.0
"""The patterns for the places of suppressions."""

from __future__ import annotations

import re
from typing import Any

import pytest

from onnx_lint import lint
from onnx_lint.engine.suppressions import Suppression


@pytest.mark.parametrize("pattern", ["*", "a*", "*b", "a*b", "*x*y*", "ab*ab", "**", "abab", "", "a*a*b*b", "x*"])
def test_a_pattern_matches_what_the_regular_expression_does(pattern: str) -> None:
    expression = ".*".join(map(re.escape, pattern.split("*")))
    for text in ("", "ab", "abab", "axyb", "aabb", "ba", "aab", "xy\n", "abxab"):
        expected = not pattern or re.fullmatch(expression, text, re.DOTALL) is not None
        [diagnostic] = lint(b"", select="not-a-model").diagnostics[:1]
        entry = Suppression("w", diagnostic.rule, "r", pattern)
        named = type(diagnostic)(**{**_fields(diagnostic), "place": text, "node": None, "subject": None})
        assert entry.covers(named) == expected, (pattern, text)


def _fields(record: Any) -> dict[str, Any]:
    from onnx_lint.common.record import field_names

    return {name: getattr(record, name) for name in field_names(type(record))}
