# SPDX-License-Identifier: Apache-2.0
"""Cases of operators on text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import onnx.defs

from shape_cases.case import Case, case
from shape_cases.comparison import Explained

_TRIGRAMS: dict[str, Any] = {
    "mode": "TF",
    "min_gram_length": 1,
    "max_gram_length": 2,
    "max_skip_count": 0,
    "ngram_counts": (0, 2),
    "pool_int64s": (1, 2, 1, 2),
}


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    match schema.name:
        case "StringNormalizer":
            yield case((5,))
            yield case(("N",))
            yield case((1, 5), stopwords=("a",))
            yield case(("N", "M"))
        case "StringSplit":
            yield case((2, "N", None), outputs=2)
            yield case((), outputs=2, maxsplit=2)
        case "TfIdfVectorizer":
            yield case((5,), ngram_indexes=(0, 3, 2), **_TRIGRAMS)
            yield case(("N", 5), ngram_indexes=(0, 1, 2), **_TRIGRAMS)


EXPLAINED = (
    Explained(
        "StringNormalizer",
        r"onnx: .*\[C\] or \[1,C\] dimensions where C > 0",
        "onnx takes a dimension of unknown size for one of 0, and the description does not forbid an empty list",
    ),
)
