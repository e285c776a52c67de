# SPDX-License-Identifier: Apache-2.0
"""If, Loop, Scan and SequenceMap against onnx's strict inference: the shapes of the inputs and outputs of subgraphs."""

from __future__ import annotations

import re

import onnx.defs
import onnx.shape_inference
import pytest
from shape_cases.case import Held, Shapes, inferred_shape
from shape_cases.comparison import OF_TYPES, Comparison, differences
from shape_cases.control_flow import EXPLAINED, Nested, nested

from onnx_lint.inference.shapes.fact import UNKNOWN, Fact
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load

pytestmark = pytest.mark.differential

SHOWN = 60


def _theirs(case: Nested) -> tuple[str, list[Shapes]]:
    try:
        inferred = onnx.shape_inference.infer_shapes(case.model, check_type=True, strict_mode=True)
    except (onnx.shape_inference.InferenceError, ValueError, RuntimeError) as error:
        return re.sub(r"\s+", " ", str(error)) or "no message", []
    return "", [inferred_shape(value.type) for value in inferred.graph.output]


def _ours(case: Nested) -> tuple[str, list[Shapes]]:
    flow = load(BytesSource(case.model.SerializeToString()), "model.onnx").value_flow
    wrong = [*flow.shapes, *flow.declared_shapes, *flow.subgraph_shapes, *flow.conflicts()]
    shapes = [_shape(flow.facts.get(name, UNKNOWN)) for name in case.outputs]
    return "; ".join(each.describe() for each in wrong), shapes


def _shape(fact: Fact) -> Shapes:
    if fact.inside is None:
        return fact.shape
    inside = _shape(fact.inside)
    return None if inside is None else Held(inside)


@pytest.mark.parametrize("operator", ["If", "Loop", "Scan", "SequenceMap"])
def test_verdicts_and_shapes_are_those_of_onnx(operator):
    comparison = Comparison(tuple(each for each in EXPLAINED if operator in re.split("[- ]", each.operators)))
    compared = 0
    for schema in onnx.defs.get_all_schemas_with_history():
        if schema.name != operator or schema.domain:
            continue
        for case in nested(schema):
            message, their_shapes = _theirs(case)
            if OF_TYPES.search(message):
                continue
            compared += 1
            problems, our_shapes = _ours(case)
            for difference in differences(message, problems, their_shapes, our_shapes):
                comparison.note(schema, case.about, difference)
    assert compared > 100
    found = comparison.listing()
    if found:
        pytest.fail("\n".join([f"{len(found)} kinds of {compared}", *found[:SHOWN]]), pytrace=False)
    unused = [each for each in comparison.explained if each not in comparison.used]
    assert not unused, "\n".join(f"explains nothing: {each.operators} {each.difference}" for each in unused)
