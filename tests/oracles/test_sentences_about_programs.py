# SPDX-License-Identifier: Apache-2.0
"""Sentences of rule pages about onnx.checker and ONNX Runtime, each tried with a fixture of the rule.

A sentence about an operator's values is tried by tests/oracles/test_operator_sentences.py, test_operand_ranks.py or
test_runtime_requirements.py.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import onnx
import pytest
from google.protobuf import text_format
from onnx import ModelProto
from support.models.asked_programs import CHECKER, FULL_CHECK, ONNXRUNTIME, outcomes
from support.project.checkout import ROOT

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
    (
        "recursive-function",
        "ONNX Runtime refuse the model",
        "a_function_of_the_default_domain_uses_its_own_operator",
        "---",
    ),
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
]
"""A rule, words of its page, an invalid fixture, and the answers of onnx.checker, the same with full_check, and ONNX
Runtime: `+` accepts it, `-` refuses it.
"""


def test_the_pages_have_the_sentences() -> None:
    pages = {name: " ".join(registry()[name].rule.documentation.split()) for name, _, _, _ in CLAIMS}
    assert [(name, words) for name, words, _, _ in CLAIMS if words not in pages[name]] == []


@pytest.mark.parametrize(("position", "program"), [(0, CHECKER), (1, FULL_CHECK)])
def test_onnx_does_as_the_pages_say(tmp_path: Path, position: int, program: str) -> None:
    if not onnx.__version__.startswith("1.23"):
        pytest.skip(f"the pages were compared with onnx 1.23, not with {onnx.__version__}")
    assert _different(tmp_path, position, program) == []


@pytest.mark.consumers
def test_onnx_runtime_does_as_the_pages_say(tmp_path: Path) -> None:
    onnxruntime = pytest.importorskip("onnxruntime", reason="no part of the development packages")
    if not re.match(r"1\.32", onnxruntime.__version__):
        pytest.skip(f"the pages were compared with onnxruntime 1.32, not with {onnxruntime.__version__}")
    assert _different(tmp_path, 2, ONNXRUNTIME) == []


def _different(folder: Path, position: int, program: str) -> list[str]:
    """Return the claims that the program refutes."""
    files = {}
    for index, (name, words, fixture, answers) in enumerate(CLAIMS):
        text = (ROOT / "fixtures" / name / "invalid" / f"{fixture}.textproto").read_text()
        path = folder / f"{index}.onnx"
        path.write_bytes(text_format.Parse(text, ModelProto()).SerializeToString())
        files[path] = f"{name}: {words} ({fixture})", answers[position] == "+"
    reasons = outcomes(files, program)
    return [
        f"{words}: {reasons[path]}" for path, (words, accepts) in files.items() if accepts != (reasons[path] is None)
    ]
