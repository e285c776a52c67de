# SPDX-License-Identifier: Apache-2.0
"""The Casts with which the types of a node's inputs may fit."""

from __future__ import annotations

from typing import Final

from onnx_lint.inference.flow.repair_edits import converted
from onnx_lint.inference.flow.type_conflict import OperandConflict
from onnx_lint.inference.types.problem import Differing, Disallowed
from onnx_lint.inference.types.type_string import TENSORS, ValueType
from onnx_lint.inference.types.typed_operator import allowed_types
from onnx_lint.ir.graph import Node
from onnx_lint.ir.operators.proposals import Proposal
from onnx_lint.spec.element_types import ELEMENT_TYPES
from onnx_lint.wording import quote

_USUAL: Final = ("tensor(float)", "tensor(int64)", "tensor(bool)")
"""The types that are tried where the operator allows several, behind those of the other inputs."""

_NOT_NUMBERS: Final = frozenset({"tensor(string)"})

_FLOATS: Final = frozenset({"tensor(bfloat16)", "tensor(double)", "tensor(float)", "tensor(float16)"})
"""The types whose values are no indices or sizes: where such are needed, another value was meant."""

MOST_TARGETS: Final = 2


def casts_for(conflict: OperandConflict) -> list[Proposal]:
    """Return a Cast of an input to each type with which the conflict may be gone."""
    problem, kinds = conflict.problem, conflict.inputs
    if isinstance(problem, Differing):
        pairs = [(problem.index, kinds[problem.other]), (problem.other, kinds[problem.index])]
    elif isinstance(problem, Disallowed):
        parameter = conflict.schema.input_at(problem.index)
        allowed = allowed_types(parameter) if parameter is not None else frozenset()
        targets = [each for each in dict.fromkeys((*kinds, *_USUAL)) if each in allowed]
        if kinds[problem.index] in _FLOATS:
            targets = [each for each in targets if each in _FLOATS or each == "tensor(bool)"]
        pairs = [(problem.index, each) for each in targets[:MOST_TARGETS]]
    else:
        return []
    return [
        _cast(conflict.node, index, kind)
        for index, kind in pairs
        if kind in TENSORS and kinds[index] in TENSORS and _NOT_NUMBERS.isdisjoint({kind, kinds[index]})
    ]


def _cast(node: Node, index: int, kind: ValueType | None) -> Proposal:
    code = TENSORS.index(kind)
    text = f"a Cast to {ELEMENT_TYPES[code].name.upper()} (to={code}) of input {index} {quote(node.inputs[index])}"
    return Proposal(text, lambda _: converted(node, index, code))
