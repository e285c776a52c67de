# SPDX-License-Identifier: Apache-2.0
"""Optional attributes, inputs and outputs that operators require together, or instead of each other.

The signature cannot express this. The rows come from the descriptions of the operators and of their attributes and
operands, one for each sentence, with its source. Those of com.microsoft are in `onnx_lint.spec.operators.records`.

Attributes with a default value (the `default_*` of CategoryMapper, the `replaced_value_*` of Imputer) always have a
value, so of "one and only one is defined" a row has only that a node does not give both. Sentences such as "is valid
only" with a value of another attribute are left out
(`nearest_mode` and `cubic_coeff_a` of Resize): exporters write all of them into each node, where they have no effect.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Final

from onnx_lint.common.cached import remembered
from onnx_lint.common.record import Record, replace
from onnx_lint.spec.operators.schema import OperatorSchema


class Choice(Enum):
    """The number of sides of a combination that a node must have."""

    ONE = "one"
    """Exactly one."""
    SOME = "some"
    """At least one."""
    AT_MOST_ONE = "at most one"
    TOGETHER = "together"
    """All or none."""
    NEEDS = "needs"
    """The first only with the second."""


class Member(Record):
    """An attribute, or an input or output by its index."""

    field: str
    """`attribute`, `input` or `output`, which is also the field of NodeProto."""
    name: str
    """The name of the attribute or of the formal parameter."""
    index: int
    """The index of the input or output; -1 for an attribute."""

    def describe(self) -> str:
        """Return the member for messages."""
        if self.field == "attribute":
            return f"attribute '{self.name}'"
        return f"{self.field} {self.index} ('{self.name}')"


Side = tuple[Member, ...]
"""The members of a side. The side is given if any of them is. Most sides have one."""


class Combination(Record):
    """Members of an operator that are required together, or instead of each other."""

    kind: Choice
    sides: tuple[Side, ...]
    source: str
    """The place in the operator's documentation."""
    is_enforced: bool = True
    """True if a consumer rejects a violation. There are sentences that all consumers ignore."""
    idle_values: tuple[str, ...] = ()
    """Values of a STRING attribute with which it counts as not given."""
    defaults: tuple[tuple[str, str], ...] = ()
    """The defaults of attributes, as texts, if no consumer enforces the sentence: such a value counts as not given."""
    empty_lists: bool = False
    """True if an empty list is a value beside another member."""


_CombinationRow = tuple[str, str, int, Choice, str, str]
"""Domain, operators, first version, kind, the sides, and the source of the sentence.
A side is an attribute, `in:` or `out:` with the name of an operand, or several of these joined by plus signs. An
asterisk at the end of an attribute matches any ending: each matching attribute is a side.
"""

_CLASS_LABELS: Final = "LinearClassifier SVMClassifier TreeEnsembleClassifier ZipMap"
_TREE_CLASSIFIER: Final = "TreeEnsembleClassifier"
_TREE_REGRESSOR: Final = "TreeEnsembleRegressor"
_TREES: Final = f"{_TREE_CLASSIFIER} {_TREE_REGRESSOR}"

_TREE_NODES: Final = (
    "nodes_treeids nodes_nodeids nodes_featureids nodes_modes nodes_values+nodes_values_as_tensor nodes_truenodeids "
    "nodes_falsenodeids"
)
_TREE_VOTES: Final = "class_treeids class_nodeids class_ids class_weights+class_weights_as_tensor"

