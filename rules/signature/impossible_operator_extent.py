# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, has_shape_conflicts
from onnx_lint.rule import Finding, findings_of_nodes, rule


@rule(
    clause=("NOD-7b", "NOD-7f"),
    since="0.1.0",
    about=has_shape_conflicts,
    needs="node",
    security=("CWE-125", "CWE-369", "CWE-787"),
)
def impossible_operator_extent(model: Model) -> Iterator[Finding]:
    """A size, count or axis in the attributes of a node is impossible for the shapes of its inputs.

    ### How to fix

    Give sizes that go with the input: here steps of 1 or more.

    ### Example

    ```
    node { op_type: "Conv" input: "x" input: "w" output: "y" attribute { name: "strides" type: INTS ints: [0, 0] } }
    ```

    Corrected:

    ```
    node { op_type: "Conv" input: "x" input: "w" output: "y" attribute { name: "strides" type: INTS ints: [1, 1] } }
    ```

    ### Why it matters

    Readers rely on these numbers. Some divided by a stride of 0, or wrote beyond a buffer for a kernel of more axes
    than the input has.

    ### Details

    - Convolution and pooling: `strides`, `dilations` and `kernel_shape` of positive numbers, one for each spatial axis
      of the input; `group` positive.
    - Split: `num_outputs` is the number of the node's outputs.
    - RNN, GRU and LSTM: `hidden_size` positive.
    - Scan: an axis and a direction for each scan input and scan output.
    - LinearRegressor and tree ensembles: at least one target.
    - RotaryEmbedding: `rotary_embedding_dim` at most the size of a head.
    - Gradient: an input for each tensor of `xs` and `zs`, and at most an output for each of `xs`.
    - MeanVarianceNormalization without `axes`, whose default [0, 2, 3] a tensor of three dimensions does not have: a
      warning, as ONNX Runtime runs it.
    - MatMulNBits of ONNX Runtime: 2, 4 or 8 `bits`, a `block_size` that is a power of two from 16 on, as it is in
      GatherBlockQuantized. The pools and convolutions of ONNX Runtime: windows as those of ONNX.
    - SVMClassifier and SVMRegressor: as many support vectors, coefficients and class labels as `vectors_per_class` or
      `n_supports` say, and at least one number in `rho` and `prob_a` for each pair of classes.
    - Classical machine learning, for input features [N, F]: a key of ZipMap for each column ("There must be as many
      columns as keys"); one `offset` and `scale` of Scaler, or F; one imputed value of Imputer, or as many as the last
      dimension has ("may be 1 or F"); F `coefficients` of LinearRegressor for each target ("M sets of coefficients
      must be passed in"), at least F of LinearClassifier for each intercept, F numbers for each support vector; no node
      of a tree that tests a feature beyond the last one; an element in `inputdimensions` of FeatureVectorizer for each
      input. ONNX Runtime runs some of them: where there are other numbers of imputed values it takes the first one for
      all features, and it passes over further coefficients. The message says so.
    - Any operator: an axis that the input has and a list that has it once, a list with as many numbers as the input has
      dimensions, sizes and counts that go with the input's, as the operator's description has it.

    Dimensions are those that follow from inputs, initializers and declarations, see `incompatible-operand-shapes`;
    where nothing is known, nothing is judged that depends on it. Attributes that refer to a parameter of a function
    are judged by what calls and defaults give. The same numbers in an input are reported by
    `unsupported-operand-value`.
    """
    conflicts = (conflict for conflict in model.value_flow.shapes if isinstance(conflict.source, str))
    yield from findings_of_nodes(model, ((each, "NOD-7f" if each.remark else "NOD-7b") for each in conflicts))
