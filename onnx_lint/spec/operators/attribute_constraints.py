# SPDX-License-Identifier: Apache-2.0
"""The constraints of ONNX operators on the numbers and lists in their attributes, independent of the operands.

Source: the descriptions of the operators and attributes, one row for each sentence. Sets of allowed values are in
`attribute_values`; constraints that depend on shapes are not here. Those of com.microsoft are in
`onnx_lint.spec.operators.records`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Final

from onnx_lint.common.cached import remembered
from onnx_lint.common.record import Record
from onnx_lint.spec.operators.attribute_values import ANY, RUNTIME_DOMAIN

_WINDOWS: Final = "AveragePool Conv ConvInteger ConvTranspose DeformConv LpPool MaxPool MaxUnpool QLinearConv"
_TREES: Final = "TreeEnsembleClassifier TreeEnsembleRegressor"

_Minimum = tuple[str, str, str, int, int, int]
"""Domain, operators, attributes, first and last version, and the least number that each attribute may hold."""

_MINIMA: Final[tuple[_Minimum, ...]] = (
    ("", _WINDOWS, "pads", 1, ANY, 0),
    ("", "Attention", "kv_num_heads q_num_heads", 23, ANY, 1),
    ("", "Attention", "left_window_size right_window_size", 25, ANY, -1),
    ("", "Col2Im", "pads", 18, ANY, 0),
    ("", "DepthToSpace SpaceToDepth", "blocksize", 1, ANY, 1),
    ("", "DequantizeLinear QuantizeLinear", "block_size", 21, ANY, 0),
    ("", "Flatten", "axis", 1, 9, 0),
    ("", "GRU LSTM", "clip", 1, ANY, 0),
    ("", "GroupNormalization", "num_groups", 18, ANY, 1),
    ("", "LRN", "size", 1, ANY, 1),
    ("", "RotaryEmbedding", "num_heads", 23, ANY, 0),
    ("", "MaxRoiPool", "pooled_shape", 1, ANY, 1),
    ("", "Multinomial", "sample_size", 7, ANY, 0),
    ("", "RandomNormal RandomUniform", "shape", 1, ANY, 0),
    ("", "RoiAlign", "output_height output_width", 10, ANY, 1),
    ("", "RoiAlign", "sampling_ratio", 10, ANY, 0),
    ("", "Scan", "num_scan_inputs", 8, ANY, 1),
    ("", "Split", "split", 11, 11, 0),
    ("", "Squeeze Unsqueeze", "axes", 1, 1, 0),
    ("", "TfIdfVectorizer", "max_gram_length min_gram_length", 9, ANY, 1),
    ("", "TfIdfVectorizer", "max_skip_count ngram_counts", 9, ANY, 0),
    ("", "TopK", "k", 1, 1, 1),
    ("", "Upsample", "height_scale width_scale", 1, 1, 1),
    ("", "Upsample", "scales", 7, 7, 1),
)

_DISTINCT: Final[tuple[tuple[str, str, str, int, int], ...]] = (
    ("", "CenterCropPad Resize", "axes", 18, ANY),
    ("", "Unsqueeze", "axes", 1, 11),
)
"""Domain, operators, attributes, first and last version of lists without duplicates."""

_LENGTHS: Final[tuple[tuple[str, str, int, str], ...]] = (
    ("", _WINDOWS, 1, "kernel_shape strides dilations output_padding 2*pads"),
    ("", "Col2Im", 18, "strides dilations 2*pads"),
    ("", "TfIdfVectorizer", 9, "ngram_indexes weights"),
    ("ai.onnx.ml", "CategoryMapper", 1, "cats_int64s cats_strings"),
    ("ai.onnx.ml", "LabelEncoder", 2,
     "keys_strings keys_int64s keys_floats keys_tensor values_strings values_int64s values_floats values_tensor"),
    ("ai.onnx.ml", "SVMClassifier", 1, "prob_a prob_b"),
    ("ai.onnx.ml", "Scaler", 1, "offset scale"),
    ("ai.onnx.ml", _TREES, 1,
     "nodes_nodeids nodes_treeids nodes_featureids nodes_modes nodes_values nodes_values_as_tensor nodes_truenodeids "
     "nodes_falsenodeids nodes_hitrates nodes_hitrates_as_tensor nodes_missing_value_tracks_true"),
    ("ai.onnx.ml", "TreeEnsembleClassifier", 1,
     "class_ids class_nodeids class_treeids class_weights class_weights_as_tensor"),
    ("ai.onnx.ml", "TreeEnsembleRegressor", 1,
     "target_ids target_nodeids target_treeids target_weights target_weights_as_tensor"),
    ("ai.onnx.ml", "TreeEnsemble", 5,
     "nodes_featureids nodes_modes nodes_splits nodes_truenodeids nodes_trueleafs nodes_falsenodeids nodes_falseleafs "
     "nodes_hitrates nodes_missing_value_tracks_true"),
    ("ai.onnx.ml", "TreeEnsemble", 5, "leaf_targetids leaf_weights"),
)  # fmt: skip
"""Domain, operators, first version, and lists of equal length; `2*` marks one that is twice as long.
A list that is left out or empty is not compared. Of lists that exclude each other, such as `values_int64s` and
`values_floats`, each must have that length.
"""

_SIZES: Final[tuple[tuple[str, str, str, int, int], ...]] = (
    ("", "ConstantOfShape", "value", 9, 1),
    ("", "MaxRoiPool", "pooled_shape", 1, 2),
    ("ai.onnx.ml", "SVMClassifier", "kernel_params", 1, 3),
    ("ai.onnx.ml", "SVMRegressor", "kernel_params", 1, 3),
)
"""Domain, operator, attribute, first version, and the number of its elements."""

_WITH_EMPTY: Final = frozenset({("ai.onnx.ml", "LabelEncoder"), ("ai.onnx.ml", "TreeEnsemble")})
"""Operators for which an empty list is compared with the others: onnx and ONNX Runtime reject it."""

_NEEDING_ELEMENTS: Final[tuple[tuple[str, str, int, str], ...]] = (
    ("", "TfIdfVectorizer", 9, "pool_int64s pool_strings"),
    ("ai.onnx.ml", "Imputer", 1, "imputed_value_floats imputed_value_int64s"),
    ("ai.onnx.ml", "LabelEncoder", 4, "keys_strings keys_int64s keys_floats keys_tensor"),
    ("ai.onnx.ml", "LabelEncoder", 4, "values_strings values_int64s values_floats values_tensor"),
    ("ai.onnx.ml", "LinearClassifier", 1, "coefficients"),
    ("ai.onnx.ml", "LinearClassifier SVMClassifier", 1, "classlabels_ints classlabels_strings"),
    ("ai.onnx.ml", "OneHotEncoder", 1, "cats_int64s cats_strings"),
    ("ai.onnx.ml", "TreeEnsembleClassifier ZipMap", 1, "classlabels_int64s classlabels_strings"),
)
"""Domain, operators, first version, and lists; one of the lists must have elements.
For these operators an empty list counts as left out: ONNX Runtime rejects the model. It runs a LabelEncoder of version
2 and a CategoryMapper without keys, a Constant without elements, and loads a DictVectorizer without a vocabulary.
"""

ACTIVATIONS: Final = {"RNN": 1, "GRU": 2, "LSTM": 3}
"""The number of activation functions of a recurrent operator for each direction."""


RANDOM: Final = ("Dropout", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike")
"""Operators that draw from a distribution whose parameters are attributes."""

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
    domain, name, version = operator
    return _recorded(name) if domain == RUNTIME_DOMAIN else _listed(domain, name, version)


def _listed(domain: str, name: str, version: int) -> AttributeConstraints | None:
    """Return the constraints in the tables of this module."""
    covers = partial(_covers, domain, name, version)
    found = AttributeConstraints(
        {each: row[5] for row in _MINIMA if covers(*row[:2], *row[3:5]) for each in row[2].split()},
        frozenset(each for row in _DISTINCT if covers(*row[:2], *row[3:]) for each in row[2].split()),
        tuple(tuple(_factors(row[3])) for row in _LENGTHS if covers(*row[:3], ANY)),
        {row[2]: row[4] for row in _SIZES if covers(*row[:2], row[3], ANY)},
        (domain, name) in _WITH_EMPTY,
        tuple(tuple(row[3].split()) for row in _NEEDING_ELEMENTS if covers(*row[:3], ANY)),
    )
    has_more = (domain, name) in WITH_MORE or found.needing_elements
    return found if found.minima or found.distinct or found.lengths or found.sizes or has_more else None


def _covers(domain: str, name: str, version: int, row_domain: str, operators: str, first: int, last: int) -> bool:
    """Return whether a row, given by its domain, operators and versions, is about an operator."""
    return row_domain == domain and name in operators.split() and first <= version <= last


def _recorded(name: str) -> AttributeConstraints | None:
    """Return the constraints in the record of an operator of com.microsoft."""
    from onnx_lint.spec.operators.records import record_of

    record = record_of(name)
    if record is None or not (record.minima or record.lengths or record.lists):
        return None
    lengths = (tuple(_factors(record.lengths)),) if record.lengths else ()
    return AttributeConstraints(dict(record.minima), frozenset(), lengths, dict(record.lists), False, ())


def _factors(words: str) -> Iterator[tuple[str, int]]:
    for word in words.split():
        factor, _, name = word.rpartition("*")
        yield name, int(factor or 1)
