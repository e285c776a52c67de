# SPDX-License-Identifier: Apache-2.0
"""The constraints of ONNX operators on the numbers and lists in their attributes, independent of the operands.

Source: the descriptions of the operators and attributes, one row for each sentence. Sets of allowed values are in
`attribute_values`; constraints that depend on shapes are not here. Those of com.microsoft are in
`onnx_lint.spec.operators.records`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeVar

from onnx_lint.common.cached import remembered
from onnx_lint.common.record import Record
from onnx_lint.spec.operators.attribute_values import RUNTIME_DOMAIN
from onnx_lint.spec.operators.schema import LATEST

_WINDOWS: Final = "AveragePool Conv ConvInteger ConvTranspose DeformConv LpPool MaxPool MaxUnpool QLinearConv"
_TREES: Final = "TreeEnsembleClassifier TreeEnsembleRegressor"

_OperatorVersions = tuple[str, str, int, int]
"""Domain, names, first and last version of the operators that a row is about."""

_MINIMA: Final[tuple[tuple[_OperatorVersions, Mapping[str, int]], ...]] = (
    (("", _WINDOWS, 1, LATEST), {"pads": 0}),
    (("", "Attention", 23, LATEST), {"kv_num_heads": 1, "q_num_heads": 1}),
    (("", "Attention", 25, LATEST), {"left_window_size": -1, "right_window_size": -1}),
    (("", "Col2Im", 18, LATEST), {"pads": 0}),
    (("", "DepthToSpace SpaceToDepth", 1, LATEST), {"blocksize": 1}),
    (("", "DequantizeLinear QuantizeLinear", 21, LATEST), {"block_size": 0}),
    (("", "Flatten", 1, 9), {"axis": 0}),
    (("", "GRU LSTM", 1, LATEST), {"clip": 0}),
    (("", "GroupNormalization", 18, LATEST), {"num_groups": 1}),
    (("", "LRN", 1, LATEST), {"size": 1}),
    (("", "RotaryEmbedding", 23, LATEST), {"num_heads": 0}),
    (("", "MaxRoiPool", 1, LATEST), {"pooled_shape": 1}),
    (("", "Multinomial", 7, LATEST), {"sample_size": 0}),
    (("", "RandomNormal RandomUniform", 1, LATEST), {"shape": 0}),
    (("", "RoiAlign", 10, LATEST), {"output_height": 1, "output_width": 1, "sampling_ratio": 0}),
    (("", "Scan", 8, LATEST), {"num_scan_inputs": 1}),
    (("", "Split", 11, 11), {"split": 0}),
    (("", "Squeeze Unsqueeze", 1, 1), {"axes": 0}),
    (("", "TfIdfVectorizer", 9, LATEST),
     {"max_gram_length": 1, "min_gram_length": 1, "max_skip_count": 0, "ngram_counts": 0}),
    (("", "TopK", 1, 1), {"k": 1}),
    (("", "Upsample", 1, 1), {"height_scale": 1, "width_scale": 1}),
    (("", "Upsample", 7, 7), {"scales": 1}),
)  # fmt: skip
"""The least number that attributes may hold."""

_DISTINCT: Final[tuple[tuple[_OperatorVersions, str], ...]] = (
    (("", "CenterCropPad Resize", 18, LATEST), "axes"),
    (("", "Unsqueeze", 1, 11), "axes"),
)
"""Lists without duplicates."""

_LENGTHS: Final[tuple[tuple[_OperatorVersions, str], ...]] = (
    (("", _WINDOWS, 1, LATEST), "kernel_shape strides dilations output_padding 2*pads"),
    (("", "Col2Im", 18, LATEST), "strides dilations 2*pads"),
    (("", "TfIdfVectorizer", 9, LATEST), "ngram_indexes weights"),
    (("ai.onnx.ml", "CategoryMapper", 1, LATEST), "cats_int64s cats_strings"),
    (("ai.onnx.ml", "LabelEncoder", 2, LATEST),
     "keys_strings keys_int64s keys_floats keys_tensor values_strings values_int64s values_floats values_tensor"),
    (("ai.onnx.ml", "SVMClassifier", 1, LATEST), "prob_a prob_b"),
    (("ai.onnx.ml", "Scaler", 1, LATEST), "offset scale"),
    (("ai.onnx.ml", _TREES, 1, LATEST),
     "nodes_nodeids nodes_treeids nodes_featureids nodes_modes nodes_values nodes_values_as_tensor nodes_truenodeids "
     "nodes_falsenodeids nodes_hitrates nodes_hitrates_as_tensor nodes_missing_value_tracks_true"),
    (("ai.onnx.ml", "TreeEnsembleClassifier", 1, LATEST),
     "class_ids class_nodeids class_treeids class_weights class_weights_as_tensor"),
    (("ai.onnx.ml", "TreeEnsembleRegressor", 1, LATEST),
     "target_ids target_nodeids target_treeids target_weights target_weights_as_tensor"),
    (("ai.onnx.ml", "TreeEnsemble", 5, LATEST),
     "nodes_featureids nodes_modes nodes_splits nodes_truenodeids nodes_trueleafs nodes_falsenodeids nodes_falseleafs "
     "nodes_hitrates nodes_missing_value_tracks_true"),
    (("ai.onnx.ml", "TreeEnsemble", 5, LATEST), "leaf_targetids leaf_weights"),
)  # fmt: skip
"""Lists of equal length; `2*` marks one that is twice as long.
A list that is left out or empty is not compared. Of lists that exclude each other, such as `values_int64s` and
`values_floats`, each must have that length.
"""

_SIZES: Final[tuple[tuple[_OperatorVersions, Mapping[str, int]], ...]] = (
    (("", "ConstantOfShape", 9, LATEST), {"value": 1}),
    (("", "MaxRoiPool", 1, LATEST), {"pooled_shape": 2}),
    (("ai.onnx.ml", "SVMClassifier SVMRegressor", 1, LATEST), {"kernel_params": 3}),
)
"""The number of elements of attributes."""

_WITH_EMPTY: Final = frozenset({("ai.onnx.ml", "LabelEncoder"), ("ai.onnx.ml", "TreeEnsemble")})
"""Operators for which an empty list is compared with the others: onnx and ONNX Runtime reject it."""

_NEEDING_ELEMENTS: Final[tuple[tuple[_OperatorVersions, str], ...]] = (
    (("", "TfIdfVectorizer", 9, LATEST), "pool_int64s pool_strings"),
    (("ai.onnx.ml", "Imputer", 1, LATEST), "imputed_value_floats imputed_value_int64s"),
    (("ai.onnx.ml", "LabelEncoder", 4, LATEST), "keys_strings keys_int64s keys_floats keys_tensor"),
    (("ai.onnx.ml", "LabelEncoder", 4, LATEST), "values_strings values_int64s values_floats values_tensor"),
    (("ai.onnx.ml", "LinearClassifier", 1, LATEST), "coefficients"),
    (("ai.onnx.ml", "LinearClassifier SVMClassifier", 1, LATEST), "classlabels_ints classlabels_strings"),
    (("ai.onnx.ml", "OneHotEncoder", 1, LATEST), "cats_int64s cats_strings"),
    (("ai.onnx.ml", "TreeEnsembleClassifier ZipMap", 1, LATEST), "classlabels_int64s classlabels_strings"),
)
"""Groups of lists. One list of each must have elements.

