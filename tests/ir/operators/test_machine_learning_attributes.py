# SPDX-License-Identifier: Apache-2.0
"""The attributes of LabelEncoder, LinearClassifier and TfIdfVectorizer, by themselves."""

from __future__ import annotations

import pytest
from support.project.each_case import each_case

from onnx_lint import schema
from onnx_lint.ir.operators.machine_learning_attributes import (
    encoder_faults,
    linear_classifier_faults,
    n_gram_faults,
)


def _attributes(**values):
    message = schema.message("AttributeProto")
    return {name: message(name=name, **{_field(value): value}) for name, value in values.items()}


def _field(value) -> str:
    if isinstance(value, int):
        return "i"
    return "floats" if value and isinstance(value[0], float) else "ints"


def _tensor(element_type: int, *dims: int):
    return schema.message("AttributeProto")(t=schema.message("TensorProto")(data_type=element_type, dims=dims))


@pytest.mark.parametrize(
    ("values", "element_type", "faults"),
    [
        ("values_int64s", 7, []),
        ("values_int64s", 1, [("default_tensor", "is a tensor of float, but 'values_int64s' holds int64")]),
        ("values_floats", 11, [("default_tensor", "is a tensor of double, but 'values_floats' holds float")]),
        ("values_strings", 8, []),
        ("values_strings", 99, []),
    ],
)
def test_the_default_tensor_of_an_encoder_is_of_the_type_of_its_values(values, element_type, faults):
    given = _attributes(**{values: []}) | {"default_tensor": _tensor(element_type, 1)}
    assert [fault[:2] for fault in encoder_faults(given)] == faults


def test_two_lists_of_values_say_nothing_of_the_default():
    given = _attributes(values_int64s=[], values_floats=[]) | {"default_tensor": _tensor(8, 1)}
    assert list(encoder_faults(given)) == []


@pytest.mark.parametrize(
    ("coefficients", "labels", "intercepts", "faulty"),
    [
        (9, 3, 3, []),
        (9, 3, 0, []),
        (3, 2, 1, []),
        (12, 3, 3, []),
        (0, 3, 3, []),
        (3, 1, 1, ["classlabels_ints"]),
        (9, 2, 3, ["classlabels_ints"]),
        (9, 4, 3, ["classlabels_ints"]),
        (8, 3, 3, ["coefficients"]),
        (8, 4, 3, ["classlabels_ints", "coefficients"]),
    ],
)
def test_labels_and_coefficients_of_a_linear_classifier_go_with_its_intercepts(
    coefficients, labels, intercepts, faulty
):
    given = _attributes(coefficients=[1.0] * coefficients, classlabels_ints=[1] * labels, intercepts=[1.0] * intercepts)
    assert [fault[0] for fault in linear_classifier_faults(given)] == faulty


@each_case(
    ("numbers", "faulty"),
    [
        ({}, []),
        ({"ngram_counts": [0, 0], "ngram_indexes": [0, 1]}, []),
        ({"ngram_counts": [0, 4], "ngram_indexes": [0, 1, 2, 3]}, []),
        ({"ngram_counts": []}, []),
        ({"min_gram_length": 2}, []),
        ({"min_gram_length": 3}, ["min_gram_length"]),
        ({"max_gram_length": 3}, ["max_gram_length"]),
        ({"ngram_counts": [0, 5]}, ["ngram_counts"]),
        ({"ngram_counts": [2, 0]}, ["ngram_counts"]),
        ({"ngram_counts": [0, 1]}, ["ngram_counts"]),
        ({"ngram_indexes": [0, 1]}, ["ngram_indexes"]),
        ({"ngram_indexes": [0, 1, 2, 3]}, ["ngram_indexes"]),
    ],
)
def test_n_grams_lie_in_their_pool(numbers, faulty):
    usual = {"min_gram_length": 1, "max_gram_length": 2, "ngram_counts": [0, 2], "ngram_indexes": [0, 1, 2]}
    given = _attributes(**usual | numbers, pool_int64s=[1, 2, 3, 4])
    assert [fault[0] for fault in n_gram_faults(given)] == faulty
