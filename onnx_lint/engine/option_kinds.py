# SPDX-License-Identifier: Apache-2.0
"""The kinds of value that a rule can name for its options. Few runs set any, so this is imported late."""

from __future__ import annotations

from typing import Final

from onnx_lint.common.record import replace
from onnx_lint.engine.value_kinds import (
    COUNT,
    ELEMENT_TYPES,
    FILLED,
    IR_VERSIONS,
    LISTED,
    METADATA,
    OPSETS,
    RANGE,
    VALUES,
    WHOLE,
    ValueKind,
    table,
)
from onnx_lint.spec.releases import RELEASES, release_named


def _or_empty(kind: ValueKind) -> ValueKind:
    """Return the kind of the values of a kind and the empty string, which is the default of such an option."""
    return replace(
        kind,
        schema={"anyOf": [{"const": ""}, dict(kind.schema)]},
        accepts=lambda value: value == "" or kind.accepts(value),
    )


_NUMBERS: Final = tuple(dict.fromkeys(name for each in RELEASES for name in (each.onnx.rpartition(".")[0], each.onnx)))
_RELEASE: Final = ValueKind(
    f"the number of a release of ONNX from {RELEASES[0].onnx} to {RELEASES[-1].onnx}, such as '1.14'",
    {"enum": [name for name in _NUMBERS if "." in name]},
    lambda value: isinstance(value, str) and release_named(value) is not None,
)
_SHARE: Final = ValueKind(
    "a number from 0 to 1",
    {"type": "number", "minimum": 0, "maximum": 1},
    lambda value: isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1,
)

OPTION_KINDS: Final = {
    "count": COUNT,
    "element types": ELEMENT_TYPES,
    "IR versions": _or_empty(IR_VERSIONS),
    "inputs or outputs": VALUES,
    "lists of element types": table(ELEMENT_TYPES),
    "metadata": METADATA,
    "operator set versions": OPSETS,
    "range": _or_empty(RANGE),
    "ranges": table(RANGE),
    "release": _or_empty(_RELEASE),
    "share": _SHARE,
    "sides": LISTED,
    "texts": FILLED,
    "whole": WHOLE,
}
"""The kinds by the names that `onnx_lint.rule.rule` takes."""