For these operators an empty list counts as left out: ONNX Runtime rejects the model. It runs a LabelEncoder of version
2 and a CategoryMapper without keys, a Constant without elements, and loads a DictVectorizer without a vocabulary.
"""

ACTIVATIONS: Final = {"RNN": 1, "GRU": 2, "LSTM": 3}
"""The number of activation functions of a recurrent operator for each direction."""


RANDOM: Final = ("Dropout", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
"""Operators that draw from a distribution whose parameters are attributes."""

NONDETERMINISTIC: Final = frozenset({*RANDOM, "Bernoulli", "Multinomial"})
"""Operators that may compute something else in each run."""

WITH_MORE: Final = frozenset(
    {
        ("", "Einsum"),
        ("", "RegexFullMatch"),
        ("", "TfIdfVectorizer"),
        ("", "Transpose"),
        ("ai.onnx.ml", "LabelEncoder"),
        ("ai.onnx.ml", "LinearClassifier"),
        ("ai.onnx.ml", "LinearRegressor"),
        ("ai.onnx.ml", "TreeEnsemble"),
        ("ai.onnx.ml", "TreeEnsembleClassifier"),
        ("ai.onnx.ml", "TreeEnsembleRegressor"),
        *[("", name) for name in (*ACTIVATIONS, *RANDOM)],
    }
)
"""Operators with constraints that are in no table."""


class AttributeConstraints(Record):
    """The constraints of an operator on the numbers and lists in its attributes."""

    minima: dict[str, int]
    """The least number that an attribute may hold, also as an element of a list."""
    distinct: frozenset[str]
    """Lists without duplicates."""
    lengths: tuple[tuple[tuple[str, int], ...], ...]
    """Groups of lists, each with the factor of its length to that of the others."""
    sizes: dict[str, int]
    """The number of elements of a list or tensor."""
    compares_empty: bool
    """True if an empty list must also be as long as the others."""
    needing_elements: tuple[tuple[str, ...], ...]
    """Groups of lists. One list of each group must have elements."""


@remembered(2_000)
def attribute_constraints(operator: tuple[str, str, int]) -> AttributeConstraints | None:
    """Return the constraints of an operator, given by domain, name and version, on its attributes; None if none."""
    domain, name, _ = operator
    return _recorded(name) if domain == RUNTIME_DOMAIN else _listed(operator)


def _listed(operator: tuple[str, str, int]) -> AttributeConstraints | None:
    """Return the constraints in the tables of this module."""
    domain, name, _ = operator
    found = AttributeConstraints(
        _joined(_about(operator, _MINIMA)),
        frozenset(each for names in _about(operator, _DISTINCT) for each in names.split()),
        tuple([tuple(_factors(names)) for names in _about(operator, _LENGTHS)]),
        _joined(_about(operator, _SIZES)),
        (domain, name) in _WITH_EMPTY,
        tuple([tuple(names.split()) for names in _about(operator, _NEEDING_ELEMENTS)]),
    )
    has_more = (domain, name) in WITH_MORE or found.needing_elements
    return found if found.minima or found.distinct or found.lengths or found.sizes or has_more else None


_Value = TypeVar("_Value")


def _about(operator: tuple[str, str, int], table: Iterable[tuple[_OperatorVersions, _Value]]) -> Iterator[_Value]:
    """Yield what the rows of a table say of an operator, given by domain, name and version."""
    domain, name, version = operator
    for (row_domain, names, first, last), value in table:
        if row_domain == domain and first <= version <= last and name in names.split():
            yield value


def _joined(rows: Iterable[Mapping[str, int]]) -> dict[str, int]:
    return {name: number for row in rows for name, number in row.items()}


def _recorded(name: str) -> AttributeConstraints | None:
    """Return the constraints in the record of an operator of com.microsoft."""
    from onnx_lint.spec.operators.records import record_of

    record = record_of(name)
    if record is None or not (record.minima or record.lengths or record.lists or record.patterns):
        return None
    lengths = (tuple(_factors(record.lengths)),) if record.lengths else ()
    return AttributeConstraints(dict(record.minima), frozenset(), lengths, dict(record.lists), False, ())


def _factors(words: str) -> Iterator[tuple[str, int]]:
    for word in words.split():
        factor, _, name = word.rpartition("*")
        yield name, int(factor or 1)
