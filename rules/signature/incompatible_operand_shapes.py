# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from onnx_lint.inference.flow.repairs.constant_fixes import ScalarFix
from onnx_lint.inference.flow.repairs.exchange import MAX_TRIED_INPUTS, exchange_of
from onnx_lint.inference.flow.shape_conflict import ShapeConflict
from onnx_lint.inference.shapes.problem import WrongRank
from onnx_lint.ir.operators.proposals import Proposal, preferred
from onnx_lint.model import Model, has_shape_conflicts
from onnx_lint.rule import Finding, findings_of_nodes, replace, reworded, rule


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

    Follow the shape back to the place where it first differs from what you meant: an input with a wrong declaration, a
    missing or surplus Reshape or Transpose, weights of another layer. The finding says where each shape comes from. If
    one change of the node makes its shapes fit, for example `transB=1`, another `axis`, an Unsqueeze of a bias or two
    exchanged inputs, the help line says it. onnx-lint tries each change on a copy of the model.

    `onnx-lint fix --unsafe-fixes` (unsafe: the tensor gets another shape) makes a scalar of a constant `[1]` if all its
    users require a scalar: `initializer { name: "min" data_type: 1 dims: 1 float_data: 0 }` of a Clip becomes
    `initializer { name: "min" data_type: 1 float_data: 0 }`.

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

    The operator is not defined for such operands. A consumer that checks them refuses the model; another one reads
    beyond its buffers or fails during the run.

    ### Details

    - Each input must have a rank that the operator's description allows, equal sizes where it requires them, and shapes
      that broadcast where the operator broadcasts.
    - A dimension without a size, a variable, and a value that follows from an unknown operator fit everything.
    - Shapes follow from inputs, initializers, attributes and declarations through all nodes, subgraphs and functions. A
      function is checked with the arguments of its calls. The outputs of a node with a finding are unknown.
    - A wrong rank where a scalar or a list is required is an error if onnx.checker or ONNX Runtime refuses it, or fails
      in the run. It is a warning if they accept one element of another rank: a bound of Clip as `[1]`, the shape of
      Expand as a scalar. It is not reported if the test cases of ONNX write it: the axis of Unsqueeze.
    - An empty operand of Concat, such as the past of a first step, must have the sizes of the others beside the axis.
      Consumers that know these sizes when they load the model refuse it: an error, also if nodes compute a size from
      constants. If it follows from a size of the run, it is a warning: ONNX Runtime leaves out an empty operand, and so
      do the inferred shapes. An empty element of ConcatFromSequence is a warning of `unsupported-operand-value`.
    - Where numbers differ and the node could run with empty tensors only, it is an error: `[N, 1]` beside `[N, 4]` in a
      Concat along axis 0, whose text does not except empty tensors, or ranks 2 and 3. Where only names contradict each
      other, such as N and 2*N, it is a warning of `unsatisfiable-dimension-variable`: no program enforces names.
    - A fault is a warning in a branch or body that never runs because of constants: PyTorch writes such branches.
    - Operators of com.microsoft: an error is what ONNX Runtime refuses when it creates a session, and a shape without
      which every run fails. It is a warning if only the description requires the shape.
    - Not checked: a node with wrong operands, attributes or types, and a deprecated operator.
    - Reported by other rules: values that decide shapes (`unsupported-operand-value`), attributes
      (`impossible-operator-extent`).
    """
    conflicts = [conflict for conflict in model.value_flow.shapes if conflict.source is None]
    clauses = (
        (each, "NOD-8d" if each.is_accepted_rank or each.warning is not None else "NOD-8a") for each in conflicts
    )
    of_place = {each.place: each for each in reversed(conflicts)}

    def with_proposals(finding: Finding) -> Finding:
        options = partial(_options, model, of_place[finding.place])
        return replace(
            finding, proposals=replace(of_place[finding.place].proposals, options=options, changes_node=True)
        )

    for finding in findings_of_nodes(model, clauses, fix=ScalarFix(conflicts, model.graphs).fix_for):
        yield reworded(finding, with_proposals)


def _options(model: Model, conflict: ShapeConflict) -> Sequence[Proposal]:
    """Return the changes of the node, or else the exchange of two inputs, with which its shapes fit.

    If an input has too few dimensions, the exchange is preferred to an axis more.
    """
    changes = conflict.proposals.options()
    if changes and not isinstance(conflict.problem, WrongRank):
        return changes
    exchange = exchange_of(conflict.node, model.operators, model.value_flow, MAX_TRIED_INPUTS)
    return changes if exchange is None else [*preferred([exchange.proposal]), *changes]
