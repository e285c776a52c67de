# SPDX-License-Identifier: Apache-2.0
"""The votes of tree ensembles, and the quick check of small ensembles, for which numpy is not imported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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

MAX_NODES: Final = 10_000
"""The greatest number of nodes that is checked without numpy, which takes less time than importing it."""


def is_evidently_right(given: Given, voting: Voting) -> bool:
    """Return True if an ensemble is small and has no faults (docs/performance.md: small-ensembles).

    False decides nothing: `tree_ensembles.voting_faults` then looks for faults.
    """
    if any(max(len(each.ints), len(each.strings)) > MAX_NODES for each in given.values()):
        return False
    count = class_count(given, voting)
    if next(base_value_faults(given, voting, count), None) is not None:
        return False
    votes = _numbers(given, f"{voting.prefix}_ids")
    if votes and count is not None and not 0 <= min(votes) <= max(votes) < count:
        return False
    return _is_sound_forest(given, voting)


def _is_sound_forest(given: Given, voting: Voting) -> bool:
    """Return True if the nodes of a small ensemble are trees, and its voters are nodes; also if some are missing."""
    names = ("nodes_treeids", "nodes_nodeids", *BRANCHES)
    if not all(name in given for name in (*names, "nodes_modes")):
        return True
    columns = *(_numbers(given, name) for name in names), given["nodes_modes"].strings
    if len(set(map(len, columns))) > 1 or not columns[0]:
        return True
    trees, ids = columns[0], columns[1]
    if min(trees) < 0 or min(ids) < 0 or (max(trees) + 1) * (max(ids) + 1) > _MAX_SLOTS:
        return False
    nodes = _SmallEnsemble(trees, ids)
    if not nodes.are_distinct or (voting.ids_from_zero and not nodes.are_from_zero):
        return False
    features = _numbers(given, "nodes_featureids")
    if len(features) == len(ids) and min(features) < 0:
        return False
    return _lead_down(columns, nodes) and _are_voters_nodes(given, voting, nodes)


def _are_voters_nodes(given: Given, voting: Voting, nodes: _SmallEnsemble) -> bool:
    """Return whether the voters are nodes of the ensemble; also if their lists have different lengths."""
    trees, ids = (_numbers(given, f"{voting.prefix}_{name}") for name in ("treeids", "nodeids"))
    return len(trees) != len(ids) or all(map(nodes.has, trees, ids))


_MAX_SLOTS: Final = 1 << 20
"""The most pairs of a tree and an id, both up to the greatest; usual ensembles of so few nodes have fewer."""


def _numbers(given: Given, name: str) -> Sequence[int]:
    return given[name].ints if name in given else ()


class _SmallEnsemble:
    """The nodes of a small ensemble: for each pair of a tree and an id a byte, which is 1 if there is a node.

    They are in no set: files choose both numbers, and the hashes of all pairs may be equal.
    """

    def __init__(self, trees: Sequence[int], ids: Sequence[int]) -> None:
        self._width = max(ids) + 1
        self._count = len(ids)
        self._trees = max(trees) + 1
        self._bytes = bytearray(self._width * self._trees)
        for tree, own in zip(trees, ids, strict=True):
            self._bytes[tree * self._width + own] = 1

    @property
    def are_distinct(self) -> bool:
        """True if no tree has an id twice."""
        return self._bytes.count(1) == self._count

    @property
    def are_from_zero(self) -> bool:
        """True if the ids in each tree are 0, 1, 2 and so on."""
        rows = range(0, len(self._bytes), self._width)
        return not any(b"\0\1" in self._bytes[row : row + self._width] for row in rows)

    def has(self, tree: int, own: int) -> bool:
        """Return whether there is a node."""
        return 0 <= tree < self._trees and 0 <= own < self._width and self._bytes[tree * self._width + own] == 1


def _lead_down(columns: tuple[Sequence[Any], ...], nodes: _SmallEnsemble) -> bool:
    """Return whether all children are nodes of the same tree with a greater id, so that there are no circles."""
    return all(
        mode == b"LEAF" or (first > own < second and nodes.has(tree, first) and nodes.has(tree, second))
        for tree, own, first, second, mode in zip(*columns, strict=True)
    )


# --- words


def length_of(proto: Proto) -> int | None:
    """Return the number of elements of a list or a tensor; None for a tensor of impossible dimensions."""
    if proto.HasField("t"):
        return element_count(proto.t.dims)
    return max(len(proto.ints), len(proto.floats))


def are(count: int, noun: str) -> str:
    """Return `is 1 node` or `are 2 nodes`, to follow "there"."""
    return f"is 1 {noun}" if count == 1 else f"are {count:,} {_PLURALS.get(noun, f'{noun}s')}"


_PLURALS: Final = {"class": "classes", "leaf": "leaves"}
