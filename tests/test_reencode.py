# SPDX-License-Identifier: Apache-2.0
"""The messages of tests/support/wire/reencode.py have the stated content for Protocol Buffers, too."""

from __future__ import annotations

from random import Random

import pytest
from support.project.checkout import TESTS
from support.wire.reencode import Widths, packed, padded, read, reordered, split, unpacked, write
from support.wire.wire_bytes import rich_model

from onnx_lint import schema

REAL = TESTS / "models" / "iris_logistic_regression.onnx"
MODELS = {"real": REAL.read_bytes(), "rich": rich_model()}


def twins(data: bytes) -> dict[str, bytes]:
    fields = read(data)
    return {
        "as it is": write(fields),
        "unpacked": write(unpacked(fields)),
        "packed": write(packed(fields)),
        "reordered": write(reordered(fields, Random(1))),
        "split": write(split(fields, Random(1))),
        "overlong tags": write(fields, Widths(tags=5)),
        "overlong lengths": write(fields, Widths(lengths=5)),
        "overlong values": write(fields, Widths(values=10)),
        "overlong values of packed lists": write(packed(fields), Widths(values=10)),
    }


@pytest.mark.parametrize("name", MODELS)
def test_each_twin_is_the_same_message_in_other_bytes(name: str):
    data = MODELS[name]
    message = schema.message("ModelProto").FromString(data)
    found = twins(data)
    assert found.pop("as it is") == data
    assert {twin for twin, written in found.items() if written == data} <= {"unpacked"}  # as most lists are written
    for twin, written in found.items():
        assert schema.message("ModelProto").FromString(written) == message, twin
    assert write(unpacked(read(found["packed"]))) == found["unpacked"]


@pytest.mark.parametrize("number", [0, 1, 127, 128, 2**31, 2**64 - 1])
def test_a_padded_varint_is_as_long_as_it_says(number: int):
    assert [len(padded(number, width)) for width in (10, 11, 20)] == [10, 11, 20]
    assert read(b"\x08" + padded(number, 10))[0].value == number
