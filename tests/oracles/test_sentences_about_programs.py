# SPDX-License-Identifier: Apache-2.0
"""Sentences of rule pages about onnx.checker and ONNX Runtime, each tried with a fixture of the rule.

A sentence about another program needs a row here, or one in tests/support/models/page_recipes.py, which runs the tools
that `How to fix` names.
"""

from __future__ import annotations

import re
from itertools import chain
from pathlib import Path
from typing import Final

import onnx
import pytest
from support.models.asked_programs import CHECKER, FULL_CHECK, ONNXRUNTIME
from support.models.page_recipes import OF_ONNX, OF_TOOLS
from support.models.sentence_claims import PROGRAMS, Claim, sentences, untrue

from onnx_lint.engine.registry import registry

CLAIMS: Final = [
    (
        "aliased-default-domain",
        "finds none, and refuses the model",
        "two_nodes_of_the_default_domain_by_its_other_name",
        "--+",
    ),
    (
        "aliased-default-domain",
        "function with such a node",
        "a_node_of_a_function_with_the_other_name",
        "---",
    ),
    ("ambiguous-tensor-data", "onnx.checker accepts such a tensor", "an_empty_raw_data_beside_typed_data", "++-"),
    ("contradictory-declared-shape", "refuses the model with `full_check`", "an_output_of_another_size", "+-+"),
    ("degenerate-sparse-shape", "refuses a shape without dimensions", "the_dense_shape_has_no_dimensions", "--+"),
    ("degenerate-sparse-shape", "or with a dimension of 0 or less", "the_dense_shape_has_a_dimension_of_zero", "--+"),
    ("degenerate-sparse-shape", "refuses a negative dimension", "the_dense_shape_has_a_negative_dimension", "---"),
    (
        "degenerate-sparse-shape",
        "accepts a product beyond 64 bits",
        "the_dense_shape_has_more_elements_than_64_bits_hold",
        "++-",
    ),
    (
        "duplicate-function-parameter",
        "ONNX Runtime refuses such a function",
        "an_output_is_an_input_for_onnx_runtime",
        "++-",
    ),
    (
        "empty-function",
        "refuses the model if the function has an output",
        "a_function_hands_its_input_through_without_a_node",
        "++-",
    ),
    ("initialized-subgraph-input", "from IR version 4 on", "a_loop_body_has_a_default", "+--"),
    (
        "initialized-subgraph-input",
        "ONNX Runtime refuses the model",
        "ir_version_3_a_supplied_input_has_a_default",
        "++-",
    ),
    ("initializer-without-input", "ONNX Runtime loads it", "ir_version_3", "--+"),
    ("malformed-sparse-indices", "but onnx.checker refuses them", "the_indices_are_int32", "--+"),
    ("mispacked-sub-byte-data", "onnx.checker accepts eight 4-bit", "uint4_has_eight_elements_an_entry", "++-"),
    ("missing-graph-name", "refuses a graph without a name", "the_main_graph", "--+"),
    (
        "missing-opset-import",
        "accept such a model if it imports another domain",
        "no_import_of_the_default_domain_that_nothing_uses",
        "+++",
    ),
    ("missing-opset-import", "if it imports another domain", "no_import_at_all_that_nothing_needs", "---"),
    ("operator-arity", "compares the number of names and accepts it", "concat_of_an_empty_name", "+--"),
    ("outer-scope-output", "ONNX Runtime refuse the model", "a_branch_returns_an_outer_value", "---"),
    ("shadowed-name", "accept shadowing inputs and initializers", "a_state_of_a_loop_hides_an_input", "+++"),
    ("tensor-size-mismatch", "accepts too many values, ONNX Runtime does not", "typed_data_has_a_surplus", "++-"),
    ("unbound-required-input", "checks every branch and refuses the model", "a_branch_that_asks", "++-"),
    ("uncomputed-output", "From version 14 on", "training_with_one_output_at_opset_14", "+--"),
    ("uncomputed-output", "From version 14 on", "a_test_in_version_6", "++-"),
    (
        "unknown-ir-version",
        "loads no model of IR version 1 or 2",
        "an_ir_version_that_onnx_runtime_does_not_load",
        "+--",
    ),
    ("unnamed-value", "refuses an unnamed input or initializer", "a_dense_initializer", "--+"),
    ("unnamed-value", "refuses an unnamed input or initializer", "an_input_of_the_main_graph", "---"),
    ("unordered-nodes", "ONNX Runtime sorts the nodes itself", "four_nodes_backwards", "--+"),
    ("unsupported-optional-element", "ONNX Runtime refuses the model", "an_optional_of_an_optional", "++-"),
    ("untyped-graph-value", "refuses an input without a type", "an_input_with_an_empty_type", "---"),
    ("contradictory-declared-shape", "ONNX Runtime loads it", "an_output_of_another_size", "+-+"),
    ("duplicate-node-name", "ONNX Runtime refuses the model, unless", "two_nodes_share_a_name", "++-"),
    (
        "duplicate-node-name",
        "unless all but one of the nodes are Constants",
        "a_constant_after_a_node_of_its_name",
        "+++",
    ),
    ("duplicate-value-info", "onnx.checker and ONNX Runtime accept them", "two_entries_twice", "+++"),
    ("impossible-attribute-value", "0 is a warning, because ONNX Runtime refuses it", "a_clip_of_0", "++-"),
    ("impossible-attribute-value", "because onnx and ONNX Runtime refuse it", "a_constant_of_a_scalar", "+--"),
    ("impossible-attribute-value", "ONNX Runtime loads further labels", "a_label_without_an_intercept", "?-+"),
    ("impossible-attribute-value", "ONNX Runtime accepts any number", "a_place_in_the_output_of_no_n_gram", "+++"),
    (
        "impossible-attribute-value",
        "accepts ids that go on in the next tree",
        "a_regressor_whose_ids_go_on_in_the_second_tree",
        "+++",
    ),
    (
        "impossible-attribute-value",
        "refuses them without one",
        "a_linear_classifier_with_an_empty_list_of_coefficients",
        "++-",
    ),
    ("impossible-attribute-value", "refuses them without one", "a_map_without_keys", "+--"),
    (
        "impossible-attribute-value",
        "refuses them without one",
        "a_linear_classifier_with_an_empty_list_of_labels",
        "++-",
    ),
    (
        "impossible-attribute-value",
        "refuses them without one",
        "a_support_vector_classifier_with_an_empty_list_of_labels",
        "++-",
    ),
    ("impossible-attribute-value", "refuses them without one", "a_tree_classifier_with_an_empty_list_of_labels", "+--"),
    ("impossible-attribute-value", "refuses them without one", "an_encoder_of_no_categories", "++-"),
    ("impossible-attribute-value", "refuses them without one", "an_encoder_of_no_keys", "+--"),
    (
        "recursive-function",
        "and ONNX Runtime 1.32 refuse",
        "a_function_of_the_default_domain_uses_its_own_operator",
        "---",
    ),
    (
        "impossible-attribute-value",
        "refuses them without one",
        "a_vectorizer_of_no_pool",
        "+--",
    ),
    ("impossible-attribute-value", "onnx.checker checks a few of these values", "a_region_of_no_height", "+--"),
    (
        "impossible-attribute-value",
        "onnx.checker checks a few of these values",
        "a_normalization_over_no_channels",
        "++-",
    ),
    (
        "impossible-operator-extent",
        "because ONNX Runtime loads the model",
        "the_default_axes_of_images_for_three_dimensions",
        "?-+",
    ),
    ("impossible-operator-extent", "ONNX Runtime loads other numbers", "imputed_values_for_fewer_features", "+++"),
    (
        "incompatible-operand-shapes",
        "is an error if onnx.checker or ONNX Runtime refuses it",
        "a_depth_of_one_hot_in_two_dimensions",
        "+--",
    ),
    (
        "incompatible-operand-shapes",
        "what ONNX Runtime refuses when it creates a session",
        "a_past_in_three_dimensions_for_groups_of_queries",
        "++-",
    ),
    ("initializer-without-input", "`onnx.checker` and older consumers refuse the model", "ir_version_3", "--+"),
    ("invalid-segment", "refuse a tensor that has only a part", "valid/a_segment_counts_elements_with_the_end", "---"),
    ("invalid-segment", "refuse a tensor that has only a part", "a_segment_reaches_beyond_the_tensor", "---"),
    (
        "invalid-tensor-shape",
        "refuses the tensor if the product overflows before the 0",
        "valid/a_dimension_of_zero_beside_huge_ones",
        "--?",
    ),
    ("mismatched-operand-type", "onnx and ONNX Runtime refuse other types", "thresholds_of_another_type", "+--"),
    ("missing-operator-attribute", "refuses MaxpoolWithMask without", "a_masked_pool_without_a_window", "++-"),
    (
        "missing-operator-attribute",
        "and ONNX Runtime refuses it",
        "a_gated_network_without_the_size_of_its_state",
        "++-",
    ),
    ("missing-operator-attribute", "and ONNX Runtime refuses it", "a_support_vector_classifier_without_rho", "++-"),
    ("non-relative-location", "ONNX Runtime open a file of that name", "a_mark_of_a_tensor_in_memory", "---"),
    ("omitted-required-operand", "ONNX Runtime refuses QLinearAdd", "a_quantized_sum_without_a_zero_point", "++-"),
    (
        "omitted-required-operand",
        "ONNX Runtime refuses QLinearAdd",
        "a_quantized_product_without_the_second_zero_point",
        "++-",
    ),
    ("omitted-required-operand", "accept such a Sum", "a_gap_in_a_sum", "+++"),
    ("omitted-required-operand", "They load such a Split as well", "a_gap_in_the_outputs_of_a_split", "+++"),
    ("omitted-required-operand", "It refuses a Scan", "a_gap_in_the_outputs_of_a_scan", "++-"),
    ("premature-feature", "do not check the IR version there", "a_cast_to_int4_in_ir_version_9", "+++"),
    ("removed-experimental-operator", "has some of them below version 10", "affine_in_opset_9", "+++"),
    ("removed-experimental-operator", "and refuses the model otherwise", "affine_in_opset_21", "++-"),
    ("standard-operator-collision", "accept both definitions", "a_function_called_like_an_operator", "+++"),
    (
        "standard-operator-collision",
        "they look only for an operator",
        "an_operator_that_is_newer_than_the_import",
        "---",
    ),
    ("unknown-operator", "ONNX Runtime defines operators of its own", "an_operator_of_onnx_runtime", "--+"),
    ("unknown-operator", "ONNX Runtime defines operators of its own", "layer_normalization_below_opset_17", "--+"),
    ("unknown-operator-attribute", "and onnx.checker ignores them", "valid/an_attribute_of_an_implementation", "+++"),
    ("unnamed-opaque-type", "refuses a type that has a domain and no name", "a_domain_without_a_name", "--?"),
    ("unnamed-opaque-type", "accepts one that has neither", "an_empty_opaque_type", "++?"),
    ("unregistered-operator", "that ONNX Runtime does not have", "a_misspelt_operator", "++-"),
    ("unregistered-operator", "ONNX Runtime refuses the whole model", "a_branch_that_may_never_run", "++-"),
    ("unregistered-operator", "ONNX Runtime accepts such a model", "valid/a_function_that_nothing_calls", "+++"),
    ("unsupported-attribute-value", "must be one that ONNX Runtime has", "the_activation_of_fusedconv", "++-"),
    ("unsupported-attribute-value", "ONNX Runtime refuses some", "reverse_2_of_cumsum", "++-"),
    ("unsupported-attribute-value", "and loads others", "keepdims_2_of_argmax", "+++"),
    (
        "unsupported-attribute-value",
        "onnx.checker checks a few of these values",
        "the_activation_of_causalconvwithstate",
        "+--",
    ),
    (
        "unsupported-combination",
        "ONNX Runtime refuses a model without one",
        "a_tree_classifier_without_ids_of_trees",
        "++-",
    ),
    (
        "unsupported-combination",
        "onnx or ONNX Runtime refuses such a node",
        "an_encoder_with_an_empty_list_of_keys",
        "+--",
    ),
    (
        "unsupported-combination",
        "onnx or ONNX Runtime refuses such a node",
        "a_support_vector_classifier_with_an_empty_list_of_names",
        "++-",
    ),
    ("unsupported-operand-value", "but ONNX Runtime creates no session", "a_division_of_integers_by_0", "++-"),
]
"""A rule, words of its page, an invalid fixture or `valid/` and another, and the answers of onnx.checker, the same with
full_check, and ONNX Runtime: `+` accepts it, `-` refuses it, `?` is not asked.
"""

