# SPDX-License-Identifier: Apache-2.0
"""The models of the suite that violate one clause and nothing else, each also with its content in other places.

A program may look for a fault in the main graph, and not in a branch, in the body of a function or in the training. So
what onnx-lint says of programs is tried in each place where a rule finds the fault.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from google.protobuf.message import DecodeError
from onnx import ModelProto, TensorProto, helper, numpy_helper

from conformance.suite import export
from onnx_lint import Settings, lint
from onnx_lint.ir.documents.kinds import MODEL_KIND
from onnx_lint.report.findings import Diagnostic
from onnx_lint.spec.clauses import Severity, clauses
from support.models.relocated_graphs import is_plain, moved_into_branch, moved_into_function

PEDANTIC: Final = Settings(pedantic=True)


class Faulty(NamedTuple):
    """A file in which only one clause is violated, and the first finding about it."""

    path: Path
    found: Diagnostic


def placed_faults(folder: Path) -> Iterator[Faulty]:
    """Write the suite and its moved models into a new folder, and yield the files that violate one clause."""
    for case in export(folder):
        if case.message != MODEL_KIND or case.form != "binary" or not case.faults:
            continue
        path = folder / case.file
        for file in (path, *_moved(path)):
            found = [item for item in lint(file, PEDANTIC).diagnostics if _is_judged(item)]
            if len({(item.clause, item.cited.case) for item in found}) == 1:
                yield Faulty(file, found[0])


def _is_judged(item: Diagnostic) -> bool:
    """Return whether a finding may be a reason to refuse a model: no advice, and not what nearly all models have."""
    clause = clauses()[item.clause]
    return item.severity is not Severity.NOTE and (clause.presence == "listed" or bool(clause.refused_by))


def _moved(path: Path) -> Iterator[Path]:
    """Write the same content into the other places that can have it, and yield the files."""
    model = ModelProto()
    try:
        model.ParseFromString(path.read_bytes())
    except DecodeError:
        return
    if not is_plain(model):
        return
    places = {"body": moved_into_function(model), "training": _moved_into_training(model)}
    branch = _moved_into_branch(model)
    if branch is not None:
        places |= {"branch": branch, "nested": moved_into_function(branch)}
    for name, moved in places.items():
        file = path.with_name(f"{path.stem}.{name}.onnx")
        file.write_bytes(moved.SerializeToString())
        yield file


def _moved_into_branch(model: ModelProto) -> ModelProto | None:
    """Return the model with its graph as a branch; None if the other branch cannot have outputs of the same types."""
    moved: ModelProto = moved_into_branch(model)
    del moved.opset_import[-1]  # the operator set of the other branch
    other = moved.graph.node[0].attribute[1].g
    del other.node[:]
    for value in other.output:
        kind = value.type.tensor_type
        if not kind.elem_type or kind.elem_type == TensorProto.STRING:
            return None
        shape = [dim.dim_value if dim.dim_value > 0 else 1 for dim in kind.shape.dim]
        try:
            zeros = np.zeros(shape, helper.tensor_dtype_to_np_dtype(kind.elem_type))
            other.initializer.append(numpy_helper.from_array(zeros, f"{value.name}_zeros"))
        except (KeyError, ValueError, TypeError, MemoryError):
            return None
        other.node.add(
            op_type="Identity", name=f"{value.name}_node", input=[f"{value.name}_zeros"], output=[value.name]
        )
    return moved


def _moved_into_training(model: ModelProto) -> ModelProto:
    """Return the model with its graph as the algorithm of a training, beside a main graph that is right."""
    moved = ModelProto()
    moved.CopyFrom(model)
    moved.ir_version = max(model.ir_version, 7)
    moved.training_info.add().algorithm.CopyFrom(model.graph)
    graph = moved.graph
    graph.Clear()
    graph.name = "wrapper"
    graph.node.add(op_type="Relu", name="metamorphic_main", input=["metamorphic_x"], output=["metamorphic_y"])
    for list_, name in ((graph.input, "metamorphic_x"), (graph.output, "metamorphic_y")):
        tensor = list_.add(name=name).type.tensor_type
        tensor.elem_type = 1
        tensor.shape.dim.add(dim_value=2)
    return moved
