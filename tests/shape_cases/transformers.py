# SPDX-License-Identifier: Apache-2.0
"""Cases of what transformers have beside attention, and of other kinds of it."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, case
from shape_cases.comparison import Explained, of_operands


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    match schema.name:
        case "SwiGLU":
            yield case((2, 3), (2, 3))
            yield case(("N", 3), (2, "M"))
        case "FlexAttention":
            yield case((2, 4, 5, 8), (2, 4, 6, 8), (2, 4, 6, 7))
            yield case((2, 4, "L", 8), (2, 2, "S", 8), (2, 2, "S", 8))
        case "CausalConvWithState":
            yield case((2, 3, 10), (3, 1, 4), (3,), (2, 3, 3), outputs=2)
            yield case(("N", 3, "T"), (3, 1, 1), outputs=2)
        case "LinearAttention":
            heads = {"outputs": 2, "q_num_heads": 4, "kv_num_heads": 2}
            yield case((2, 5, 32), (2, 5, 16), (2, 5, 12), (2, 2, 8, 6), (2, 5, 16), (2, 5, 2), **heads)
            yield case((2, "T", 32), (2, "T", 16), (2, "T", 12), None, (2, "T", 2), (2, "T", 1), **heads)
        case "RotaryEmbedding":
            yield case((2, 3, 4, 8), (50, 4), (50, 4), (2, 4))
            yield case((2, 3, 4, 8), (2, 4, 4), (2, 4, 4))
            yield case((2, 4, 24), (50, 4), (50, 4), (2, 4), num_heads=3)
            yield case(("N", 3, "S", 8), (50, 2), (50, 2), ("N", "S"), rotary_embedding_dim=4)


EXPLAINED = (
    *of_operands(
        "RotaryEmbedding",
        {
            0: "of 3 or 4 dimensions, as many as the description gives",
            1: "cosines of half the size that is turned; onnx does not look",
            2: "sines shaped as the cosines; onnx does not look",
            3: "a position for each element of each sequence; onnx does not look",
        },
    ),
    Explained(
        "RotaryEmbedding",
        r"onnx-lint: Indivisible\(place=InputDimension\(operand=0,",
        "a part for each head; onnx rounds",
    ),
    Explained(
        "RotaryEmbedding",
        r"onnx-lint: WrongValue\(place=Element\(source='rotary_embedding_dim'",
        "no more than a head has; onnx does not look",
    ),
    Explained("FlexAttention", "onnx: .*requires rank-4 inputs", "onnx takes an unknown rank for a wrong one"),
)