OF_ONNX_LINT: Final = {
    "linked-external-file": "With the targets",
    "unknown-operator": "are *not verified*",
    "unregistered-operator": "Correct the name, or use a release",
    "unsupported-by-product": "ONNX Runtime does not register needs a library",
}
"""Words of sentences that name a program and say what onnx-lint does, or what the user may do."""
ELSEWHERE: Final = {
    "unsupported-by-product": "ONNX Runtime needs the operator sets",
    "mismatched-decoder": "than ONNX Runtime feeds",
}
"""Words of sentences that tests/oracles/test_refusals.py or test_searched_graphs.py tries."""


def test_the_pages_have_the_sentences() -> None:
    pages = {name: " ".join(registry()[name].rule.documentation.split()) for name, _, _, _ in CLAIMS}
    assert [(name, words) for name, words, _, _ in CLAIMS if words not in pages[name]] == []


def test_each_sentence_about_a_program_is_tried() -> None:
    tried = [
        *((name, words) for name, words, _, _ in CLAIMS),
        *((name, words) for name, words, _ in [*OF_ONNX, *chain.from_iterable(OF_TOOLS.values())]),
        *OF_ONNX_LINT.items(),
        *ELSEWHERE.items(),
    ]
    untried = [
        f"{name}: {sentence}"
        for name, entry in registry().items()
        for sentence in sentences(entry.rule.documentation)
        if re.search(PROGRAMS, sentence) and not any(name == rule and words in sentence for rule, words in tried)
    ]
    assert untried == [], "add a row to CLAIMS, or to tests/support/models/page_recipes.py"


@pytest.mark.parametrize(("position", "program"), [(0, CHECKER), (1, FULL_CHECK)])
def test_onnx_does_as_the_pages_say(tmp_path: Path, position: int, program: str) -> None:
    if not onnx.__version__.startswith("1.23"):
        pytest.skip(f"the pages were compared with onnx 1.23, not with {onnx.__version__}")
    assert untrue(_claims(), tmp_path, position, program) == []


@pytest.mark.consumers
def test_onnx_runtime_does_as_the_pages_say(tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="no part of the development packages")
    if not re.match(r"1\.32", onnxruntime.__version__):
        pytest.skip(f"the pages were compared with onnxruntime 1.32, not with {onnxruntime.__version__}")
    assert untrue(_claims(), tmp_path, 2, ONNXRUNTIME) == []


def _claims() -> list[Claim]:
    return [Claim(name, words, f"{name}/{fixture}", answers) for name, words, fixture, answers in CLAIMS]
