# SPDX-License-Identifier: Apache-2.0
"""Runs `onnx.checker`, ONNX Runtime and the reference evaluator. Each of them may crash the process."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass, field
from typing import Any

import onnx
import onnx.checker
from onnx import ModelProto
from onnx.reference import ReferenceEvaluator

from .builder import Generated

try:
    import onnxruntime
except ImportError:  # then only the reference evaluator runs models
    onnxruntime = None

ONNXRUNTIME, REFERENCE = "onnxruntime", "reference evaluator"


def refusal(data: bytes) -> str | None:
    """Return why `onnx.checker` refuses the model, or None."""
    try:
        onnx.checker.check_model(data, full_check=True)
    except Exception as error:
        return " ".join(str(error).split()) or type(error).__name__
    return None


def cause(refused: str) -> str:
    """Return the first operator that onnx refuses, and why. Later messages follow from it."""
    found = [
        (operator, message.strip(" .\n"))
        for operator, message in _MESSAGES.findall(refused)
        if not _EMPTY.search(message)
    ]
    return f"{found[0][0]}: {found[0][1]}" if found else refused


_EMPTY = re.compile(r"Inference error\(s\)|instead is null|\] *$")
"""Messages about a node that follow from another node."""

_MESSAGES = re.compile(r"\(op_type:\s*(\w+)[^)]*\): (.*?)(?=\(op_type:|$)")


@dataclass
class Ran:
    """The result of running a model."""

    runtime: str
    values: dict[str, Any] = field(default_factory=dict)
    """The values of the main graph by name; empty if the run failed."""
    refusal: str | None = None
    """Why the run failed."""


def with_all_values(model: ModelProto) -> ModelProto:
    """Return the model with every node output of the main graph as a graph output."""
    made = ModelProto()
    made.CopyFrom(model)
    declared = {each.name: each for each in model.graph.output}
    names = dict.fromkeys([*declared, *(name for node in model.graph.node for name in node.output if name)])
    del made.graph.output[:]
    for name in names:
        made.graph.output.add(name=name)
    return made


def run_onnxruntime(made: Generated) -> Ran:
    """Run the model in ONNX Runtime, without its optimizations, with all values as outputs."""
    if onnxruntime is None:
        return Ran(ONNXRUNTIME, refusal="not installed")
    model = with_all_values(made.model)
    try:
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), _options(), providers=["CPUExecutionProvider"]
        )
        names = [output.name for output in session.get_outputs()]
        return Ran(ONNXRUNTIME, dict(zip(names, session.run(None, made.feeds), strict=True)))
    except Exception as error:
        return Ran(ONNXRUNTIME, refusal=" ".join(str(error).split()) or type(error).__name__)


def _options() -> Any:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return options


def run_reference(made: Generated) -> Ran:
    """Run the model in the reference evaluator, with all values as outputs."""
    model = with_all_values(made.model)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = ReferenceEvaluator(model).run(None, made.feeds)
        return Ran(REFERENCE, dict(zip((output.name for output in model.graph.output), found, strict=True)))
    except Exception as error:
        return Ran(REFERENCE, refusal=f"{type(error).__name__}: {' '.join(str(error).split())}")
