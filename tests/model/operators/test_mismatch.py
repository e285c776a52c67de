# SPDX-License-Identifier: Apache-2.0
"""Which nodes fit a signature, and which version of it."""

from __future__ import annotations

import pytest

from onnx_lint.loader import load
from onnx_lint.model import Model
from onnx_lint.model.operators.mismatch import fits, operands, other_version
from onnx_lint.source import BytesSource


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
        return other_version(model.operators.schemas, schema, alike)

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
            return [side.describe_counts() for side in operands(alike.operator.schema, alike)]

        assert words("Relu", 14) == ["1 input", "1 output"]
        assert words("Conv", 11) == ["2 to 3 inputs", "1 output"]
        assert words("Concat", 13) == ["at least 1 input", "1 output"]
        assert words("Constant", 13) == ["0 inputs", "1 output"]
        assert words("BatchNormalization", 9) == ["5 inputs", "1 or 5 outputs"]
