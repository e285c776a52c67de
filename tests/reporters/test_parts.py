# SPDX-License-Identifier: Apache-2.0
"""What only some reports show of a file is computed for these only."""

from __future__ import annotations

import pytest

from onnx_lint.engine.settings import PARTS
from onnx_lint.reporters import REPORTERS, shown_parts

SHOWN = {
    "text": ["counts"],
    "concise": [],
    "json": list(PARTS),
    "jsonl": list(PARTS),
    "sarif": ["edits"],
    "github": [],
    "gitlab": [],
    "junit": ["counts"],
    "markdown": ["counts"],
    "html": ["counts"],
}


@pytest.mark.parametrize("form", REPORTERS)
def test_what_a_format_shows(form):
    assert list(shown_parts([form], quiet=False, statistics=False)) == SHOWN[form]


def test_several_formats_show_what_any_of_them_shows():
    assert shown_parts(["text", "sarif"], quiet=False, statistics=False) == ("counts", "edits")


def test_a_quiet_text_shows_no_counts():
    assert shown_parts(["text"], quiet=True, statistics=False) == ()
    assert shown_parts(["text", "junit"], quiet=True, statistics=False) == ("counts",)


@pytest.mark.parametrize("form", REPORTERS)
def test_statistics_have_operators(form):
    assert shown_parts([form], quiet=False, statistics=True) == (
        *(part for part in SHOWN[form] if part != "operators"),
        "operators",
    )
