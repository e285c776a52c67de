# SPDX-License-Identifier: Apache-2.0
"""The families of operators that have rules on shapes."""

from __future__ import annotations

import pytest
from support.models.shape_samples import SCHEMAS

from onnx_lint.inference.shapes.rules import FAMILIES, WITHOUT_SHAPES, shape_rule


def test_each_operator_stands_in_one_family():
    operators = [operator for names in FAMILIES.values() for operator in names.split()]
    assert sorted(operators) == sorted(set(operators))


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_each_version_of_an_operator_has_a_rule(family):
    missing = []
    for operator in FAMILIES[family].split():
        domain, _, name = operator.rpartition("::")
        versions = SCHEMAS.versions(domain, name)
        assert versions, f"no operator {operator}"
        for version in versions:
            schema = SCHEMAS.find(domain, name, version)
            if not schema.deprecated and shape_rule(schema) is None:
                missing.append(f"{operator}-{version}")
    assert missing == []


def test_each_operator_of_onnx_has_a_rule_or_a_reason():
    """An operator of a new release of ONNX is missed here until somebody says what it makes of shapes."""
    known = {
        f"{domain}::{name}" if domain else name
        for domain in ("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training")
        for name in SCHEMAS.operator_names(domain)
    }
    assert len(known) > 200
    listed = [*(name for names in FAMILIES.values() for name in names.split()), *WITHOUT_SHAPES]
    assert sorted(listed) == sorted(known)
