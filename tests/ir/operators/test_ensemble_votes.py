# SPDX-License-Identifier: Apache-2.0
"""Small tree ensembles, which are checked without numpy."""

from __future__ import annotations

import random

import pytest

from onnx_lint import schema
from onnx_lint.ir.operators.ensemble_votes import CLASSIFIER, MAX_NODES, REGRESSOR, is_evidently_right
from onnx_lint.ir.operators.tree_ensembles import voting_faults

_FIELDS = {"n_targets": "i", "nodes_modes": "strings", "classlabels_strings": "strings", "base_values": "floats"}


def _attributes(**values):
    message = schema.message("AttributeProto")
    return {name: message(name=name, **{_FIELDS.get(name, "ints"): value}) for name, value in values.items()}


def _random_votes(chance):
    """Return the lists of two trees with a few nodes. Most lists have no fault."""
    columns = [[] for _ in range(6)]
    for tree in range(2):
        count = chance.choice([1, 3, 5])
        for own in range(count):
            is_branch = 2 * own + 2 < count
            column = tree, own, 0, 2 * own + 1 if is_branch else 0, 2 * own + 2 if is_branch else 0, is_branch
            for kept, value in zip(columns, column, strict=True):
                kept.append(value)
    for _ in range(chance.choice([0, 0, 1, 2])):
        column = chance.choice(columns)
        column[chance.randrange(len(column))] = chance.randint(-1, 4)
    trees, ids, features, first, second, are_branches = columns
    leaves = [index for index, is_branch in enumerate(are_branches) if not is_branch]
    return {
        "nodes_treeids": trees,
        "nodes_nodeids": ids,
        "nodes_featureids": features,
        "nodes_truenodeids": first,
        "nodes_falsenodeids": second,
        "nodes_modes": [b"BRANCH_LEQ" if is_branch else b"LEAF" for is_branch in are_branches],
        "target_treeids": [trees[leaf] for leaf in leaves],
        "target_nodeids": [ids[leaf] + (chance.random() < 0.02) for leaf in leaves],
        "target_ids": [chance.choice([0, 1, 1, 1]) for _ in leaves],
        "n_targets": chance.choice([1, 2, 2, 2, 2]),
        "base_values": [0.5] * chance.choice([0, 0, 0, 2, 3]),
    }


@pytest.mark.parametrize("voting", [CLASSIFIER, REGRESSOR])
def test_a_small_ensemble_is_evidently_right_only_if_it_has_no_faults(voting):
    chance = random.Random(28)
    seen = {(is_right, has_faults): 0 for is_right in (True, False) for has_faults in (True, False)}
    for _ in range(1_000):
        lists = _random_votes(chance)
        if voting is CLASSIFIER:
            lists = {name.replace("target_", "class_"): value for name, value in lists.items() if name != "n_targets"}
            lists["classlabels_strings"] = [b"a", b"b"]
        for name in chance.sample(sorted(lists), chance.choice([0, 0, 0, 1])):
            del lists[name]
        given = _attributes(**lists)
        seen[is_evidently_right(given, voting), any(True for _ in voting_faults(given, voting))] += 1
    assert seen[True, True] == 0
    assert seen[True, False] > 300
    assert seen[False, True] > 200


def test_a_large_ensemble_is_left_to_numpy():
    assert is_evidently_right(_attributes(target_ids=[0] * MAX_NODES), REGRESSOR)
    assert not is_evidently_right(_attributes(target_ids=[0] * (MAX_NODES + 1)), REGRESSOR)
