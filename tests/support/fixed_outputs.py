# SPDX-License-Identifier: Apache-2.0
"""Compares what ONNX Runtime computes before and after fixes, without its optimizations, on random inputs.

`python -m support.fixed_outputs MODEL...` fixes each model with the chapter hygiene and prints what differs, and what
the fixes save.
"""

from __future__ import annotations

import sys
from typing import Any, Final

import numpy as np
import onnx

import onnx_lint

DELETING: Final = ("ineffective-node", "repeated-node", "unneeded-node", "unused-initializer", "unused-function",
                   "equal-initializers")  # fmt: skip
_SETTINGS: Final = onnx_lint.Settings(
    select=DELETING, options={"equal-initializers": {"least_bytes": 1}, "repeated-node": {"least_bytes": 1}}
)
_MAX_SIZE: Final = 3
"""The size of a dimension that the model leaves open."""


def fixed(data: bytes) -> tuple[bytes, int]:
    """Return the model after the safe fixes of all rules that delete, and how many findings these mended."""
    report = onnx_lint.fix(data, _SETTINGS)
    repair = report.files[0].repair
    assert repair is not None
    assert not repair.not_made, repair.not_made
    return report.fixed_model or data, sum(count for _, count in repair.fixed)


def with_other_zeros(data: bytes) -> bytes:
    """Return a model whose large float weights that are all 0 or all 1 have random values instead."""
    model = onnx.load_from_string(data)
    for tensor in model.graph.initializer:
        if tensor.data_type == 1 and not tensor.external_data and np.prod(tensor.dims) > 1:
            values = onnx.numpy_helper.to_array(tensor)
            if values.size and values.min() == values.max():
                changed = np.random.default_rng(values.size).uniform(0.5, 1.5, values.shape).astype(values.dtype)
                tensor.CopyFrom(onnx.numpy_helper.from_array(changed, tensor.name))
    return model.SerializeToString()


def feeds_for(session: Any, seed: int) -> dict[str, Any]:
    """Return random inputs of a session."""
    random = np.random.default_rng(seed)
    found = {}
    for each in session.get_inputs():
        shape = [size if isinstance(size, int) else 1 + seed % _MAX_SIZE for size in each.shape]
        kind = each.type.removeprefix("tensor(").removesuffix(")")
        if kind == "string":
            found[each.name] = np.full(shape, "a", dtype=object)
        elif kind == "bool":
            found[each.name] = random.integers(0, 2, shape).astype(bool)
        elif "int" in kind:
            found[each.name] = random.integers(0, 3, shape).astype(kind)
        else:
            found[each.name] = random.uniform(-2, 2, shape).astype({"float": "f4", "double": "f8"}.get(kind, "f2"))
    return found


def outputs_of(data: bytes, seed: int) -> list[Any] | str:
    """Return what a model computes without optimizations; the error in words if it does not run."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    try:
        session = onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
        return list(session.run(None, feeds_for(session, seed)))
    except Exception as error:
        return str(error)[:200]


def difference(before: bytes, after: bytes) -> str | None:
    """Return in words how the outputs of two models differ for the same inputs; empty if they do not run; else None."""
    ran = False
    for seed in (1, 2):
        one, other = outputs_of(before, seed), outputs_of(after, seed)
        if isinstance(one, str):
            continue
        ran = True
        if isinstance(other, str):
            return other
        for index, (first, second) in enumerate(zip(one, other, strict=True)):
            if not _are_equal(first, second):
                return f"output {index}"
    return None if ran else ""


def _are_equal(one: Any, other: Any) -> bool:
    if isinstance(one, np.ndarray) and one.dtype != object:
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    return repr(one) == repr(other)


def main(paths: list[str]) -> None:
    """Fix each model, and print a line for each that changes."""
    for path in paths:
        with open(path, "rb") as file:
            data = with_other_zeros(file.read())
        try:
            after, count = fixed(data)
        except Exception as error:
            print(path, "FIX FAILED", repr(error)[:300], sep="\t", flush=True)
            continue
        if count:
            nodes = [len(onnx.load_from_string(each).graph.node) for each in (data, after)]
            said = difference(data, after)
            words = "equal" if said is None else said or "does not run"
            print(path, words, count, *nodes, len(data), len(after), sep="\t", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
