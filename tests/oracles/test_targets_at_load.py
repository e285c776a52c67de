# SPDX-License-Identifier: Apache-2.0
"""The reports for the installed ONNX Runtime as a target, beside what it refuses to load."""

from __future__ import annotations

import warnings

import onnx.defs
import pytest
from onnx import ModelProto

import onnx_lint
from onnx_lint.spec.products import product_release

pytestmark = pytest.mark.consumers


def test_the_node_test_cases_load_as_the_target_says() -> None:
    """Every reported model is refused, and every model without a kernel is reported unless an operator has a body."""
    onnxruntime = pytest.importorskip("onnxruntime", reason="no part of the development packages")
    from onnx.backend.test.case.node import collect_testcases

    target = f"onnxruntime={onnxruntime.__version__}"
    try:
        product_release(target)
    except ValueError as error:
        pytest.skip(str(error))
    onnxruntime.set_default_logger_severity(4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [(case.name, case.model) for case in collect_testcases(None) if case.model is not None]
    reported: set[str] = set()
    refused: dict[str, str] = {}
    for name, model in cases:
        if onnx_lint.lint(model, targets=target, select="unsupported-by-product").diagnostics:
            reported.add(name)
        try:
            onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        except Exception as error:
            refused[name] = str(error)
    assert reported - set(refused) == set()
    models = dict(cases)
    without_kernel = {name for name, reason in refused.items() if "NOT_IMPLEMENTED" in reason}
    assert without_kernel & reported
    assert [name for name in sorted(without_kernel - reported) if not _has_bodies(models[name])] == []


def _has_bodies(model: ModelProto) -> bool:
    """Return whether ONNX defines one of the operators by a function, which ONNX Runtime runs instead of a kernel."""
    versions = {entry.domain: entry.version for entry in model.opset_import}
    schemas = [onnx.defs.get_schema(node.op_type, versions[node.domain], node.domain) for node in model.graph.node]
    return any(schema.has_function or schema.has_context_dependent_function for schema in schemas)
