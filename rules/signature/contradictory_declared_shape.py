# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterator, Sequence

from onnx_lint.inference.flow.repairs.exchange import (
    Exchange,
    exchange_for_declaration,
    value_for_declaration,
)
from onnx_lint.inference.flow.shape_conflict import DeclaredShapeConflict
from onnx_lint.inference.shapes.dims import agree
from onnx_lint.ir.operators.proposals import Proposal
from onnx_lint.model import Assign, Edit, Fix, Model, Place, Proposals, has_shape_conflicts, message
from onnx_lint.rule import ALSO_SUPPRESSED, Finding, Related, deletion_of, elements_of, findings_of, replace, rule
from onnx_lint.wording import quote


@rule(
    clause=("NOD-8c", "NOD-8g", "VI-6a", "FUN-23b", "FUN-23d", "SHP-7", "SHP-7a"),
    since="0.1.0",
    about=has_shape_conflicts,
    needs="node",
)
def contradictory_declared_shape(model: Model) -> Iterator[Finding]:
    """The declared shape of a value is not the one that its node produces.

    ### How to fix

    Declare the shape that the node produces; outside of inputs and outputs no shape is needed. After you changed the
    sizes of inputs, delete `value_info` and let `onnx.shape_inference.infer_shapes` write it again.

    - `onnx-lint fix` (safe) deletes the entry if it is in `value_info`.
    - `onnx-lint fix --unsafe-fixes` (unsafe: you may have meant the declaration) declares for an output the shape that
      its node produces. A dimension for which only an expression is known stays open.
    - PyTorch: `dynamic_shapes=` exports a size that may change; you then need not edit sizes in the file.
    - ONNX Runtime: `python -m onnxruntime.tools.make_dynamic_shape_fixed --dim_param N --dim_value 2 model.onnx
      fixed.onnx` sets a size everywhere.

    ### Example

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 3 } } } } }
    node { op_type: "Relu" input: "x" output: "y" }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 4 } } } } }
    ```

    Corrected:

    ```
    input { name: "x" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 3 } } } } }
    node { op_type: "Relu" input: "x" output: "y" }
    output { name: "y" type { tensor_type { elem_type: 1 shape { dim { dim_value: 2 } dim { dim_value: 3 } } } } }
    ```

    ### Why it matters

    A consumer that believes the declaration allocates a buffer of the wrong size, or refuses to pass the value to the
    next model.

    ### Details

    - The rank and the sizes follow from the operator, its attributes and the shapes of its inputs. Outputs of graphs
      and entries of `value_info` must agree with them.
    - A variable or an open dimension agrees with every size. Behind an unknown operator, every declaration agrees.
    - The output of an If must fit both branches, or the branch that runs if the condition is a constant.
    - The outputs of a Loop or If follow from the operators of its bodies, not from declarations in the bodies. A value
      that a Loop carries has the shape that all iterations share. Without runs a scan output has 0 elements; its other
      sizes are those of the body, and 0 for open ones in ONNX Runtime.
    - SplitToSequence ignores `keepdims` if `split` is given. ONNX Runtime removes the axis if `split` is the scalar 1,
      against the text. Without `split`, all consumers remove it.
    - The declaration of a sequence must fit all its elements: "The entire shape must be omitted from the type if
      different tensors in the sequence may have different ranks." If only a variable does not fit, it is a warning,
      because the shape inference of onnx writes such variables.
    - A Reshape to an unknown shape keeps the number of elements: `[N, 7]` is never `[3, 5]`. If only the names of the
      declaration make it another number, such as `[N, 6]` for `[N, 7]`, it is a warning of
      `unsatisfiable-dimension-variable`, because the model runs whatever the names are.
    - A DictVectorizer of C keys makes `[C]` by its description and `[1, C]` in ONNX Runtime. Both are accepted.
    - If the output has exactly the declared shape with two inputs of the node exchanged, the finding is at these
      inputs, and no fix declares another shape. If it has the declared shape with another value of one attribute, such
      as `axis` or `perm`, the help line names that value, and there is no fix.
    - An entry of `value_info` is not deleted if its value follows from a node or initializer that has another finding,
      or is an input that may be wrong at such a node: the entry may be right. Functions and subgraphs are followed,
      and errors that the settings hide count as well.
    - It is a warning in a branch or body that never runs because of constants, and for a `value_info` of a function
      that fits only some of its calls.
    - `onnx.checker` refuses the model with `full_check` if it infers the shape itself. ONNX Runtime loads it.
    - Reported by other rules: two declarations of one value (`contradictory-value-info`), types
      (`contradictory-declared-type`).
    """
    for conflict in model.value_flow.declared_shapes:
        of_value_info = model.value_flow.clause_of(conflict, of_graph="VI-6a", of_function="FUN-23b", of_call="FUN-23d")
        clause = "NOD-8c" if conflict.field == "output" else of_value_info
        fix = _declaration_of(conflict) or deletion_of(conflict)
        if isinstance(conflict, DeclaredShapeConflict) and conflict.differs_in_elements:
            clause = "SHP-7a" if conflict.differs_only_in_variables else "SHP-7"
        if model.value_flow.is_in_idle(conflict, conflict.graph):
            clause = "NOD-8g"
        if not isinstance(conflict, DeclaredShapeConflict):
            yield from findings_of(model, conflict, clause, fix=fix)
            continue
        exchange = exchange_for_declaration(conflict, model.operators, model.value_flow)
        value = value_for_declaration(conflict, model.operators, model.value_flow) if exchange is None else None
        deletion = fix if exchange is None and value is None else None
        for finding in findings_of(model, conflict, clause, fix=deletion, cause=conflict.cause):
            if exchange is not None:
                yield _of_exchange(_at(finding, conflict.places), conflict, exchange)
            else:
                yield replace(_at(finding, conflict.places), proposals=_proposals(value))


