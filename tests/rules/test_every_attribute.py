# SPDX-License-Identifier: Apache-2.0
"""No rule raises for any subset of a node's attributes, with any values."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations
from random import Random

import pytest
from support.models.random_operands import DOMAINS, operator_versions, random_attributes

from onnx_lint import schema
from onnx_lint.engine.rule_runs import lint_model
from onnx_lint.engine.settings import Settings
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.model import Model, Proto
from onnx_lint.spec.operators import OperatorSchema

pytestmark = pytest.mark.slow

OF_NODES = Settings(select=("attribute", "function", "shape", "signature", "tensor", "type"))
"""The chapters whose rules look at attributes, or at what follows from them."""

FEW = 5
"""The most attributes whose subsets are all tried."""

RANDOM_SUBSETS = 8
"""The random subsets to try of more attributes, besides those with at most two, or with only one missing."""


def _subsets(random: Random, names: list[str]) -> Iterator[tuple[str, ...]]:
    sizes = range(len(names) + 1) if len(names) <= FEW else (0, 1, 2, len(names) - 1, len(names))
    yield from chain.from_iterable(combinations(names, size) for size in sizes)
    for _ in range(RANDOM_SUBSETS if len(names) > FEW else 0):
        yield tuple(random.sample(names, random.randint(3, len(names) - 2)))


CALLS = 2
"""The nodes of each operator in functions that get some of the attributes from a call."""


def _model(random: Random, operator: OperatorSchema) -> Model:
    """Return a model that has a node for each subset of the attributes of an operator."""
    proto = schema.message("ModelProto")(ir_version=13, producer_name="test")
    proto.opset_import.add(domain=operator.domain, version=operator.since_version)
    proto.opset_import.add(domain="test", version=1)
    graph = proto.graph
    graph.name = "g"
    inputs = [f"x{index}" for index in range(operator.min_input)]
    for name in inputs:
        graph.input.add(name=name)
    for number, subset in enumerate(_subsets(random, sorted(operator.attributes))):
        outputs = [f"y{number}_{index}" for index in range(max(operator.min_output, 1))]
        node = graph.node.add(op_type=operator.name, domain=operator.domain, input=inputs, output=outputs)
        node.attribute.extend(random_attributes(random, operator, subset))
    for number in range(CALLS):
        _add_call(random, operator, proto, f"f{number}", inputs)
    return load(BytesSource(proto.SerializeToString()), "model.onnx")


def _add_call(random: Random, operator: OperatorSchema, proto: Proto, name: str, inputs: list[str]) -> None:
    """Add a call of a function whose node gets some attributes from the call, and others from defaults."""
    names = random.sample(sorted(operator.attributes), random.randint(1, len(operator.attributes)))
    given, defaults, own = names[::3], names[1::3], names[2::3]
    function = proto.functions.add(domain="test", name=name, input=inputs, output=["y"])
    function.opset_import.add(domain=operator.domain, version=operator.since_version)
    function.attribute.extend(given)
    function.attribute_proto.extend(random_attributes(random, operator, defaults))
    outputs = ["y", *(f"z{index}" for index in range(1, operator.min_output))]
    node = function.node.add(op_type=operator.name, domain=operator.domain, input=inputs, output=outputs)
    node.attribute.extend(random_attributes(random, operator, own))
    for reference in (*given, *defaults):
        code = operator.attributes[reference].type_code
        node.attribute.add(name=reference, type=code, ref_attr_name=reference)
    call = proto.graph.node.add(op_type=name, domain="test", input=inputs, output=[f"{name}_y"])
    call.attribute.extend(random_attributes(random, operator, given))


@pytest.mark.parametrize("domain", DOMAINS)
def test_no_rule_raises_at_any_subset_of_attributes(domain: str) -> None:
    random = Random(f"attributes of {domain}")
    found: list[str] = []
    rules: set[str] = set()
    for operator in operator_versions():
        if operator.domain != domain or not operator.attributes:
            continue
        verdict = lint_model(_model(random, operator), OF_NODES)
        rules.update(diagnostic.rule for diagnostic in verdict.diagnostics)
        found += [f"{operator.name}:{operator.since_version}: {error.traceback}" for error in verdict.errors]
    assert not found, "\n".join(found)
    if domain == "":
        # These judge single values, lists beside each other, and which attributes stand together.
        assert {"impossible-attribute-value", "unsupported-attribute-value", "unsupported-combination"} <= rules
