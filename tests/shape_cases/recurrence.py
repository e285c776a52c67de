# SPDX-License-Identifier: Apache-2.0
"""Cases of recurrent operators."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, case
from shape_cases.comparison import Explained, of_operands


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    gates = {"RNN": 1, "GRU": 3, "LSTM": 4}[schema.name]
    outputs = len(schema.outputs)
    more = ((1, 2, 4), (1, 12)) if schema.name == "LSTM" else ()
    weights = ((1, gates * 4, 3), (1, gates * 4, 4))
    yield case((5, 2, 3), *weights, (1, 2 * gates * 4), (2,), (1, 2, 4), *more, outputs=outputs, hidden_size=4)
    yield case(("T", "N", 3), *weights, outputs=2, hidden_size=4, direction="reverse")
    both = {"outputs": outputs, "hidden_size": 4, "direction": "bidirectional"}
    yield case((5, 2, 3), (2, gates * 4, 3), (2, gates * 4, 4), (2, 2 * gates * 4), **both)
    yield case((5, 2, 3), *weights, outputs=2)
    if schema.since_version >= 14:
        more = ((2, 1, 4), (1, 12)) if schema.name == "LSTM" else ()
        first = {"outputs": outputs, "hidden_size": 4, "layout": 1}
        yield case((2, 5, 3), *weights, (1, 2 * gates * 4), (2,), (2, 1, 4), *more, **first)


EXPLAINED = (
    *of_operands(
        "GRU LSTM RNN",
        {
            1: "W is of shape [directions, gates * hidden, input]; onnx looks at X only",
            2: "R is of shape [directions, gates * hidden, hidden]; onnx looks at X only",
            3: "B is of shape [directions, 2 * gates * hidden]; onnx looks at X only",
            4: "a length for each of the batch; onnx looks at X only",
            5: "a state for each direction and each of the batch; onnx looks at X only",
        },
    ),
    Explained("GRU LSTM RNN", r"onnx-lint: WrongValue\(.*'hidden_size'", "a size is positive; onnx does not look"),
    *of_operands("GRU-1", {0: "X is of rank 3; onnx has no inference for version 1"}, "WrongRank"),
    *of_operands(
        "LSTM",
        {
            6: "a cell for each direction and each of the batch; onnx looks at X only",
            7: "P is of shape [directions, 3 * hidden]; onnx looks at X only",
        },
    ),
)
