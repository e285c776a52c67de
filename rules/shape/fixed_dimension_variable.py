# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model
from onnx_lint.rule import Finding, findings_of, rule


@rule(clause="SHP-6b", since="0.2.0", about=Model.fixed_sizes, needs="node")
def fixed_dimension_variable(model: Model) -> Iterator[Finding]:
    """A dimension of the main graph is declared as a number, but its operator produces a variable of an input.

    ### How to fix

    Declare the variable, or leave the dimension open.

    - PyTorch: name the dimension in `dynamic_shapes=`; what stays a number was fixed by the code of the model.

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

    The input says that any size will do, and the declaration is true for one. Whoever prepares buffers by the
    declaration has the wrong ones for every other size, and ONNX Runtime warns at each run. The usual cause is an
    exporter that kept the size of the example with which the model was traced.

    ### Details

    The variable, or the expression of variables, that follows from the operators. Only declarations in the main
    graph are checked, and only variables that an input declares. There is one finding for each variable. The rule
    is off by default, since the model runs, and is right for one size. Two sizes of one variable are reported by
    `unsatisfiable-dimension-variable`.
    """
    for fixed in model.fixed_sizes:
        yield from findings_of(model, fixed)
