# SPDX-License-Identifier: Apache-2.0
"""Finds initializers that are stored with a wrong type, as the one cause of the type conflicts of their readers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from onnx_lint import schema as messages
from onnx_lint.common.record import Record
from onnx_lint.inference.flow.repairs.fitting import declared_fact
from onnx_lint.inference.flow.type_conflict import OperandConflict
from onnx_lint.inference.types.problem import Differing, Disallowed
from onnx_lint.inference.types.type_string import FLOATS, TENSORS, ValueType
from onnx_lint.ir.graph import Definition, Graph
from onnx_lint.ir.operators.proposals import Proposal, Proposals
from onnx_lint.ir.places.edits import Assign
from onnx_lint.ir.places.place import Place
from onnx_lint.ir.tensors.stored_tensor import StoredTensor
from onnx_lint.spec.element_types import ELEMENT_TYPES
from onnx_lint.wording import quote

_MISTAKEN: Final = FLOATS | {"tensor(int32)", "tensor(int64)"}
"""The types that may be stored in place of a floating-point type. Narrower integers are quantized, or images."""

_MAX_IDENTITIES: Final = 4
"""The most Identity nodes in a row between an initializer and its reader."""


class _Reader(Record):
    """A node that reads an initializer whose type does not fit."""

    conflict: OperandConflict
    initializer: Definition
    required: ValueType | None
    """The type of the other operand; None if the operator does not take the type of the initializer."""


def wrongly_stored(
    conflicts: Iterable[OperandConflict],
    miscounted: Iterable[StoredTensor] = (),
    of_size: tuple[str, str] = ("", ""),
) -> dict[Place, Proposals]:
    """Return the change of an initializer that resolves a conflict, by the place of the conflict.

    A change resolves the conflicts of at least two readers. It may also resolve that of one, if the graph declares the
    initializer with the new type, or if its raw data has the size of that type. `miscounted`: the tensors of a wrong
    size; `of_size`: the rule and the clause of the findings on these.
    """
    relabelled = {each.place: each for each in miscounted if each.allowed_field == "raw_data" and each.has_wrong_size}
    readers: dict[Place, list[_Reader]] = {}
    for conflict in conflicts:
        for each in _readers(conflict):
            readers.setdefault(each.initializer.place, []).append(each)
    found: dict[Place, Proposals] = {}
    for of_one in sorted(readers.values(), key=len, reverse=True):
        left = [each for each in of_one if each.conflict.place not in found]
        kind = _fitting_type(left)
        if kind is None:
            continue
        initializer = left[0].initializer
        is_relabelled = _has_size_of(relabelled.get(initializer.place), kind)
        if len(left) > 1 or is_relabelled or _is_declared_as(initializer, kind):
            size = (*of_size, initializer.place.at("raw_data"))
            change = _stored_as(initializer, kind, also_fixes=(size,) if is_relabelled else ())
            found.update({each.conflict.place: change for each in left})
    return found


def _readers(conflict: OperandConflict) -> Iterator[_Reader]:
    """Yield the operands of a conflict that are initializers and may need a floating-point type."""
    problem, kinds = conflict.problem, conflict.inputs
    pairs: list[tuple[int, ValueType | None]] = []
    if isinstance(problem, Differing):
        pairs = [(problem.index, kinds[problem.other]), (problem.other, kinds[problem.index])]
    elif isinstance(problem, Disallowed):
        pairs = [(problem.index, None)]
    for index, required in pairs:
        initializer = _initializer_of(conflict.node.graph, conflict.node.inputs[index])
        if initializer is not None and kinds[index] in _MISTAKEN and (required is None or required in FLOATS):
            yield _Reader(conflict, initializer, required)


def _initializer_of(graph: Graph, name: str) -> Definition | None:
    """Return the initializer that a value is, directly or through Identity nodes.

    None if it is not one, or if it is the default of an input.
    """
    for _ in range(_MAX_IDENTITIES):
        definition = graph.definition_of(name)
        node = None if definition is None else definition.node
        if node is None or node.op_type != "Identity" or node.domain or len(node.inputs) != 1:
            break
        graph, name = node.graph, node.inputs[0]
    if definition is None or definition.field != "initializer" or name in definition.graph.input_names:
        return None
    return definition


def _fitting_type(readers: Iterable[_Reader]) -> ValueType | None:
    """Return the only floating-point type that fits all readers of an initializer; None if none or several do."""
    required: set[ValueType] = set()
    refusing = []
    for each in readers:
        if each.required is None:
            refusing.append(each.conflict)
        else:
            required.add(each.required)
    allowed = [each.types_allowed_for(each.problem.index) for each in refusing]
    fitting = frozenset(required or FLOATS).intersection(*allowed)
    return next(iter(fitting)) if len(fitting) == 1 and fitting >= required else None


def _is_declared_as(definition: Definition, kind: ValueType) -> bool:
    graph = definition.graph
    return declared_fact(graph, graph.initializer_names[definition.index]).kind == kind


def _has_size_of(stored: StoredTensor | None, kind: ValueType) -> bool:
    """Return whether the raw data of a tensor has the size that it needs with another type."""
    if stored is None or stored.elements is None:
        return False
    return ELEMENT_TYPES[TENSORS.index(kind)].bytes_of(stored.elements) == stored.count("raw_data")


def _stored_as(definition: Definition, kind: ValueType, also_fixes: tuple[tuple[str, str, Place], ...]) -> Proposals:
    """Return the proposal to store an initializer with another type.

    `also_fixes`: the finding on its size, if its bytes are of that type already.
    """
    name = definition.graph.initializer_names[definition.index]
    code = TENSORS.index(kind)
    kind_name = ELEMENT_TYPES[code].name.upper()
    # The bytes decide whether a wrong type was written, or wrong numbers: who does the other breaks the tensor.
    words = f"initializer {quote(name)} converted to {kind_name}"
    if also_fixes:
        words = f"data_type={code} ({kind_name}) of initializer {quote(name)}, whose bytes are of that type,"
    option = Proposal(
        words,
        partial(_edits, definition, name, code),
        tolerates_fixable_finding=True,
        leaves_out_numbers=True,
        also_fixes=also_fixes,
    )
    cause = f"{definition.place} as {kind}"
    return Proposals("with {} the types fit", lambda: (option,), cause=cause)


def _edits(definition: Definition, name: str, code: int, _: object) -> Iterator[Assign]:
    """Yield the edit that a trial makes. The new initializer has no elements, as the types do not depend on them."""
    dims = definition.graph.message_at("initializer", definition.index).dims
    yield Assign(definition.place, messages.message("TensorProto")(name=name, dims=dims, data_type=code))
