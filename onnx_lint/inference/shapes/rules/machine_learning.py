# SPDX-License-Identifier: Apache-2.0
"""Classical machine learning: features, and the models that classify them or regress from them.

The descriptions have features in rows, [N, F]. A single row may be of rank 1, which ONNX Runtime takes for [1, F] in
all models but trees.
"""

from __future__ import annotations

from onnx_lint.inference.shapes.dims import Dim, Shape, product, total
from onnx_lint.inference.shapes.operands import UNKNOWN, Operands, Outputs
from onnx_lint.inference.shapes.registration import shapes_of

_ML = "ai.onnx.ml::"


def _named(*names: str) -> list[str]:
    return [_ML + name for name in names]


# --- features


@shapes_of(*_named("Binarizer", "CategoryMapper", "LabelEncoder"))
def as_first(node: Operands) -> Outputs:
    """The shape of the input."""
    return [node.shape(0)]


@shapes_of(*_named("Imputer", "Scaler"))
def by_feature(node: Operands) -> Outputs:
    """The shape of the input.

    The lists in attributes have one element, or one for each feature. That is not held against the last dimension: of
    these lists ONNX Runtime looks at some only, and takes the second dimension for the features of any rank.
    """
    return [node.shape(0)]


@shapes_of(*_named("Normalizer"))
def normalizer(node: Operands) -> Outputs:
    """One row, or several."""
    return [node.shape(0, at_least=1, at_most=2)]


@shapes_of(*_named("ArrayFeatureExtractor"))
def feature_extractor(node: Operands) -> Outputs:
    """As many elements along the last axis as there are indices; of rank 1 it becomes a row."""
    data = node.shape(0, at_least=1)
    indices = node.fact(1).shape
    if data is None:
        return UNKNOWN
    count: Dim = product(indices) if indices is not None else None
    return [(1, count) if len(data) == 1 else (*data[:-1], count)]


@shapes_of(*_named("OneHotEncoder"))
def one_hot(node: Operands) -> Outputs:
    """One more dimension, of the categories."""
    data = node.shape(0)
    return UNKNOWN if data is None else [(*data, _count(node, "cats_int64s", "cats_strings"))]


@shapes_of(*_named("FeatureVectorizer"))
def vectorizer(node: Operands) -> Outputs:
    """The columns of all inputs one behind the other, of which one of rank 1 is a row."""
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
            widths.append(shape[1] if len(shape) == _MATRIX else None)
            rows = node.same((index, 0), rows, node.place(by, 0) if by is not None else None)
            by = index if by is None else by
    stated = node.integers("inputdimensions")
    width = total(widths)
    if stated:
        # ONNX Runtime goes by the attribute alone, and fills up or cuts off.
        width = sum(stated) if width is None or width == sum(stated) else None
    return [(rows, width)]


_MATRIX = 2


# --- models


@shapes_of(*_named("LinearRegressor"))
def linear_regressor(node: Operands) -> Outputs:
    """A result for each target."""
    return [_results(node.shape(0), _targets(node, "targets"))]


@shapes_of(*_named("SVMRegressor"))
def support_vector_regressor(node: Operands) -> Outputs:
    """One result."""
    return [_results(node.shape(0), 1)]


@shapes_of(*_named("TreeEnsemble", "TreeEnsembleRegressor"))
def trees(node: Operands) -> Outputs:
    """A result for each target."""
    return [_results(node.shape(0, _MATRIX), _targets(node, "n_targets"))]


@shapes_of(*_named("LinearClassifier"))
def linear_classifier(node: Operands) -> Outputs:
    """The class of each row, and a score for each class.

    Nothing is written of the rank; onnx and ONNX Runtime refuse another one when they load a model.
    """
    data = node.shape(0, at_least=1, at_most=_MATRIX)
    return _classes(data, _count(node, "classlabels_ints", "classlabels_strings"))


@shapes_of(*_named("SVMClassifier"))
def support_vector_classifier(node: Operands) -> Outputs:
    """The class of each row, and a score for each class."""
    count = _count(node, "classlabels_ints", "classlabels_strings")
    # Another number of vectors than of labels has a finding of its own.
    return _classes(node.shape(0), count if node.length("vectors_per_class") in (None, 0, count) else None)


@shapes_of(*_named("TreeEnsembleClassifier"))
def tree_classifier(node: Operands) -> Outputs:
    """The class of each row, and a score for each class."""
    return _classes(node.shape(0, _MATRIX), _count(node, "classlabels_int64s", "classlabels_strings"))


def _results(data: Shape, count: Dim) -> Shape:
    return (_rows(data), count)


def _classes(data: Shape, count: Dim) -> Outputs:
    rows = _rows(data)
    return [(rows,), (rows, count)]


def _rows(data: Shape) -> Dim:
    """How many rows there are; of a rank that no description tells of nobody knows."""
    if data is None or not 1 <= len(data) <= _MATRIX:
        return None
    return data[0] if len(data) == _MATRIX else 1


def _targets(node: Operands, name: str) -> Dim:
    number = node.integer(name)
    if number is None or number >= 0:
        return number
    node.wrong_value(name, number, "at least 0")
    return None


def _count(node: Operands, *names: str) -> Dim:
    """The length of the one of several lists that is there; exporters write the other one without elements."""
    lengths = [found for found in map(node.length, names) if found]
    return lengths[0] if len(lengths) == 1 else None
