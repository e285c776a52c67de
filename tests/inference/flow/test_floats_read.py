# SPDX-License-Identifier: Apache-2.0
"""Among many weights only the floating-point elements on which a shape may depend are followed."""

from __future__ import annotations

import pytest

from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model

WEIGHTS = 101
"""So many initializers that their uses are looked for."""


def model(nodes: str) -> Model:
    """A model with many biases, and the scales 1, 1, 2 and 2 in two parts."""
    biases = "".join(
        f'initializer {{ name: "b{at}" dims: 4 data_type: 1 float_data: [1, 2, 3, {at}] }}' for at in range(WEIGHTS)
    )
    adds = "".join(
        f'node {{ op_type: "Add" input: "{f"h{at - 1}" if at else "x"}" input: "b{at}" output: "h{at}" }}'
        for at in range(WEIGHTS)
    )
    text = f"""ir_version: 10 opset_import {{ version: 21 }} graph {{ name: "g"
        input {{ name: "x" type {{ tensor_type {{ elem_type: 1 shape {{ dim {{ dim_value: 1 }} dim {{ dim_value: 3 }}
            dim {{ dim_value: 4 }} dim {{ dim_value: 4 }} }} }} }} }}
        initializer {{ name: "ones" dims: 2 data_type: 1 float_data: [1, 1] }}
        initializer {{ name: "twos" dims: 2 data_type: 1 float_data: [2, 2] }}
        {biases} {adds} {nodes} }}"""
    return load(BytesSource(text.encode()), "m.textproto")


SCALES = 'node { op_type: "Concat" input: "ones" input: "twos" output: "s" attribute { name: "axis" i: 0 type: INT } }'
RESIZE = 'node { op_type: "Resize" input: "x" input: "" input: "s" output: "y" }'
BRANCH = """node { op_type: "If" input: "c" output: "y" attribute { name: "then_branch" type: GRAPH g { name: "t"
    NODES output { name: "y" } } } attribute { name: "else_branch" type: GRAPH g { name: "e"
    node { op_type: "Identity" input: "x" output: "z" } output { name: "z" } } } }"""


@pytest.mark.parametrize(
    "nodes",
    [SCALES + RESIZE, BRANCH.replace("NODES", SCALES + RESIZE), RESIZE + SCALES],
    ids=["main", "branch", "order"],
)
def test_the_parts_of_the_scales_are_read(nodes: str):
    flow = model(nodes).value_flow
    assert flow.fact_of("ones").content == (1.0, 1.0)
    found = [walked.facts["y"].shape for walked in flow.walks.first if "y" in walked.facts]
    assert (1, 3, 8, 8) in found


def test_the_biases_are_not():
    flow = model(SCALES + RESIZE).value_flow
    assert [flow.fact_of(f"b{at}").content for at in range(WEIGHTS)] == [None] * WEIGHTS
    assert flow.shape_of(f"h{WEIGHTS - 1}") == (1, 3, 4, 4)
