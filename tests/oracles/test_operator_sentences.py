# SPDX-License-Identifier: Apache-2.0
"""Each sentence of docs/operator_checks.md has the finding that the page says, from the version on that it says."""

from __future__ import annotations

import pytest
from support.processes.runtime_process import RuntimeProcess

from docs.generate.operator_checks import PAGE, found_by, row, sentences

SENTENCES = list(sentences())


def _rows() -> dict[str, str]:
    """The last column of each row of the page, by the row without it."""
    lines = (line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| "))
    parts = (line.removesuffix(" |").rpartition(" | ") for line in lines)
    return {f"{first} |": last for first, _, last in parts}


@pytest.mark.slow
@pytest.mark.parametrize("group", sorted({each.group for each in SENTENCES}))
def test_the_page_has_each_sentence_with_its_finding(group):
    rows = _rows()
    assert [row(each) for each in SENTENCES if each.group == group and row(each) not in rows] == []


@pytest.mark.consumers
def test_the_page_says_who_else_finds_it(tmp_path):
    pytest.importorskip("onnxruntime", reason="pip install onnxruntime")
    rows = _rows()
    with RuntimeProcess() as runtime:
        found = {row(each): found_by(each, runtime, tmp_path) for each in SENTENCES}
    assert {each: by for each, by in found.items() if rows.get(each) != by} == {}
