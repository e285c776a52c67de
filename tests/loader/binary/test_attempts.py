# SPDX-License-Identifier: Apache-2.0
"""Which attempt makes the model of a binary file."""

from __future__ import annotations

from typing import Any

import pytest
from support.wire.wire_bytes import length, number

from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.input.source import BytesSource
from onnx_lint.loader.binary import attempts
from onnx_lint.model import FaultKind, Model

GRAPH = length(7, length(2, b"g"))
MODEL = number(1, 10) + GRAPH


@pytest.mark.parametrize(
    ("data", "kind", "expected", "faults"),
    [
        (MODEL, "ModelProto", "regular", []),
        (length(4, "Relu"), "NodeProto", "parsed", []),
        (number(1, 10), "ModelProto", "empty", []),
        (MODEL + number(999, 1), "ModelProto", "inspected", [FaultKind.UNKNOWN_FIELD]),
        (GRAPH + number(1, 10), "ModelProto", "inspected", []),  # fields in another order break no rule
        (MODEL + length(2, b"\xff"), "ModelProto", "irregular", [FaultKind.UTF8]),
        # An input, an output and an operator: a node that lies where a model was to be.
        (length(1, "x") + length(2, "y") + length(4, "Relu"), "ModelProto", "other_message", [FaultKind.NOT_A_MODEL]),
    ],
)
def test_the_first_attempt_that_fits_makes_the_model(
    monkeypatch: pytest.MonkeyPatch, data: bytes, kind: str, expected: str, faults: list[FaultKind]
):
    made: list[str] = []

    def watched(attempt: Any) -> Any:
        def tried(file: attempts.BinaryFile) -> Model | None:
            model = attempt(file)
            if model is not None:
                made.append(attempt.__name__)
            return model

        return tried

    source = BytesSource(data)
    monkeypatch.setattr(attempts, "ATTEMPTS", tuple(map(watched, attempts.ATTEMPTS)))
    model = attempts.load_binary(
        source, kind, DEFAULT_LIMITS, lambda proto, **known: Model(proto, source=source, **known)
    )
    assert made == [expected]
    assert [fault.kind for fault in model.faults] == faults


def test_what_cannot_be_split_is_told_by_the_walk_over_fields():
    source = BytesSource(MODEL[:-1])
    model = attempts.load_binary(
        source, "ModelProto", DEFAULT_LIMITS, lambda proto, **known: Model(proto, source=source, **known)
    )
    assert not model.loaded
    assert [fault.kind for fault in model.faults] == [FaultKind.TRUNCATED]
