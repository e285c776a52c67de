# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from onnx_lint.model import Declaration, Delete, EarlierStatements, Fix, Model
from onnx_lint.rule import Finding, Related, rule
from onnx_lint.wording import quote


@rule(clause="VI-6", since="0.1.0", about=Model.repeated_declarations, needs="attribute")
def contradictory_value_info(model: Model) -> Iterator[Finding]:
    """Two declarations of a value contradict each other: in `value_info`, as graph input or output, or as initializer.

    ### How to fix

    Delete the entry of `value_info`. `onnx-lint fix` does it (safe). After you changed shapes, clear `value_info` and
    let `onnx.shape_inference.infer_shapes` write it again.

    ### Example

    ```
    node { op_type: "Relu" input: "x" output: "y" }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    value_info { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 3 } } } } }
    ```

    Corrected:

    ```
    node { op_type: "Relu" input: "x" output: "y" }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } } } } }
    ```

    ### Why it matters

    Consumers differ in which declaration they believe, and it decides how much memory they allocate and which kernels
    they pick.

    ### Details

    - Two declarations contradict each other if the kind of type, the element type or the rank differ, or if one
      dimension has two sizes.
    - A missing type, shape or dimension and a dimension variable contradict nothing.
    - The entry is not deleted if its value follows from a node or initializer that has another finding, or is an
      input that may be wrong at such a node: the entry may be right. Functions and subgraphs are followed, and errors
      that the settings hide count as well.
    - Reported by other rules: an input and its default value (`mismatched-default-value`), two entries of `value_info`
      (`duplicate-value-info`), two entries of the outputs (`duplicate-graph-output`), types that follow only from
      operators (`contradictory-declared-type`, `contradictory-declared-shape`).
    """
    for declarations in chain.from_iterable(model.repeated_declarations.values()):
        yield from _contradictions(_without_doubt(declarations))


def _contradictions(declarations: list[Declaration]) -> Iterator[Finding]:
    earlier: dict[str, EarlierStatements] = {}
    for index, declaration in enumerate(declarations):
        if declaration.field in ("output", "value_info"):
            others = (
                known.first_against(declaration) for field, known in earlier.items() if field != declaration.field
            )
            first = min((other for other in others if other is not None), default=None)
            if first is not None:
                yield _finding(declaration, declarations[first])
        earlier.setdefault(declaration.field, EarlierStatements()).add(index, declaration)


def _cause(declaration: Declaration, other: Declaration) -> str | None:
    """Return the same text for the entries of a graph that contradict initializers in one way: stale ones."""
    if declaration.field != "value_info" or not other.is_initializer:
        return None
    types = declaration.element_type, other.element_type
    return f"{declaration.graph.place} {types if types[0] != types[1] else 'shape'}"


def _without_doubt(declarations: list[Declaration]) -> list[Declaration]:
    """Return the declarations without outputs that contradict each other: another finding, and any of them is wrong."""
    outputs = EarlierStatements()
    for index, declaration in enumerate(declarations):
        if declaration.field == "output":
            if outputs.first_against(declaration) is not None:
                return [other for other in declarations if other.field != "output"]
            outputs.add(index, declaration)
    return declarations


def _finding(declaration: Declaration, other: Declaration) -> Finding:
    fix = Fix(
        f"delete {declaration.describe()}",
        (Delete(declaration.place),),
        trusts=(declaration.graph.place, declaration.name),
    )
    return Finding(
        declaration.place,
        f"{declaration.describe()} is declared as {declaration.describe_type()}, "
        f"but {other.field.replace('_', ' ')} {quote(other.name)} as {other.describe_type()}",
        related=(Related(other.place, f"the other declaration of {quote(other.name)}"),),
        allowed=f"a type that fits {other.describe_type()}",
        subject=declaration.name,
        cause=_cause(declaration, other),
        fix=fix if declaration.field == "value_info" else "either declaration may be wrong",
        inner=declaration.contradiction(other),
    )
