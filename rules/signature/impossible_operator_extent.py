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

    - Convolution and pooling, also those of com.microsoft: `strides`, `dilations` and `kernel_shape` must have a
      positive number for each spatial axis of the input, and `group` must be positive.
    - Split: `num_outputs` must be the number of the node's outputs.
    - RNN, GRU and LSTM: `hidden_size` must be positive.
    - Scan needs an axis and a direction for each scan input and scan output.
    - LinearRegressor and tree ensembles need at least one target.
    - RotaryEmbedding: `rotary_embedding_dim` must be at most the size of a head.
    - Gradient needs an input for each tensor of `xs` and `zs`, and may have one output for each of `xs`.
    - MeanVarianceNormalization without `axes`: the input must have the default axes [0, 2, 3]. A tensor of three
      dimensions is a warning, because ONNX Runtime loads it.
    - MatMulNBits (com.microsoft): `bits` must be 2, 4 or 8. There and in GatherBlockQuantized, `block_size` must be a
      power of two from 16 on.
    - SVMClassifier and SVMRegressor need the support vectors, coefficients and class labels that `vectors_per_class` or
      `n_supports` requires, and at least one number in `rho` and `prob_a` for each pair of classes.
    - ZipMap of [N, F] needs a key for each column ("There must be as many columns as keys").
    - Scaler of [N, F] needs one `offset` and `scale`, or F.
    - Imputer needs one imputed value, or the size of the last dimension ("may be 1 or F"). ONNX Runtime loads other
      numbers.
    - The imputed values of Imputer "must all fit within the width of the tensor element type". A value to replace that
      no int32 can have, or in the attribute for inputs of the other kind, is a warning.
    - Resize with `tf_crop_and_resize` and without `roi`, the region to crop, is a warning.
    - Multinomial with `sample_size` 0 is a warning: no text forbids it, but ONNX Runtime fails at such a node.
    - LinearRegressor needs F `coefficients` for each target ("M sets of coefficients must be passed in").
      LinearClassifier needs at least F for each intercept. The message says if there are more.
    - Support vectors need F numbers each. Trees must not test a feature beyond the last one. FeatureVectorizer needs an
      element in `inputdimensions` for each input.
    - Any operator: axes, sizes, counts and the lengths of lists must fit the input as the operator's description
      requires. A list must not repeat an axis.
    - Dimensions follow from inputs, initializers and declarations (see `incompatible-operand-shapes`). What depends on
      an unknown dimension is not checked.
    - An attribute that refers to a parameter of a function is checked with the values of calls and defaults.
    - Reported by another rule: the same numbers in an input (`unsupported-operand-value`).
    """
    conflicts = (conflict for conflict in model.value_flow.shapes if isinstance(conflict.source, str))
    yield from findings_of_nodes(
        model, ((each, "NOD-7f" if each.remark is not None else "NOD-7b") for each in conflicts)
    )
