# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, ScalarFix, has_shape_conflicts
from onnx_lint.rule import Finding, findings_of_nodes, rule


@rule(
    clause=("NOD-8a", "NOD-8d"),
    since="0.1.0",
    about=has_shape_conflicts,
    needs="node",
    security=("CWE-125", "CWE-787"),
)
def incompatible_operand_shapes(model: Model) -> Iterator[Finding]:
    """The shapes of a node's inputs are not those that its operator takes, or do not fit each other.

    ### How to fix

    Follow the shape back to where it first differs from what is meant: an input that is declared wrongly, a Reshape
    or Transpose too few or too many, weights of another layer. `onnx-lint fix --unsafe-fixes` (unsafe: the tensor
    gets another shape) makes a scalar of a constant `[1]` if all its users require a scalar: `initializer { name:
    "min" data_type: 1 dims: 1 float_data: 0 }` of a Clip becomes `initializer { name: "min" data_type: 1 float_data: 0
    }`. The finding says where each shape comes from. If one change of the node makes its shapes fit, such as
    `transB=1` or an Unsqueeze of a bias, the help line says so.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 3 } } } } }
    input { name: "w" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } dim { dim_value: 5 } } } } }
    node { op_type: "MatMul" input: "x" input: "w" output: "y" }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 3 } } } } }
    input { name: "w" type { tensor_type { elem_type: 1 shape { dim { dim_value: 3 } dim { dim_value: 5 } } } } }
    node { op_type: "MatMul" input: "x" input: "w" output: "y" }
    ```

    ### Why it matters

    The operator is not defined for such operands: a product of matrices whose inner dimensions differ has no result.
    A consumer that looks refuses the model; one that does not reads beyond its buffers, or fails in the middle.

    ### Details

    For each input the ranks that the operator's description allows, equal sizes where it requires them, and shapes
    that broadcast where the operator broadcasts. Whatever is unknown fits everything: a dimension without a size, a
    variable, a value behind an unknown operator.

    Some operators require a scalar, or a list, and onnx.checker and ONNX Runtime take one element of another rank: a
    bound of Clip as `[1]`, the shape of Expand as a scalar. That is a warning, whose message says so, and nothing where
    the test cases of ONNX write it so themselves (the axis of Unsqueeze, the position in a sequence). It is an error
    where they refuse it: for the bounds of Range and the size of a window only where the operand is a constant, as
    both look at constants alone.

    Shapes follow from inputs, initializers, attributes and declarations through all nodes, subgraphs and functions,
    and so do the values that decide shapes. A function is judged with the arguments of its calls, and a fault in its
    body is reported once. The outputs of a node with such a fault count as unknown. A node whose operands, attributes
    or types are wrong is not judged, and neither is an operator that is deprecated. In a branch of If that never runs,
    because its condition is constant, a fault is a warning: PyTorch writes such branches, and onnx and ONNX Runtime
    refuse them only if they infer the same shapes.

    For operators of ONNX Runtime (com.microsoft) the source is what it refuses when it creates a session: scales of
    QLinearAdd that are not scalars, queries of GroupQueryAttention in two dimensions. A shape that their descriptions
    state counts as well if every run of the node fails without it: the bias of BiasGelu and Attention, that of FastGelu
    of float32 (the bias of other types broadcasts), the factors of SkipLayerNormalization, the caches of
    RotaryEmbedding, the scales of MatMulNBits, the past and biases of Attention, MultiHeadAttention and
    GroupQueryAttention. What only their description requires, and ONNX Runtime does not check on the processor, is a
    warning that says so: the caches of PagedAttention, bytes of MatMulBnb4 beyond those of its matrix.

    Values that decide shapes are reported by `unsupported-operand-value`, attributes by
    `impossible-operator-extent`.
    """
    conflicts = [conflict for conflict in model.value_flow.shapes if conflict.source is None]
    clauses = ((each, "NOD-8d" if each.is_taken or each.remark else "NOD-8a") for each in conflicts)
    yield from findings_of_nodes(model, clauses, fix=ScalarFix(conflicts, model.graphs).of)
