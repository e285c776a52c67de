# SPDX-License-Identifier: Apache-2.0
"""Settings are checked when they are made."""

from __future__ import annotations

import pytest

from onnx_lint.engine.settings import Settings


@pytest.mark.parametrize("domain", ["", "ai.onnx.ml"])
def test_operator_set_versions_begin_at_1(domain: str):
    for version in (1, 2, 27):
        assert Settings(opset_imports={domain: version}).opset_imports[domain] == version
    for version in (0, -1):
        with pytest.raises(ValueError, match=f"^{version} is not an operator set version of 'ai.onnx"):
            Settings(opset_imports={domain: version})
