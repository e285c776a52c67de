# SPDX-License-Identifier: Apache-2.0
"""Which attributes, inputs and outputs the operators of ONNX want alone, together, or in place of each other.

Each of them is optional in the signature, which cannot say more than that; these come from the descriptions of the
operators and of their attributes and operands, one row for each such sentence, with where it stands.

Left out are sentences on attributes with a default value (the `default_*` of CategoryMapper and LabelEncoder-1, the
`replaced_value_*` of Imputer): each of these always has a value, so "one and only one is defined" can only be about
which of them is looked at. So are those by which an attribute "is valid only" with a value of another (`nearest_mode`
and `cubic_coeff_a` of Resize): exporters write all of them into each node, and they say nothing there.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Final

from onnx_lint.common.cached import remembered
from onnx_lint.common.record import Record
from onnx_lint.spec.operators.schema import OperatorSchema


class Choice(Enum):
    """How many sides of a combination a node gives."""

    ONE = "one"
    """Exactly one."""
    SOME = "some"
    """At least one."""
    AT_MOST_ONE = "at most one"
    TOGETHER = "together"
    """All or none."""


class Member(Record):
    """An attribute, or an input or output by its index."""

    field: str
    """`attribute`, `input` or `output`, which is also the field of NodeProto."""
    name: str
    """The name of the attribute or of the formal parameter."""
    index: int
    """The index of the input or output; -1 for an attribute."""

    def describe(self) -> str:
        """The member as messages name it."""
        if self.field == "attribute":
            return f"attribute '{self.name}'"
        return f"{self.field} {self.index} ('{self.name}')"


Side = tuple[Member, ...]
"""Members any of which makes the side given; most sides have one."""


class Combination(Record):
    """Members of an operator that are given together, or in place of each other."""

    kind: Choice
    sides: tuple[Side, ...]
    source: str
    """Where the operator's documentation says so."""
    is_enforced: bool = True
    """Whether consumers refuse what breaks it; some sentences all of them pass over."""
    idle_values: tuple[str, ...] = ()
    """Values of a STRING attribute with which it counts as not given."""


_Row = tuple[str, str, int, Choice, str, str]
"""Domain, operators, first version, kind, the sides, and where the sentence stands.

A side is an attribute, `in:` or `out:` and the name of an operand, or some of these with plus signs between them. An
asterisk at the end of an attribute stands for any ending: each such attribute is a side.
"""

_CLASS_LABELS: Final = "LinearClassifier SVMClassifier TreeEnsembleClassifier ZipMap"
_TREE_CLASSIFIER: Final = "TreeEnsembleClassifier"
_TREE_REGRESSOR: Final = "TreeEnsembleRegressor"
_TREES: Final = f"{_TREE_CLASSIFIER} {_TREE_REGRESSOR}"

_ROWS: Final[tuple[_Row, ...]] = (
    ("", "Attention", 23, Choice.TOGETHER, "in:past_key in:past_value", "the operator's description"),
    ("", "Attention", 23, Choice.TOGETHER, "out:present_key out:present_value", "the operator's description"),
    ("", "Attention", 24, Choice.AT_MOST_ONE,
     "in:nonpad_kv_seqlen in:past_key+in:past_value+out:present_key+out:present_value", "input 'nonpad_kv_seqlen'"),
    ("", "Conv ConvInteger ConvTranspose QLinearConv", 1, Choice.AT_MOST_ONE, "auto_pad pads", "attribute 'pads'"),
    ("", "Constant", 11, Choice.ONE, "value sparse_value value_*", "the operator's description"),
    ("", "Optional", 15, Choice.SOME, "type in:input", "the operator's description"),
    ("", "Resize", 11, Choice.AT_MOST_ONE, "in:scales in:sizes", "input 'sizes'"),
    ("", "Resize", 13, Choice.SOME, "in:scales in:sizes", "input 'scales'"),
    ("", "Split", 18, Choice.ONE, "num_outputs in:split", "the operator's description"),
    ("", "TfIdfVectorizer", 9, Choice.ONE, "pool_int64s pool_strings", "attributes 'pool_int64s' and 'pool_strings'"),
    ("ai.onnx.ml", "CategoryMapper", 1, Choice.TOGETHER, "cats_int64s cats_strings", "the operator's description"),
    ("ai.onnx.ml", "DictVectorizer", 1, Choice.ONE, "int64_vocabulary string_vocabulary", "its attributes"),
    ("ai.onnx.ml", "Imputer", 1, Choice.ONE, "imputed_value_*", "the operator's description"),
    ("ai.onnx.ml", "LabelEncoder", 2, Choice.ONE, "keys_*", "the operator's description"),
    ("ai.onnx.ml", "LabelEncoder", 2, Choice.ONE, "values_*", "the operator's description"),
    ("ai.onnx.ml", _CLASS_LABELS, 1, Choice.ONE, "classlabels_*", "attributes 'classlabels_*'"),
    ("ai.onnx.ml", "OneHotEncoder", 1, Choice.ONE, "cats_*", "attributes 'cats_*'"),
    ("ai.onnx.ml", "SVMClassifier", 1, Choice.TOGETHER, "prob_a prob_b", "attribute 'prob_b'"),
    *[("ai.onnx.ml", operators, 3, Choice.AT_MOST_ONE, f"{name} {name}_as_tensor", "the operator's description")
      for name, operators in (("base_values", _TREES), ("nodes_hitrates", _TREES), ("nodes_values", _TREES),
                              ("class_weights", _TREE_CLASSIFIER), ("target_weights", _TREE_REGRESSOR))],
)  # fmt: skip

