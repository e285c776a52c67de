# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, dimension_contradictions
from onnx_lint.rule import Finding, findings_of, rule


@rule(clause="SHP-6a", since="0.1.0", about=dimension_contradictions, needs="node")
def unsatisfiable_dimension_variable(model: Model) -> Iterator[Finding]:
    """Nodes and declarations contradict each other about the size of a dimension variable.

    ### How to fix

    Use another name for each size that may differ, or leave the dimension open.

    - PyTorch: `dynamic_axes` of `torch.onnx.export(..., dynamo=False)` takes any name for the dimensions of outputs;
      use that of an input only where both always agree. `dynamic_shapes=` finds the sizes of outputs by itself.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    input { name: "one" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } }
    node { op_type: "Concat" input: "x" input: "one" output: "y" attribute { name: "axis" type: INT i: 0 } }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    input { name: "one" type { tensor_type { elem_type: 1 shape { dim { dim_value: 1 } } } } }
    node { op_type: "Concat" input: "x" input: "one" output: "y" attribute { name: "axis" type: INT i: 0 } }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N + 1" } } } } }
    ```

    ### Why it matters

    Callers allocate buffers by the names. An output declared as N that has N + 1 rows does not fit, and no input has
    two dimensions N of sizes 4 and 5.

    ### Details

    - "A dimension variable "N" represents the same value across the entire graph in a model." The main graph, its
      functions and the training algorithms share their variables; an initialization graph has its own.
    - A name in `value_info` of a function is compared with nothing, also not with itself: a function is not part of the
      graph, each call may pass other sizes, and no text says how far such a name reaches.
    - A variable is compared with the size that follows for a declared dimension, with the inner dimensions of a matrix
      product (MatMul, MatMulInteger, Gemm), the bias of Gemm unless it is 1, the channels and the bias of a convolution
      (Conv, ConvTranspose), the scales and biases of BatchNormalization, GroupNormalization, InstanceNormalization,
      LayerNormalization and RMSNormalization unless they are 1, and the axes along which Concat does not join.
    - The nodes of a function are compared in each of its calls. A size that only the default of an input says is none.
    - Sums and products of variables are compared: N is never N + 1, and 2*N is never 5. A name like "N + 1" is a
      variable of its own.
    - All equations with the same single variable are compared together. They may have minima, maxima, and quotients
      that are rounded down: a third of N, rounded down, is never N + 1.
    - Where only the size 0 fits, such as N for 2*N, the message says "no size above 0": only empty tensors run.
    - Two numbers that differ beside a variable are an error of other rules, if the model computes both.
    - A Reshape of `[N, 6]` that is declared as `[N, 3]` is reported here, also if the new shape is unknown: the model
      runs with 2*N rows.
    - Broadcasting gives no variable a size, because it may be 1. A size that other nodes require must broadcast.
    - The documentation of Concat requires the sizes of an empty operand as well, although ONNX Runtime ignores it: a
      past `[2, 0]` beside `[N, K]` contradicts 3 for N elsewhere.
    - A size in a nested graph applies to that graph only, because it may not run. The message then ends with "where"
      the graph runs.
    - Declarations in a nested graph are not compared with each other.
    - There is one finding for each variable, and none of `frozen-dimension-variable`, except in a graph that may not
      run. It is a warning, because no program enforces the names: the model runs, and two tensors with a dimension N
      may differ.
    - Other checkers do not report it, because each declaration by itself fits any size.
    - Reported by other rules: an initializer and its input (`contradictory-dimension-variable`), two sizes without a
      variable (`contradictory-declared-shape`, `incompatible-operand-shapes`), two sizes of a variable within one node
      (`incompatible-operand-shapes`).
    """
    for contradiction in dimension_contradictions(model):
        yield from findings_of(model, contradiction)
