# SPDX-License-Identifier: Apache-2.0
"""What a model uses that an older consumer has never heard of."""

from __future__ import annotations

from model_samples import from_text

TEXT = """
graph {
  name: "g" metadata_props { key: "k" value: "v" }
  node { op_type: "F" domain: "d" overload: "o" output: "y" metadata_props { key: "k" value: "v" } }
  node { op_type: "F" domain: "d" overload: "o" output: "z" }
  initializer { name: "w" data_type: 17 dims: 1 raw_data: "0" }
  sparse_initializer { values { name: "s" } }
}
functions { name: "F" domain: "d" overload: "o" }
"""


def _features(ir_version: int) -> list[tuple[str, str, int]]:
    return [(found.what, found.of, found.count) for found in from_text(TEXT).features_beyond(ir_version)]


def test_features_come_with_their_first_place_and_their_number():
    assert _features(14) == []
    node = " at unnamed node 0 (d::F) of the main graph"
    assert sorted(_features(9)) == [
        ("field 'metadata_props' of GraphProto", " at main graph 'g'", 1),
        ("field 'metadata_props' of NodeProto", node, 1),
        ("field 'overload' of FunctionProto", " at function 'd::F:o'", 1),
        ("field 'overload' of NodeProto", node, 2),
    ]
    assert ("element type 'float8e4m3fn'", " of tensor 'w' of main graph 'g'", 1) in _features(8)
    older = {what for what, _, _ in _features(5)}
    assert {"field 'functions' of ModelProto", "field 'sparse_initializer' of GraphProto"} <= older
