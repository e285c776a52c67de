# SPDX-License-Identifier: Apache-2.0
"""The rules for types, shapes and contents raise for no operator, with any operands and attributes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from random import Random

import pytest
from google.protobuf.message import Message
from support.models.random_operands import (
    DOMAINS,
    counts_of_operands,
    operator_versions,
    random_attributes,
    random_facts,
)

from onnx_lint.inference.flow.outcome_memo import OutcomeMemo
from onnx_lint.inference.shapes import attribute_values
from onnx_lint.inference.shapes.attribute_values import READ_FLOAT_ELEMENTS, AttributeValue, reads_floats
from onnx_lint.inference.shapes.contents import CONTENT_RULES
from onnx_lint.inference.shapes.fact import Fact, Facts, fact
from onnx_lint.inference.shapes.rules import shape_rule
from onnx_lint.inference.types.argument import read_arguments
from onnx_lint.inference.types.typed_operator import typed_operator
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.spec.operators import ATTRIBUTE_TYPE_CODES, OperatorSchema
from onnx_lint.spec.operators.attribute_constraints import attribute_constraints
from onnx_lint.spec.operators.attribute_values import allowed_values

NODES = 6
"""The random nodes to try for each version of an operator and each number of inputs and outputs."""

FEW = {"": 1, "com.microsoft": 1}
"""The same in the default run for the domains of most operators; the slow and the heavy tests try more of them."""

each_domain = pytest.mark.parametrize(
    ("domain", "nodes"),
    [
        *(pytest.param(domain, FEW.get(domain, NODES), id=domain) for domain in DOMAINS),
        *(pytest.param(domain, 2, id=f"{domain}, more", marks=pytest.mark.slow) for domain in FEW),
        *(pytest.param(domain, NODES, id=f"{domain}, all", marks=pytest.mark.heavy) for domain in FEW),
    ],
)

FACTS = 6
"""The tuples of operands to try for each node."""


def _memo(random: Random, schema: OperatorSchema, inputs: int, outputs: int) -> OutcomeMemo:
    """Return the memo of a node with random attributes. Required attributes are rarely missing."""
    names = [name for name, each in schema.attributes.items() if random.random() < (0.97 if each.required else 0.5)]
    attributes = random_attributes(random, schema, names)
    form = NodeForm(schema.name, schema.domain, (True,) * inputs, (True,) * outputs, attributes=attributes)
    operator = typed_operator(schema, binds=True)
    return OutcomeMemo(operator, read_arguments(attributes, operator.attributes, None), form, None)


def _crash_of(memo: OutcomeMemo, facts: Facts) -> str | None:
    """Return the traceback of what the rules of the operator raise for such operands; None where nothing is."""
    assert memo.operator is not None
    if memo.crash is not None:
        return memo.crash.traceback
    if memo.operator.by_subgraphs:
        memo.shapes(facts, memo.typed(facts))  # what it raises fails the test
        return None
    crash = memo.outcome(facts).crash
    return None if crash is None else crash.traceback


def _is_asked(memo: OutcomeMemo, facts: Facts) -> bool:
    """Return whether the shape rule runs for such operands."""
    return memo.operands(facts) is not None and not memo.typed(facts).problems


@each_domain
def test_no_rule_of_an_operator_raises(domain: str, nodes: int) -> None:
    random = Random(f"operands of {domain}")
    crashed: dict[str, str] = {}
    asked: set[tuple[str, int]] = set()
    schemas = [schema for schema in operator_versions() if schema.domain == domain]
    for schema in schemas:
        input_counts, output_counts = counts_of_operands(schema)
        for inputs, outputs in product(input_counts, output_counts[:3]):
            for _ in range(nodes):
                memo = _memo(random, schema, inputs, outputs)
                for _ in range(FACTS):
                    facts = random_facts(random, schema, inputs)
                    traceback = _crash_of(memo, facts)
                    if traceback is not None:
                        crashed.setdefault(f"{schema.name}:{schema.since_version}", f"{facts}\n{traceback}")
                    if _is_asked(memo, facts):
                        asked.add((schema.name, schema.since_version))
    assert not crashed, "\n".join(f"{name} {said}" for name, said in crashed.items())
    # Some operators want so much of their attributes and operands that hardly any random ones fit.
    assert len(asked) >= 0.9 * sum(shape_rule(schema) is not None for schema in schemas)


def _memos(random: Random, domain: str, nodes: int) -> Iterator[tuple[OperatorSchema, int, OutcomeMemo]]:
    for schema in operator_versions():
        if schema.domain == domain:
            input_counts, output_counts = counts_of_operands(schema)
            for inputs, outputs in product(input_counts, output_counts[:3]):
                for _ in range(nodes):
                    yield schema, inputs, _memo(random, schema, inputs, outputs)


@each_domain
def test_no_number_in_an_attribute_is_read(domain: str, nodes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes that differ in valid attributes of type FLOAT share a memo, unless their operator is one of a few."""
    random = Random(f"numbers of {domain}")
    value = attribute_values._value

    def unless_float(proto: Message) -> AttributeValue | None:
        assert proto.type != ATTRIBUTE_TYPE_CODES["FLOAT"], "a shape rule reads a FLOAT"  # type: ignore[attr-defined]
        return value(proto)

    monkeypatch.setattr(attribute_values, "_value", unless_float)
    for schema, inputs, memo in _memos(random, domain, nodes):
        if not reads_floats(schema):
            assert _crash_of(memo, random_facts(random, schema, inputs)) is None, schema.name


