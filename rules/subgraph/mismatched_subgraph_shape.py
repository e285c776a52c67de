# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.model import Model, has_shape_conflicts
from onnx_lint.rule import Finding, findings_of, replace, rule


@rule(clause=("SUB-7b", "SUB-7c"), since="0.1.0", about=has_shape_conflicts, needs="node")
def mismatched_subgraph_shape(model: Model) -> Iterator[Finding]:
    """The shape of an input or output of a subgraph is not the one that its operator supplies or requires.

    ### How to fix

    In the body, declare the shape that the operator supplies, here the shape of one row, or omit the declaration.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 5 } dim { dim_value: 3 } } } } }
    node { op_type: "Scan" input: "x" output: "y"
      attribute { name: "num_scan_inputs" type: INT i: 1 }
      attribute { name: "body" type: GRAPH g {
        input { name: "row" type { tensor_type { elem_type: 1 shape { dim { dim_value: 4 } } } } }
        node { op_type: "Relu" input: "row" output: "out" }
        output { name: "out" }
      } }
    }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 5 } dim { dim_value: 3 } } } } }
    node { op_type: "Scan" input: "x" output: "y"
      attribute { name: "num_scan_inputs" type: INT i: 1 }
      attribute { name: "body" type: GRAPH g {
        input { name: "row" type { tensor_type { elem_type: 1 shape { dim { dim_value: 3 } } } } }
        node { op_type: "Relu" input: "row" output: "out" }
        output { name: "out" }
      } }
    }
    ```

    ### Why it matters

    The nodes of the subgraph were written for the declared shape. A consumer refuses the model, fails at a node of
    the subgraph, or computes a wrong result.

    ### Details

    | Operator | What it supplies |
    |---|---|
    | Loop | the condition as the node gets it; the shapes of carried values may change from one run to the next |
    | Scan | each state as the node gets it, each scan input without its scan axis (version 8: without batch) |
    | SequenceMap | the elements of each sequence, and each tensor unchanged |

    - The body of a Scan must return each state with the shape that it has at the start, because all iterations have the
      same shapes.
    - Each iteration of a Loop or Scan must return the same shape for a scan output: the text of Loop calls other
      dimensions an error. Loops of a few known iterations are followed one by one.
    - Up to version 10, the branches of an If must return values of the same shapes.
    - In a branch of an If, or a body of a Loop, Scan or SequenceMap, that never runs because of constants, it is a
      warning.
    - An input of a subgraph may omit its type, and an unknown shape matches every shape.
    - Reported by other rules: types (`mismatched-subgraph-type`), and numbers of inputs and outputs
      (`mismatched-subgraph-signature`).
    """
    for conflict in model.value_flow.subgraph_shapes:
        clause = "SUB-7c" if model.value_flow.is_in_idle(conflict, conflict.node.graph) else "SUB-7b"
        words = model.value_flow.words_on_idle(conflict)
        for finding in findings_of(model, conflict, clause, anchor=f"Operators.md#{conflict.node.op_type}"):
            yield replace(finding, message=finding.message + words)
