# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, has_type_conflicts
from onnx_lint.rule import Finding, findings_of, rule


@rule(clause="OPT-4", since="0.1.0", about=has_type_conflicts, needs="node")
def unconverted_optional(model: Model) -> Iterator[Finding]:
    """A value of an optional type is used where its element type is needed, or the other way round.

    ### How to fix

    Take the value out with OptionalGetElement, or declare the value without the optional type if it is always there.

    ### Example

    ```
    input { name: "x" type { optional_type { elem_type { tensor_type { elem_type: 1 shape { } } } } } }
    node { op_type: "Relu" input: "x" output: "y" }
    ```

    Corrected:

    ```
    input { name: "x" type { optional_type { elem_type { tensor_type { elem_type: 1 shape { } } } } } }
    node { op_type: "OptionalGetElement" input: "x" output: "element" }
    node { op_type: "Relu" input: "element" output: "y" }
    ```

    ### Why it matters

    An optional value may be empty, but the operator needs a value. ONNX converts nothing implicitly, and consumers
    refuse the model.

    ### Details

    - OptionalGetElement takes the value out of an optional value; Optional wraps a value.
    - Without them, an optional value may only be passed to operators whose signature has the optional type, to graph
      outputs that declare it, and to subgraphs whose inputs declare it.
    - The type in the optional may be unknown: `optional(?)`. Functions that nothing calls are checked as well.
    - From operator set 18 on, OptionalGetElement and OptionalHasElement also take other values.
    - Optional inputs of operators, which a node may omit, are not optional types.
    - Edition 1.9 has no optional types. There, `mismatched-operand-type` and similar rules report such values.
    """
    for conflict in model.value_flow.conflicts():
        if conflict.lacks_conversion:
            yield from findings_of(model, conflict)
