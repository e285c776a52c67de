# SPDX-License-Identifier: Apache-2.0
"""Finds initializers that are stored with a wrong type: the one cause of the conflicts of all that read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from onnx_lint import schema as messages
from onnx_lint.common.record import Record
from onnx_lint.inference.flow.repairs import declared_fact
from onnx_lint.inference.flow.type_conflict import OperandConflict
from onnx_lint.inference.types.problem import Differing, Disallowed
from onnx_lint.inference.types.type_string import TENSORS, ValueType
from onnx_lint.inference.types.typed_operator import allowed_types
from onnx_lint.ir.graph import Definition, Graph
from onnx_lint.ir.operators.proposals import Proposal, Proposals
from onnx_lint.ir.places.edits import Assign
from onnx_lint.ir.places.place import Place
from onnx_lint.spec.element_types import ELEMENT_TYPES
from onnx_lint.wording import quote

_FLOATS: Final = frozenset({"tensor(double)", "tensor(float)", "tensor(float16)", "tensor(bfloat16)"})

_CONVERTED: Final = _FLOATS | {"tensor(int32)", "tensor(int64)"}
"""The types of which a floating-point type was meant. Narrower integers are quantized, or images."""

_MOST_PASSED: Final = 4
"""The most nodes of Identity in a row between an initializer and its reader."""


class _Reader(Record):
    """A conflict about an initializer."""

    conflict: OperandConflict
    definition: Definition
    wanted: ValueType | None
    """The type of the other operand; None if the operator refuses the type of the initializer."""


def wrongly_stored(conflicts: Iterable[OperandConflict]) -> dict[Place, Proposals]:
    """Return by the place of each conflict the change of the initializer that explains it and others.

    The conflicts are those of at least two readers, or of one if the initializer is declared with the fitting type.
    """
    readers: dict[Place, list[_Reader]] = {}
    for conflict in conflicts:
        for each in _readers(conflict):
            readers.setdefault(each.definition.place, []).append(each)
    found: dict[Place, Proposals] = {}
    for same in sorted(readers.values(), key=len, reverse=True):
        left = [each for each in same if each.conflict.place not in found]
        kind = _fitting(left)
        if kind is not None and (len(left) > 1 or _is_declared_as(left[0].definition, kind)):
            found.update(dict.fromkeys([each.conflict.place for each in left], _stored_as(left[0].definition, kind)))
    return found


def _readers(conflict: OperandConflict) -> Iterator[_Reader]:
    """Yield the floating-point initializers that a conflict may be about."""
    problem, kinds = conflict.problem, conflict.inputs
    pairs: list[tuple[int, ValueType | None]] = []
    if isinstance(problem, Differing):
        pairs = [(problem.index, kinds[problem.other]), (problem.other, kinds[problem.index])]
    elif isinstance(problem, Disallowed):
        pairs = [(problem.index, None)]
    for index, wanted in pairs:
        definition = _origin(conflict.node.graph, conflict.node.inputs[index])
        if definition is not None and kinds[index] in _CONVERTED and (wanted is None or wanted in _FLOATS):
            yield _Reader(conflict, definition, wanted)


def _origin(graph: Graph, name: str) -> Definition | None:
    """Return the initializer that a value is, also behind Identity; None if it is none, or an input may replace it."""
    for _ in range(_MOST_PASSED):
        definition = graph.definition_of(name)
        node = None if definition is None else definition.node
        if node is None or node.op_type != "Identity" or node.domain or len(node.inputs) != 1:
            break
        graph, name = node.graph, node.inputs[0]
    if definition is None or definition.field != "initializer" or name in definition.graph.input_names:
        return None
    return definition


def _fitting(readers: Iterable[_Reader]) -> ValueType | None:
    """Return the one type that all readers of an initializer need; None if there is none, or if it is not known."""
    kinds: set[ValueType] = set()
    refusing = []
    for each in readers:
        if each.wanted is None:
            refusing.append(each.conflict)
        else:
            kinds.add(each.wanted)
    parameters = (each.schema.input_at(each.problem.index) for each in refusing)
    allowed = [frozenset() if each is None else allowed_types(each) for each in parameters]
    fitting = frozenset(kinds or _FLOATS).intersection(*allowed)
    return next(iter(fitting)) if len(fitting) == 1 and fitting >= kinds else None


def _is_declared_as(definition: Definition, kind: ValueType) -> bool:
    graph = definition.graph
    return declared_fact(graph, graph.initializer_names[definition.index]).kind == kind


def _stored_as(definition: Definition, kind: ValueType) -> Proposals:
    """Return the change of the type of an initializer. Its numbers do not matter for the trial."""
    name = definition.graph.initializer_names[definition.index]
    code = TENSORS.index(kind)
    words = f"initializer {quote(name)} as {ELEMENT_TYPES[code].name.upper()}"
    option = Proposal(words, partial(_edits, definition, name, code), is_sure=True, leaves_out_numbers=True)
    cause = f"{definition.place} as {kind}"
    return Proposals("with {} the types fit", lambda: (option,), cause=cause)


def _edits(definition: Definition, name: str, code: int, _: object) -> Iterator[Assign]:
    dims = definition.graph.message_at("initializer", definition.index).dims
    yield Assign(definition.place, messages.message("TensorProto")(name=name, dims=dims, data_type=code))
