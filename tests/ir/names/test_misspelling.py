# SPDX-License-Identifier: Apache-2.0
"""Which names are misspellings of others, and which are siblings."""

from __future__ import annotations

import pytest

from onnx_lint.ir.names.misspelling import KnownNames, is_misspelt

MISSPELT = [
    ("hiden", "hidden"),
    ("hidddden", "hiddden"),
    ("wieght", "weight"),
    ("weigth", "weight"),
    ("weightt", "weight"),
    ("weigh", "weight"),
    ("wexght", "weight"),
    ("Conv.1_output", "conv_1/output"),
    ("Relu_output_O", "Relu_output_0"),
]

SIBLINGS = [
    ("Constant_2_output_0", "Constant_output_0"),
    ("Constant_2_output_0", "Constant_3_output_0"),
    ("norm1.weight", "norm1.bias"),
    ("bn_mean_0", "bn_var_0"),
    ("bn_w_0", "bn_b_0"),
    ("branch2b_w", "branch2c_w"),
    ("kproj", "qproj"),
    ("proj_q", "proj_k"),
    ("fc12", "fc1_2"),
    ("scores", "score"),
    ("h", "x"),
    ("", "x"),
]


@pytest.mark.parametrize(("name", "right"), MISSPELT)
def test_one_wrong_letter_within_a_word_is_a_misspelling(name: str, right: str):
    assert is_misspelt(name, right)
    assert KnownNames(["another", right, "third_name"]).meant_by(name, lambda _: True) == right


@pytest.mark.parametrize(("name", "other"), SIBLINGS)
def test_a_sibling_is_no_misspelling(name: str, other: str):
    assert not is_misspelt(name, other)
    assert KnownNames([other]).meant_by(name, lambda _: True) is None


def test_of_two_names_none_is_known_to_be_meant():
    assert KnownNames(["weight", "wekght"]).meant_by("wexght", lambda _: True) is None


def test_a_name_that_must_have_all_letters_is_meant_in_another_case_only():
    names = KnownNames(["fc.weight"])
    assert names.meant_by("fc.wieght", lambda _: False) is None
    assert names.meant_by("FC_weight", lambda _: False) == "fc.weight"
