# SPDX-License-Identifier: Apache-2.0
"""No operator's rules for types, shapes and contents raise, whatever its operands and attributes are."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest
from support.models.random_operands import (
    DOMAINS,
    counts_of_operands,
    operator_versions,
    random_attributes,
    random_facts,
)

from onnx_lint.inference.flow.cell import Cell
from onnx_lint.inference.flow.dimension_equations import _EQUATED, Recorder
from onnx_lint.inference.shapes.fact import Facts
from onnx_lint.inference.shapes.rules import shape_rule
from onnx_lint.inference.types.argument import read_arguments
from onnx_lint.inference.types.typed_operator import typed_operator
from onnx_lint.ir.columns.nodes import NodeForm
from onnx_lint.spec.operators import OperatorSchema

NODES = 6
"""So many random nodes are tried for each version of an operator and each number of inputs and outputs."""

FACTS = 6
"""So many tuples of operands are tried for each node."""


def _cell(random: Random, schema: OperatorSchema, inputs: int, outputs: int) -> Cell:
    """Return what is known of a node with random attributes; those that are required have all but a few."""
    names = [name for name, each in schema.attributes.items() if random.random() < (0.97 if each.required else 0.5)]
    attributes = random_attributes(random, schema, names)
    form = NodeForm(schema.name, schema.domain, (True,) * inputs, (True,) * outputs, attributes=attributes)
    operator = typed_operator(schema, binds=True)
    return Cell(operator, read_arguments(attributes, operator.attributes, None), form, None)


def _crash_of(cell: Cell, facts: Facts) -> str | None:
    """Return the traceback of what the rules of the operator raise for such operands; None where nothing is."""
    assert cell.operator is not None
    if cell.crash is not None:
        return cell.crash.traceback
    if cell.operator.by_subgraphs:
        cell.shapes(facts, cell.typed(facts))  # what it raises fails the test
        return None
    if cell.operator.schema.name in _EQUATED:
        recorder = cell.operands(facts, Recorder)
        if recorder is not None:
            cell.infer(recorder)
    crash = cell.outcome(facts).crash
    return None if crash is None else crash.traceback


def _is_asked(cell: Cell, facts: Facts) -> bool:
    """Return whether the shape rule is asked about such operands."""
    return cell.operands(facts) is not None and not cell.typed(facts).problems


@pytest.mark.parametrize("domain", DOMAINS)
def test_no_rule_of_an_operator_raises(domain: str) -> None:
    random = Random(f"operands of {domain}")
    crashed: dict[str, str] = {}
    asked: set[tuple[str, int]] = set()
    schemas = [schema for schema in operator_versions() if schema.domain == domain]
    for schema in schemas:
        input_counts, output_counts = counts_of_operands(schema)
        for inputs, outputs in product(input_counts, output_counts[:3]):
            for _ in range(NODES):
                cell = _cell(random, schema, inputs, outputs)
                for _ in range(FACTS):
                    facts = random_facts(random, schema, inputs)
                    traceback = _crash_of(cell, facts)
                    if traceback is not None:
                        crashed.setdefault(f"{schema.name}:{schema.since_version}", f"{facts}\n{traceback}")
                    if _is_asked(cell, facts):
                        asked.add((schema.name, schema.since_version))
    assert not crashed, "\n".join(f"{name} {said}" for name, said in crashed.items())
    # Some operators want so much of their attributes and operands that hardly any random ones fit.
    assert len(asked) >= 0.95 * sum(shape_rule(schema) is not None for schema in schemas)
