# SPDX-License-Identifier: Apache-2.0
"""The limit of 2 GiB, for which no fixture is large enough."""

from __future__ import annotations

import pytest

from onnx_lint.engine.registry import registry
from onnx_lint.input.source import BytesSource
from onnx_lint.model import ROOT, Model
from onnx_lint.rule import Finding
from onnx_lint.schema import ModelProto


class LargeSource(BytesSource):
    """A source that says to be larger than it is."""

    def __init__(self, size: int) -> None:
        super().__init__(b"")
        self.size = size


@pytest.mark.parametrize(
    ("size", "found"),
    [
        (2147483647, []),
        (
            2147483648,
            [
                Finding(
                    ROOT,
                    "the file takes up 2,147,483,648 bytes, but protobuf parsers read at most 2,147,483,647",
                    allowed="2,147,483,647 bytes",
                )
            ],
        ),
    ],
)
def test_the_limit_of_protocol_buffers(size, found):
    model = Model(ModelProto(), LargeSource(size))
    assert list(registry()["oversized-message"].rule.check(model)) == found
