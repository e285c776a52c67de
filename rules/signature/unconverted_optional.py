# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, has_type_conflicts
from onnx_lint.rule import Finding, findings_of, rule


@rule(clause="OPT-4", since="0.1.0", about=has_type_conflicts, needs="node")
def unconverted_optional(model: Model) -> Iterator[Finding]:
    """A value of an optional type is used where its element type is needed, or the other way round.

    ### How to fix

    Take the value out with OptionalGetElement, or declare the value without the optional type where it is always
    there.

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

    An optional value may be empty, and operators take values that are there. Nothing converts the one to the other by
    itself; consumers refuse the model.

    ### Details

    The operator OptionalGetElement takes the value out of an optional one, and Optional puts it into one. Without
    them an optional value goes only to operators whose signature has the optional type, to graph outputs that are
    declared so, and to subgraphs whose inputs are. OptionalGetElement and OptionalHasElement take other values too
    from operator set 18 on. Optional inputs of operators, which may be left out, are something else than optional
    types.

    Edition 1.9 does not know optional types; there, `mismatched-operand-type` and similar rules report such values.
    """
    for conflict in model.value_flow.conflicts():
        if conflict.lacks_conversion:
            yield from findings_of(model, conflict)
