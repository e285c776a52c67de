# SPDX-License-Identifier: Apache-2.0
"""Control-flow operators with any number of inputs, outputs, and inputs and outputs of their subgraphs."""

from __future__ import annotations

from itertools import product

import pytest

from onnx_lint import lint

pytestmark = pytest.mark.slow

GRAPHS = {
    "If": ("then_branch", "else_branch"),
    "Loop": ("body",),
    "Scan": ("body",),
    "SequenceMap": ("body",),
    "FlexAttention": ("score_mod",),
}
MODEL = """ir_version: 11 opset_import {{ version: {version} }} opset_import {{ domain: "ai.onnx.preview" version: 1 }}
graph {{ name: "g" node {{ op_type: "{operator}" {domain} {inputs} {outputs} {graphs}
  attribute {{ name: "num_scan_inputs" type: INT i: 1 }} }} }}"""
GRAPH = 'attribute {{ name: "{}" type: GRAPH g {{ name: "s" {} {} }} }}'


def _listed(field: str, names: str, count: int) -> str:
    return " ".join(f'{field}: "{names}{number}"' for number in range(count))


def _values(field: str, count: int) -> str:
    return " ".join(f'{field} {{ name: "i{number}" }}' for number in range(count))


@pytest.mark.parametrize("version", [8, 11, 21])
@pytest.mark.parametrize("operator", GRAPHS)
def test_no_number_of_operands_is_a_bug(operator: str, version: int):
    crashed = []
    for inputs, outputs, taken, given in product(range(4), range(1, 3), range(3), range(3)):
        text = MODEL.format(
            version=version,
            operator=operator,
            domain='domain: "ai.onnx.preview"' if operator == "FlexAttention" else "",
            inputs=_listed("input", "x", inputs),
            outputs=_listed("output", "y", outputs),
            graphs=" ".join(
                GRAPH.format(name, _values("input", taken), _values("output", given)) for name in GRAPHS[operator]
            ),
        )
        (file,) = lint(text.encode()).files
        assert file.facts is not None, file.diagnostics
        if file.internal_errors:
            crashed.append((inputs, outputs, taken, given, file.internal_errors[0].exception))
    assert crashed == []
