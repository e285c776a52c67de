# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Collection

from onnx_lint.model import Model
from onnx_lint.model.columns.attribute_kinds import VALUE_FIELD_OF_TYPE, AttributeSignature

_ON_NAMES = frozenset({"attribute-named-as-value", "duplicate-attribute"})


def concerns(model: Model) -> bool | Collection[str]:
    """Tell whether an attribute is not evidently right; if not, only the rules on names have something to look at."""
    return model.count_attributes(_is_doubtful) > 0 or _ON_NAMES


def _is_doubtful(signature: AttributeSignature) -> bool:
    has_one_value = signature.fields == (VALUE_FIELD_OF_TYPE.get(signature.type),)
    return not (has_one_value and signature.is_named and signature.is_text) or signature.is_reference
