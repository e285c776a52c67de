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

    Use sizes that fit the input: here steps of 1 or more.

    ### Example

    ```
    node { op_type: "Conv" input: "x" input: "w" output: "y" attribute { name: "strides" type: INTS ints: [0, 0] } }
    ```

    Corrected:

    ```
    node { op_type: "Conv" input: "x" input: "w" output: "y" attribute { name: "strides" type: INTS ints: [1, 1] } }
    ```

    ### Why it matters

    Consumers rely on these numbers. Some divided by a stride of 0, or wrote beyond a buffer for a kernel of more axes
    than the input has.

    ### Details

    - Convolution and pooling, also those of ONNX Runtime: `strides`, `dilations` and `kernel_shape` have a positive
      number for each spatial axis of the input, and `group` is positive.
    - Split: `num_outputs` is the number of the node's outputs.
    - RNN, GRU and LSTM: `hidden_size` is positive.
    - Scan: an axis and a direction for each scan input and scan output.
    - LinearRegressor and tree ensembles: at least one target.
    - RotaryEmbedding: `rotary_embedding_dim` is at most the size of a head.
    - Gradient: an input for each tensor of `xs` and `zs`, and at most one output for each of `xs`.
    - MeanVarianceNormalization without `axes`: the input has the default axes [0, 2, 3]. A tensor of three dimensions
      is a warning, because ONNX Runtime runs it.
    - MatMulNBits of ONNX Runtime: `bits` is 2, 4 or 8. There and in GatherBlockQuantized, `block_size` is a power of
      two from 16 on.
    - SVMClassifier and SVMRegressor: the support vectors, coefficients and class labels that `vectors_per_class` or
      `n_supports` requires, and at least one number in `rho` and `prob_a` for each pair of classes.
    - ZipMap of [N, F]: a key for each column ("There must be as many columns as keys").
    - Scaler of [N, F]: one `offset` and `scale`, or F.
    - Imputer: one imputed value, or the size of the last dimension ("may be 1 or F"). ONNX Runtime uses the first of
      other numbers for all features, and the message says it.
    - LinearRegressor: F `coefficients` for each target ("M sets of coefficients must be passed in"). LinearClassifier:
      at least F for each intercept. ONNX Runtime ignores further coefficients, and the message says it.
    - Support vectors: F numbers each. Trees: no test of a feature beyond the last one. FeatureVectorizer: an element in
      `inputdimensions` for each input.
    - Any operator: axes that the input has, each once in a list; lists of one number for each dimension of the input;
      sizes and counts that fit the input, all as the operator's description requires.
    - Dimensions follow from inputs, initializers and declarations (see `incompatible-operand-shapes`). What depends on
      an unknown dimension is not checked.
    - An attribute that refers to a parameter of a function is checked with the values of calls and defaults.
    - Reported by another rule: the same numbers in an input (`unsupported-operand-value`).
    """
    conflicts = (conflict for conflict in model.value_flow.shapes if isinstance(conflict.source, str))
    yield from findings_of_nodes(model, ((each, "NOD-7f" if each.remark else "NOD-7b") for each in conflicts))
