# SPDX-License-Identifier: Apache-2.0
"""Settings are checked when they are made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from onnx_lint.engine.option_kinds import OPTION_KINDS
from onnx_lint.engine.plugins import files_in_use, use_files
from onnx_lint.engine.registry import registry
from onnx_lint.engine.settings import SelectionError, Settings
from onnx_lint.engine.value_kinds import VALUE_TYPE


@pytest.mark.parametrize(
    ("domain", "known", "allowed", "wrong"),
    [
        ("", "1 to 28", (1, 2, 28), (-1, 0, 29)),
        ("ai.onnx.ml", "1 to 5", (1, 5), (0, 6)),
        ("com.acme", "1 to 2147483647", (1, 999, 2**31 - 1), (-1, 0, 2**31)),
    ],
)
def test_operator_set_versions_are_those_that_exist(domain: str, known: str, allowed: Any, wrong: Any):
    for version in allowed:
        assert Settings(opset_imports={domain: version}).opset_imports[domain] == version
    for version in wrong:
        said = f"version {version} of {domain or 'ai.onnx'!r} does not exist; the versions are {known}"
        with pytest.raises(ValueError, match=f"^{said}$"):
            Settings(opset_imports={domain: version})


def test_rules_name_kinds_that_exist_for_options_that_exist():
    named = {id: entry.rule for id, entry in registry().items() if entry.rule.kinds}
    assert len(named) > 10
    for rule in named.values():
        assert rule.kinds.keys() <= rule.options.keys()
        assert set(rule.kinds.values()) <= OPTION_KINDS.keys()
        Settings(options={rule.id: rule.options})  # the defaults are allowed


@pytest.mark.parametrize(
    ("rule", "option", "right", "wrong"),
    [
        ("outdated-operator-set", "release", "1.14", "1.99"),
        ("dead-external-data", "least_share", 0.5, 5),
        ("unaligned-external-offset", "alignment", 4096, -4096),
        ("unexpected-interface", "inputs", {"x": {"type": "float", "shape": ("n", 3)}}, {"x": {"type": "flot"}}),
        ("unexpected-interface", "outputs", {"y": {"type": "seq(tensor(float))"}}, {"y": {"type": "tensor(float)"}}),
        ("disallowed-element-type", "forbid", ("double",), ("doubel",)),
    ],
)
def test_options_of_rules_are_checked_by_their_kinds(rule: str, option: str, right: object, wrong: object):
    assert Settings(options={rule: {option: right}}).options[rule] == {option: right}
    with pytest.raises(SelectionError, match=f"^option '{option}.*' of rule '{rule}' requires "):
        Settings(options={rule: {option: wrong}})


TYPES = [
    *("float", "sparse_tensor(float)", "seq(tensor(float))", "optional(tensor(bfloat16))", "map(int64, float)"),
    *("seq(map(string, float))", "map(int64, seq(tensor(float)))", "optional(seq(sparse_tensor(float)))"),
    *("map(int64, sparse_tensor(float))", "map(string, map(int64, float))", "opaque(com.example,Tree)"),
]
NO_TYPES = [
    *(
        "tensor(float)",
        "seq(float)",
        "seq(tensor(float)",
        "seq(tensor(float)))",
        "seq()",
        "seq(tensor(flot))",
        "map(int64)",
    ),
    *("map(int64,float)", "map(int64, tensor(float))", "map(float, float)", "sparse_tensor(tensor(float))", "float\n"),
]


def test_a_type_is_allowed_as_messages_have_it():
    for text in TYPES:
        assert VALUE_TYPE.accepts(text), text
    for text in NO_TYPES:
        assert not VALUE_TYPE.accepts(text), text


def test_settings_without_plugins_leave_those_of_the_run_in_use(tmp_path: Path):
    path = tmp_path / "own.py"
    path.write_text(OWN)
    try:
        Settings(plugins=(str(path),))
        Settings()
        assert files_in_use() == (str(path),)
        assert "own-rule" in registry()
    finally:
        use_files(())


def test_a_rule_that_names_an_unknown_kind_says_so(tmp_path: Path):
    path = tmp_path / "own.py"
    path.write_text(OWN)
    try:
        with pytest.raises(SelectionError, match="names the unknown kind 'hole' in the rule itself; the kinds are "):
            Settings(plugins=(str(path),), options={"own-rule": {"most": 1}})
    finally:
        use_files(())


OWN = '''from onnx_lint.rule import own_clause, rule


@rule(clause=own_clause("OWN-1", "A model is small."), since="1", kinds={"most": "hole"})
def own_rule(model, *, most: int = 3):
    """A model is large."""
    yield from ()
'''
