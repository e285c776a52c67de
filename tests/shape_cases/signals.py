# SPDX-License-Identifier: Apache-2.0
"""Cases of operators of signals."""

from __future__ import annotations

from collections.abc import Iterator

import onnx.defs

from shape_cases.case import Case, case, scalar
from shape_cases.comparison import Explained


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    match schema.name:
        case "BlackmanWindow" | "HammingWindow" | "HannWindow":
            yield case(scalar(10))
            yield case((), periodic=0)
        case "MelWeightMatrix":
            yield case(scalar(8), scalar(16), scalar(8192), scalar(0.0), scalar(4096.0))
            yield case((), (), (), (), ())
        case "DFT":
            yield from _of_dft(schema.since_version)
        case "STFT":
            yield case((1, 128, 1), scalar(8), (16,), scalar(16))
            yield case((1, 128, 1), scalar(8), (16,), onesided=0)
            yield case((2, 128, 2), scalar(8), None, scalar(17), onesided=0)
            yield case(("N", "L", 1), scalar(8), None, scalar(16), onesided=1)
            yield case((2, 128, 1), (), ("W",))


def _of_dft(version: int) -> Iterator[Case]:
    for one_sided, inverse, last in ((0, 0, 2), (0, 1, 1), (1, 0, 1), (1, 1, 2)):
        yield case((3, 5, 7, last), onesided=one_sided, inverse=inverse)
        yield case((3, 5, 7, last), scalar(8), onesided=one_sided, inverse=inverse)
        yield case(("N", 6, last), (), onesided=one_sided, inverse=inverse)
    if version < 20:
        yield case((3, 5, 7, 1), axis=2)
        yield case((3, 5, 7, 1), scalar(4), axis=-2)
    else:
        yield case((3, 5, 7, 1), None, scalar(1))
        yield case((3, 5, 7, 1), scalar(4), scalar(-3), onesided=1)
        yield case((3, 5, 7, 1), None, ())


EXPLAINED = (
    Explained(
        "BlackmanWindow DFT HammingWindow HannWindow MelWeightMatrix STFT",
        r"onnx-lint: (WrongRank|NotOneElement)\(operand=[1234]",
        "a scalar; onnx looks at constants only",
    ),
    Explained(
        "HammingWindow HannWindow BlackmanWindow MelWeightMatrix",
        r"onnx-lint: (WrongRank|NotOneElement)\(operand=0",
        "scalars",
    ),
    Explained(
        "DFT STFT", r"onnx-lint: Unequal\(place=InputDimension\(operand=0, axis=\d, size=\d\), expected=2", "1 or 2"
    ),
    Explained("DFT MelWeightMatrix STFT", "onnx-lint: .*at least [01]", "no signal has a negative length"),
    Explained("DFT STFT", "output 0: onnx .*-", "onnx gives negative sizes"),
    Explained("STFT", r"onnx-lint: WrongRank\(operand=0", "of rank 3; onnx does not look"),
    Explained("STFT", "onnx-lint: .*or_more=True", "a frame is a part of the signal"),
    Explained("STFT", "onnx: .*must have rank = 1", "onnx takes an unknown rank for none"),
)