_UNENFORCED: Final[tuple[_Row, ...]] = (
    ("", "AveragePool LpPool MaxPool", 1, Choice.AT_MOST_ONE, "auto_pad pads", "attribute 'pads'"),
    *[("ai.onnx.ml", "LabelEncoder", 4, Choice.AT_MOST_ONE, f"{values} {defaults}", "the operator's description")
      for values, defaults in (("values_int64s", "default_float+default_string"),
                               ("values_floats", "default_int64+default_string"),
                               ("values_strings", "default_float+default_int64"))],
)  # fmt: skip
"""What the text forbids and consumers take: with `auto_pad` they do not look at the `pads` of a pool, nor at a default
of another type than the values of LabelEncoder."""

_IDLE: Final[Mapping[str, tuple[str, ...]]] = {"auto_pad": ("NOTSET", "")}
"""Values of attributes by which they say the same as without them."""


_Rows = tuple[tuple[_Row, bool], ...]


@cache
def _rows_of_operators() -> Mapping[tuple[str, str], _Rows]:
    """For each operator its rows, and whether consumers enforce them."""
    found: dict[tuple[str, str], _Rows] = {}
    for rows, is_enforced in ((_ROWS, True), (_UNENFORCED, False)):
        for row in rows:
            for name in row[1].split():
                found[row[0], name] = (*found.get((row[0], name), ()), (row, is_enforced))
    return found


def combinations(schema: OperatorSchema) -> tuple[Combination, ...]:
    """What the operator wants alone, together, or in place of each other."""
    rows = _rows_of_operators().get((schema.domain, schema.name))
    if rows is None:
        return ()
    inputs, outputs = (tuple([each.name for each in side]) for side in (schema.inputs, schema.outputs))
    return _combinations((rows, schema.since_version, tuple(schema.attributes), inputs, outputs))


_Names = tuple[str, ...]


@remembered(1_000)
def _combinations(operator: tuple[_Rows, int, _Names, _Names, _Names]) -> tuple[Combination, ...]:
    """The combinations of an operator: its rows, version, and the names of its attributes, inputs and outputs."""
    rows, version, attributes, inputs, outputs = operator
    names = {"in": inputs, "out": outputs, "": attributes}
    return tuple(_combination(names, row, is_enforced=enforced) for row, enforced in rows if version >= row[2])


def _combination(names: Mapping[str, _Names], row: _Row, *, is_enforced: bool) -> Combination:
    _, _, _, kind, words, source = row
    sides: list[Side] = []
    for word in words.split():
        if word.endswith("*"):
            sides += [(Member("attribute", name, -1),) for name in names[""] if name.startswith(word[:-1])]
        else:
            sides.append(tuple(_member(names, name) for name in word.split("+")))
    # An asterisk may find again what stands before it. Attributes come in the order of the signature.
    if all(side[0].field == "attribute" for side in sides):
        sides.sort(key=lambda side: names[""].index(side[0].name))
    idle = tuple(value for name in words.split() for value in _IDLE.get(name, ()))
    return Combination(kind, tuple(dict.fromkeys(sides)), source, is_enforced, idle)


def _member(names: Mapping[str, _Names], word: str) -> Member:
    field, _, name = word.rpartition(":")
    return Member(f"{field}put", name, names[field].index(name)) if field else Member("attribute", name, -1)
