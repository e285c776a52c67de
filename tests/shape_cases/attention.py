# SPDX-License-Identifier: Apache-2.0
"""Cases of attention."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, case
from shape_cases.comparison import Explained, of_operands


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
    *of_operands(
        "Attention",
        {
            0: "in four dimensions as many heads as the attribute says; onnx does not look",
            1: "keys of the batch, heads and size of the queries; ONNX Runtime compares them, onnx does not",
            2: "values for each key; ONNX Runtime compares them, onnx does not",
            3: "a mask that broadcasts to queries and keys; ONNX Runtime compares it, onnx does not",
            4: "past keys shaped as the keys but for their number; ONNX Runtime compares them, onnx does not",
            5: "past values as many as past keys; ONNX Runtime compares them, onnx does not",
            6: "a length for each of the batch; onnx does not look",
        },
    ),
    Explained(
        "Attention", r"onnx-lint: Indivisible\(place=InputDimension\(operand=[012],", "a part for each head, in 3-D"
    ),
    Explained(
        "Attention",
        r"onnx-lint: Indivisible\(place=Element\(source='q_num_heads'",
        "as many queries for each head of keys",
    ),
    Explained(
        "Attention", r"output 3: onnx \(([^,]*,|.* 0)?\),", "what onnx does not know it leaves out, or takes for 0"
    ),
    Explained(
        "Attention",
        r"output 3: onnx \(.*, [146]\), .*, (None|9|'P \+ [146]')\)$",
        "a past of unknown length counts as none there",
    ),
    Explained("Attention", r"output 0: onnx \(.*, 0\)", "a packed size that onnx does not know counts as 0 there"),
    Explained("Attention-25", "onnx: .*must be provided together", "which is for another rule"),
)
