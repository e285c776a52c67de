# SPDX-License-Identifier: Apache-2.0
"""The first location in the bytes of a model, if it is safe to look up."""

from __future__ import annotations

import pytest

from onnx_lint import schema
from onnx_lint.loader.binary.first_location import first_location


def _model(*locations: str) -> bytes:
    proto = schema.message("ModelProto")()
    for location in locations:
        proto.graph.initializer.add().external_data.add(key="location", value=location)
    return proto.SerializeToString()


@pytest.mark.parametrize(
    ("locations", "expected"),
    [
        ([], None),
        (["w.bin", "x.bin"], "w.bin"),
        (["a/w.bin"], "a/w.bin"),
        (["../w.bin"], None),
        (["/w.bin"], None),
        (["w" * 200], None),
    ],
)
def test_the_first_location(locations: list[str], expected: str | None):
    assert first_location(_model(*locations)) == expected
