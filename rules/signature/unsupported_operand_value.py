# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, has_shape_conflicts, is_remark
from onnx_lint.rule import Finding, findings_of_nodes, rule


@rule(clause=("NOD-8b", "NOD-8e", "NOD-8f"), since="0.1.0", about=has_shape_conflicts, needs="node")
def unsupported_operand_value(model: Model) -> Iterator[Finding]:
    """An input whose value determines a shape has a value that is impossible for the shapes of the other inputs.

    ### How to fix

    Compute the value so that it goes with the shapes; a size that was written down when the model was exported fits no
    other input. In Reshape one -1 means the remaining elements.

    - PyTorch: `dynamic_shapes=` keeps sizes that may change as computations and writes no numbers.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 3 } } } } }
    initializer { name: "shape" data_type: 7 dims: 2 int64_data: [7, 7] }
    node { op_type: "Reshape" input: "x" input: "shape" output: "y" }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 3 } } } } }
    initializer { name: "shape" data_type: 7 dims: 2 int64_data: [3, -1] }
    node { op_type: "Reshape" input: "x" input: "shape" output: "y" }
    ```

    ### Why it matters

    The node has no result: six elements cannot be reshaped to seven, and a tensor of two dimensions has no axis 5. A
    consumer that computes shapes ahead of the run refuses the model, others fail when they come to the node.

    ### Details

    The axes, sizes, repeats, steps and pads that the operator's description takes for the shapes of the other inputs,
    and as many of them. Known values are those of initializers and Constant nodes, and the results of the operators
    with which exporters compute shapes (Shape, Gather, Concat, arithmetic on integers and others). An unknown value
    fits everything.

    Constants that count things are in the range of these: the images of RoiAlign, the lengths in ReverseSequence, RNN,
    GRU and LSTM, which are at most the number of steps. `iou_threshold` of NonMaxSuppression is from 0 to 1.

    SequenceAt and SequenceErase take nothing from a sequence without elements, whatever the position is. Nor does
    OptionalGetElement from an optional that is empty: "It is an error if the input is an empty optional-type". In a
    subgraph an empty value from outside is not reported, as the subgraph may run only if there is an element.
    ConcatFromSequence takes elements that "have the same shape, except for the dimension size of the axis to
    concatenate on".

    TopK takes at least one element, RotaryEmbedding a position that its caches have, and DequantizeLinear for int32 no
    zero point but 0. A constant 0 that divides integers (Div, Mod) is a warning: no text forbids it, but ONNX Runtime
    makes no session.

    ScatterND and, from version 16 on, ScatterElements should not write to one place twice, unless they have a
    `reduction`. The text does not forbid it, so that is a warning.

    The same numbers in attributes are reported by `impossible-operator-extent`.
    """
    conflicts = (conflict for conflict in model.value_flow.shapes if isinstance(conflict.source, int))
    clauses = (
        (each, "NOD-8e" if is_remark(each.problem) else "NOD-8f" if each.remark else "NOD-8b") for each in conflicts
    )
    yield from findings_of_nodes(model, clauses)
