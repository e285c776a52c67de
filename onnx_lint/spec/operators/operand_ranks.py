# SPDX-License-Identifier: Apache-2.0
"""The ranks of operands that hold one number or one list: what descriptions require, and what consumers accept.

These are the descriptions of the operators' inputs, with the shape inference of their schemas.
`tests/oracles/test_operand_ranks.py` tries each operand with onnx.checker (with `full_check`, onnx 1.23) and ONNX
Runtime (1.32, CPU). Both consumers check a constant when they load the model, and ONNX Runtime checks other values when
it runs the node. A bound of Range is checked as a constant only if the others are constants, too. A constant that an
Identity, a Cast or a reshaping node wraps is checked in both ways. onnx.checker accepts everything that ONNX Runtime
accepts.

The node test cases and function bodies of ONNX write the bounds of Range, the value of Pad, the numbers of
NonMaxSuppression and a position in a sequence as lists of one element, and the axis of Unsqueeze as a scalar, although
the descriptions require the other rank. Ranks that ONNX writes itself count as required here.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from onnx_lint.common.record import Record
from onnx_lint.spec.operators.schema import OperatorSchema

ANY: Final = 2**31
"""No rank is too high."""

Ranks = tuple[int, int]
"""The least and the greatest rank."""

SCALAR: Final[Ranks] = (0, 0)
LIST: Final[Ranks] = (1, 1)
UP_TO_1: Final[Ranks] = (0, 1)
ALL: Final[Ranks] = (0, ANY)


class OperandRanks(Record):
    """The ranks of an operand that holds one number or one list."""

    text: Ranks
    """The ranks that the text requires or ONNX writes itself; all ranks if the text does not say."""
    constant: Ranks
    """The ranks that both consumers accept for an initializer or the value of a Constant."""
    run: Ranks
    """The ranks that ONNX Runtime accepts for any other value."""


def contains(ranks: Ranks, rank: int) -> bool:
    """Return whether `rank` is in the range `ranks`."""
    return ranks[0] <= rank <= ranks[1]


_RankRow = tuple[str, str, int, Ranks, Ranks, Ranks]
"""Operators of ai.onnx, indices of inputs, last version; the ranks that the specification allows, and the ranks that
consumers accept of constants and of other values.
"""

_ROWS: Final[tuple[_RankRow, ...]] = (
    # One number. For Dropout and the first two inputs of MelWeightMatrix, the schema's shape inference requires it.
    ("Range", "0 1 2", ANY, UP_TO_1, SCALAR, UP_TO_1),
    ("Dropout", "1 2", ANY, SCALAR, SCALAR, SCALAR),
    ("BlackmanWindow HammingWindow HannWindow", "0", ANY, SCALAR, SCALAR, ALL),
    ("MelWeightMatrix", "0 1", ANY, SCALAR, SCALAR, ALL),
    ("MelWeightMatrix", "2 3 4", ANY, ALL, ALL, ALL),
    ("DFT", "1", ANY, SCALAR, SCALAR, UP_TO_1),
    ("DFT", "2", ANY, SCALAR, SCALAR, ALL),
    ("STFT", "1", ANY, SCALAR, ALL, ALL),
    ("STFT", "3", ANY, SCALAR, SCALAR, ALL),
    ("Clip", "1 2", ANY, SCALAR, UP_TO_1, UP_TO_1),
    ("Pad", "2", ANY, UP_TO_1, ALL, ALL),
    ("CumProd CumSum", "1", ANY, SCALAR, UP_TO_1, UP_TO_1),
    ("OneHot", "1", ANY, UP_TO_1, UP_TO_1, UP_TO_1),
    ("Trilu", "1", ANY, SCALAR, UP_TO_1, UP_TO_1),
    ("NonMaxSuppression", "2 3 4", ANY, UP_TO_1, ALL, ALL),
    ("SequenceAt SequenceErase", "1", ANY, UP_TO_1, ALL, ALL),
    ("SequenceInsert", "2", ANY, UP_TO_1, ALL, ALL),
    ("If", "0", ANY, ALL, ALL, ALL),
    ("Loop", "0 1", ANY, SCALAR, ALL, ALL),
    ("ConvInteger", "2", ANY, SCALAR, UP_TO_1, UP_TO_1),
    ("QLinearConv", "1 2 6 7", ANY, SCALAR, UP_TO_1, UP_TO_1),
    # A signal without the axis for real and imaginary parts.
    ("STFT", "0", ANY, (3, 3), (2, 3), (2, 3)),
    # One list.
    ("Unsqueeze", "1", ANY, UP_TO_1, UP_TO_1, UP_TO_1),
    ("Expand", "1", ANY, LIST, ALL, LIST),
    ("ConstantOfShape", "0", ANY, LIST, (1, ANY), LIST),
    ("Upsample", "1", ANY, LIST, ALL, ALL),
    ("Resize", "1", 10, LIST, ALL, ALL),
    ("Resize", "2", ANY, LIST, ALL, ALL),
    ("Resize", "3", ANY, LIST, ALL, LIST),
    ("Pad", "1", ANY, LIST, LIST, (1, 2)),
    ("Compress", "1", ANY, LIST, ALL, ALL),
)


@cache
def _table() -> Mapping[tuple[str, int], tuple[int, OperandRanks]]:
    return {
        (name, int(index)): (last, OperandRanks(*ranks))
        for operators, indices, last, *ranks in _ROWS
        for name in operators.split()
        for index in indices.split()
    }


def operand_ranks(schema: OperatorSchema, index: int) -> OperandRanks | None:
    """Return the ranks of an input; None if no consumer is known to accept other ranks than the specification."""
    last, ranks = _table().get((schema.name, index), _UNKNOWN) if not schema.domain else _UNKNOWN
    return ranks if schema.since_version <= last else None


_UNKNOWN: Final = (0, None)
