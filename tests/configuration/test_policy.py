# SPDX-License-Identifier: Apache-2.0
"""The table `policy` turns on the rules that check it, and each finding names the line that requires it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.models.clean_model import clean_proto

from onnx_lint import lint


def _model() -> bytes:
    return clean_proto().SerializeToString()


def _findings(folder: Path, text: str, name: str = "onnx-lint.toml", **options) -> list[tuple[str, str, str]]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    found = lint(_model(), options, config=path).diagnostics
    return sorted((each.rule, each.clause, each.anchor.rpartition("/")[2]) for each in found)


TEXT = """\
[policy]
ir-version = "..9"
metadata = ["licence"]
max-size = "1KB"

[policy.operators]
allow = ["Neg"]
[policy.opsets]
"" = "22.."
[policy.inputs]
x = { shape = ["n"] }
z = {}
[policy.element-types]
forbid = ["float"]
[policy.domains]
forbid = ["ai.onnx"]
"""


def test_each_finding_names_its_entry(tmp_path):
    assert _findings(tmp_path, TEXT) == [
        ("disallowed-domain", "POL-2", "onnx-lint.toml: policy.domains.forbid"),
        ("disallowed-element-type", "POL-4", "onnx-lint.toml: policy.element-types.forbid"),
        ("disallowed-ir-version", "POL-5", "onnx-lint.toml: policy.ir-version"),
        ("disallowed-operator", "POL-1", "onnx-lint.toml: policy.operators.allow"),
        ("disallowed-operator-set", "POL-3", "onnx-lint.toml: policy.opsets.ai.onnx"),
        ("missing-metadata-entry", "POL-6", "onnx-lint.toml: policy.metadata"),
        ("unexpected-interface", "POL-7", "onnx-lint.toml: policy.inputs.x"),
        ("unexpected-interface", "POL-7", "onnx-lint.toml: policy.inputs.z"),
    ]


def test_the_entry_is_that_of_the_file_that_is_extended(tmp_path):
    (tmp_path / "base.toml").write_text("\n[policy]\nmax-size = 10\nir-version = 9\n", encoding="utf-8")
    text = 'extend = "base.toml"\n\n\n[policy]\nir-version = 8\n'
    assert _findings(tmp_path, text) == [
        ("disallowed-ir-version", "POL-5", "onnx-lint.toml: policy.ir-version"),
        ("oversized-model", "POL-8", "base.toml: policy.max-size"),
    ]


def test_a_model_that_breaks_only_the_policy_conforms(tmp_path):
    path = tmp_path / "onnx-lint.toml"
    path.write_text("[policy]\nmax-size = 10\n", encoding="utf-8")
    report = lint(_model(), config=path)
    assert report.conforms
    assert not report.passes
    assert [each.cited.declared_by for each in report.diagnostics] == ["policy"]


def test_the_selection_of_the_command_line_replaces_the_policy_and_ignore_leaves_rules_out(tmp_path):
    assert _findings(tmp_path, TEXT, select=["node"]) == []
    assert _findings(tmp_path, TEXT, ignore=["policy"]) == []
    assert [rule for rule, _, _ in _findings(tmp_path, TEXT, select=["disallowed-domain"])] == ["disallowed-domain"]


def test_without_a_policy_no_rule_of_it_runs(tmp_path):
    empty = _findings(tmp_path, "[policy]\n[policy.operators]\n[policy.opsets]\n[policy.inputs]\n", pedantic=True)
    assert empty == _findings(tmp_path, "", pedantic=True)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("policy = 1", "policy: requires a table, not 1"),
        ("[policy]\nmax_size = 1", "policy: unknown key 'max_size'; did you mean 'max-size'?"),
        (
            "[policy]\nmax-size = 'big'",
            "policy.max-size: requires a number of bytes of at least 1, or a size such as '100MiB', not 'big'",
        ),
        (
            "[policy.operators]\nallow = 'Loop'",
            "the character '[') (at least one), not 'Loop'; write ['Loop']",
        ),
        (
            "[policy.operators]\nallow = []",
            "policy.operators.allow: requires a list of operators, such as 'Loop' or",
        ),
        ("[policy.element-types]\nallow = []", "(at least one), not an empty list"),
        ("[policy]\nmetadata = ['a', 5]", "for the value of each key (at least one), not a list with 5 (item 2)"),
        (
            "[policy.element-types]\nforbid = ['float', 'float64']",
            "float6e3m2, not a list with 'float64' (item 2)",
        ),
        (
            "[policy]\nir-version = '10..8'",
            "onnx-lint.toml: policy.ir-version: requires an IR version from 1 to 14, or a range such as '7..14'",
        ),
        ("[policy]\nir-version = '10..8'", "or '..14', the lower version first, not '10..8'"),
        ("[policy]\nir-version = 15", "policy.ir-version: requires an IR version from 1 to 14, or a range such as"),
        *(
            (f"[policy]\nir-version = '{text}'", f"first, not '{text}'")
            for text in ("99", "0", "..15", "10..99", "0..")
        ),
        (
            "[policy.opsets]\n'ai.onnx' = '17..99'",
            'onnx-lint.toml: policy.opsets."ai.onnx": requires a version from 1 to 28, or a range such as',
        ),
        ("[policy.opsets]\n'ai.onnx' = '0'", 'policy.opsets."ai.onnx": requires a version from 1 to 28'),
        ("[policy.opsets]\n'' = 29", 'policy.opsets."": requires a version from 1 to 28'),
        ("[policy.opsets]\n'ai.onnx.ml' = '6'", 'policy.opsets."ai.onnx.ml": requires a version from 1 to 5'),
        ("[policy.opsets]\n'com.acme' = '0..2'", 'policy.opsets."com.acme": requires a version such as 19, or'),
        ("[policy]\nmetadata = ['']", "policy.metadata: requires a list of non-empty keys, or a table"),
        ("[policy]\nmetadata = {'' = ['a']}", "policy.metadata: requires a list of non-empty keys, or a table"),
        (
            "[policy]\nmetadata = {a = []}",
            "for the value of each key (at least one), not a table with an empty list for 'a'",
        ),
        (
            "[policy]\nmetadata = {a = ['']}",
            "patterns for the value of each key (at least one), not a table with a wrong",
        ),
        (
            "[policy]\nproducers = ['']",
            "policy.producers: requires a list of names, or of patterns with * and ?, with a ']'",
        ),
        (
            "[policy.operators]\nforbid = ['']",
            "policy.operators.forbid: requires a list of operators, such as 'Loop' or 'com.microsoft::*', with",
        ),
        (
            "[rules.disallowed-ir-version]\nir_version = '99'",
            "rules.disallowed-ir-version.ir_version: requires an IR version from 1 to 14",
        ),
        (
            "[rules.unexpected-interface]\ninputs = { x = 'float' }",
            "rules.unexpected-interface.inputs.x: requires a table, not 'float'",
        ),
        (
            "[rules.disallowed-operator-set]\nopsets = {'ai.onnx' = '99'}",
            "requires a version from 1 to 28, or a range such as",
        ),
        (
            "[rules.missing-metadata-entry]\nproducers = ['']",
            "rules.missing-metadata-entry.producers: requires a list of non-empty strings",
        ),
        ("[policy]\nir-version = '..'", "policy.ir-version: requires"),
        ("[policy]\nir-version = '\u0668..\u0669'", "policy.ir-version: requires"),
        ("[policy.opsets]\n'ai.onnx' = '22..21'", 'policy.opsets."ai.onnx": requires'),
        (
            "[policy.opsets]\n'ai.onnx' = 21\n'' = 22",
            "onnx-lint.toml: policy.opsets: requires each domain once, but 'ai.onnx' and '' are the same domain",
        ),
        (
            "[policy.domains]\nallow = ['ai.onnx.ml=3']",
            "policy.domains.allow: 'ai.onnx.ml=3' is no domain; [policy.opsets] has the versions of domains",
        ),
        (
            "[policy.opsets]\nai.onnx = 17",
            'not a table; write a domain with a dot in quotes: "ai.onnx" = 17',
        ),
        (
            "[policy.element-types]\nforbid = ['float64']",
            "policy.element-types.forbid: requires a list of names of element types: float, uint8,",
        ),
        (
            "[policy.inputs]\nx = { shape = ['...', '...'] }",
            "policy.inputs.x.shape: requires a list of sizes without quotes, names of variables, '*' or one '...'",
        ),
        ("[policy]\nir-version = '9-10'", "policy.ir-version: requires an IR version from 1 to 14, or a range such as"),
        (
            "[policy.operators]\nforbid = ['Nonzero']",
            "forbid: ai.onnx has no operator 'Nonzero'; did you mean 'NonZero'?",
        ),
        ("[policy.operators]\nallow = ['Zzzz']", "policy.operators.allow: ai.onnx has no operator 'Zzzz'"),
        (
            "[policy.operators]\nforbid = ['com.microsoft::Gelus']",
            "com.microsoft has no operator 'Gelus'; did you mean",
        ),
        ("[policy.operators]\nforbid = ['com.microsft::*']", "unknown domain 'com.microsft'; did you mean"),
        ("[policy.domains]\nforbid = ['com.microsft']", "unknown domain 'com.microsft'; did you mean 'com.microsoft'?"),
        ("[policy.opsets]\n'ai.onx' = '17..21'", "unknown domain 'ai.onx'; did you mean 'ai.onnx'?"),
        (
            "[policy]\nmetadata = {licence = 'MIT'}",
            "for the value of each key (at least one), not a table with 'MIT' for 'licence'",
        ),
        ("[policy]\nonly-listed = ['values']", "policy.only-listed: requires a list of 'inputs', 'outputs' or both"),
        (
            "[policy]\nonly-listed = ['inputs', 'outputs']\n[policy.inputs]\nx = {}",
            "policy.only-listed: 'outputs' requires a table [policy.outputs] with the names; an empty one",
        ),
    ],
)
def test_a_wrong_entry_is_an_error_that_names_it(tmp_path, text, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        _findings(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ('[policy.operators]\nforbid = ["ai.onnx::*"]', ["disallowed-operator"]),
        ('[policy.operators]\nforbid = ["ai.onnx::Relu"]', ["disallowed-operator"]),
        ('[policy.operators]\nforbid = ["ai.onnx::Neg", "*::*"]', []),
        ('[policy.operators]\nallow = ["ai.onnx::Re*"]', []),
        ('[policy.domains]\nallow = ["", "ai.onnx.contrib", "ai.onnx.cv"]', []),  # domains of others
        ('[policy.domains]\nallow = [""]', []),
        ('[policy.domains]\nforbid = [""]', ["disallowed-domain"]),
        ('[policy.opsets]\n"" = "8..8"', ["disallowed-operator-set"]),
        ('[policy.opsets]\n"" = "21..21"', []),
    ],
)
def test_the_default_domain_has_two_names(tmp_path, text, rules):
    found = _findings(tmp_path, text)
    assert [rule for rule, clause, _ in found if clause.startswith("POL-")] == rules


@pytest.mark.parametrize(
    "text",
    [
        '[policy.operators]\nforbid = ["ATen", "com.acme::Odd", "Non*", "com.microsoft::NewOne"]',
        '[policy.domains]\nforbid = ["com.acme", "com.micro*"]\n[policy.opsets]\n"com.acme" = 1',
        '[policy.inputs]\n"*" = { shape = [2] }\n[policy.outputs]\n"y" = { type = "float" }',
        '[policy]\nmax-nodes = 1\nmax-parameters = 1\nproducers = ["a *"]',
        '[policy]\nir-version = "010..14"\n[policy.opsets]\n"ai.onnx" = "1..28"\n"ai.onnx.ml" = 5\n"com.acme" = 999',
        '[policy]\nonly-listed = ["inputs"]\n[policy.inputs]\n"x*" = {}',
        '[policy.element-types]\nallow = ["float"]\n[policy.weight-types]\nallow = ["int8"]',
    ],
)
def test_a_model_that_keeps_the_policy_has_no_finding(tmp_path, text):
    assert _findings(tmp_path, text) == []


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ('inputs."*" = { shape = ["n"] }', ["input 'x' of main graph 'graph' is declared as [2], which"]),
        (
            'only-listed = ["inputs", "outputs"]\ninputs = {}\noutputs = { y = {} }',
            ["main graph 'graph' has the input 'x', which"],
        ),
        ("max-nodes = 1", ["the model has 2 nodes, more than"]),
        ("max-parameters = 5", ["the model has 6 parameters, more than"]),
        ('producers = ["pytorch*"]', ["the producer of the model is called 'a test', which"]),
        ('metadata = { licence = ["MIT", "Apache*"] }', ["the metadata has the value 'GPL' for 'licence', which"]),
        ('metadata = ["blank"]', ["the metadata has no value for 'blank', which"]),
        ('weight-types.allow = ["float"]', ["element type int8, which the policy does not allow, is used in 1 place"]),
        ('element-types.forbid = ["bool"]', ["element type bool, which the policy forbids, is used in 1 place"]),
        ('element-types.forbid = ["int8"]\nweight-types.allow = ["int8"]', []),
    ],
)
def test_each_requirement_is_checked(text, messages, tmp_path):
    model = clean_proto()
    model.graph.node.add(op_type="IsNaN", input=["x"], output=["inferred"])
    model.graph.initializer.add(name="w", data_type=3, dims=[2, 3], raw_data=bytes(6))
    model.metadata_props.add(key="licence", value="GPL")
    model.metadata_props.add(key="blank", value=" ")
    (tmp_path / "policy.toml").write_text(f"[policy]\n{text}", encoding="utf-8")
    report = lint(model.SerializeToString(), config=tmp_path / "policy.toml")
    found = [each for each in report.diagnostics if each.clause[:3] == "POL"]
    assert len(found) == len(messages)
    assert all(each.message.startswith(text) for each, text in zip(found, messages, strict=True)), found


def test_a_file_replaces_the_range_of_the_default_domain_by_either_name(tmp_path):
    (tmp_path / "base.toml").write_text('[policy.opsets]\n"" = "22.."\n', encoding="utf-8")
    found = _findings(tmp_path, 'extend = "base.toml"\n[policy.opsets]\n"ai.onnx" = "21.."\n')
    assert [rule for rule, clause, _ in found if clause.startswith("POL-")] == []
