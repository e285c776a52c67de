# SPDX-License-Identifier: Apache-2.0
"""The shape rules against onnx's strict inference: generated nodes of every operator and version, right and wrong.

Each file of rules has a file of cases beside it in `shape_cases`: `cases(schema)` gives nodes that are right, or wrong
in a way of their own, and each is tried with all mutations of `shape_cases.mutations`. Compared are the verdict and the
shape of each output. What onnx-lint sees differently on purpose stands in EXPLAINED of that file, with the reason; an
explanation that explains nothing is an error as well.
"""

from __future__ import annotations

from importlib import import_module

import onnx.defs
import pytest
from shape_cases.comparison import Comparison

from tools.shape_families import operators_by_family

pytestmark = pytest.mark.differential

SHOWN = 60


def _schemas(family: str) -> list[onnx.defs.OpSchema]:
    names = set(operators_by_family()[family])
    found = [
        schema
        for schema in onnx.defs.get_all_schemas_with_history()
        if not schema.deprecated and (f"{schema.domain}::{schema.name}" if schema.domain else schema.name) in names
    ]
    return sorted(found, key=lambda schema: (schema.domain, schema.name, schema.since_version))


FAMILIES = [family for family in operators_by_family() if not family.startswith("contrib_")]

WITH_SUBGRAPHS = {"control_flow"}
"""Families whose shapes are those of subgraph outputs, which only the walk infers."""


@pytest.mark.parametrize("family", sorted({*FAMILIES} - WITH_SUBGRAPHS))
def test_verdicts_and_shapes_are_those_of_onnx(family):
    generator = import_module(f"shape_cases.{family}")
    comparison = Comparison(tuple(getattr(generator, "EXPLAINED", ())), getattr(generator, "crashes_onnx", None))
    without = []
    for schema in _schemas(family):
        bases = list(generator.cases(schema))
        if not bases:
            without.append(f"{schema.name}-{schema.since_version}")
        for base in bases:
            comparison.compare(schema, base)
    print(dict(comparison.cases))
    assert without == []
    found = comparison.listing()
    if found:
        pytest.fail("\n".join([f"{len(found)} kinds of differences", *found[:SHOWN]]), pytrace=False)
    unused = [each for each in comparison.explained if each not in comparison.used]
    assert not unused, "\n".join(f"explains nothing: {each.operators} {each.difference}" for each in unused)
