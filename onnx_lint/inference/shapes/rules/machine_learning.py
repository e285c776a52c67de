# SPDX-License-Identifier: Apache-2.0
"""Classical machine learning: features, and the models that classify them or regress from them.

The descriptions have features in rows, [N, F]. A single row may be of rank 1, which ONNX Runtime treats as [1, F] in
all models but trees. The lists in attributes must match F. ONNX Runtime 1.32 rejects others when it runs the node,
except for those marked here.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import zip_longest
from typing import Final

from onnx_lint.inference.shapes.dims import Dim, Shape, multiply, product, total
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.problem import (
    Element,
    InputDimension,
    Unequal,
    Warned,
    WrongCount,
    WrongRank,
    WrongValue,
)
from onnx_lint.inference.shapes.registration import register_rule
from onnx_lint.wording import counted

_register_rule = partial(register_rule, domain="ai.onnx.ml")


# --- features


@_register_rule("Binarizer", "CategoryMapper", "LabelEncoder")
def as_first(node: Operands) -> Outputs:
    """Return the shape of the input."""
    return [node.shape(0)]


@_register_rule("Imputer")
def imputer(node: Operands) -> Outputs:
    """Return the shape of the input [*, F]. Record values that are neither one nor one for each feature.

    For another number of values, ONNX Runtime uses the first one for all features.
    """
    shape = node.shape(0)
    features = shape[-1] if shape else None
    for name in ("imputed_value_floats", "imputed_value_int64s"):
        _check_by_feature(node, name, features)
    values = node.integers("imputed_value_int64s") or ()
    too_wide = [each for each in enumerate(values) if not -_INT32 <= each[1] < _INT32]
    if too_wide and node.fact(0).kind == "tensor(int32)":
        place, value = too_wide[0]
        reason, allowed = "the input has elements of int32", f"{-_INT32} to {_INT32 - 1}"
        node.wrong_value("imputed_value_int64s", value, reason, index=place, allowed=allowed)
        node.also_wrong("imputed_value_int64s", too_wide[1:])
    _check_replaced_value(node)
    return [shape]


def _check_replaced_value(node: Operands) -> None:
    """Note a value to replace that no element of the input can have, or that is given for inputs of another type.

    The defaults count as omitted, because exporters write them out.
    """
    kind = node.fact(0).kind
    names = ("replaced_value_int64", "replaced_value_float")
    own, other = names if kind in _INTEGERS else names[::-1]
    if kind not in _INTEGERS and kind not in _FLOATS:
        return
    value, number = node.number(other), node.integer("replaced_value_int64", 0)
    reason = f"the input has elements of {(kind or '')[len('tensor(') : -1]}"
    if value and not node.has(own):
        node.warnings.append(Warned(WrongValue(Element(other, node.argument(other), None), reason, f"'{own}' instead")))
    elif kind == "tensor(int32)" and not -_INT32 <= number < _INT32:
        allowed = f"{-_INT32} to {_INT32 - 1}"
        node.warnings.append(Warned(WrongValue(Element(own, number, None), reason, allowed)))


_INT32: Final = 2**31
_INTEGERS: Final = ("tensor(int32)", "tensor(int64)")
_FLOATS: Final = ("tensor(float)", "tensor(double)")


@_register_rule("Scaler")
def scaler(node: Operands) -> Outputs:
    """Return the shape of the input. Record offsets or scales that are neither one nor one for each feature of [N, F].

    For more dimensions the text does not define features; ONNX Runtime uses the second dimension.
    """
    shape = node.shape(0)
    features = shape[-1] if shape and len(shape) <= _MATRIX else None
    # Both must have one length; a difference is another finding.
    _check_by_feature(node, "scale" if node.length("scale") else "offset", features)
    return [shape]


def _check_by_feature(node: Operands, name: str, features: Dim) -> None:
    """Record a list with neither one element nor one for each feature; an empty one counts as omitted."""
    count = node.length(name)
    if count and isinstance(features, int) and count not in (1, features):
        node.problems.append(WrongCount(name, count, features, 0, or_one=True))


@_register_rule("ZipMap")
def zip_map(node: Operands) -> Outputs:
    """Return no shape, as the output is a sequence of maps. Record keys that are not one for each column.

    The rank is not documented; onnx and ONNX Runtime reject any other when they load a model.
    """
    shape = node.shape(0, at_least=1, at_most=_MATRIX)
    keys = _labels(node, "classlabels_int64s", "classlabels_strings")
    if shape is not None and isinstance(shape[-1], int) and keys is not None:
        node.has_count(keys, node.length(keys) or 0, shape[-1], 0)
    return UNKNOWN


@_register_rule("Normalizer")
def normalizer(node: Operands) -> Outputs:
    """Return the shape of the input, which is one row or several."""
    return [node.shape(0, at_least=1, at_most=2)]


@_register_rule("ArrayFeatureExtractor", reads=(1,))
def feature_extractor(node: Operands) -> Outputs:
    """Infer one element along the last axis for each index, counted from 0. An input of rank 1 becomes a row."""
    data = node.shape(0, at_least=1)
    indices = node.fact(1).shape
    if data is None:
        return UNKNOWN
    size = data[-1]
    constants = [(place, index) for place, index in enumerate(node.content(1) or ()) if isinstance(index, int)]
    wrong = [each for each in constants if each[1] < 0 or (isinstance(size, int) and each[1] >= size)]
    if wrong:
        place, index = wrong[0]
        allowed = f"0 to {size - 1}" if isinstance(size, int) else "at least 0"
        if not size:
            allowed = "no index"
        reason = "indices count from 0" if index < 0 else f"there are {size} elements along the axis"
        node.wrong_value(1, index, reason, index=place, allowed=allowed, about_data=index >= 0)
        node.also_wrong(1, wrong[1:])
    count: Dim = product(indices) if indices is not None else None
    return [(1, count) if len(data) == 1 else (*data[:-1], count)]


@_register_rule("OneHotEncoder")
def one_hot(node: Operands) -> Outputs:
    """Infer one more dimension, of the categories."""
    data = node.shape(0)
    return UNKNOWN if data is None else [(*data, _count(node, "cats_int64s", "cats_strings"))]


@_register_rule("FeatureVectorizer")
def vectorizer(node: Operands) -> Outputs:
    """Infer the concatenated columns of all inputs. An input of rank 1 is a row."""
    rows: Dim = None
    by: int | None = None
    widths: list[Dim] = []
    for index in range(node.count):
        shape = node.shape(index, at_least=1)
        if shape is None:
            widths.append(None)
        elif len(shape) == 1:
            widths.append(shape[0])
            rows = 1 if rows is None else rows
        else:
            if len(shape) > _MATRIX:
                node.warnings.append(Warned(WrongRank(index, len(shape), 1, _MATRIX)))
            widths.append(shape[1] if len(shape) == _MATRIX else None)
            rows = node.same((index, 0), rows, node.place(by, 0) if by is not None else None)
            by = index if by is None else by
    stated = node.integers("inputdimensions")
    if not stated:
        return [(rows, total(widths))]
    if node.at_least(0, stated, "inputdimensions") and node.has_count("inputdimensions", len(stated), node.count):
        _check_columns(node, widths, stated)
    return [(rows, sum(stated))]


def _check_columns(node: Operands, widths: Iterable[Dim], stated: Iterable[int]) -> None:
    """Record inputs with another number of columns than the attribute says. ONNX Runtime pads or truncates them."""
    for index, (width, size) in enumerate(zip(widths, stated, strict=True)):
        if isinstance(width, int) and width != size:
            axis = len(node.fact(index).shape or ()) - 1
            source = Element("inputdimensions", size, index)
            node.problems.append(Unequal(InputDimension(index, axis, width), size, source))


_MATRIX = 2


# --- models


@_register_rule("LinearRegressor")
def linear_regressor(node: Operands) -> Outputs:
    """Infer a result for each target, with a coefficient for each feature. ONNX Runtime ignores further ones."""
    data, targets = node.shape(0), node.integer("targets") if node.is_positive("targets") else None
    _check_numbers(node, "coefficients", multiply(targets, _features(data)))
    return [(_rows(data), targets)]


@_register_rule("SVMRegressor")
def support_vector_regressor(node: Operands) -> Outputs:
    """Infer one result for each row."""
    data = node.shape(0)
    stated = node.integer("n_supports", 0)
    if stated < 0:
        node.too_small("n_supports", stated, 0)
    elif stated:
        _check_vectors(node, "n_supports", stated, _features(data), coefficients=stated)
    else:
        _check_numbers(node, "coefficients", _features(data))
    return [(_rows(data), 1)]


@_register_rule("TreeEnsemble", "TreeEnsembleRegressor")
def trees(node: Operands) -> Outputs:
    """Infer a result for each target."""
    data = node.shape(0, _MATRIX)
    _check_tested_features(node, _features(data))
    return [(_rows(data), node.integer("n_targets") if node.is_positive("n_targets") else None)]


@_register_rule("LinearClassifier")
def linear_classifier(node: Operands) -> Outputs:
    """Infer the class of each row, and a score for each class.

    The rank is not documented; onnx and ONNX Runtime reject any other when they load a model.
    """
    data = node.shape(0, at_least=1, at_most=_MATRIX)
    # One model is enough for two classes. Further coefficients are not documented.
    _check_numbers(node, "coefficients", multiply(node.length("intercepts") or None, _features(data)), or_more=True)
    return _classes(data, _count(node, "classlabels_ints", "classlabels_strings"))


_CLASSES_LIKE_PAIRS: Final = 3
"""As many pairs as classes; ONNX Runtime returns two scores for two classes as well."""


@_register_rule("SVMClassifier")
def support_vector_classifier(node: Operands) -> Outputs:
    """Infer the class of each row, and a score for each class.

    ONNX Runtime returns one for each pair of classes if support vectors decide and `prob_a` is not there, which
    converters of scikit-learn rely on: with more than three classes these are other numbers.
    """
    data, count = node.shape(0), _count(node, "classlabels_ints", "classlabels_strings")
    vectors = node.integers("vectors_per_class") or ()
    if not node.at_least(0, vectors, "vectors_per_class"):
        return UNKNOWN
    if any(vectors):
        _check_classes(node, len(vectors))
        # A vector has a coefficient for each pair of its class with another one.
        _check_vectors(
            node, "vectors_per_class", sum(vectors), _features(data), sum(vectors) * max(len(vectors) - 1, 1)
        )
    else:
        _check_numbers(node, "coefficients", multiply(count, _features(data)))
    # A difference between the numbers of vectors and labels is another finding.
    is_by_class = not any(vectors) or len(vectors) <= _CLASSES_LIKE_PAIRS or node.length("prob_a")
    return _classes(data, count if len(vectors) in (0, count) and is_by_class else None)


@_register_rule("TreeEnsembleClassifier")
def tree_classifier(node: Operands) -> Outputs:
    """Infer the class of each row, and a score for each class."""
    data = node.shape(0, _MATRIX)
    _check_tested_features(node, _features(data))
    return _classes(data, _count(node, "classlabels_int64s", "classlabels_strings"))


def _check_numbers(node: Operands, name: str, expected: Dim, *, or_more: bool = False) -> None:
    """Record a list without the number of elements that the features require; an empty list is not compared."""
    count = node.length(name)
    if count and isinstance(expected, int) and count != expected and not (or_more and count > expected):
        node.problems.append(WrongCount(name, count, expected, 0, or_more=or_more))


def _check_vectors(node: Operands, source: str, vectors: int, features: Dim, coefficients: int) -> None:
    """Record support vectors with other features than the input, and a wrong number of coefficients.

    `source`: the attribute that states the number of vectors.
    """
    count = node.length("support_vectors")
    if count is not None and (count % vectors or not count):
        node.problems.append(WrongCount("support_vectors", count, vectors, source, or_multiple=True))
    else:
        _check_numbers(node, "support_vectors", multiply(features, vectors))
    count = node.length("coefficients")
    if count is not None:
        node.has_count("coefficients", count, coefficients, source)


def _check_classes(node: Operands, classes: int) -> None:
    """Record lists that do not have an element for each class, or for each pair of them; empty lists are not compared.

    ONNX Runtime accepts more numbers for the pairs.
    """
    for name in ("classlabels_ints", "classlabels_strings"):
        if count := node.length(name):
            node.has_count(name, count, classes, "vectors_per_class")
    pairs = classes * (classes - 1) // 2
    for name in ("rho", "prob_a"):
        if 0 < (node.length(name) or 0) < pairs:
            problem = WrongCount(name, node.length(name) or 0, pairs, "vectors_per_class", or_more=True)
            node.problems.append(problem)


def _check_tested_features(node: Operands, features: Dim) -> None:
    """Record a tree node that tests a feature beyond the last; the value for a leaf is not read."""
    ids = node.integers("nodes_featureids")
    if not isinstance(features, int) or not ids or max(ids) < features:
        return
    modes = node.argument("nodes_modes")
    leaves = [mode == "LEAF" for mode in modes] if isinstance(modes, tuple) else []
    pairs = enumerate(zip_longest(ids, leaves[: len(ids)], fillvalue=False))
    wrong = [(place, feature) for place, (feature, is_leaf) in pairs if feature >= features and not is_leaf]
    if wrong:
        place, feature = wrong[0]
        allowed = f"0 to {features - 1}" if features else "no feature"
        reason = f"there {'is' if features == 1 else 'are'} {counted(features, 'feature')}"
        node.wrong_value("nodes_featureids", feature, reason, index=place, allowed=allowed, about_data=True)
        node.also_wrong("nodes_featureids", wrong[1:])


def _features(data: Shape) -> Dim:
    """Return how many features each row has; None for a rank that no description defines."""
    return data[-1] if data is not None and 1 <= len(data) <= _MATRIX else None


def _classes(data: Shape, count: Dim) -> Outputs:
    rows = _rows(data)
    return [(rows,), (rows, count)]


def _rows(data: Shape) -> Dim:
    """Return the number of rows; None for a rank that no description defines."""
    if data is None or not 1 <= len(data) <= _MATRIX:
        return None
    return data[0] if len(data) == _MATRIX else 1


def _count(node: Operands, *names: str) -> Dim:
    """Return the length of the list that is given, of several."""
    name = _labels(node, *names)
    return node.length(name) if name is not None else None


def _labels(node: Operands, *names: str) -> str | None:
    """Return the name of the list that is given, of several; exporters write the other one without elements."""
    found = [name for name in names if node.length(name)]
    return found[0] if len(found) == 1 else None