def _proposals(value: Proposal | None) -> Proposals | None:
    """Return the value of an attribute with which the declared shape is right."""
    return None if value is None else Proposals("with {} the declared shape fits", lambda: (value,))


def _at(finding: Finding, places: Sequence[Place]) -> Finding:
    """Return the finding about these dimensions."""

    def again(some: Sequence[Place]) -> Finding:
        return _at(replace(finding, fix=finding.fix and ALSO_SUPPRESSED), some)

    return elements_of(replace(finding, place=places[0]), places, again, lambda place: (place, ""))


def _of_exchange(finding: Finding, conflict: DeclaredShapeConflict, exchange: Exchange) -> Finding:
    """Return the finding at the inputs of the node that were exchanged: the declaration is right."""
    first, second = (exchange.node.place.at("input", index) for index in exchange.pair)
    return replace(
        finding,
        former=finding,
        elements=None,
        place=first,
        message=conflict.describe_from_node(),
        related=(Related(second, "the other input"), Related(finding.place, "the declared shape")),
        allowed="the inputs in the order of the operator",
        proposals=Proposals("with {} the shapes fit", lambda: (exchange.proposal,)),
    )


def _declaration_of(conflict: object) -> Fix | None:
    """Return the fix that declares the inferred shape of an output; None if one branch or one call alone has it."""
    if not isinstance(conflict, DeclaredShapeConflict) or conflict.branch or conflict.call is not None:
        return None
    declared, inferred = conflict.declared.shape, conflict.inferred.shape
    if conflict.graph.is_function or conflict.field != "output" or declared is None or inferred is None:
        return None
    shape = conflict.graph.at(conflict.field, conflict.index).at("type").at("tensor_type").at("shape")
    edits: tuple[Edit, ...]
    if len(declared) == len(inferred):
        pairs = enumerate(zip(declared, inferred, strict=True))
        edits = tuple(
            Assign(shape.at("dim", axis).at("dim_value"), size)
            for axis, (stated, size) in pairs
            if isinstance(size, int) and not agree(stated, size)
        )
    else:
        dimension = message("TensorShapeProto.Dimension")
        dims = [dimension(dim_value=size) if isinstance(size, int) else dimension() for size in inferred]
        edits = (Assign(shape, message("TensorShapeProto")(dim=dims)),)
    what = f"output {quote(conflict.subject)} of {conflict.graph.describe()}"
    return Fix(f"declare {what} with the shape that follows from its node", edits, is_safe=False) if edits else None
