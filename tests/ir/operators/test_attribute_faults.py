# SPDX-License-Identifier: Apache-2.0
"""Numbers and lists in attributes that an operator can do nothing with."""

from __future__ import annotations

import pytest
from support.models.model_samples import from_text

from onnx_lint.input.source import BytesSource
from onnx_lint.ir.operators import attribute_faults as module
from onnx_lint.ir.operators.attribute_faults import attribute_faults, is_sound
from onnx_lint.loader import load
from onnx_lint.model import Model
from onnx_lint.spec.operators import BUILT_IN


def _faults(op_type: str, version: int, attributes: str) -> list[tuple[str, str]]:
    [form] = from_text(f'graph {{ node {{ op_type: "{op_type}" {attributes} }} }}').main_graph.forms
    schema = BUILT_IN.find("", op_type, version)
    assert schema is not None
    return [(fault.attribute, fault.what) for fault in attribute_faults(schema, form)]


@pytest.mark.parametrize(
    ("op_type", "attributes", "faults"),
    [
        ("Transpose", 'attribute { name: "perm" type: INTS ints: [1, 0] }', []),
        ("Transpose", 'attribute { name: "perm" type: INTS ints: [1, 1] }', ["perm"]),
        ("Conv", 'attribute { name: "pads" type: INTS ints: [0, -1] }', ["pads"]),
        ("Conv", 'attribute { name: "pads" type: INTS ref_attr_name: "p" }', []),
        ("Conv", 'attribute { name: "pads" type: INT i: -1 }', []),
        ("Einsum", 'input: "x" attribute { name: "equation" type: STRING s: "ij->k" }', ["equation"]),
        ("Einsum", 'input: "x" attribute { name: "equation" type: STRING s: "ij->j" }', []),
        ("Relu", 'attribute { name: "perm" type: INTS ints: [1, 1] }', []),
    ],
)
def test_each_attribute_has_one_fault_at_most(op_type: str, attributes: str, faults: list[str]):
    found = _faults(op_type, 13, attributes)
    assert [name for name, _ in found] == faults
    assert all(what for _, what in found)


NEAREST = 'attribute { name: "nearest_mode" type: STRING s: "round_prefer_floor" }'
CUBIC = 'attribute { name: "mode" type: STRING s: "cubic" }'


@pytest.mark.parametrize("versions", [(10, 11), (11, 10)])
def test_a_form_is_sound_for_one_signature_only(versions: tuple[int, int]):
    [form] = from_text(f'graph {{ node {{ op_type: "Resize" {CUBIC} }} }}').main_graph.forms
    schemas = {version: BUILT_IN.find("", "Resize", version) for version in versions}
    for version in (*versions, *versions):
        schema = schemas[version]
        assert schema is not None
        assert is_sound(schema, form) is (version == 11)  # the mode is new there


def test_a_form_that_is_sound_is_not_judged_again(monkeypatch: pytest.MonkeyPatch):
    [form] = from_text(f'graph {{ node {{ op_type: "Resize" {NEAREST} }} }}').main_graph.forms
    schema = BUILT_IN.find("", "Resize", 11)
    assert schema is not None
    form.sound = None
    judged: list[object] = []
    original = module.attribute_faults
    monkeypatch.setattr(module, "attribute_faults", lambda *given: judged.append(given) or original(*given))
    assert [is_sound(schema, form), is_sound(schema, form)] == [True, True]
    assert len(judged) == 1


def _model(text: str) -> Model:
    return load(BytesSource(text.encode()), "m.textproto")


@pytest.mark.parametrize("versions", [(10, 11), (11, 10)])
def test_a_form_is_faultless_for_one_signature_only(versions: tuple[int, int]):
    found = {}
    for version in (*versions, *versions):
        text = f"""ir_version: 8 opset_import {{ version: {version} }} graph {{ node {{
            op_type: "Resize" input: "x" input: "roi" input: "scales" output: "y" {CUBIC} }} }}"""
        found[version] = module.has_faulty_attributes(_model(text).operators)
    assert found == {10: True, 11: False}  # the mode is new there


def test_a_faultless_form_is_not_judged_again(monkeypatch: pytest.MonkeyPatch):
    text = 'ir_version: 8 opset_import { version: 13 } graph { node { op_type: "Elu" input: "x" output: "y" %s } }'
    alpha = 'attribute { name: "alpha" type: FLOAT f: 0.125 }'
    first, second = _model(text % alpha).operators, _model(text % alpha).operators
    for alike in first.alike_nodes:
        alike.form.faultless = None  # another test may have judged it
    judged: list[object] = []
    original = module.has_broken_combinations
    monkeypatch.setattr(module, "has_broken_combinations", lambda *given: judged.append(given) or original(*given))
    assert [module.has_faulty_attributes(first), module.has_faulty_attributes(second)] == [False, False]
    assert len(judged) == 1


NEAREST = 'attribute { name: "nearest_mode" type: STRING s: "round_prefer_floor" }'
CUBIC = 'attribute { name: "mode" type: STRING s: "cubic" }'


@pytest.mark.parametrize("versions", [(10, 11), (11, 10)])
def test_a_form_is_sound_for_one_signature_only(versions: tuple[int, int]):
    [form] = from_text(f'graph {{ node {{ op_type: "Resize" {CUBIC} }} }}').main_graph.forms
    schemas = {version: BUILT_IN.find("", "Resize", version) for version in versions}
    for version in (*versions, *versions):
        schema = schemas[version]
        assert schema is not None
        assert is_sound(schema, form) is (version == 11)  # the mode is new there


def test_a_form_that_is_sound_is_not_judged_again(monkeypatch: pytest.MonkeyPatch):
    [form] = from_text(f'graph {{ node {{ op_type: "Resize" {NEAREST} }} }}').main_graph.forms
    schema = BUILT_IN.find("", "Resize", 11)
    assert schema is not None
    form.sound = None
    judged: list[object] = []
    original = module.attribute_faults
    monkeypatch.setattr(module, "attribute_faults", lambda *given: judged.append(given) or original(*given))
    assert [is_sound(schema, form), is_sound(schema, form)] == [True, True]
    assert len(judged) == 1
