# SPDX-License-Identifier: Apache-2.0
"""Cases of recurrent operators."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, case
from shape_cases.comparison import Explained


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
    Explained(
        "GRU LSTM RNN", "onnx-lint: (WrongRank|Unequal)", "the descriptions give the shapes; onnx looks at X only"
    ),
)
