# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime computes the same, to the last bit, after the safe fixes that delete what does nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.project.checkout import ROOT

pytestmark = pytest.mark.consumers

MODELS = sorted((ROOT / "tests" / "models").glob("*.onnx"))
FIXTURES = [
    path
    for path in sorted((ROOT / "fixtures" / "ineffective-node" / "invalid").glob("*.textproto"))
    if "function" not in path.stem  # in functions the fixes are unsafe
]


def _compared(data: bytes) -> tuple[int, str | None]:
    pytest.importorskip("onnxruntime")
    from support.fixed_outputs import difference, fixed

    after, count = fixed(data)
    return count, difference(data, after)


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.name)
def test_a_real_model_computes_the_same(path: Path):
    assert _compared(path.read_bytes())[1] in (None, "")  # some do not run on random inputs


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_a_model_with_such_nodes_computes_the_same(path: Path):
    from google.protobuf import text_format

    from onnx_lint import schema

    text = path.read_text(encoding="utf-8")
    proto = text_format.Parse(text, schema.message("ModelProto")(), descriptor_pool=schema.pool())
    count, said = _compared(proto.SerializeToString())
    assert (count > 0, said) == (True, None)
