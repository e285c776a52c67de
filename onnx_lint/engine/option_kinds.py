# SPDX-License-Identifier: Apache-2.0
"""The kinds of value that a rule can name for its options. Few runs set any, so this is imported late."""

from __future__ import annotations

from collections.abc import Iterator
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
    choice,
    table,
)
from onnx_lint.spec.releases import RELEASES


def _or_empty(kind: ValueKind) -> ValueKind:
    """Return the kind that also accepts the empty string, the default of an option that may be left out."""
    return replace(
        kind,
        schema={"anyOf": [{"const": ""}, dict(kind.schema)]},
        accepts=lambda value: value == "" or kind.accepts(value),
    )


def _release_numbers() -> Iterator[str]:
    """Yield the numbers that an option accepts: `1.14` for the first of the releases with this number, and `1.14.1`."""
    for release in RELEASES:
        series = release.onnx.rpartition(".")[0]
        if "." in series:  # that of 1.0 is 1
            yield series
        yield release.onnx


_RELEASE: Final = replace(
    choice(tuple(dict.fromkeys(_release_numbers()))),
    wanted=f"the number of a release of ONNX from {RELEASES[0].onnx} to {RELEASES[-1].onnx}, such as '1.14'",
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
