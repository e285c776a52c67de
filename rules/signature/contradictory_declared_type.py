# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator

from onnx_lint.inference.flow.repairs.cast_fix import CastFix
from onnx_lint.inference.flow.repairs.exchange import exchange_of
from onnx_lint.inference.flow.type_conflict import DeclarationConflict, ImpossibleDeclaration
from onnx_lint.inference.types.type_string import TENSORS
from onnx_lint.ir.operators.proposals import as_sentences
from onnx_lint.model import ELEMENT_TYPES, Assign, Fix, Model, Proposals, has_type_conflicts, ready
from onnx_lint.rule import Finding, conversions_apart, deletion_of, findings_of, replace, rule
from onnx_lint.wording import quote


@rule(clause=("NOD-8", "VI-6", "FUN-23a", "FUN-23c"), since="0.1.0", about=has_type_conflicts, needs="node")
def contradictory_declared_type(model: Model) -> Iterator[Finding]:
    """The declared type of a value is not the one that its node produces.

    ### How to fix

    Declare the type that follows from the operator, or change the node: a Cast may have the wrong `to`. A tool that
    changes the precision of a model must change the declarations and the casts. `onnx-lint fix` (safe) deletes the
    entry if it is in `value_info`. If the nodes that use the output of a Cast need the declared type, `onnx-lint fix
    --unsafe-fixes` (unsafe: the tensor gets another type) sets `to`.

    - onnxconverter-common: `float16.convert_float_to_float16` leaves the `to` of a Cast at FLOAT and declares its
      output as FLOAT16. With `op_block_list=[*float16.DEFAULT_OP_BLOCK_LIST, "Cast"]` it converts the output of the
      Cast.

    ### Example

    ```
    node { op_type: "Cast" input: "x" output: "y" attribute { name: "to" i: 10 type: INT } }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_param: "N" } } } } }
    ```

    Corrected:

    ```
    node { op_type: "Cast" input: "x" output: "y" attribute { name: "to" i: 10 type: INT } }
    output { name: "y" type { tensor_type { elem_type: 10 shape { dim { dim_param: "N" } } } } }
    ```

    ### Why it matters

    A consumer that believes the declaration allocates memory for the wrong type. A consumer that infers the type
    refuses the model.

    ### Details

    - The kind of type and the element type follow from the operator's signature, its attributes and the types of its
      inputs. Outputs of graphs and entries of `value_info` must have them.
    - If these do not decide the type, for example after an unknown operator, the declared type must be one that the
      signature allows for the output: a Relu never produces a sequence.
    - If the operator itself is unknown, every declaration is accepted.
    - In a function, `value_info` may declare inputs and outputs, and one type for several calls. It is an error if it
      fits no call, or could fit none, and a warning if it fits only some calls.
    - Converters that change the types of nodes often leave such declarations.
    - If the inputs of the node are exchanged, only that is reported (`mismatched-operand-type`,
      `incompatible-operand-shapes`).
    - Reported by other rules: shapes (`contradictory-declared-shape`), two declarations of one value
      (`contradictory-value-info`), an optional type and the type in it (`unconverted-optional`).
    """
    flow = model.value_flow
    casts = CastFix(flow.declarations, flow.operands, model.graphs, lambda name, graph: flow.fact_of(name, graph).kind)
    refused = {each.node.place for each in flow.operands} | {each.node.place for each in flow.shapes}
    for conflict in conversions_apart(model, flow.declarations):
        node = conflict.definition.node if conflict.definition is not None else None
        if node is not None and node.place in refused and exchange_of(node, model.operators, flow) is not None:
            continue  # with the inputs in their order the declaration is right
        of_value_info = flow.clause_of(conflict, of_graph="VI-6", of_function="FUN-23a", of_call="FUN-23c")
        clause = "NOD-8" if conflict.field == "output" else of_value_info
        fix = casts.fix_for(conflict) or deletion_of(conflict)
        for finding in findings_of(model, conflict, clause, fix=fix, cause=_cause(conflict)):
            yield finding if isinstance(fix, Fix) else replace(finding, proposals=_proposals(conflict))


def _proposals(conflict: DeclarationConflict | ImpossibleDeclaration) -> Proposals | None:
    """Return the other number of the Cast, and the other declaration of an output, of which one is right."""
    if not isinstance(conflict, DeclarationConflict) or conflict.field != "output" or conflict.graph.is_function:
        return None
    options = []
    if conflict.cast_to is not None and conflict.declared in TENSORS:
        code, cast = TENSORS.index(conflict.declared), conflict.cast_to
        name = ELEMENT_TYPES[code].name.upper()
        options.append(ready(f"write to={code} ({name})", Assign(cast.at("i"), code)))
    if conflict.inferred in TENSORS and conflict.declared in TENSORS:
        made, declared = TENSORS.index(conflict.inferred), conflict.place.at("type").at("tensor_type").at("elem_type")
        text = f"declare output {quote(conflict.subject)} as {conflict.inferred}"
        options.append(ready(text, Assign(declared, made)))
    return as_sentences(lambda: options)


def _cause(conflict: DeclarationConflict | ImpossibleDeclaration) -> str | None:
    """Return the same text for the entries of value_info that state one type where one other follows: stale ones."""
    if not isinstance(conflict, DeclarationConflict) or conflict.field != "value_info" or conflict.cast_to is not None:
        return None
    return f"{conflict.graph.place} {conflict.declared} {conflict.inferred}"