def test_no_number_in_an_attribute_is_a_fault() -> None:
    """Nodes that differ in attributes of type FLOAT share a memo, and with it the fault of another attribute."""
    for schema in operator_versions():
        wanted = attribute_constraints((schema.domain, schema.name, schema.since_version))
        for name, attribute in schema.attributes.items():
            if attribute.type == "FLOAT" and not reads_floats(schema):
                assert not allowed_values(schema, name)
                assert wanted is None or name not in {*wanted.minima, *wanted.distinct, *wanted.sizes}


def test_floats_that_a_record_requires_something_of_are_read() -> None:
    """Nodes of these operators share no memo if such an attribute differs; those of others do."""
    schemas = [schema for schema in operator_versions() if schema.domain == "com.microsoft"]
    found = {schema.name for schema in schemas if reads_floats(schema)}
    assert {"GroupNorm", "GroupQueryAttention", "SkipLayerNormalization"} <= found
    assert not {"BiasGelu", "FusedMatMul", "LayerNormalization"} & found


def test_no_elements_follow_from_a_number_in_an_attribute() -> None:
    """Nodes that differ in attributes of type FLOAT share a memo without elements."""
    found = {schema.name for schema in operator_versions() if schema.name in CONTENT_RULES and not schema.domain}
    floats = {
        schema.name
        for schema in operator_versions()
        if schema.name in found and any(each.type == "FLOAT" for each in schema.attributes.values())
        if not reads_floats(schema)
    }
    assert len(found) == len(CONTENT_RULES)
    # The pads of earlier versions of Pad are a list in another attribute, so that its nodes share no memo. Elements
    # are not followed through a Clip whose bounds are attributes.
    assert floats == {"Clip", "Pad"}


@each_domain
def test_elements_are_sought_wherever_some_may_be_known(
    domain: str, nodes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(f"sought elements of {domain}")
    found = 0
    for schema, inputs, memo in _memos(random, domain, nodes):
        if memo._contents is None:
            continue
        for _ in range(FACTS):
            facts = random_facts(random, schema, inputs)
            made = memo._made(facts)
            with monkeypatch.context() as patched:
                patched.setattr(OutcomeMemo, "_may_know", lambda self, facts, shape: shape is not None)
                expected = memo._made(facts)
            assert repr(made.outputs) == repr(expected.outputs), schema.name
            found += any(each.content is not None for each in made.outputs)
    assert found > 50 or domain


@pytest.mark.slow
@each_domain
def test_only_elements_of_declared_operands_are_read(domain: str, nodes: int) -> None:
    """Nodes whose operands differ in other elements share an outcome: these are dropped before a rule gets them."""
    random = Random(f"declared operands of {domain}")
    compared = 0
    for schema, inputs, memo in _memos(random, domain, nodes):
        if memo.operator is None or memo.operator.by_subgraphs:
            continue
        for _ in range(FACTS):
            facts = random_facts(random, schema, inputs)
            # The one has all elements, the other those of the operands that the rules declare.
            made, expected = memo._made(facts), memo.outcome(facts)
            compared += any(each.content is not None for each in facts)
            # As texts: equal facts are two objects where the cache of facts is emptied between them.
            assert repr(made.outputs) == repr(expected.outputs), (
                f"{schema.name} reads elements that it does not declare"
            )
            assert repr((made.problems, made.shape_problems)) == repr((expected.problems, expected.shape_problems))
    assert compared > 100 or domain not in {"", "com.microsoft"}


def _with_numbers(random: Random, each: Fact) -> Fact:
    """Return the fact with floating-point elements, if it is a small tensor of them."""
    shape = each.shape
    is_small = shape is not None and len(shape) < 2 and all(isinstance(size, int) and size < 9 for size in shape)
    if each.kind not in {"tensor(float)", "tensor(double)", "tensor(float16)"} or not is_small or shape is None:
        return each
    count = shape[0] if shape else 1
    assert isinstance(count, int)
    return fact(each.kind, shape, tuple(random.choice((0.0, 1.0, 2.5, -1.0)) for _ in range(count)))


def _has_numbers(each: Fact) -> bool:
    return any(isinstance(element, float) for element in each.content or ())


@pytest.mark.slow
@each_domain
def test_no_floating_point_element_decides_a_shape(domain: str, nodes: int) -> None:
    """Constants that differ in such elements share a memo, unless the model has one of a few operators."""
    random = Random(f"elements of {domain}")
    compared = 0
    for schema, inputs, memo in _memos(random, domain, nodes):
        if schema.name in READ_FLOAT_ELEMENTS or memo.operator is None or memo.operator.by_subgraphs:
            continue
        for _ in range(FACTS):
            facts = tuple(_with_numbers(random, each) for each in random_facts(random, schema, inputs))
            bare = tuple(each.bare if _has_numbers(each) else each for each in facts)
            if facts == bare:
                continue
            compared += 1
            made, expected = memo._made(facts), memo._made(bare)
            # As texts: equal facts are two objects where the cache of facts is emptied between them.
            outputs = [[repr(each.bare) for each in outcome.outputs] for outcome in (made, expected)]
            assert outputs[0] == outputs[1], schema.name
            assert (made.problems, made.shape_problems) == (expected.problems, expected.shape_problems), schema.name
    assert compared > 100 or domain not in {"", "com.microsoft"}
