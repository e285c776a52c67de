# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterable, Iterator

from onnx_lint.ir.names.declaration_index import AxesOfOneRank
from onnx_lint.model import Declaration, Graph, Model, Place
from onnx_lint.rule import Finding, Record, Related, rule
from onnx_lint.wording import quote


@rule(clause="SHP-6", since="0.1.0", about=Model.repeated_declarations, needs="attribute")
def contradictory_dimension_variable(model: Model) -> Iterator[Finding]:
    """A dimension variable has two sizes.

    ### How to fix

    Use one variable for sizes that are always equal, and another one where they may differ.

    - PyTorch: one `torch.export.Dim` in `dynamic_shapes=` for each size; reuse it only where sizes agree.

    ### Example

    ```
    input { name: "a" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    input { name: "b" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    initializer { name: "a" data_type: 1 dims: 2 float_data: [1, 2] }
    initializer { name: "b" data_type: 1 dims: 3 float_data: [1, 2, 3] }
    ```

    Corrected:

    ```
    input { name: "a" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    input { name: "b" type { tensor_type { elem_type: 1 shape { dim { dim_param: "M" } } } } }
    initializer { name: "a" data_type: 1 dims: 2 float_data: [1, 2] }
    initializer { name: "b" data_type: 1 dims: 3 float_data: [1, 2, 3] }
    ```

    ### Why it matters

    A variable has one size in the whole model. Runtimes rely on it to plan memory and to verify inputs; they refuse or
    misread the model.

    ### Details

    - The main graph and the graphs nested in it share their variables. Functions and initialization graphs have their
      own. IR.md contradicts itself: its table of names scopes variables to each value, its section on shapes to the
      model; onnx-lint follows the section on shapes.
    - Only what the file declares is compared. A variable has a size if one declaration of a value has the variable and
      another one a number: an initializer and the input whose default it is, an output and its `value_info`.
    - The branches of an `If` are not compared with each other, because only one runs.
    - There is one finding for each variable.
    """
    bindings: dict[Graph, dict[str, _Binding]] = {}
    reported: set[str] = set()
    for graph, repeated in model.repeated_declarations.items():
        outer = [bindings[other] for other, _ in graph.scopes() if other in bindings]
        known = ChainMap(bindings.setdefault(graph, {}), *outer)
        for binding in _bindings(repeated):
            first = known.setdefault(binding.variable, binding)
            if first.size != binding.size and binding.variable not in reported:
                reported.add(binding.variable)
                yield _finding(first, binding)


class _Binding(Record):
    """A dimension with a variable whose size is known."""

    variable: str
    size: int
    declaration: Declaration
    """The place of the variable."""
    source: Declaration
    """The place of the size."""
    axis: int

    @property
    def place(self) -> Place:
        """The place of the variable."""
        place = self.declaration.place.at("type").at(str(self.declaration.kind)).at("shape")
        return place.at("dim", self.axis).at("dim_param")

    def describe(self) -> str:
        """The place where the variable has the size, for messages."""
        source = f"whose {self.source.field.replace('_', ' ')} is {self.source.describe_type()}"
        return f"{self.size} in {self.declaration.describe()}, {source}"


def _bindings(repeated: Iterable[list[Declaration]]) -> Iterator[_Binding]:
    for declarations in repeated:
        # A different rank is a contradiction of its own, and says nothing about the axis.
        of_rank: dict[int, AxesOfOneRank] = {}
        for index, declaration in enumerate(declarations):
            dimensions = declaration.dimensions or []
            of_rank.setdefault(len(dimensions), AxesOfOneRank()).add(index, dimensions)
        found = sorted(binding for group in of_rank.values() for binding in group.bindings())
        for index, source, axis, variable, size in found:
            yield _Binding(variable, size, declarations[index], declarations[source], axis)


def _finding(first: _Binding, second: _Binding) -> Finding:
    return Finding(
        second.place,
        f"dimension variable {quote(second.variable)} is {second.describe()}, and {first.describe()}",
        related=(
            Related(second.source.place, f"the size {second.size}"),
            Related(first.place, f"first use of {quote(first.variable)}"),
            Related(first.source.place, f"the size {first.size}"),
        ),
        allowed="one size for each dimension variable",
        subject=second.variable,
    )
