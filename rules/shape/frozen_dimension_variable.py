# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, required_sizes
from onnx_lint.rule import Finding, findings_of, rule


@rule(clause=("SHP-6c", "SHP-6d"), since="0.3.0", about=required_sizes, needs="node")
def frozen_dimension_variable(model: Model) -> Iterator[Finding]:
    """An input is declared with a dimension variable, but the nodes run with one size of it only.

    ### How to fix

    Let the constant that the message names keep the dimension open, or declare the input with the size.

    - PyTorch: compute the new shape from `x.shape` (`x.reshape(x.shape[0], -1)`), not from a Python number, and name
      the dimension in `dynamic_shapes=`.
    - In a constant shape of a Reshape, write -1 (or 0, which copies) in place of the size of the example.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } dim { dim_value: 4 } } } } }
    initializer { name: "s" dims: 2 data_type: 7 int64_data: 1 int64_data: 4 }
    node { op_type: "Reshape" input: "x" input: "s" output: "y" }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } dim { dim_value: 4 } } } } }
    initializer { name: "s" dims: 2 data_type: 7 int64_data: -1 int64_data: 4 }
    node { op_type: "Reshape" input: "x" input: "s" output: "y" }
    ```

    ### Why it matters

    The input promises that any size runs. With any other size than the one in the message, the node fails. The usual
    cause is a batch of 1 in the example input, which tracing or the folding of constants wrote into the model.

    ### Details

    - A variable is reported if one of these allows only one size of it (SHP-6c, a warning):
        - Reshape: the number of elements.
        - Concat: the axes along which it does not join.
        - Squeeze: the axes that it removes.
        - Split, SplitToSequence: constant sizes.
        - Attention: the mask.
        - ScatterElements, ScatterND, TensorScatter: the updates.
        - RNN, GRU, LSTM: the initial states and sequence lengths.
        - Gemm: the rows of the bias, unless they are 1.
    - A size of 0 besides is not counted, because only empty tensors have it. The message then says "or 0".
    - ONNX Runtime leaves out an empty operand of Concat, such as the past of a first step, against the text. Such an
      operand fixes no size, nor does one that is empty if a size of an input is 0. If another dimension of the operand
      with the variable may be 0, such as that of `x[:, :-1]`, the message says "where no operand is empty".
    - A size that only the weights of a product, convolution, normalization or recurrent operator fix, such as the
      channels of an image, is reported with `--pedantic` (SHP-6d).
    - A size that the default of an input says is none: as of IR version 4 callers may pass another value.
    - Variables of inputs without a default are checked. There is one finding for each variable.
    - Sizes follow through all nodes of the main graph, and of its functions in each call. A nested graph decides only
      if constants make it run: the branch of an If with a constant condition, or the body of a Loop with at least one
      run.
    - Broadcasting proves nothing, because a variable may be 1.
    - A size that another input of the graph is declared with is not reported.
    - Reported by other rules: a declared size of an output (`fixed-dimension-variable`), a variable for which no size
      is right (`unsatisfiable-dimension-variable`).
    """
    for required in required_sizes(model):
        yield from findings_of(model, required, "SHP-6d" if required.is_by_weights else "SHP-6c")
