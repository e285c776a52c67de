# SPDX-License-Identifier: Apache-2.0
"""The gate that docs/coming_from_onnx_checker.md recommends is at least as strict as the checker that it replaces."""

from __future__ import annotations

import re
import shlex
from itertools import pairwise
from pathlib import Path
from typing import Final

import onnx
import pytest
from support.models.asked_programs import FULL_CHECK, outcomes
from support.project.checkout import ROOT

from conformance.suite import export
from onnx_lint import Settings, lint
from onnx_lint.ir.documents.kinds import MODEL_KIND

pytestmark = pytest.mark.differential

PAGE: Final = (ROOT / "docs" / "coming_from_onnx_checker.md").read_text()
FAULTS: Final = (ROOT / "docs" / "faults_of_onnx.md").read_text()

ROUNDED: Final = "Resize: a scale of 32 bits"
"""The one section whose models onnx-lint cannot tell from others."""
DEAD_BRANCHES: Final = "Branches that never run"

EXPLAINED: Final = {
    "STFT: inference takes another default for `onesided`": r"op_type:STFT",
    "Pools: `ceil_mode` with `auto_pad` VALID": r"op_type:AveragePool.*differ",
    "MeanVarianceNormalization: float only, and not without axes": r"op_type:MeanVarianceNormalization",
    "Sparse initializers are refused as operands": r"sparse_tensor|Input tensors of wrong rank \(0\)",
    "Models before IR version 3: `full_check` wants an import": r"No opset import for domain +optype",
    "Outputs of branches without a type": r"Mismatched type: inferred=|op_type:Loop.*but instead is null",
    "Calls that leave out a trailing output": r"Output \d+ is out of bounds",
    "BatchNormalization: outputs with empty names": r"number of op outputs should be 1",
    "ConvTranspose: the output of `auto_pad` SAME": r"op_type:ConvTranspose.*differ",
    ROUNDED: r"op_type:Resize.*differ",
    "Functions of the default domain": r"Bad node spec for node.*OpType: (Relu|Loop)",
    "Tensors in segments": r"is too small for the declared shape",
    "A dimension of 0 beside large ones": r"Tensor dimension product overflow",
    "Attributes without a type in IR version 1": r"actual: 'UNDEFINED'",
    "Names of data files with two dots": r"points outside the directory",
    "Shapes in a data file": r"Cannot parse data from external tensors",
    DEAD_BRANCHES: (
        r"op_type:(If|Loop).*(Incompatible dimensions|must be 1 instead|Inferred shape and existing shape differ)"
    ),
    "Sizes of an empty operand of Concat": r"op_type:Add, node name: sum\).*Incompatible dimensions",
    "What the text leaves open": r"op_type:(LinearClassifier|ConstantOfShape)",
}
"""Sections of docs/faults_of_onnx.md, each with the reasons for which the checker refuses what it explains."""


@pytest.fixture(scope="module")
def refused(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, str]:
    """The models of the suite that full_check refuses, and why."""
    if not onnx.__version__.startswith("1.23"):
        pytest.skip(f"the page was compared with onnx 1.23, not with {onnx.__version__}")
    folder = tmp_path_factory.mktemp("gate") / "suite"
    files = [folder / case.file for case in export(folder) if case.message == MODEL_KIND and case.form == "binary"]
    found = {file: " ".join(why.split()) for file, why in outcomes(files, FULL_CHECK).items() if why is not None}
    assert len(found) > 900
    return found


def test_what_full_check_refuses_is_red(refused: dict[Path, str]) -> None:
    target, settings = _options()
    green = [f"{file}: {why}" for file, why in refused.items() if lint(file, settings, target=target).passes]
    assert [each for each in green if not re.search(EXPLAINED[ROUNDED], each)] == []
    assert len(green) == 1


def test_without_the_gate_it_is_red_or_explained(refused: dict[Path, str]) -> None:
    target, _ = _options()
    green = {file: why for file, why in refused.items() if lint(file, target=target).passes}
    used = set()
    for file, reason in green.items():
        sections = [title for title, pattern in EXPLAINED.items() if re.search(pattern, reason)]
        assert sections, f"{file}: {reason}"
        # The reason does not say whether a branch runs, but the names of these fixtures do.
        if sections == [DEAD_BRANCHES]:
            assert re.search("(branch|loop)_that_(the_only_call_)?(never_runs|two_constants_rule_out)", file.stem), (
                f"{file.stem}: {reason}"
            )
        used.update(sections)
    assert used >= {*EXPLAINED} - {"Shapes in a data file"}, "an explanation for nothing hides what comes"


def test_each_explanation_is_a_section_of_the_page() -> None:
    assert {*EXPLAINED} <= {*re.findall(r"^## (.+)$", FAULTS, re.M)}


def _options() -> tuple[list[str], Settings]:
    """Return the targets and the gate of the command on the page."""
    (command,) = re.findall(r"^onnx-lint .*model\.onnx$", PAGE, re.M)
    given = list(pairwise(shlex.split(command)))
    (gate,) = [value for name, value in given if name == "--target-gate"]
    return [value for name, value in given if name == "--target"], Settings(target_gate=gate)
