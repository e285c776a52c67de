# SPDX-License-Identifier: Apache-2.0
"""The reports for the installed ONNX Runtime and OpenVINO as targets, compared with the models that they reject."""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from onnx import ModelProto

import onnx_lint
from onnx_lint.spec.products import product_release
from tools.compare_target import outcomes
from tools.single_nodes import single_nodes

pytestmark = pytest.mark.consumers


def test_the_node_test_cases_load_as_the_target_says() -> None:
    """Every reported model is refused, and every model without a kernel is reported."""
    onnxruntime = pytest.importorskip("onnxruntime", reason="no part of the development packages")
    target = _target(f"onnxruntime={onnxruntime.__version__}")
    onnxruntime.set_default_logger_severity(4)
    reported: set[str] = set()
    refused: dict[str, str] = {}
    for name, model in _cases():
        if onnx_lint.lint(model, target=target, select="unsupported-by-product").diagnostics:
            reported.add(name)
        try:
            onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        except Exception as error:
            refused[name] = str(error)
    assert reported - set(refused) == set()
    without_kernel = {name for name, reason in refused.items() if "NOT_IMPLEMENTED" in reason}
    assert without_kernel & reported
    assert without_kernel - reported == set()


def test_single_nodes_load_as_the_target_says(tmp_path: Path) -> None:
    """Operators, versions and types at random: nothing is said that is not so."""
    onnxruntime = pytest.importorskip("onnxruntime", reason="no part of the development packages")
    target = _target(f"onnxruntime={onnxruntime.__version__}")
    models = Random(4).sample([*single_nodes()], 500)
    files = [tmp_path / f"{index}.onnx" for index in range(len(models))]
    for file, (_, model) in zip(files, models, strict=True):
        file.write_bytes(model)
    reasons = outcomes(sys.executable, "onnxruntime", files)
    false, missed, agreed = [], [], Counter[bool]()
    for file, (name, _) in zip(files, models, strict=True):
        reason = reasons[str(file)]
        (verdict,) = onnx_lint.lint(file, target=target).files[0].targets
        if verdict.loads is False:
            agreed[True] += reason is not None
            false += [name] * (reason is None)
        elif reason is None:
            agreed[False] += 1
        elif verdict.loads:  # it may remove what it has no kernel for: that is not judged
            missed.append(f"{name}: {reason}")
    assert false == []
    assert missed == []
    assert min(agreed[True], agreed[False]) > 100


def test_openvino_converts_no_node_test_case_that_is_reported() -> None:
    """And every operator without a conversion rule is reported, but for those that the data leave out."""
    openvino = pytest.importorskip("openvino", reason="no part of the development packages")
    target = _target(f"openvino={openvino.__version__.partition('-')[0]}")
    core = openvino.Core()
    missed: dict[str, str] = {}
    for name, model in _cases():
        is_reported = bool(onnx_lint.lint(model, target=target, select="unsupported-by-product").diagnostics)
        try:
            core.read_model(model.SerializeToString())
        except Exception as error:
            if not is_reported and "No conversion rule found" in str(error):
                missed[name] = str(error)
        else:
            assert not is_reported, name
    left_out = ("FlexAttention", "SequenceMap", "Bernoulli", "util::")
    assert {name: why for name, why in missed.items() if not any(each in why for each in left_out)} == {}


def _target(target: str) -> str:
    try:
        product_release(target)
    except ValueError as error:
        pytest.skip(str(error))
    return target


def _cases() -> list[tuple[str, ModelProto]]:
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [(case.name, case.model) for case in collect_testcases(None) if case.model is not None]
