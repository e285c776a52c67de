# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from onnx_lint.inference.flow.declared_inputs import other_inputs
from onnx_lint.inference.flow.repairs.casts import casts_for, omitted, other_number
from onnx_lint.inference.flow.repairs.constant_fixes import Int64Fix
from onnx_lint.inference.flow.repairs.exchange import MAX_TRIED_INPUTS, exchange_of
from onnx_lint.inference.flow.repairs.whole_numbers import as_integers
from onnx_lint.inference.flow.stored_types import wrongly_stored
from onnx_lint.inference.flow.type_conflict import OperandConflict, refused_initializers
from onnx_lint.inference.flow.unread_values import UnreadValues, unread_values_for
from onnx_lint.ir.operators.proposals import Proposal, preferred
from onnx_lint.model import Fix, Model, Proposals, has_type_conflicts
from onnx_lint.model.import_proposals import proposed_import_for_several, proposed_import_for_types
from onnx_lint.rule import Finding, conversions_apart, findings_of_nodes, replace, rule


@rule(clause="NOD-8", since="0.1.0", about=has_type_conflicts, needs="node")
def mismatched_operand_type(model: Model) -> Iterator[Finding]:
    """The type of a node's input or output is not one that its operator allows.

    ### How to fix

    Convert the operands to one type with Cast, or declare the type that you meant: ONNX converts nothing implicitly. In
    PyTorch, convert before the export, for example with `x.double()`.

    `onnx-lint fix` (safe) makes an int64 tensor of an int32 constant that is read only where int64 is required, such as
    the shape of a Reshape.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { } } } }
    input { name: "y" type { tensor_type { elem_type: 11 shape { } } } }
    node { op_type: "Add" input: "x" input: "y" output: "z" }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { } } } }
    input { name: "y" type { tensor_type { elem_type: 11 shape { } } } }
    node { op_type: "Cast" input: "x" output: "x_double" attribute { name: "to" type: INT i: 11 } }
    node { op_type: "Add" input: "x_double" input: "y" output: "z" }
    ```

    ### Why it matters

    The operator is not defined for such values. Most consumers have no kernel for them and refuse the model when they
    load it.

    ### Details

    - Each input must have one of the types of the signature at the imported version.
    - Inputs that share a type variable, for example `T`, must have one type.
    - An output whose type follows from attributes or inputs must have a type of the signature.
    - An omitted input fits everything, and so does a value of unknown type. In models with operators for sequences,
      maps or optionals, its kind may be known: a SequenceConstruct makes a sequence of anything, `seq(tensor(?))`.
    - The thresholds and leaf weights of TreeEnsemble must have the type of its input. The text does not say it; onnx
      and ONNX Runtime refuse other types.
    - Types follow from inputs, initializers and attributes through all nodes, subgraphs and functions.
    - If the types fit with two inputs exchanged, or with a Cast, the help line says it. onnx-lint tries each on a copy
      of the model. If inputs are exchanged, a wrong type of the output is not another finding. A Cast that changes a
      constant is not proposed, nor one of quantized values to floats: a DequantizeLinear is missing.
    - If several operators refuse the type of one initializer, and one type fits all of them, the report has one finding
      with all these nodes. If that is a floating-point type, the help line names it: as `data_type` if the bytes are of
      that type already, and otherwise as the type to convert to.
    - If a value of the right type is read by nothing, the help line names it in place of a Cast. If several are, or if
      it is an output of the graph, no Cast is proposed.
    - An input of the model with another floating-point type than all that it meets is named by the help line.
    - A Cast in front of the node that converts to the wrong type, and an optional input that was left out without its
      empty name, are proposed instead of another Cast.
    - If an index or a size is a constant of whole numbers in floating point, the help line says to convert it.
    - A function is checked with the types of its calls. A fault in its body is reported once.
    - The outputs of a node with such a fault are unknown.
    - A deprecated operator, and an operator of an operator set that onnx-lint does not know yet, are not checked.
    - A sparse initializer has the type of the tensor that it represents.
    - Reported by other rules: shapes (`incompatible-operand-shapes`), an optional type where the type in it is needed
      (`unconverted-optional`, from edition 1.16 on), the number of an element type that the operator does not allow
      (`unsupported-attribute-value`).
    """
    conflicts = list(conversions_apart(model, model.value_flow.operands))
    refused = refused_initializers(conflicts)
    stored = wrongly_stored(conflicts, model.tensors.miscounted, ("tensor-size-mismatch", "TEN-3"))
    fix = Int64Fix(conflicts, model.graphs).fix_for
    of_place = {each.place: each for each in reversed(conflicts)}
    for finding in findings_of_nodes(model, ((each, "NOD-8") for each in conflicts), fix=fix):
        if finding.place in stored and not isinstance(finding.fix, Fix):
            finding = replace(finding, proposals=stored[finding.place])
        elif finding.proposals is None and not isinstance(finding.fix, Fix):
            finding = replace(finding, proposals=_proposals(model, of_place[finding.place]))
        if finding.place in refused and finding.count == 1:
            common = refused[finding.place]
            yield replace(finding, cause=common.cause, allowed=common.allowed)
        else:
            yield finding


def _proposals(model: Model, conflict: OperandConflict) -> Proposals:
    """Return the import that other findings propose if it allows the types as well, or else changes of the node.

    The import is also one that the types of several operators need.
    """
    needed = proposed_import_for_types(model, conflict) or proposed_import_for_several(model, conflict)
    return needed or Proposals("with {} the types fit", partial(_options, model, conflict))


def _options(model: Model, conflict: OperandConflict) -> Sequence[Proposal]:
    """Return the changes with which the types may fit; those of what the node has are preferred to new Casts."""
    exchange = exchange_of(conflict.node, model.operators, model.value_flow, MAX_TRIED_INPUTS)
    exchanges = [] if exchange is None else [exchange.proposal]
    of_node = [*exchanges, *omitted(conflict), *other_number(conflict), *as_integers(conflict)]
    casts = casts_for(conflict)
    unread = unread_values_for(conflict, model.value_flow, model.uses) if casts else UnreadValues()
    return (
        *preferred([*of_node, *unread.proposals]),
        *(() if unread.are_undecided else casts),
        *other_inputs(conflict, model.value_flow),
    )
