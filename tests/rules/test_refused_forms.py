# SPDX-License-Identifier: Apache-2.0
"""What onnx-lint says of ONNX Runtime for models without another violation, and that it refuses for their form.

tests/oracles/test_refusals.py asks ONNX Runtime about the same models.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from support.models.refused_forms import written

from onnx_lint import lint

OWN_OPERATOR = "OPR-1"
"""The clause about operators of ONNX Runtime in the default domain."""
ANSWERS = {True: "+", False: "-", None: "?"}


@pytest.mark.parametrize(("position", "release"), [(0, "1.20"), (1, "1.32")])
def test_each_model_has_its_answer(tmp_path: Path, position: int, release: str) -> None:
    found, wanted = {}, {}
    for path, form in written(tmp_path).items():
        report = lint(path, target=f"onnxruntime={release}")
        violated = {item.clause for item in report.diagnostics if item.is_violation}
        assert violated <= {OWN_OPERATOR}, (form.name, report.diagnostics)
        found[form.name] = ANSWERS[report.files[0].targets[0].loads]
        wanted[form.name] = form.answers[position]
    assert found == wanted
