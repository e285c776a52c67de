# SPDX-License-Identifier: Apache-2.0
"""The values of attributes that the releases of a product refuse."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from onnx_lint.refusals.operands import attribute_value
from onnx_lint.schema import Proto
from onnx_lint.spec.operators import OperatorSchema
from onnx_lint.spec.products import ProductRelease
from onnx_lint.spec.products.refusals import REFUSED_VALUES
from onnx_lint.wording import quote

_OPERATORS: Final = frozenset({name for name, _ in REFUSED_VALUES})
"""The operators with attributes whose values are refused."""


def refused_values_of(attributes: Iterable[Proto], schema: OperatorSchema, release: ProductRelease) -> Iterator[str]:
    """Yield the attributes of a node with values that a release refuses, in words."""
    if schema.domain or schema.name not in _OPERATORS:
        return
    for attribute in attributes:
        row = REFUSED_VALUES.get((schema.name, attribute.name))
        if row is None or release.product not in row.products or schema.since_version not in row.versions:
            continue
        value = attribute_value(attribute)
        if value in row.values:
            yield f"attribute {quote(attribute.name)} with the value {value}"