_ROWS: Final[tuple[_CombinationRow, ...]] = (
    ("", "Attention", 23, Choice.TOGETHER, "in:past_key in:past_value", "the operator's description"),
    ("", "Attention", 23, Choice.TOGETHER, "out:present_key out:present_value", "the operator's description"),
    ("", "Attention", 24, Choice.AT_MOST_ONE,
     "in:nonpad_kv_seqlen in:past_key+in:past_value+out:present_key+out:present_value", "input 'nonpad_kv_seqlen'"),
    ("", "AveragePool Conv ConvInteger ConvTranspose LpPool MaxPool QLinearConv", 1, Choice.AT_MOST_ONE,
     "auto_pad pads", "attribute 'pads'"),
    ("", "Constant", 11, Choice.ONE, "value sparse_value value_*", "the operator's description"),
    ("", "Optional", 15, Choice.SOME, "type in:input", "the operator's description"),
    ("", "Resize", 11, Choice.AT_MOST_ONE, "in:scales in:sizes", "input 'sizes'"),
    ("", "Resize", 13, Choice.SOME, "in:scales in:sizes", "input 'scales'"),
    ("", "Split", 18, Choice.ONE, "num_outputs in:split", "the operator's description"),
    ("", "TfIdfVectorizer", 9, Choice.ONE, "pool_int64s pool_strings", "attributes 'pool_int64s' and 'pool_strings'"),
    ("ai.onnx.ml", "CategoryMapper", 1, Choice.SOME, "cats_int64s cats_strings", "the operator's description"),
    ("ai.onnx.ml", "CategoryMapper", 1, Choice.TOGETHER, "cats_int64s cats_strings", "the operator's description"),
    ("ai.onnx.ml", "DictVectorizer", 1, Choice.ONE, "int64_vocabulary string_vocabulary", "its attributes"),
    ("ai.onnx.ml", "CategoryMapper", 1, Choice.AT_MOST_ONE, "default_int64 default_string", "its attributes"),
    ("ai.onnx.ml", "Imputer", 1, Choice.ONE, "imputed_value_*", "the operator's description"),
    ("ai.onnx.ml", "Imputer", 1, Choice.AT_MOST_ONE, "replaced_value_float replaced_value_int64",
     "the operator's description"),
    ("ai.onnx.ml", "LabelEncoder", 2, Choice.ONE, "keys_*", "the operator's description"),
    ("ai.onnx.ml", "LabelEncoder", 2, Choice.ONE, "values_*", "the operator's description"),
    ("ai.onnx.ml", _CLASS_LABELS, 1, Choice.ONE, "classlabels_*", "attributes 'classlabels_*'"),
    ("ai.onnx.ml", "LinearRegressor", 1, Choice.SOME, "coefficients", "the operator's description"),
    ("ai.onnx.ml", "OneHotEncoder", 1, Choice.ONE, "cats_*", "attributes 'cats_*'"),
    ("ai.onnx.ml", "Scaler", 1, Choice.TOGETHER, "offset scale", "attribute 'scale'"),
    ("ai.onnx.ml", "SVMClassifier", 1, Choice.TOGETHER, "prob_a prob_b", "attribute 'prob_b'"),
    *[("ai.onnx.ml", operators, 1, Choice.TOGETHER, lists, "the operator's description")
      for operators, lists in ((_TREES, _TREE_NODES), (_TREE_CLASSIFIER, _TREE_VOTES),
                               (_TREE_REGRESSOR, _TREE_VOTES.replace("class_", "target_")))],
    *[("ai.onnx.ml", operators, 3, Choice.AT_MOST_ONE, f"{name} {name}_as_tensor", "the operator's description")
      for name, operators in (("base_values", _TREES), ("nodes_hitrates", _TREES), ("nodes_values", _TREES),
                              ("class_weights", _TREE_CLASSIFIER), ("target_weights", _TREE_REGRESSOR))],
)  # fmt: skip

_UNENFORCED: Final[tuple[_CombinationRow, ...]] = (
    *[("ai.onnx.ml", "LabelEncoder", 4, Choice.AT_MOST_ONE, f"{values} {defaults}", "the operator's description")
      for values, defaults in (("values_int64s", "default_float+default_string"),
                               ("values_floats", "default_int64+default_string"),
                               ("values_strings", "default_float+default_int64"))],
)  # fmt: skip
"""Combinations that only the text forbids: consumers ignore a default of another type than the values of LabelEncoder.
"""

_IDLE: Final[Mapping[str, tuple[str, ...]]] = {"auto_pad": ("NOTSET", "")}
"""Values of attributes that mean the same as leaving the attribute out."""

_EMPTY_LISTS: Final = frozenset(
    {
        ("", "Constant"),
        ("", "TfIdfVectorizer"),
        ("ai.onnx.ml", "LabelEncoder"),
        ("ai.onnx.ml", "OneHotEncoder"),
        ("ai.onnx.ml", "SVMClassifier"),
    }
)
"""Operators for which an empty list is a value beside another member of a choice.
ONNX does not say whether it is one. For Constant it is: `value_ints` without elements is a tensor of shape [0].
For the others consumers decide (onnx 1.23, ONNX Runtime 1.32): for ZipMap, LinearClassifier, TreeEnsembleClassifier,
Imputer and DictVectorizer they run models with an empty list beside one with elements, as exporters write them.
"""


