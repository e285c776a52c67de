# SPDX-License-Identifier: Apache-2.0
"""Each exception is recorded once, with all rules that it stopped."""

from __future__ import annotations

import onnx.parser
import pytest
from google.protobuf.message import EncodeError

from onnx_lint.engine.internal_errors import InternalErrors
from onnx_lint.input.source import BytesSource, ReadError
from onnx_lint.loader import load

MODEL = onnx.parser.parse_model(
    '<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] y) { y = Relu(x) }'
)


def _errors() -> InternalErrors:
    return InternalErrors(load(BytesSource(MODEL.SerializeToString())))


def _fail(kind: type[Exception]) -> None:
    raise kind("failed")


@pytest.mark.parametrize("kind", [EncodeError, RuntimeError])
def test_an_error_of_two_rules_is_one(kind: type[Exception]):
    """Also if it is no bug: Protocol Buffers raise EncodeError for a lack of memory."""
    errors = _errors()
    kept = []
    for rule in ("one", "other", "other"):
        try:
            _fail(kind)
        except kind as error:
            kept.append(error)  # an exception that is alive shares its id with no other
            errors.note(error, rule=rule)
    assert [(each.rule, each.not_run) for each in errors.all()] == [("one", ("other",))]


@pytest.mark.parametrize("error", [MemoryError(), ReadError("gone")])
def test_what_ends_the_check_of_a_file_is_raised_again(error: Exception):
    with pytest.raises(type(error)):
        _errors().note(error, rule="one")
