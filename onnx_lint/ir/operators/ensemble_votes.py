# SPDX-License-Identifier: Apache-2.0
"""The votes of tree ensembles, and the quick check of small ensembles, for which numpy is not imported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, Final

from onnx_lint.common.record import Record
from onnx_lint.ir.columns.tensor_encodings import element_count
from onnx_lint.ir.operators.machine_learning_attributes import ValueFault
from onnx_lint.schema import Proto
from onnx_lint.wording import counted

Given = Mapping[str, Proto]
"""The attributes of a node by name. References to parameters of a function are left out."""


BRANCHES: Final = ("nodes_truenodeids", "nodes_falsenodeids")


MOST: Final = (1 << 63) - 1
"""The greatest number of elements to compare with: a tensor may state any dimensions."""


class Voting(Record):
    """The attributes of an operator that describe the votes of its leaves."""

    prefix: str
    """The beginning of the names of attributes that list the votes."""
    noun: str
    counted_by: tuple[str, ...]
    """The attributes that say how many classes or targets there are."""
    ids_from_zero: bool
    """True if the ids of each tree must be 0, 1, 2 and so on. The text of the classifier does not require that."""


CLASSIFIER: Final = Voting("class", "class", ("classlabels_int64s", "classlabels_strings"), ids_from_zero=False)
REGRESSOR: Final = Voting("target", "target", ("n_targets",), ids_from_zero=True)
VOTINGS: Final = {"TreeEnsembleClassifier": CLASSIFIER, "TreeEnsembleRegressor": REGRESSOR}


def counter(given: Given, voting: Voting) -> str | None:
    """Return the attribute that says how many classes or targets there are."""
    return next((name for name in voting.counted_by if name in given and _size(given[name]) > 0), None)


def _size(proto: Proto) -> int:
    return len(proto.ints) + len(proto.strings) + int(proto.i != 0)


def class_count(given: Given, voting: Voting) -> int | None:
    """Return the number of classes or targets; None if it is not stated, or stated twice."""
    if voting is REGRESSOR:
        count = given["n_targets"].i if "n_targets" in given else -1
        # A negative number is reported by another rule.
        return int(count) if count >= 0 else None
    labels = [_size(given[name]) for name in voting.counted_by if name in given and _size(given[name])]
    return labels[0] if len(labels) == 1 else None


_PAIR: Final = 2


def base_value_faults(given: Given, voting: Voting, count: int | None) -> Iterator[ValueFault]:
    """Yield base values whose number is not one for each class or target.

    One value for two classes is accepted: converters of gradient boosting write it, and ONNX Runtime derives both
    scores from it.
    """
    for name in ("base_values", "base_values_as_tensor"):
        length = length_of(given[name]) if name in given else 0
        is_binary = voting is CLASSIFIER and count == _PAIR and length == 1
        if length and count is not None and length != count and not is_binary:
            noun = "class" if voting is CLASSIFIER else "target"
            what = f"has {counted(length, 'element')}, but there {are(count, noun)}"
            yield name, what, f"one for each {noun}, or none", counter(given, voting)


# --- small ensembles

MOST_NODES: Final = 10_000
"""The greatest number of nodes that is checked without numpy, which takes less time than importing it."""


def is_evidently_right(given: Given, voting: Voting) -> bool:
    """Return True if an ensemble is small and has no faults (docs/performance.md: small-ensembles).

    False decides nothing: `tree_ensembles.voting_faults` then looks for faults.
    """
    if any(max(len(each.ints), len(each.strings)) > MOST_NODES for each in given.values()):
        return False
    count = class_count(given, voting)
    if next(base_value_faults(given, voting, count), None) is not None:
        return False
    prefix = voting.prefix
    votes = _numbers(given, f"{prefix}_ids")
    if votes and count is not None and not 0 <= min(votes) <= max(votes) < count:
        return False
    names = ("nodes_treeids", "nodes_nodeids", *BRANCHES)
    if not all(name in given for name in (*names, "nodes_modes")):
        return True
    columns = *(_numbers(given, name) for name in names), given["nodes_modes"].strings
    if len(set(map(len, columns))) > 1 or not columns[0]:
        return True
    nodes = {*zip(columns[0], columns[1], strict=True)}
    features = _numbers(given, "nodes_featureids")
    voters = _numbers(given, f"{prefix}_treeids"), _numbers(given, f"{prefix}_nodeids")
    return (
        len(nodes) == len(columns[0])
        and (not voting.ids_from_zero or _are_from_zero(nodes))
        and (len(features) != len(nodes) or min(features) >= 0)
        and _lead_down(columns, nodes)
        and (len(voters[0]) != len(voters[1]) or nodes.issuperset(zip(*voters, strict=True)))
    )


def _numbers(given: Given, name: str) -> Sequence[int]:
    return given[name].ints if name in given else ()


def _are_from_zero(nodes: Set[tuple[int, int]]) -> bool:
    """Return whether the ids in each tree are 0, 1, 2 and so on."""
    sizes = Counter(tree for tree, _ in nodes)
    return all(0 <= own < sizes[tree] for tree, own in nodes)


def _lead_down(columns: tuple[Sequence[Any], ...], nodes: Set[tuple[int, int]]) -> bool:
    """Return whether all children are nodes of the same tree with a greater id, so that there are no circles."""
    return all(
        mode == b"LEAF" or (first > own < second and (tree, first) in nodes and (tree, second) in nodes)
        for tree, own, first, second, mode in zip(*columns, strict=True)
    )


# --- words


def length_of(proto: Proto) -> int | None:
    """Return the number of elements of a list or a tensor; None for a tensor of impossible dimensions."""
    if proto.HasField("t"):
        return element_count(proto.t.dims)
    return max(len(proto.ints), len(proto.floats))


def are(count: int, noun: str) -> str:
    """Return `is 1 node` or `are 2 nodes`, to be put behind "there"."""
    return f"is 1 {noun}" if count == 1 else f"are {count:,} {_PLURALS.get(noun, f'{noun}s')}"


_PLURALS: Final = {"class": "classes", "leaf": "leaves"}
