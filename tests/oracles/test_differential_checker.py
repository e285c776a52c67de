# SPDX-License-Identifier: Apache-2.0
"""With `--target onnx.checker`, onnx-lint rejects every model that `onnx.checker.check_model` rejects.

The models are those of the fixtures, each as it is and with random mutations of its messages: fields that are taken
away, emptied, doubled, or get another value. What onnx refuses and onnx-lint takes has to be explained.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import onnx
import pytest
from support.models.mutated_models import cases

from onnx_lint import lint

pytestmark = pytest.mark.differential


@dataclass(frozen=True)
class Explained:
    """Models that only onnx rejects: the message of onnx, a condition on the model, and the reason."""

    message: str
    holds: Callable[[onnx.ModelProto], bool]
    why: str


def _dense(model: onnx.ModelProto) -> list[onnx.TensorProto]:
    attributes = [attribute for node in model.graph.node for attribute in node.attribute]
    return [*model.graph.initializer, *[attribute.t for attribute in attributes]]


EXPLAINED = (
    Explained(
        r"Mismatched attribute type in .*actual: 'UNDEFINED'",
        lambda model: model.ir_version < 2,
        "before IR version 2 attributes had no field for their type",
    ),
    Explained(
        r"too small for the declared shape",
        lambda model: any(tensor.HasField("segment") for tensor in _dense(model)),
        "of a tensor with a segment only a part is stored (onnx issue 8268)",
    ),
    Explained(
        r"Node with schema\(::|Unrecognized attribute: .* for operator",
        lambda model: any(function.domain in ("", "ai.onnx") for function in model.functions),
        "a function named like a standard operator is called: onnx.checker holds the call against the operator, and"
        " --target onnx.checker does not follow it there",
    ),
    Explained(
        r"No Opset registered for domain",
        lambda model: any({entry.domain for entry in each.opset_import} == {"ai.onnx"} for each in model.functions),
        "a function that imports the default domain as ai.onnx: --target onnx.checker says that it is not judged",
    ),
    Explained(
        r"dimension product overflow",
        lambda model: any(0 in tensor.dims for tensor in _dense(model)),
        "a tensor with a dimension of zero has no elements; onnx multiplies those before it",
    ),
    Explained(
        r"Opset import for domain .* not compatible|Unrecognized attribute: .* for operator",
        lambda model: len({entry.domain for entry in model.opset_import}) < len(model.opset_import),
        "of two imported versions of a domain the specification takes the highest, onnx the last",
    ),
)


def refusal(path: Path) -> str | None:
    """Why onnx refuses the model; None where it takes it."""
    try:
        onnx.checker.check_model(path, full_check=False)
    except Exception as error:
        return str(error)
    return None


def test_what_onnx_checker_refuses_is_refused():
    used: Counter[str] = Counter()
    missed: list[str] = []
    refused = 0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        for name, model in cases():
            path.write_bytes(model.SerializePartialToString())
            message = refusal(path)
            if message is None:
                continue
            refused += 1
            if not lint(path, target=["onnx", "onnx.checker"]).passes:
                continue
            reason = next((each for each in EXPLAINED if re.search(each.message, message) and each.holds(model)), None)
            if reason is None:
                missed.append(f"{name}: {message.splitlines()[0][:200]}")
            else:
                used[reason.message] += 1
    assert refused > 1000
    assert not missed, "\n".join(missed)
    assert {each.message for each in EXPLAINED} - set(used) == set(), "explained and no longer needed"
