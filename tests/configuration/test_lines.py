# SPDX-License-Identifier: Apache-2.0
"""The line of each key and table of a TOML document."""

from __future__ import annotations

import pytest

from onnx_lint.configuration.lines import lines_of

TEXT = '''\
# a comment = "x"
fail-on = "error" # [no.header]

[policy]
metadata = [
  "a",  # = b
  "]",
]
text = """
[not.a.header]
key = 1
"""
inputs."a.b" = { type = "float", shape = ["n"] }
[ policy.operators ]
forbid = ["x"]
[[suppress]]
rule = "a"
[[suppress]]
rule = "b"
'''


def test_each_key_and_table_has_its_line():
    assert lines_of(TEXT) == {
        ("fail-on",): 2,
        ("policy",): 4,
        ("policy", "metadata"): 5,
        ("policy", "text"): 9,
        ("policy", "inputs"): 13,
        ("policy", "inputs", "a.b"): 13,
        ("policy", "operators"): 14,
        ("policy", "operators", "forbid"): 15,
        ("suppress",): 16,
        ("suppress", "0"): 16,
        ("suppress", "0", "rule"): 17,
        ("suppress", "1"): 18,
        ("suppress", "1", "rule"): 19,
    }


@pytest.mark.parametrize("text", ["", "\n\n", "# only a comment", "a = 1"])
def test_small_documents(text):
    assert lines_of(text) == ({("a",): 1} if text == "a = 1" else {})


def test_paths_are_relative_to_a_table():
    text = "[tool.other]\nx = 1\n[tool.onnx-lint.policy]\nmax-size = 3\n"
    assert lines_of(text, ("tool", "onnx-lint")) == {("policy",): 3, ("policy", "max-size"): 4}
