# SPDX-License-Identifier: Apache-2.0
"""The lists that describe the trees of tree ensembles, without a model around them."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.project.each_case import each_case

from onnx_lint import schema
from onnx_lint.ir.operators.ensemble_votes import CLASSIFIER, REGRESSOR
from onnx_lint.ir.operators.tree_ensembles import (
    MAX_LEVELS,
    NodeIndex,
    ensemble_faults,
    node_on_circle,
    voting_faults,
)

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

VOTES = {
    "nodes_treeids": [0, 0, 0],
    "nodes_nodeids": [0, 1, 2],
    "nodes_featureids": [0, 0, 0],
    "nodes_modes": [b"BRANCH_LEQ", b"LEAF", b"LEAF"],
    "nodes_truenodeids": [1, 0, 0],
    "nodes_falsenodeids": [2, 0, 0],
    "target_treeids": [0, 0],
    "target_nodeids": [1, 2],
    "target_ids": [0, 1],
    "n_targets": 2,
}
"""One node with two leaves that vote for a target each."""


def _attributes(**values):
    message = schema.message("AttributeProto")
    found = {}
    for name, value in values.items():
        if isinstance(value, int):
            found[name] = message(name=name, i=value)
        elif value and isinstance(value[0], bytes):
            found[name] = message(name=name, strings=value)
        elif value and isinstance(value[0], float):
            found[name] = message(name=name, floats=value)
        else:
            found[name] = message(name=name, ints=value)
    return found


def _tensor(element_type: int, *dims: int, **values):
    tensor = schema.message("TensorProto")(data_type=element_type, dims=dims, **values)
    return schema.message("AttributeProto")(t=tensor)


def _modes(*numbers: int):
    return {"nodes_modes": _tensor(2, len(numbers), raw_data=bytes(numbers))}


def _told(given):
    return [fault[:2] for fault in ensemble_faults(given, given.keys())]


def _told_of_votes(voting=REGRESSOR, **changed):
    lists = {**VOTES, **changed}
    if voting is CLASSIFIER:
        lists = {name.replace("target_", "class_"): value for name, value in lists.items() if name != "n_targets"}
        lists.setdefault("classlabels_strings", [b"a", b"b"])
    return [fault[:2] for fault in voting_faults(_attributes(**lists), voting)]


# --- TreeEnsemble


def test_a_tree_is_all_right():
    assert _told(_attributes(**TREE, n_targets=2) | _modes(0, 5)) == []


@pytest.mark.parametrize(
    ("changed", "attribute", "what"),
    [
        ({"tree_roots": [0, -1]}, "tree_roots", "names node -1, but there are 2 nodes"),
        ({"n_targets": 1}, "leaf_targetids", "names target 1, but there is 1 target"),
        ({"n_targets": 0}, "leaf_targetids", "names target 0, but there are 0 targets"),
        ({"nodes_truenodeids": [2, 0]}, "nodes_truenodeids", "names node 2, but there are 2 nodes"),
        ({"nodes_falsenodeids": [0, 3]}, "nodes_falsenodeids", "names leaf 3, but there are 3 leaves"),
        ({"nodes_trueleafs": [0, 7]}, "nodes_trueleafs", "is 7, but must be 0 or 1"),
        ({"nodes_featureids": [0, -2]}, "nodes_featureids", "names feature -2, but must be at least 0"),
        ({"nodes_truenodeids": [0, 0]}, "nodes_truenodeids", "names node 0 as its own child"),
        ({"nodes_trueleafs": [0, 0]}, "nodes_truenodeids", "leads from node 0 back to it"),
        (
            {"nodes_falsenodeids": [1, 2], "nodes_falseleafs": [0, 1]},
            "nodes_truenodeids",
            "names node 1, which is a child twice",
        ),
    ],
)
def test_what_is_not_there_is_reported_once(changed, attribute, what):
    assert _told(_attributes(**{**TREE, **changed})) == [(attribute, what)]


@pytest.mark.parametrize(
    ("changed", "index"),
    [
        ({"tree_roots": [0, -1]}, 1),
        ({"nodes_truenodeids": [2, 0]}, 0),
        ({"nodes_falsenodeids": [0, 3]}, 1),
        ({"nodes_trueleafs": [0, 7]}, 1),
        ({"nodes_featureids": [0, -2]}, 1),
        ({"nodes_truenodeids": [0, 0]}, 0),
        ({"nodes_falsenodeids": [1, 2], "nodes_falseleafs": [0, 1]}, 0),
    ],
)
def test_a_wrong_element_has_its_index(changed, index):
    given = _attributes(**{**TREE, **changed})
    assert [list(fault[4]) for fault in ensemble_faults(given, given.keys())] == [[index]]


@pytest.mark.parametrize(
    ("changed", "index"),
    [
        ({"nodes_falsenodeids": [7, 0, 0]}, 0),
        ({"target_nodeids": [1, 9]}, 1),
        ({"target_ids": [0, 2]}, 1),
        ({"nodes_featureids": [-1, 0, 0]}, 0),
        (
            {"nodes_modes": [b"LEAF", b"LEAF", b"BRANCH_LEQ"], "nodes_truenodeids": [0, 0, 0]}
            | {"nodes_falsenodeids": [0, 0, 1], "nodes_featureids": [0, 0, -1]},
            2,
        ),
        ({"nodes_nodeids": [0, 1, 1]}, 2),
    ],
)
def test_a_wrong_vote_or_node_has_its_index(changed, index):
    found = voting_faults(_attributes(**{**VOTES, **changed}), REGRESSOR)
    assert [list(fault[4]) for fault in found] == [[index]]


@pytest.mark.parametrize(
    ("modes", "what"),
    [
        (_tensor(7, 1), "is a tensor of int64, but must be a tensor of uint8"),
        (_tensor(2, 1, raw_data=b"\x07"), "is 7, but must be 0 to 6"),
        (_tensor(2, 2, int32_data=[0, -1]), "is -1, but must be 0 to 6"),
    ],
)
def test_modes_are_bytes_up_to_six(modes, what):
    assert _told({"nodes_modes": modes}) == [("nodes_modes", what)]


@pytest.mark.parametrize(
    ("members", "values", "said"),
    [
        (1, _tensor(1, 2, float_data=[1, 2]), []),
        (1, _tensor(1, 2, float_data=[1, float("nan")]), []),
        (2, _tensor(1, 3, float_data=[1, float("nan"), 2]), []),
        (2, _tensor(10, 3, raw_data=np.array([1, np.nan, 2], np.float16).tobytes()), []),
        (2, _tensor(11, 3, raw_data=np.array([1, 3, 2], np.float64).tobytes()), ["1 set", "2 nodes"]),
        (1, _tensor(1, 0), ["0 sets", "1 node"]),
        (1, _tensor(1, 2), []),  # the values are not in the message
        (0, _tensor(1, 0), []),
    ],
)
def test_each_node_that_tests_membership_has_a_set_of_values(members, values, said):
    found = _told(_modes(0, *[6] * members) | {"membership_values": values})
    assert [attribute for attribute, _ in found] == ["membership_values"] * bool(said)
    assert all(word in found[0][1] for word in said)


def test_members_without_values_are_reported_unless_a_parameter_may_bring_them():
    assert _told(_modes(6)) == [
        ("nodes_modes", "has 1 node of mode 6, BRANCH_MEMBER, but the node has no 'membership_values'")
    ]
    assert list(ensemble_faults(_modes(6), {"nodes_modes", "membership_values"})) == []


def test_lists_that_are_left_out_or_of_other_lengths_lead_nowhere_else():
    for name in TREE:
        assert _told(_attributes(**{key: value for key, value in TREE.items() if key != name})) == []
    assert _told(_attributes(**{**TREE, "leaf_targetids": [0]}) | {"leaf_weights": _tensor(1, 3)}) == []
    assert _told(_attributes(**{**TREE, "nodes_featureids": [0]})) == []
    assert _told(_attributes(**TREE, n_targets=-1)) == []
    assert _told({"leaf_weights": _tensor(1, -5), "nodes_modes": _tensor(99, 1)}) == []


def test_a_root_beyond_the_nodes_is_reported_whatever_lists_are_there():
    for name in ("nodes_featureids", "nodes_truenodeids"):
        given = _attributes(tree_roots=[2], **{name: [0]})
        [(attribute, what, _, other, *_)] = ensemble_faults(given, given.keys())
        assert (attribute, what, other) == ("tree_roots", "names node 2, but there is 1 node", name)


# --- TreeEnsembleClassifier and TreeEnsembleRegressor


@each_case("voting", [CLASSIFIER, REGRESSOR])
@each_case(
    ("changed", "attribute", "what"),
    [
        ({}, "", ""),
        ({"nodes_nodeids": [0, 1, 1]}, "nodes_nodeids", "names node 1 of tree 0 again"),
        ({"nodes_truenodeids": [3, 0, 0]}, "nodes_truenodeids", "names node 3, which tree 0 does not have"),
        ({"nodes_falsenodeids": [-1, 0, 0]}, "nodes_falsenodeids", "names node -1, which tree 0 does not have"),
        ({"nodes_truenodeids": [1, 9, -4]}, "", ""),  # leaves have no children
        ({"nodes_featureids": [-1, 0, 0]}, "nodes_featureids", "names feature -1, but must be at least 0"),
        ({"nodes_featureids": [0, -1, -1]}, "", ""),
        ({"nodes_truenodeids": [0, 0, 0]}, "nodes_truenodeids", "names node 0 of tree 0 as its own child"),
        (
            {"nodes_modes": [b"BRANCH_LT", b"BRANCH_LT", b"LEAF"], "nodes_falsenodeids": [2, 2, 0]},
            "nodes_truenodeids",
            "leads from node 0 of tree 0 back to it",
        ),
        ({"nodes_falsenodeids": [1, 0, 0]}, "", ""),
        ({"target_nodeids": [1, 5]}, "target_nodeids", "names node 5 of tree 0, which is not a node of the ensemble"),
        ({"target_treeids": [0, 1]}, "target_nodeids", "names node 2 of tree 1, which is not a node of the ensemble"),
        ({"target_ids": [0, 2]}, "target_ids", "names target 2, but there are 2 targets"),
        ({"target_ids": [0, -1]}, "target_ids", "names target -1, but there are 2 targets"),
        ({"base_values": [1.0, 2.0, 3.0]}, "base_values", "has 3 elements, but there are 2 targets"),
        ({"base_values": [1.0, 2.0]}, "", ""),
        ({"nodes_treeids": [7, 7, 7], "target_treeids": [7, 7]}, "", ""),
        ({"nodes_nodeids": []}, "", ""),
        ({"nodes_modes": [b"LEAF"]}, "", ""),
    ],
)
def test_what_leads_nowhere_is_reported_once(voting, changed, attribute, what):
    if voting is CLASSIFIER:
        attribute, what = (
            attribute.replace("target_", "class_"),
            what.replace("targets", "classes").replace("target", "class"),
        )
    assert _told_of_votes(voting, **changed) == ([(attribute, what)] if what else [])


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        (
            {"nodes_nodeids": [1, 2, 3], "nodes_truenodeids": [2, 0, 0], "nodes_falsenodeids": [3, 0, 0]},
            "is 3, but the ids of the 3 nodes of tree 0 must be from 0 to 2",
        ),
        (
            {"nodes_nodeids": [-1, 1, 2], "target_nodeids": [1, 2]},
            "is -1, but the ids of the 3 nodes of tree 0 must be from 0 to 2",
        ),
        ({"nodes_nodeids": [0, 2, 1]}, ""),
    ],
)
def test_a_regressor_numbers_the_nodes_of_a_tree_from_zero_and_a_classifier_as_it_likes(changed, what):
    changed = {"target_nodeids": [2, changed["nodes_nodeids"][2]], **changed}
    assert _told_of_votes(REGRESSOR, **changed) == ([("nodes_nodeids", what)] if what else [])
    assert _told_of_votes(CLASSIFIER, **changed) == []


def test_one_base_value_does_for_two_classes_and_not_for_two_targets():
    assert _told_of_votes(CLASSIFIER, base_values=[0.5]) == []
    assert _told_of_votes(REGRESSOR, base_values=[0.5]) == [("base_values", "has 1 element, but there are 2 targets")]


# --- many random ones


def _is_on_circle(start, links):
    seen, pending = set(), list(links.get(start, ()))
    while pending:
        at = pending.pop()
        if at == start:
            return True
        if at not in seen:
            seen.add(at)
            pending += links.get(at, ())
    return False


def test_circles_are_found_in_any_graph():
    chance = random.Random(25)
    found = 0
    for _ in range(400):
        count = chance.randint(1, 9)
        parents = sorted(chance.sample(range(count), chance.randint(0, count)))
        children = [[chance.choice([-1, *range(count)]) for _ in parents] for _ in range(2)]
        links = {
            parent: {child for child in pair if child >= 0} for parent, *pair in zip(parents, *children, strict=True)
        }
        at = node_on_circle(count, np.array(parents, int), [np.array(each, int) for each in children])
        if at < 0:
            assert not any(_is_on_circle(node, links) for node in range(count))
        else:
            found += 1
            assert _is_on_circle(at, links)
    assert 50 < found < 350


def test_nodes_are_found_by_tree_and_id():
    chance = random.Random(7)
    for _ in range(200):
        pairs = [(chance.randint(-2, 3), chance.choice([-5, 0, 1, 2, 2**62])) for _ in range(chance.randint(1, 12))]
        wanted = [(chance.randint(-3, 4), chance.choice([-5, 0, 1, 2, 3, 2**62])) for _ in range(12)]
        index = NodeIndex(*np.array(pairs).T)
        assert (index.repeated() >= 0) == (len(set(pairs)) < len(pairs))
        for pair, position in zip(wanted, index.positions(*np.array(wanted).T), strict=True):
            assert position == (pairs.index(pair) if pair in pairs else -1)


def test_a_chain_that_is_deeper_than_levels_are_counted_is_let_pass():
    count = MAX_LEVELS + 2
    parents = np.arange(1, count)
    assert node_on_circle(count, parents, [parents - 1, np.full(count - 1, -1)]) == -1
