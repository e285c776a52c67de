# SPDX-License-Identifier: Apache-2.0
"""Fixes that give constant operands the form that all their users require."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, ClassVar, Final

from onnx_lint.common.cached import cached_property
from onnx_lint.common.record import Record
from onnx_lint.inference.flow.conflict import NodeConflict
from onnx_lint.inference.flow.shape_conflict import ShapeConflict
from onnx_lint.inference.flow.type_conflict import OperandConflict
from onnx_lint.inference.shapes.problem import WrongRank
from onnx_lint.inference.types.problem import Disallowed
from onnx_lint.ir.graph import Definition, Graph, Node
from onnx_lint.ir.operators.mismatch import attributes_with
from onnx_lint.ir.places.edits import Assign, Delete, Edit, Fix
from onnx_lint.ir.places.place import Place
from onnx_lint.schema import message

if TYPE_CHECKING:
    from onnx_lint.schema import Proto


_INT64: Final = 7
"""The number of the element type."""

_BYTES_OF_INT32: Final = 4

_VALUES: Final = {"value", "value_floats"}
"""The attributes of a Constant that are a tensor or a list of numbers."""


class _ConstantFix(ABC):
    """One fix for all constants of a model with one fault. Findings that are only about such constants share it."""

    _reason: ClassVar[str]
    """Why a constant with the fault is not changed."""
    _is_safe: ClassVar[bool]

    def __init__(self, conflicts: Iterable[NodeConflict], graphs: Sequence[Graph]) -> None:
        self._conflicts = [conflict for conflict in conflicts if self._operand(conflict) is not None]
        self._graphs = graphs

    @abstractmethod
    def _message(self, tensors: str) -> str:
        """Return the message of the fix of some tensors, for example "2 tensors"."""

    @abstractmethod
    def _operand(self, conflict: NodeConflict) -> int | None:
        """Return the index of the input that may be such a constant; None for another conflict."""

    @abstractmethod
    def _edit(self, constant: _StoredConstant) -> Edit | None:
        """Return the edit that changes a constant; None if that is impossible."""

    @abstractmethod
    def _declaration(self, graph: Graph, index: int) -> Edit | None:
        """Return the edit of the entry of `value_info` of a constant that changes."""

    def fix_for(self, conflicts: Iterable[NodeConflict]) -> Fix | str | None:
        """Return the `fix` of a finding about these conflicts: the fix if it resolves all, or the reason why not.

        None if a conflict is of another kind.
        """
        names = [self._name(conflict) for conflict in conflicts]
        if None in names:
            return None
        return self._fix if self._constants.keys() >= set(names) else self._reason

    def _name(self, conflict: NodeConflict) -> str | None:
        operand = self._operand(conflict)
        return None if operand is None else conflict.node.inputs[operand]

    @cached_property
    def _fix(self) -> Fix:
        edits = tuple(self._constants.values())
        tensors = "1 tensor" if len(edits) == 1 else f"{len(edits):,} tensors"
        return Fix(self._message(tensors), (*edits, *self._declarations()), self._is_safe)

    def _declarations(self) -> Iterator[Edit]:
        """Yield the edits of the declarations of the constants in `value_info`."""
        for graph in self._graphs:
            for index, name in enumerate(graph.value_info_names):
                edit = self._declaration(graph, index) if name in self._constants else None
                if edit is not None:
                    yield edit

    @cached_property
    def _constants(self) -> Mapping[str, Edit]:
        """The edit of each constant whose every use requires it, by the name of the constant."""
        operands: dict[str, set[Place]] = {}
        edits: dict[str, dict[Place, Edit]] = {}
        for conflict in self._conflicts:
            operand, node = self._operand(conflict), conflict.node
            assert operand is not None
            name = node.inputs[operand]
            operands.setdefault(name, set()).add(node.place.at("input", operand))
            constant = _constant(node.graph.definition_of(name))
            edit = self._edit(constant) if constant is not None else None
            if edit is not None and not _is_list_inside(node, operand):
                edits.setdefault(name, {})[edit.place] = edit
        uses = self._count_uses(edits)
        return {
            name: next(iter(found.values()))
            for name, found in edits.items()
            if len(found) == 1 and uses[name] == len(operands[name])
        }

    def _count_uses(self, wanted: Container[str]) -> Counter[str]:
        """Return how often nodes read each of these values, or graphs declare it as an input or output."""
        found: Counter[str] = Counter()
        for graph in self._graphs:
            for names in chain(graph.node_inputs, (graph.input_names, graph.output_names)):
                found.update(name for name in names if name in wanted)
        return found


class ScalarFix(_ConstantFix):
    """Makes scalars of lists of one element."""

    _reason = "only a constant of one element that nothing else uses or declares as a list can become a scalar"
    _is_safe = False

    def _message(self, tensors: str) -> str:
        return f"remove the dimensions of {tensors} of one element"

    def _operand(self, conflict: NodeConflict) -> int | None:
        problem = conflict.problem if isinstance(conflict, ShapeConflict) else None
        return problem.operand if isinstance(problem, WrongRank) and problem.greatest == 0 else None

    def _edit(self, constant: _StoredConstant) -> Edit | None:
        place, value = constant.place, constant.message
        if place.field == "attribute":
            if len(value.floats) != 1:
                return None
            return Assign(place, message("AttributeProto")(name="value_float", type=1, f=value.floats[0]))
        return Delete(place.at("dims")) if set(value.dims) == {1} else None

    def _declaration(self, graph: Graph, index: int) -> Edit | None:
        shape = graph.at("value_info", index).at("type").at("tensor_type").at("shape")
        return Delete(shape.at("dim")) if graph.message_at("value_info", index).type.tensor_type.shape.dim else None


class Int64Fix(_ConstantFix):
    """Makes tensors of int64 of those of int32 where an operator takes int64 alone, such as the shape of a Reshape."""

    _reason = "only a constant that no other inputs use can be converted to int64"
    _is_safe = True

    def _message(self, tensors: str) -> str:
        return f"convert {tensors} from int32 to int64"

    def _operand(self, conflict: NodeConflict) -> int | None:
        if not isinstance(conflict, OperandConflict) or not isinstance(conflict.problem, Disallowed):
            return None
        index = conflict.problem.index
        return index if (conflict.inputs[index], conflict.allowed) == ("tensor(int32)", "tensor(int64)") else None

    def _edit(self, constant: _StoredConstant) -> Edit | None:
        old = constant.message
        numbers = None if constant.place.field == "attribute" else _int32_numbers(old)
        if numbers is None:
            return None
        new = message("TensorProto")()
        new.CopyFrom(old)
        for field in ("int32_data", "raw_data"):
            new.ClearField(field)
        new.data_type = _INT64
        new.int64_data.extend(numbers)
        return Assign(constant.place, new)

    def _declaration(self, graph: Graph, index: int) -> Edit | None:
        if graph.message_at("value_info", index).type.tensor_type.elem_type == _INT64:
            return None
        return Assign(graph.at("value_info", index).at("type").at("tensor_type").at("elem_type"), _INT64)


def _is_list_inside(node: Node, operand: int) -> bool:
    """Return whether a body declares its input of the same index as a list: a Loop passes its operands on by index."""
    bodies = [graph for graph in node.graph.nested if graph.position == node.index]
    return any(
        bool(body.message_at("input", operand).type.tensor_type.shape.dim)
        for body in bodies
        if operand < len(body.input_names)
    )


def _int32_numbers(tensor: Proto) -> Sequence[int] | None:
    """Return the numbers of a scalar or list of int32; None if they are not in the file, or too few or many."""
    if tensor.data_location or tensor.HasField("segment"):
        return None
    raw = tensor.raw_data
    is_raw = bool(raw) and len(raw) % _BYTES_OF_INT32 == 0
    numbers = [number for (number,) in struct.iter_unpack("<i", raw)] if is_raw else tensor.int32_data
    count = tensor.dims[0] if tensor.dims else 1
    return numbers if len(numbers) == count else None


class _StoredConstant(Record):
    """The stored value of a constant: a tensor, or the attribute of a Constant with a list of numbers."""

    message: Proto
    place: Place


def _constant(definition: Definition | None) -> _StoredConstant | None:
    """Return the stored value of a constant; None for other values."""
    if definition is None:
        return None
    if definition.field == "initializer":
        return _StoredConstant(definition.graph.message_at("initializer", definition.index), definition.place)
    node = definition.node
    if node is None or node.op_type != "Constant" or node.domain not in ("", "ai.onnx"):
        return None
    index = next(attributes_with(node, _VALUES), None)
    if index is None:
        return None
    attribute, place = node.attribute_protos[index], node.place.at("attribute", index)
    return _StoredConstant(attribute.t, place.at("t")) if attribute.HasField("t") else _StoredConstant(attribute, place)
