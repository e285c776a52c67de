# SPDX-License-Identifier: Apache-2.0
"""The gate that docs/coming_from_onnx_checker.md recommends is at least as strict as the checker that it replaces."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Final

import onnx
import pytest
from support.models.asked_programs import FULL_CHECK, outcomes
from support.project.checkout import ROOT

from conformance.suite import export
from onnx_lint import lint
from onnx_lint.ir.documents.kinds import MODEL_KIND

pytestmark = pytest.mark.differential

PAGE: Final = (ROOT / "docs" / "coming_from_onnx_checker.md").read_text()
FAULTS: Final = (ROOT / "docs" / "faults_of_onnx.md").read_text()

DEAD_BRANCHES: Final = "Branches that never run"

EXPLAINED: Final = {
    "STFT: inference takes another default for `onesided`": r"op_type:STFT",
    "Pools: `ceil_mode` with `auto_pad` VALID": r"op_type:AveragePool.*differ",
    "MeanVarianceNormalization: no float16": r"op_type:MeanVarianceNormalization",
    "Sparse initializers are refused as operands": r"sparse_tensor|Input tensors of wrong rank \(0\)",
    "Models before IR version 3: `full_check` wants an import": r"No opset import for domain +optype",
    "Outputs of branches without a type": r"Mismatched type: inferred=|op_type:Loop.*but instead is null",
    "Calls that leave out a trailing output": r"Output \d+ is out of bounds",
    "BatchNormalization: outputs with empty names": r"number of op outputs should be 1",
    "ConvTranspose: the output of `auto_pad` SAME": r"op_type:ConvTranspose.*differ",
    "Resize: a scale of 32 bits": r"op_type:Resize.*differ",
    "Functions of the default domain": r"Bad node spec for node.*OpType: (Relu|Loop)",
    "Tensors in segments": r"is too small for the declared shape",
    "A dimension of 0 beside large ones": r"Tensor dimension product overflow",
    "Attributes without a type in IR version 1": r"actual: 'UNDEFINED'",
    "Names of data files with two dots": r"points outside the directory",
    "Shapes in a data file": r"Cannot parse data from external tensors",
    DEAD_BRANCHES: r"op_type:If.*(Incompatible dimensions|must be 1 instead|Inferred shape and existing shape differ)",
    "What the text leaves open": r"op_type:(LinearClassifier|ConstantOfShape)",
}
"""Sections of docs/faults_of_onnx.md, each with the reasons for which the checker refuses what it explains."""


def test_what_full_check_refuses_is_red_or_explained(tmp_path: Path) -> None:
    if not onnx.__version__.startswith("1.23"):
        pytest.skip(f"the page was compared with onnx 1.23, not with {onnx.__version__}")
    targets = _targets()
    files = [
        tmp_path / "suite" / case.file
        for case in export(tmp_path / "suite")
        if case.message == MODEL_KIND and case.form == "binary"
    ]
    refused = {file: reason for file, reason in outcomes(files, FULL_CHECK).items() if reason is not None}
    assert len(refused) > 900
    green = {file: " ".join(refused[file].split()) for file in refused if not lint(file, target=targets).errors}
    used = set()
    for file, reason in green.items():
        sections = [title for title, pattern in EXPLAINED.items() if re.search(pattern, reason)]
        assert sections, f"{file.relative_to(tmp_path)}: {reason}"
        # The reason does not say whether a branch runs, but the names of these fixtures do.
        if sections == [DEAD_BRANCHES]:
            assert re.search("branch_that_(never_runs|two_constants_rule_out)", file.stem), f"{file.stem}: {reason}"
        used.update(sections)
    assert used >= {*EXPLAINED} - {"Shapes in a data file"}, "an explanation for nothing hides what comes"


def test_each_explanation_is_a_section_of_the_page() -> None:
    assert {*EXPLAINED} <= {*re.findall(r"^## (.+)$", FAULTS, re.M)}


def _targets() -> list[str]:
    """Return the targets of the command on the page."""
    (command,) = re.findall(r"^onnx-lint .*model\.onnx$", PAGE, re.M)
    words = shlex.split(command)
    return [words[index + 1] for index, word in enumerate(words) if word == "--target"]
