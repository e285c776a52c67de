# SPDX-License-Identifier: Apache-2.0
"""Faults of the lists that describe the trees of tree ensembles: ids, children, votes, modes, circles.

Every check works on whole lists with numpy, since an ensemble may have millions of nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from typing import Any, Final

import numpy as np
from numpy.typing import DTypeLike, NDArray

from onnx_lint.ir.left_in_file import entries_of, raw_data_of
from onnx_lint.ir.long_lists import numbers_of, pieces_of
from onnx_lint.ir.operators.ensemble_votes import (
    BRANCHES,
    MOST,
    Given,
    Voting,
    are,
    base_value_faults,
    class_count,
    counter,
    length_of,
)
from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import ELEMENT_TYPES
from onnx_lint.wording import counted

Array = NDArray[Any]

TreeFault = tuple[str, str, str, str | None] | tuple[str, str, str, str | None, Array | list[int]]
"""A fault of an attribute: its name, what is wrong, what is allowed, the attribute that it contradicts, and the indices
of the wrong elements of a list, the first of which `what` describes."""

MAX_LEVELS: Final = 2_000
"""The limit on the levels of ensembles in which circles are searched, if children come before their parents. Each
level costs one pass of numpy, and trained trees have a few dozen."""

_NO_NODE: Final = -1

# --- TreeEnsembleClassifier and TreeEnsembleRegressor


class NodeIndex:
    """The nodes of an ensemble, to be looked up by tree and id.

    Converters number the nodes of a tree consecutively, but may write them in any order. Each id then has its own slot.
    Other ensembles are sorted, which takes three times as much memory.
    """

    def __init__(self, trees: Array, ids: Array) -> None:
        self._count = ids.size
        self._slots = _Slots(trees, ids) if ids.size else None
        self.is_numbered = self._slots is not None and self._slots.are_taken and not self._slots.first_ids.any()
        """True if the ids of each tree are 0, 1, 2 and so on, each once."""
        if self._slots is not None and not self._slots.are_taken:
            self._slots = None
            self._trees = _distinct(trees)
            self._ids = _distinct(ids)
            keys = _piecewise(self._keys, np.int64, trees, ids)
            self._order = np.argsort(keys, kind="stable").astype(_position_type(self._count))
            self._sorted = keys[self._order]

    def repeated(self) -> int:
        """Return the position of a node whose tree has its id twice, `_NO_NODE` if there is none."""
        if self._slots is not None or not self._count:
            return _NO_NODE
        twice = np.flatnonzero(self._sorted[1:] == self._sorted[:-1])
        return int(self._order[twice + 1].min()) if twice.size else _NO_NODE

    def positions(self, trees: Array, ids: Array) -> Array:
        """Return the positions of nodes, `_NO_NODE` for those that the ensemble does not have."""
        if not self._count:
            return np.full(ids.shape, _NO_NODE)
        look_up = self._sorted_positions if self._slots is None else self._slots.positions
        return _piecewise(look_up, _position_type(self._count), trees, ids)

    def _sorted_positions(self, trees: Array, ids: Array) -> Array:
        keys = self._keys(trees, ids)
        slots = np.minimum(np.searchsorted(self._sorted, keys), self._sorted.size - 1)
        return np.where(self._sorted[slots] == keys, self._order[slots], _NO_NODE)

    def _keys(self, trees: Array, ids: Array) -> Array:
        """Return one number for each pair of a tree and an id; -1 if no node has that tree or that id."""
        tree_codes, are_trees = _codes(self._trees, trees)
        id_codes, are_ids = _codes(self._ids, ids)
        return np.where(are_trees & are_ids, tree_codes * max(self._ids.size, 1) + id_codes, -1)


def _distinct(numbers: Array) -> Array:
    """Return each number once, sorted.

    `np.unique` of NumPy 2.3 makes a hash table of them, and files choose numbers that collide.
    """
    ordered = np.sort(numbers)
    is_first = np.ones(ordered.size, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    return ordered[is_first]


class _Slots:
    """A slot for each node of an ensemble: as many in a row for each tree as it has nodes, from its least id on."""

    def __init__(self, trees: Array, ids: Array) -> None:
        self._trees = _distinct(trees)
        sizes = np.zeros(self._trees.size, np.int64)
        self.first_ids = np.full(self._trees.size, np.iinfo(ids.dtype).max, ids.dtype)
        for piece in _pieces(ids.size):
            codes = _codes(self._trees, trees[piece])[0]
            np.add.at(sizes, codes, 1)
            np.minimum.at(self.first_ids, codes, ids[piece])
        self._starts = np.cumsum(sizes) - sizes
        self._sizes = sizes.astype(np.uint64)
        self._least = self.first_ids.astype(np.int64).view(np.uint64)
        self._nodes = np.full(ids.size, _NO_NODE, _position_type(ids.size))
        self.are_taken = False
        """True if each slot has its node."""
        for piece in _pieces(ids.size):
            slots, are_slots = self._of(trees[piece], ids[piece])
            if not are_slots.all():
                return
            self._nodes[slots] = np.arange(piece.start, piece.start + slots.size)
        self.are_taken = bool((self._nodes != _NO_NODE).all())

    def _of(self, trees: Array, ids: Array) -> tuple[Array, Array]:
        """Return the slots of nodes, and which of the nodes have one. The others get that of the first node."""
        codes, are_slots = _codes(self._trees, trees)
        # Differences of 64 bits may be beyond these: as unsigned numbers they are right where the id is not less.
        above = ids.astype(np.int64).view(np.uint64) - self._least[codes]
        are_slots &= (ids >= self.first_ids[codes]) & (above < self._sizes[codes])
        return np.where(are_slots, self._starts[codes] + above.view(np.int64), 0), are_slots

    def positions(self, trees: Array, ids: Array) -> Array:
        """Return the positions of nodes, if each slot has its node."""
        slots, are_slots = self._of(trees, ids)
        return np.where(are_slots, self._nodes[slots], _NO_NODE)


_PIECE: Final = 1 << 18
"""The number of nodes that are looked up at a time, which limits the memory for it."""


def _piecewise(function: Callable[[Array, Array], Array], dtype: DTypeLike, first: Array, second: Array) -> Array:
    """Return the result of a function on two lists, computed piece by piece."""
    found = np.empty(first.size, dtype)
    for piece in _pieces(first.size):
        found[piece] = function(first[piece], second[piece])
    return found


def _pieces(size: int) -> Iterator[slice]:
    return (slice(start, start + _PIECE) for start in range(0, size, _PIECE))


def _position_type(count: int) -> DTypeLike:
    return np.int32 if count < 1 << 31 else np.int64


def _codes(known: Array, values: Array) -> tuple[Array, Array]:
    """Return the positions of values in a sorted list that is not empty, and whether they are in it."""
    slots = np.minimum(np.searchsorted(known, values), known.size - 1)
    return slots, known[slots] == values


def voting_faults(given: Given, voting: Voting) -> Iterator[TreeFault]:
    """Yield the faults of TreeEnsembleClassifier or TreeEnsembleRegressor.

    Lists of different lengths are reported elsewhere, and not checked here.
    """
    count = class_count(given, voting)
    for name, what, allowed, other, *indices in base_value_faults(given, voting, count):
        yield name, what, allowed, other, indices
    votes = f"{voting.prefix}_ids"
    if count is not None and votes in given:
        yield from _outside(votes, _integers(given[votes]), count, voting.noun, counter(given, voting))
    yield from _node_faults(given, voting)


def _node_faults(given: Given, voting: Voting) -> Iterator[TreeFault]:
    """Yield the faults of nodes and their children, and votes for nodes that do not exist."""
    names = ("nodes_treeids", "nodes_nodeids", "nodes_modes", *BRANCHES)
    if not all(name in given for name in names):
        return
    trees, ids, true_ids, false_ids = (_integers(given[name]) for name in ("nodes_treeids", "nodes_nodeids", *BRANCHES))
    is_branch = _are_not(b"LEAF", given["nodes_modes"].strings)
    if len({each.size for each in (trees, ids, true_ids, false_ids, is_branch)}) > 1 or not ids.size:
        return
    index = NodeIndex(trees, ids)
    twice = index.repeated()
    if twice != _NO_NODE:
        what = f"names node {ids[twice]} of tree {trees[twice]} again"
        yield "nodes_nodeids", what, "each node of a tree once", None, [twice]
        return
    branches = np.flatnonzero(is_branch).astype(_position_type(ids.size))
    if "nodes_featureids" in given and len(given["nodes_featureids"].ints) == ids.size:
        yield from _negative_features(_integers(given["nodes_featureids"]), branches)
    children = [index.positions(trees[branches], each[branches]) for each in (true_ids, false_ids)]
    if voting.ids_from_zero and not index.is_numbered:
        yield from _misnumbered(trees, ids)
    yield from _lost(branches, trees, children, (true_ids, false_ids))
    # Where each child has a greater id than its parent there is no circle.
    if not all((each[branches] > ids[branches]).all() for each in (true_ids, false_ids)):
        yield from _circles(ids.size, branches, children, lambda at: f"node {ids[at]} of tree {trees[at]}")
    yield from _lost_votes(given, voting, index)


def _misnumbered(trees: Array, ids: Array) -> Iterator[TreeFault]:
    """Yield a tree whose ids are not 0, 1, 2 and so on. No id may be there twice."""
    names, codes, sizes = np.unique(trees, return_inverse=True, return_counts=True)
    wrong = np.flatnonzero((ids < 0) | (ids >= sizes[codes]))
    if wrong.size:
        size = int(sizes[codes[wrong[0]]])
        tree = f"the {counted(size, 'node')} of tree {names[codes[wrong[0]]]}"
        what = f"is {ids[wrong[0]]}, but the ids of {tree} must be from 0 to {size - 1}"
        yield "nodes_nodeids", what, f"ids from 0 to {size - 1} in each tree", None, wrong


def _negative_features(features: Array, positions: Array) -> Iterator[TreeFault]:
    """Yield a feature of the nodes at some positions that is below 0."""
    wrong = np.flatnonzero(features[positions] < 0)
    if wrong.size:
        at = int(positions[wrong[0]])
        what = f"names feature {features[at]}, but must be at least 0"
        yield "nodes_featureids", what, "numbers of at least 0", None, positions[wrong]


def _lost(branches: Array, trees: Array, children: list[Array], named: tuple[Array, Array]) -> Iterator[TreeFault]:
    for name, positions, ids in zip(BRANCHES, children, named, strict=True):
        lost = np.flatnonzero(positions == _NO_NODE)
        if lost.size:
            at = branches[lost[0]]
            what = f"names node {ids[at]}, which tree {trees[at]} does not have"
            yield name, what, "the id of a node of the same tree", "nodes_nodeids", branches[lost]


def _lost_votes(given: Given, voting: Voting, index: NodeIndex) -> Iterator[TreeFault]:
    names = [f"{voting.prefix}_{each}" for each in ("treeids", "nodeids")]
    if not all(name in given for name in names):
        return
    trees, ids = (_integers(given[name]) for name in names)
    if trees.size == ids.size:
        lost = np.flatnonzero(index.positions(trees, ids) == _NO_NODE)
        if lost.size:
            what = f"names node {ids[lost[0]]} of tree {trees[lost[0]]}, which is not a node of the ensemble"
            yield names[1], what, "the ids of nodes in 'nodes_nodeids'", "nodes_nodeids", lost


# --- TreeEnsemble

_UINT8: Final = 2
_MEMBER: Final = 6
_MODE_NAMES: Final = "BRANCH_LEQ, BRANCH_LT, BRANCH_GTE, BRANCH_GT, BRANCH_EQ, BRANCH_NEQ and BRANCH_MEMBER"

_CHILDREN: Final = (("nodes_truenodeids", "nodes_trueleafs"), ("nodes_falsenodeids", "nodes_falseleafs"))
"""The positions of the children, and which of these are leaves."""


def ensemble_faults(given: Given, names: Set[str]) -> Iterator[TreeFault]:
    """Yield the faults of TreeEnsemble: positions of missing nodes, leaves or targets, circles, and unknown modes.

    For `nodes_truenodeids` the text describes the case "if nodes_trueleafs is false" twice; if it is true, the position
    is that of a leaf, as the name says and the test cases of ONNX show. `names` are the names of all attributes,
    references included.
    """
    yield from _mode_faults(given)
    yield from _member_faults(given, names)
    if "nodes_featureids" in given:
        features = _integers(given["nodes_featureids"])
        yield from _negative_features(features, np.arange(features.size))
    nodes = _longest(given, "nodes_featureids", "nodes_truenodeids")
    leaves = _longest(given, "leaf_targetids", "leaf_weights")
    if nodes is not None and "tree_roots" in given:
        yield from _outside("tree_roots", _integers(given["tree_roots"]), nodes[1], "node", nodes[0])
    targets = given["n_targets"].i if "n_targets" in given else -1
    # A negative number is reported by another rule.
    if targets >= 0 and "leaf_targetids" in given:
        yield from _outside("leaf_targetids", _integers(given["leaf_targetids"]), int(targets), "target", "n_targets")
    for _, are_leaves in _CHILDREN:
        if are_leaves in given:
            flags = _integers(given[are_leaves])
            wrong = np.flatnonzero((flags != 0) & (flags != 1))
            if wrong.size:
                at = int(wrong[0])
                yield are_leaves, f"is {flags[at]}, but must be 0 or 1", "0 or 1 for each node", None, wrong
    if nodes is not None and leaves is not None:
        yield from _child_faults(given, nodes[1], leaves[1])


def _mode_faults(given: Given) -> Iterator[TreeFault]:
    modes = given.get("nodes_modes")
    if modes is None or modes.t.data_type not in ELEMENT_TYPES:
        return
    if modes.t.data_type != _UINT8:
        yield (
            "nodes_modes",
            f"is a tensor of {ELEMENT_TYPES[modes.t.data_type].name}, but must be a tensor of uint8",
            "a tensor of uint8",
            None,
        )
        return
    numbers = _elements(modes)
    wrong = np.flatnonzero((numbers < 0) | (numbers > _MEMBER))
    if wrong.size:
        yield (
            "nodes_modes",
            f"is {int(numbers[wrong[0]])}, but must be 0 to 6",
            f"0 to {_MEMBER}, for {_MODE_NAMES}",
            None,
            wrong,
        )


def _member_faults(given: Given, names: Set[str]) -> Iterator[TreeFault]:
    """Yield fewer sets of values than there are nodes that test membership. More sets pass, as ONNX Runtime has it."""
    modes = given.get("nodes_modes")
    members = 0 if modes is None else int(np.count_nonzero(_elements(modes) == _MEMBER))
    if not members:
        return
    nodes = f"{counted(members, 'node')} of mode {_MEMBER}, BRANCH_MEMBER"
    if "membership_values" not in names:
        yield (
            "nodes_modes",
            f"has {nodes}, but the node has no 'membership_values'",
            "a set of values for each such node",
            None,
        )
        return
    values = _elements(given["membership_values"]) if "membership_values" in given else np.array([])
    if "membership_values" in given and values.size == length_of(given["membership_values"]):
        ends = np.isnan(values)
        sets = int(np.count_nonzero(ends)) + int(values.size > 0 and not ends[-1])
        if sets < members:
            what = f"has {counted(sets, 'set')} of values, but 'nodes_modes' has {nodes}"
            yield "membership_values", what, "a set of values for each such node, NaN between two sets", "nodes_modes"


_DTYPES: Final = {1: np.float32, 2: np.uint8, 10: np.float16, 11: np.float64}
_FIELDS: Final = {1: "float_data", 2: "int32_data", 11: "double_data"}
"""For element types of tensors in these attributes, by their numbers in TensorProto.DataType, how they are stored."""


def _elements(proto: Proto) -> Array:
    """Return the elements of a tensor; empty if it stores them elsewhere, or has another type."""
    dtype = _DTYPES.get(proto.t.data_type)
    if dtype is None:
        return np.array([])
    raw = raw_data_of(proto)
    if raw:
        whole = len(raw) - len(raw) % np.dtype(dtype).itemsize
        return np.frombuffer(raw[:whole], np.dtype(dtype).newbyteorder("<"))
    field = _FIELDS.get(proto.t.data_type)
    return np.concatenate([np.zeros(0), *(np.asarray(piece, np.float64) for piece in entries_of(proto, field))])


def _longest(given: Given, *names: str) -> tuple[str, int] | None:
    """Return the longest of lists that belong together, and its length. Different lengths have a finding."""
    lengths = [(name, length) for name in names if name in given and (length := length_of(given[name])) is not None]
    return max(lengths, key=lambda each: each[1], default=None)


def _outside(name: str, numbers: Array, count: int, noun: str, other: str | None) -> Iterator[TreeFault]:
    """Yield the first number of a list that is not a position among `count`."""
    wrong = np.flatnonzero((numbers < 0) | (numbers >= min(count, MOST)))
    if wrong.size:
        what = f"names {noun} {numbers[wrong[0]]}, but there {are(count, noun)}"
        yield name, what, _range_of(count, noun), other, wrong


def _range_of(count: int, noun: str) -> str:
    return f"numbers from 0 to {count - 1}" if count else f"no number, as there is no {noun}"


def _child_faults(given: Given, nodes: int, leaves: int) -> Iterator[TreeFault]:
    children: list[Array] = []
    for name, are_leaves in _CHILDREN:
        if name not in given or are_leaves not in given:
            return
        positions, flags = _integers(given[name]), _integers(given[are_leaves])
        if positions.size != flags.size or positions.size != nodes:
            return
        counts = np.where(flags != 0, min(leaves, MOST), min(nodes, MOST))
        wrong = np.flatnonzero((positions < 0) | (positions >= counts))
        if wrong.size:
            noun = "leaf" if flags[wrong[0]] else "node"
            count = int(counts[wrong[0]])
            what = f"names {noun} {positions[wrong[0]]}, but there {are(count, noun)}"
            yield name, what, _range_of(count, noun), are_leaves, wrong
        is_node = (flags == 0) & (positions >= 0) & (positions < min(nodes, MOST))
        children.append(np.where(is_node, positions, _NO_NODE))
    yield from _shared_nodes(nodes, children)
    yield from _circles(nodes, np.arange(nodes), children, lambda at: f"node {at}")


def _shared_nodes(count: int, children: list[Array]) -> Iterator[TreeFault]:
    """Yield a node that is a child twice, which ONNX Runtime refuses in this operator. Leaves may be shared."""
    for name, own in zip(BRANCHES, children, strict=True):
        both = np.concatenate([own, *(each for each in children if each is not own)])
        times = np.bincount(both[both != _NO_NODE], minlength=count)
        twice = np.flatnonzero((own != _NO_NODE) & (times[own] > 1)) if count else own
        if twice.size:
            at = int(twice[0])
            yield name, f"names node {own[at]}, which is a child twice", "each node as a child once", None, twice
            return


# --- circles


def _circles(count: int, parents: Array, children: list[Array], describe: Callable[[int], str]) -> Iterator[TreeFault]:
    """Yield a node that is its own child, or that its descendants lead back to.

    `children`: for each of the parents the position of its child if the comparison is true, and if it is false; or
    `_NO_NODE`.
    """
    for name, own_children in zip(BRANCHES, children, strict=True):
        own = np.flatnonzero(own_children == parents)
        if own.size:
            at = int(parents[own[0]])
            yield name, f"names {describe(at)} as its own child", "a node further down the tree", None, [at]
            return
    at = node_on_circle(count, parents, children)
    if at != _NO_NODE:
        where = np.flatnonzero(parents == at)[0]
        name = BRANCHES[0] if children[0][where] != _NO_NODE else BRANCHES[1]
        yield name, f"leads from {describe(at)} back to it", "nodes further down the tree", None, [at]


def node_on_circle(count: int, parents: Array, children: list[Array]) -> int:
    """Return the position of a node that its descendants lead back to; `_NO_NODE` if there is none."""
    if all(((each > parents) | (each == _NO_NODE)).all() for each in children):
        return _NO_NODE  # as most converters write them
    sources = np.concatenate([parents, parents])
    targets = np.concatenate(children)
    sources, targets = sources[targets != _NO_NODE], targets[targets != _NO_NODE]
    waiting = np.bincount(targets, minlength=count).astype(_position_type(count))
    order = np.argsort(sources, kind="stable").astype(_position_type(count))
    sources, targets = sources[order], targets[order]
    del order
    starts = np.searchsorted(sources, np.arange(count + 1)).astype(_position_type(count))
    # Remove the nodes without incoming edges, level by level. The remaining ones are on a circle or after one.
    level = np.flatnonzero(waiting == 0)
    for _ in range(MAX_LEVELS):
        if not level.size:
            break
        waiting[level] = _NO_NODE
        reached = targets[_ranges(starts[level], starts[level + 1])]
        np.subtract.at(waiting, reached, 1)
        level = _distinct(reached[waiting[reached] == 0])
    else:
        return _NO_NODE
    left = waiting > 0
    if not left.any():
        return _NO_NODE
    # Each node that is left has a parent that is left, so that going up leads onto a circle and stays there.
    up = np.full(count, _NO_NODE)
    is_left = left[sources] & left[targets]
    up[targets[is_left]] = sources[is_left]
    at = int(np.flatnonzero(left)[0])
    for _ in range(int(count).bit_length()):
        up[left] = up[up[left]]
    return int(up[at])


def _ranges(starts: Array, ends: Array) -> Array:
    """Return the numbers of all ranges in their order, as one array."""
    sizes = ends - starts
    offsets = np.repeat(starts - np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
    return offsets + np.arange(int(sizes.sum()))


# --- values of attributes


def _integers(proto: Proto) -> Array:
    """Return the numbers of a list."""
    return numbers_of(proto.ints)


def _are_not(string: bytes, strings: Sequence[bytes]) -> Array:
    """Return for each string of a list whether it is another one."""
    pieces = [np.fromiter(map(string.__ne__, piece), np.bool_, len(piece)) for piece in pieces_of(strings)]
    return np.concatenate([np.zeros(0, np.bool_), *pieces])
