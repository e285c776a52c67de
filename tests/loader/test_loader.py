# SPDX-License-Identifier: Apache-2.0
"""Content that the loader passes over."""

from __future__ import annotations

import random

import pytest
from support.models.loader_samples import MODEL
from support.models.messages import message_of
from support.wire.wire_bytes import (
    BASE,
    length,
    number,
    rich_model,
)

from onnx_lint import schema
from onnx_lint.input.limits import DEFAULT_LIMITS
from onnx_lint.input.source import BytesSource
from onnx_lint.loader import load
from onnx_lint.loader.binary import strip_payloads
from onnx_lint.loader.binary.wire_audit import inspect
from onnx_lint.loader.limits.not_checked import NotCheckedError
from onnx_lint.model import FaultKind


@pytest.mark.parametrize("part", range(8))
def test_messages_that_are_passed_over_have_no_faults(part: int):
    """The walk finds the same faults whether or not it opens messages with canonical encoding."""
    model = rich_model()
    rng = random.Random(part)
    for _ in range(150):
        data = bytearray(model)
        for _ in range(rng.choice((1, 1, 2, 5))):
            data[rng.randrange(len(data))] = rng.choice((0, 1, 8, 10, 0x80, 0xFF, rng.randrange(256)))
        source = BytesSource(bytes(data))
        assert inspect(source) == inspect(source, skips_canonical=False)


def test_no_more_fields_are_looked_at_than_the_limit_allows():
    limits = DEFAULT_LIMITS.with_values({"fields": 100})
    assert load(BytesSource(MODEL + number(1000, 1) * 90), "model.onnx", limits=limits).loaded
    with pytest.raises(NotCheckedError, match="limit fields of 100"):
        load(BytesSource(MODEL + number(1000, 1) * 110), "model.onnx", limits=limits)


def test_unpacked_values_of_a_tensor_count_little_towards_the_limit():
    tensor = number(1, 10_000) + number(2, 6) + number(5, 300) * 10_000 + length(8, "w") + number(1000, 1)
    data = BASE + length(7, length(5, tensor))
    model = load(BytesSource(data), "model.onnx", limits=DEFAULT_LIMITS.with_values({"fields": 1000}))
    assert [fault.kind for fault in model.faults] == [FaultKind.UNKNOWN_FIELD]


def test_long_lists_of_an_attribute_count_little_towards_the_limit(monkeypatch: pytest.MonkeyPatch):
    """As a tree ensemble has them: unpacked, as the schema declares them."""
    monkeypatch.setattr(strip_payloads, "WHOLE_BYTES", 0)
    limits = DEFAULT_LIMITS.with_values({"fields": 300})
    model = schema.message("ModelProto")(ir_version=10, graph={"name": "g"})
    node = model.graph.node.add(op_type="TreeEnsembleRegressor", domain="ai.onnx.ml")
    node.attribute.add(name="nodes_values", type=6, floats=range(5000))
    node.attribute.add(name="nodes_nodeids", type=7, ints=range(5000))
    node.attribute.add(name="nodes_modes", type=8, strings=[b"BRANCH_LEQ"] * 5000)
    data = model.SerializeToString()
    for written, kinds in ((data, []), (data + number(1000, 1), [FaultKind.UNKNOWN_FIELD])):
        loaded = load(BytesSource(written), "model.onnx", limits=limits)
        assert [fault.kind for fault in loaded.faults] == kinds
        assert message_of(loaded) == model
