# SPDX-License-Identifier: Apache-2.0
"""A model that breaks a sentence about an operator has its finding, in the versions of the operator set as written."""

from __future__ import annotations

import pytest
from support.models.operator_sentences import found_by, found_in, sentences
from support.processes.runtime_process import RuntimeProcess

SENTENCES = [each for each in sentences() if each.body]


@pytest.mark.slow
@pytest.mark.parametrize("group", sorted({each.group for each in SENTENCES}))
def test_each_sentence_has_its_finding(group):
    of_group = [each for each in SENTENCES if each.group == group]
    assert {each.text: found_in(each) for each in of_group} == {each.text: each.expected[:2] for each in of_group}


@pytest.mark.consumers
def test_who_else_finds_it(tmp_path):
    pytest.importorskip("onnxruntime", reason="pip install onnxruntime")
    with RuntimeProcess() as runtime:
        found = {each: found_by(each, runtime, tmp_path) for each in SENTENCES}
    assert {each: by for each, by in found.items() if each.expected[2] != by} == {}
