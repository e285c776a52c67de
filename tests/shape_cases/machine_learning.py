# SPDX-License-Identifier: Apache-2.0
"""Cases of classical machine learning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx.defs
from onnx import numpy_helper

from shape_cases.case import Case, Operand, case
from shape_cases.comparison import Explained

_STUMP: dict[str, Any] = {
    "nodes_treeids": (0, 0, 0),
    "nodes_nodeids": (0, 1, 2),
    "nodes_featureids": (0, 0, 0),
    "nodes_modes": ("BRANCH_LEQ", "LEAF", "LEAF"),
    "nodes_values": (0.5, 0.0, 0.0),
    "nodes_truenodeids": (1, 0, 0),
    "nodes_falsenodeids": (2, 0, 0),
}

_ENSEMBLE: dict[str, Any] = {
    "tree_roots": (0,),
    "nodes_featureids": (0,),
    "nodes_modes": numpy_helper.from_array(np.zeros(1, np.uint8)),
    "nodes_splits": numpy_helper.from_array(np.ones(1, np.float32)),
    "nodes_truenodeids": (0,),
    "nodes_trueleafs": (1,),
    "nodes_falsenodeids": (1,),
    "nodes_falseleafs": (1,),
    "leaf_targetids": (0, 1),
    "leaf_weights": numpy_helper.from_array(np.ones(2, np.float32)),
}


def cases(schema: onnx.defs.OpSchema) -> Iterator[Case]:
    version = schema.since_version
    match schema.name:
        case "Binarizer" | "Imputer" | "Scaler":
            yield case((2, "N", None))
            yield case((3,))
        case "CategoryMapper" | "LabelEncoder" if version == 1:
            yield case((2, "N"))
            yield case(())
        case "LabelEncoder":
            yield case(Operand((2, "N"), kind="tensor(string)"), keys_strings=("a",), values_int64s=(1,))
            yield case(Operand((), kind="tensor(int64)"), keys_int64s=(1,), values_floats=(1.0,))
        case "Normalizer":
            yield case((2, "N"), norm="L2")
            yield case(("N",))
        case "ArrayFeatureExtractor":
            yield case((2, 5), (3,))
            yield case(("N", "M", 5), (1, 3))
            yield case((5,), ("K",))
        case "OneHotEncoder":
            yield case(("N",), cats_int64s=(1, 2, 3))
            yield case((), cats_strings=("a", "b"))
        case "FeatureVectorizer":
            yield case(("N", 3), ("N", 4), inputdimensions=(3, 4))
            yield case((3,), (4,))
            yield case((2, 3))
        case "LinearRegressor":
            yield case(("N", 3), coefficients=(1.0, 2.0, 3.0))
            yield case((2, 3), coefficients=(1.0, 2.0, 3.0, 4.0, 5.0, 6.0), targets=2)
        case "SVMRegressor":
            yield case(("N", 3), coefficients=(1.0,), support_vectors=(1.0, 2.0, 3.0), n_supports=1)
        case "TreeEnsembleRegressor":
            yield case(("N", 3), n_targets=2, **_STUMP)
        case "TreeEnsemble":
            yield case(("N", 3), n_targets=2, **_ENSEMBLE)
        case "TreeEnsembleClassifier":
            yield case(("N", 3), classlabels_int64s=(1, 2, 3), outputs=2, **_STUMP)
            yield case(("N", 3), classlabels_strings=("a", "b"), outputs=2)
        case "ZipMap":
            yield case((2, 3), classlabels_int64s=(1, 2, 3))
            yield case(("N",), classlabels_strings=("a", "b"))
        case "LinearClassifier":
            yield case(("N", 3), classlabels_ints=(1, 2, 3), coefficients=(1.0,) * 9, outputs=2)
            yield case((2, 3), classlabels_strings=("a", "b"), coefficients=(1.0,) * 3, outputs=2)
            yield case((2, 3), classlabels_ints=(1, 2), classlabels_strings=(), coefficients=(1.0,) * 3, outputs=2)
            yield case((3,), classlabels_ints=(1, 2), coefficients=(1.0,) * 6, outputs=2)
        case "SVMClassifier":
            yield case(("N", 3), classlabels_ints=(1, 2, 3), vectors_per_class=(1, 1, 1), outputs=2)
            yield case((2, 3), classlabels_strings=("a", "b"), vectors_per_class=(1, 1), outputs=2)
            yield case((2, 3), classlabels_ints=(1, 2), rho=(0.1,), outputs=2)


_NOT_COMPARED = "lists that go with the features; onnx does not compare them"
_BY_OTHERS = "that attributes exclude or need each other, or go in step, is for other rules"

EXPLAINED = (
    Explained("LinearRegressor SVMRegressor", r"onnx-lint: WrongCount\(source='(coef|support)", _NOT_COMPARED),
    Explained("ZipMap SVMClassifier", r"onnx-lint: WrongCount\(source='classlabels_", _NOT_COMPARED),
    Explained(
        "SVMClassifier SVMRegressor",
        r"onnx-lint: WrongValue\(place=Element\(source='(vectors_per_class|n_supports)'",
        "no number of vectors is negative; onnx does not look",
    ),
    Explained("FeatureVectorizer", r"onnx-lint: (WrongCount|WrongValue)\(.*'inputdimensions'", _NOT_COMPARED),
    Explained(
        "TreeEnsemble TreeEnsembleClassifier TreeEnsembleRegressor",
        r"onnx-lint: WrongValue\(place=Element\(source='nodes_featureids'",
        _NOT_COMPARED,
    ),
    Explained(
        "ArrayFeatureExtractor",
        r"output 0: onnx \(.*[13]\), onnx-lint \(.*None\)",
        "onnx takes an unknown number for 1",
    ),
    Explained(
        "ArrayFeatureExtractor",
        r"onnx-lint: WrongRank\(operand=0, rank=0,",
        "there is no last axis; onnx does not look",
    ),
    Explained(
        "FeatureVectorizer", r"onnx-lint: WrongRank\(operand=[01], rank=0,", "of 1 or 2 dimensions by the description"
    ),
    Explained(
        "LinearClassifier",
        r"output 1: onnx \(.*, 0\), onnx-lint \(.*, ([1-4]|None)\)$",
        "onnx never finds any labels",
    ),
    Explained("FeatureVectorizer", r"onnx-lint: Unequal", "joined along the second dimension; onnx does not look"),
    Explained("Normalizer", r"onnx-lint: WrongRank\(operand=0, rank=[03],", "[N, C] or [C]; onnx does not look"),
    Explained(
        "TreeEnsembleClassifier-1 TreeEnsembleRegressor-1",
        r"onnx-lint: WrongRank\(operand=0, rank=[13], least=2, greatest=2",
        "[N, F] by the description; onnx looks from version 3 on",
    ),
    Explained(
        "LinearRegressor TreeEnsemble TreeEnsembleRegressor",
        r"onnx-lint: WrongValue\(place=Element\(source='(n_)?targets', value=(-\d|0), index=None, "
        r"others=\(\)\), reason='', allowed='at least 1',",
        "one or more targets; onnx does not look",
    ),
    Explained("CategoryMapper", "onnx: .*Attribute 'cats_int64s' is required", _BY_OTHERS),
    Explained("LabelEncoder", "onnx: .*(Only|At least) one of (keys|values)_", _BY_OTHERS),
    Explained(
        "LabelEncoder-4", "onnx: .*The number of keys [12] and the number of values [12] must be the same", _BY_OTHERS
    ),
    Explained("OneHotEncoder", "onnx: .*Exactly one of 'cats_", _BY_OTHERS),
    Explained("TreeEnsembleClassifier-3", "onnx: .*Non of classlabels_", _BY_OTHERS),
    Explained("TreeEnsemble", r"onnx: .*Attribute 'nodes_\w+' must have (1 elements|type INT64)", _BY_OTHERS),
    Explained("TreeEnsemble", "onnx: .*'leaf_targetids' must have same length as attribute 'leaf_weights'", _BY_OTHERS),
)
