# SPDX-License-Identifier: Apache-2.0
"""Attributes and inputs of ONNX's operators of which a node gives one, where the documentation says so.

Each of them is optional in the signature, which cannot say that not all may be left out. Only what the descriptions of
the operators demand, and both onnx's inference and ONNX Runtime refuse, stands here.
"""

from __future__ import annotations

from typing import Final

from onnx_lint.record import Record
from onnx_lint.spec.operators.schema import OperatorSchema


class Alternatives(Record):
    """Attributes and an input, at least one of which a node gives."""

    attributes: tuple[str, ...]
    input: int | None = None
    """The index of the input; None where there are attributes only."""


_Row = tuple[int, str, int | None]
"""First version of the operator, names of attributes (an asterisk stands for any ending), and index of the input."""

_ROWS: Final[dict[tuple[str, str], tuple[_Row, ...]]] = {
    ("", "Constant"): ((11, "value sparse_value value_*", None),),
    ("", "Optional"): ((15, "type", 0),),
    ("", "Split"): ((18, "num_outputs", 1),),
    ("ai.onnx.ml", "LabelEncoder"): ((2, "keys_*", None), (2, "values_*", None)),
    ("ai.onnx.ml", "OneHotEncoder"): ((1, "cats_*", None),),
    ("ai.onnx.ml", "ZipMap"): ((1, "classlabels_*", None),),
}


def alternatives(schema: OperatorSchema) -> list[Alternatives]:
    """The groups of which a node of this operator gives one member each."""
    rows = _ROWS.get((schema.domain, schema.name), ())
    return [
        Alternatives(tuple(name for name in schema.attributes if _named(name, words.split())), place)
        for first, words, place in rows
        if schema.since_version >= first
    ]


def _named(name: str, words: list[str]) -> bool:
    return any(name.startswith(word[:-1]) if word.endswith("*") else name == word for word in words)
