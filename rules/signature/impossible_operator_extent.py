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

    Correct the attribute that the message names. The message says which values the input allows. In the example, each
    stride must be 1 or more.

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

    Axes, sizes, counts and the lengths of lists must fit the input as the operator's description requires, and a list
    must not repeat an axis. The message says what is required.

    - Convolution and pooling need a positive number in `strides`, `dilations` and `kernel_shape` for each spatial axis.
    - A padding of a pool that is as wide as its kernel is a warning: no text forbids it, but ONNX Runtime creates no
      session.
    - MeanVarianceNormalization without `axes`: the input must have the default axes [0, 2, 3]. If it has three
      dimensions, that is a warning, because ONNX Runtime loads the model.
    - Resize with `tf_crop_and_resize`, but without the region to crop (`roi`), is a warning.
    - Multinomial with `sample_size` 0 is a warning: ONNX does not forbid it, but ONNX Runtime fails at such a node.
    - MatMulNBits (com.microsoft): `bits` must be 2, 4 or 8. There and in GatherBlockQuantized, `block_size` must be a
      power of two from 16 on.
    - Imputer needs one imputed value, or one for each element of the last dimension. ONNX Runtime loads other numbers.
      It is a warning if `replaced_value_int64` does not fit int32, or if the attribute is for the other type of input.
    - Operators of ai.onnx.ml with F features: LinearRegressor needs F `coefficients` for each target, LinearClassifier
      at least F for each intercept, support vectors F numbers each, ZipMap F keys, Scaler one `offset` and `scale` or
      F. Trees must not test a feature beyond the last one.
    - SVMClassifier and SVMRegressor need as much in each list as `vectors_per_class` or `n_supports` requires.
    - Gradient may have one output for each of `xs`.
    - Dimensions follow from inputs, initializers and declarations (see `incompatible-operand-shapes`). What depends on
      an unknown dimension is not checked.
    - An attribute that refers to a parameter of a function is checked with the values of calls and defaults.
    - Reported by another rule: the same numbers in an input (`unsupported-operand-value`).
    """
    conflicts = (conflict for conflict in model.value_flow.shapes if isinstance(conflict.source, str))
    yield from findings_of_nodes(
        model, ((each, "NOD-7f" if each.warning is not None else "NOD-7b") for each in conflicts)
    )
