# SPDX-License-Identifier: Apache-2.0
"""Cases of attention."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, case
from shape_cases.comparison import Explained


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    query, key, value = (2, 4, 5, 8), (2, 2, 6, 8), (2, 2, 6, 10)
    yield case(query, key, value)
    yield case(query, key, value, (5, 9), (2, 2, 3, 8), (2, 2, 3, 10), outputs=4)
    yield case(query, key, value, (4, 1, 6), outputs=4)
    heads = {"q_num_heads": 4, "kv_num_heads": 2}
    yield case((2, 5, 32), (2, 6, 16), (2, 6, 20), **heads)
    yield case((2, 5, 32), (2, 6, 16), (2, 6, 20), (2, 1, 5, 9), (2, 2, 3, 8), (2, 2, 3, 10), outputs=4, **heads)
    yield case(
        ("N", 4, "L", 8), ("N", 2, "S", 8), ("N", 2, "S", 10), None, ("N", 2, "P", 8), ("N", 2, "P", 10), outputs=4
    )
    if schema.since_version >= 24:
        yield case(query, key, value, (5, 4), None, None, (2,))


EXPLAINED = (
    Explained(
        "Attention",
        "onnx-lint: (WrongRank|Unequal|Indivisible)",
        "the descriptions give all shapes, of which onnx compares none and ONNX Runtime all",
    ),
    Explained(
        "Attention", r"output 3: onnx \(([^,]*,|.* 0)?\),", "what onnx does not know it leaves out, or takes for 0"
    ),
    Explained(
        "Attention", r"output 3: onnx \(.*, [146]\), .*, (None|9)\)$", "a past of unknown length counts as none there"
    ),
    Explained("Attention", r"output 0: onnx \(.*, 0\)", "a packed size that onnx does not know counts as 0 there"),
    Explained("Attention-25", "onnx: .*must be provided together", "which is for another rule"),
)
