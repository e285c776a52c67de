# SPDX-License-Identifier: Apache-2.0
"""The shape rules of operators, in a module for each family.

A module is imported when a model has one of its operators (docs/performance.md: shape-families). The operators of
ONNX Runtime (com.microsoft) have a record each, in `onnx_lint.spec.operators.records`; modules whose names begin with
`contrib_` have what no record can say.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Final

from onnx_lint.common import package_data
from onnx_lint.inference.shapes.registration import ShapeRule, name_of, rules_by_operator
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.spec.operators.records import record_of

_RUNTIME_DOMAIN: Final = "com.microsoft"

WITHOUT_SHAPES: Final[Mapping[str, str]] = {
    "ai.onnx.ml::CastMap": "of one dimension by its description, and ONNX Runtime puts another one in front",
    "ai.onnx.ml::DictVectorizer": "of one dimension by its description, and ONNX Runtime puts another one in front",
}
"""The operators whose output shapes are not documented, and why."""


@cache
def families() -> Mapping[str, str]:
    """Return the module with the rule of each operator, by `name_of`. `python -m tools.shape_families` writes it."""
    found: Mapping[str, str] = package_data.read_json(__name__, "families.json")
    return found


def has_shape_rule(schema: OperatorSchema) -> bool:
    """Return whether the shapes of an operator's outputs are inferred."""
    if schema.domain == _RUNTIME_DOMAIN:
        record = record_of(schema.name)
        return record is not None and not record.unknown
    return name_of(schema.domain, schema.name) in families()


def shape_rule(schema: OperatorSchema) -> ShapeRule | None:
    """Return the rule for an operator as of a version; None if there is none.

    Raises KeyError if the module that the file lists for the operator has no rule for it.
    """
    if schema.domain == _RUNTIME_DOMAIN:
        from onnx_lint.inference.shapes.recorded import recorded_rule

        return recorded_rule(schema)
    name = name_of(schema.domain, schema.name)
    module = families().get(name)
    if module is None:
        return None
    if name not in rules_by_operator:
        import_module(f"{__name__}.{module}")
    found = None
    for since, rule in rules_by_operator[name]:
        if since <= schema.since_version:
            found = rule
    return found
