# SPDX-License-Identifier: Apache-2.0
"""The types that a file declares, and whether any of them is unusual."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from onnx_lint.common.cached import cached_property
from onnx_lint.inference.types.usual_types import is_usual, sight_of
from onnx_lint.ir.attributes import AttributeIndex
from onnx_lint.ir.graph import Graph
from onnx_lint.ir.parts import Type
from onnx_lint.schema import Proto

if TYPE_CHECKING:
    from onnx_lint.inference.types.distinct_types import TypeIndex


class DeclaredTypes:
    """The TypeProtos of value infos, of attributes, and of a file that is one (`of_files`)."""

    def __init__(self, graphs: Sequence[Graph], attributes: AttributeIndex, of_files: Sequence[Type]) -> None:
        self._graphs = graphs
        self._attributes = attributes
        self._of_files = of_files

    def where(self, is_wanted: Callable[[Proto], bool]) -> Iterator[Type]:
        """Yield each type for which `is_wanted` returns true; element types come after the type that contains them."""
        return self.index.where(is_wanted)

    @cached_property
    def index(self) -> TypeIndex:
        """The index with each distinct type once."""
        from onnx_lint.inference.types.distinct_types import TypeIndex

        return TypeIndex(self._graphs, self._attributes, self._of_files)

    @cached_property
    def has_unusual(self) -> bool:
        """True if a type is not usual, see onnx_lint.inference.types.usual_types: few rules check usual ones."""
        return self._are_elsewhere or not all(map(is_usual, self._of_value_infos))

    @cached_property
    def has_odd_variables(self) -> bool:
        """True if a dimension variable may not be a C90 identifier."""
        return self._are_elsewhere or not all(sight_of(kind).has_plain_variables for kind in self._of_value_infos)

    @cached_property
    def _are_elsewhere(self) -> bool:
        return bool(self._of_files) or any(
            "tp" in kind.fields or "type_protos" in kind.fields for kind in self._attributes.kinds
        )

    @cached_property
    def _of_value_infos(self) -> set[bytes]:
        """The distinct serialized TypeProtos of the value infos; empty for an absent one."""
        lists = [values.types for graph in self._graphs for values in graph.value_infos.values()]
        return set[bytes]().union(*lists)