_Rows = tuple[tuple[_CombinationRow, bool, bool], ...]
"""Rows, whether consumers enforce each, and whether empty lists are values."""


@cache
def _rows_of_operators() -> Mapping[tuple[str, str], _Rows]:
    """Return the rows of each operator."""
    found: dict[tuple[str, str], _Rows] = {}
    for rows, is_enforced in ((_ROWS, True), (_UNENFORCED, False)):
        for row in rows:
            for name in row[1].split():
                empty_lists = row[3] is Choice.ONE and (row[0], name) in _EMPTY_LISTS
                found[row[0], name] = (*found.get((row[0], name), ()), (row, is_enforced, empty_lists))
    return found


def combinations(schema: OperatorSchema) -> tuple[Combination, ...]:
    """Return the members that the operator requires together, or instead of each other."""
    if schema.domain == "com.microsoft":
        rows = _recorded(schema.name)
    else:
        rows = _rows_of_operators().get((schema.domain, schema.name))
    if rows is None:
        return ()
    inputs, outputs = (tuple([each.name for each in side]) for side in (schema.inputs, schema.outputs))
    defaults = tuple(
        [
            (name, str(attribute.default))
            for name, attribute in schema.attributes.items()
            if isinstance(attribute.default, int | float | str)
        ]
    )
    return _combinations((rows, schema.since_version, tuple(schema.attributes), inputs, outputs, defaults))


@remembered(1_000)
def _recorded(operator: str) -> _Rows | None:
    """Return the rows in the record of an operator."""
    from onnx_lint.spec.operators.records import record_of

    record, found = record_of(operator), []
    for text in record.combinations if record is not None else ():
        kind, _, sides = text.removeprefix("ADVISED ").partition(" ")
        is_enforced = not text.startswith("ADVISED")
        source = "ONNX Runtime" if is_enforced else "the operator's description"
        found.append((("com.microsoft", operator, 1, Choice[kind], sides, source), is_enforced, False))
    return tuple(found) or None


def is_gapless(schema: OperatorSchema) -> bool:
    """Return whether ONNX Runtime fails in each run without one of the values of a variadic input."""
    if schema.domain != "com.microsoft":
        return False
    from onnx_lint.spec.operators.records import record_of

    record = record_of(schema.name)
    return record is not None and record.gapless


_Names = tuple[str, ...]

_Defaults = tuple[tuple[str, str], ...]


@remembered(1_000)
def _combinations(operator: tuple[_Rows, int, _Names, _Names, _Names, _Defaults]) -> tuple[Combination, ...]:
    """Return the combinations of an operator.

    They follow from its rows, version, the names of attributes, inputs and outputs, and the defaults of attributes.
    """
    rows, version, attributes, inputs, outputs, defaults = operator
    names = {"in": inputs, "out": outputs, "": attributes}
    return tuple(
        replace(
            _combination(names, row),
            is_enforced=is_enforced,
            empty_lists=empty_lists,
            defaults=defaults,
        )
        for row, is_enforced, empty_lists in rows
        if version >= row[2]
    )


def _combination(names: Mapping[str, _Names], row: _CombinationRow) -> Combination:
    _, _, _, kind, words, source = row
    sides: list[Side] = []
    for word in words.split():
        if word.endswith("*"):
            sides += [(Member("attribute", name, -1),) for name in names[""] if name.startswith(word[:-1])]
        else:
            # An attribute may have been introduced by a later version.
            known = [name for name in word.split("+") if ":" in name or name in names[""]]
            sides.append(tuple(_member(names, name) for name in known))
    # An asterisk may match a name that another word names. Attributes come in the order of the signature.
    if all(side[0].field == "attribute" for side in sides):
        sides.sort(key=lambda side: names[""].index(side[0].name))
    idle = tuple(value for name in words.split() for value in _IDLE.get(name, ()))
    return Combination(kind, tuple(dict.fromkeys(sides)), source, idle_values=idle)


def _member(names: Mapping[str, _Names], word: str) -> Member:
    field, _, name = word.rpartition(":")
    return Member(f"{field}put", name, names[field].index(name)) if field else Member("attribute", name, -1)
