# SPDX-License-Identifier: Apache-2.0
"""The attributes of TreeEnsemble and LabelEncoder, by themselves."""

from __future__ import annotations

import pytest

from onnx_lint import schema
from onnx_lint.ir.operators.machine_learning_attributes import encoder_faults, tree_faults

TREE = {
    "nodes_featureids": [0, 1],
    "nodes_truenodeids": [1, 0],
    "nodes_falsenodeids": [0, 2],
    "nodes_trueleafs": [0, 1],
    "nodes_falseleafs": [1, 1],
    "leaf_targetids": [0, 1, 1],
    "tree_roots": [0],
}
"""Two nodes and three leaves; the first node leads to the second one where its test holds."""


def _attributes(**values):
    message = schema.message("AttributeProto")
    return {
        name: message(name=name, i=value) if isinstance(value, int) else message(name=name, ints=value)
        for name, value in values.items()
    }


def _tensor(element_type: int, *dims: int):
    return schema.message("AttributeProto")(t=schema.message("TensorProto")(data_type=element_type, dims=dims))


def test_a_tree_is_all_right():
    assert list(tree_faults(_attributes(**TREE, n_targets=2) | {"nodes_modes": _tensor(2, 2)})) == []


@pytest.mark.parametrize(
    ("changed", "attribute", "what"),
    [
        ({"tree_roots": [0, -1]}, "tree_roots", "names node -1, there are 2"),
        ({"n_targets": 1}, "leaf_targetids", "names target 1, there are 1"),
        ({"n_targets": 0}, "leaf_targetids", "names target 0, there are 0"),
        ({"nodes_truenodeids": [2, 0]}, "nodes_truenodeids", "names node 2, there are 2"),
        ({"nodes_falsenodeids": [0, 3]}, "nodes_falsenodeids", "names leaf 3, there are 3"),
        ({"nodes_trueleafs": [0, 7]}, "nodes_trueleafs", "holds 7"),
    ],
)
def test_what_is_not_there_is_told_once(changed, attribute, what):
    found = list(tree_faults(_attributes(**{**TREE, **changed})))
    assert [(fault[0], fault[1]) for fault in found] == [(attribute, what)]


def test_modes_are_bytes():
    assert [fault[:3] for fault in tree_faults({"nodes_modes": _tensor(7, 1)})] == [
        ("nodes_modes", "is a tensor of int64", "a tensor of uint8")
    ]


def test_lists_that_are_left_out_or_of_other_lengths_lead_nowhere_else():
    for name in TREE:
        assert list(tree_faults(_attributes(**{key: value for key, value in TREE.items() if key != name}))) == []
    assert list(tree_faults(_attributes(**{**TREE, "leaf_targetids": [0]}) | {"leaf_weights": _tensor(1, 3)})) == []
    assert list(tree_faults(_attributes(**{**TREE, "nodes_featureids": [0]}))) == []
    assert list(tree_faults(_attributes(**TREE, n_targets=-1))) == []
    assert list(tree_faults({"leaf_weights": _tensor(1, -5), "nodes_modes": _tensor(99, 1)})) == []


@pytest.mark.parametrize(
    ("values", "element_type", "faults"),
    [
        ("values_int64s", 7, []),
        ("values_int64s", 1, [("default_tensor", "is a tensor of float, 'values_int64s' holds int64")]),
        ("values_floats", 11, [("default_tensor", "is a tensor of double, 'values_floats' holds float")]),
        ("values_strings", 8, []),
        ("values_strings", 99, []),
    ],
)
def test_the_default_tensor_of_an_encoder_is_of_the_type_of_its_values(values, element_type, faults):
    given = _attributes(**{values: []}) | {"default_tensor": _tensor(element_type, 1)}
    assert [fault[:2] for fault in encoder_faults(given)] == faults


def test_two_lists_of_values_say_nothing_of_the_default():
    given = _attributes(values_int64s=[], values_floats=[]) | {"default_tensor": _tensor(8, 1)}
    assert list(encoder_faults(given)) == []
