# SPDX-License-Identifier: Apache-2.0
"""What is wrong with the attributes of TreeEnsemble and LabelEncoder: positions in other lists, types of tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from onnx_lint.schema import Proto
from onnx_lint.spec.element_types import ELEMENT_TYPES

Fault = tuple[str, str, str, str | None]
"""The attribute, what it holds, what it may hold, and the attribute that it contradicts."""

_UINT8: Final = 2

_CHILDREN: Final = (("nodes_truenodeids", "nodes_trueleafs"), ("nodes_falsenodeids", "nodes_falseleafs"))
"""The positions of the children, and which of these are leaves."""


def tree_faults(given: Mapping[str, Proto]) -> Iterator[Fault]:
    """The positions of TreeEnsemble that lead to no node, leaf or target, and modes that are no bytes.

    Of `nodes_truenodeids` the text says twice what holds "if nodes_trueleafs is false"; where that is true, a leaf
    is meant, as the name says and the test cases of ONNX have it.
    """
    modes = given.get("nodes_modes")
    if modes is not None and modes.t.data_type in ELEMENT_TYPES and modes.t.data_type != _UINT8:
        name = ELEMENT_TYPES[modes.t.data_type].name
        yield "nodes_modes", f"is a tensor of {name}", "a tensor of uint8", None
    nodes = _longest(given, "nodes_featureids", "nodes_truenodeids")
    leaves = _longest(given, "leaf_targetids", "leaf_weights")
    if nodes is not None:
        yield from _outside(given, "tree_roots", nodes, "node", "nodes_featureids")
    targets = given["n_targets"].i if "n_targets" in given else -1
    # A negative number has a finding of its own.
    if targets >= 0:
        yield from _outside(given, "leaf_targetids", targets, "target", "n_targets")
    for positions, are_leaves in _CHILDREN:
        if are_leaves in given:
            wrong = next((flag for flag in given[are_leaves].ints if flag not in (0, 1)), None)
            if wrong is not None:
                yield are_leaves, f"holds {wrong}", "0 or 1 for each node", None
        if nodes is not None and leaves is not None and are_leaves in given and positions in given:
            yield from _lost_children(given, positions, are_leaves, nodes, leaves)


def _longest(given: Mapping[str, Proto], *names: str) -> int | None:
    """How many there are of what lists tell; that these are not equally long has a finding of its own."""
    lengths = [max(0, len(given[name].ints), *given[name].t.dims[:1]) for name in names if name in given]
    return max(lengths, default=None)


def _outside(given: Mapping[str, Proto], name: str, count: int, what: str, other: str) -> Iterator[Fault]:
    """The first number of a list that is no position among so many."""
    numbers = given[name].ints if name in given else ()
    wrong = next((number for number in numbers if not 0 <= number < count), None)
    if wrong is not None:
        yield name, f"names {what} {wrong}, there are {count:,}", f"numbers from 0 to {count - 1}", other


def _lost_children(
    given: Mapping[str, Proto], positions: str, are_leaves: str, nodes: int, leaves: int
) -> Iterator[Fault]:
    for child, flag in zip(given[positions].ints, given[are_leaves].ints, strict=False):
        count, what = (leaves, "leaf") if flag else (nodes, "node")
        if not 0 <= child < count:
            yield positions, f"names {what} {child}, there are {count:,}", f"numbers from 0 to {count - 1}", are_leaves
            return


_VALUES: Final = {"values_int64s": "int64", "values_floats": "float", "values_strings": "string"}


def encoder_faults(given: Mapping[str, Proto]) -> Iterator[Fault]:
    """A default tensor of LabelEncoder that is of another type than the values."""
    default = given.get("default_tensor")
    if default is None or default.t.data_type not in ELEMENT_TYPES:
        return
    kinds = {name: kind for name, kind in _VALUES.items() if name in given}
    if "values_tensor" in given and given["values_tensor"].t.data_type in ELEMENT_TYPES:
        kinds["values_tensor"] = ELEMENT_TYPES[given["values_tensor"].t.data_type].name
    own = ELEMENT_TYPES[default.t.data_type].name
    # Two lists of values have a finding of their own.
    for name, kind in kinds.items() if len(kinds) == 1 else ():
        if kind != own:
            yield "default_tensor", f"is a tensor of {own}, '{name}' holds {kind}", f"a tensor of {kind}", name
