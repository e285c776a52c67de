# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, has_type_conflicts
from onnx_lint.rule import Finding, conversions_apart, findings_of, rule


@rule(clause="NOD-8", since="0.1.0", about=has_type_conflicts, needs="node")
def mismatched_subgraph_type(model: Model) -> Iterator[Finding]:
    """An input or output of a subgraph is of another type than its control-flow operator needs there.

    ### How to fix

    Let both branches produce the type of the node's output, with a Cast where they differ. In a framework, convert
    before the export, for example with `x.float()` in one branch.

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

    The operator passes values to the subgraph and takes values from it. If the types differ, it has no type to produce,
    and consumers refuse the model.

    ### Details

    | Operator | What agrees |
    |---|---|
    | If | the outputs of the two branches, each with its counterpart |
    | Loop | iteration number tensor(int64), condition tensor(bool) in and out, carried values in and out |
    | Scan | each input with what is supplied, the state going in and coming out |
    | SequenceMap | each input with the tensor, or the element of the sequence, that is supplied |
    | FlexAttention | `score_mod` and `prob_mod`: what is supplied, and what comes back |

    - FlexAttention supplies scores in the type of `softmax_precision`. Without it, they are float64 for inputs of
      float64, and float32 for all others.
    - Each scan output of a Loop is a tensor.
    - An input of a subgraph need not be declared. An unknown type agrees with everything.
    - A value that a Loop carries may start as an optional type and continue as the type in it, as in a test case of
      ONNX.
    - Reported by other rules: shapes (`mismatched-subgraph-shape`), numbers of inputs and outputs
      (`mismatched-subgraph-signature`).
    """
    # `unconverted-optional` reports the conversions.
    for conflict in conversions_apart(model, model.value_flow.subgraphs):
        yield from findings_of(model, conflict)
