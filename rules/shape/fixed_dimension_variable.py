# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, declared_sizes
from onnx_lint.rule import Finding, findings_of, rule


@rule(clause="SHP-6b", since="0.2.0", about=declared_sizes, needs="node")
def fixed_dimension_variable(model: Model) -> Iterator[Finding]:
    """A dimension of the main graph is declared as a number, but its operator produces a variable of an input.

    ### How to fix

    Declare the variable, or leave the dimension open.

    - PyTorch: name the dimension in `dynamic_shapes=`. If it stays a number, the code of the model fixed it.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    node { op_type: "Relu" input: "x" output: "y" }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 7 } } } } }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    node { op_type: "Relu" input: "x" output: "y" }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    ```

    ### Why it matters

    The input allows any size, but the declaration is true for only one. A caller that allocates buffers by the
    declaration allocates the wrong size for all others. The usual cause is an exporter that kept the size of the
    example input.

    ### Details

    - The output must be declared with the variable, or the expression of variables, that follows from the operators.
    - Only declarations in the main graph, and variables that an input declares, are checked.
    - There is one finding for each variable.
    - The rule is off by default, because the model runs and is correct for one size.
    - Reported by another rule: two sizes of one variable (`unsatisfiable-dimension-variable`).
    """
    for declared in declared_sizes(model):
        yield from findings_of(model, declared)
