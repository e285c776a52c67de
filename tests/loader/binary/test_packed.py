# SPDX-License-Identifier: Apache-2.0
"""Lists of numbers that are packed where the schema writes them one by one."""

from __future__ import annotations

import pytest
from support.models import exhaustive_walk as walked
from support.wire.piecewise_parsing import assert_same, in_one, in_pieces
from support.wire.wire_bytes import length, number

from onnx_lint.model import FaultKind


def _written_in_proto3(more: bytes = b"") -> bytes:
    """Return a model of ten nodes and ten initializers with packed lists. One initializer also has `more` in it."""
    perm = length(1, "perm") + length(8, bytes(range(3))) + number(20, 7)
    nodes = [length(1, length(1, f"x{index}") + length(4, "Transpose") + length(5, perm)) for index in range(10)]
    tensor = length(1, b"\2\3") + number(2, 7)
    initializers = [length(5, tensor + length(8, f"w{index}") + more * (index == 5)) for index in range(10)]
    return number(1, 10) + length(7, b"".join(nodes + initializers))


def test_packed_lists_need_no_walk(monkeypatch: pytest.MonkeyPatch):
    data = _written_in_proto3()

    def walk(*_: object, **__: object) -> None:
        raise AssertionError("the slow walk was taken")

    monkeypatch.setattr("onnx_lint.loader.binary.wire_audit.inspect", walk)
    for model in (in_one(data, "ModelProto"), in_pieces(data, "ModelProto", monkeypatch)):
        assert (model.faults, len(model.main_graph.nodes)) == ((), 10)
        assert [list(tensor.proto.dims) for tensor in walked.tensors(model)] == [[2, 3]] * 10
        assert [list(node.attribute_protos[0].ints) for node in model.main_graph.nodes] == [[0, 1, 2]] * 10


@pytest.mark.parametrize(
    ("more", "kinds"),
    [
        (number(1000, 1), [FaultKind.UNKNOWN_FIELD]),
        (length(8, "again"), [FaultKind.REPEATED]),
        (number(8, 1), [FaultKind.WIRE_TYPE]),
        (number(5, 1), []),
    ],
    ids=["unknown", "again", "wrong", "not packed"],
)
def test_what_stands_beside_packed_lists_is_judged(
    more: bytes, kinds: list[FaultKind], monkeypatch: pytest.MonkeyPatch
):
    data = _written_in_proto3(more)
    assert_same(data, monkeypatch)
    assert [fault.kind for fault in in_one(data, "ModelProto").faults] == kinds
