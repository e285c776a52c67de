# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, has_type_conflicts
from onnx_lint.rule import Finding, conversions_apart, findings_of, rule


@rule(clause="NOD-8", since="0.1.0", about=has_type_conflicts, needs="node")
def mismatched_subgraph_type(model: Model) -> Iterator[Finding]:
    """An input or output of a subgraph is of another type than its control-flow operator needs there.

    ### How to fix

    Let both branches give the type that the node's output is to have, with a Cast where they differ. In a framework
    make it so before the export, as with `x.float()` in one branch.

    ### Example

    ```
    node { op_type: "If" input: "condition" output: "y"
      attribute { name: "then_branch" type: GRAPH g {
        node { op_type: "Constant" output: "t" attribute { name: "value_float" type: FLOAT f: 1 } }
        output { name: "t" type { tensor_type { elem_type: 1 shape { } } } } } }
      attribute { name: "else_branch" type: GRAPH g {
        node { op_type: "Constant" output: "e" attribute { name: "value_int" type: INT i: 1 } }
        output { name: "e" type { tensor_type { elem_type: 7 shape { } } } } } }
    }
    ```

    Corrected:

    ```
    node { op_type: "If" input: "condition" output: "y"
      attribute { name: "then_branch" type: GRAPH g {
        node { op_type: "Constant" output: "t" attribute { name: "value_float" type: FLOAT f: 1 } }
        output { name: "t" type { tensor_type { elem_type: 1 shape { } } } } } }
      attribute { name: "else_branch" type: GRAPH g {
        node { op_type: "Constant" output: "e" attribute { name: "value_float" type: FLOAT f: 2 } }
        output { name: "e" type { tensor_type { elem_type: 1 shape { } } } } } }
    }
    ```

    ### Why it matters

    The operator hands values to the subgraph and takes values from it. With types that do not agree it has none that
    it could produce, and consumers refuse the model.

    ### Details

    | Operator | What agrees |
    |---|---|
    | If | the outputs of the two branches, each with its counterpart |
    | Loop | iteration number tensor(int64), condition tensor(bool) in and out, carried values in and out |
    | Scan | each input with what is supplied, the state going in and coming out |
    | SequenceMap | each input with the tensor, or the element of the sequence, that is supplied |
    | FlexAttention | `score_mod` and `prob_mod`: what is supplied, and what comes back |

    FlexAttention supplies scores in the type of `softmax_precision`; without it in float64 for inputs of float64,
    and in float32 for all others. Each scan output of a Loop is a tensor. An input of a subgraph need not be
    declared, and what is not known agrees with everything. A value that a Loop carries may begin as an optional
    type and go on as the type in it, as a test case of ONNX does. Shapes are reported by
    `mismatched-subgraph-shape`, numbers of inputs and outputs by `mismatched-subgraph-signature`.
    """
    for conflict in conversions_apart(model, model.value_flow.subgraphs):
        yield from findings_of(model, conflict)
