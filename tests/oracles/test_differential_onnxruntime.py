# SPDX-License-Identifier: Apache-2.0
"""With `--target onnxruntime=VERSION`, onnx-lint rejects every model that ONNX Runtime calls an invalid graph.

The models are those of the differential test with `onnx.checker`, and the fixtures. Only refusals of the graph count:
what has no kernel, no registered operator or no type in the runtime says nothing about the model.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from pathlib import Path

import onnx
import pytest
from google.protobuf import text_format
from support.models.mutated_models import cases
from support.processes.runtime_process import RuntimeProcess
from support.project.fixture_files import fixtures

from onnx_lint import lint

pytestmark = pytest.mark.consumers

INVALID_GRAPH = "INVALID_GRAPH"

EXPLAINED = {
    r"_inlfunc_F_n.*, BatchNormalization": "a mutant in which a function's input is used several times",
}
"""Messages of the runtime for models that onnx-lint does not reject, and the reasons."""


def _refusal(runtime: RuntimeProcess, path: Path) -> str:
    """Why the runtime refuses a model; empty where it takes it, or has crashed or hung."""
    load, _ = runtime.answer(path) or ("", "")
    return load


def _loads(path: Path) -> bool | None:
    """Whether onnx-lint says that the runtime loads a model; False also if ONNX forbids it, None if it says neither."""
    report = lint(path, target=["onnx", "onnxruntime=1.32"])
    return report.files[0].targets[-1].loads if report.passes else False


def test_what_onnxruntime_calls_an_invalid_graph_is_refused():
    pytest.importorskip("onnxruntime", reason="pip install onnxruntime")
    used: Counter[str] = Counter()
    missed: list[str] = []
    refused = 0
    with tempfile.TemporaryDirectory() as folder, RuntimeProcess(runs=False) as of_onnx:
        path = Path(folder) / "model.onnx"
        for name, model in cases():
            path.write_bytes(model.SerializePartialToString())
            message = _refusal(of_onnx, path)
            if INVALID_GRAPH not in message:
                continue
            refused += 1
            if _loads(path) is not True:
                continue
            reason = next((pattern for pattern in EXPLAINED if re.search(pattern, message)), None)
            if reason is None:
                missed.append(f"{name}: {message.splitlines()[0][:300]}")
            else:
                used[reason] += 1
    assert refused > 100
    assert not missed, "\n".join(missed)
    assert set(EXPLAINED) - set(used) == set(), "explained and no longer needed"


NOT_COVERED = ("Exception during initialization", "is not currently registered or supported")
"""What a kernel refuses for its attributes, and types without a kernel, say nothing about the target."""

_DECIDED_BY_TYPES = "the runtime infers the body of a function without the types that the values of its subgraphs have"
_SPARSE = "the runtime makes sparse tensors of some types dense only"
_OPERATOR_FIRST = "the runtime takes a call of a function that is named like an operator for the operator"
_IMPORTS = "the runtime asks the model for imports where those of the function count"

EXPLAINED_FIXTURES = {
    "contradictory-declared-type/valid/the_output_of_a_loop_in_a_function": _DECIDED_BY_TYPES,
    "degenerate-sparse-shape/valid/a_dense_shape_that_just_fits_64_bits": "the number of bytes overflows",
    "disallowed-domain/invalid/an_import_of_a_function": _IMPORTS,
    "explicit-default-value": _SPARSE,
    "function-call-arity/valid/a_call_leaves_out_a_trailing_input_and_output": "a call has all outputs there",
    "impossible-attribute-value/invalid/a_constant_of_a_scalar": "the text does not ask for a rank",
    "incompatible-operand-shapes/invalid/an_axis_of_squeeze_in_a_branch_that_never_runs": (
        "the runtime infers the shapes of a branch that never runs"
    ),
    "incompatible-operand-shapes/invalid/in_the_body_of_a_loop_that_never_runs": (
        "the runtime infers the shapes of a body that never runs"
    ),
    "initialized-subgraph-input/valid/a_function_of_the_model_is_no_control_flow": _OPERATOR_FIRST,
    "invalid-segment": "the runtime does not read segments",
    "malformed-sparse-values": _SPARSE,
    "mismatched-default-value/valid/a_sparse_default_of_a_sparse_input": _SPARSE,
    "misplaced-attribute-reference/valid/a_reference_in_a_branch_in_a_function": _DECIDED_BY_TYPES,
    "missing-opset-import/valid/the_body_of_a_function_does_not_count_to_the_model": _IMPORTS,
    "non-utf8-attribute/invalid/a_call_of_a_function_in_the_default_domain": _OPERATOR_FIRST,
    "recursive-function/valid/an_overload_calls_another_overload": "the runtime does not know overloads in functions",
    "string-in-raw-data/valid/no_strings_and_an_empty_raw_data": "the text forbids strings there, and there are none",
    "unbound-required-attribute": "a note",
    "uncomputed-output/valid/outputs_that_are_left_out_with_empty_names": "the runtime counts empty names",
    "unknown-function": _IMPORTS,
    "unqualified-opset-domain/invalid/a_function_imports_a_single_word": _IMPORTS,
    "unsupported-attribute-value/valid/a_known_update_rule_of_linearattention": "about another input",
}
"""The fixtures, or the rules of fixtures, that the runtime refuses and onnx-lint does not, and why."""

TAKEN_FIXTURES = {
    "outer-scope-output/invalid/a_branch_in_a_function_returns_an_input": "the runtime refuses it when it starts",
    "outer-scope-output/invalid/training_a_branch_of_an_algorithm_returns_a_value_of_the_main_graph": (
        "the runtime does not look at training graphs"
    ),
}
"""The fixtures that `--target onnxruntime=VERSION` refuses and the runtime takes, and why."""


def test_the_loader_refuses_the_fixtures_that_the_consumer_refuses_and_no_others():
    pytest.importorskip("onnxruntime", reason="pip install onnxruntime")
    wrong: list[str] = []
    judged = 0
    with tempfile.TemporaryDirectory() as folder, RuntimeProcess(runs=False) as of_onnx:
        path = Path(folder) / "model.onnx"
        for fixture in fixtures():
            if not fixture.is_text or "# proto:" in fixture.text or "data_location" in fixture.text:
                continue
            try:
                path.write_bytes(text_format.Parse(fixture.text, onnx.ModelProto()).SerializePartialToString())
            except (text_format.ParseError, ValueError):
                continue
            loads = _loads(path)
            # What is an error for everybody says nothing about the consumer.
            if loads is None or (not loads and not lint(path).conforms):
                continue
            judged += 1
            message = _refusal(of_onnx, path)
            if any(reason in message for reason in NOT_COVERED):
                continue
            explained = EXPLAINED_FIXTURES if loads else TAKEN_FIXTURES
            if loads == bool(message) and not fixture.id.startswith(tuple(explained)):
                wrong.append(f"{fixture.id}: {message[:300]}")
    assert judged > 900
    assert not wrong, "\n".join(wrong)
