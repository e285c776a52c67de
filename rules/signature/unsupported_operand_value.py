# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.inference.flow.shape_conflict import ShapeConflict
from onnx_lint.inference.shapes.problem import WrongValue, is_warning
from onnx_lint.ir.operators.string_casts import StringCast, string_casts
from onnx_lint.model import Model, has_wrong_values
from onnx_lint.rule import Finding, findings_of_nodes, on_elements, rule
from onnx_lint.wording import and_others, quote


@rule(clause=("NOD-8b", "NOD-8e", "NOD-8f", "NOD-8h", "NOD-8i"), since="0.1.0", about=has_wrong_values, needs="node")
def unsupported_operand_value(model: Model) -> Iterator[Finding]:
    """An input whose value determines a shape has a value that is impossible for the shapes of the other inputs.

    ### How to fix

    Compute the value from the shapes: a size that was fixed when the model was exported fits no other input. In
    Reshape, one -1 means the remaining elements.

    - PyTorch: `dynamic_shapes=` exports sizes that may change as computations instead of numbers.

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

    The node has no result: six elements cannot be reshaped to seven, and a tensor of two dimensions has no axis 5.
    Most consumers refuse the model, or fail when they run the node.

    ### Details

    - Axes, sizes, repeats, steps and pads, and their number, must fit the shapes of the other inputs as the operator's
      description requires.
    - Known values are those of initializers and Constant nodes, and results of operators with which exporters compute
      shapes (Shape, Gather, Concat, arithmetic on integers and others). An unknown value fits everything.
    - Constants that refer to images (RoiAlign) or to lengths (ReverseSequence, RNN, GRU and LSTM) must be in range.
    - `iou_threshold` of NonMaxSuppression must be from 0 to 1.
    - SequenceAt and SequenceErase need an element in the sequence, and OptionalGetElement one in the optional. In a
      subgraph an empty value from outside is not reported, because the subgraph may run only if there is an element.
    - ConcatFromSequence needs elements of one shape, except for the dimension along which it concatenates.
    - TopK needs at least one element, and RotaryEmbedding a position that its caches have.
    - DequantizeLinear of int32 must have a zero point of 0 or none.
    - MaxUnpool must not have an index beyond its output, or below 0.
    - A border of a Pad with `mode` "reflect" that is as wide as the axis is a warning: the mirror leaves out
      the outermost element. A negative pad of the other side removes elements first. ONNX Runtime refuses it from 1.32
      on; releases before read beyond it.
    - A warning, because the text does not say what it means: a probability of Bernoulli that is not from 0 to 1, and a
      Cast or CastLike of a constant string that is no number, also to a Boolean.
    - A constant 0 that divides integers (Div, Mod) is a warning: ONNX does not forbid it, but ONNX Runtime creates no
      session.
    - ScatterND and, from version 16 on, ScatterElements that write to one place twice without a `reduction` are a
      warning: the text says that they should not, but does not forbid it.
    - In a branch or body that never runs because of constants, it is a warning.
    - Reported by another rule: the same numbers in attributes (`impossible-operator-extent`).
    """
    conflicts = (conflict for conflict in model.value_flow.shapes if isinstance(conflict.source, int))
    yield from findings_of_nodes(model, ((each, _clause_of(each)) for each in conflicts))
    for cast in string_casts(model.operators, lambda name, graph: model.value_flow.fact_of(name, graph).kind):
        yield on_elements(_of_string, cast, 1 + len(cast.others), (cast, *cast.others))


def _of_string(cast: StringCast, count: int) -> Finding:
    node = cast.node
    what = f"element {cast.index} of input 0 {quote(node.inputs[0])} of {node.describe()}"
    string = quote(cast.string.decode("utf-8", "surrogateescape"))
    return Finding(
        node.place.at("input", 0),
        f"{what} is {string}, which is no number{and_others(count)}",
        clause="NOD-8i",
        allowed="a number such as 3.14 or 1e-5, INF or NaN",
        subject=node.inputs[0],
        inner=f"element {cast.index}",
    )


def _clause_of(conflict: ShapeConflict) -> str:
    if is_warning(conflict.problem):
        return "NOD-8e"
    if conflict.warning is not None:
        return "NOD-8f" if conflict.schema.name in ("Div", "Mod") else "NOD-8i"
    is_without_shapes = isinstance(conflict.problem, WrongValue) and conflict.problem.is_without_shapes
    return "NOD-8h" if is_without_shapes else "NOD-8b"
