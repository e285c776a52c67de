# SPDX-License-Identifier: Apache-2.0
"""The families of operators that have rules on shapes."""

from __future__ import annotations

from support.models.shape_samples import SCHEMAS
from support.project.each_case import each_case

from onnx_lint.inference.shapes.rules import WITHOUT_SHAPES, shape_rule
from tools.shape_families import FAMILIES, families, operators_by_family


def test_each_operator_stands_in_one_family():
    operators = [operator for names in operators_by_family().values() for operator in names]
    assert sorted(operators) == sorted(set(operators))


def test_the_file_has_the_module_of_each_operator():
    """An operator that the file lacks has no shape rule."""
    assert FAMILIES.read_text(encoding="utf-8") == families(), "run python -m tools"


@each_case("family", sorted(operators_by_family()))
def test_each_version_of_an_operator_has_a_rule(family):
    missing = []
    for operator in operators_by_family()[family]:
        domain, _, name = operator.rpartition("::")
        versions = SCHEMAS.versions(domain, name)
        assert versions, f"no operator {operator}"
        for version in versions:
            schema = SCHEMAS.find(domain, name, version)
            if not schema.deprecated and shape_rule(schema) is None:
                missing.append(f"{operator}-{version}")
    assert missing == []


def test_each_operator_of_onnx_has_a_rule_or_a_reason():
    """This fails for an operator of a new release of ONNX until its shapes are described."""
    known = {
        f"{domain}::{name}" if domain else name
        for domain in ("", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training")
        for name in SCHEMAS.operator_names(domain)
    }
    assert len(known) > 200
    with_rules = (name for names in operators_by_family().values() for name in names)
    listed = [*(name for name in with_rules if not name.startswith("com.microsoft::")), *WITHOUT_SHAPES]
    assert sorted(listed) == sorted(known)
