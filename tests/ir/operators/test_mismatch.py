# SPDX-License-Identifier: Apache-2.0
"""Which nodes fit a signature, and which version of it."""

from __future__ import annotations

from itertools import pairwise

import pytest

from onnx_lint.input.source import BytesSource
from onnx_lint.ir.operators.mismatch import fits, fitting_version, given_operands, has_mismatches, moved_to_inputs
from onnx_lint.loader import load
from onnx_lint.model import Model
from onnx_lint.spec.operators import BUILT_IN


def model_of(text: str) -> Model:
    return load(BytesSource(text.encode()), "model.textproto")


class TestOtherVersions:
    def hint(self, op_type: str, version: int, node: str) -> str:
        text = f'ir_version: 8 opset_import {{ version: {version} }} graph {{ node {{ op_type: "{op_type}" {node} }} }}'
        model = model_of(text)
        (alike,) = model.operators.alike_nodes
        schema = alike.operator.schema
        assert schema is not None
        assert not fits(schema, alike)
        return fitting_version(model.operators.schemas, schema, alike)

    @pytest.mark.parametrize(
        ("op_type", "version", "node", "expected"),
        [
            ("Split", 11, 'input: "x" input: "s" output: "y"', "this is Split as of opset 13"),
            (
                "Split",
                13,
                'input: "x" output: "y" attribute { name: "split" ints: 1 type: INTS }',
                "this is Split as it was up to opset 12",
            ),
            (
                "Split",
                13,
                'input: "x" output: "y" attribute { name: "num_outputs" i: 1 type: INT }',
                "this is Split as of opset 18",
            ),
            ("Cast", 13, 'input: "x" output: "y"', ""),
            # Version 10 fits as well, but is deprecated.
            ("Upsample", 7, 'input: "x" input: "s" output: "y"', "this is Upsample as of opset 9"),
        ],
    )
    def test_the_version_that_a_node_fits(self, op_type: str, version: int, node: str, expected: str):
        assert self.hint(op_type, version, node) == expected

    def test_counts_in_words(self):
        def words(op_type: str, version: int) -> list[str]:
            text = f'ir_version: 8 opset_import {{ version: {version} }} graph {{ node {{ op_type: "{op_type}" }} }}'
            (alike,) = model_of(text).operators.alike_nodes
            assert alike.operator.schema is not None
            return [side.describe_counts() for side in given_operands(alike.operator.schema, alike)]

        assert words("Relu", 14) == ["1 input", "1 output"]
        assert words("Conv", 11) == ["2 to 3 inputs", "1 output"]
        assert words("Concat", 13) == ["at least 1 input", "1 output"]
        assert words("Constant", 13) == ["0 inputs", "1 output"]
        assert words("BatchNormalization", 9) == ["5 inputs", "1 or 5 outputs"]


def _moved(op_type: str, version: int, attribute: str) -> dict[str, int]:
    text = f"""ir_version: 10 opset_import {{ version: {version} }} graph {{ name: "g" input {{ name: "x" }}
        node {{ op_type: "{op_type}" input: "x" output: "y" attribute {{ name: "{attribute}" type: INT i: 1 }} }} }}"""
    model = model_of(text)
    (alike,) = model.operators.verified_nodes
    schema = alike.operator.schema
    assert schema is not None
    return moved_to_inputs(model.operators.schemas, schema, alike)


def test_attributes_that_became_inputs_under_another_name():
    assert _moved("Pad", 21, "value") == {"value": 2}
    assert _moved("Pad", 11, "paddings") == {"paddings": 1}
    assert _moved("Pad", 2, "paddings") == {}, "still an attribute, of another name"
    assert _moved("TopK", 10, "k") == {"k": 1}


def test_no_other_operator_of_onnx_renamed_an_attribute_that_became_an_input():
    """All that were dropped where inputs came; `consumed_inputs` of Reshape said something about memory."""
    dropped = set()
    for domain in ("", "ai.onnx.ml", "ai.onnx.preview.training"):
        for name in BUILT_IN.operator_names(domain):
            versions = [BUILT_IN.find(domain, name, version) for version in BUILT_IN.versions(domain, name)]
            for one, other in pairwise(versions):
                if one is None or other is None or other.deprecated:
                    continue
                new = {each.name.casefold() for each in other.inputs} - {each.name.casefold() for each in one.inputs}
                gone = {each for each in one.attributes if each not in other.attributes and each.casefold() not in new}
                dropped |= {(name, each) for each in gone if new}
    assert dropped == {("Pad", "value"), ("Reshape", "consumed_inputs")}


@pytest.mark.parametrize("versions", [(11, 13), (13, 11)])
def test_a_form_that_fits_one_signature_may_not_fit_another(versions: tuple[int, int]):
    found = {}
    for version in (*versions, *versions):
        text = f"""ir_version: 8 opset_import {{ version: {version} }}
            graph {{ node {{ op_type: "Squeeze" input: "x" input: "axes" output: "y" }} }}"""
        found[version] = has_mismatches(model_of(text).operators)
    assert found == {11: True, 13: False}  # the axes are an input from operator set 13 on
