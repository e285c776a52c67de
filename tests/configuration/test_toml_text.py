# SPDX-License-Identifier: Apache-2.0
"""What is written as TOML is read as the same."""

from __future__ import annotations

import datetime
import tomllib
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from onnx_lint.common.visible import visible
from onnx_lint.configuration.toml_text import toml_key, toml_value

_TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=8) | st.sampled_from(
    ['"', "\\", "::a", "##[x]", "a.b", "\x7f", "\xad", "\u200b", "\n", "2024", "true"]
)
_PLAIN = (
    st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | _TEXTS
    | st.dates(datetime.date(1, 1, 1))
    | st.datetimes()
    | st.times()
)
_VALUES = st.recursive(
    _PLAIN, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3), max_leaves=8
)


@given(st.lists(_TEXTS, min_size=1, max_size=3), _VALUES)
@settings(deadline=None, derandomize=True, max_examples=300)
def test_what_is_written_is_read_as_the_same(path: list[str], value: Any):
    """Also after the escapes that keep a line of a log on one line."""
    found: Any = tomllib.loads(visible(f"{toml_key(path)} = {toml_value(value)}"))
    for name in path:
        found = found[name]
    assert found == value
    assert type(found) is type(value)


def test_bare_keys_have_no_quotes():
    assert toml_key(("severity", "non-c90-name")) == "severity.non-c90-name"
    assert toml_key(("policy", "opsets", "ai.onnx")) == 'policy.opsets."ai.onnx"'
